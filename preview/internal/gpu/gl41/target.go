//go:build cgo && !nopreview

package gl41

import (
	"fmt"

	"github.com/go-gl/gl/v4.1-core/gl"

	"github.com/untoldkit/untold/preview/internal/gpu"
)

// target is the gpu.Target.
type target struct {
	d                      *Device
	width, height, samples int
	scene, resolved        uint32    // framebuffers; the same without samples
	buffers                [3]uint32 // colour of resolved; colour and depth of scene
}

// NewTarget makes the framebuffers that a picture passes.
func (d *Device) NewTarget(width, height, samples int) (gpu.Target, error) {
	t := &target{d: d, width: width, height: height, samples: samples}
	w, h := int32(width), int32(height)
	gl.GenRenderbuffers(int32(len(t.buffers)), &t.buffers[0])
	store := func(name uint32, samples int, format uint32) {
		gl.BindRenderbuffer(gl.RENDERBUFFER, name)
		if samples > 1 {
			gl.RenderbufferStorageMultisample(gl.RENDERBUFFER, int32(samples), format, w, h)
		} else {
			gl.RenderbufferStorage(gl.RENDERBUFFER, format, w, h)
		}
	}
	attach := func(fbo *uint32, at ...uint32) error {
		gl.GenFramebuffers(1, fbo)
		gl.BindFramebuffer(gl.FRAMEBUFFER, *fbo)
		for i, name := range at {
			gl.FramebufferRenderbuffer(gl.FRAMEBUFFER, [...]uint32{gl.COLOR_ATTACHMENT0, gl.DEPTH_ATTACHMENT}[i], gl.RENDERBUFFER, name)
		}
		if s := gl.CheckFramebufferStatus(gl.FRAMEBUFFER); s != gl.FRAMEBUFFER_COMPLETE {
			return fmt.Errorf("no framebuffer of %d x %d pixels with %d samples (status 0x%x)", width, height, samples, s)
		}
		return nil
	}
	store(t.buffers[0], 1, gl.SRGB8_ALPHA8)
	store(t.buffers[2], samples, gl.DEPTH_COMPONENT32F)
	var err error
	if samples > 1 {
		store(t.buffers[1], samples, gl.SRGB8_ALPHA8)
		if err = attach(&t.resolved, t.buffers[0]); err == nil {
			err = attach(&t.scene, t.buffers[1], t.buffers[2])
		}
	} else {
		err = attach(&t.scene, t.buffers[0], t.buffers[2])
		t.resolved = t.scene
	}
	if err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// BindScene is the gpu.Target.
func (t *target) BindScene() { gl.BindFramebuffer(gl.FRAMEBUFFER, t.scene) }

// BindPicture is the gpu.Target.
func (t *target) BindPicture() { gl.BindFramebuffer(gl.FRAMEBUFFER, t.resolved) }

// Resolve is the gpu.Target.
func (t *target) Resolve() {
	if t.scene != t.resolved {
		t.blit(t.scene, t.resolved)
	}
}

// Present copies the picture's bytes as they are: whatever the surface makes of
// them, they are display colours already.
func (t *target) Present(to gpu.Framebuffer) {
	t.d.SRGB(false)
	t.blit(t.resolved, uint32(to))
	t.d.SRGB(true)
}

func (t *target) blit(from, to uint32) {
	w, h := int32(t.width), int32(t.height)
	gl.BindFramebuffer(gl.READ_FRAMEBUFFER, from)
	gl.BindFramebuffer(gl.DRAW_FRAMEBUFFER, to)
	gl.BlitFramebuffer(0, 0, w, h, 0, 0, w, h, gl.COLOR_BUFFER_BIT, gl.NEAREST)
}

// Read is the gpu.Target.
func (t *target) Read(pix []byte) {
	gl.BindFramebuffer(gl.READ_FRAMEBUFFER, t.resolved)
	gl.PixelStorei(gl.PACK_ALIGNMENT, 4)
	gl.ReadPixels(0, 0, int32(t.width), int32(t.height), gl.RGBA, gl.UNSIGNED_BYTE, gl.Ptr(pix))
}

// Close is the gpu.Target.
func (t *target) Close() {
	if t.scene != t.resolved {
		gl.DeleteFramebuffers(1, &t.resolved)
	}
	gl.DeleteFramebuffers(1, &t.scene)
	gl.DeleteRenderbuffers(int32(len(t.buffers)), &t.buffers[0])
}
