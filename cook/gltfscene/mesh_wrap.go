package gltfscene

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/qmuntal/gltf"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/ktx2"
	"github.com/untoldkit/untold/internal/picture"
)

// Textures of a tile repeat. Where a sampler clamps or mirrors one, triangles whose texture
// coordinates leave the image are cut at its borders, and what lies beyond gets the
// coordinates at which a texture that repeats shows the same.

// mostWrapped is how many times as many triangles such cuts may make, leastWrapped how many
// they may make of few.
const (
	mostWrapped  = 4
	leastWrapped = 1 << 14
)

// mostCut is how many indices a primitive that is cut has at most: it is in memory whole.
const mostCut = 1 << 23

// wrapping is how the texture coordinates of a primitive become those of a texture that
// repeats.
type wrapping struct {
	set  int
	to   geom.UVMap // from stored coordinates to those of the image
	mode [2]Wrap
	half [2]float64 // half a texel
	// deep is how far within the image lies what is shown beyond its border: coarser levels,
	// which mix the border with the opposite one, show the same.
	deep [2]float64
}

// wrap cuts the planned primitives whose material has textures that do not repeat.
func (im *importer) wrap() error {
	of, some := make([]*wrapping, len(im.scene.Materials)), false
	for i := range of {
		of[i] = im.wrappingOf(&im.scene.Materials[i])
		some = some || of[i] != nil
	}
	if !some {
		return nil
	}
	mp, g := &im.meshes, newGeometry(im.data.cache, im.scene, im.meshes.plans, im.meshes.jobs)
	for i := range mp.plans {
		pl := &mp.plans[i]
		if pl.material < 0 {
			continue
		}
		w := of[im.materials.materials[int(pl.material)]]
		if w == nil || pl.uv[w.set] == 0 {
			continue
		}
		if err := im.ctx.Err(); err != nil {
			return err
		}
		lo, hi, err := mp.extremes(pl, w)
		if err != nil || !w.leaves(lo, hi) {
			continue // the survey says what is wrong
		}
		c := wrapCutter{wrapping: *w}
		if pl.elements <= mostCut {
			if c.in, _, err = g.primitive(pl); err != nil {
				continue
			}
		}
		if pl.elements > mostCut || !c.cut(lo, hi) {
			mp.notes.warn("texture-wrap-skipped", pl.where(im.scene), "textures that should be clamped or mirrored repeat: too many triangles would be needed, or their coordinates lie too far from the image")
			continue
		}
		if err := mp.rewrite(pl, c.wrapped()); err != nil {
			return err
		}
		mp.notes.info("texture-wrap-cut", pl.where(im.scene), "triangles were cut where a texture that is clamped or mirrored ends")
	}
	return nil
}

// wrappingOf is what the first texture of a material that there is asks for, nil where it
// repeats.
func (im *importer) wrappingOf(m *Material) *wrapping {
	for _, t := range [...]*TextureRef{&m.BaseColorTex, &m.NormalTex, &m.MetalRoughTex, &m.EmissiveTex, &m.OcclusionTex} {
		if t.Image < 0 {
			continue
		}
		w := &wrapping{set: t.UVSet, to: geom.NewUVMap(t.Offset, t.Rot, t.Scale), mode: [2]Wrap{t.WrapS, t.WrapT}}
		if w.mode == [2]Wrap{WrapRepeat, WrapRepeat} {
			return nil
		}
		width, height := im.scene.Images[t.Image].dimensions()
		for k, n := range [2]int{width, height} {
			// Finer than 1/2048 half floats are not, and an image whose size is not known is large.
			texel := 1.0 / 1024
			if n > 0 {
				texel = max(texel, 1/float64(n))
			}
			w.half[k] = texel / 2
			w.deep[k] = max(w.half[k], min(8*texel, 1.0/64))
		}
		return w
	}
	return nil
}

// dimensions are those that the image's header tells, 0 where it does not.
func (im *Image) dimensions() (width, height int) {
	if g, ok := im.at.store.(*glossBake); ok {
		return g.width, g.height
	}
	const head = 1 << 16
	data, err := im.at.part(0, min(im.at.n, head)).bytes()
	if err != nil {
		return 0, 0
	}
	if c, ok := picture.Inspect(data); ok {
		return c.Width, c.Height
	}
	if data, err = im.at.bytes(); err != nil {
		return 0, 0
	}
	if c, ok := picture.Inspect(data); ok { // a JPEG with a large profile
		return c.Width, c.Height
	}
	if f, err := ktx2.Open(bytes.NewReader(data), int64(len(data))); err == nil {
		return f.Size(0)
	}
	return 0, 0
}

