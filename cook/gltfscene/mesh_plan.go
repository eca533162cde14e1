package gltfscene

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/qmuntal/gltf"
	"github.com/untoldkit/untold/internal/jsonscan"
)

// plan is a primitive whose accessors are known but not yet decoded. A scene has very
// many, as long as it is open.
type plan struct {
	count    int    // vertices
	elements int    // indices, or vertices without them
	mesh     uint32 // index into Scene.Meshes
	slot     uint32
	material int32 // in the file, -1 for none
	mode     gltf.PrimitiveMode

	position, normal, tangent, color, index jobID
	uv                                      [2]jobID
}

// where is the primitive's place in the file.
func (pl *plan) where(s *Scene) string {
	return primitivePlace(s.Meshes[pl.mesh].Index, int(pl.slot))
}

// attributes are the jobs of the attributes, in the order of classes.
func (pl *plan) attributes() [6]*jobID {
	return [...]*jobID{&pl.position, &pl.normal, &pl.tangent, &pl.uv[0], &pl.uv[1], &pl.color}
}

// draft is a plan that is made.
type draft struct {
	plan
	place string
	posed posed
}

// skippedModes lists the modes that are not cooked, with how they are counted.
var skippedModes = map[gltf.PrimitiveMode]string{
	gltf.PrimitivePoints: "points", gltf.PrimitiveLines: "lines",
	gltf.PrimitiveLineLoop: "lines", gltf.PrimitiveLineStrip: "lines",
}

// meshPlanner plans the primitives that nodes show, which says what decoding takes. It
// owns the plans and the jobs, of which accessors that read the same bytes share one;
// geometry decodes by them.
type meshPlanner struct {
	*session
	data *dataReader

	plans       []plan      // by meshes
	meshOf      map[int]int // Node.Mesh as placed -> Scene.Meshes
	posed       map[posedKey]posed
	made        *madeFile // nil for none
	poseWork    int64     // bytes that poses have read
	jobs        *jobTable
	jobOf       map[jobKey]jobID
	storeOf     map[store]uint32 // in jobs.stores
	streams     map[dracoKey]memo[dracoStream]
	packedViews map[int]bool // those whose bytes count for more
}

func newMeshPlanner(se *session, data *dataReader) meshPlanner {
	return meshPlanner{
		session: se, data: data, meshOf: make(map[int]int), jobs: &jobTable{},
		jobOf: make(map[jobKey]jobID), storeOf: make(map[store]uint32),
		streams: make(map[dracoKey]memo[dracoStream]), packedViews: make(map[int]bool),
		posed: make(map[posedKey]posed),
	}
}

// planMeshes makes Scene.Meshes of the meshes that nodes use, in file order and those in
// poses behind them, and plans the decoding of their primitives.
func (mp *meshPlanner) planMeshes(scene string, poses []*pose) error {
	uses := map[int]int64{} // by Node.Mesh
	for i := range mp.scene.Nodes {
		if m := mp.scene.Nodes[i].Mesh; m >= 0 {
			mp.meshOf[m] = -1
			uses[m]++
		}
	}
	announced := int64(0)
	for _, shown := range slices.Sorted(maps.Keys(mp.meshOf)) {
		index, how := shown, (*pose)(nil)
		if n := shown - len(mp.doc.meshes.raw); n >= 0 {
			how = poses[n]
			index = how.mesh
		}
		src, err := mp.doc.meshes.get(index)
		if err != nil {
			return err
		}
		m := Mesh{Index: index, Name: cleanName(src.Name)}
		if m.Name == "" {
			m.Name = "mesh_" + strconv.Itoa(index)
		}
		mp.meshOf[shown] = len(mp.scene.Meshes)
		mp.scene.Meshes = append(mp.scene.Meshes, m)
		announced = saturate(announced, mp.announced(src, uses[shown]))
		if limit := mp.opts.MaxTriangles; limit > 0 && announced > limit {
			return mp.tooMany(scene, fmt.Sprintf("the nodes of %d meshes place %d triangles by what accessors announce, the limit is %d", len(mp.scene.Meshes), announced, limit))
		}
		if how == nil {
			how = &pose{mesh: index, weights: src.Weights}
		}
		if err := mp.planMesh(src, how); err != nil {
			return err
		}
		mp.data.forgetMany()
	}
	if len(mp.scene.Meshes) == 0 {
		mp.notes.add(len(mp.doc.meshes.raw), true, "meshes-unused", scene, "no node of the scene shows a mesh, and the file has some")
	}
	for i := range mp.scene.Nodes {
		if m := mp.scene.Nodes[i].Mesh; m >= 0 {
			mp.scene.Nodes[i].Mesh = mp.meshOf[m]
		}
	}
	if err := mp.data.checkReserved(); err != nil {
		return err
	}
	return mp.checkPlaced(scene)
}

