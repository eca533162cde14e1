package batch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a Batcher with a device, geometry and jobs that a test holds in its
// hands. Every vertex carries the serial number of its mesh and its index, so
// that what is drawn can be read off the merged bytes.
type rig struct {
	t        tester
	b        *Batcher
	pool     Pool
	frame    int
	serial   uint64
	resident map[payload.Key][]testMesh
	keys     []payload.Key // of resident, in the order of coming
	drawn    []runtime.Drawn
	jobs     []*Job
	device   map[ID]*testBatch
	released int
	lost     func(Ref) bool // geometry that is not there
	refuse   func() bool    // uploads
	slow     func(ID) bool  // not drawable yet
	hidden   func(box records.Bounds) bool
}

// tester is what tests and property tests have in common.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

type testMesh struct {
	Item
	vertices, indices []byte
	kind              vertex.IndexType
	serial            uint64
}

type testBatch struct {
	Upload
	vertices, indices []byte
	drawable          bool
	lastDrawn         int
}

func newRig(t tester, change ...func(*Options)) *rig {
	r := &rig{t: t, resident: map[payload.Key][]testMesh{}, device: map[ID]*testBatch{}}
	o := Options{Builder: r, Device: r}
	for _, c := range change {
		c(&o)
	}
	r.b = New(o)
	r.b.SetScene(1, 10)
	r.b.SetScene(2, 10)
	return r
}

func (r *rig) Start(j *Job) { r.jobs = append(r.jobs, j) }

func (r *rig) Geometry(ref Ref) (MeshGeometry, bool) {
	meshes := r.resident[ref.Key]
	if int(ref.Mesh) >= len(meshes) || r.lost != nil && r.lost(ref) {
		return MeshGeometry{}, false
	}
	m := meshes[ref.Mesh]
	return MeshGeometry{Vertices: m.vertices, Indices: m.indices, Type: m.kind}, true
}

func (r *rig) Upload(id ID, u Upload) error {
	if _, ok := r.device[id]; ok {
		r.t.Fatalf("batch %d is uploaded twice", id)
	}
	if r.refuse != nil && r.refuse() {
		return errors.New("full")
	}
	if m := r.resident[u.Like.Key]; int(u.Like.Mesh) >= len(m) {
		r.t.Fatalf("batch %d is like %v, which is not resident", id, u.Like)
	}
	r.device[id] = &testBatch{
		Upload: u, vertices: append([]byte(nil), u.Buffers.Vertices...), indices: append([]byte(nil), u.Buffers.Indices...), lastDrawn: -100,
	}
	for i := range u.Buffers.Vertices {
		u.Buffers.Vertices[i] = 0xee // reuse must not hurt
	}
	u.Buffers.Release()
	return nil
}

func (r *rig) Drawable(id ID) bool {
	x := r.device[id]
	if x.drawable {
		r.t.Fatalf("batch %d: asked again", id)
	}
	x.drawable = r.slow == nil || !r.slow(id)
	return x.drawable
}

func (r *rig) Release(id ID) {
	x := r.device[id]
	if x == nil {
		r.t.Fatalf("batch %d is released twice", id)
	}
	if r.frame-x.lastDrawn < 3 {
		r.t.Fatalf("batch %d is released %d frames after it was drawn", id, r.frame-x.lastDrawn)
	}
	delete(r.device, id)
	r.released++
}

// mesh makes a static mesh of n triangles around (x, 0, 0).
func (r *rig) mesh(x float32, material uint64, n int) testMesh {
	r.serial++
	m := testMesh{serial: r.serial, kind: vertex.Index16, Item: Item{
		Static: true, Material: material, Vertices: uint32(n + 2), Indices: uint32(3 * n),
		Bounds: records.Bounds{Min: [3]float32{x - 1, 0, 0}, Max: [3]float32{x + 1, 1, 1}},
	}}
	for v := range n + 2 {
		vertex := make([]byte, vertex.Size)
		binary.LittleEndian.PutUint64(vertex, m.serial)
		binary.LittleEndian.PutUint32(vertex[8:], uint32(v))
		m.vertices = append(m.vertices, vertex...)
	}
	return m.reindex(vertex.Index16, func(i int) uint32 { return uint32(i/3 + i%3) })
}

