//go:build cgo && !nopreview

package render

import (
	"math"
	"slices"
	"testing"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex/compact"
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
		gray := quad(geom.Vec3{0, 0, 100}, geom.Vec3{1, 0, 0}, geom.Vec3{0, 1, 0}) // behind the camera
		gray.vertices[0].Color = [4]uint8{9, 9, 9, 255}
		var first []byte
		sum := int64(0)
		for i, c := range []struct {
			asset *payload.Asset
			want  []compact.Layout
		}{
			{assemble([]part{screen(-5)}, []records.Material{plain}), []compact.Layout{compact.Plain}},
			{assemble([]part{screen(-5)}, []records.Material{mapped}, "missing.png"), []compact.Layout{compact.Mapped}},
			{assemble([]part{screen(-5), gray}, []records.Material{plain}), []compact.Layout{compact.Plain, compact.Colored}},
			{assemble([]part{screen(-5), far}, []records.Material{plain}), []compact.Layout{compact.Full}},
		} {
			k := key(int32(i), payload.RepFull)
			if err := r.Upload(k, c.asset); err != nil {
				t.Fatal(err)
			}
			n := r.reps[k]
			took, least := r.Packed(k, math.MaxInt64), int64(n.pending())
			if most := least + int64(indexUnit*len(n.bundles)); took < least || took >= most {
				t.Errorf("%d: takes %d bytes of %d", i, took, least)
			}
			var got []compact.Layout
			for i := range n.bundles {
				got = append(got, n.bundles[i].at.page.layout)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%d: layouts %v", i, got)
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
				t.Errorf("%d: layouts %v draw another picture", i, c.want)
			}
		}
	})
}
