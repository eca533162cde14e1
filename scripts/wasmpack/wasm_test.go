package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// module is a module of one section of data with the given segments, and a section before
// and after it.
func module(list map[int][]byte, order ...int) []byte {
	body := binary.AppendUvarint(nil, uint64(len(order)))
	for _, at := range order {
		body = append(appendInt(append(body, 0, 0x41), at), 0x0b)
		body = append(binary.AppendUvarint(body, uint64(len(list[at]))), list[at]...)
	}
	out := append([]byte(header), 1, 2, 7, 7, sectionData)
	out = append(binary.AppendUvarint(out, uint64(len(body))), body...)
	return append(out, 0, 1, 0)
}

// data returns the memory that a module fills, and the number of its segments.
func data(t interface{ Fatal(...any) }, m []byte) (memory, int) {
	for r := (reader{b: m, at: len(header)}); r.at < len(m); {
		id, body := r.byte(), r.take(r.uint())
		if r.err != nil {
			t.Fatal(r.err)
		}
		if id == sectionData {
			mem, err := readSegments(body)
			if err != nil {
				t.Fatal(err)
			}
			n, _ := binary.Uvarint(body)
			return mem, int(n)
		}
	}
	t.Fatal("no data")
	return memory{}, 0
}

// TestPackKeepsMemory: whatever segments there are, those of the result fill the same.
func TestPackKeepsMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, order := map[int][]byte{}, []int{}
		at := rapid.IntRange(0, 1<<20).Draw(t, "base")
		for range rapid.IntRange(1, 20).Draw(t, "segments") {
			b := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 0, 0, 1, 255}), 1, 50).Draw(t, "bytes")
			list[at], order = b, append(order, at)
			at += len(b) + rapid.SampledFrom([]int{0, 8, 63, 64, 300}).Draw(t, "gap")
		}
		in := module(list, rapid.Permutation(order).Draw(t, "order")...)
		out, err := pack(in)
		if !errors.Is(err, errTable) {
			t.Fatal(err)
		}
		want, before := data(t, in)
		if bytes.Count(want.bytes, []byte{0}) == len(want.bytes) {
			return // nothing to fill
		}
		got, after := data(t, out)
		skip := got.base - want.base
		if skip < 0 || after > before {
			t.Fatalf("%d segments from %d became %d from %d", before, want.base, after, got.base)
		}
		if !bytes.Equal(want.bytes[skip:skip+len(got.bytes)], got.bytes) || len(bytes.Trim(want.bytes, "\x00")) != len(got.bytes) {
			t.Fatalf("%v became %v", want, got)
		}
		if !bytes.HasSuffix(out, []byte{0, 1, 0}) || !bytes.HasPrefix(out, in[:len(header)+4]) {
			t.Fatal("other sections have changed")
		}
	})
}

// program is memory with a table of two functions, which share a table by instruction.
func program() []byte {
	var mem []byte
	put := func(n ...uint32) {
		for _, v := range n {
			mem = binary.LittleEndian.AppendUint32(mem, v)
		}
	}
	word := func(v uint64) { mem = binary.LittleEndian.AppendUint64(mem, v) }
	mem = append(mem, pcHeader...)
	word(2)                                // functions
	word(1)                                // files
	word(0)                                // no longer used
	names := uint64(headerSize)            // "f", "g"
	units, files := names+4, names+8       // a number; "x.go"
	steps, funcs := files+8, names+8+8+4*4 // 16 bytes of tables
	for _, at := range []uint64{names, units, files, steps, funcs} {
		word(at)
	}
	mem = append(mem, "f\x00g\x00"...)
	put(9)
	mem = append(mem, "x.go\x00\x00\x00\x00"...)
	// Of the stack at 1, of files at 6, of lines at 9, of the data at 12.
	mem = append(mem, 0, 0, 4, 6, 2, 0, 5, 6, 0, 7, 8, 0, 8, 9, 0, 0)
	put(0, 24, 1, 24+funcSize+4, 2, 0) // offsets, and the end
	put(0, 0, 0, 0, 1, 6, 9, 1, 3, 77, 0, 12)
	put(1, 2, 0, 0, 1, 6, 9, 0, 3, 78, 0)
	return mem
}

