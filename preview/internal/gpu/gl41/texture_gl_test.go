//go:build cgo && !nopreview

package gl41_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/go-gl/gl/v4.1-core/gl"

	"github.com/untoldkit/untold/preview/internal/gpu"
	"github.com/untoldkit/untold/preview/surface"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// device returns the device of a context, which ends with the test.
func device(t *testing.T) gpu.Device {
	t.Helper()
	s, err := surface.OpenHeadless(8, 8)
	if errors.Is(err, surface.ErrContext) {
		t.Skipf("no OpenGL here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.Device(false)
}

// TestDeletedTextures: a texture is there until all frames that may draw from it are done,
// and then no more; those of the last frames go with the device.
func TestDeletedTextures(t *testing.T) {
	d := device(t)
	info := gpu.TextureInfo{Encoding: texfile.RGBA8, Width: 4, Height: 4, Levels: 1}
	frame := 0
	draw := func(during func()) {
		at := frame % gpu.InFlight
		frame++
		d.Wait(at)
		during()
		d.Fence(at)
	}
	var between, within, last gpu.Texture
	for _, name := range []*gpu.Texture{&between, &within, &last} {
		*name = d.NewTexture(&info, 1)
	}
	there := func(name gpu.Texture) bool { return gl.IsTexture(uint32(name)) }
	draw(func() {})
	d.DeleteTexture(between)
	draw(func() { d.DeleteTexture(within) })
	for range gpu.InFlight - 1 {
		if !there(between) || !there(within) {
			t.Errorf("frame %d may still be drawn from what was deleted", frame)
		}
		draw(func() {})
	}
	draw(func() {
		if there(between) || there(within) {
			t.Error("what no frame draws from is still there")
		}
	})
	if d.DeleteTexture(last); !there(last) {
		t.Error("a texture is deleted at once")
	}
	if d.Close(); there(last) {
		t.Error("a texture is left when the device is closed")
	}
}

// TestUploadsWithoutFrames: more than the staging memory holds may be uploaded before the
// next frame, of texels and of blocks.
func TestUploadsWithoutFrames(t *testing.T) {
	d := device(t)
	defer d.Close()
	const edge, lines = 1024, 64
	for e, layers := range map[texfile.Encoding]int{texfile.RGBA8: 6, texfile.BC7: 20} { // 24 and 20 MiB
		if e == texfile.BC7 && !d.Caps().Blocks {
			continue
		}
		info := gpu.TextureInfo{Encoding: e, Width: edge, Height: edge, Levels: 1}
		name := d.NewTexture(&info, layers)
		var want []byte
		for layer := range layers {
			for y := 0; y < edge; y += lines {
				piece := bytes.Repeat([]byte{byte(layer), byte(y / lines), 7, 255}, e.RowBytes(edge)*e.Rows(lines)/4)
				d.WriteRows(name, &info, layer, 0, y, edge, lines, piece)
				want = append(want, piece...)
				clear(piece) // which is nobody's business any more
			}
		}
		got := make([]byte, len(want))
		d.BindTexture(0, name)
		if e == texfile.BC7 {
			gl.GetCompressedTexImage(gl.TEXTURE_2D_ARRAY, 0, gl.Ptr(&got[0]))
		} else {
			gl.GetTexImage(gl.TEXTURE_2D_ARRAY, 0, gl.RGBA, gl.UNSIGNED_BYTE, gl.Ptr(&got[0]))
		}
		if err := d.Err(); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v: other texels: %v", e, err)
		}
		d.DeleteTexture(name)
	}
}
