package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/payload"
)

func TestCPURegistry(t *testing.T) {
	released := 0
	c := NewCPURegistry(nil)
	hull, group := StubID{7, 0}, StubID{7, 1}
	c.StoreMesh(hull, CPUEntry{Name: "Hull_A#42", Part: 1, Bytes: 10})
	for i, name := range []string{"Tree_LOD0", "Tree_LOD1"} {
		c.StoreLODMesh(group, CPUEntry{Name: name, Part: int32(2 + i)})
	}
	if _, ok := c.Mesh(group); ok || c.HasLODData(hull) || !c.HasLODData(group) {
		t.Error("meshes and groups are mixed up")
	}
	if e, ok := c.Mesh(hull); !ok || e.Name != "Hull_A#42" {
		t.Errorf("%+v", e)
	}
	if e, ok := c.LODMesh(group, 1); !ok || e.Name != "Tree_LOD1" || len(c.LODMeshes(group)) != 2 {
		t.Errorf("%+v", e)
	}
	for _, id := range []StubID{{7, 2}, {7, -1}, {8, 0}} {
		if _, ok := c.Mesh(id); ok || c.LODMeshes(id) != nil || c.HasLODData(id) {
			t.Errorf("%v is known", id)
		}
	}
	if c.Warm(7) || c.View(7, 1) != nil || c.ReleaseWarm(7) != 0 {
		t.Error("warm without an asset")
	}

	c.StoreAsset(7, fake.Asset(&released, fake.NodesAt(10, 0, 1, 2)...))
	if u := c.Usage(); u != (CPUUsage{Bytes: 30, Roots: 1, Warm: 1}) {
		t.Errorf("%+v", u)
	}
	v := c.View(7, 2)
	if v == nil || len(v.Meshes) != 1 || c.View(7, 0) != nil || c.View(7, 4) != nil {
		t.Fatal("views")
	}
	if freed := c.ReleaseWarm(7); freed != 30 || released != 0 {
		t.Errorf("freed %d, released %d while a view holds the buffers", freed, released)
	}
	v.Release()
	if released != 1 {
		t.Errorf("released %d", released)
	}
	if e, ok := c.Mesh(hull); !ok || e.Bytes != 10 || c.Warm(7) {
		t.Error("the entry went with the asset")
	}
	c.StoreAsset(7, fake.Asset(&released, fake.NodesAt(10, 0)...)) // read again
	c.StoreAsset(7, fake.Asset(&released, fake.NodesAt(10, 0)...))
	if u := c.Usage(); u.Bytes != 10 || released != 2 {
		t.Errorf("%+v, released %d", u, released)
	}
	c.RemoveStub(hull)
	if _, ok := c.Mesh(hull); ok {
		t.Error("a removed mesh is known")
	}
}

// All of a root goes under its one id.
func TestRemoveRootFreesAll(t *testing.T) {
	released := 0
	c := NewCPURegistry(nil)
	for root := RootID(1); root <= 2; root++ {
		c.StoreMesh(StubID{root, 0}, CPUEntry{Name: "a"})
		c.StoreLODMesh(StubID{root, 1}, CPUEntry{Name: "b"})
		c.StoreAsset(root, fake.Asset(&released, fake.NodesAt(10, 0)...))
	}
	c.RemoveRoot(1)
	c.RemoveRoot(1)
	if _, ok := c.Mesh(StubID{1, 0}); ok || c.HasLODData(StubID{1, 1}) || released != 1 || c.Usage() != (CPUUsage{10, 1, 1, 0}) {
		t.Errorf("%+v, released %d", c.Usage(), released)
	}
	c.CancelAll()
	if c.Usage() != (CPUUsage{}) || released != 2 {
		t.Errorf("%+v, released %d", c.Usage(), released)
	}
}

func TestUnloadFreesTheMainMemory(t *testing.T) {
	released := 0
	nodes := []fake.Node{{Name: "root"}, {Name: "deep", Parent: "root", Bytes: 10, Box: [6]float64{5, 0, 0, 6, 1, 1}}}
	for name, end := range map[string]func(*rig){
		"distance":     func(r *rig) { r.path(r.now()+20, [2]float64{0, -800}) },
		"force":        func(r *rig) { r.s.UnloadAll() },
		"remove scene": func(r *rig) { _ = r.s.RemoveScene(1) },
		"close":        func(r *rig) { r.s.Close() },
	} {
		released = 0
		r := outOfCoreRig(t, nodes, func(_ *Config, _ *Deps, r *rig) {
			r.loader.Asset = func(payload.Request) *payload.Asset { return fake.Asset(&released, nodes...) }
		})
		r.until(1)
		if r.s.meshes.registry.Usage().Bytes != 10 {
			t.Fatalf("%s: %+v", name, r.s.meshes.registry.Usage())
		}
		end(r)
		if u := r.s.meshes.registry.Usage(); u != (CPUUsage{}) || released != 1 {
			t.Errorf("%s: %+v, released %d", name, u, released)
		}
	}
}

// countingPrewarm counts its calls and fails the first ones.
type countingPrewarm struct{ calls, failures atomic.Int32 }

