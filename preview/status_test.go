package preview

import (
	"testing"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/preview/surface"
	"github.com/untoldkit/untold/runtime"
)

// TestStatus: a program that shows figures itself is told of every frame, from the
// camera that it has chosen on; Escape does not end what it keeps open.
func TestStatus(t *testing.T) {
	town := writeTown(t, t.TempDir(), 2)
	o := options(t, town)
	o.Headless, o.FixedDT, o.Frames, o.KeepOpen = false, 0, 6, true
	o.Start = &runtime.Camera{Position: geom.Vec3{3, 4, 5}, Forward: geom.Vec3{0, -0.6, -0.8}, FovYDegrees: 40}
	var seen []Status
	o.OnStatus = func(s *Status) { seen = append(seen, *s) }
	s := &fakeSurface{w: 64, h: 48, script: map[int][]surface.Event{2: press(surface.KeyEscape)}}
	if _, err := fakeRun(t, o, s, newFakeRenderer()); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 6 || seen[5].Scene != o.Scenes[0].Name || seen[5].Frame == nil || seen[5].Stream.Frames != 6 {
		t.Fatalf("told of %d frames", len(seen))
	}
	c := seen[0].Camera
	if c.Position != o.Start.Position || c.FovYDegrees != 40 || geom.Vec3(c.Forward).Sub(geom.Vec3(o.Start.Forward)).Len() > 1e-9 {
		t.Errorf("the camera is at %v, looks along %v, %v degrees", c.Position, c.Forward, c.FovYDegrees)
	}
}
