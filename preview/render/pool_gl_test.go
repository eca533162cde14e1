//go:build cgo && !nopreview

package render

import (
	"math"
	"testing"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/compact"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// TestLayouts: each representation has the layout that it can do with, what is told of its
// size is what the pool holds, and all look alike.
func TestLayouts(t *testing.T) {
	both(t, Options{Width: 48, Height: 32, Samples: 1}, func(t *testing.T, r *Renderer) {
		plain := paint(40, 90, 200)
		mapped := plain
		mapped.NormalTexture = 0 // is missing, so that it is flat
		far := quad(geom.Vec3{}, geom.Vec3{9000, 0, 0}, geom.Vec3{0, 1, 0})
		gray := screen(-5)
		gray.vertices = append([]vertex.Vertex(nil), gray.vertices...)
		gray.vertices = append(gray.vertices, vertex.Vertex{Position: gray.vertices[0].Position}) // of no triangle
		var first []byte
		sum := int64(0)
		for i, c := range []struct {
			asset *payload.Asset
			want  compact.Layout
		}{
			{assemble([]part{screen(-5)}, []records.Material{plain}), compact.Plain},
			{assemble([]part{screen(-5)}, []records.Material{mapped}, "missing.png"), compact.Mapped},
			{assemble([]part{gray}, []records.Material{plain}), compact.Colored},
			{assemble([]part{screen(-5), far}, []records.Material{plain}), compact.Full},
		} {
			k := key(int32(i), payload.RepFull)
			if err := r.Upload(k, c.asset); err != nil {
				t.Fatal(err)
			}
			n := r.reps[k]
			if n.packing.Layout != c.want || n.at.page.layout != c.want {
				t.Errorf("%d: layout %d in a page of %d", i, n.packing.Layout, n.at.page.layout)
			}
			took := r.Packed(k, math.MaxInt64)
			if least := int64(len(n.vertices) + len(n.indices)); took < least || took >= least+indexUnit {
				t.Errorf("%d: takes %d bytes of %d", i, took, least)
			}
			sum += took
			if err := r.Settle(t.Context()); err != nil {
				t.Fatal(err)
			}
			s := r.Draw(Frame{Camera: at(0), View: ViewAlbedo, Drawn: []runtime.Drawn{{Key: k, Fade: 1}}})
			if s.GeometryBytes != sum {
				t.Errorf("%d: the pool holds %d bytes, told of are %d", i, s.GeometryBytes, sum)
			}
			pix := r.ReadPixels().Pix
			if i == 0 {
				first = append(first, pix...)
			}
			if string(pix) != string(first) {
				t.Errorf("%d: layout %d draws another picture", i, c.want)
			}
		}
	})
}
