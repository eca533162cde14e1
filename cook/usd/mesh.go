package usd

import (
	"fmt"
	"math"
	"strings"

	"github.com/untoldkit/untold/cook/internal/gltfdoc"
	"github.com/untoldkit/untold/cook/usd/internal/layer"
	"github.com/untoldkit/untold/internal/geom"
)

// mostCorners is how many corners a face may have.
const mostCorners = 1 << 16

// surface is a mesh as it is read.
type surface struct {
	place   string
	points  *layer.Numbers
	counts  *layer.Numbers // corners of faces
	indices *layer.Numbers // points of corners
	left    bool           // faces show their front where their corners turn right
	smooth  bool           // without normals it is round
	double  bool           // faces show both sides
	holes   map[int]bool

	normals *primvar
	uvs     [2]*primvar
	color   *primvar
	opacity *primvar
	sums    []geom.Vec3 // normals of points that were made
	read    map[string]*primvar
}

// mesh writes the mesh of a prim, unless the same was written before, and returns its number;
// -1 where there is nothing to see.
func (w *walker) mesh(p *prim, kind string) (int, error) {
	own, err := w.bound(p)
	if err != nil {
		return -1, err
	}
	subsets, err := w.subsets(p, kind)
	if err != nil {
		return -1, err
	}
	key := kind + "\x00" + p.identity(w.ids)
	key += fmt.Sprint("\x00", own)
	for _, s := range subsets {
		key += fmt.Sprint(" ", s.material)
	}
	for up := p.parent; up != nil; up = up.parent { // what is inherited
		for _, name := range []string{"primvars:displayColor", "primvars:displayOpacity"} {
			if a := up.property(name); a != nil {
				key += fmt.Sprintf(" %p", a)
			}
		}
	}
	if i, ok := w.meshOf[key]; ok {
		return i, nil
	}
	var s *surface
	if kind == "Mesh" {
		s, err = w.surface(p)
	} else {
		s, err = w.shape(p, kind)
	}
	i := -1
	if err == nil && s != nil {
		i, err = w.write(p, s, own, subsets)
	}
	if err != nil {
		return -1, err
	}
	w.meshOf[key] = i
	return i, nil
}

// surface reads a mesh; nil where there is none.
func (w *walker) surface(p *prim) (*surface, error) {
	s := &surface{place: p.path}
	var err error
	if s.points, err = w.numbers(p, "points", 3); err != nil {
		return nil, err
	}
	if s.counts, err = w.numbers(p, "faceVertexCounts", 1); err != nil {
		return nil, err
	}
	if s.indices, err = w.numbers(p, "faceVertexIndices", 1); err != nil {
		return nil, err
	}
	if s.points == nil || s.counts == nil || s.indices == nil {
		w.note("usd-empty-meshes", false, p.path, "meshes without points or faces were left out")
		return nil, nil
	}
	side, err := w.word(p, "orientation", "rightHanded")
	if err != nil {
		return nil, err
	}
	s.left = side == "leftHanded"
	scheme, err := w.word(p, "subdivisionScheme", "catmullClark")
	if err != nil {
		return nil, err
	}
	if s.smooth = scheme != "none"; s.smooth {
		w.note("usd-subdivision-skipped", true, p.path, "subdivision surfaces are cooked as the cages that they are made of")
	}
	if v, err := w.value(p, "doubleSided"); err != nil {
		return nil, err
	} else if b, ok := v.(bool); ok {
		s.double = b
	}
	if v, err := w.numbers(p, "holeIndices", 1); err != nil {
		return nil, err
	} else if v != nil {
		s.holes = map[int]bool{}
		for i := range v.Len() {
			s.holes[int(v.IntAt(i))] = true
		}
	}
	if a := p.property("skel:jointIndices"); a != nil || p.property("primvars:skel:jointIndices") != nil {
		w.note("usd-skinning-skipped", false, p.path, "skeletons are not cooked: meshes stand as they were bound")
	}
	return s, w.check(p, s)
}

