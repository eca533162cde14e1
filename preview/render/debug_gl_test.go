//go:build cgo && !nopreview

package render

import (
	"image/color"
	"log/slog"
	"strings"
	"testing"

	"github.com/go-gl/gl/v4.1-core/gl"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/preview/internal/gpu"
	"github.com/untoldkit/untold/preview/surface"
	"github.com/untoldkit/untold/runtime"
)

// TestDriversAreHeard: messages are counted by what they are and by when they
// come, the first of each kind are written.
func TestDriversAreHeard(t *testing.T) {
	s, err := surface.OpenHeadless(16, 16)
	if err != nil {
		t.Skipf("no OpenGL here: %v", err)
	}
	defer s.Close()
	var out strings.Builder
	r, err := New(s, Options{Width: 16, Height: 16, Framebuffer: s.Framebuffer(), Debug: true, Logger: slog.New(slog.NewTextHandler(&out, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if !r.Info().DebugOutput {
		t.Skip("the driver has no GL_KHR_debug")
	}
	say := func(kind, severity uint32, text string) {
		gl.DebugMessageInsert(gl.DEBUG_SOURCE_APPLICATION, kind, 7, severity, int32(len(text)), gl.Str(text+"\x00"))
	}
	r.Draw(Frame{Camera: at(0)})
	before := r.Draw(Frame{Camera: at(0)})
	for range 5 {
		say(gl.DEBUG_TYPE_PERFORMANCE, gl.DEBUG_SEVERITY_MEDIUM, "slow buffer")
	}
	say(gl.DEBUG_TYPE_ERROR, gl.DEBUG_SEVERITY_HIGH, "bad call")
	say(gl.DEBUG_TYPE_OTHER, gl.DEBUG_SEVERITY_NOTIFICATION, "chatter")
	r.messages.at(stagePicture)
	say(gl.DEBUG_TYPE_PERFORMANCE, gl.DEBUG_SEVERITY_MEDIUM, "slow picture")
	r.messages.stage = stageStart
	say(gl.DEBUG_TYPE_PERFORMANCE, gl.DEBUG_SEVERITY_MEDIUM, "slow start")
	r.messages.stage = stageBetween
	st := r.Draw(Frame{Camera: at(0)})
	if p, e, b := st.GLPerformance-before.GLPerformance, st.GLErrors-before.GLErrors, st.GLPerformanceStart-before.GLPerformanceStart; p != 5 || e != 1 || b != 1 {
		t.Errorf("%d about performance, %d errors, %d while starting, want 5, 1 and 1", p, e, b)
	}
	r.messages.silence()
	for text, want := range map[string]int{"slow buffer": messageLines, "bad call": 1, "chatter": 0, "slow picture": 1, "slow start": 1, "times=5": 1} {
		if n := strings.Count(out.String(), text); n != want {
			t.Errorf("%q is written %d times, want %d:\n%s", text, n, want, out.String())
		}
	}
}

// TestGeometryBelongsToTheGPU: pages say that they are written once and drawn
// often, and what finds no room in the staging memory gets there all the same.
func TestGeometryBelongsToTheGPU(t *testing.T) {
	both(t, Options{Width: 16, Height: 16}, func(t *testing.T, r *Renderer) {
		drawn := put(t, r, assemble([]part{screen(-5)}, nil))
		p := r.pool.pages[0]
		for _, buffer := range []gpu.Buffer{p.vertex, p.index} {
			var usage int32
			gl.BindBuffer(gl.COPY_WRITE_BUFFER, uint32(buffer))
			if gl.GetBufferParameteriv(gl.COPY_WRITE_BUFFER, gl.BUFFER_USAGE, &usage); usage != gl.STATIC_DRAW {
				t.Errorf("usage 0x%x", usage)
			}
		}
		r.Release(drawn[0].Key)
		for range 3 { // the staging memory has room for two
			r.device.WriteBuffer(p.vertex, 8<<20, make([]byte, 8<<20))
		}
		m := paint(10, 200, 30)
		if err := r.Upload(drawn[0].Key, assemble([]part{screen(-5)}, []records.Material{m})); err != nil {
			t.Fatal(err)
		}
		r.Pump(Budget{})
		r.Draw(Frame{Camera: at(0), Drawn: []runtime.Drawn{{Key: drawn[0].Key, Fade: 1}}})
		wantPixel(t, r.ReadPixels(), 8, 8, color.NRGBA{10, 200, 30, 255}, 1)
	})
}

// TestNothingStaysBound: clearing and copying must not meet a program together
// with vertices that are not its own.
func TestNothingStaysBound(t *testing.T) {
	both(t, Options{Width: 16, Height: 16}, func(t *testing.T, r *Renderer) {
		r.Draw(Frame{
			Camera: at(0), Drawn: put(t, r, assemble([]part{screen(-5)}, nil)),
			Overlay: &Overlay{Vertices: make([]OverlayVertex, 3), Indices: []uint32{0, 1, 2}},
		})
		if program, vertices := bound(gl.CURRENT_PROGRAM), bound(gl.VERTEX_ARRAY_BINDING); program != 0 || vertices != 0 {
			t.Errorf("program %d and vertex array %d are bound", program, vertices)
		}
	})
}

func bound(name uint32) (v int32) {
	gl.GetIntegerv(name, &v)
	return v
}
