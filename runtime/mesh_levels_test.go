package runtime

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/payload"
)

// tree is a LOD group of three levels around x = 0 and a rock.
func tree() []fake.Node {
	unit := [6]float64{-1, -1, -1, 1, 1, 1}
	return []fake.Node{
		{Name: "Tree_LOD0", Bytes: 60, Box: unit},
		{Name: "Tree_LOD1", Bytes: 30, Box: unit},
		{Name: "Tree_LOD2", Bytes: 10, Box: unit},
		{Name: "rock", Bytes: 5, Box: unit},
	}
}

// All levels are uploaded in one pass; the distance chooses, with 5 m of
// hysteresis towards the finer one.
func TestLODGroupSwitches(t *testing.T) {
	d := &meshDevice{}
	r := newRig(t, sceneOf(tileOf("a", tree(), radiiAt(300, 400))), withNodes(map[string][]fake.Node{"a": tree()}), withDevice(d),
		withConfig(func(c *config.Config) { c.LOD.Distances = []float64{50, 100} }))
	for _, c := range []struct {
		x    float64
		want string
	}{
		{0, "a/1, a/4"},
		{50, "a/1, a/4"},
		{51, "a/2, a/4"},
		{46, "a/2, a/4"},
		{45, "a/1, a/4"},
		{99, "a/2, a/4"},
		{101, "a/3, a/4"},
		{96, "a/3, a/4"},
		{95, "a/2, a/4"},
		{250, "a/3, a/4"},
		{10, "a/1, a/4"},
	} {
		r.camera.Position[0] = c.x
		r.until(r.now() + 1)
		if got := r.parts(); got != c.want {
			t.Errorf("at %v m: %s, want %s", c.x, got, c.want)
		}
	}
	r.expect("0.3 mesh.load a/Tree; 0.3 mesh.load a/rock; 0.6 mesh.loaded a/Tree; 0.6 mesh.loaded a/rock", "mesh.")
	if st := r.s.Stats(); st.Meshes != 2 || st.GeometryBytes != 105 || len(d.since) != 4 || st.LODSwitches != 7 {
		t.Errorf("%+v, %d parts on the device", st, len(d.since))
	}
	if len(r.s.meshes.registry.mesh(stubID{1, 0})) != 3 {
		t.Error("the registry knows no levels")
	}
}

func TestLODGroupIsJudgedEveryFourthFrame(t *testing.T) {
	r := newRig(t, sceneOf(tileOf("a", tree(), radiiAt(300, 400))), withNodes(map[string][]fake.Node{"a": tree()}))
	r.camera.Position[0] = 49.9
	r.until(1)
	for r.s.frame-r.s.meshes.switchedAt != 1 {
		r.step()
	}
	var got []string
	r.camera.Position[0] = 50.3 // not far enough to be judged at once
	for range 4 {
		got = append(got, r.parts())
		r.step()
	}
	got = append(got, r.parts())
	r.camera.Position[0] = 44
	r.step()
	got = append(got, r.parts())
	want := []string{"a/1, a/4", "a/1, a/4", "a/1, a/4", "a/1, a/4", "a/2, a/4", "a/1, a/4"}
	if !slices.Equal(got, want) {
		t.Errorf("drawn %q, want %q", got, want)
	}
}

// A level that is not there gives way to a coarser one, else to a finer one.
func TestLODGroupFallsBack(t *testing.T) {
	for _, c := range []struct {
		fail []int32
		x    float64
		want string
	}{
		{[]int32{1}, 0, "a/2, a/4"},
		{[]int32{1, 2}, 0, "a/3, a/4"},
		{[]int32{3}, 300, "a/2, a/4"},
		{[]int32{2, 3}, 300, "a/1, a/4"},
		{[]int32{1, 2, 3}, 0, "a/4"},
	} {
		t.Run(fmt.Sprint(c.fail, " at ", c.x), func(t *testing.T) {
			d := &meshDevice{latency: time.Millisecond, refuse: func(k payload.Key) error {
				if slices.Contains(c.fail, k.Part) {
					return fake.ErrFake
				}
				return nil
			}}
			r := newRig(t, sceneOf(tileOf("a", tree(), radiiAt(500, 500))), withNodes(map[string][]fake.Node{"a": tree()}), withDevice(d))
			r.camera.Position[0] = c.x
			r.until(2)
			if got := r.parts(); got != c.want {
				t.Errorf("drawn %s, want %s", got, c.want)
			}
		})
	}
}

// Whole tiles show the finest levels only: nothing could hide the others.
func TestWholeTilesShowTheFinestLevels(t *testing.T) {
	var uploaded []string
	r := newRig(t, sceneOf(tileOf("a", tree())), withPolicy(config.OutOfCoreImmediate), func(_ *config.Config, d *Deps, r *rig) {
		released := 0
		r.loader.Asset = func(payload.Request) *payload.Asset { return fake.Asset(&released, tree()...) }
		d.Device = deviceFunc(func(_ payload.Key, a *payload.Asset) error {
			for i := range a.Entities {
				uploaded = append(uploaded, a.Strings(a.Entities[i].NameOffset))
			}
			a.Release()
			if released != 0 { // the Streamer's own handle goes after it
				t.Error("the buffers went back too early")
			}
			return nil
		})
		t.Cleanup(func() {
			if released != 1 {
				t.Errorf("the buffers went back %d times", released)
			}
		})
	})
	r.until(1)
	if !slices.Equal(uploaded, []string{"Tree_LOD0", "rock"}) || len(r.s.AppendDrawn(nil)) != 1 {
		t.Errorf("uploaded %q", uploaded)
	}
}

type deviceFunc func(payload.Key, *payload.Asset) error

func (f deviceFunc) Upload(k payload.Key, a *payload.Asset) error { return f(k, a) }
func (deviceFunc) Release(payload.Key)                            {}

// A device is told which level of its group a part is, so that it can spend
// less on coarse ones; a level that a group leaves out does not count.
func TestLODGroupViewsKnowTheirLevel(t *testing.T) {
	spec := append(tree(), fake.Node{Name: "Bush_LOD1", Bytes: 9}, fake.Node{Name: "Bush_LOD3", Bytes: 3})
	got := map[int32][2]int{}
	d := &meshDevice{onAsset: func(k payload.Key, a *payload.Asset) {
		held := a.Retain()
		got[k.Part] = [2]int{held.Level, held.Levels}
		held.Release()
	}}
	r := newRig(t, sceneOf(tileOf("a", spec, radiiAt(300, 400))), withNodes(map[string][]fake.Node{"a": spec}), withDevice(d))
	r.until(3)
	want := map[int32][2]int{1: {0, 3}, 2: {1, 3}, 3: {2, 3}, 4: {0, 0}, 5: {0, 2}, 6: {1, 2}}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
