package preview

import (
	"testing"

	"github.com/untoldkit/untold/preview/surface"
)

// TestAWindowRests: a window in which nothing moves waits for what happens, not
// while a key is held, and never where frames are counted.
func TestAWindowRests(t *testing.T) {
	o := options(t, writeTown(t, t.TempDir(), 3))
	o.Headless, o.FixedDT = false, 0
	const some, held = 20, 60
	s := &fakeSurface{w: 640, h: 480}
	pressed, released := 0, 0 // in which frames
	s.onFrame = func(frame int) []surface.Event {
		switch {
		case pressed == 0 && len(s.waited) >= some:
			pressed = frame
			return []surface.Event{{Kind: surface.EventKey, Key: surface.KeyLeftShift, Pressed: true}}
		case pressed > 0 && released == 0 && frame >= pressed+held:
			released = frame
			return []surface.Event{{Kind: surface.EventKey, Key: surface.KeyLeftShift}}
		case len(s.waited) >= 2*some:
			return []surface.Event{{Kind: surface.EventClose}}
		}
		return nil
	}
	if _, err := fakeRun(t, o, s, newFakeRenderer()); err != nil {
		t.Fatal(err)
	}
	for _, f := range s.waited {
		if f <= restFrames || f > pressed && f <= released+restFrames {
			t.Errorf("it rests after %d frames; a key is held from %d to %d", f, pressed, released)
		}
	}
	o.Frames = 200
	s = &fakeSurface{w: 640, h: 480}
	if _, err := fakeRun(t, o, s, newFakeRenderer()); err != nil || len(s.waited) > 0 {
		t.Errorf("%v, it rests in %d frames of 200 that are counted", err, len(s.waited))
	}
}
