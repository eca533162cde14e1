package gltfscene

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/qmuntal/gltf"
)

// plan is a primitive whose accessors are known but not yet decoded.
type plan struct {
	place    string
	mesh     int // index into Scene.Meshes
	slot     int
	material int // in the file, -1 for none
	mode     gltf.PrimitiveMode
	count    int // vertices

	position, normal, tangent, color, index *job
	uv                                      [2]*job
}

// skippedModes lists the modes that are not cooked, with how they are counted.
var skippedModes = map[gltf.PrimitiveMode]string{
	gltf.PrimitivePoints: "points", gltf.PrimitiveLines: "lines",
	gltf.PrimitiveLineLoop: "lines", gltf.PrimitiveLineStrip: "lines",
}

// planMeshes makes Scene.Meshes of the meshes that nodes use, in file order,
// and plans the decoding of their primitives.
func (im *importer) planMeshes() error {
	uses := map[int]int64{} // by index in the file
	for i := range im.scene.Nodes {
		if m := im.scene.Nodes[i].Mesh; m >= 0 {
			im.meshOf[m] = -1
			uses[m]++
		}
	}
	announced := int64(0)
	for _, index := range slices.Sorted(maps.Keys(im.meshOf)) {
		src, err := im.doc.meshes.get(index)
		if err != nil {
			return err
		}
		m := Mesh{Index: index, Name: cleanName(src.Name)}
		if m.Name == "" {
			m.Name = "mesh_" + strconv.Itoa(index)
		}
		im.meshOf[index] = len(im.scene.Meshes)
		im.scene.Meshes = append(im.scene.Meshes, m)
		announced = saturate(announced, im.announced(src, uses[index]))
		if limit := im.opts.MaxTriangles; limit > 0 && announced > limit {
			return im.tooMany(fmt.Sprintf("the nodes of %d meshes place %d triangles by what accessors announce, the limit is %d", len(im.scene.Meshes), announced, limit))
		}
		if err := im.planMesh(index, src); err != nil {
			return err
		}
	}
	for i := range im.scene.Nodes {
		if m := im.scene.Nodes[i].Mesh; m >= 0 {
			im.scene.Nodes[i].Mesh = im.meshOf[m]
		}
	}
	if err := im.checkReserved(); err != nil {
		return err
	}
	return im.checkPlaced()
}

