package geom

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func genVec(t *rapid.T, name string) Vec3 {
	g := rapid.Float64Range(-100, 100)
	return Vec3{g.Draw(t, name+"x"), g.Draw(t, name+"y"), g.Draw(t, name+"z")}
}

func near(a, b Vec3, eps float64) bool { return a.Sub(b).Len() <= eps }

func TestTRS(t *testing.T) {
	half := math.Sqrt2 / 2
	m := TRS(Vec3{1, 2, 3}, [4]float64{0, 0, half, half}, Vec3{2, 1, 1}) // 90 degrees about z
	if got := m.Point(Vec3{1, 0, 0}); !near(got, Vec3{1, 4, 3}, 1e-12) {
		t.Errorf("point became %v", got)
	}
	if got := m.Dir(Vec3{0, 1, 0}); !near(got, Vec3{-1, 0, 0}, 1e-12) {
		t.Errorf("direction became %v", got)
	}
	if m := TRS(Vec3{}, [4]float64{}, Vec3{1, 1, 1}); m != Identity() {
		t.Errorf("a zero quaternion gives %v", m)
	}
	// A quaternion's length does not matter.
	a, b := TRS(Vec3{}, [4]float64{1, 2, 3, 4}, Vec3{1, 1, 1}), TRS(Vec3{}, [4]float64{2, 4, 6, 8}, Vec3{1, 1, 1})
	for i := range a {
		if math.Abs(a[i]-b[i]) > 1e-14 {
			t.Errorf("element %d: %v and %v", i, a[i], b[i])
		}
	}
}

func TestMulAppliesTheRightFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := TRS(genVec(t, "ta"), [4]float64{0.1, 0.2, 0.3, 0.9}, Vec3{1, 2, 3})
		b := TRS(genVec(t, "tb"), [4]float64{0.5, -0.2, 0.1, 0.3}, Vec3{-1, 1, 2})
		p := genVec(t, "p")
		ab := a.Mul(b)
		if got, want := ab.Point(p), a.Point(b.Point(p)); !near(got, want, 1e-9*(1+want.Len())) {
			t.Fatalf("%v, want %v", got, want)
		}
		if d, want := ab.Det3(), a.Det3()*b.Det3(); math.Abs(d-want) > 1e-9*math.Abs(want) {
			t.Fatalf("determinant %v, want %v", d, want)
		}
	})
}

// TestCofactorKeepsNormals: what is at a right angle to two edges stays so.
func TestCofactorKeepsNormals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Mat4{15: 1}
		for c := range 3 {
			v := genVec(t, "column")
			copy(m[4*c:], v[:])
		}
		e, f := genVec(t, "e"), genVec(t, "f")
		n := e.Cross(f)
		cof := m.Cofactor()
		got, want := cof.Dir(n), m.Dir(e).Cross(m.Dir(f))
		if !near(got, want, 1e-7*(1+want.Len())) {
			t.Fatalf("normal %v, the edges give %v", got, want)
		}
	})
}

func TestBox(t *testing.T) {
	e := EmptyBox()
	if !e.IsEmpty() || e.Center() != (Vec3{}) || e.Size() != (Vec3{}) {
		t.Errorf("empty box: %v", e)
	}
	b := e.Extend(Vec3{1, 2, 3}).Extend(Vec3{-1, 4, 3})
	if b != (Box{Vec3{-1, 2, 3}, Vec3{1, 4, 3}}) || b.IsEmpty() {
		t.Errorf("box: %v", b)
	}
	if b.Union(e) != b || e.Union(b) != b {
		t.Error("an empty box is not neutral")
	}
	if b.Center() != (Vec3{0, 3, 3}) || b.Size() != (Vec3{2, 2, 0}) {
		t.Errorf("centre %v, size %v", b.Center(), b.Size())
	}
	big := Box{Vec3{0, 0, 0}, Vec3{10, 10, 10}}
	if d := big.Distance(Vec3{13, 14, 10}); d != 5 {
		t.Errorf("distance %v", d)
	}
	if d := big.Distance(Vec3{5, 5, 5}); d != 0 {
		t.Errorf("distance inside %v", d)
	}
	if !big.Contains(Box{Vec3{0, 0, 0}, Vec3{10, 10, 10.5}}, 0.5) || big.Contains(b, 0) {
		t.Error("Contains")
	}
	seen := map[Vec3]bool{}
	for _, c := range big.Corners() {
		seen[c] = true
	}
	if len(seen) != 8 {
		t.Errorf("%d corners", len(seen))
	}
}

