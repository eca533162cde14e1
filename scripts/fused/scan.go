package main

import (
	"debug/gosym"
	"debug/macho"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// finding is a place in a program.
type finding struct {
	function string // as the linker calls it
	file     string
	line     int
	calls    string // the function that has fused instructions; "" where it is one
}

func (f finding) String() string {
	if f.calls != "" {
		return fmt.Sprintf("%s:%d: %s calls %s", f.file, f.line, f.function, f.calls)
	}
	return fmt.Sprintf("%s:%d: a fused instruction in %s", f.file, f.line, f.function)
}

// program is the code of a Mach-O file for arm64.
type program struct {
	text    []byte
	at      uint64 // address of text
	symbols *gosym.Table
}

func load(name string) (*program, error) {
	f, err := macho.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, lines := f.Section("__text"), f.Section("__gopclntab")
	if f.Cpu != macho.CpuArm64 || text == nil || lines == nil {
		return nil, fmt.Errorf("%s: no Go program for darwin/arm64", name)
	}
	p := &program{at: text.Addr}
	if p.text, err = text.Data(); err != nil {
		return nil, err
	}
	table, err := lines.Data()
	if err != nil {
		return nil, err
	}
	if p.symbols, err = gosym.NewTable(nil, gosym.NewLineTable(table, text.Addr)); err != nil {
		return nil, err
	}
	if len(p.symbols.Funcs) == 0 {
		return nil, errors.New(name + ": the table of functions is empty")
	}
	return p, nil
}

// each calls f with every function and the instructions of it.
func (p *program) each(f func(fn *gosym.Func, pc uint64, word uint32)) {
	for i := range p.symbols.Funcs {
		fn := &p.symbols.Funcs[i]
		for pc := max(fn.Entry, p.at); pc+4 <= min(fn.End, p.at+uint64(len(p.text))); pc += 4 {
			f(fn, pc, binary.LittleEndian.Uint32(p.text[pc-p.at:]))
		}
	}
}

// isFused reports whether an instruction is FMADD, FMSUB, FNMADD or FNMSUB of any
// precision, or FMLA or FMLS of vectors, by element too.
func isFused(word uint32) bool {
	return word>>24 == 0x1f ||
		word&0xbf20fc00 == 0x0e20cc00 || // FMLA, FMLS of vectors
		word&0xbf80b400 == 0x0f801000 // by element
}

// target returns where an instruction branches to without a condition: BL, and B, which
// a function may end with.
func target(pc uint64, word uint32) (uint64, bool) {
	if word&0x7c000000 != 0x14000000 {
		return 0, false
	}
	return pc + uint64(int64(int32(word<<6)>>6)*4), true
}

// scan lists the fused instructions of a program, and the calls of functions of package
// math, and of those below it, that have some or call such.
func scan(name string) ([]finding, error) {
	p, err := load(name)
	if err != nil {
		return nil, err
	}
	type call struct {
		from *gosym.Func
		pc   uint64
		to   string
	}
	var found []finding
	var calls []call
	inexact := map[string]bool{}
	entries := map[uint64]*gosym.Func{}
	for i := range p.symbols.Funcs {
		entries[p.symbols.Funcs[i].Entry] = &p.symbols.Funcs[i]
	}
	p.each(func(fn *gosym.Func, pc uint64, word uint32) {
		switch to, ok := target(pc, word); {
		case isFused(word) && ofMath(fn.Name):
			inexact[fn.Name] = true
		case isFused(word):
			file, line, _ := p.symbols.PCToLine(pc)
			found = append(found, finding{function: fn.Name, file: file, line: line})
		case ok && entries[to] != nil && ofMath(entries[to].Name):
			calls = append(calls, call{fn, pc, entries[to].Name})
		}
	})
	for grown := true; grown; {
		grown = false
		for _, c := range calls {
			if ofMath(c.from.Name) && inexact[c.to] && !inexact[c.from.Name] {
				inexact[c.from.Name], grown = true, true
			}
		}
	}
	for _, c := range calls {
		if inexact[c.to] && !ofMath(c.from.Name) {
			file, line, _ := p.symbols.PCToLine(c.pc)
			found = append(found, finding{function: c.from.Name, file: file, line: line, calls: c.to})
		}
	}
	slices.SortFunc(found, func(a, b finding) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(found), nil
}

func ofMath(function string) bool {
	return strings.HasPrefix(function, "math.") || strings.HasPrefix(function, "math/")
}
