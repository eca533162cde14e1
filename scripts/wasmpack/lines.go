package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// errTable is matched by errors about a table of functions that is not as this package
// knows it: that of Go 1.20 to 1.26 for 64-bit words (runtime/symtab.go, _func).
var errTable = errors.New("its table of functions is not known")

// pcHeader is how the table begins: a magic number, two zeros, instructions of 1 byte,
// words of 8.
var pcHeader = []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}

// Offsets of fields of pcHeader, in bytes.
const (
	headerFuncs   = 8
	headerOffsets = 32 // of the names of functions, units, names of files, tables by instruction, functions
	headerSize    = 72
)

// Offsets of fields of _func, in bytes.
const (
	funcPCSP   = 16
	funcPCFile = 20
	funcPCLine = 24
	funcPCData = 28 // how many tables follow
	funcUnit   = 32
	funcID     = 40 // behind the unit and the first line
	funcSize   = 44
)

// stripLines sets to zero what tells files and lines in the memory of a program. A
// function whose offsets are zero has no such tables, as the runtime sees it.
func stripLines(mem []byte) error {
	at := bytes.Index(mem, pcHeader)
	if at < 0 || bytes.Contains(mem[at+1:], pcHeader) {
		return fmt.Errorf("%w: there is none, or several", errTable)
	}
	t, err := openTable(mem[at:])
	if err != nil {
		return err
	}
	keep := make([]bool, len(t.steps))
	err = t.each(func(f []byte, data []uint32) error {
		for _, from := range append(data, binary.LittleEndian.Uint32(f[funcPCSP:])) {
			if err := t.mark(keep, from); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	// Nothing is changed unless all of it was understood.
	_ = t.each(func(f []byte, _ []uint32) error {
		clear(f[funcPCFile:funcPCData])
		clear(f[funcUnit:funcID])
		return nil
	})
	for i := range t.steps {
		if !keep[i] {
			t.steps[i] = 0
		}
	}
	clear(t.files)
	return nil
}

// table is the table of functions of a program.
type table struct {
	files []byte // units and the names of their files
	steps []byte // tables by instruction
	funcs []byte // offsets of the functions, then these, to the end of memory
	n     int    // functions
}

func openTable(mem []byte) (*table, error) {
	if len(mem) < headerSize {
		return nil, fmt.Errorf("%w: it is cut off", errTable)
	}
	n := binary.LittleEndian.Uint64(mem[headerFuncs:])
	var at [5]uint64
	last := uint64(headerSize)
	for i := range at {
		at[i] = binary.LittleEndian.Uint64(mem[headerOffsets+8*i:])
		if at[i] < last || at[i] > uint64(len(mem)) {
			return nil, fmt.Errorf("%w: its part %d is at %d", errTable, i, at[i])
		}
		last = at[i]
	}
	t := &table{files: mem[at[1]:at[3]], steps: mem[at[3]:at[4]], funcs: mem[at[4]:]}
	if n == 0 || n > uint64(len(t.funcs))/8 {
		return nil, fmt.Errorf("%w: it has %d functions", errTable, n)
	}
	t.n = int(n)
	return t, nil
}

// each calls do with every function and the offsets of its tables by instruction.
func (t *table) each(do func(f []byte, data []uint32) error) error {
	var data []uint32
	for i := range t.n {
		at := int(binary.LittleEndian.Uint32(t.funcs[8*i+4:]))
		if at < 8*t.n || at > len(t.funcs)-funcSize {
			return fmt.Errorf("%w: function %d is at %d", errTable, i, at)
		}
		f := t.funcs[at:]
		n := int(binary.LittleEndian.Uint32(f[funcPCData:]))
		if n > 16 || len(f) < funcSize+4*n {
			return fmt.Errorf("%w: function %d has %d tables", errTable, i, n)
		}
		data = data[:0]
		for k := range n {
			data = append(data, binary.LittleEndian.Uint32(f[funcSize+4*k:]))
		}
		if err := do(f[:funcSize], data); err != nil {
			return err
		}
	}
	return nil
}

// mark marks the bytes of a table by instruction: pairs of numbers, to a pair that begins
// with 0 and is not the first.
func (t *table) mark(keep []bool, from uint32) error {
	if from == 0 {
		return nil // there is none
	}
	for at, first := int(from), true; ; first = false {
		if at >= len(t.steps) {
			return fmt.Errorf("%w: a table at %d has no end", errTable, from)
		}
		if t.steps[at] == 0 && !first {
			keep[at] = true
			return nil
		}
		for range 2 {
			_, n := binary.Uvarint(t.steps[min(at, len(t.steps)):])
			if n <= 0 {
				return fmt.Errorf("%w: a table at %d has no end", errTable, from)
			}
			for range n {
				keep[at] = true
				at++
			}
		}
	}
}
