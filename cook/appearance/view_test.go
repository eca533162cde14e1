package appearance

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
)

// TestAtIsProject: one place comes to where it comes among others, to the last step.
func TestAtIsProject(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Float64Range(-1000, 1000)
		v := newView(directions[rapid.IntRange(0, len(directions)-1).Draw(t, "side")], geom.Box{Min: geom.Vec3{-9, -5, -7}, Max: geom.Vec3{11, 8, 3}},
			rapid.Float64Range(0.01, 5).Draw(t, "pixel"))
		p := geom.Vec3{number.Draw(t, "x"), number.Draw(t, "y"), number.Draw(t, "z")}
		var among [1]point
		v.project(among[:], []geom.Vec3{p})
		if one := v.at(&p); one != among[0] {
			t.Errorf("%v: %v, among others %v", p, one, among[0])
		}
	})
}
