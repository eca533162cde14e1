package cook

import (
	"testing"

	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/internal/geom"
)

// blocks is a street of buildings with windows in frames, each face with its own
// vertices.
func blocks(n int) *levelSource {
	s := &levelSource{}
	m := &s.joint
	quad := func(group int32, o, u, v geom.Vec3) {
		base := uint32(len(m.Positions))
		normal := u.Cross(v).Normalize(1e-9, geom.Vec3{}).F32()
		m.Positions = append(m.Positions, o, o.Add(u), o.Add(u).Add(v), o.Add(v))
		m.Normals = append(m.Normals, normal, normal, normal, normal)
		m.Indices = append(m.Indices, base, base+1, base+2, base, base+2, base+3)
		s.groups = append(s.groups, group, group)
	}
	box := func(group int32, lo, size geom.Vec3) {
		x, y, z := geom.Vec3{size[0]}, geom.Vec3{0, size[1]}, geom.Vec3{0, 0, size[2]}
		quad(group, lo, y, x)
		quad(group, lo.Add(z), x, y)
		quad(group, lo, z, y)
		quad(group, lo.Add(x), y, z)
		quad(group, lo, x, z)
		quad(group, lo.Add(y), z, x)
	}
	for k := range n {
		at := geom.Vec3{20 * float64(k)}
		high := 9 + float64(3*(k%3))
		box(0, at, geom.Vec3{14, high, 10})
		box(2, at.Add(geom.Vec3{4, high, 3}), geom.Vec3{1.5, 1, 1.2})
		for y := 1.0; y < high-2; y += 3 {
			for x := 1.0; x < 12; x += 2.5 {
				o := at.Add(geom.Vec3{x, y, 9.98})
				box(2, o, geom.Vec3{1.2, 1.6, 0.09})                                      // its back is within the wall
				quad(1, o.Add(geom.Vec3{0.1, 0.1, 0.1}), geom.Vec3{1}, geom.Vec3{0, 1.4}) // a pane
				box(2, o.Add(geom.Vec3{-0.1, -0.1, 0}), geom.Vec3{1.4, 0.08, 0.2})        // a sill
			}
		}
	}
	m.UV = [2][][2]float32{}
	s.names = make([]drawable, 3)
	return s
}

var blockPaints = []appearance.Material{
	{Color: [4]float32{0.5, 0.2, 0.15, 1}}, {Color: [4]float32{0.02, 0.03, 0.05, 1}}, {Color: [4]float32{0.8, 0.8, 0.8, 1}},
}

// halfFaces counts faces of which one triangle is left.
func halfFaces(s *surfaces) int {
	count := map[int32]int{}
	for t := range s.charts {
		count[s.charts.Root(int32(t))]++
	}
	n := 0
	for _, c := range count {
		if c == 1 {
			n++
		}
	}
	return n
}

