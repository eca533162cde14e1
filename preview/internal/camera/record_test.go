package camera

import (
	"bytes"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/simulate"
)

func at(t float64) runtime.Camera {
	// Straight on for two seconds, then a turn.
	c := runtime.Camera{Position: [3]float64{0, 1.7, -5 * t}, Forward: [3]float64{0, 0, -1}, FovYDegrees: 55, Aspect: 1.5, Near: 0.1, Far: 300}
	if t > 2 {
		a := (t - 2) * 0.8
		c.Position = [3]float64{3 * (1 - math.Cos(a)), 1.7, -10 - 3*math.Sin(a)}
		c.Forward = [3]float64{math.Sin(a), 0, -math.Cos(a)}
	}
	return c
}

func TestRecorderReplays(t *testing.T) {
	var r Recorder
	frames := 0
	for s := 0.0; s < 4; s += 1.0 / 60 {
		r.Add(time.Duration(s*1e9), at(s))
		frames++
	}
	if r.Len() > frames/3 {
		t.Errorf("%d keys for %d frames", r.Len(), frames)
	}
	path := filepath.Join(t.TempDir(), "path.json")
	if err := r.Save(path); err != nil {
		t.Fatal(err)
	}
	p, err := simulate.LoadCameraPath(path)
	if err != nil {
		t.Fatal(err)
	}
	if p.FovYDegrees != 55 || p.Aspect != 1.5 || p.Near != 0.1 || p.Far != 300 {
		t.Errorf("lens %+v", p)
	}
	for s := 0.0; s < 4-1.0/60; s += 1.0 / 60 {
		got, want := p.At(time.Duration(s*1e9)), at(s)
		if d := geom.Vec3(got.Position).Sub(want.Position).Len(); d > 2*maxDrift {
			t.Fatalf("at %g s %g m off the way", s, d)
		}
		if d := geom.Vec3(got.Forward).Sub(want.Forward).Len(); d > 2*maxTilt {
			t.Fatalf("at %g s %g off the direction", s, d)
		}
	}
}

func TestRecorderOddities(t *testing.T) {
	var r Recorder
	if err := r.Write(&bytes.Buffer{}); err == nil {
		t.Error("an empty recording is written")
	}
	r.Add(0, at(0))
	r.Add(0, at(1)) // not later
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	p, err := simulate.ParseCameraPath(b.Bytes())
	if err != nil || len(p.Keys) != 1 {
		t.Errorf("%v: %+v\n%s", err, p, b.String())
	}
}
