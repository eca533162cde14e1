package gltfexport

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
)

// compose is the inverse of decompose, as a glTF loader computes it.
func compose(p placement) geom.Mat4 {
	m := geom.TRS(p.t, p.q, p.s)
	if p.inner != nil {
		m = m.Mul(geom.TRS(geom.Vec3{}, *p.inner, noScale))
	}
	return m
}

func sameMatrix(a, b geom.Mat4, tol float64) bool {
	size := 0.0
	for i := range 12 {
		size = max(size, math.Abs(a[i]))
	}
	for i := range a {
		if math.Abs(a[i]-b[i]) > tol*size+1e-300 {
			return false
		}
	}
	return true
}

func TestDecomposeTable(t *testing.T) {
	for name, c := range map[string]struct {
		m      geom.Mat4
		nodes  int
		faulty bool
	}{
		"identity":        {geom.Identity(), 1, false},
		"mirror":          {geom.Mat4{-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 2, 3, 1}, 1, false},
		"point mirror":    {geom.Mat4{-1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1}, 1, false},
		"half turn":       {geom.Mat4{-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1}, 1, false},
		"axes exchanged":  {geom.Mat4{0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1}, 1, false},
		"shear":           {geom.Mat4{1, 0, 0, 0, 0.5, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, 2, false},
		"flat":            {geom.Mat4{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, 1, false},
		"sheared flat":    {geom.Mat4{1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, 2, false},
		"line":            {geom.Mat4{1, 1, 1, 0, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 2, false},
		"nothing":         {geom.Mat4{15: 1}, 1, false},
		"mirroring shear": {geom.Mat4{-1, 0, 0, 0, 0.5, 1, 0, 0, 0, 0.2, 1, 0, 4, 0, 0, 1}, 2, false},
		"tiny":            {geom.Mat4{1e-20, 0, 0, 0, 0, 1e-20, 0, 0, 0, 0, 1e-20, 0, 0, 0, 0, 1}, 1, false},
	} {
		p, faulty := decompose(c.m)
		if faulty != c.faulty || p.count() != c.nodes {
			t.Errorf("%s: %d nodes, faulty %v", name, p.count(), faulty)
		}
		if got := compose(p); !sameMatrix(c.m, got, 1e-12) {
			t.Errorf("%s: %v became %v", name, c.m, got)
		}
	}
	id, _ := decompose(geom.Identity())
	if tr, r, s := id.trs(); !id.identity() || tr != nil || r != nil || s != nil {
		t.Errorf("identity: %+v", id)
	}
	for _, m := range []geom.Mat4{{0: math.NaN(), 15: 1}, {3: 1, 15: 1}, {}} {
		if _, faulty := decompose(m); !faulty {
			t.Errorf("%v is not faulty", m)
		}
	}
}

// TestDecomposeAny composes what was decomposed, for any matrix.
func TestDecomposeAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := geom.Identity()
		entry := rapid.OneOf(rapid.Float64Range(-10, 10), rapid.SampledFrom([]float64{0, 1, -1, 1e-6, 1000}))
		for c := range 4 {
			for r := range 3 {
				// As stored: single precision.
				m[4*c+r] = float64(float32(entry.Draw(t, "entry")))
			}
		}
		p, faulty := decompose(m)
		// An angle within the tolerance of a right one is taken for one.
		if got := compose(p); faulty || !sameMatrix(m, got, 4*orthogonal) {
			t.Fatalf("%v became %v", m, got)
		}
		for _, q := range [][4]float64{p.q, noRotation} {
			if l := q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3]; math.Abs(l-1) > 1e-12 {
				t.Fatalf("quaternion of length %v", l)
			}
		}
	})
}