// extremes are the least and the greatest coordinates that vertices have in the image.
func (mp *meshPlanner) extremes(pl *plan, w *wrapping) (lo, hi [2]float64, err error) {
	j := mp.jobs.get(pl.uv[w.set])
	acc, step := mp.jobs.unpack(j), pieceBytes/int(elementBytes[classUV])
	if acc.sparse != nil {
		step = max(1, j.count)
	}
	inf := math.Inf(1)
	lo, hi = [2]float64{inf, inf}, [2]float64{-inf, -inf}
	for first := 0; first < j.count; first += step {
		d, err := mp.jobs.decode(j, acc, first, min(first+step, j.count))
		if err != nil {
			return lo, hi, err
		}
		for _, c := range d.vec2 {
			at := w.to.At(c)
			for k := range at {
				lo[k], hi[k] = min(lo[k], at[k]), max(hi[k], at[k])
			}
		}
	}
	return lo, hi, nil
}

// leaves reports whether coordinates between two extremes leave the image along an axis on
// which it does not repeat, by more than rounding.
func (w *wrapping) leaves(lo, hi [2]float64) bool {
	const rounding = 1e-3
	for k, m := range w.mode {
		if m != WrapRepeat && (lo[k] < -rounding || hi[k] > 1+rounding) {
			return true
		}
	}
	return false
}

// wrapCutter cuts the triangles of a primitive.
type wrapCutter struct {
	wrapping
	in   Primitive // with the vertices that cuts add at the end
	at   [][2]float64
	cuts map[[2]uint32]uint32 // by the ends of an edge, the smaller first: of one plane
}

// farthestWrapped is how far from the image coordinates may lie, in images.
const farthestWrapped = 1 << 16

// mostCompared is how often indices may be compared with the borders of images.
const mostCompared = 1 << 28

// reaches reports whether coordinates between two extremes are near enough to be cut, and
// whether what is cut can be told in stored coordinates.
func (c *wrapCutter) reaches(lo, hi [2]float64) bool {
	for k := range lo {
		if !(lo[k] > -farthestWrapped && hi[k] < farthestWrapped) {
			return false
		}
	}
	for _, u := range [...]float64{min(lo[0], 0), max(hi[0], 1)} {
		for _, v := range [...]float64{min(lo[1], 0), max(hi[1], 1)} {
			for _, x := range c.to.Back([2]float64{u, v}) {
				if !(math.Abs(x) < math.MaxFloat32/4) {
					return false
				}
			}
		}
	}
	return true
}

// cut divides the triangles at the borders of the image, or of its mirror images. It returns
// false where that would make too many, or take too long.
func (c *wrapCutter) cut(lo, hi [2]float64) bool {
	if !c.reaches(lo, hi) {
		return false
	}
	p := &c.in
	p.Positions, p.Normals, p.Tangents = slices.Clip(p.Positions), slices.Clip(p.Normals), slices.Clip(p.Tangents)
	p.UV[0], p.UV[1], p.Colors = slices.Clip(p.UV[0]), slices.Clip(p.UV[1]), slices.Clip(p.Colors)
	c.at = make([][2]float64, len(p.Positions))
	for i := range c.at {
		c.at[i] = c.to.At(p.UV[c.set][i])
	}
	limit, compared := mostWrapped*len(p.Indices)+3*leastWrapped, 0
	for axis, m := range c.mode {
		var planes []float64
		switch m {
		case WrapClamp:
			planes = []float64{c.half[axis], 1 - c.half[axis]}
		case WrapMirror:
			first, last, half := math.Floor(lo[axis]), math.Ceil(hi[axis]), c.half[axis]
			if !(last-first < leastWrapped) {
				return false
			}
			for x := first; x <= last; x++ {
				if half > 1.0/128 { // else a mirrored image may be that much narrower
					planes = append(planes, x-half, x+half)
				} else {
					planes = append(planes, x)
				}
			}
		}
		for _, plane := range planes {
			if compared += len(p.Indices); compared > mostCompared {
				return false
			}
			if c.divide(axis, plane); len(p.Indices) > limit {
				return false
			}
		}
	}
	return true
}

