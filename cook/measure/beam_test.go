package measure

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
)

// TestBeam: rays of a beam find what looking at every triangle finds, to the last bit.
func TestBeam(t *testing.T) {
	aimed := 0
	rapid.Check(t, func(t *rapid.T) {
		f := NewFacing(NewIndex(drawSoup(t)), func(i int) bool { return i%3 == 0 })
		w := f.Walk()
		var b Beam
		num, step := rapid.Float64Range(-5, 5), rapid.Float64Range(-0.5, 0.5)
		for range rapid.IntRange(1, 5).Draw(t, "beams") {
			middle := geom.Vec3{num.Draw(t, "px"), num.Draw(t, "py"), num.Draw(t, "pz")}
			through := geom.EmptyBox()
			var points []geom.Vec3
			for range rapid.IntRange(1, 8).Draw(t, "rays") {
				p := middle.Add(geom.Vec3{step.Draw(t, "dx"), step.Draw(t, "dy"), step.Draw(t, "dz")})
				points, through = append(points, p), through.Extend(p)
			}
			along := geom.Vec3{num.Draw(t, "ax"), num.Draw(t, "ay"), num.Draw(t, "az")}.Normalize(1e-9, geom.Vec3{0, 1, 0})
			ahead, behind := rapid.Float64Range(0, 6).Draw(t, "ahead"), rapid.Float64Range(0, 6).Draw(t, "behind")
			if !w.Aim(&b, &through, along, 0.3, ahead, behind) {
				continue
			}
			aimed++
			for _, p := range points {
				near := ahead - float64(rapid.Float64Range(0, 1).Draw(t, "nearer")*ahead)
				want := meeting{at: -behind, leaf: -1}
				for i := range f.x.tris {
					if (&filter{Facing: f, along: along, cosine: 0.3}).accepts(int32(i)) {
						want.meet(f.x, int32(i), &p, &along, near)
					}
				}
				if got, found := b.First(p, near); found != (want.leaf >= 0) || found && (got.Hint != Hint(want.leaf+1) || got.Distance2 != float64(want.at*want.at)) {
					t.Fatalf("%+v %v, want %+v", got, found, want)
				}
			}
		}
	})
	if aimed == 0 {
		t.Error("no beam was aimed")
	}
}
