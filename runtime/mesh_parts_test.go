package runtime

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

// fakeParts answers requests for geometry after a latency on the fake clock.
type fakeParts struct {
	r       *rig
	latency time.Duration
	fault   func(req payload.Request, meshes []int) error
	queue   []pendingParts
	asked   [][]int
	held    int // assets that are not released
}

type pendingParts struct {
	pending
	meshes []int
}

func (p *fakeParts) LoadParts(req payload.Request, meshes []int) {
	p.asked = append(p.asked, meshes)
	p.queue = append(p.queue, pendingParts{pending{req, p.r.clock.Time + p.latency}, meshes})
}

func (p *fakeParts) deliver() {
	p.queue = slices.DeleteFunc(p.queue, func(q pendingParts) bool {
		if q.req.Context.Err() != nil {
			q.req.Done.Loaded(q.req.Token, payload.Result{Err: q.req.Context.Err()})
			return true
		}
		if q.due > p.r.clock.Time {
			return false
		}
		if p.fault != nil {
			if err := p.fault(q.req, q.meshes); err != nil {
				q.req.Done.Loaded(q.req.Token, payload.Result{Err: err})
				return true
			}
		}
		p.held++
		a := payload.NewAsset(func() { p.held-- })
		a.Meshes = make([]records.Mesh, len(q.meshes))
		for i, m := range q.meshes {
			a.Meshes[i].EstimatedGPUBytes = uint64(m) // tells the device which it is
		}
		a.Geometry.Vertices = make([]byte, 100*len(q.meshes))
		q.req.Done.Loaded(q.req.Token, payload.Result{Asset: a})
		return true
	})
}

// until runs frames with answers for parts.
func (p *fakeParts) until(seconds float64) {
	for p.r.now() < seconds-1e-9 {
		p.deliver()
		p.r.step()
	}
}

// partsRig is outOfCoreRig with assets whose geometry comes in parts.
func partsRig(t *testing.T, nodes []fake.Node, opts ...rigOption) (*rig, *fakeParts) {
	t.Helper()
	p := &fakeParts{latency: 250 * time.Millisecond}
	opts = append([]rigOption{func(_ *config.Config, _ *Deps, r *rig) {
		r.loader.Asset = func(payload.Request) *payload.Asset {
			a := fake.Asset(nil, nodes...)
			a.Parts = p
			return a
		}
	}}, opts...)
	r := outOfCoreRig(t, nodes, opts...)
	p.r = r
	return r, p
}

// Only what is wanted is asked for, small neighbours together, and it goes to
// the device when it has come.
func TestPartsAreLoadedWhenWanted(t *testing.T) {
	nodes := fake.NodesAt(100, 0, 10, 20, 200, 210)
	far := fake.NodesAt(partBatch, 30)[0]
	far.Name = "large"
	nodes = append(nodes, far)
	d := &meshDevice{}
	r, p := partsRig(t, nodes, withDevice(d))
	p.until(0.55)
	// The large one alone, the others in one request; those 200 m away not at all.
	if got := fmt.Sprint(p.asked); got != "[[5] [0 1 2]]" && got != "[[0 1 2] [5]]" {
		t.Errorf("asked for %s", got)
	}
	r.expect("", "mesh.load")
	p.until(3)
	if st := r.s.Stats(); st.MeshesLoaded != 4 || st.PartLoads != 2 || st.CPUBytes != 400 || st.GeometryBytes != 300+partBatch || st.ActiveLoads != 0 || st.Failures != 0 {
		t.Errorf("%+v", st)
	}
	if st := r.s.Stats(); st.BytesRequested != 300+partBatch || st.BytesLoaded != st.BytesRequested {
		t.Errorf("%d bytes of %d", st.BytesLoaded, st.BytesRequested)
	}
	// Up to the others: what has come is not asked for again.
	r.camera.Position[0] = 200
	p.until(6)
	if got := fmt.Sprint(p.asked[2:]); got != "[[3 4]]" {
		t.Errorf("asked for %s", got)
	}
	r.camera.Position[0] = 0
	p.until(9)
	if st := r.s.Stats(); st.PartLoads != 3 || st.MeshesLoaded != 4 {
		t.Errorf("%+v", st)
	}
	r.s.UnloadAll()
	if u := r.s.meshes.registry.usage(); u != (registryUsage{}) || p.held != 0 {
		t.Errorf("%+v, %d held", u, p.held)
	}
}