// checkPlaced applies the limit for placed triangles: a mesh counts once for
// every node, which a small file can have many of.
func (mp *meshPlanner) checkPlaced(scene string) error {
	limit := mp.opts.MaxTriangles
	if limit <= 0 {
		return nil
	}
	stored := make([]int64, len(mp.scene.Meshes))
	for i := range mp.plans {
		stored[mp.plans[i].mesh] += mp.plans[i].triangles()
	}
	var once, placed, nodes int64
	for _, n := range stored {
		once = saturate(once, n)
	}
	for i := range mp.scene.Nodes {
		if m := mp.scene.Nodes[i].Mesh; m >= 0 {
			placed, nodes = saturate(placed, stored[m]), nodes+1
		}
	}
	if placed <= limit {
		return nil
	}
	meshes := "meshes"
	if len(stored) == 1 {
		meshes = "mesh"
	}
	return mp.tooMany(scene, fmt.Sprintf("%d nodes place %d triangles (%d in %d %s), the limit is %d", nodes, placed, once, len(stored), meshes, limit))
}

// tooMany is the error of the scene at a place.
func (mp *meshPlanner) tooMany(scene, reason string) error {
	return &Error{Place: scene, Reason: reason, Hint: "divide the scene, or raise Options.MaxTriangles", Err: ErrTooLarge}
}

// announced returns how many triangles so many nodes place of the compressed
// primitives of a mesh, by their accessors: what is compressed is decoded before
// it can be counted, and a few bytes of it may be many triangles.
func (mp *meshPlanner) announced(src *gltf.Mesh, uses int64) (sum int64) {
	for _, p := range src.Primitives {
		if p == nil || p.Indices == nil {
			continue
		}
		a, err := mp.doc.accessors.peek(*p.Indices)
		if _, skipped := skippedModes[p.Mode]; err != nil || skipped || !mp.isCompressed(a) {
			continue // what is plain is counted as it is
		}
		n := int64(max(0, a.Count-2))
		if p.Mode == gltf.PrimitiveTriangles {
			n = int64(a.Count / 3)
		}
		if n > 0 && uses > math.MaxInt64/n {
			return math.MaxInt64
		}
		sum = saturate(sum, n*uses)
	}
	return sum
}

// isCompressed reports whether an accessor's data are in a compressed bufferView,
// or in none, as those of a compressed primitive.
func (mp *meshPlanner) isCompressed(a *gltf.Accessor) bool {
	if a.BufferView == nil {
		return a.Sparse == nil
	}
	i := *a.BufferView
	if i < 0 || i >= len(mp.doc.views.raw) {
		return false
	}
	ext, _ := meshoptOf(mp.doc.views.raw[i])
	return ext != nil
}

