package draco

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestVarint(t *testing.T) {
	for _, tt := range []struct {
		src  string
		want uint32
		ok   bool
	}{
		{"\x00", 0, true},
		{"\x7f", 127, true},
		{"\x80\x01", 128, true},
		{"\xff\xff\xff\xff\x0f", math.MaxUint32, true},
		{"\xff\xff\xff\xff\x1f", 0, false},
		{"\x80", 0, false},
		{"", 0, false},
		{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", 0, false},
	} {
		r := &reader{data: []byte(tt.src)}
		if got := r.varint(); got != tt.want || (r.err == nil) != tt.ok {
			t.Errorf("%q: %d, %v", tt.src, got, r.err)
		}
	}
}

func TestBitReader(t *testing.T) {
	b := bitReader{data: []byte{0b10110100, 0xFF, 0x01, 0, 0}}
	for i, want := range []struct {
		n int
		v uint32
	}{{0, 0}, {3, 4}, {5, 22}, {9, 0x1FF}, {23, 0}} {
		if v, ok := b.get(want.n); !ok || v != want.v {
			t.Errorf("%d: %d %v, want %d", i, v, ok, want.v)
		}
	}
	if _, ok := b.get(1); ok || b.bytes() != 5 {
		t.Errorf("%d bytes", b.bytes())
	}
}

func TestSigned(t *testing.T) {
	for v, want := range []int32{0, -1, 1, -2, 2, -3} {
		if got := signed(uint32(v)); got != want {
			t.Errorf("%d: %d", v, got)
		}
	}
	if got := signed(math.MaxUint32); got != math.MinInt32 {
		t.Error(got)
	}
}

func TestRoot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Uint64().Draw(t, "v")
		root := rootOf(v)
		if root > math.MaxUint32 || root*root > v || root < math.MaxUint32 && (root+1)*(root+1) <= v {
			t.Fatalf("%d: %d", v, root)
		}
	})
}

// TestNeighbours verifies next and prev, also of no corner.
func TestNeighbours(t *testing.T) {
	for c := int32(0); c < 9; c++ {
		if n := next(c); prev(n) != c || n/3 != c/3 || n == c {
			t.Errorf("next %d is %d", c, n)
		}
	}
	if next(-1) != -1 || prev(-1) != -1 {
		t.Error("neighbours of no corner")
	}
}

// TestOctahedron verifies that unit vectors keep their direction, that what
// project returns is on the square, and that a correction of zero gives the
// prediction.
func TestOctahedron(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(4, 16).Draw(t, "bits")
		var o octahedron
		if !o.set(1<<width - 1) {
			t.Fatal("refused")
		}
		part := rapid.Int64Range(-1000, 1000)
		v := vec3{part.Draw(t, "x"), part.Draw(t, "y"), part.Draw(t, "z")}
		s, q := o.project(o.shrink(v))
		if s < 0 || q < 0 || s > o.most || q > o.most {
			t.Fatalf("(%d, %d) is outside of %d", s, q, o.most)
		}
		if a, b := o.apply(s, q, 0, 0); a != s || b != q {
			t.Fatalf("(%d, %d) becomes (%d, %d)", s, q, a, b)
		}
		if v == (vec3{}) {
			return
		}
		u := unitVector(s, q, width)
		length, off := math.Sqrt(float64(v.dot(v))), 0.0
		for i := range v {
			off = max(off, math.Abs(float64(v[i])/length-float64(u[i])))
		}
		if off > 8/float64(o.most)+1e-6 {
			t.Fatalf("%v becomes %v", v, u)
		}
	})
}

func TestOctahedronSizes(t *testing.T) {
	var o octahedron
	for _, bad := range []int32{0, -1, 1, 2, 4, 256, math.MinInt32, math.MaxInt32} {
		if o.set(bad) {
			t.Errorf("%d is accepted", bad)
		}
	}
	if !o.set(255) || o.most != 254 || o.centre != 127 {
		t.Errorf("%+v", o)
	}
}

func TestFitsProduct(t *testing.T) {
	for _, tt := range []struct {
		a, b int64
		ok   bool
	}{
		{0, math.MaxInt64, true},
		{2, math.MaxInt64 / 2, true},
		{3, math.MaxInt64 / 2, false},
		{1, math.MinInt64, false},
		{2, -5, true},
		{math.MaxInt64, 0, true},
	} {
		if fitsProduct(tt.a, tt.b) != tt.ok {
			t.Errorf("%d * %d", tt.a, tt.b)
		}
	}
}

func TestTypes(t *testing.T) {
	for ty, want := range map[Type]int{0: 0, Int8: 1, Uint16: 2, Float32: 4, Float64: 8, Bool: 1, 12: 0, 255: 0} {
		if ty.Size() != want {
			t.Errorf("%d: %d", ty, ty.Size())
		}
	}
	m := &Mesh{Attributes: []Attribute{{ID: 7}, {ID: 3, Components: 2}}}
	if m.Attribute(3) == nil || m.Attribute(3).Components != 2 || m.Attribute(1) != nil {
		t.Error("attributes are not found by id")
	}
}

func TestBudget(t *testing.T) {
	r := &reader{budget: 10}
	if b := alloc[bool](r, 2); len(b) != 2 || r.budget != 8 {
		t.Error(r.budget)
	}
	if b := alloc[int32](r, 2); len(b) != 2 || r.budget != 0 || r.err != nil {
		t.Error(r.budget)
	}
	if b := alloc[uint8](r, 1); b != nil || r.err == nil {
		t.Error("the budget is exceeded")
	}
}
