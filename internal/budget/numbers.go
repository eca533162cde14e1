package budget

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/untoldkit/untold/internal/editdist"
)

// Numbers lists the figures of a struct by way of its JSON, so that names stand once:
// the keys at its top whose values are numbers, or null for one that is not known,
// which is NaN here. Keys with omitempty and texts are no figures.
func Numbers(report any) (names []string, values []float64) {
	// What reports are made of has an encoding; without one there are no figures.
	data, _ := json.Marshal(report)
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	depth, key, isKey := 0, "", false
	for {
		t, err := dec.Token()
		if err != nil {
			return names, values
		}
		value := math.NaN()
		switch v := t.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				depth++
			} else {
				depth--
			}
			isKey = depth == 1
			continue
		case string:
			if depth == 1 && isKey {
				key, isKey = v, false
				continue
			}
			isKey = depth == 1
			continue
		case bool:
			isKey = depth == 1
			continue
		case json.Number:
			value, _ = v.Float64()
		}
		if depth == 1 {
			names, values, isKey = append(names, key), append(values, value), true
		}
	}
}

// Value returns a figure of a struct (Numbers). A name that is none of its figures is
// an error that lists near ones.
func Value(report any, name string) (float64, error) {
	names, values := Numbers(report)
	if err := known(name, names); err != nil {
		return 0, err
	}
	v := values[slices.Index(names, name)]
	if math.IsNaN(v) {
		return 0, fmt.Errorf("%s is not known here", name)
	}
	return v, nil
}

// known refuses a name that is not listed.
func known(name string, names []string) error {
	if slices.Contains(names, name) {
		return nil
	}
	hint := "the figures are " + strings.Join(names, ", ")
	if near := Near(name, names); len(near) > 0 {
		for i := range near {
			near[i] = fmt.Sprintf("%q", near[i])
		}
		hint = "did you mean " + list(near, "or") + "?"
	}
	return fmt.Errorf("there is no figure %q; %s", name, hint)
}

// mostNear is how many names Near returns at most.
const mostNear = 5

// Near returns the names that one may stand for, the likeliest first: those within
// a few edits, then those that begin with it or that have all of its words.
func Near(name string, names []string) []string {
	type candidate struct {
		name string
		off  int
	}
	var found []candidate
	limit := min(3, max(1, len(name)/3))
	words := strings.Split(name, "_")
	for _, n := range names {
		d := editdist.Distance(name, n)
		has := func(w string) bool { return w != "" && slices.Contains(strings.Split(n, "_"), w) }
		all := !slices.ContainsFunc(words, func(w string) bool { return !has(w) })
		switch {
		case d <= limit:
			found = append(found, candidate{n, d})
		case len(name) > 2 && strings.HasPrefix(n, name):
			found = append(found, candidate{n, 4})
		case all:
			found = append(found, candidate{n, 5})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(a.off, b.off) })
	var out []string
	for _, c := range found[:min(len(found), mostNear)] {
		out = append(out, c.name)
	}
	return out
}