// saturate adds counts.
func saturate(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// triangles returns how many the primitive has, at most.
func (pl *plan) triangles() int64 {
	n := int64(pl.elements)
	if pl.mode == gltf.PrimitiveTriangles {
		return n / 3
	}
	return max(0, n-2)
}

// planMesh plans the primitives of the last of Scene.Meshes.
func (mp *meshPlanner) planMesh(src *gltf.Mesh, how *pose) error {
	index := how.mesh
	if err := mp.ctx.Err(); err != nil {
		return err
	}
	place := mp.doc.meshes.place(index)
	var raws [][]byte
	list := jsonscan.Member(mp.doc.meshes.raw[index], "primitives")
	for _, e := range jsonscan.Elements(list, 0) {
		raws = append(raws, e.Of(list))
	}
	if len(src.Primitives) == 0 {
		mp.notes.warn("empty-meshes", place, "a mesh has no primitives")
	}
	for slot, p := range src.Primitives {
		if slot >= len(raws) || p == nil {
			return malformed(place, "its primitives are ambiguous")
		}
		pl := &draft{
			plan:  plan{mesh: uint32(len(mp.scene.Meshes) - 1), slot: uint32(slot), material: -1, mode: p.Mode},
			place: primitivePlace(index, slot),
		}
		keep, err := mp.planPrimitive(pl, p, raws[slot], how)
		if err != nil {
			return err
		}
		if keep {
			mp.plans = append(mp.plans, pl.plan)
		}
	}
	return nil
}

// planPrimitive plans one primitive; keep is false if it is left out.
func (mp *meshPlanner) planPrimitive(pl *draft, p *gltf.Primitive, raw []byte, how *pose) (keep bool, err error) {
	ext := mp.observe(pl.place, onPrimitive, raw)
	if what, skip := skippedModes[p.Mode]; skip {
		mp.notes.warn(what+"-skipped", pl.place, "primitives of "+what+" were left out: only triangles are cooked")
		return false, nil
	}
	if _, ok := p.Attributes["POSITION"]; !ok {
		mp.notes.warn("no-position", pl.place, "primitives without POSITION were left out")
		return false, nil
	}
	var packed *compressedMesh
	if raw := jsonscan.Member(ext, dracoName); isObjectValue(raw) {
		if packed, err = mp.expandPrimitive(pl, p, raw); err != nil {
			return false, err
		}
	}
	if err := mp.posePrimitive(pl, p, packed, how); err != nil {
		return false, err
	}
	if err := mp.planAttributes(pl, p.Attributes, packed); err != nil {
		return false, err
	}
	if p.Indices != nil {
		var a *accessor
		if pl.index, a, err = mp.job(pl, indexUse, spot{pl.place, ".indices", *p.Indices}, "", packed); err != nil {
			return false, err
		}
		if pl.elements = a.count; a.at.store != nil && a.stride != componentSize(a.ct) {
			mp.notes.warn("index-byte-stride", pl.place+".indices", "indices have a byteStride, which glTF forbids; it was applied")
		}
	}
	if jsonscan.Member(ext, variantsName) != nil {
		mp.notes.add(1, mp.ext.required[variantsName], "variants-skipped", pl.place, "material variants are not cooked: primitives keep their default material")
	}
	if p.Material != nil {
		if err := mp.doc.materials.check(*p.Material); err != nil {
			return false, at(pl.place+".material", err)
		}
		pl.material = int32(*p.Material)
	}
	return mp.planTriangles(pl)
}

// planAttributes plans the attributes that are cooked.
func (mp *meshPlanner) planAttributes(pl *draft, attributes map[string]int, packed *compressedMesh) error {
	to := pl.attributes()
	for i, a := range classes {
		index, ok := attributes[a.name]
		if !ok {
			continue
		}
		j, acc, err := mp.job(pl, uint8(i), spot{pl.place, a.property, index}, a.name, packed)
		if err != nil {
			return err
		}
		*to[i] = j
		if a.class == classPosition {
			pl.count, pl.elements = acc.count, acc.count
			if !acc.bounded {
				mp.notes.info("position-bounds-missing", pl.place+a.property, "POSITION accessors lack min and max, which glTF demands; they are not needed")
			}
		} else if acc.count != pl.count {
			return malformed(spot{pl.place, a.property, index}.String(), "has %d elements, POSITION has %d", acc.count, pl.count)
		}
	}
	return nil
}

// checkTargets notes faults in morph targets, whether they have a weight or not.
func (mp *meshPlanner) checkTargets(place string, p *gltf.Primitive) {
	base, err := mp.doc.accessors.peek(p.Attributes["POSITION"])
	if err != nil {
		return // reported when POSITION is planned
	}
	for i, target := range p.Targets {
		for _, name := range slices.Sorted(maps.Keys(target)) {
			where := fmt.Sprintf("%s.targets[%d].%s", place, i, clip(name))
			acc, err := mp.doc.accessors.get(target[name])
			if err != nil {
				mp.notes.fault("morph-target-faulty", morphFaulty, at(where, err))
			} else if acc.Count != base.Count {
				mp.notes.fault("morph-target-faulty", morphFaulty, malformed(where, "has %d elements, POSITION has %d", acc.Count, base.Count))
			}
		}
	}
}

// planTriangles checks the number of indices, or of vertices without them.
func (mp *meshPlanner) planTriangles(pl *draft) (keep bool, err error) {
	n, what := pl.elements, "vertices"
	if pl.index != 0 {
		what = "indices"
	}
	if pl.mode == gltf.PrimitiveTriangles && n%3 != 0 && n > 3 {
		mp.notes.warn("incomplete-triangles", pl.place, what+" after the last whole triangle were left out")
	}
	if n < 3 || pl.count == 0 {
		mp.notes.warn("empty-primitives", pl.place, "primitives without a triangle were left out")
		return false, nil
	}
	switch {
	case pl.mode != gltf.PrimitiveTriangles:
		return true, mp.data.reserve(pl.place, int64(n-2), 12)
	case pl.index == 0:
		return true, mp.data.reserve(pl.place, int64(n), 4)
	}
	return true, nil
}

// triangulate turns a strip or a fan of n vertices into a list with the
// winding of glTF 2.0 section 3.7.2.1. Triangles that use a vertex twice, by
// which exporters join strips, are dropped and counted.
func triangulate(mode gltf.PrimitiveMode, n int, vertex func(int) uint32) (list []uint32, dropped int) {
	list = make([]uint32, 0, 3*(n-2))
	for i := range n - 2 {
		a, b, c := vertex(i), vertex(i+1+i%2), vertex(i+2-i%2)
		if mode == gltf.PrimitiveTriangleFan {
			a, b, c = vertex(i+1), vertex(i+2), vertex(0)
		}
		if a == b || b == c || a == c {
			dropped++
			continue
		}
		list = append(list, a, b, c)
	}
	return list, dropped
}
