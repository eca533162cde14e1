package meshopt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestEncodeVertices turns elements into a stream and back.
func TestEncodeVertices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		version := rapid.IntRange(0, 1).Draw(t, "version")
		l := Layout{
			Stride: 4 * rapid.SampledFrom([]int{1, 2, 3, 5, 16, 33, 64}).Draw(t, "stride/4"),
			Count:  rapid.IntRange(0, 600).Draw(t, "count"),
		}
		data := make([]byte, l.Count*l.Stride)
		seed := rapid.SliceOfN(rapid.Byte(), 1, 64).Draw(t, "pattern")
		step := rapid.IntRange(0, 40).Draw(t, "step")
		for i := range data {
			data[i] = seed[i%len(seed)]&byte(i) + byte(i/l.Stride*step)
		}
		src, err := Encode(nil, data, l, version)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Decode(src, l); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%v, or other bytes", err)
		}
	})
}

// canonical turns every triangle so that it is least; which corner comes first says nothing.
func canonical(list []uint32) []uint32 {
	out := slices.Clone(list)
	for i := 0; i < len(out); i += 3 {
		t := out[i : i+3]
		a, b, c := [3]uint32{t[0], t[1], t[2]}, [3]uint32{t[1], t[2], t[0]}, [3]uint32{t[2], t[0], t[1]}
		for _, turned := range [][3]uint32{a, b, c} {
			if slices.Compare(turned[:], t) < 0 {
				copy(t, turned[:])
			}
		}
	}
	return out
}

func indexList(b []byte, stride int) (out []uint32) {
	for i := 0; i < len(b); i += stride {
		if stride == 2 {
			out = append(out, uint32(binary.LittleEndian.Uint16(b[i:])))
		} else {
			out = append(out, binary.LittleEndian.Uint32(b[i:]))
		}
	}
	return out
}

// sheet is a grid of n by n squares, along its rows, with its vertices in the order in
// which they are used.
func sheet(n int) (list []uint32) {
	names := map[int]uint32{}
	vertex := func(x, y int) uint32 {
		k, ok := names[y*(n+1)+x]
		if !ok {
			k = uint32(len(names))
			names[y*(n+1)+x] = k
		}
		return k
	}
	for y := range n {
		for x := range n {
			list = append(list, vertex(x, y), vertex(x+1, y), vertex(x, y+1))
			list = append(list, vertex(x+1, y), vertex(x+1, y+1), vertex(x, y+1))
		}
	}
	return list
}

// TestEncodeTriangles does so for indices of all sorts.
func TestEncodeTriangles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		version, stride := rapid.IntRange(0, 1).Draw(t, "version"), rapid.SampledFrom([]int{2, 4}).Draw(t, "stride")
		top := rapid.SampledFrom([]uint32{2, 9, 40, 65535, math.MaxUint32}).Draw(t, "top")
		list := rapid.SliceOfN(rapid.Uint32Range(0, top), 0, 200).Draw(t, "indices")
		if rapid.Bool().Draw(t, "surface") {
			list = append(sheet(rapid.IntRange(1, 30).Draw(t, "squares")), list[:len(list)/3*3]...)
		}
		if rapid.Bool().Draw(t, "another surface") {
			list = append(list[:len(list)/3*3], sheet(rapid.IntRange(1, 9).Draw(t, "squares"))...)
		}
		if stride == 2 {
			for i := range list {
				list[i] &= 0xFFFF
			}
		}
		list = list[:len(list)/3*3]
		l := Layout{Mode: Triangles, Count: len(list), Stride: stride}
		src, err := Encode(nil, indexBytes(list, stride), l, version)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(src, l)
		if err != nil {
			t.Fatal(err)
		}
		if want := canonical(list); !slices.Equal(canonical(indexList(got, stride)), want) {
			t.Fatalf("got %v, want %v", canonical(indexList(got, stride)), want)
		}
	})
}

// TestEncodeSizes holds the streams of a surface to what such codecs are for.
func TestEncodeSizes(t *testing.T) {
	list := sheet(100)
	l := Layout{Mode: Triangles, Count: len(list), Stride: 4}
	src, err := Encode(nil, indexBytes(list, 4), l, 1)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(list) / 3; len(src) > n*5/4 {
		t.Errorf("%d bytes for %d triangles", len(src), n)
	}
	// Several meshes take no more, because the numbers of each begin anew.
	many := Layout{Mode: Triangles, Count: 3 * len(list), Stride: 4}
	all, err := Encode(nil, indexBytes(slices.Concat(list, list, list), 4), many, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) > 3*len(src) {
		t.Errorf("%d bytes for three times %d", len(all), len(src))
	}
	var data []byte
	for i := range 101 * 101 {
		x, y := i%101, i/101
		data = binary.LittleEndian.AppendUint16(data, uint16(650*x))
		data = binary.LittleEndian.AppendUint16(data, uint16(30*x+x*y%50))
		data = binary.LittleEndian.AppendUint16(data, uint16(650*y))
		data = binary.LittleEndian.AppendUint16(data, 0)
	}
	l = Layout{Count: len(data) / 8, Stride: 8}
	var sizes [2]int
	for version := range sizes {
		src, err := Encode(nil, data, l, version)
		if err != nil {
			t.Fatal(err)
		}
		sizes[version] = len(src)
	}
	if sizes[0] > len(data)*45/100 || sizes[1] > sizes[0] {
		t.Errorf("%d bytes become %v by versions 0 and 1", len(data), sizes)
	}
}

