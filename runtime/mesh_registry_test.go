package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/payload"
)

func TestMeshRegistry(t *testing.T) {
	released := 0
	c := newMeshRegistry(nil)
	hull, group := stubID{7, 0}, stubID{7, 1}
	c.storeMesh(hull, meshEntry{1, 10})
	c.storeMesh(group, meshEntry{part: 2}, meshEntry{part: 3})
	if e := c.mesh(hull); len(e) != 1 || e[0].part != 1 {
		t.Errorf("%+v", e)
	}
	if e := c.mesh(group); len(e) != 2 || e[1].part != 3 {
		t.Errorf("%+v", e)
	}
	for _, id := range []stubID{{7, 2}, {7, -1}, {8, 0}} {
		if c.mesh(id) != nil {
			t.Errorf("%v is known", id)
		}
	}
	if c.isWarm(7) || c.view(7, 1) != nil || c.releaseWarm(7) != 0 {
		t.Error("warm without an asset")
	}

	whole := fake.Asset(&released, fake.NodesAt(10, 0, 1, 2)...)
	whole.Ready = "packed"
	if c.storeAsset(7, whole); whole.Ready != nil {
		t.Error("keeps what was made ready for an upload as a whole")
	}
	if u := c.usage(); u != (registryUsage{Bytes: 30, Roots: 1, Warm: 1}) {
		t.Errorf("%+v", u)
	}
	v := c.view(7, 2)
	if v == nil || len(v.Meshes) != 1 || c.view(7, 0) != nil || c.view(7, 4) != nil {
		t.Fatal("views")
	}
	if freed := c.releaseWarm(7); freed != 30 || released != 0 {
		t.Errorf("freed %d, released %d while a view holds the buffers", freed, released)
	}
	v.Release()
	if released != 1 {
		t.Errorf("released %d", released)
	}
	if e := c.mesh(hull); len(e) != 1 || e[0].bytes != 10 || c.isWarm(7) {
		t.Error("the entry went with the asset")
	}
	c.storeAsset(7, fake.Asset(&released, fake.NodesAt(10, 0)...)) // read again
	c.storeAsset(7, fake.Asset(&released, fake.NodesAt(10, 0)...))
	if u := c.usage(); u.Bytes != 10 || released != 2 {
		t.Errorf("%+v, released %d", u, released)
	}
}

// All of a root goes under its one id.
func TestRemoveRootFreesAll(t *testing.T) {
	released := 0
	c := newMeshRegistry(nil)
	for root := RootID(1); root <= 2; root++ {
		c.storeMesh(stubID{root, 0}, meshEntry{part: 1})
		c.storeMesh(stubID{root, 1}, meshEntry{part: 2}, meshEntry{part: 3})
		c.storeAsset(root, fake.Asset(&released, fake.NodesAt(10, 0)...))
	}
	c.removeRoot(1)
	c.removeRoot(1)
	if c.mesh(stubID{1, 0}) != nil || c.mesh(stubID{1, 1}) != nil || released != 1 || c.usage() != (registryUsage{10, 1, 1, 0}) {
		t.Errorf("%+v, released %d", c.usage(), released)
	}
	c.cancelAll()
	if c.usage() != (registryUsage{}) || released != 2 {
		t.Errorf("%+v, released %d", c.usage(), released)
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
		r := outOfCoreRig(t, nodes, func(_ *config.Config, _ *Deps, r *rig) {
			r.loader.Asset = func(payload.Request) *payload.Asset { return fake.Asset(&released, nodes...) }
		})
		r.until(1)
		if r.s.meshes.registry.usage().Bytes != 10 {
			t.Fatalf("%s: %+v", name, r.s.meshes.registry.usage())
		}
		end(r)
		if u := r.s.meshes.registry.usage(); u != (registryUsage{}) || released != 1 {
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
	c := newMeshRegistry(nil)
	c.storeAsset(1, fake.Asset(nil, fake.NodesAt(1, 0)...))
	first := c.roots[1]
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
			if err := first.ensure(decode); err != nil {
				t.Error(err)
			}
		})
	}
	// While that runs other roots, and views of this one, are free.
	c.storeAsset(2, fake.Asset(nil, fake.NodesAt(1, 0)...))
	if err := c.roots[2].ensure(func() error { return nil }); err != nil || c.view(1, 1) == nil {
		t.Error("held up")
	}
	close(inside)
	wg.Wait()
	if calls.Load() != 1 {
		t.Errorf("%d decodes", calls.Load())
	}
}

func TestPrewarmRunsOncePerRoot(t *testing.T) {
	p := &countingPrewarm{}
	p.failures.Store(1)
	c := newMeshRegistry(p)
	ended := make(chan struct{}, 4)
	c.notify = func() { ended <- struct{}{} }
	for range 3 { // a failure, a success, and nothing left to do
		c.storeAsset(1, fake.Asset(nil, fake.NodesAt(1, 0)...))
		if !c.prewarmActive(1) {
			t.Error("not active")
		}
		<-ended
		if !c.prewarmActive(1) {
			t.Error("it ended before anybody took notice")
		}
		if !c.takeFinished() || c.prewarmActive(1) || c.takeFinished() {
			t.Error("it has not ended")
		}
	}
	if got := p.calls.Load(); got != 2 {
		t.Errorf("%d calls", got)
	}
	c.cancelAll()
	c.storeAsset(1, fake.Asset(nil, fake.NodesAt(1, 0)...))
	if c.prewarmActive(1) {
		t.Error("a prewarm after the end")
	}
}

func TestMeshRegistryConcurrently(t *testing.T) {
	c := newMeshRegistry(&countingPrewarm{})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				root := RootID((g+i)%4 + 1)
				switch i % 5 {
				case 0:
					c.storeAsset(root, fake.Asset(nil, fake.NodesAt(1, 0, 1)...))
				case 1:
					c.view(root, 1).Release()
				case 2:
					c.releaseWarm(root)
				case 3:
					c.storeMesh(stubID{root, int32(i % 3)}, meshEntry{})
				default:
					c.removeRoot(root)
				}
				c.takeFinished()
			}
		})
	}
	wg.Wait()
	c.cancelAll()
	if u := c.usage(); u != (registryUsage{}) {
		t.Errorf("%+v", u)
	}
}

// Parts that come twice count once: what the first load brought is free when the
// last of its parts has been replaced, and counts until then.
func TestPartsThatComeTwice(t *testing.T) {
	root := fake.Asset(nil, fake.NodesAt(100, 0, 10, 20)...)
	root.Parts = &fakeParts{}
	plan := root.Layout()
	c := newMeshRegistry(nil)
	c.storeAsset(1, root)
	held := map[string]int{}
	load := func(name string, stubs ...int32) {
		t.Helper()
		held[name]++
		a := payload.NewAsset(func() { held[name]-- })
		a.Meshes = make([]records.Mesh, len(stubs))
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
		if n := c.usage().Bytes; n != step.bytes || fmt.Sprint(held) != step.held {
			t.Errorf("%s: %d bytes, %v; want %d, %s", step.name, n, held, step.bytes, step.held)
		}
	}
	if n := c.releaseWarm(1); n != 400 || c.usage().Bytes != 0 {
		t.Errorf("%d bytes were freed, %d are left", n, c.usage().Bytes)
	}
}
