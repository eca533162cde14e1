// Package scenecheck reads a glTF file back and checks what the scene
// programs promise about it. Only tests use it.
package scenecheck

import (
	"fmt"
	"math"

	"github.com/qmuntal/gltf"
	"github.com/qmuntal/gltf/modeler"

	"github.com/untoldkit/untold/internal/geom"
)

// Report is what a scene holds.
type Report struct {
	Doc            *gltf.Document
	Nodes          int
	DrawnTriangles int
	MeshTriangles  int
	Box            geom.Box       // of all drawn vertices, metres
	Names          map[string]int // nodes by name
	Degenerate     int            // mesh triangles without area
	Worst          string         // name of a mesh with a degenerate triangle
	Mirrored       int            // drawn nodes with a negative determinant
	Skewed         int            // drawn nodes with a scale that is not uniform
	World          []geom.Mat4    // world transform of every node
}

// File opens a scene and checks that every index is in range, every position
// bound is true, every number finite, every rotation of unit length and every
// node reached once. It returns the first violation.
func File(path string) (*Report, error) {
	doc, err := gltf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("scenecheck: %w", err)
	}
	r := &Report{Doc: doc, Names: map[string]int{}, Box: geom.EmptyBox(), World: make([]geom.Mat4, len(doc.Nodes))}
	meshes := make([]meshInfo, len(doc.Meshes))
	for i, m := range doc.Meshes {
		if meshes[i], err = r.mesh(m); err != nil {
			return nil, fmt.Errorf("scenecheck: mesh %d %s: %w", i, m.Name, err)
		}
	}
	seen := make([]bool, len(doc.Nodes))
	var walk func(i int, world geom.Mat4) error
	walk = func(i int, world geom.Mat4) error {
		if i < 0 || i >= len(doc.Nodes) || seen[i] {
			return fmt.Errorf("scenecheck: node %d of %d is missing or reached twice", i, len(doc.Nodes))
		}
		seen[i] = true
		n := doc.Nodes[i]
		local, err := transform(n)
		if err != nil {
			return fmt.Errorf("scenecheck: node %d %s: %w", i, n.Name, err)
		}
		world = world.Mul(local)
		r.World[i] = world
		r.Names[n.Name]++
		r.Nodes++
		if n.Mesh != nil {
			r.draw(meshes[*n.Mesh], n, world)
		}
		for _, c := range n.Children {
			if err := walk(c, world); err != nil {
				return err
			}
		}
		return nil
	}
	for _, i := range doc.Scenes[0].Nodes {
		if err := walk(i, geom.Identity()); err != nil {
			return nil, err
		}
	}
	if r.Nodes != len(doc.Nodes) {
		return nil, fmt.Errorf("scenecheck: %d of %d nodes are not in the scene", len(doc.Nodes)-r.Nodes, len(doc.Nodes))
	}
	return r, nil
}

type meshInfo struct {
	tris int
	box  geom.Box
}

func transform(n *gltf.Node) (geom.Mat4, error) {
	m := geom.Mat4(n.MatrixOrDefault())
	if m == geom.Identity() {
		q := n.RotationOrDefault()
		l := 0.0
		for _, v := range q {
			l += v * v
		}
		if math.Abs(l-1) > 1e-5 {
			return m, fmt.Errorf("rotation of length %g", math.Sqrt(l))
		}
		m = geom.TRS(n.TranslationOrDefault(), q, n.ScaleOrDefault())
	}
	if !m.IsFinite() || m.Det3() == 0 {
		return m, fmt.Errorf("transform %v is not usable", m)
	}
	return m, nil
}

func (r *Report) draw(m meshInfo, n *gltf.Node, world geom.Mat4) {
	r.DrawnTriangles += m.tris
	for _, c := range m.box.Corners() {
		r.Box = r.Box.Extend(world.Point(c))
	}
	if world.Det3() < 0 {
		r.Mirrored++
	}
	if s := n.ScaleOrDefault(); math.Abs(s[0]) != math.Abs(s[1]) || math.Abs(s[1]) != math.Abs(s[2]) {
		r.Skewed++
	}
}

