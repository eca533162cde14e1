package layer

import (
	"encoding/binary"
	"strings"
)

func (w *crateWriter) u32(v ...uint32) {
	for _, n := range v {
		w.out = binary.LittleEndian.AppendUint32(w.out, n)
	}
}

// length writes how many elements an array has, as each version does.
func (w *crateWriter) length(n int) {
	if w.minor < 5 {
		w.u32(1) // dimension
	}
	if w.minor < 7 {
		w.u32(uint32(n))
	} else {
		w.u64(uint64(n))
	}
}

// pad writes what records of 0.0 begin with, which readers have to pass over.
func (w *crateWriter) pad() {
	if w.minor < 1 {
		w.u32(0xDEADBEEF)
	}
}

// oldSections writes what crates before 0.4 have instead of packed lists.
func (w *crateWriter) oldSections(section func(name string, f func())) {
	section("FIELDS", func() {
		w.u64(uint64(len(w.fields)))
		for _, f := range w.fields {
			w.u32(0xDEADBEEF, f.token)
			w.u64(uint64(f.rep))
		}
	})
	section("FIELDSETS", func() {
		w.u64(uint64(len(w.sets)))
		w.u32(w.sets...)
	})
	section("PATHS", w.oldPathTree)
	section("SPECS", func() {
		w.u64(uint64(len(w.specs)))
		for _, s := range w.specs {
			w.pad()
			w.u32(s.path, s.fields, s.kind)
		}
	})
}

func (w *crateWriter) oldTokens() {
	text := strings.Join(w.tokens, "\x00") + "\x00"
	w.u64(uint64(len(w.tokens)))
	w.u64(uint64(len(text)))
	w.out = append(w.out, text...)
}

// oldPathTree writes the paths, each behind its parent, with the place of its sibling.
func (w *crateWriter) oldPathTree() {
	below := w.below()
	w.u64(uint64(len(w.paths)))
	var visit func(p string, sibling bool)
	visit = func(p string, sibling bool) {
		list := below[p]
		bits := uint32(0xABCDEF00) // with padding
		if len(list) > 0 {
			bits |= hasChild
		}
		if sibling {
			bits |= hasSibling
		}
		name, property := w.element(p)
		if property {
			bits |= isProperty
		}
		w.pad()
		w.u32(w.path(p), w.token(name), bits)
		jump := len(w.out)
		if len(list) > 0 && sibling {
			w.u64(0)
		}
		for k, c := range list {
			visit(c, k+1 < len(list))
		}
		if len(list) > 0 && sibling {
			binary.LittleEndian.PutUint64(w.out[jump:], uint64(len(w.out)))
		}
	}
	visit("/", false)
}