func (p *countingPrewarm) Prewarm(context.Context, RootID, *payload.Asset) error {
	p.calls.Add(1)
	if p.failures.Add(-1) >= 0 {
		return errors.New("no textures")
	}
	return nil
}

// The lock of a root brackets the decode alone, which happens once.
func TestTexturesAreDecodedOnce(t *testing.T) {
	c := NewCPURegistry(nil)
	c.StoreAsset(1, fake.Asset(nil, fake.NodesAt(1, 0)...))
	inside, calls := make(chan struct{}), atomic.Int32{}
	decode := func() error {
		if calls.Add(1) == 1 {
			<-inside
		}
		return nil
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := c.EnsureTextures(1, decode); err != nil {
				t.Error(err)
			}
		})
	}
	// While that runs other roots, and views of this one, are free.
	c.StoreAsset(2, fake.Asset(nil, fake.NodesAt(1, 0)...))
	if err := c.EnsureTextures(2, func() error { return nil }); err != nil || c.View(1, 1) == nil {
		t.Error("held up")
	}
	close(inside)
	wg.Wait()
	if calls.Load() != 1 {
		t.Errorf("%d decodes", calls.Load())
	}
	if err := c.EnsureTextures(3, func() error { return errors.New("called") }); err != nil {
		t.Error(err)
	}
}

func TestPrewarmRunsOncePerRoot(t *testing.T) {
	p := &countingPrewarm{}
	p.failures.Store(1)
	c := NewCPURegistry(p)
	ended := make(chan struct{}, 4)
	c.notify = func() { ended <- struct{}{} }
	for range 3 { // a failure, a success, and nothing left to do
		c.StoreAsset(1, fake.Asset(nil, fake.NodesAt(1, 0)...))
		if !c.PrewarmActive(1) {
			t.Error("not active")
		}
		<-ended
		if !c.PrewarmActive(1) {
			t.Error("it ended before anybody took notice")
		}
		if !c.takeFinished() || c.PrewarmActive(1) || c.takeFinished() {
			t.Error("it has not ended")
		}
	}
	if got := p.calls.Load(); got != 2 {
		t.Errorf("%d calls", got)
	}
	c.CancelAll()
	c.StoreAsset(1, fake.Asset(nil, fake.NodesAt(1, 0)...))
	if c.PrewarmActive(1) {
		t.Error("a prewarm after the end")
	}
}

func TestCPURegistryConcurrently(t *testing.T) {
	c := NewCPURegistry(&countingPrewarm{})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				root := RootID((g+i)%4 + 1)
				switch i % 5 {
				case 0:
					c.StoreAsset(root, fake.Asset(nil, fake.NodesAt(1, 0, 1)...))
				case 1:
					c.View(root, 1).Release()
				case 2:
					c.ReleaseWarm(root)
				case 3:
					c.StoreMesh(StubID{root, int32(i % 3)}, CPUEntry{})
				default:
					c.RemoveRoot(root)
				}
				c.takeFinished()
			}
		})
	}
	wg.Wait()
	c.CancelAll()
	if u := c.Usage(); u != (CPUUsage{}) {
		t.Errorf("%+v", u)
	}
}

// Parts that come twice count once: what the first load brought is free when the
// last of its parts has been replaced, and counts until then.
func TestPartsThatComeTwice(t *testing.T) {
	root := fake.Asset(nil, fake.NodesAt(100, 0, 10, 20)...)
	root.Parts = &fakeParts{}
	plan := root.Layout()
	c := NewCPURegistry(nil)
	c.StoreAsset(1, root)
	held := map[string]int{}
	load := func(name string, stubs ...int32) {
		t.Helper()
		held[name]++
		a := payload.NewAsset(func() { held[name]-- })
		a.Meshes = make([]format.Mesh, len(stubs))
		a.Geometry.Vertices = make([]byte, 100*len(stubs))
		if !c.storeParts(1, plan, stubs, a) {
			t.Fatal("not stored")
		}
		a.Release()
	}
	for _, step := range []struct {
		name  string
		stubs []int32
		bytes int64
		held  string
	}{
		{"a", []int32{0, 1, 2}, 300, "map[a:1]"},
		{"b", []int32{0, 1, 2}, 300, "map[a:0 b:1]"},
		{"c", []int32{1}, 400, "map[a:0 b:1 c:1]"}, // b keeps 0 and 2
		{"d", []int32{0, 2}, 300, "map[a:0 b:0 c:1 d:1]"},
		{"e", []int32{2}, 400, "map[a:0 b:0 c:1 d:1 e:1]"},
	} {
		load(step.name, step.stubs...)
		if n := c.Usage().Bytes; n != step.bytes || fmt.Sprint(held) != step.held {
			t.Errorf("%s: %d bytes, %v; want %d, %s", step.name, n, held, step.bytes, step.held)
		}
	}
	if n := c.ReleaseWarm(1); n != 400 || c.Usage().Bytes != 0 {
		t.Errorf("%d bytes were freed, %d are left", n, c.Usage().Bytes)
	}
}
