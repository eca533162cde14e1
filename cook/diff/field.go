package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Field is a value that differs. A or B is nil where the value is absent. Of lists
// of names, it says which came and went instead.
type Field struct {
	Key     string   `json:"key"` // as in the manifest or in inspect --json, with dots
	A       any      `json:"a"`
	B       any      `json:"b"`
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
}

// names are the keys that tell the elements of a list of objects apart.
var names = []string{"entity_name", "tile_id", "uri", "name", "suffix"}

// measured are the keys of positions, which may differ by the tolerance.
var measured = []string{
	"bounds", "center", "cell_bounds", "scene_bounds", "content_bounds", "interior_zone", "origin_offset",
	"world_bounds", "local_bounds",
}

// compareJSON lists the fields in which two values of the manifest differ, but
// those in without.
func compareJSON(a, b any, tolerance float64, without ...string) ([]Field, error) {
	if reflect.DeepEqual(a, b) {
		return nil, nil
	}
	x, err := tree(a, without)
	if err != nil {
		return nil, err
	}
	y, err := tree(b, without)
	if err != nil {
		return nil, err
	}
	c := fieldComparer{tolerance: tolerance}
	c.compare("", x, y, false)
	return c.out, nil
}

// tree returns a value as encoding/json reads it back.
func tree(v any, without []string) (map[string]any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("diff: %w", err)
	}
	var out map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // digits as they are
	if err := d.Decode(&out); err != nil {
		return nil, fmt.Errorf("diff: %w", err)
	}
	for _, key := range without {
		delete(out, key)
	}
	return out, nil
}

// fieldComparer gathers fields that differ.
type fieldComparer struct {
	tolerance float64
	out       []Field
}

// compare looks at two values below a key, which has loose if the tolerance is for
// it.
func (c *fieldComparer) compare(key string, a, b any, loose bool) {
	if l, ok := a.([]any); ok && len(l) == 0 {
		a = nil // as good as absent
	}
	if l, ok := b.([]any); ok && len(l) == 0 {
		b = nil
	}
	if reflect.DeepEqual(a, b) {
		return
	}
	x, xnamed, xok := object(a)
	y, ynamed, yok := object(b)
	if named := xnamed && (ynamed || b == nil) || ynamed && a == nil || key == classification; named || xok && yok {
		all := maps.Clone(x)
		if all == nil {
			all = map[string]any{}
		}
		maps.Copy(all, y)
		came := Field{Key: key}
		at := len(c.out)
		for _, k := range slices.Sorted(maps.Keys(all)) {
			p, inA := x[k]
			q, inB := y[k]
			switch {
			case named && !inA:
				came.Added = append(came.Added, k)
			case named && !inB:
				came.Removed = append(came.Removed, k)
			default:
				c.compare(join(key, k), p, q, loose || slices.Contains(measured, k))
			}
		}
		if len(came.Added)+len(came.Removed) > 0 {
			c.out = slices.Insert(c.out, at, came)
		}
		return
	}
	if p, q, ok := stringLists(a, b); ok {
		if added, removed := missing(q, p), missing(p, q); len(added)+len(removed) > 0 {
			c.out = append(c.out, Field{Key: key, Added: added, Removed: removed})
			return
		}
	}
	if loose && c.tolerance > 0 && near(a, b, c.tolerance) {
		return
	}
	c.out = append(c.out, Field{Key: key, A: a, B: b})
}

func join(key, k string) string {
	if key == "" {
		return k
	}
	return key + "." + k
}

// classification is an object whose keys are names.
const classification = "object_classification"

// object returns an object, or a list of objects by their names, or else by their
// numbers.
func object(v any) (o map[string]any, named, ok bool) {
	if o, ok := v.(map[string]any); ok {
		return o, false, true
	}
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, false, false
	}
	out := make(map[string]any, len(list))
	for _, e := range list {
		o, ok := e.(map[string]any)
		if !ok {
			return nil, false, false
		}
		name := ""
		for _, k := range names {
			if s, ok := o[k].(string); ok && s != "" {
				name, named = s, true
				break
			}
		}
		unique := name
		for n := 2; name == "" || out[unique] != nil; n++ {
			if name == "" {
				name = strconv.Itoa(len(out))
				unique = name
				continue
			}
			unique = name + "#" + strconv.Itoa(n)
		}
		out[unique] = o
	}
	return out, named, true
}

// stringLists returns two lists of strings, of which one may be absent.
func stringLists(a, b any) (p, q []string, ok bool) {
	p, pok := stringList(a)
	q, qok := stringList(b)
	return p, q, pok && qok && len(p)+len(q) > 0
}

func stringList(v any) ([]string, bool) {
	if v == nil {
		return nil, true
	}
	list, ok := v.([]any)
	if !ok {
		return nil, false
	}
	out := make([]string, len(list))
	for i, e := range list {
		if out[i], ok = e.(string); !ok {
			return nil, false
		}
	}
	return out, true
}

// missing returns what a has and b lacks, counted, sorted.
func missing(a, b []string) (out []string) {
	count := map[string]int{}
	for _, s := range b {
		count[s]++
	}
	for _, s := range a {
		if count[s]--; count[s] < 0 {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return out
}

// near reports whether two numbers, or lists of them, differ by no more than a
// tolerance.
func near(a, b any, tolerance float64) bool {
	if x, ok := a.([]any); ok {
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !near(x[i], y[i], tolerance) {
				return false
			}
		}
		return true
	}
	x, xerr := strconv.ParseFloat(fmt.Sprint(a), 64)
	y, yerr := strconv.ParseFloat(fmt.Sprint(b), 64)
	return xerr == nil && yerr == nil && math.Abs(x-y) <= tolerance
}

// value is a named value of a record.
type value struct {
	key string
	v   any
}

// compareValues lists the fields in which two records of the same keys differ.
func compareValues(a, b []value, tolerance float64) (out []Field) {
	for i := range a {
		x, y := a[i].v, b[i].v
		if fmt.Sprint(x) == fmt.Sprint(y) {
			continue
		}
		if tolerance > 0 && slices.Contains(measured, strings.SplitN(a[i].key, ".", 2)[0]) && near(x, y, tolerance) {
			continue
		}
		out = append(out, Field{Key: a[i].key, A: x, B: y})
	}
	return out
}

// number returns what JSON can hold of a number.
func number(f float32) any {
	if f-f != 0 {
		return fmt.Sprint(f)
	}
	return f
}

func numbers(v []float32) any {
	out := make([]any, len(v))
	for i, f := range v {
		out[i] = number(f)
	}
	return out
}
