package meshopt

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"strconv"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// vector is one line of testdata/golden.tsv: a stream that the format's
// reference encoder wrote of generated data, and what its decoder made of it.
type vector struct {
	name      string
	layout    Layout
	src, want []byte
}

func golden(t testing.TB) []vector {
	t.Helper()
	data := testfile.Read(t, "testdata/golden.tsv")
	var list []vector
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		mode, ok1 := ParseMode(f[1])
		filter, ok2 := ParseFilter(f[2])
		count, err1 := strconv.Atoi(f[3])
		stride, err2 := strconv.Atoi(f[4])
		src, err3 := hex.DecodeString(f[5])
		want, err4 := hex.DecodeString(f[6])
		if !ok1 || !ok2 || errors.Join(err1, err2, err3, err4) != nil {
			t.Fatalf("bad line %q", line)
		}
		list = append(list, vector{f[0], Layout{mode, filter, count, stride}, src, want})
	}
	return list
}

// apart returns the largest difference between normalized components.
func apart(a, b []byte, stride int) (worst int) {
	size := stride / 4
	for i := 0; i+size <= len(a); i += size {
		d := int(int8(a[i])) - int(int8(b[i]))
		if size == 2 {
			d = int(int16(binary.LittleEndian.Uint16(a[i:]))) - int(int16(binary.LittleEndian.Uint16(b[i:])))
		}
		worst = max(worst, d, -d)
	}
	return worst
}

// TestGolden compares with the reference decoder: exactly, but for the
// filters that are specified to one unit in the last place.
func TestGolden(t *testing.T) {
	sum := crc32.NewIEEE()
	list := golden(t)
	for i, v := range list {
		before := bytes.Clone(v.src)
		got, err := Decode(v.src, v.layout)
		if err != nil {
			t.Errorf("line %d, %s: %v", i+1, v.name, err)
			continue
		}
		sum.Write(got)
		near := 0
		if v.layout.Filter == Octahedral || v.layout.Filter == Quaternion || v.layout.Filter == Color {
			near = 1
		}
		if !bytes.Equal(got, v.want) && (near == 0 || apart(got, v.want, v.layout.Stride) > near) {
			t.Errorf("line %d, %s %+v: got %x, want %x", i+1, v.name, v.layout, got, v.want)
		}
		if !bytes.Equal(before, v.src) {
			t.Errorf("line %d, %s: the stream was changed", i+1, v.name)
		}
	}
	// Our own bits must be the same on every machine.
	if got := sum.Sum32(); got != 0x94F4A3CC {
		t.Errorf("checksum of all outputs 0x%08X changed", got)
	}
	if len(list) < 200 {
		t.Errorf("only %d lines", len(list))
	}
}

// TestSpecification decodes the example of the specification: 16 deltas in
// 4-bit sentinel coding.
func TestSpecification(t *testing.T) {
	packed := []byte{0x17, 0x5F, 0xF0, 0xBC, 0x77, 0xA9, 0x21, 0x00, 0x34, 0xB5}
	src := []byte{0xA0, 2}
	src = append(src, packed...)
	src = append(src, 0, 0, 0) // the other bytes of the element
	src = append(src, make([]byte, 32)...)
	got, err := Decode(src, Layout{Count: 16, Stride: 4})
	if err != nil {
		t.Fatal(err)
	}
	var v int8
	for i, d := range []int8{-1, -4, -3, 26, -91, 0, -6, 6, -4, -4, 5, -5, 1, -1, 0, 0} {
		if v += d; int8(got[4*i]) != v {
			t.Errorf("element %d is %d, want %d", i, int8(got[4*i]), v)
		}
	}
}

// TestPrefixes decodes every beginning of every stream, and every stream
// with a byte appended: none may panic, and what decodes has the size asked
// for.
func TestPrefixes(t *testing.T) {
	failed := 0
	for _, v := range golden(t) {
		for n := range v.src {
			got, err := Decode(v.src[:n:n], v.layout)
			switch {
			case err == nil && len(got) != len(v.want):
				t.Fatalf("%s: %d bytes of %d", v.name, len(got), len(v.want))
			case err != nil && !errors.Is(err, ErrMalformed):
				t.Fatalf("%s: %v", v.name, err)
			case err != nil:
				failed++
			}
		}
		if _, err := Decode(append(bytes.Clone(v.src), 1), v.layout); err == nil && v.layout.Mode != Attributes {
			t.Errorf("%s: a byte too many was accepted", v.name)
		}
	}
	if failed < 1000 {
		t.Errorf("only %d beginnings failed", failed)
	}
}