// check verifies that faces and points belong together.
func (w *walker) check(p *prim, s *surface) error {
	corners := 0
	for i := range s.counts.Len() {
		n := s.counts.IntAt(i)
		if n < 0 || n > mostCorners {
			return malformed(p.path+".faceVertexCounts", "face %d has %d corners, at most %d are read", i, n, mostCorners)
		}
		corners += int(n)
	}
	if corners != s.indices.Len() {
		return malformed(p.path+".faceVertexIndices", "has %d elements, the faces have %d corners", s.indices.Len(), corners)
	}
	points := int64(s.points.Len())
	for i := range s.indices.Len() {
		if k := s.indices.IntAt(i); k < 0 || k >= points {
			return malformed(p.path+".faceVertexIndices", "corner %d names point %d of %d", i, k, points)
		}
	}
	for i := range s.points.Flat() {
		if x := s.points.At(i); x-x != 0 || math.Abs(x) > math.MaxFloat32 {
			return malformed(p.path+".points", "point %d is not finite", i/3)
		}
	}
	return nil
}

// dress reads what a mesh has beside its faces, as far as its materials want it.
func (w *walker) dress(p *prim, s *surface, uvs []string, colors bool) error {
	faces, corners, points := s.counts.Len(), s.indices.Len(), s.points.Len()
	take := func(name string, v *primvar) *primvar {
		if v != nil && !v.fits(faces, corners, points) {
			w.note("usd-primvars-skipped", true, p.path+"."+name, "values over meshes of the wrong number or type were left out")
			return nil
		}
		return v
	}
	var err error
	if s.normals == nil {
		for _, name := range []string{"primvars:normals", "normals"} {
			v, err := w.primvar(p, name, 3, "vertex")
			if err != nil {
				return err
			}
			if s.normals = take(name, v); s.normals != nil {
				break
			}
		}
	}
	for i, name := range uvs {
		if i == len(s.uvs) {
			w.note("usd-uv-sets-skipped", true, p.path, "texture coordinates beyond the second set were left out")
			break
		}
		if s.uvs[i] != nil {
			continue // of a shape
		}
		if v, ok := s.read[name]; ok {
			s.uvs[i] = v
			continue
		}
		v, err := w.primvar(p, "primvars:"+name, 2, "constant")
		if err != nil {
			return err
		}
		s.uvs[i] = take("primvars:"+name, v)
		s.read[name] = s.uvs[i]
	}
	if !colors {
		return nil
	}
	v, err := w.inherited(p, "primvars:displayColor", 3)
	if err != nil {
		return err
	}
	s.color = take("primvars:displayColor", v)
	if v, err = w.inherited(p, "primvars:displayOpacity", 1); err != nil {
		return err
	}
	s.opacity = take("primvars:displayOpacity", v)
	return nil
}

// subset are faces of a mesh with a material of their own.
type subset struct {
	faces    *layer.Numbers
	material int
}

// subsets reads the parts of a mesh that have materials.
func (w *walker) subsets(p *prim, kind string) ([]subset, error) {
	if kind != "Mesh" {
		return nil, nil
	}
	var out []subset
	for _, name := range p.children() {
		c, err := w.child(p, name)
		if err != nil {
			return nil, err
		}
		if c == nil || c.typeName() != "GeomSubset" {
			continue
		}
		of, err := w.word(c, "elementType", "face")
		if err != nil {
			return nil, err
		}
		family, err := w.word(c, "familyName", "")
		if err != nil {
			return nil, err
		}
		if of != "face" || family != "materialBind" && family != "" {
			continue
		}
		if active, ok := c.meta("active").(bool); ok && !active {
			continue
		}
		faces, err := w.numbers(c, "indices", 1)
		if err != nil {
			return nil, err
		}
		if faces == nil {
			continue
		}
		if !bindsDirectly(c) {
			continue
		}
		m, err := w.bound(c)
		if err != nil {
			return nil, err
		}
		out = append(out, subset{faces, m})
	}
	return out, nil
}