func (r *Report) mesh(m *gltf.Mesh) (meshInfo, error) {
	info := meshInfo{box: geom.EmptyBox()}
	for k, p := range m.Primitives {
		pos, idx, err := Triangles(r.Doc, p)
		if err != nil {
			return info, fmt.Errorf("primitive %d: %w", k, err)
		}
		if p.Material != nil && (*p.Material < 0 || *p.Material >= len(r.Doc.Materials)) {
			return info, fmt.Errorf("primitive %d: material %d of %d", k, *p.Material, len(r.Doc.Materials))
		}
		box := geom.EmptyBox()
		for i, v := range pos {
			if !v.IsFinite() {
				return info, fmt.Errorf("primitive %d: position %d is not finite", k, i)
			}
			box = box.Extend(v)
		}
		a := r.Doc.Accessors[p.Attributes[gltf.POSITION]]
		for c := range 3 {
			if len(a.Min) != 3 || len(a.Max) != 3 || float32(a.Min[c]) != float32(box.Min[c]) || float32(a.Max[c]) != float32(box.Max[c]) {
				return info, fmt.Errorf("primitive %d: bounds %v %v are not %v", k, a.Min, a.Max, box)
			}
		}
		for t := 0; t < len(idx); t += 3 {
			e, f := pos[idx[t+1]].Sub(pos[idx[t]]), pos[idx[t+2]].Sub(pos[idx[t]])
			if !(e.Cross(f).Len() > 1e-9) {
				r.Degenerate++
				r.Worst = m.Name
			}
		}
		info.tris += len(idx) / 3
		info.box = info.box.Union(box)
	}
	r.MeshTriangles += info.tris
	return info, nil
}

// Triangles returns the positions and indices of a triangle list and checks
// that each index names a vertex and each attribute has one entry per vertex.
func Triangles(doc *gltf.Document, p *gltf.Primitive) ([]geom.Vec3, []uint32, error) {
	raw, err := modeler.ReadPosition(doc, doc.Accessors[p.Attributes[gltf.POSITION]], nil)
	if err != nil {
		return nil, nil, err
	}
	pos := make([]geom.Vec3, len(raw))
	for i, v := range raw {
		pos[i] = geom.FromF32(v)
	}
	for name, a := range p.Attributes {
		if doc.Accessors[a].Count != len(pos) {
			return nil, nil, fmt.Errorf("%s has %d entries for %d vertices", name, doc.Accessors[a].Count, len(pos))
		}
	}
	if p.Indices == nil || p.Mode != gltf.PrimitiveTriangles {
		return nil, nil, fmt.Errorf("no indexed triangle list")
	}
	idx, err := modeler.ReadIndices(doc, doc.Accessors[*p.Indices], nil)
	if err != nil {
		return nil, nil, err
	}
	if len(idx)%3 != 0 {
		return nil, nil, fmt.Errorf("%d indices", len(idx))
	}
	for i, v := range idx {
		if int(v) >= len(pos) {
			return nil, nil, fmt.Errorf("index %d names vertex %d of %d", i, v, len(pos))
		}
	}
	return pos, append([]uint32(nil), idx...), nil
}

// Volume returns the signed volume that triangles enclose, and whether they
// are closed: every edge is walked as often one way as the other. A closed
// part whose faces look outward has a positive volume.
func Volume(pos []geom.Vec3, idx []uint32) (volume float64, closed bool) {
	type corner [3]int64
	key := func(v geom.Vec3) corner {
		var c corner
		for k := range c {
			c[k] = int64(math.Round(v[k] * 1e5))
		}
		return c
	}
	edges := map[[2]corner]int{}
	for t := 0; t+2 < len(idx); t += 3 {
		p := [3]geom.Vec3{pos[idx[t]], pos[idx[t+1]], pos[idx[t+2]]}
		volume += p[0].Dot(p[1].Cross(p[2])) / 6
		for i := range p {
			a, b := key(p[i]), key(p[(i+1)%3])
			edges[[2]corner{a, b}]++
			edges[[2]corner{b, a}]--
		}
	}
	for _, n := range edges {
		if n != 0 {
			return volume, false
		}
	}
	return volume, true
}