func TestStripLines(t *testing.T) {
	mem := program()
	if err := stripLines(mem); err != nil {
		t.Fatal(err)
	}
	table, err := openTable(mem)
	if err != nil {
		t.Fatal(err)
	}
	// A table may begin with a pair of which the first number is 0.
	if want := []byte{0, 0, 4, 6, 2, 0, 0, 0, 0, 0, 0, 0, 8, 9, 0, 0}; !bytes.Equal(table.steps, want) {
		t.Errorf("tables %v, want %v", table.steps, want)
	}
	if !bytes.Equal(table.files, make([]byte, 12)) {
		t.Errorf("files %q", table.files)
	}
	if names := mem[headerSize : headerSize+4]; string(names) != "f\x00g\x00" {
		t.Errorf("names %q", names)
	}
	err = table.each(func(f []byte, data []uint32) error {
		u := func(at int) uint32 { return binary.LittleEndian.Uint32(f[at:]) }
		if u(funcPCSP) != 1 || u(funcPCFile) != 0 || u(funcPCLine) != 0 || u(funcUnit) != 0 || len(data) > 0 && data[0] != 12 {
			t.Errorf("%v, %v", f, data)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestDamagedTables: a table that is not understood is left as it is.
func TestDamagedTables(t *testing.T) {
	whole := program()
	for name, change := range map[string]func([]byte) []byte{
		"none":              func(m []byte) []byte { return m[1:] },
		"two":               func(m []byte) []byte { return append(m, pcHeader...) },
		"no header":         func(m []byte) []byte { return m[:headerSize-1] },
		"no functions":      func(m []byte) []byte { m[headerFuncs] = 0; return m },
		"many functions":    func(m []byte) []byte { m[headerFuncs+5] = 1; return m },
		"parts in disorder": func(m []byte) []byte { m[headerOffsets] = 200; return m },
		"a part outside":    func(m []byte) []byte { m[headerOffsets+8*4+3] = 1; return m },
		"function outside":  func(m []byte) []byte { m[len(m)-funcSize-(funcSize+4)-20+3] = 9; return m },
		"many tables":       func(m []byte) []byte { m[len(m)-funcSize+funcPCData] = 17; return m },
		"table outside":     func(m []byte) []byte { m[len(m)-funcSize+funcPCSP] = 200; return m },
		"table without end": func(m []byte) []byte {
			m[len(m)-funcSize+funcPCSP] = 12
			m[headerSize+16+14] = 1
			m[headerSize+16+15] = 1
			return m
		},
	} {
		mem := change(bytes.Clone(whole))
		before := bytes.Clone(mem)
		if err := stripLines(mem); !errors.Is(err, errTable) {
			t.Errorf("%s: %v", name, err)
		}
		if !bytes.Equal(mem, before) {
			t.Errorf("%s: it was changed", name)
		}
	}
}

func TestPackRefuses(t *testing.T) {
	whole := module(map[int][]byte{5: {1, 2}, 9: {3}}, 5, 9)
	for name, in := range map[string][]byte{
		"nothing":       nil,
		"text":          []byte("<!DOCTYPE html>"),
		"no data":       whole[:len(header)+4],
		"with a count":  append(append(bytes.Clone(whole), sectionDataCount), 1, 2),
		"cut off":       whole[:len(whole)-5],
		"no memory 0":   bytes.Replace(whole, []byte{0, 0x41, 5}, []byte{1, 0x41, 5}, 1),
		"far away":      module(map[int][]byte{1 << 30: {1}}, 1<<30),
		"below zero":    module(map[int][]byte{-1: {1}}, -1),
		"no segments":   module(nil),
		"fewer counted": bytes.Replace(whole, []byte{2, 0, 0x41, 5}, []byte{1, 0, 0x41, 5}, 1),
	} {
		if out, err := pack(in); !errors.Is(err, errModule) || out != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzPack(f *testing.F) {
	f.Add(module(map[int][]byte{5: {1, 2}, 200: {3}}, 200, 5))
	f.Add(module(map[int][]byte{5: program()}, 5))
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 1<<16 {
			return
		}
		out, err := pack(in)
		if err != nil && !errors.Is(err, errTable) {
			return
		}
		if again, err := pack(out); err == nil && !bytes.Equal(again, out) {
			t.Error("a second time it changes again")
		}
	})
}
