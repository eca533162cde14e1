//go:build cgo && !nopreview

package render

import (
	"image"
	"image/color"
	"math"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/geom"
)

// cutOut fills the picture of the camera at(0), which is as high as wide, with a texture
// that is cut out, before a black wall.
func cutOut(t *testing.T, r *Renderer, img *image.NRGBA, factor, cutoff float32) Frame {
	t.Helper()
	dir := t.TempDir()
	writePNG(t, filepath.Join(dir, "leaf.png"), img)
	leaf, wall := paint(255, 255, 255), paint(0, 0, 0)
	leaf.BaseColorTexture, leaf.BaseColor[3] = 0, factor
	leaf.Flags, leaf.AlphaCutoff = leaf.Flags|records.MaterialCutout, cutoff
	edge := 5 * math.Tan(math.Pi/6)
	front, back := quad(geom.Vec3{0, 0, -5}, right.Scale(edge), up.Scale(edge)), screen(-6)
	back.material = 1
	a := assemble([]part{front, back}, []records.Material{leaf, wall}, "leaf.png")
	a.Dir = dir
	return Frame{Camera: at(0), Drawn: put(t, r, a)}
}

// TestCutoff: an even alpha is shown where it is at least the cutoff, and not at all
// elsewhere, whatever the distance.
func TestCutoff(t *testing.T) {
	both(t, Options{Width: 16, Height: 16, Samples: 4}, func(t *testing.T, r *Renderer) {
		for _, c := range []struct {
			alpha          uint8
			factor, cutoff float32
			shown          bool
		}{
			{255, 1, 0.5, true},
			{255, 0.5, 0.5, true}, // exactly
			{128, 1, 0.5, true},
			{127, 1, 0.5, false},
			{178, 1, 0.75, false},
			{204, 0.7, 0.6, false},
			{230, 0.7, 0.6, true},
			{255, 1, 1, true},
			{254, 1, 1, false},
			{255, 1, 1.1, false}, // nothing is
			{0, 1, 0, true},
		} {
			f := cutOut(t, r, solid(256, 256, color.NRGBA{255, 255, 255, c.alpha}), c.factor, c.cutoff)
			r.Draw(f)
			img, want := r.ReadPixels(), color.NRGBA{}
			if c.shown {
				want = color.NRGBA{255, 255, 255, 255}
			}
			for i := range 256 {
				if got := img.NRGBAAt(i%16, i/16); !near8(got, want, 1) {
					t.Errorf("alpha %d x %v, cutoff %v: pixel %d, %d is %v", c.alpha, c.factor, c.cutoff, i%16, i/16, got)
					break
				}
			}
			r.Release(f.Drawn[0].Key)
		}
	})
}

// TestCutoutsKeepTheirShare: what is cut out takes about the same part of the picture
// from near and from afar.
func TestCutoutsKeepTheirShare(t *testing.T) {
	leaves := solid(256, 256, color.NRGBA{255, 255, 255, 0})
	for i := range 90 { // discs of 3 to 11 texels at places that look like chance
		x, y, d := i*97%256, i*i*31%256, 3+i*7%9
		for k := range 4 * d * d {
			dx, dy := k%(2*d)-d, k/(2*d)-d
			if dx*dx+dy*dy < d*d {
				leaves.Pix[4*((y+dy+256)%256*256+(x+dx+256)%256)+3] = 255
			}
		}
	}
	want := 0.0
	for i := 3; i < len(leaves.Pix); i += 4 {
		want += float64(leaves.Pix[i]) / 255 / (256 * 256)
	}
	r := headless(t, Options{Width: 256, Height: 256, Samples: 4})
	f := cutOut(t, r, leaves, 1, 0.5)
	for _, size := range []int{256, 128, 64, 32} {
		if err := r.Resize(size, size); err != nil {
			t.Fatal(err)
		}
		r.Draw(f)
		img, got := r.ReadPixels(), 0.0
		for i := 0; i < len(img.Pix); i += 4 {
			got += math.Pow(float64(img.Pix[i])/255, 2.2) / float64(size*size)
		}
		if math.Abs(got-want) > 0.3*want {
			t.Errorf("%d pixels wide, %.3f of the picture is leaves, want %.3f", size, got, want)
		}
	}
}
