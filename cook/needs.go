package cook

import (
	"slices"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/band"
)

// Needs says from how far what is wanted of a scene, and what that takes.
type Needs struct {
	Whole     bool    `json:"whole"`             // all of it is wanted at full detail
	Full      float64 `json:"full_within"`       // metres: the median streaming radius of the tiles that have levels, else of all
	Seen      float64 `json:"seen_within"`       // metres: the largest unload radius
	GPUBytes  int64   `json:"gpu_bytes"`         // of the full geometry
	MostBytes int64   `json:"gpu_bytes_at_most"` // wanted at a time, from the middle of any tile
}

// needs looks from the middle of every tile.
func (c *scenePlan) needs(m *manifest.Manifest, payloads []payload) *Needs {
	byID := map[string]*payload{}
	for i := range payloads {
		byID[payloads[i].tile] = &payloads[i]
	}
	n := &Needs{Whole: c.whole}
	type tile struct {
		box   geom.Box
		bands band.Bands
		full  int64
		at    []float64 // switches, ascending
		bytes []int64   // of the levels
	}
	tiles := make([]tile, 0, len(m.Tiles))
	var full, all []float64 // streaming radii: of tiles with levels, of all
	for i := range m.Tiles {
		e := &m.Tiles[i]
		p := byID[e.ID]
		t := tile{box: e.Bounds.Box(), bands: m.BandsOf(e), full: p.gpuBytes}
		for k := range p.levels {
			if l := &p.levels[k]; l.made {
				t.at, t.bytes = append(t.at, l.distance), append(t.bytes, l.gpuBytes)
			}
		}
		tiles = append(tiles, t)
		if all = append(all, t.bands.Streaming); len(t.at) > 0 {
			full = append(full, t.bands.Streaming)
		}
		n.Seen = max(n.Seen, t.bands.Unload)
		n.GPUBytes += t.full
	}
	shared := int64(0)
	if m.SharedBucket != nil {
		shared = byID[manifest.SharedTileID].gpuBytes
		n.GPUBytes += shared
	}
	if len(full) == 0 {
		full = all
	}
	if len(full) > 0 {
		slices.Sort(full)
		n.Full = full[(len(full)-1)/2]
	}
	n.MostBytes = shared
	for i := range tiles {
		from, sum := tiles[i].box.Center(), shared
		for k := range tiles {
			t := &tiles[k]
			d := t.box.Distance(from)
			level := -1
			for j, at := range t.at {
				if d >= at {
					level = j
				}
			}
			switch {
			case d <= t.bands.Streaming || level < 0 && d <= t.bands.Unload:
				sum += t.full
			case level >= 0:
				sum += t.bytes[level]
			}
		}
		n.MostBytes = max(n.MostBytes, sum)
	}
	return n
}
