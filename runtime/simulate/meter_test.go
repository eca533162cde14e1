package simulate

import (
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
)

// A tile beyond the reach of the budget was given up when it stays away, and was
// undrawn when it is back within 3 s, however short the reach.
func TestGivenUpStaysAway(t *testing.T) {
	for _, tt := range []struct {
		away             time.Duration
		undrawn, givenUp int
	}{
		{100 * time.Millisecond, 1, 0},
		{2900 * time.Millisecond, 29, 0},
		{3 * time.Second, 0, 30},
		{20 * time.Second, 0, 200},
	} {
		tile := manifest.Tile{ID: "a", Path: "a.untold", Bounds: manifest.Bounds{Min: [3]float64{20, 0, 0}, Max: [3]float64{21, 1, 1}}}
		s := &Scenario{Config: config.Default(), Manifest: &manifest.Manifest{
			StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 50, UnloadRadius: 80}, Tiles: []manifest.Tile{tile},
		}}
		m := NewMeter(s)
		const dt = 100 * time.Millisecond
		now := time.Duration(0)
		frame := func(drawn bool, reach float64) {
			var list []runtime.Drawn
			if drawn {
				list = []runtime.Drawn{{Key: payload.Key{Scene: 1, Rep: payload.RepFull}, Fade: 1}}
			}
			m.judge(list, &runtime.Stats{GeometryReach: reach}, geom.Vec3{}, now, dt)
			now += dt
		}
		frame(true, s.Config.MaxQueryRadius)
		for range tt.away / dt {
			frame(false, 10)
		}
		frame(true, s.Config.MaxQueryRadius)
		if r := m.Report(); r.Undrawn != tt.undrawn || r.GivenUp != tt.givenUp {
			t.Errorf("away for %v: %d undrawn, %d given up, want %d and %d", tt.away, r.Undrawn, r.GivenUp, tt.undrawn, tt.givenUp)
		}
	}
}
