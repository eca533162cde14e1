package texture

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// TestFirstLoadsComeWhileMemoryIsShared: under a camera that stands still everything comes
// in a bounded number of ticks, though others could use all the memory there is.
func TestFirstLoadsComeWhileMemoryIsShared(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		scales := Scales{}
		n := rapid.IntRange(2, 40).Draw(rt, "n")
		budget := int64(n)*texfile.MostBytes(32) + rapid.Int64Range(0, int64(n)*1_000_000).Draw(rt, "room")
		r := sharingRig(t, scales, budget, rapid.Bool().Draw(rt, "trim"))
		add := func(i int) {
			uri := fmt.Sprint("t", i)
			if rapid.IntRange(0, 3).Draw(rt, "scaled") > 0 {
				scales[uri] = rapid.SampledFrom([]float64{0, 0.001, 0.02, 0.25}).Draw(rt, "scale")
			}
			edge := rapid.SampledFrom([]int{64, 512, 1024}).Draw(rt, "source")
			r.loader.files[uri] = fakeFile{w: edge, h: edge}
			e := r.add(ground(rapid.Float64Range(1, 500).Draw(rt, "d"), uri))
			if rapid.IntRange(0, 3).Draw(rt, "seen") > 0 {
				r.view.Visible = append(r.view.Visible, e)
			}
		}
		for i := range n / 2 {
			add(i)
		}
		r.settle() // these have all the memory
		for i := n / 2; i < n; i++ {
			add(i)
		}
		for range 20 + 4*n {
			r.view.Now += 200 * time.Millisecond
			r.s.Update(r.view)
			r.loader.answerAll()
		}
		for i := range r.s.textures.list {
			if x := &r.s.textures.list[i]; x.state != stateResident {
				rt.Fatalf("%s has not come: state %d, %+v", x.name.slot.URI, x.state, r.s.Stats())
			}
		}
	})
}

// What is at the medium size within the upgrade radius gives way, too, to what has nothing.
func TestFirstLoadsComeBesideNearOnes(t *testing.T) {
	const n = 5
	r := sharingRig(t, Scales{}, n*texfile.MostBytes(32), false)
	add := func(i int) Entity {
		uri := fmt.Sprint("t", i)
		r.loader.files[uri] = fakeFile{w: 64, h: 64}
		return r.add(ground(1, uri))
	}
	add(0)
	r.view.Visible = []Entity{add(1)}
	r.settle()
	for i := 2; i < n; i++ {
		add(i)
	}
	r.settle()
	if st := r.s.Stats(); st.Waiting+st.Loading != 0 || st.Minimum == 0 {
		t.Errorf("%+v", st)
	}
}
