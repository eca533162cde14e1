package simplify

import (
	"math"
	"testing"
)

func TestPack(t *testing.T) {
	for _, p := range []pull{{}, {1, -2, 0.5, 3}, {1e-30, -1e30, 0.1, 1 / 3.0}, {3.14159, -2.71828, 1e-9, 7}} {
		xy, zw := pack(p.x, p.y), pack(p.z, p.w)
		q := unpack(xy, zw)
		for _, c := range [4][2]float32{{p.x, q.x}, {p.y, q.y}, {p.z, q.z}, {p.w, q.w}} {
			if d := math.Abs(float64(c[0] - c[1])); d > math.Abs(float64(c[0]))/256 {
				t.Errorf("%g became %g", c[0], c[1])
			}
		}
		if r := unpack(xy, packLow(p.x, zw)); r.z != q.x || r.w != q.w {
			t.Errorf("%v: packLow made %v", q, r)
		}
	}
	if inf := float32(math.Inf(1)); low(pack(inf, 0)) != inf || high(pack(0, math.MaxFloat32)) != inf {
		t.Error("infinity is lost")
	}
}

// Sums lie in memory of triangles that are gone, if there are enough, and these are
// gone again afterwards.
func TestBorrow(t *testing.T) {
	m := grid(24, hills)
	for _, target := range []int{m.Triangles() * 3 / 4, m.Triangles() / 2, m.Triangles() / 10} {
		s, err := New(m, Options{NoRefine: true})
		if err != nil {
			t.Fatal(err)
		}
		s.Reduce(target, 0)
		before := hash(s.Mesh())
		sums := s.borrow(newFinder(s).left)
		if lent := &sums.xy[0] == &s.cornerWedge[0]; lent != (2*s.triangles <= m.Triangles()) {
			t.Errorf("%d of %d triangles: borrowed %v", s.triangles, m.Triangles(), lent)
		}
		seen := make(map[uint32]bool)
		for _, tri := range sums.left.all() {
			i := sums.start(tri)
			if seen[i] || unpack(sums.xy[i], sums.zw[i]) != (pull{}) {
				t.Errorf("triangle %d: sums at %d", tri, i)
			}
			seen[i] = true
			for k := range uint32(3) {
				sums.xy[i+k], sums.zw[i+k] = pack(1, 2), pack(3, 4)
			}
		}
		if len(seen) != s.triangles {
			t.Errorf("%d sums for %d triangles", len(seen), s.triangles)
		}
		s.giveBack(&sums)
		if hash(s.Mesh()) != before {
			t.Errorf("%d triangles: the mesh is another one", s.triangles)
		}
	}
}

// Of cuts, those stay that gain most, in their order.
func TestBestCuts(t *testing.T) {
	var cuts []cut
	for i := range uint32(100) {
		cuts = append(cuts, cut{gain: float32((i*37)%100) + 1, wedge: i})
	}
	kept, least := bestCuts(append([]cut(nil), cuts...), 30)
	if len(kept) != 30 {
		t.Fatalf("%d cuts", len(kept))
	}
	for i, c := range kept {
		if i > 0 && c.wedge <= kept[i-1].wedge {
			t.Errorf("wedge %d after %d", c.wedge, kept[i-1].wedge)
		}
		// Gains within a sixteenth count as equal.
		if c.gain < least || c.gain < 71*15.0/16 {
			t.Errorf("gain %g of at least %g", c.gain, least)
		}
	}
	if all, _ := bestCuts(cuts, 100); len(all) != 100 {
		t.Errorf("%d of 100 cuts", len(all))
	}
}

// Where the sums lie makes no difference.
func TestFitBorrowed(t *testing.T) {
	plain := grid(24, hills)
	padded := *plain
	padded.Indices = nil
	for c := 0; c < len(plain.Indices); c += 3 {
		a := plain.Indices[c]
		padded.Indices = append(padded.Indices, a, a, a) // New drops these
		padded.Indices = append(padded.Indices, plain.Indices[c:c+3]...)
	}
	var hashes [2]string
	for i, m := range []*Mesh{plain, &padded} {
		s, err := New(m, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for v := range s.vertices { // something to fit
			s.vertices[v].pos[1] += float32(v*7%11) / 1000
			s.vertices[v].flags |= flagMoved
		}
		for w := range s.wedgeVertex {
			n := s.normal(uint32(w))
			n.x += float32(s.scale[0] * float32(w*5%13) / 50)
			s.setNormal(uint32(w), n)
		}
		sums := s.borrow(newFinder(s).left)
		if lent := &sums.xy[0] == &s.cornerWedge[0]; lent != (i == 1) {
			t.Fatalf("mesh %d: borrowed %v", i, lent)
		}
		s.giveBack(&sums)
		before := hash(s.Mesh())
		s.fit(newFinder(s))
		if err := checkState(s); err != nil {
			t.Error(err)
		}
		if s.crease.count() == 0 {
			t.Error("there are no creases")
		}
		if hashes[i] = hash(s.Mesh()); hashes[i] == before {
			t.Error("fitting did nothing")
		}
	}
	if hashes[0] != hashes[1] {
		t.Error("the fitted meshes differ")
	}
}
