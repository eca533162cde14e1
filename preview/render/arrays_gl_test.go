//go:build cgo && !nopreview

package render

import (
	"fmt"
	"image/color"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime/payload"
)

// TestTexturesShareCalls: what has textures of its own, as nodes of the pyramid do, is
// one call of the device and shows them, until nothing is left but one.
func TestTexturesShareCalls(t *testing.T) {
	const n, pixels = 8, 10
	dir := t.TempDir()
	colors := make([]color.NRGBA, n)
	for i := range colors {
		colors[i] = color.NRGBA{uint8(30 * i), uint8(250 - 30*i), uint8(128 * (i % 2)), 255}
		writePNG(t, filepath.Join(dir, fmt.Sprintf("%d.png", i)), solid(32, 32, colors[i]))
	}
	// Columns side by side fill the picture: 4 x 1 at 60 degrees.
	column := func(i int) *payload.Asset {
		const half = 5 * 0.57735 * 4 / n
		m := paint(255, 255, 255)
		m.BaseColorTexture = 0
		if i%2 == 1 {
			m.Flags |= records.MaterialDoubleSided
		}
		a := assemble([]part{quad(geom.Vec3{half * float64(2*i+1-n), 0, -5}, geom.Vec3{half, 0, 0}, up.Scale(9))}, []records.Material{m}, fmt.Sprintf("%d.png", i))
		a.Dir = dir
		return a
	}
	both(t, Options{Width: n * pixels, Height: 2 * pixels, Textures: rings()}, func(t *testing.T, r *Renderer) {
		var assets []*payload.Asset
		for i := range n {
			assets = append(assets, column(i))
		}
		f := Frame{Camera: at(0), Drawn: put(t, r, assets...)}
		for _, from := range []int{0, 5, 7} { // columns that are still there
			for i := range from {
				r.Release(key(int32(i), payload.RepFull))
			}
			f.Drawn = f.Drawn[len(f.Drawn)-(n-from):]
			r.Pump(Budget{})
			s := r.Draw(f)
			if want := min(2, n-from); r.info.MultiDraw && s.Calls != want { // by sides
				t.Errorf("from %d on: %d calls, want %d", from, s.Calls, want)
			}
			img := r.ReadPixels()
			for i := from; i < n; i++ {
				wantPixel(t, img, i*pixels+pixels/2, pixels, colors[i], 2)
			}
			arrays := &r.textures.device.arrays
			if used := int64(n-from) * rgba8(32); arrays.bytes-arrays.idle != used || s.TextureStorage > max(used, arrayBytes) {
				t.Errorf("from %d on: %d bytes, %d idle, want %d used", from, s.TextureStorage, arrays.idle, used)
			}
		}
	})
}
