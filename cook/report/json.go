package report

import (
	"encoding/json"
	"io"
)

// WriteJSON writes the whole report, indented, with an empty list where there
// is nothing. It fails when a number is not finite or w fails.
func (r *Report) WriteJSON(w io.Writer) error {
	c := *r
	c.Options, c.Tiles, c.Failed = list(c.Options), list(c.Tiles), list(c.Failed)
	c.Objects, c.Tiers, c.Dropped, c.Notes = list(c.Objects), list(c.Tiers), list(c.Dropped), list(c.Notes)
	c.Floors.Slabs, c.Floors.Floors = list(c.Floors.Slabs), list(c.Floors.Floors)
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(&c)
}

// list returns s, or an empty slice for nil, so that JSON shows [].
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