func TestNormalize(t *testing.T) {
	up := Vec3{0, 0, 1}
	for _, v := range []Vec3{{}, {math.NaN(), 0, 0}, {math.Inf(1), 0, 0}} {
		if got := v.Normalize(0, up); got != up {
			t.Errorf("%v became %v", v, got)
		}
	}
	if got := (Vec3{3, 4, 0}).Normalize(0, up); !near(got, Vec3{0.6, 0.8, 0}, 1e-15) {
		t.Errorf("got %v", got)
	}
}

func TestIsFinite(t *testing.T) {
	if !(Vec3{1, 2, 3}).IsFinite() || (Vec3{math.NaN(), 0, 0}).IsFinite() || (Vec3{0, math.Inf(-1), 0}).IsFinite() {
		t.Error("Vec3.IsFinite")
	}
	m := Identity()
	if !m.IsFinite() {
		t.Error("the identity is not finite")
	}
	if m[7] = math.NaN(); m.IsFinite() {
		t.Error("NaN is finite")
	}
}

func TestBoxTransform(t *testing.T) {
	box := Box{Min: Vec3{-1, -2, -3}, Max: Vec3{1, 2, 3}}
	same := Identity()
	turned := TRS(Vec3{10, 0, 0}, [4]float64{0, 0, math.Sqrt2 / 2, math.Sqrt2 / 2}, Vec3{1, 1, 2})
	if got := box.Transform(&same); got != box {
		t.Errorf("unmoved: %v", got)
	}
	if got := EmptyBox().Transform(&turned); !got.IsEmpty() {
		t.Errorf("empty: %v", got)
	}
	got, want := box.Transform(&turned), Box{Min: Vec3{8, -1, -6}, Max: Vec3{12, 1, 6}}
	if got.Min.Sub(want.Min).Len()+got.Max.Sub(want.Max).Len() > 1e-12 {
		t.Errorf("turned: %v, not %v", got, want)
	}
}

func TestRound(t *testing.T) {
	for _, c := range []struct {
		v    float64
		n    int
		want float64
	}{{2.675, 2, 2.67}, {0.125, 2, 0.12}, {0.375, 2, 0.38}, {-1.005, 2, -1}, {1e300, 2, 1e300}, {12.3456, 3, 12.346}} {
		if got := Round(c.v, c.n); got != c.want {
			t.Errorf("Round(%v, %d) = %v, want %v", c.v, c.n, got, c.want)
		}
	}
	if !math.IsNaN(Round(math.NaN(), 2)) || !math.IsInf(Round(math.Inf(1), 2), 1) {
		t.Error("NaN and Inf must pass")
	}
}

func TestSincos(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-50, 50).Draw(t, "angle")
		s, c := Sincos(x)
		if ws, wc := math.Sincos(x); math.Abs(s-ws) > 1e-14 || math.Abs(c-wc) > 1e-14 {
			t.Fatalf("Sincos(%v) = %v, %v, want %v, %v", x, s, c, ws, wc)
		}
	})
	for i := range 9 {
		k := i - 4
		s, c := Sincos(float64(k) * (math.Pi / 2))
		want := [4][2]float64{{0, 1}, {1, 0}, {0, -1}, {-1, 0}}[(k+4)%4]
		if s != want[0] || c != want[1] {
			t.Errorf("%d right angles: %v, %v", k, s, c)
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300} {
		if s, c := Sincos(x); s != 0 || c != 1 {
			t.Errorf("Sincos(%v) = %v, %v", x, s, c)
		}
	}
}
