package manifest

import (
	"strconv"
	"strings"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/internal/bom"
	"github.com/untoldkit/untold/internal/jsonscan"
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
	at := 0
	if _, marked := bom.Cut(data); marked {
		at = len(bom.UTF8)
	}
	locate(data, at, "", func(pointer string, offset int) bool {
		hits, ok := want[pointer]
		for _, i := range hits {
			// The walk goes from outside in: the last hit is the nearest.
			place(&findings[i], findings[i].Pointer, int64(offset))
		}
		return ok
	})
}

// locate walks the value at a position, whose pointer is given, and calls visit for
// it and, where that returns true, for what is in it. The text must be valid JSON.
func locate(data []byte, at int, pointer string, visit func(pointer string, offset int) bool) {
	at = jsonscan.Space(data, at)
	if !visit(pointer, at) {
		return
	}
	for key, val := range jsonscan.Members(data, at) {
		locate(data, val.Start, pointer+"/"+escapePointer(string(key.Text)), visit)
	}
	for i, val := range jsonscan.Elements(data, at) {
		locate(data, val.Start, pointer+"/"+strconv.Itoa(i), visit)
	}
}
