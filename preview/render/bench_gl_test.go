//go:build cgo && !nopreview

package render

import (
	"fmt"
	"testing"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// BenchmarkDraw states what the processor spends on a frame of many small
// meshes that are too small to be shaded: culling and ordering apart, and all
// of it.
func BenchmarkDraw(b *testing.B) {
	r := headless(b, Options{Width: 16, Height: 16, ShadowSize: -1})
	const tiles, meshes = 100, 50
	var drawn []runtime.Drawn
	for i := range tiles {
		var parts []part
		for k := range meshes {
			parts = append(parts, quad(geom.Vec3{float64(k) - 25, float64(i) - 50, -100}, right.Scale(1e-4), up.Scale(1e-4)))
		}
		k := key(int32(i), payload.RepFull)
		if err := r.Upload(k, assemble(parts, []records.Material{defaultMaterial()})); err != nil {
			b.Fatal(err)
		}
		drawn = append(drawn, runtime.Drawn{Key: k, Fade: 1})
	}
	r.Pump(Budget{})
	f := Frame{Camera: at(0), Drawn: drawn}
	b.Run(fmt.Sprintf("collect/%d", tiles*meshes), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r.frames++ // a new frame for the objects
			c := &r.frame
			r.beginFrame(&f)
			c.collectReps(&f)
			c.collectMain(&f)
		}
	})
	b.Run("frame", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r.Draw(f)
		}
	})
}

// BenchmarkUpload states the speed of Pump into memory that was used before.
func BenchmarkUpload(b *testing.B) {
	r := headless(b, Options{Width: 16, Height: 16})
	a := assemble([]part{{vertices: make([]vertex.Vertex, 500_000), indices: []uint32{0, 1, 2}, wide: true}}, nil)
	k := key(0, payload.RepFull)
	b.SetBytes(int64(len(a.Geometry.Vertices)))
	for b.Loop() {
		c := payload.NewAsset(nil)
		c.Meshes, c.Entities, c.Geometry = a.Meshes, a.Entities, a.Geometry
		if err := r.Upload(k, c); err != nil {
			b.Fatal(err)
		}
		r.Pump(Budget{})
	}
}
