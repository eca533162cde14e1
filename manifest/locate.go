package manifest

import (
	"strconv"
	"strings"

	"github.com/untoldkit/untold/finding"
)

// locateAll fills in the byte offsets of findings that have none, in one walk
// through the text. A pointer to an absent key gets the offset of the nearest
// value around it.
func locateAll(data []byte, findings []finding.Finding) {
	want := map[string][]int{} // pointer -> findings that it, or a value in it, is for
	for i := range findings {
		if findings[i].Offset >= 0 {
			continue
		}
		// Also the enclosing values, for when the pointer leads nowhere.
		for p := findings[i].Pointer; ; p = p[:strings.LastIndexByte(p, '/')] {
			want[p] = append(want[p], i)
			if p == "" {
				break
			}
		}
	}
	if len(want) == 0 {
		return
	}
	s := &scanner{data: data}
	s.skipBOM()
	s.locate("", func(pointer string, offset int) bool {
		hits, ok := want[pointer]
		for _, i := range hits {
			// The walk goes from outside in: the last hit is the nearest.
			place(&findings[i], findings[i].Pointer, int64(offset))
		}
		return ok
	})
}

// locate walks the value at the position, whose pointer is given, and calls
// visit for it and, where that returns true, for what is in it.
func (s *scanner) locate(pointer string, visit func(pointer string, offset int) bool) {
	c := s.space()
	if s.failed() {
		return
	}
	if !visit(pointer, s.pos) {
		s.skip()
		return
	}
	switch c {
	case '{':
		if s.object("", "") {
			for first := true; s.key(&first); {
				s.locate(pointer+"/"+escapePointer(string(s.name)), visit)
			}
		}
	case '[':
		if s.array("", "") {
			for i := -1; s.elem(&i); {
				s.locate(pointer+"/"+strconv.Itoa(i), visit)
			}
		}
	default:
		s.skip()
	}
}