// bindsDirectly reports whether a prim names a material of its own.
func bindsDirectly(p *prim) bool {
	for _, name := range p.names() {
		if strings.HasPrefix(name, "material:binding") {
			return true
		}
	}
	return false
}

// write writes a surface as a mesh of a primitive for each material.
func (w *walker) write(p *prim, s *surface, own int, subsets []subset) (int, error) {
	faces := s.counts.Len()
	of := make([]int32, faces) // 1 + subset
	for k, sub := range subsets {
		for i := range sub.faces.Len() {
			f := sub.faces.IntAt(i)
			if f < 0 || f >= int64(faces) {
				return -1, malformed(p.path, "a subset names face %d of %d", f, faces)
			}
			of[f] = int32(k + 1)
		}
	}
	materials := make([]int, 1+len(subsets))
	materials[0] = own
	for k, sub := range subsets {
		materials[k+1] = sub.material
	}
	// Parts of one material are one, in the order of their first faces.
	var used []int
	first := map[int]int{}
	part := make([]int32, faces)
	for f := range faces {
		m := materials[of[f]]
		k, ok := first[m]
		if !ok {
			k = len(used)
			first[m], used = k, append(used, m)
		}
		part[f] = int32(k)
	}
	lists := make([][]int32, len(used))
	starts := make([]int32, faces)
	at := int32(0)
	for f := range faces {
		starts[f] = at
		n := int(s.counts.IntAt(f))
		at += int32(n)
		switch {
		case s.holes[f]:
		case n < 3:
			w.note("faces-incomplete", false, p.path, "faces of fewer than three corners were left out")
		default:
			lists[part[f]] = append(lists[part[f]], int32(f))
		}
	}
	var primitives []byte
	s.read = map[string]*primvar{}
	for k, m := range used {
		if len(lists[k]) == 0 {
			continue
		}
		dressed := *s
		look := w.doc.look(m)
		uvs := look.uvs
		if len(uvs) == 0 {
			uvs = p.texcoords()
			uvs = uvs[:min(len(uvs), len(s.uvs))]
		}
		if err := w.dress(p, &dressed, uvs, look.colors); err != nil {
			return -1, err
		}
		for i, name := range look.uvs {
			if i < len(dressed.uvs) && dressed.uvs[i] == nil {
				w.note("usd-uvs-missing", true, p.path, "meshes lack the texture coordinates that their materials name: "+clip(name))
			}
		}
		text, err := w.primitive(&dressed, lists[k], starts, m)
		if err != nil {
			return -1, err
		}
		s.normals, s.sums = dressed.normals, dressed.sums // which all parts share
		if text != nil {
			primitives = gltfdoc.AppendElement(primitives, text)
		}
	}
	if len(primitives) == 0 {
		return -1, nil
	}
	w.meshes = gltfdoc.AppendElement(w.meshes, append(append(append(append([]byte(`{"name":`), quoted(p.name)...), `,"primitives":[`...), primitives...), `]}`...))
	w.meshCount++
	return w.meshCount - 1, nil
}

// round makes normals of points: sums of those of the faces there, by their areas.
func (s *surface) round() {
	s.sums = make([]geom.Vec3, s.points.Len())
	at := 0
	for f := range s.counts.Len() {
		n := int(s.counts.IntAt(f))
		var sum geom.Vec3
		for i := 1; i+1 < n; i++ {
			a, b, c := s.point(at), s.point(at+i), s.point(at+i+1)
			sum = sum.Add(b.Sub(a).Cross(c.Sub(a)))
		}
		if s.left {
			sum = sum.Scale(-1)
		}
		for i := range n {
			k := s.indices.IntAt(at + i)
			s.sums[k] = s.sums[k].Add(sum)
		}
		at += n
	}
}

// point returns the position of a corner.
func (s *surface) point(corner int) geom.Vec3 {
	k := 3 * int(s.indices.IntAt(corner))
	return geom.Vec3{s.points.At(k), s.points.At(k + 1), s.points.At(k + 2)}
}
