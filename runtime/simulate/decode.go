package simulate

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/untoldkit/untold/internal/editdist"
	"github.com/untoldkit/untold/internal/geom"
)

// decoder turns nodes into values. The first failure is kept in err; what is
// read after it does not count.
type decoder struct {
	data []byte
	path []string // to the current value: keys, and indices as [3]
	err  *SyntaxError

	line, lineAt int // lines before a place, so that the next need not count them
}

// lineOf returns the line of a value. Values are read in their order.
func (d *decoder) lineOf(n *node) int {
	if at := int(n.start); at > d.lineAt {
		d.line += bytes.Count(d.data[d.lineAt:min(at, len(d.data))], []byte{'\n'})
		d.lineAt = at
	}
	return 1 + d.line
}

// fields maps the legal keys of an object to what reads their values.
type fields map[string]func(n *node)

func (d *decoder) fail(n *node, message, hint string) { d.failAt(int(n.start), message, hint) }

func (d *decoder) failAt(pos int, message, hint string) {
	if d.err != nil {
		return
	}
	line, column := place(d.data, pos)
	path := strings.ReplaceAll(strings.Join(d.path, "."), ".[", "[")
	d.err = &SyntaxError{Line: line, Column: column, Path: path, Message: message, Hint: hint}
}

// object reads the members of an object in their order. Unknown and repeated
// keys are errors; required ones must be there.
func (d *decoder) object(n *node, f fields, required ...string) {
	if !d.is(n, '{', "an object") {
		return
	}
	seen := make(map[string]bool, len(n.names))
	for i, k := range n.names {
		read, known := f[k.text]
		switch {
		case d.err != nil:
			return
		case !known:
			d.failAt(int(k.pos), fmt.Sprintf("unknown key %q", clip(k.text)), nearest(k.text, f))
			return
		case seen[k.text]:
			d.failAt(int(k.pos), fmt.Sprintf("key %q stands twice", k.text), "")
			return
		}
		seen[k.text] = true
		d.within(k.text, func() { read(&n.items[i]) })
	}
	for _, k := range required {
		if !seen[k] {
			d.fail(n, fmt.Sprintf("the key %q is missing", k), "")
		}
	}
}

// within reads one step deeper.
func (d *decoder) within(step string, read func()) {
	d.path = append(d.path, step)
	read()
	d.path = d.path[:len(d.path)-1]
}

// array calls read for every element up to the first failure.
func (d *decoder) array(n *node, read func(n *node)) {
	if !d.is(n, '[', "an array") {
		return
	}
	for i := range n.items {
		if d.err != nil {
			return
		}
		d.within("["+strconv.Itoa(i)+"]", func() { read(&n.items[i]) })
	}
}

func (d *decoder) is(n *node, kind byte, want string) bool {
	if n.kind != kind {
		d.fail(n, "wants "+want+", not "+n.describe(), "")
	}
	return d.err == nil
}

func (d *decoder) text(dst *string) func(*node) {
	return func(n *node) {
		if d.is(n, '"', "a text") {
			*dst = n.text
		}
	}
}

// oneOf reads a text out of a list.
func (d *decoder) oneOf(dst *string, legal ...string) func(*node) {
	return func(n *node) {
		if !d.is(n, '"', "a text") {
			return
		}
		if !slices.Contains(legal, n.text) {
			d.fail(n, fmt.Sprintf("%q is unknown", clip(n.text)), "use "+strings.Join(legal, ", "))
			return
		}
		*dst = n.text
	}
}

func (d *decoder) boolean(dst *bool) func(*node) {
	return func(n *node) {
		if n.kind != 't' && n.kind != 'f' {
			d.fail(n, "wants true or false, not "+n.describe(), "")
			return
		}
		*dst = n.kind == 't'
	}
}

// number reads a finite number from lo to hi.
func (d *decoder) number(n *node, lo, hi float64) float64 {
	if !d.is(n, '0', "a number") {
		return 0
	}
	v, err := strconv.ParseFloat(n.text, 64)
	if err != nil || !(v >= lo && v <= hi) {
		d.fail(n, fmt.Sprintf("%s is out of range", clip(n.text)), rangeText(lo, hi))
		return 0
	}
	return v
}

func rangeText(lo, hi float64) string {
	if hi >= math.MaxFloat64 {
		return fmt.Sprintf("at least %g", lo)
	}
	return fmt.Sprintf("from %g to %g", lo, hi)
}

func (d *decoder) float(dst *float64, lo, hi float64) func(*node) {
	return func(n *node) { *dst = d.number(n, lo, hi) }
}

// integer reads a whole number; 1e6 is one.
func (d *decoder) integer(n *node, lo, hi int64) int64 {
	v := d.number(n, float64(lo), float64(hi))
	if v != math.Trunc(v) {
		d.fail(n, "wants a whole number, not "+n.text, "")
		return 0
	}
	if i, err := strconv.ParseInt(n.text, 10, 64); err == nil {
		return i
	}
	// The conversion of 2^63 is not defined.
	return int64(min(v, 1<<62))
}

func (d *decoder) count(dst *int64) func(*node) {
	return func(n *node) { *dst = d.integer(n, 0, 1<<62) }
}

// maxSeconds bounds the times in a file: about a month.
const maxSeconds = 3e6

// seconds reads a time of at least 0.
func (d *decoder) seconds(dst *time.Duration) func(*node) {
	return func(n *node) { *dst = duration(d.number(n, 0, maxSeconds)) }
}

// duration converts seconds, rounded to nanoseconds.
func duration(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }

// vec3 reads three numbers in metres.
func (d *decoder) vec3(dst *geom.Vec3) func(*node) {
	return func(n *node) {
		if !d.is(n, '[', "an array of three numbers") {
			return
		}
		if len(n.items) != 3 {
			d.fail(n, fmt.Sprintf("wants three numbers, not %d", len(n.items)), "")
			return
		}
		for a := range dst {
			dst[a] = d.number(&n.items[a], -math.MaxFloat32, math.MaxFloat32)
		}
	}
}

// nearest suggests the known key that is closest to a wrong one; letters that
// differ in case alone are the same.
func nearest[T any](key string, known map[string]T) string {
	best, at := 4, ""
	for k := range known {
		switch d := editdist.Distance(strings.ToLower(clip(key)), strings.ToLower(k)); {
		case d < best, d == best && k < at:
			best, at = d, k
		}
	}
	if at == "" || best > max(len(key)/2, 1) {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", at)
}