// Levels of buildings consist of whole faces, and of those that are seen: panes
// outlive the backs of their frames, and walls the panes.
func TestLevelsOfFaces(t *testing.T) {
	src := blocks(6)
	o := DefaultOptions()
	if err := o.checkLevels(); err != nil {
		t.Fatal(err)
	}
	chain := newLevelChain(&o, src, nil, nil)
	chain.look = func() (*appearance.Reference, error) { return appearance.New(seenMesh(src.mesh()), blockPaints), nil }
	full := [3]int{}
	for _, g := range src.groups {
		full[g]++
	}
	last := 0.0
	for i, ratio := range []float64{0.5, 0.2, 0.08} {
		l := &level{ratio: ratio, hlod: i == 2}
		r, err := chain.reduce(l, atLeast(ratio, src.triangles()), func(int) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		if err := chain.keep(l, r); err != nil {
			t.Fatal(err)
		}
		if !chain.faces {
			t.Fatal("faces of buildings do not count")
		}
		if n := halfFaces(findSurfaces(r.mesh)); n > 0 {
			t.Errorf("%v: half of %d faces is left", ratio, n)
		}
		left := [3]int{}
		for _, g := range r.mesh.Groups {
			left[g]++
		}
		t.Logf("%v: %d of %d triangles (walls %d, panes %d of %d, frames %d of %d), %.3f m are seen",
			ratio, r.Triangles, src.triangles(), left[0], left[1], full[1], left[2], full[2], l.seen)
		if l.seen < last {
			t.Errorf("%v: %v m are seen, of the finer level %v", ratio, l.seen, last)
		}
		last = l.seen
		if i == 0 && left[1] != full[1] {
			t.Errorf("%v: %d of %d triangles of panes are left", ratio, left[1], full[1])
		}
		if most := []float64{0.2, 1.6, 9}[i]; !(l.seen <= most) {
			t.Errorf("%v: %v m are seen, more than %v", ratio, l.seen, most)
		}
	}
}

func TestSurfaces(t *testing.T) {
	src := blocks(1)
	s := findSurfaces(src.mesh())
	if s.flat() != src.triangles() {
		t.Errorf("%d of %d triangles are flat", s.flat(), src.triangles())
	}
	if p := s.parts(true); len(p.whole) != src.triangles()/2 {
		t.Errorf("%d faces of %d triangles", len(p.whole), src.triangles())
	}
	// A bent strip shares its vertices: it is one part, and may lose triangles.
	m := mesh.Mesh{
		Positions: []geom.Vec3{{}, {1}, {0, 0, 1}, {1, 0, 1}, {0, 1, 2}, {1, 1, 2}},
		Indices:   []uint32{0, 2, 1, 1, 2, 3, 2, 4, 3, 3, 4, 5},
	}
	strip := &levelSource{joint: m, groups: make([]int32, 4)}
	for _, faces := range []bool{false, true} {
		if p := findSurfaces(strip.mesh()).parts(faces); len(p.whole) != 1 || p.whole[0] {
			t.Errorf("faces %v: %+v", faces, p)
		}
	}
}

// A landscape that is shaded flat has no faces that could go alone.
func TestFacetsAreNoFaces(t *testing.T) {
	m := &simplify.Mesh{}
	add := func(p ...geom.Vec3) {
		n := p[1].Sub(p[0]).Cross(p[2].Sub(p[0])).Normalize(1e-300, geom.Vec3{0, 1, 0})
		for _, v := range p {
			m.Indices = append(m.Indices, uint32(len(m.Positions)))
			m.Positions = append(m.Positions, v)
			m.Normals = append(m.Normals, [3]float32{float32(n[0]), float32(n[1]), float32(n[2])})
		}
	}
	at := func(x, z int) geom.Vec3 {
		return geom.Vec3{float64(x), float64((3*x*x + 5*z*z*z + x*z) % 7), float64(z)}
	}
	for x := range 8 {
		for z := range 8 {
			add(at(x, z), at(x, z+1), at(x+1, z))
			add(at(x+1, z), at(x, z+1), at(x+1, z+1))
		}
	}
	if n := findSurfaces(m).flat(); n != 0 {
		t.Errorf("%d of %d triangles are flat faces", n, m.Triangles())
	}
}

// TestPartsAreRememberedWithoutTheirLevel: levels that begin with the same mesh share its
// parts, and keep their own way with seams.
func TestPartsAreRememberedWithoutTheirLevel(t *testing.T) {
	m := &simplify.Mesh{Positions: []geom.Vec3{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 1}}, Indices: []uint32{0, 1, 2, 2, 1, 3}}
	x := &levelChain{divided: true}
	for _, seams := range []simplify.SeamMode{simplify.SeamsRelax, simplify.SeamsWeld, simplify.SeamsKeep} {
		o := simplify.Options{Seams: seams}
		if err := x.divide(m, &o); err != nil {
			t.Fatal(err)
		}
		if o.Seams != seams || len(o.Parts) != 2 || len(o.PartCosts) != len(o.PartWhole) || len(x.priced) != 1 {
			t.Errorf("seams %v: %+v, %d meshes are remembered", seams, o, len(x.priced))
		}
	}
	for i := range 2 * mostPriced {
		other := *m
		other.Positions = append([]geom.Vec3{{float64(i), 5, 5}}, m.Positions[1:]...)
		if err := x.divide(&other, &simplify.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if len(x.priced) != mostPriced {
		t.Errorf("%d meshes are remembered", len(x.priced))
	}
}
