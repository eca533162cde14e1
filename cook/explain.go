package cook

import (
	"github.com/untoldkit/untold/cook/report"
	"github.com/untoldkit/untold/manifest"
)

// Explanation says of a tile why it was made again, of an object why it lies where it lies.
type Explanation struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // tile, node, object or unknown
	// How tells where a tile or node comes from: "made", or "earlier cook", "stopped
	// cook" or "store" where it was taken from.
	How string `json:"how,omitempty"`
	// Changed are the parts of its key that were others in the last cook, if it had such
	// a tile: code, options, place, objects, materials, levels, border.
	Changed []string `json:"changed,omitempty"`
	New     bool     `json:"new,omitempty"`  // the last cook had no such tile, or there was none
	Anew    bool     `json:"anew,omitempty"` // it was made because Options.Full makes everything
	// Tiles are those that an object lies in, not more than reports list; Why says in some
	// words how that came.
	Tiles []string `json:"tiles,omitempty"`
	Why   string   `json:"why,omitempty"`
}

// explain looks up the names of Options.Explain.
func (c *scenePlan) explain(payloads []payload, nodes []node, r *report.Report) (out []Explanation) {
	for _, name := range c.opts.Explain {
		found := false
		for i := range payloads {
			if payloads[i].tile == name {
				out, found = append(out, c.recall.explain(&payloads[i])), true
			}
		}
		for i := range nodes {
			if nodes[i].ID == name {
				e := Explanation{Name: name, Kind: "node", How: "made", Anew: c.opts.Full}
				if from := c.recall.origin[name]; from != "" {
					e.How = from
				}
				out, found = append(out, e), true
			}
		}
		for i := range r.Objects {
			if o := &r.Objects[i]; o.Name == name {
				e := Explanation{Name: name, Kind: "object", Tiles: o.Tiles, Why: r.Why(o)}
				if o.Place == report.PlaceShared {
					e.Tiles = []string{manifest.SharedTileID}
				}
				out, found = append(out, e), true
			}
		}
		if !found {
			out = append(out, Explanation{Name: name, Kind: "unknown"})
		}
	}
	return out
}

// explain says where a tile comes from, and what has changed about it.
func (r *recall) explain(p *payload) Explanation {
	e := Explanation{Name: p.tile, Kind: "tile", How: "made"}
	if from := r.origin[p.name]; from != "" {
		e.How = from
		return e
	}
	was, ok := r.last.Payloads[p.name]
	if !ok {
		e.New = true
		return e
	}
	if e.Anew = r.fresh; e.Anew {
		return e
	}
	is := r.results[p.name]
	for _, part := range keyParts {
		if was.Parts[part] != is.Parts[part] {
			e.Changed = append(e.Changed, part)
		}
	}
	return e
}