// Neighbours in the file that are not wanted yet come along, when they are near
// and small.
func TestPartsAhead(t *testing.T) {
	nodes := fake.NodesAt(100, 0, 60, 70, 99, 120)
	large := fake.NodesAt(partAhead, 65)[0]
	large.Name = "large"
	r, p := partsRig(t, append(nodes, large))
	p.until(3)
	if got := fmt.Sprint(p.asked); got != "[[0 1 2 3]]" {
		t.Errorf("asked for %s", got)
	}
	r.camera.Position[0] = 21
	p.until(4)
	if st := r.s.Stats(); st.MeshesLoaded != 4 || len(p.asked) != 2 {
		t.Errorf("%d requests: %v, %+v", len(p.asked), p.asked, st)
	}
}

// A load that fails is tried again after the delay that meshes have.
func TestPartsFail(t *testing.T) {
	r, p := partsRig(t, fake.NodesAt(100, 0, 10))
	fails := 2
	p.fault = func(payload.Request, []int) error {
		if fails--; fails >= 0 {
			return fake.ErrFake
		}
		return nil
	}
	p.until(20)
	r.expect(`0.6 mesh.failed a/n0 n=1 retry=5; 0.6 mesh.failed a/n1 n=1 retry=5; 5.9 mesh.failed a/n0 n=2 retry=10; 5.9 mesh.failed a/n1 n=2 retry=10;
		16.2 mesh.load a/n0; 16.2 mesh.load a/n1; 16.2 mesh.loaded a/n0; 16.2 mesh.loaded a/n1`, "mesh.")
	if st := r.s.Stats(); st.MeshFailures != 4 || st.Failures != 0 {
		t.Errorf("%+v", st)
	}
}

// A load that nobody answers ends as a download does, and the late answer is
// dropped.
func TestPartsTimeOut(t *testing.T) {
	r, p := partsRig(t, fake.NodesAt(100, 0), withConfig(func(c *config.Config) { c.HTTP.Attempts, c.HTTP.ResourceTimeout, c.TileParseTimeoutSeconds = 1, 5, 5 }))
	p.latency = 12 * time.Second
	p.until(11)
	if st := r.s.Stats(); st.MeshTimeouts != 1 || st.ActiveLoads != 0 || r.s.loads.parts != 0 {
		t.Errorf("%+v, %d", st, r.s.loads.parts)
	}
	p.until(15)
	if st := r.s.Stats(); st.Stale != 1 || st.MeshesLoaded != 0 || p.held != 0 {
		t.Errorf("%+v, %d assets are held", st, p.held)
	}
}

// Stubs that go out of range take their requests along, when nobody else waits
// for them.
func TestPartsAreCancelled(t *testing.T) {
	r, p := partsRig(t, fake.NodesAt(100, 0, 10, 140))
	p.latency = 5 * time.Second
	p.until(1)
	if len(p.queue) != 1 || r.s.loads.parts != 1 {
		t.Fatalf("%d requests", len(p.queue))
	}
	ctx := p.queue[0].req.Context
	r.camera.Position[0] = 107 // n0 is out of its unload radius, n1 is not
	p.until(1.5)
	if ctx.Err() != nil {
		t.Error("n1 waits still")
	}
	r.camera.Position[0] = 125
	p.until(1.8)
	if ctx.Err() == nil {
		t.Error("nobody waits any more")
	}
	p.until(2.5)
	if r.s.loads.parts > 1 || r.s.Stats().MeshFailures != 0 {
		t.Errorf("%d loads, %+v", r.s.loads.parts, r.s.Stats())
	}
	// The tile goes with requests under way.
	r.camera.Position[0] = -1000
	p.until(30)
	if st := r.s.Stats(); st.ActiveLoads != 0 || r.s.loads.parts != 0 || st.OutOfCoreTiles != 0 || p.held != 0 {
		t.Errorf("%+v, %d held", st, p.held)
	}
}

