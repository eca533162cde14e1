package basisu

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/untoldkit/untold/internal/fuzzbound"
)

// small is the data of a file with two endpoints and two selectors, and a slice of 2
// x 2 blocks, written by hand.
type small struct {
	Global
	slice []byte
}

// The code lengths of small: symbols of a bit, 0 and 1, or all of 8 bits.
var (
	bitLengths       = []uint8{1, 1}
	predictorLengths = func() []uint8 {
		l := make([]uint8, repeatPredictors+1)
		for i := range l {
			l[i] = 8
		}
		l[0], l[repeatPredictors] = 9, 9
		return l
	}()
	selectorLengths = []uint8{2, 2, 2, 2} // two selectors, a history of one, runs
)

func smallFile() small {
	var s small
	w := &bitWriter{}
	for range 3 {
		w.table([]uint8{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}) // 0 and 16
	}
	w.table(bitLengths)
	w.put(0, 1)         // three channels
	w.put(0b0_0_1_0, 4) // intensity 0; red 0, green 16, blue 16
	w.put(0b0_0_0_1, 4) // intensity 1; the same
	s.Endpoints, s.EndpointCount = w.data, 2

	w = &bitWriter{}
	w.put(0b100, 3) // plain
	w.put(0x00000000, 32)
	w.put(0xffffffff, 32)
	s.Selectors, s.SelectorCount = w.data, 2

	w = &bitWriter{}
	w.table(predictorLengths)
	w.table(bitLengths)
	w.table(selectorLengths)
	w.table(bitLengths)
	w.put(1, 13)
	s.Tables = w.data

	w = &bitWriter{}
	// The first block by a difference, the second from the left, the third from above,
	// the last from above to the left.
	w.code(predictorLengths, 3|0<<2|1<<4|2<<6)
	w.put(1, 1)                                // endpoint 1
	for _, symbol := range []int{0, 1, 2, 1} { // selectors; 2 is the last new one
		w.code(selectorLengths, symbol)
	}
	s.slice = w.data
	return s
}

func TestSmallFile(t *testing.T) {
	s := smallFile()
	c, err := NewCodebooks(s.Global)
	if err != nil {
		t.Fatal(err)
	}
	const w, h = 7, 6
	dst := make([]byte, 4*w*h)
	if err := c.DecodeRGB(dst, s.slice, w, h); err != nil {
		t.Fatal(err)
	}
	// The base colour is 0, 16, 16 of 31; the first selector takes 17 off, the other
	// adds 17.
	dark, light := [4]byte{0, 115, 115, 255}, [4]byte{17, 149, 149, 255}
	for _, tt := range []struct {
		x, y int
		want [4]byte
	}{{0, 0, dark}, {3, 3, dark}, {4, 0, light}, {6, 3, light}, {0, 4, light}, {3, 5, light}, {4, 4, light}, {6, 5, light}} {
		if got := [4]byte(dst[4*(w*tt.y+tt.x):]); got != tt.want {
			t.Errorf("pixel %d, %d is %v, want %v", tt.x, tt.y, got, tt.want)
		}
	}
	if err := c.DecodeAlpha(dst, s.slice, w, h); err != nil {
		t.Fatal(err)
	}
	if got, want := [4]byte(dst[4*4:]), [4]byte{17, 149, 149, 149}; got != want {
		t.Errorf("with alpha %v, want %v", got, want)
	}
}

func TestNewCodebooksRefuses(t *testing.T) {
	for name, edit := range map[string]func(*Global){
		"no endpoints":                 func(g *Global) { g.EndpointCount = 0 },
		"more endpoints than bits":     func(g *Global) { g.EndpointCount = 60000 },
		"more selectors than bits":     func(g *Global) { g.SelectorCount = 60000 },
		"endpoints that are cut off":   func(g *Global) { g.Endpoints = g.Endpoints[:len(g.Endpoints)-1] },
		"selectors that are cut off":   func(g *Global) { g.Selectors = g.Selectors[:len(g.Selectors)-1] },
		"tables that are cut off":      func(g *Global) { g.Tables = g.Tables[:len(g.Tables)-3] },
		"no tables":                    func(g *Global) { g.Tables = make([]byte, 16) },
		"selectors of another file":    func(g *Global) { g.Selectors[0] |= 1 },
		"endpoints without any tables": func(g *Global) { g.Endpoints = make([]byte, 16) },
	} {
		g := smallFile().Global
		edit(&g)
		if _, err := NewCodebooks(g); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSliceRefuses(t *testing.T) {
	slice := func(predictors int, bits ...uint32) []byte {
		w := &bitWriter{}
		w.code(predictorLengths, predictors)
		for _, b := range bits {
			w.put(b, 2)
		}
		return append(w.data, 0, 0, 0, 0)
	}
	c, err := NewCodebooks(smallFile().Global)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"from the left of the first":  slice(0),
		"from above the first":        slice(1),
		"from above left of it":       slice(2),
		"no bytes":                    nil,
		"cut off":                     smallFile().slice[:1],
		"a run longer than the slice": slice(3, 0b110, 0b11, 0b11, 0b11),
	} {
		if err := c.DecodeRGB(make([]byte, 4*64), data, 8, 8); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := c.DecodeRGB(make([]byte, 8), smallFile().slice, 8, 8); err == nil {
		t.Error("a picture of the wrong size was taken")
	}
}

// pack puts a file for the fuzz target into one piece: counts, sizes of the parts,
// then these.
func (s *small) pack() []byte {
	le := binary.LittleEndian
	var b []byte
	for _, n := range [...]int{s.EndpointCount, s.SelectorCount, len(s.Endpoints), len(s.Selectors), len(s.Tables)} {
		b = le.AppendUint16(b, uint16(n))
	}
	for _, part := range [...][]byte{s.Endpoints, s.Selectors, s.Tables, s.slice} {
		b = append(b, part...)
	}
	return b
}

func unpack(b []byte) (s small) {
	le := binary.LittleEndian
	if len(b) < 10 {
		return s
	}
	s.EndpointCount, s.SelectorCount = int(le.Uint16(b)), int(le.Uint16(b[2:]))
	rest := b[10:]
	for i, part := range [...]*[]byte{&s.Endpoints, &s.Selectors, &s.Tables} {
		n := min(int(le.Uint16(b[4+2*i:])), len(rest))
		*part, rest = rest[:n], rest[n:]
	}
	s.slice = rest
	return s
}

// FuzzETC1S: any codebooks and slices give pixels or an error that matches
// ErrDamaged, in memory that the bytes and the tables bound.
func FuzzETC1S(f *testing.F) {
	s := smallFile()
	f.Add(s.pack(), uint8(6), uint8(5))
	f.Fuzz(func(t *testing.T, data []byte, width, height uint8) {
		w, h := int(width%64)+1, int(height%64)+1
		dst := make([]byte, 4*w*h)
		const tables = 9 * 300 << 10 // of codes of all lengths
		fuzzbound.Run(t, len(data), fuzzbound.Limits{Alloc: tables, PerByte: 200}, func() {
			s := unpack(data)
			c, err := NewCodebooks(s.Global)
			if err == nil {
				err = c.DecodeRGB(dst, s.slice, w, h)
			}
			if err == nil {
				err = c.DecodeAlpha(dst, s.slice, w, h)
			}
			if err != nil && !errors.Is(err, ErrDamaged) {
				t.Errorf("untyped error: %v", err)
			}
		})
	})
}