// reindex gives a mesh other indices.
func (m testMesh) reindex(kind vertex.IndexType, at func(i int) uint32) testMesh {
	m.kind, m.indices = kind, nil
	for i := range int(m.Indices) {
		if kind == vertex.Index16 {
			m.indices = binary.LittleEndian.AppendUint16(m.indices, uint16(at(i)))
		} else {
			m.indices = binary.LittleEndian.AppendUint32(m.indices, at(i))
		}
	}
	return m
}

func key(tile int32, rep payload.Rep) payload.Key { return payload.Key{Scene: 1, Tile: tile, Rep: rep} }

func (r *rig) add(k payload.Key, meshes ...testMesh) {
	r.remove(k)
	r.resident[k] = meshes
	r.keys = append(r.keys, k)
	items := make([]Item, len(meshes))
	for i := range meshes {
		items[i] = meshes[i].Item
	}
	r.b.Add(k, items)
}

// threeCells adds a tile of two meshes to each of three cells.
func (r *rig) threeCells() (keys []payload.Key) {
	for i := range 3 {
		k := key(int32(i), payload.RepFull)
		r.add(k, r.mesh(float32(2+10*i), 1, 1), r.mesh(float32(3+10*i), 1, 1))
		keys = append(keys, k)
	}
	return keys
}

func (r *rig) remove(k payload.Key) {
	r.b.Remove(k)
	delete(r.resident, k)
	for i, x := range r.keys {
		if x == k {
			r.keys = append(r.keys[:i], r.keys[i+1:]...)
			break
		}
	}
}

// draw sets what the next frames draw.
func (r *rig) draw(keys ...payload.Key) {
	r.drawn = r.drawn[:0]
	for _, k := range keys {
		r.drawn = append(r.drawn, runtime.Drawn{Key: k, Fade: 1})
	}
}

// merge does the jobs that have been started.
func (r *rig) merge() {
	for _, j := range r.jobs {
		j.Finish(j.Merge(r, &r.pool))
	}
	r.jobs = r.jobs[:0]
}

// tick runs a frame and checks it.
func (r *rig) tick() {
	r.t.Helper()
	r.frame++
	f := Frame{Drawn: r.drawn}
	if r.hidden != nil {
		f.Sees = func(_ payload.SceneID, box records.Bounds) bool { return !r.hidden(box) }
	}
	r.b.Update(f)
	r.check()
}

// ticks runs frames in which jobs are done at once.
func (r *rig) ticks(n int) {
	r.t.Helper()
	for range n {
		r.tick()
		r.merge()
	}
}

// triangle is what identifies a triangle: mesh and vertices.
type triangle struct {
	serial uint64
	v      [3]uint32
}

func trianglesOf(count map[triangle]int, vertices, indices []byte, kind vertex.IndexType, by int) error {
	le := binary.LittleEndian
	at := func(i int) uint32 {
		if kind == vertex.Index16 {
			return uint32(le.Uint16(indices[2*i:]))
		}
		return le.Uint32(indices[4*i:])
	}
	for i := 0; i+2 < len(indices)/kind.Size(); i += 3 {
		var x triangle
		for k := range 3 {
			v := int(at(i+k)) * vertex.Size
			if v+vertex.Size > len(vertices) {
				return fmt.Errorf("index %d is outside", at(i+k))
			}
			serial := le.Uint64(vertices[v:])
			if k > 0 && serial != x.serial {
				return fmt.Errorf("a triangle joins meshes %d and %d", x.serial, serial)
			}
			x.serial, x.v[k] = serial, le.Uint32(vertices[v+8:])
		}
		count[x] += by
	}
	return nil
}

