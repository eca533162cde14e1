package manifest

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/untoldkit/untold/internal/jsonscan"
)

// member is a member of an object in a text.
type member struct {
	key           string
	keyAt         int // of its opening quote
	jsonscan.Span     // of the value
}

// objectMembers lists the members of the object at a position, nil when there
// is none. The text must be valid JSON.
func objectMembers(data []byte, at int) []member {
	var out []member
	for key, val := range jsonscan.Members(data, at) {
		out = append(out, member{string(key.Text), key.At, val})
	}
	return out
}

// arrayElements lists the elements of the array at a position, nil when there
// is none. The text must be valid JSON.
func arrayElements(data []byte, at int) []jsonscan.Span {
	var out []jsonscan.Span
	for _, e := range jsonscan.Elements(data, at) {
		out = append(out, e)
	}
	return out
}

// find returns the member that counts: the last one with the key.
func find(members []member, key string) (member, bool) {
	for _, m := range slices.Backward(members) {
		if m.key == key {
			return m, true
		}
	}
	return member{}, false
}

// replacement replaces a part of a text. An empty part is an insertion.
type replacement struct {
	jsonscan.Span
	text string
}

// apply makes all edits, which must not overlap. Edits at one place keep their
// order.
func apply(data []byte, edits []replacement) []byte {
	slices.SortStableFunc(edits, func(a, b replacement) int { return cmp.Compare(a.Start, b.Start) })
	var out bytes.Buffer
	out.Grow(len(data))
	from := 0
	for _, e := range edits {
		out.Write(data[from:e.Start])
		out.WriteString(e.text)
		from = e.End
	}
	out.Write(data[from:])
	return out.Bytes()
}

// put sets a key of the object with these members: the value is replaced, or
// the key inserted behind the first of the others that is there, with white
// space like around that one.
func put(data []byte, members []member, key, value string, behind ...string) replacement {
	if m, ok := find(members, key); ok {
		return replacement{m.Span, value}
	}
	after := members[len(members)-1]
	for _, k := range behind {
		if m, ok := find(members, k); ok {
			after = m
			break
		}
	}
	// The white space before the key: what stands behind the comma or brace.
	at := after.keyAt
	for at > 0 && strings.IndexByte(" \t\r\n", data[at-1]) >= 0 {
		at--
	}
	return replacement{jsonscan.Span{Start: after.End, End: after.End}, "," + string(data[at:after.keyAt]) + `"` + key + `": ` + value}
}

// rearrange replaces the array around these elements by the given texts, with
// the white space that it has. There is at least one element.
func rearrange(data []byte, array jsonscan.Span, elements []jsonscan.Span, texts []string) replacement {
	if len(texts) == 0 {
		return replacement{array, "[]"}
	}
	separator := ", "
	if len(elements) > 1 {
		separator = string(data[elements[0].End:elements[1].Start])
	}
	head, tail := data[array.Start:elements[0].Start], data[elements[len(elements)-1].End:array.End]
	return replacement{array, string(head) + strings.Join(texts, separator) + string(tail)}
}

// jsonString and jsonFloat write values as Encode does.
func jsonString(v string) string {
	e := &encoder{}
	e.str(v)
	return string(e.buf)
}

func jsonFloat(v float64) string {
	e := &encoder{}
	e.float(v)
	return string(e.buf)
}

func jsonVec3(v [3]float64) string {
	e := &encoder{}
	e.vec3(&v)
	return string(e.buf)
}
