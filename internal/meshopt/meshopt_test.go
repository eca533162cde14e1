package meshopt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestVerticesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		version := rapid.IntRange(0, 1).Draw(t, "version")
		stride := 4 * rapid.SampledFrom([]int{1, 2, 3, 5, 16, 33, 64}).Draw(t, "stride/4")
		count := rapid.IntRange(0, 300).Draw(t, "count")
		seed := rapid.SliceOfN(rapid.Byte(), 1, 64).Draw(t, "pattern")
		step := rapid.IntRange(0, 3).Draw(t, "step")
		data := make([]byte, count*stride)
		for i := range data {
			data[i] = seed[i%len(seed)] + byte(i/stride*step)
		}
		src := encodeVertices(t, data, stride, version)
		got, err := Decode(src, Layout{Count: count, Stride: stride})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, data) {
			t.Fatalf("differs: %s", cmp.Diff(data, got))
		}
		if _, err := Decode(append(src, 0), Layout{Count: count, Stride: stride}); err == nil && version == 0 && stride >= 32 && count > 0 && src[len(src)-stride] != 0 {
			t.Fatal("a byte too many was accepted")
		}
	})
}

func indexBytes(list []uint32, stride int) (out []byte) {
	for _, v := range list {
		if stride == 2 {
			out = binary.LittleEndian.AppendUint16(out, uint16(v))
		} else {
			out = binary.LittleEndian.AppendUint32(out, v)
		}
	}
	return out
}

func TestIndicesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stride := rapid.SampledFrom([]int{2, 4}).Draw(t, "stride")
		list := rapid.SliceOfN(rapid.Uint32Range(0, 1<<29), 0, 60).Draw(t, "indices")
		list = list[:len(list)/3*3]
		version := rapid.IntRange(0, 1).Draw(t, "version")
		want := indexBytes(list, stride)
		got, err := Decode(encodeTriangles(t, list, version), Layout{Mode: Triangles, Count: len(list), Stride: stride})
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("triangles: %v %x, want %x", err, got, want)
		}
		got, err = Decode(encodeSequence(t, list), Layout{Mode: Indices, Count: len(list), Stride: stride})
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("sequence: %v %x, want %x", err, got, want)
		}
	})
}

func TestLayout(t *testing.T) {
	for _, tt := range []struct {
		l    Layout
		want string // empty for a valid one
	}{
		{Layout{Attributes, NoFilter, 1, 4}, ""},
		{Layout{Attributes, NoFilter, 0, 256}, ""},
		{Layout{Attributes, NoFilter, 1, 6}, "multiple of 4"},
		{Layout{Attributes, NoFilter, 1, 0}, "multiple of 4"},
		{Layout{Attributes, NoFilter, 1, 260}, "4 to 256"},
		{Layout{Attributes, NoFilter, -1, 4}, "-1 elements"},
		{Layout{Attributes, Octahedral, 1, 4}, ""},
		{Layout{Attributes, Octahedral, 1, 8}, ""},
		{Layout{Attributes, Octahedral, 1, 12}, "must be 4 or 8"},
		{Layout{Attributes, Color, 1, 16}, "must be 4 or 8"},
		{Layout{Attributes, Quaternion, 1, 4}, "must be 8"},
		{Layout{Attributes, Exponential, 1, 12}, ""},
		{Layout{Attributes, 9, 1, 4}, "unknown filter 9"},
		{Layout{7, NoFilter, 1, 4}, "unknown mode 7"},
		{Layout{Triangles, NoFilter, 3, 2}, ""},
		{Layout{Triangles, NoFilter, 4, 2}, "no whole triangles"},
		{Layout{Triangles, NoFilter, 3, 1}, "must be 2 or 4"},
		{Layout{Indices, NoFilter, 5, 4}, ""},
		{Layout{Indices, NoFilter, 5, 8}, "must be 2 or 4"},
		{Layout{Indices, Color, 5, 4}, "only ATTRIBUTES"},
	} {
		err := tt.l.Check()
		if (err == nil) != (tt.want == "") || err != nil && (!errors.Is(err, ErrLayout) || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%+v: %v, want %q", tt.l, err, tt.want)
		}
		if _, sizeErr := tt.l.Size(make([]byte, 1000)); err != nil && !errors.Is(sizeErr, ErrLayout) {
			t.Errorf("%+v: Size says %v", tt.l, sizeErr)
		}
	}
}