// A file that was replaced is opened again; what is drawn stays until the new
// one is known to be another.
func TestPartsOfAReplacedFile(t *testing.T) {
	for _, same := range []bool{true, false} {
		replaced, loads := true, 0
		nodes := append(fake.NodesAt(100, 0, 10), fake.NodesAt(partBatch, 90)...) // too large to come along
		nodes[2].Name = "large"
		r, p := partsRig(t, nodes)
		r.loader.Asset = func(payload.Request) *payload.Asset {
			loads++
			a := fake.Asset(nil, nodes...)
			a.Parts = p
			if !same {
				a.Version[0] = byte(loads)
			}
			return a
		}
		p.until(2)
		if st := r.s.Stats(); st.MeshesLoaded != 2 {
			t.Fatalf("%+v", st)
		}
		p.fault = func(payload.Request, []int) error {
			if replaced {
				replaced = false
				return fmt.Errorf("wrapped: %w", payload.ErrReplaced)
			}
			return nil
		}
		r.camera.Position[0] = 45
		p.until(15)
		st := r.s.Stats()
		if st.MeshesLoaded != 3 || loads != map[bool]int{true: 2, false: 3}[same] || st.MeshFailures != 1 {
			t.Errorf("same %v: %d loads, %+v", same, loads, st)
		}
		if got := len(r.events("tile.unload")); (got == 0) != same {
			t.Errorf("same %v: %d unloads", same, got)
		}
	}
}

// Critical pressure drops what has come; it is asked for again when wanted.
func TestPartsUnderPressure(t *testing.T) {
	r, p := partsRig(t, fake.NodesAt(100, 0, 10, 75))
	r.camera.Position[0] = -40
	p.until(3)
	if st := r.s.Stats(); st.CPUBytes != 200 || st.MeshesLoaded != 2 {
		t.Fatalf("%+v", st)
	}
	r.s.NotifyMemoryPressure(memory.PressureCritical)
	p.until(3.2)
	if st := r.s.Stats(); st.CPUBytes != 0 || st.CPUReleased != 200 || p.held != 0 {
		t.Errorf("%+v, %d held", st, p.held)
	}
	p.until(12)
	if st := r.s.Stats(); st.MeshesLoaded != 2 || st.CPUBytes != 200 || st.CPURereads != 1 || st.PartLoads != 2 {
		t.Errorf("%+v", st)
	}
}

// Split decides as the runtime does, before the geometry is there.
func TestSplit(t *testing.T) {
	three := fake.Asset(nil, fake.NodesAt(100, 0, 10, 20)...).Layout()
	groups := fake.Asset(nil, fake.Node{Name: "X_LOD0", Bytes: 1}, fake.Node{Name: "X_LOD1", Bytes: 1}).Layout()
	for _, tt := range []struct {
		split payload.Split
		n     *payload.Layout
		want  bool
	}{
		{payload.Split{Nodes: 4}, three, false},
		{payload.Split{Nodes: 3}, three, true},
		{payload.Split{Nodes: 4, Bytes: 300}, three, false},
		{payload.Split{Nodes: 4, Bytes: 299}, three, true},
		{payload.Split{Nodes: 4, Always: true}, three, true},
		{payload.Split{Nodes: 4}, groups, true},
		{payload.Split{Always: true}, fake.Asset(nil).Layout(), false},
	} {
		if got := tt.split.Admits(tt.n); got != tt.want {
			t.Errorf("%+v: %v", tt.split, got)
		}
	}
}

// memRanges is a file in memory of which only what was brought can be read.
type memRanges struct {
	mu      sync.Mutex
	data    []byte
	here    []bool
	brought int
	forget  int // how often what was brought is gone again
}

func (m *memRanges) Size() int64 { return int64(len(m.data)) }

func (m *memRanges) Bring(ctx context.Context, spans []payload.Span) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.brought++
	for _, s := range spans {
		for i := s.From; i < s.To; i++ {
			m.here[i] = true
		}
	}
	if m.forget > 0 {
		m.forget--
		clear(m.here)
	}
	return ctx.Err()
}