// checkPlaced applies the limit for placed triangles: a mesh counts once for
// every node, which a small file can have many of.
func (im *importer) checkPlaced() error {
	limit := im.opts.MaxTriangles
	if limit <= 0 {
		return nil
	}
	stored := make([]int64, len(im.scene.Meshes))
	for _, pl := range im.plans {
		stored[pl.mesh] += pl.triangles()
	}
	var once, placed, nodes int64
	for _, n := range stored {
		once = saturate(once, n)
	}
	for i := range im.scene.Nodes {
		if m := im.scene.Nodes[i].Mesh; m >= 0 {
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
	return im.tooMany(fmt.Sprintf("%d nodes place %d triangles (%d in %d %s), the limit is %d", nodes, placed, once, len(stored), meshes, limit))
}

func (im *importer) tooMany(reason string) error {
	return &Error{Place: im.root, Reason: reason, Hint: "divide the scene, or raise Options.MaxTriangles", Err: ErrTooLarge}
}

// announced returns how many triangles so many nodes place of the compressed
// primitives of a mesh, by their accessors: what is compressed is decoded before
// it can be counted, and a few bytes of it may be many triangles.
func (im *importer) announced(src *gltf.Mesh, uses int64) (sum int64) {
	for _, p := range src.Primitives {
		if p == nil || p.Indices == nil {
			continue
		}
		a, err := im.doc.accessors.peek(*p.Indices)
		if _, skipped := skippedModes[p.Mode]; err != nil || skipped || !im.isCompressed(a) {
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
func (im *importer) isCompressed(a *gltf.Accessor) bool {
	if a.BufferView == nil {
		return a.Sparse == nil
	}
	i := *a.BufferView
	if i < 0 || i >= len(im.doc.views.raw) {
		return false
	}
	ext, _ := meshoptOf(im.doc.views.raw[i])
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
	n := int64(pl.count)
	if pl.index != nil {
		n = int64(pl.index.acc.count)
	}
	if pl.mode == gltf.PrimitiveTriangles {
		return n / 3
	}
	return max(0, n-2)
}

// planMesh plans the primitives of one mesh.
func (im *importer) planMesh(index int, src *gltf.Mesh) error {
	if err := im.ctx.Err(); err != nil {
		return err
	}
	place := im.doc.meshes.place(index)
	var raws [][]byte
	eachElement(member(im.doc.meshes.raw[index], "primitives"), func(_ int, e []byte) bool {
		raws = append(raws, e)
		return true
	})
	if len(src.Primitives) == 0 {
		im.notes.warn("empty-meshes", place, "a mesh has no primitives")
	}
	for slot, p := range src.Primitives {
		if slot >= len(raws) || p == nil {
			return malformed(place, "its primitives are ambiguous")
		}
		pl := &plan{
			place: fmt.Sprintf("%s.primitives[%d]", place, slot), mesh: im.meshOf[index],
			slot: slot, material: -1, mode: p.Mode,
		}
		keep, err := im.planPrimitive(pl, p, raws[slot])
		if err != nil {
			return err
		}
		if keep {
			im.plans = append(im.plans, pl)
		}
	}
	return nil
}

// planPrimitive plans one primitive; keep is false if it is left out.
func (im *importer) planPrimitive(pl *plan, p *gltf.Primitive, raw []byte) (keep bool, err error) {
	ext := im.observe(pl.place, onPrimitive, raw)
	if what, skip := skippedModes[p.Mode]; skip {
		im.notes.warn(what+"-skipped", pl.place, "primitives of "+what+" were left out: only triangles are cooked")
		return false, nil
	}
	if _, ok := p.Attributes["POSITION"]; !ok {
		im.notes.warn("no-position", pl.place, "primitives without POSITION were left out")
		return false, nil
	}
	if len(p.Targets) > 0 {
		im.notes.warn("morph-targets-skipped", pl.place, "morph targets are not applied: the base shape is taken")
		im.checkTargets(pl.place, p)
	}
	var packed *compressedMesh
	if raw := member(ext, dracoName); isObjectValue(raw) {
		if packed, err = im.expandPrimitive(pl, p, raw); err != nil {
			return false, err
		}
	}
	if err := im.planAttributes(pl, p.Attributes, packed); err != nil {
		return false, err
	}
	if p.Indices != nil {
		if pl.index, err = im.job(classIndex, *p.Indices, pl.place+".indices", "", packed); err != nil {
			return false, err
		}
		if a := pl.index.acc; a.data != nil && a.stride != componentSize(a.ct) {
			im.notes.warn("index-byte-stride", pl.place+".indices", "indices have a byteStride, which glTF forbids; it was applied")
		}
	}
	if member(ext, variantsName) != nil {
		im.notes.add(1, im.ext.required[variantsName], "variants-skipped", pl.place, "material variants are not cooked: primitives keep their default material")
	}
	if p.Material != nil {
		if err := im.doc.materials.check(*p.Material); err != nil {
			return false, at(pl.place+".material", err)
		}
		pl.material = *p.Material
	}
	return im.planTriangles(pl)
}

// planAttributes plans the attributes that are cooked.
func (im *importer) planAttributes(pl *plan, attributes map[string]int, packed *compressedMesh) error {
	to := [...]**job{&pl.position, &pl.normal, &pl.tangent, &pl.uv[0], &pl.uv[1], &pl.color}
	for i, a := range classes {
		index, ok := attributes[a.name]
		if !ok {
			continue
		}
		place := pl.place + ".attributes." + a.name
		j, err := im.job(a.class, index, place, a.name, packed)
		if err != nil {
			return err
		}
		*to[i] = j
		if a.class == classPosition {
			pl.count = j.acc.count
			if !j.acc.bounded {
				im.notes.info("position-bounds-missing", place, "POSITION accessors lack min and max, which glTF demands; they are not needed")
			}
		} else if j.acc.count != pl.count {
			return malformed(fmt.Sprintf("%s (accessor %d)", place, index), "has %d elements, POSITION has %d", j.acc.count, pl.count)
		}
	}
	return nil
}

// checkTargets notes faults in morph targets, which are not cooked.
func (im *importer) checkTargets(place string, p *gltf.Primitive) {
	base, err := im.doc.accessors.peek(p.Attributes["POSITION"])
	if err != nil {
		return // reported when POSITION is planned
	}
	for i, target := range p.Targets {
		for _, name := range slices.Sorted(maps.Keys(target)) {
			where := fmt.Sprintf("%s.targets[%d].%s", place, i, clip(name))
			acc, err := im.doc.accessors.get(target[name])
			if err != nil {
				im.notes.fault("morph-target-faulty", "a morph target, which is not cooked, is faulty", at(where, err))
			} else if acc.Count != base.Count {
				im.notes.fault("morph-target-faulty", "a morph target, which is not cooked, is faulty", malformed(where, "has %d elements, POSITION has %d", acc.Count, base.Count))
			}
		}
	}
}

// planTriangles checks the number of indices, or of vertices without them.
func (im *importer) planTriangles(pl *plan) (keep bool, err error) {
	n, what := pl.count, "vertices"
	if pl.index != nil {
		n, what = pl.index.acc.count, "indices"
	}
	if pl.mode == gltf.PrimitiveTriangles && n%3 != 0 {
		return false, malformed(pl.place, "has %d %s, triangles need a multiple of 3", n, what)
	}
	if n < 3 || pl.count == 0 {
		im.notes.warn("empty-primitives", pl.place, "primitives without a triangle were left out")
		return false, nil
	}
	switch {
	case pl.mode != gltf.PrimitiveTriangles:
		return true, im.reserve(pl.place, int64(n-2), 12)
	case pl.index == nil:
		return true, im.reserve(pl.place, int64(n), 4)
	}
	return true, nil
}

// decodeMeshes decodes what was planned, in parallel.
func (im *importer) decodeMeshes() error {
	// The largest first, so that no goroutine ends up with one alone; errors
	// are still reported in the order of the file.
	order := make([]int, len(im.jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(im.jobs[b].acc.count, im.jobs[a].acc.count)
	})
	err := im.parallel(len(order), func(i int) error {
		im.jobs[order[i]].run()
		return nil
	})
	if err != nil {
		return err
	}
	for _, j := range im.jobs {
		if j.err != nil {
			return j.err
		}
		switch j.class {
		case classNormal:
			im.notes.add(j.odd, true, "normals-not-finite", j.place, "normals that are no numbers or infinite count as missing")
		case classTangent:
			im.notes.add(j.odd, true, "tangents-not-finite", j.place, "tangents that are no numbers or infinite count as missing")
			im.notes.add(j.fixed, true, "tangent-handedness", j.place, "tangents whose w is neither 1 nor -1 were repaired")
		case classColor:
			im.notes.add(j.fixed, true, "colors-clamped", j.place, "vertex colours outside 0 to 1 were clamped")
		}
	}
	prims := make([]Primitive, len(im.plans))
	dropped := make([]int, len(im.plans))
	err = im.parallel(len(im.plans), func(i int) error {
		var err error
		prims[i], dropped[i], err = im.plans[i].build()
		return err
	})
	if err != nil {
		return err
	}
	for i, pl := range im.plans {
		im.notes.add(dropped[i], false, "degenerate-triangles", pl.place, "triangles of strips and fans that use a vertex twice were left out")
		if len(prims[i].Indices) == 0 {
			im.notes.warn("empty-primitives", pl.place, "primitives without a triangle were left out")
			continue
		}
		prims[i].Material = -1
		if pl.material >= 0 {
			prims[i].Material = im.materials[pl.material]
		}
		m := &im.scene.Meshes[pl.mesh]
		m.Primitives = append(m.Primitives, prims[i])
	}
	return nil
}

// build assembles a primitive from its decoded accessors.
func (pl *plan) build() (p Primitive, dropped int, err error) {
	p = Primitive{Slot: pl.slot, Positions: pl.position.vec3}
	if pl.normal != nil {
		p.Normals = pl.normal.vec3
	}
	if pl.tangent != nil {
		p.Tangents = pl.tangent.vec4
	}
	for i, j := range pl.uv {
		if j != nil {
			p.UV[i] = j.vec2
		}
	}
	if pl.color != nil {
		p.Colors = pl.color.vec4
	}
	if pl.index != nil {
		if int64(pl.index.largest) >= int64(pl.count) {
			bad := slices.IndexFunc(pl.index.index, func(v uint32) bool { return int64(v) >= int64(pl.count) })
			return p, 0, malformed(pl.index.place, "element %d is %d, but there are %d vertices", bad, pl.index.index[bad], pl.count)
		}
		p.Indices = pl.index.index
		pl.narrow(&p)
	}
	if pl.mode == gltf.PrimitiveTriangles {
		if p.Indices == nil {
			p.Indices = make([]uint32, pl.count)
			for i := range p.Indices {
				p.Indices[i] = uint32(i)
			}
		}
		return p, 0, nil
	}
	n, vertex := pl.count, func(i int) uint32 { return uint32(i) }
	if pl.index != nil {
		list := p.Indices
		n, vertex = len(list), func(i int) uint32 { return list[i] }
	}
	p.Indices, dropped = triangulate(pl.mode, n, vertex)
	return p, dropped, nil
}

// narrow cuts the attributes to the range of vertices that the indices use if
// that is less than half of them: some exporters share one large set among
// many primitives, and later stages look at every vertex of each.
func (pl *plan) narrow(p *Primitive) {
	lo, hi := int(pl.index.smallest), int(pl.index.largest)+1
	if hi-lo > pl.count/2 {
		return
	}
	p.Indices = pl.index.rebased()
	p.Positions = p.Positions[lo:hi:hi]
	if p.Normals != nil {
		p.Normals = p.Normals[lo:hi:hi]
	}
	if p.Tangents != nil {
		p.Tangents = p.Tangents[lo:hi:hi]
	}
	for i := range p.UV {
		if p.UV[i] != nil {
			p.UV[i] = p.UV[i][lo:hi:hi]
		}
	}
	if p.Colors != nil {
		p.Colors = p.Colors[lo:hi:hi]
	}
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