// TestSizeIsBacked verifies that a short stream cannot ask for much memory.
func TestSizeIsBacked(t *testing.T) {
	for _, first := range []byte{0xA0, 0xA1, 0xE0, 0xE1, 0xD0, 0xD1} {
		mode := map[byte]Mode{0xA0: Attributes, 0xE0: Triangles, 0xD0: Indices}[first&0xF0]
		for _, size := range []int{1, 20, 100, 4096} {
			src := make([]byte, size)
			src[0] = first
			for _, stride := range []int{2, 4, 8, 128, 256} {
				for count := 3; count > 0 && count < math.MaxInt/2; count *= 3 {
					l := Layout{Mode: mode, Count: count, Stride: stride}
					if n, err := l.Size(src); err == nil && n > 1024*size {
						t.Fatalf("%+v: %d bytes from %d", l, n, size)
					}
				}
				l := Layout{Mode: mode, Count: math.MaxInt / 3 * 3, Stride: stride}
				if n, err := l.Size(src); err == nil {
					t.Fatalf("%+v: %d bytes from %d", l, n, size)
				}
			}
		}
	}
}

// TestLargestRatio decodes the most that a stream can hold, so that the
// bound of Size is neither too strict nor too lax.
func TestLargestRatio(t *testing.T) {
	const count, stride = 256 * 100, 32
	src := []byte{0xA1}
	for range 100 {
		src = append(src, bytes.Repeat([]byte{0xAA}, stride/4)...)
	}
	src = append(src, make([]byte, vertexTail(stride, 1))...)
	got, err := Decode(src, Layout{Count: count, Stride: stride})
	if err != nil || len(got) != count*stride {
		t.Fatal(err, len(got))
	}
	if _, err := Decode(src, Layout{Count: count + 1, Stride: stride}); !errors.Is(err, ErrMalformed) {
		t.Errorf("an element too many: %v", err)
	}
}

// stream builds a stream of mode 1 with an empty table.
func stream(codes, data []byte) []byte {
	out := append([]byte{0xE1}, codes...)
	return append(append(out, data...), make([]byte, triangleTail)...)
}

