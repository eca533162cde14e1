package draco

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/race"
)

// check decodes anything; it must not panic, must stay within the limits and
// must fail in a known way.
func check(t testing.TB, src []byte, l Limits) {
	t.Helper()
	m, err := Decode(src, l)
	if err != nil {
		if !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrUnsupported) && !errors.Is(err, ErrTooLarge) {
			t.Fatalf("error of no kind: %v", err)
		}
		return
	}
	checkMesh(t, m)
	if len(m.Indices) > 3*l.Faces || m.Points > l.Points {
		t.Fatalf("%d indices and %d points exceed %+v", len(m.Indices), m.Points, l)
	}
	if again, err := Decode(src, l); err != nil || !cmp.Equal(m, again) {
		t.Fatalf("decodes differently the second time: %v", err)
	}
}

// TestTruncated decodes prefixes: none is a mesh.
func TestTruncated(t *testing.T) {
	for _, v := range golden(t) {
		step := max(1, len(v.src)/100)
		for n := 0; n < len(v.src); n += step {
			if _, err := Decode(v.src[:n:n], wide); !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrTooLarge) {
				t.Fatalf("%s: prefix of %d bytes: %v", v.name, n, err)
			}
		}
	}
}

// TestBytes replaces every byte of small streams by telling values.
func TestBytes(t *testing.T) {
	for _, v := range golden(t) {
		if len(v.src) > 250 {
			continue
		}
		src := append([]byte(nil), v.src...)
		for i, b := range v.src {
			if i%4 > 0 && race.Enabled {
				continue // make test replaces all without the detector
			}
			for _, x := range []byte{0, 0xFF, b + 1, b ^ 0x90} {
				src[i] = x
				check(t, src, Limits{Faces: 2000, Points: 2000})
			}
			src[i] = b
		}
	}
}

// TestDamaged overwrites several bytes of any stream.
func TestDamaged(t *testing.T) {
	list := golden(t)
	rapid.Check(t, func(rt *rapid.T) {
		v := list[rapid.IntRange(0, len(list)-1).Draw(rt, "stream")]
		src := append([]byte(nil), v.src...)
		for range rapid.IntRange(1, 6).Draw(rt, "bytes") {
			src[rapid.IntRange(0, len(src)-1).Draw(rt, "at")] = rapid.Byte().Draw(rt, "value")
		}
		check(t, src, Limits{Faces: v.faces, Points: v.points})
	})
}

func TestLimits(t *testing.T) {
	for _, v := range golden(t) {
		for _, l := range []Limits{
			{Faces: v.faces - 1, Points: v.points},
			{Faces: v.faces, Points: v.points - 1},
			{},
			{Faces: -1, Points: -1},
			{Faces: v.faces},
			{Faces: v.faces, Points: v.points, Bytes: 10},
		} {
			if _, err := Decode(v.src, l); !errors.Is(err, ErrTooLarge) {
				t.Errorf("%s: %+v: %v", v.name, l, err)
			}
		}
	}
}

func TestHeaderFaults(t *testing.T) {
	good := load(t, "one_m1_s5_pnt")
	for _, tt := range []struct {
		name string
		at   int
		to   byte
		want error
	}{
		{"magic", 0, 'X', ErrMalformed},
		{"major", 5, 1, ErrUnsupported},
		{"minor", 6, 1, ErrUnsupported},
		{"point cloud", 7, 0, ErrUnsupported},
		{"method", 8, 2, ErrUnsupported},
		{"predictive traversal", 11, 1, ErrUnsupported},
		{"traversal", 11, 9, ErrUnsupported},
	} {
		src := append([]byte(nil), good...)
		src[tt.at] = tt.to
		if _, err := Decode(src, wide); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if _, err := Decode(nil, wide); !errors.Is(err, ErrMalformed) {
		t.Errorf("no bytes: %v", err)
	}
}

// TestEndlessSymbols has a coder that yields symbols without reading bytes:
// one symbol has all the probability.
func TestEndlessSymbols(t *testing.T) {
	head := []byte("DRACO\x02\x02\x01\x00\x00\x00")
	faces := []byte{0xFF, 0xFF, 0xFF, 0x0F} // 2^25-1
	points := []byte{1}
	symbols := []byte{0, 1, 1, 1, 0x01, 0x40, 1, 0} // compressed, raw, 1 bit, one symbol of 4096
	src := append(append(append(append(head, faces...), points...), symbols...), 0)
	if _, err := Decode(src, Limits{Faces: 1000, Points: 1000}); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	src[11], src[12], src[13], src[14] = 0x80|100, 0x80, 0x80, 0 // 100 faces
	m, err := Decode(src, Limits{Faces: 1000, Points: 1000})
	if err != nil || len(m.Indices) != 300 || m.Indices[299] != 0 {
		t.Errorf("%v %v", m, err)
	}
}

// TestMetadataBomb nests metadata deeply.
func TestMetadataBomb(t *testing.T) {
	src := []byte("DRACO\x02\x02\x01\x01\x00\x80\x00")
	for range 100000 {
		src = append(src, 0, 1, 0) // no entries, one child without a name
	}
	if _, err := Decode(src, wide); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, v := range golden(f) {
		if len(v.src) < 1500 {
			f.Add(v.src)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) { check(t, src, Limits{Faces: 3000, Points: 3000}) })
}

func BenchmarkDecode(b *testing.B) {
	for _, name := range []string{"grid_m1_s0_all", "holes_m1_s0_pnt", "multi_m1_s5_pnt", "grid_m0_s5_pnt"} {
		src := load(b, name)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Decode(src, wide); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