// divide cuts all triangles at a plane.
func (c *wrapCutter) divide(axis int, plane float64) {
	c.cuts = map[[2]uint32]uint32{}
	out := make([]uint32, 0, len(c.in.Indices))
	for i := 0; i+2 < len(c.in.Indices); i += 3 {
		t := [3]uint32(c.in.Indices[i : i+3])
		var side [3]int
		below, above := 0, 0
		for k, v := range t {
			if side[k] = cmp.Compare(c.at[v][axis], plane); side[k] < 0 {
				below++
			} else if side[k] > 0 {
				above++
			}
		}
		switch {
		case below == 0 || above == 0:
			out = append(out, t[:]...)
		case below+above == 2: // the third corner lies in the plane
			k := slices.Index(side[:], 0)
			a, b, d := t[k], t[(k+1)%3], t[(k+2)%3]
			x := c.vertex(b, d, axis, plane)
			out = append(out, a, b, x, a, x, d)
		default:
			alone := 1
			if below == 1 {
				alone = -1
			}
			k := slices.Index(side[:], alone)
			a, b, d := t[k], t[(k+1)%3], t[(k+2)%3]
			x, y := c.vertex(a, b, axis, plane), c.vertex(d, a, axis, plane)
			out = append(out, a, x, y, x, b, d, x, d, y)
		}
	}
	c.in.Indices = out
}

// vertex returns the one where an edge meets a plane.
func (c *wrapCutter) vertex(a, b uint32, axis int, plane float64) uint32 {
	if a > b {
		a, b = b, a
	}
	if v, ok := c.cuts[[2]uint32{a, b}]; ok {
		return v
	}
	t := (plane - c.at[a][axis]) / (c.at[b][axis] - c.at[a][axis])
	p, v := &c.in, uint32(len(c.in.Positions))
	c.cuts[[2]uint32{a, b}] = v
	p.Positions = append(p.Positions, between(p.Positions, a, b, t)...)
	if list := p.Normals; list != nil {
		p.Normals = append(list, geom.MixDir(list[a], list[b], t))
	}
	if list := p.Tangents; list != nil {
		p.Tangents = append(list, geom.MixTangent(list[a], list[b], t))
	}
	p.UV[0], p.UV[1] = append(p.UV[0], between(p.UV[0], a, b, t)...), append(p.UV[1], between(p.UV[1], a, b, t)...)
	p.Colors = append(p.Colors, between(p.Colors, a, b, t)...)
	at := [2]float64{c.at[a][0] + float64(t*(c.at[b][0]-c.at[a][0])), c.at[a][1] + float64(t*(c.at[b][1]-c.at[a][1]))}
	at[axis] = plane
	c.at = append(c.at, at)
	return v
}

// between interpolates an attribute that is no direction, and returns nothing of none.
func between[V vec](list []V, a, b uint32, t float64) []V {
	if list == nil {
		return nil
	}
	var v V
	for k := range len(v) {
		v[k] = geom.Mix32(list[a][k], list[b][k], t)
	}
	return []V{v}
}

// wrapped returns the primitive with the coordinates that a texture which repeats needs.
// A vertex at the border of an image that is clamped becomes one for each side.
func (c *wrapCutter) wrapped() Primitive {
	type key struct {
		v      uint32
		beyond [2]int8
	}
	in, out := &c.in, Primitive{Slot: c.in.Slot, Material: c.in.Material}
	made := map[key]uint32{}
	for i := 0; i+2 < len(in.Indices); i += 3 {
		t := in.Indices[i : i+3]
		of := key{}
		for k, m := range c.mode {
			middle := (c.at[t[0]][k] + c.at[t[1]][k] + c.at[t[2]][k]) / 3
			switch {
			case m != WrapClamp:
			case middle < c.half[k]:
				of.beyond[k] = -1
			case middle > 1-c.half[k]:
				of.beyond[k] = 1
			}
		}
		for _, v := range t {
			of.v = v
			n, ok := made[of]
			if !ok {
				n = uint32(len(out.Positions))
				made[of] = n
				out.Positions = append(out.Positions, in.Positions[v])
				out.Normals, out.Tangents = take(out.Normals, in.Normals, v), take(out.Tangents, in.Tangents, v)
				out.UV[0], out.UV[1] = take(out.UV[0], in.UV[0], v), take(out.UV[1], in.UV[1], v)
				out.Colors = take(out.Colors, in.Colors, v)
				out.UV[c.set][n] = c.coordinates(c.at[v], of.beyond)
			}
			out.Indices = append(out.Indices, n)
		}
	}
	return out
}