func TestFaults(t *testing.T) {
	table := func(i int, v byte) []byte {
		s := stream([]byte{0xF0}, nil)
		s[len(s)-triangleTail+i] = v
		return s
	}
	mode := func(m byte) []byte {
		s := make([]byte, 1+1+vertexTail(4, 1))
		s[0], s[1], s[len(s)-1] = 0xA1, 0xAA, m
		return s
	}
	tri, seq, att := Layout{Triangles, NoFilter, 3, 4}, Layout{Indices, NoFilter, 1, 4}, Layout{Attributes, NoFilter, 16, 4}
	for _, tt := range []struct {
		name string
		l    Layout
		src  []byte
		want string
	}{
		{"empty", att, nil, "it is empty"},
		{"other mode", att, stream([]byte{0xF0}, nil), "it starts with 0xE1, mode ATTRIBUTES with 0xA0"},
		{"version 2", tri, append([]byte{0xE2}, make([]byte, 40)...), "it starts with 0xE2"},
		{"too short", tri, []byte{0xE1, 0xF0}, "take at least 18"},
		{"edge before the first", tri, stream([]byte{0x00}, nil), "an edge before the first"},
		{"vertex before the first", tri, table(0, 0x10), "a vertex before the first"},
		{"table with 15", tri, table(3, 0x0F), "the table of codes holds 0x0F"},
		{"table's end", tri, table(15, 0x01), "the table of codes holds 0x01"},
		{"cut codes", tri, stream([]byte{0xFF}, nil), "codes of a triangle are cut off"},
		{"cut index", tri, stream([]byte{0xFF}, []byte{0xFF, 1, 2}), "an index is cut off"},
		{"long index", tri, stream([]byte{0xFF}, []byte{0xFF, 0x80, 0x80, 0x80, 0x80, 0x80, 0}), "too long"},
		{"left over", tri, stream([]byte{0xF0}, []byte{1}), "1 bytes are left over"},
		{"sequence cut", seq, []byte{0xD1, 0x80, 0, 0, 0, 0}, "an index is cut off"},
		{"sequence left over", seq, []byte{0xD1, 4, 4, 0, 0, 0, 0}, "1 bytes are left over"},
		{"channel mode 3", att, mode(3), "channel mode 0x03"},
		{"rotated bytes", att, mode(0x10), "channel mode 0x10"},
		{"cut header", att, append([]byte{0xA1, 0}, make([]byte, 24)...), "header of a data block is cut off"},
		{"cut literals", att, append([]byte{0xA1, 3}, make([]byte, 30)...), "16 literal bytes are cut off"},
		{"cut group", att, append([]byte{0xA1, 0, 3}, make([]byte, 24)...), "a group of deltas is cut off"},
		{"cut control", Layout{Attributes, NoFilter, 272, 4}, append(append([]byte{0xA1, 0}, make([]byte, 15)...), make([]byte, 25)...), "control bytes of a block are cut off"},
	} {
		_, err := Decode(tt.src, tt.l)
		if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestExponential compares with the formula for every exponent.
func TestExponential(t *testing.T) {
	for e := -128; e < 128; e++ {
		for _, m := range []int32{0, 1, -1, 3, 1<<23 - 1, -1 << 23} {
			data := binary.LittleEndian.AppendUint32(nil, uint32(int32(e))<<24|uint32(m)&0xFFFFFF)
			Exponential.apply(data, 4)
			got := math.Float32frombits(binary.LittleEndian.Uint32(data))
			if want := float32(math.Ldexp(float64(m), e)); got != want {
				t.Errorf("%d * 2^%d = %v, want %v", m, e, got, want)
			}
		}
	}
}

// A colour that is far too large for its alpha's bits is the largest, and not what a
// processor makes of a float that fits no integer.
func TestColorsAreBounded(t *testing.T) {
	data := binary.LittleEndian.AppendUint16(nil, 65535) // y, co, cg, and an alpha without bits
	for _, v := range []int16{32767, -32768, 1} {
		data = binary.LittleEndian.AppendUint16(data, uint16(v))
	}
	color16(data)
	var got [4]uint16
	for i := range got {
		got[i] = binary.LittleEndian.Uint16(data[2*i:])
	}
	if want := [4]uint16{65535, 65535, 65535, 0}; got != want {
		t.Errorf("got %d, want %d", got, want)
	}
}

// TestFiltersOfAnyBytes verifies that results that nobody specified are at
// least within range, and unit vectors of unit length.
func TestFiltersOfAnyBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "data")
		filter := rapid.SampledFrom([]Filter{Octahedral, Quaternion, Exponential, Color}).Draw(t, "filter")
		stride := 8
		if filter != Quaternion {
			stride = rapid.SampledFrom([]int{4, 8}).Draw(t, "stride")
		}
		out := bytes.Clone(data)
		filter.apply(out, stride)
		if filter != Octahedral {
			return
		}
		var v [3]float64
		for i := range v {
			if v[i] = float64(int8(out[i])) / 127; stride == 8 {
				v[i] = float64(get16(out[2*i:])) / 32767
			}
		}
		length := math.Sqrt(v[0]*v[0] + v[1]*v[1] + v[2]*v[2])
		if length != 0 && math.Abs(length-1) > 0.02 {
			t.Fatalf("length %v of %v", length, v)
		}
	})
}

func TestNames(t *testing.T) {
	for m := range Mode(3) {
		if got, ok := ParseMode(m.String()); !ok || got != m {
			t.Errorf("%v", m)
		}
	}
	for f := range Filter(5) {
		if got, ok := ParseFilter(f.String()); !ok || got != f {
			t.Errorf("%v", f)
		}
	}
	if _, ok := ParseMode("attributes"); ok {
		t.Error("names are in capitals")
	}
}

func ExampleDecode() {
	// Two triangles that share an edge.
	src := append([]byte{0xE1, 0xF0, 0x10}, make([]byte, 16)...)
	out, err := Decode(src, Layout{Mode: Triangles, Count: 6, Stride: 2})
	fmt.Println(out, err)
	// Output: [0 0 1 0 2 0 2 0 1 0 3 0] <nil>
}