func TestEncodeRefuses(t *testing.T) {
	for _, tt := range []struct {
		l       Layout
		size    int
		version int
	}{
		{Layout{Attributes, NoFilter, 1, 6}, 6, 0},
		{Layout{Attributes, NoFilter, 2, 4}, 7, 0},
		{Layout{Attributes, NoFilter, 2, 4}, 12, 0},
		{Layout{Attributes, NoFilter, 2, 4}, 8, 2},
		{Layout{Indices, NoFilter, 2, 4}, 8, 1},
		{Layout{Triangles, NoFilter, 4, 4}, 16, 1},
	} {
		if _, err := Encode(nil, make([]byte, tt.size), tt.l, tt.version); !errors.Is(err, ErrLayout) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

// TestPutOctahedral holds directions to the angle that bytes can keep.
func TestPutOctahedral(t *testing.T) {
	worst := 1.0
	rapid.Check(t, func(t *rapid.T) {
		var v [3]float32
		length := 0.0
		for i := range v {
			v[i] = float32(rapid.Float64Range(-1, 1).Draw(t, "v"))
			length += float64(v[i]) * float64(v[i])
		}
		length = math.Sqrt(length)
		var b [4]byte
		PutOctahedral(b[:], v, -127)
		Octahedral.apply(b[:], 4)
		if int8(b[3]) != -127 {
			t.Fatalf("the fourth is %d", int8(b[3]))
		}
		if length < 1e-3 {
			return
		}
		dot, n := 0.0, 0.0
		for i := range v {
			dot += float64(v[i]) * float64(int8(b[i]))
			n += float64(int8(b[i])) * float64(int8(b[i]))
		}
		cos := dot / length / math.Sqrt(n)
		if cos < 0.99985 { // 1 degree
			t.Fatalf("%v became %v: cosine %v", v, [3]int8{int8(b[0]), int8(b[1]), int8(b[2])}, cos)
		}
		worst = min(worst, cos)
	})
	t.Logf("at most %.3f degrees", math.Acos(worst)*180/math.Pi)
	for _, v := range [][3]float32{{}, {float32(math.Inf(1)), 0, 0}, {float32(math.NaN()), 1, 0}} {
		var b [4]byte
		PutOctahedral(b[:], v, 0)
		if b != [4]byte{0, 0, 127, 0} {
			t.Errorf("%v became %v", v, b)
		}
	}
}

func TestPutExponential(t *testing.T) {
	for _, tt := range []struct {
		mantissa int32
		exponent int8
		want     float32
	}{{0, 0, 0}, {3, -2, 0.75}, {-5, -10, -5.0 / 1024}, {MaxMantissa, 3, MaxMantissa * 8}, {MinMantissa, -23, -1}} {
		var b [4]byte
		PutExponential(b[:], tt.mantissa, tt.exponent)
		Exponential.apply(b[:], 4)
		if got := math.Float32frombits(binary.LittleEndian.Uint32(b[:])); got != tt.want {
			t.Errorf("%d * 2^%d became %v", tt.mantissa, tt.exponent, got)
		}
	}
}

// FuzzEncode encodes anything and decodes it again.
func FuzzEncode(f *testing.F) {
	f.Add([]byte("0123456789ab0123456789AB"), uint8(1), true)
	f.Add(indexBytes(sheet(4), 4), uint8(0), false)
	f.Fuzz(func(t *testing.T, data []byte, stride uint8, v1 bool) {
		version := 0
		if v1 {
			version = 1
		}
		l := Layout{Stride: 4 * (1 + int(stride)%64)}
		l.Count = len(data) / l.Stride
		src, err := Encode(nil, data[:l.Count*l.Stride], l, version)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Decode(src, l); err != nil || !bytes.Equal(got, data[:l.Count*l.Stride]) {
			t.Fatalf("attributes: %v, or other bytes", err)
		}
		l = Layout{Mode: Triangles, Count: len(data) / 12 * 3, Stride: 4}
		if src, err = Encode(nil, data[:4*l.Count], l, version); err != nil {
			t.Fatal(err)
		}
		got, err := Decode(src, l)
		if err != nil || !slices.Equal(canonical(indexList(got, 4)), canonical(indexList(data[:4*l.Count], 4))) {
			t.Fatalf("triangles: %v, or others", err)
		}
	})
}
