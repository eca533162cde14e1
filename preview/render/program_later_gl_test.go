//go:build cgo && !nopreview

package render

import (
	"errors"
	"testing"

	"github.com/untoldkit/untold/preview/internal/gpu"
	"github.com/untoldkit/untold/preview/surface"
)

// slowDevice makes programs beside frames: each is ready when it was asked so often.
type slowDevice struct {
	gpu.Device
	asked map[gpu.Program]int
	made  []gpu.Program
	early []gpu.Program // were used before they were ready
	times int
}

func (d *slowDevice) Caps() gpu.Caps {
	c := d.Device.Caps()
	c.LatePrograms = true
	return c
}

func (d *slowDevice) NewProgram(s *gpu.Source) (gpu.Program, error) {
	p, err := d.Device.NewProgram(s)
	d.made = append(d.made, p)
	return p, err
}

func (d *slowDevice) Ready(p gpu.Program) bool {
	d.asked[p]++
	return d.asked[p] > d.times
}

func (d *slowDevice) UseProgram(p gpu.Program) {
	if p != 0 && d.asked[p] <= d.times {
		d.early = append(d.early, p)
	}
	d.Device.UseProgram(p)
}

// slowSurface has a slowDevice.
type slowSurface struct {
	surface.Surface
	device *slowDevice
}

func (s *slowSurface) Device(plain bool) gpu.Device {
	s.device.Device = s.Surface.Device(plain)
	return s.device
}

// TestLatePrograms: where programs are made beside frames nothing is shown without those that
// no picture can do without, the others follow it one after another, and what is shown in the
// end is what devices show that make all at the start.
func TestLatePrograms(t *testing.T) {
	o := Options{Width: 160, Height: 120, Samples: 4, ShadowSize: 256, Warm: true}
	want := headless(t, o)
	f := Frame{Camera: boardCamera(), Drawn: put(t, want, board(t, "")), Overlay: &Overlay{Vertices: make([]OverlayVertex, 3), Indices: []uint32{0, 1, 2}}}
	f.Overlay.Vertices[1].X, f.Overlay.Vertices[2].Y = 40, 40
	for i := range f.Overlay.Vertices {
		f.Overlay.Vertices[i].Color = [4]uint8{255, 0, 0, 255}
	}
	want.Draw(f)
	picture := want.ReadPixels()

	surf, err := surface.OpenHeadless(o.Width, o.Height)
	if errors.Is(err, surface.ErrContext) {
		t.Skipf("no OpenGL here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer surf.Close()
	d := &slowDevice{asked: map[gpu.Program]int{}, times: 3}
	r, err := New(&slowSurface{surf, d}, o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f.Drawn = put(t, r, board(t, ""))
	start := len(d.made)
	var first, whole int
	for n := 1; n <= 400 && r.programs.cold; n++ {
		made := len(d.made)
		s := r.Draw(f)
		if len(d.made) > made+1 {
			t.Errorf("frame %d begins %d programs", n, len(d.made)-made)
		}
		if s.Draws == 0 && (len(d.made) > start || s.Programs == 0) {
			t.Errorf("frame %d shows nothing: %d programs, %d missing", n, len(d.made), s.Programs)
		}
		if s.Draws > 0 && first == 0 {
			first = n
		}
		if s.Programs == 0 && whole == 0 {
			whole = n
		}
	}
	if first <= d.times || whole <= first || r.programs.missing() > 0 || r.programs.cold || len(d.made) < start+6 {
		t.Errorf("first picture in frame %d, all of it in frame %d, %d programs and %d at the start, %d missing", first, whole, len(d.made), start, r.programs.missing())
	}
	if len(d.early) > 0 {
		t.Errorf("programs %v of %v were waited for", d.early, d.made)
	}
	r.exactShadows()
	if s := r.Draw(f); s.Programs != 0 || s.ShadowCascades == 0 {
		t.Errorf("%+v", s)
	}
	if diff := difference(picture, r.ReadPixels()); diff > 0 {
		t.Errorf("%.2f %% of the pixels differ", 100*diff)
	}
}
