//go:build cgo && !nopreview

package render

import (
	"errors"
	"testing"

	"github.com/untoldkit/untold/internal/cube"
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

// slowly returns a renderer with a slowDevice.
func slowly(t *testing.T, o Options) (*Renderer, *slowDevice) {
	t.Helper()
	surf, err := surface.OpenHeadless(o.Width, o.Height)
	if errors.Is(err, surface.ErrContext) {
		t.Skipf("no OpenGL here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	d := &slowDevice{asked: map[gpu.Program]int{}, times: 3}
	r, err := New(&slowSurface{surf, d}, o)
	if err != nil {
		surf.Close()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Close()
		surf.Close()
	})
	return r, d
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

	r, d := slowly(t, o)
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
	// The maps were those of the frames that warm programs.
	if diff := difference(picture, r.ReadPixels()); diff > 0 {
		t.Errorf("%.2f %% of the pixels differ once programs are warm", 100*diff)
	}
	r.exactShadows()
	if s := r.Draw(f); s.Programs != 0 || s.ShadowCascades == 0 {
		t.Errorf("%+v", s)
	}
	if diff := difference(picture, r.ReadPixels()); diff > 0 {
		t.Errorf("%.2f %% of the pixels differ", 100*diff)
	}

	// The first colour table has the programs of the lit view made anew.
	if err := r.SetGrade(&cube.Table{Size: 2, Max: [3]float32{1, 1, 1}, Entries: [][3]float32{{}, {1, 1, 1}}}); err != nil {
		t.Fatal(err)
	}
	for n := 0; ; n++ {
		s := r.Draw(f)
		if s.Draws > 0 {
			if n < d.times || s.Programs > 0 {
				t.Errorf("graded picture after %d frames, %d programs missing", n, s.Programs)
			}
			break
		}
		if s.Programs == 0 || n == 100 {
			t.Fatalf("frame %d shows nothing, and no program is missing", n)
		}
	}
	if len(d.early) > 0 {
		t.Errorf("graded programs %v were waited for", d.early)
	}
}

// TestLateOverlay: what is written over the picture is shown some time although there is
// nothing else to see, and no frame waits for its program.
func TestLateOverlay(t *testing.T) {
	r, d := slowly(t, Options{Width: 32, Height: 32})
	red := [4]uint8{255, 0, 0, 255}
	f := Frame{Camera: boardCamera(), Overlay: &Overlay{
		Vertices: []OverlayVertex{{Color: red}, {X: 40, Color: red}, {Y: 40, Color: red}}, Indices: []uint32{0, 1, 2},
	}}
	shown := func() bool {
		c := r.ReadPixels().NRGBAAt(4, 4)
		return c.R == 255 && c.G == 0
	}
	n := 0
	for ; n < 2*overlayPatience && r.programs.overlay == 0; n++ {
		r.Draw(f)
	}
	if n < overlayPatience || shown() {
		t.Errorf("begun in frame %d", n)
	}
	for ; n < 2*overlayPatience && !shown(); n++ {
		r.Draw(f)
	}
	if n == 2*overlayPatience || len(d.early) > 0 {
		t.Errorf("not shown in frame %d, %d programs were waited for", n, len(d.early))
	}
}
