package runtime

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/internal/fake"
)

// quarter is a region around x with a scene of one tile.
func quarter(id string, x float64) Region {
	return Region{ID: id, Bounds: face(x), Source: Source{Manifest: sceneOf(tileAt("t_"+id, face(x))), Path: id + "/scene.json"}}
}

func (r *rig) withRegions(m *Regions, end float64, keys ...[2]float64) {
	for r.now() < end-1e-9 {
		for _, k := range keys {
			if k[0] <= r.now()+1e-9 {
				r.camera.Position[0] = k[1]
			}
		}
		m.Update(r.camera, r.dt)
		r.step()
	}
}

func regionStates(m *Regions) (out string) {
	for i := range m.list {
		out += fmt.Sprint(m.list[i].state)
	}
	return out
}

// Every half second, within 100 m, gone beyond 150 m.
func TestRegions(t *testing.T) {
	r := newRig(t, sceneOf())
	m, err := NewRegions(r.s, quarter("a", 90), quarter("b", 101), quarter("c", -500))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at, x float64
		want  string
	}{{0.1, 0, "200"}, {0.3, 10, "200"}, {0.7, 10, "220"}, {1.2, -49, "220"}, {1.7, -61, "000"}, {3, -450, "002"}} {
		r.withRegions(m, c.at, [2]float64{0, c.x})
		if got := regionStates(m); got != c.want {
			t.Errorf("at %v s, %v m: %s, want %s", c.at, c.x, got, c.want)
		}
	}
	if _, id, ok := m.State("c"); !ok || id == 0 || len(r.s.Scenes()) != 2 {
		t.Errorf("scenes %v", r.s.Scenes())
	}
	if _, _, ok := m.State("d"); ok {
		t.Error("an unknown region")
	}
	m.Close()
	if got := r.s.Scenes(); len(got) != 1 {
		t.Errorf("scenes %v", got)
	}
}

// Residency is reported children first, the scene before its
// region. What cannot be opened says when it will be tried again.
func TestRegionEvents(t *testing.T) {
	r := newRig(t, sceneOf())
	var got []string
	note := func() {
		for _, e := range r.s.Events() {
			text := fmt.Sprintf("%.1f %s %d", (e.Time - fake.Epoch).Seconds(), e.Kind, e.Scene)
			if e.Region != "" {
				text += " " + e.Region
			}
			if e.Err != nil {
				text += fmt.Sprintf(" attempt %d, again in %v: %v", e.Attempt, e.RetryIn, e.Err)
			}
			got = append(got, text)
		}
	}
	note()
	got = nil
	bad := quarter("bad", 0)
	bad.Source.Manifest = nil
	m, err := NewRegions(r.s, quarter("a", 90), bad)
	if err != nil {
		t.Fatal(err)
	}
	m.read = func(string) (*manifest.Manifest, error) { return nil, fake.ErrFake }
	for _, x := range []float64{0, 0, -400} {
		r.camera.Position[0] = x
		m.Update(r.camera, time.Second)
		m.tasks.Wait()
		note()
		r.clock.Time += time.Second
	}
	r.camera.Position[0] = 0
	m.Update(r.camera, time.Second)
	m.Close()
	note()
	want := []string{
		"0.0 region.load 0 bad", "0.0 region.load 0 a", "0.0 scene.load 2", "0.0 region.loaded 2 a",
		"1.0 region.failed 0 bad attempt 1, again in 5s: " + fake.ErrFake.Error(),
		"2.0 scene.unload 2", "2.0 region.unload 2 a",
		"3.0 region.load 0 a", "3.0 scene.load 3", "3.0 region.loaded 3 a", "3.0 scene.unload 3", "3.0 region.unload 3 a",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRegionsReadInTheBackground(t *testing.T) {
	r := newRig(t, sceneOf())
	var regions []Region
	for i := range 5 {
		q := quarter(fmt.Sprint(i), float64(10+i))
		q.Priority, q.Source.Manifest = i%2, nil
		regions = append(regions, q)
	}
	m, err := NewRegions(r.s, regions...)
	if err != nil {
		t.Fatal(err)
	}
	asked, answer := make(chan string, 8), make(chan error, 8)
	m.read = func(path string) (*manifest.Manifest, error) {
		asked <- path
		if err := <-answer; err != nil {
			return nil, err
		}
		return sceneOf(), nil
	}
	m.Update(r.camera, 0)
	if got := regionStates(m); got != "11010" { // priority, then distance; three at a time
		t.Errorf("%s", got)
	}
	for range 3 {
		<-asked
	}
	answer <- nil
	answer <- nil
	answer <- fake.ErrFake
	m.tasks.Wait()
	m.Update(r.camera, 0)
	loaded, failed := 0, 0
	for i := range m.list {
		switch m.list[i].state {
		case RegionLoaded:
			loaded++
		case RegionFailed:
			failed++
		}
	}
	if loaded != 2 || failed != 1 {
		t.Errorf("%s", regionStates(m))
	}
	// The failed one waits for 5 s.
	answer <- nil
	answer <- nil
	m.Update(r.camera, time.Second)
	m.tasks.Wait()
	m.Update(r.camera, time.Second)
	if len(asked) != 2 {
		t.Errorf("%d asked", len(asked))
	}
	r.clock.Time += 6 * time.Second
	answer <- nil
	m.Update(r.camera, time.Second)
	m.tasks.Wait()
	m.Update(r.camera, time.Second)
	if got := regionStates(m); got != "22222" {
		t.Errorf("%s", got)
	}
	m.Close()
}

func TestRegionsMindTheBudget(t *testing.T) {
	nodes := fake.NodesAt(30, 40, 60, 61)
	r := newRig(t, sceneOf(tileOf("a", nodes, radiiAt(50, 100))), withNodes(map[string][]fake.Node{"a": nodes}), withPolicy(config.OutOfCoreAlways))
	r.memory.GeometryBudget = 200
	r.path(3, [2]float64{0, 20}) // all three are loaded
	r.camera.Position[0] = -20   // the last two lie beyond 50 m
	small, large := quarter("small", 0), quarter("large", 0)
	small.Bytes, large.Bytes = 165, 205
	m, err := NewRegions(r.s, small, large)
	if err != nil {
		t.Fatal(err)
	}
	r.step()
	m.Update(r.camera, 0)
	if got := regionStates(m); got != "20" || r.s.Stats().GeometryBytes != 0 {
		t.Errorf("%s, %d bytes", got, r.s.Stats().GeometryBytes)
	}
	m.Close()
}

func TestRegionsRefuse(t *testing.T) {
	r := newRig(t, sceneOf())
	bad := quarter("b", 0)
	bad.UnloadRadius = 10
	out := quarter("c", 0)
	out.Bounds = manifest.Bounds{Min: [3]float64{1}}
	for _, list := range [][]Region{{quarter("a", 0), quarter("a", 1)}, {bad}, {out}} {
		if _, err := NewRegions(r.s, list...); err == nil {
			t.Errorf("%+v was accepted", list)
		}
	}
	missing := Region{ID: "m", Bounds: face(0), Source: Source{Path: filepath.Join(t.TempDir(), "none.json")}}
	m, err := NewRegions(r.s, missing)
	if err != nil {
		t.Fatal(err)
	}
	m.Update(r.camera, 0)
	m.tasks.Wait()
	m.Update(r.camera, 0)
	if state, _, _ := m.State("m"); state != RegionFailed {
		t.Errorf("state %d", state)
	}
	if err := r.s.RemoveScene(99); !errors.Is(err, ErrNoScene) {
		t.Error(err)
	}
	m.Close()
	m.Update(r.camera, time.Second)
}