// check verifies that what is drawn in this frame is what the streamer's list
// says, each triangle once, and that what fades is drawn alone.
func (r *rig) check() {
	r.t.Helper()
	count := map[triangle]int{}
	for _, d := range r.b.AppendDraws(nil) {
		x := r.device[d.Batch]
		if x == nil || !x.drawable {
			r.t.Fatalf("frame %d: batch %d is drawn, which the device does not have", r.frame, d.Batch)
		}
		x.lastDrawn = r.frame
		size := uint32(x.Buffers.Type.Size())
		if err := trianglesOf(count, x.vertices, x.indices[d.First*size:(d.First+d.Count)*size], x.Buffers.Type, 1); err != nil {
			r.t.Fatalf("frame %d: batch %d: %v", r.frame, d.Batch, err)
		}
	}
	r.checkSeen()
	alone := map[payload.Key]int{}
	for _, ref := range r.b.AppendAlone(nil) {
		m := r.resident[ref.Key][ref.Mesh]
		alone[ref.Key]++
		if r.b.Merged(ref.Key)[ref.Mesh] {
			r.t.Fatalf("frame %d: %v is merged and alone", r.frame, ref)
		}
		if err := trianglesOf(count, m.vertices, m.indices, m.kind, 1); err != nil {
			r.t.Fatal(err)
		}
	}
	for _, d := range r.drawn {
		for _, m := range r.resident[d.Key] {
			if err := trianglesOf(count, m.vertices, m.indices, m.kind, -1); err != nil {
				r.t.Fatal(err)
			}
		}
		if d.Fade < 1 && alone[d.Key] != len(r.resident[d.Key]) {
			r.t.Fatalf("frame %d: %v fades, and %d of %d meshes are drawn alone", r.frame, d.Key, alone[d.Key], len(r.resident[d.Key]))
		}
	}
	for x, n := range count {
		if n != 0 {
			r.t.Fatalf("frame %d: triangle %v of mesh %d is drawn %+d times too often", r.frame, x.v, x.serial, n)
		}
	}
}

// state is a line that says what is drawn how.
func (r *rig) state() string {
	var out []string
	for _, d := range r.b.AppendDraws(nil) {
		out = append(out, fmt.Sprintf("%d[%d+%d]", d.Batch, d.First, d.Count))
	}
	n := len(r.b.AppendAlone(nil))
	sort.Strings(out)
	return strings.Join(append(out, fmt.Sprint("alone ", n)), " ")
}

func (r *rig) expect(want string) {
	r.t.Helper()
	if got := r.state(); got != want {
		r.t.Errorf("frame %d: %s, want %s (%+v)", r.frame, got, want, r.b.Stats())
	}
}

// finish removes everything and checks that nothing is left.
func (r *rig) finish() {
	r.t.Helper()
	r.merge()
	for len(r.keys) > 0 {
		r.remove(r.keys[0])
	}
	r.draw()
	r.refuse, r.slow = nil, nil
	for range 400 {
		r.tick()
		r.merge()
	}
	if s := r.b.Stats(); len(r.device) != 0 || s.Bytes != 0 || s.Cells != 0 || s.InFlight != 0 || r.b.pending != 0 || r.pool.Out() != 0 {
		r.t.Errorf("%d batches, %d buffers are left: %+v", len(r.device), r.pool.Out(), s)
	}
	r.b.Close()
}

// checkSeen verifies that what is drawn of what is in view lies in what is drawn
// at all, in no more ranges, and has all merged meshes that are in view.
func (r *rig) checkSeen() {
	r.t.Helper()
	sees := func(_ payload.SceneID, box records.Bounds) bool { return int(box.Min[0]*7)&1 == 0 }
	all, seen := map[ID][]Draw{}, map[ID][]Draw{}
	for _, d := range r.b.AppendDraws(nil) {
		all[d.Batch] = append(all[d.Batch], d)
	}
	for _, d := range r.b.AppendSeen(nil, sees) {
		seen[d.Batch] = append(seen[d.Batch], d)
	}
	for _, n := range r.b.live {
		if len(seen[n.id]) > len(all[n.id]) {
			r.t.Fatalf("frame %d: batch %d has %d ranges in view of %d", r.frame, n.id, len(seen[n.id]), len(all[n.id]))
		}
		for _, d := range seen[n.id] {
			if !within(d, all[n.id]) {
				r.t.Fatalf("frame %d: batch %d draws %+v of %+v", r.frame, n.id, d, all[n.id])
			}
		}
		for _, m := range n.members {
			if m.item == nil || !m.item.owner.solid || !n.cell.seen || !sees(n.scene, m.item.Bounds) {
				continue
			}
			if !within(Draw{n.id, m.First, m.Count}, seen[n.id]) {
				r.t.Fatalf("frame %d: batch %d leaves out %+v: %+v", r.frame, n.id, m.Range, seen[n.id])
			}
		}
	}
}

// within reports whether a range lies in one of a list.
func within(d Draw, list []Draw) bool {
	return slices.ContainsFunc(list, func(o Draw) bool { return d.First >= o.First && d.First+d.Count <= o.First+o.Count })
}