// coordinates are what is stored of a place in the image.
func (c *wrapCutter) coordinates(at [2]float64, beyond [2]int8) [2]float32 {
	for k, m := range c.mode {
		if m == WrapMirror {
			if at[k] -= 2 * math.Floor(at[k]/2); at[k] > 1 {
				at[k] = 2 - at[k]
			}
		}
		switch {
		case beyond[k] < 0:
			at[k] = c.deep[k]
		case beyond[k] > 0:
			at[k] = 1 - c.deep[k]
		case m != WrapRepeat:
			at[k] = min(max(at[k], c.half[k]), 1-c.half[k])
		}
	}
	at = c.to.Back(at)
	return [2]float32{float32(at[0]), float32(at[1])}
}

// take appends an element, unless there are none.
func take[V vec](to, from []V, i uint32) []V {
	if from == nil {
		return nil
	}
	return append(to, from[i])
}

// rewrite has a primitive read from what was made of it.
func (mp *meshPlanner) rewrite(pl *plan, p Primitive) error {
	var indices []byte
	for _, v := range p.Indices {
		indices = binary.LittleEndian.AppendUint32(indices, v)
	}
	pl.mode, pl.count, pl.elements = gltf.PrimitiveTriangles, len(p.Positions), len(p.Indices)
	for i, data := range [...][]byte{
		floatBytesOf(p.Positions), floatBytesOf(p.Normals), floatBytesOf(p.Tangents),
		floatBytesOf(p.UV[0]), floatBytesOf(p.UV[1]), floatBytesOf(p.Colors),
	} {
		if data == nil {
			continue
		}
		if err := mp.remake(pl, pl.attributes()[i], uint8(i), data); err != nil {
			return err
		}
	}
	return mp.remake(pl, &pl.index, indexUse, indices)
}

// floatBytesOf are the elements as they lie in a buffer, nil for none.
func floatBytesOf[V vec](list []V) (data []byte) {
	for _, v := range list {
		for k := range len(v) {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v[k]))
		}
	}
	return data
}

// madeTypes are the accessors that classes are made as.
var madeTypes = [...]gltf.AccessorType{
	classPosition: gltf.AccessorVec3, classNormal: gltf.AccessorVec3, classTangent: gltf.AccessorVec4,
	classUV: gltf.AccessorVec2, classColor: gltf.AccessorVec4, classIndex: gltf.AccessorScalar,
}

// remake has an attribute or the indices of a primitive read from bytes: FLOATs, or indices
// of 32 bits. The job that did so before stays where others need it.
func (mp *meshPlanner) remake(pl *plan, id *jobID, use uint8, data []byte) error {
	class, ct := classIndex, u32
	if use != indexUse {
		class, ct = classes[use].class, f32
	}
	at, err := mp.keepMade(data)
	if err != nil {
		return err
	}
	a := &accessor{typ: madeTypes[class], ct: ct, at: at}
	a.comps, a.stride = componentsOf(a.typ, ct)
	a.count = len(data) / a.stride
	number := uint32(0)
	if *id != 0 {
		old := mp.jobs.get(*id)
		number = old.accessor
		old.uses--
	}
	j, made := mp.jobs.add()
	place := primitivePlace(mp.scene.Meshes[pl.mesh].Index, int(pl.slot))
	if made == 0 {
		return tooMany(place)
	}
	j.pack(a, mp.store(a.at.store))
	j.use, j.accessor, j.mesh, j.slot, j.uses = use, number, uint32(mp.scene.Meshes[pl.mesh].Index), pl.slot, 1
	*id = made
	if err := mp.data.reserve(place, int64(len(data)), 2); err != nil {
		return err
	}
	return mp.data.checkReserved() // what is made takes room at once
}
