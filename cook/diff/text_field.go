package diff

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/untoldkit/untold/internal/human"
)

// many is from how many tiles on a change is told once.
const many = 4

// commonFields counts the fields of entries that change alike in many tiles.
func commonFields(items []Item) map[string]int {
	n := map[string]int{}
	for i := range items {
		for k := range items[i].Settings {
			n[fieldText(&items[i].Settings[k])]++
		}
	}
	for k, v := range n {
		if v < many {
			delete(n, k)
		}
	}
	return n
}

func (p *printer) commonFields(common map[string]int) {
	texts := union(common, nil)
	p.section("Alike in many tiles", "change", len(texts), func(i int) bool {
		p.line("  %s, in %s", texts[i], human.Plural(common[texts[i]], "tile"))
		return true
	})
}

// foldedSettings writes settings one a line. Values of many objects that change alike
// are told once.
func foldedSettings(list []Field) (out []string) {
	alike := func(f *Field) string {
		first, rest, ok := strings.Cut(f.Key, ".")
		last := strings.LastIndexByte(rest, '.')
		if !ok || last < 0 {
			return ""
		}
		g := *f
		g.Key = first + ".*" + rest[last:]
		return fieldText(&g)
	}
	count := map[string]int{}
	for i := range list {
		count[alike(&list[i])]++
	}
	for i := range list {
		text := alike(&list[i])
		switch n := count[text]; {
		case text == "" || n > 0 && n < many:
			out = append(out, fieldText(&list[i]))
		case n > 0:
			out = append(out, fmt.Sprintf("%s, of %d", text, n))
			count[text] = 0
		}
	}
	return out
}

// metres are the ends of the keys whose values are metres.
var metres = []string{"_radius", "switch_distance", "_error"}

func fieldText(f *Field) string {
	key := clean(f.Key)
	if len(f.Added)+len(f.Removed) > 0 {
		var parts []string
		for _, s := range f.Added {
			parts = append(parts, "+ "+clean(s))
		}
		for _, s := range f.Removed {
			parts = append(parts, "- "+clean(s))
		}
		if n := len(parts); n > 2*detailLines {
			parts = append(parts[:2*detailLines], fmt.Sprintf("and %d more", n-2*detailLines))
		}
		return key + ": " + strings.Join(parts, ", ")
	}
	if isObject(f.A) && f.B == nil {
		return key + ": removed"
	}
	if isObject(f.B) && f.A == nil {
		return key + ": added"
	}
	unit := ""
	if slices.ContainsFunc(metres, func(end string) bool { return strings.HasSuffix(f.Key, end) }) {
		unit = " m"
	}
	a, b := valueText(f.A, true), valueText(f.B, true)
	if a == b {
		a, b = valueText(f.A, false), valueText(f.B, false)
	}
	return fmt.Sprintf("%s: %s -> %s%s", key, a, b, unit)
}

// isObject reports whether a value is an object or a list of them.
func isObject(v any) bool {
	_, _, ok := object(v)
	return ok
}

// valueText writes a value on one line, numbers with six digits if short.
func valueText(v any, short bool) string {
	switch x := v.(type) {
	case nil:
		return "none"
	case json.Number:
		if f, err := x.Float64(); err == nil && short && len(x) > 7 {
			return fmt.Sprintf("%.6g", f)
		}
	case float32:
		if short {
			return fmt.Sprintf("%.6g", x)
		}
	case string:
		return quoted(x)
	case []any:
		parts := make([]string, len(x))
		for i := range x {
			parts[i] = valueText(x[i], short)
		}
		return human.Clip("("+strings.Join(parts, ", ")+")", valueLength)
	case map[string]any:
		text, err := json.Marshal(x) // sorted keys
		if err != nil {
			return "an object"
		}
		return human.Clip(clean(string(text)), valueLength)
	}
	return clean(fmt.Sprint(v))
}

func quoted(s string) string { return `"` + clean(human.Clip(s, valueLength)) + `"` }

// clean makes foreign text printable on one line.
func clean(s string) string { return human.OneLine(s) }