func (m *memRanges) Distrust(spans []payload.Span) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range spans {
		clear(m.here[s.From:s.To])
	}
}

var errNotBrought = errors.New("not brought")

func (m *memRanges) ReadAt(b []byte, off int64) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range b {
		if !m.here[off+int64(i)] {
			return 0, errNotBrought
		}
	}
	return copy(b, m.data[off:]), nil
}

// The FileLoader opens a file in parts by its tables, and loads its meshes as a
// whole file's would be.
func TestFileInParts(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.untold")
	fake.WriteTriangles(t, path, format.FileTile, format.ModeNone, 40)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	l := payload.NewFileLoader(0)
	defer l.Close()
	src := &memRanges{data: data, here: make([]bool, len(data))}
	if res := fake.Ask(t, l, payload.Request{Local: payload.Fetched{Ranges: src}}); res.Err == nil {
		t.Error("nothing has been brought")
	}
	_, chunks, err := format.ReadTable(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range chunks {
		if c.Type != format.ChunkVertices && c.Type != format.ChunkIndices {
			src.Bring(t.Context(), []payload.Span{{From: 0, To: int64(c.Offset + c.CompressedSize)}})
		}
	}
	if res := fake.Ask(t, l, payload.Request{Local: payload.Fetched{Ranges: src}, Size: 7}); !errors.Is(res.Err, payload.ErrPayload) {
		t.Errorf("%v", res.Err)
	}
	res := fake.Ask(t, l, payload.Request{Local: payload.Fetched{Ranges: src}, Size: int64(len(data))})
	if res.Err != nil || res.Asset.Parts == nil || res.Nodes != 40 || res.GeometryBytes != 0 || res.Asset.CPUBytes() != 0 {
		t.Fatalf("%+v", res)
	}
	whole, err := format.NewBytesReader(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range [][]int{{7}, {3, 4, 5}, {39, 0, 17, 0}, {}} {
		src.mu.Lock()
		src.forget = 1 // evicted between Bring and ReadAt
		src.mu.Unlock()
		answer := make(chan payload.Result, 1)
		done := payload.Intercept(func(_ uint64, r payload.Result) { answer <- r }, nil)
		res.Asset.Parts.LoadParts(payload.Request{Context: t.Context(), Done: done}, list)
		got := <-answer
		if got.Err != nil || len(got.Asset.Meshes) != len(list) {
			t.Fatalf("%v: %+v", list, got)
		}
		for i, k := range list {
			v, _ := whole.MeshVertices(k, nil)
			x, _ := whole.MeshIndices(k, nil)
			m, g := &got.Asset.Meshes[i], got.Asset.Geometry
			if !bytes.Equal(g.Vertices[m.VertexOffset:][:m.VertexSize], v) || !bytes.Equal(g.Indices[m.IndexOffset:][:m.IndexSize], x) {
				t.Errorf("%v: mesh %d is another", list, k)
			}
		}
		view := res.Asset.PartView(0, got.Asset)
		if view == nil || len(view.Entities) != 1 || len(view.Meshes) != len(list) {
			t.Errorf("%+v", view)
		}
		view.Release()
		got.Asset.Release()
	}
	// An index beyond the vertices.
	c, _ := whole.Chunk(format.ChunkIndices)
	binary.LittleEndian.PutUint16(data[c.Offset+whole.Meshes()[9].IndexOffset:], math.MaxUint16)
	answer := make(chan payload.Result, 1)
	done := payload.Intercept(func(_ uint64, r payload.Result) { answer <- r }, nil)
	res.Asset.Parts.LoadParts(payload.Request{Context: t.Context(), Done: done}, []int{8, 9})
	if got := <-answer; !errors.Is(got.Err, payload.ErrPayload) {
		t.Errorf("%+v", got)
	}
	if src.here[c.Offset+whole.Meshes()[9].IndexOffset] {
		t.Error("what made no sense is still there")
	}
	l.Close()
	res.Asset.Parts.LoadParts(payload.Request{Context: t.Context(), Done: done}, []int{8})
	if got := <-answer; !errors.Is(got.Err, payload.ErrClosed) {
		t.Errorf("%+v", got)
	}
}
