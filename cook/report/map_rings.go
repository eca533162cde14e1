package report

import (
	"fmt"
	"math"

	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/band"
)

// chosen is the tile whose distances are drawn.
type chosen struct {
	id    string
	panel int // where it is drawn, -1 for all panels
	box   worldRect
	rings []ring
	notes []string
}

// ring is a distance from the box of a tile: on the ground the points at this
// distance form a rectangle with round corners.
type ring struct {
	name     string
	distance float64
	style    style
}

// maxRingShare: a ring beyond this many sizes of the scene does not widen the
// view.
const maxRingShare = 1.5

// The lines of the distances differ in colour and in pattern.
var (
	streamingLine = style{line: rgb(0x111111), width: 2}
	prefetchLine  = style{line: rgb(0x57606a), width: 1.5, dash: [4]float64{2, 3}}
	unloadLine    = style{line: rgb(0xd1242f), width: 2, dash: [4]float64{10, 4}}
	lodLines      = [...]style{
		{line: rgb(0x0072b2), width: 1.5, dash: [4]float64{6, 3}},
		{line: rgb(0x009e73), width: 1.5, dash: [4]float64{4, 2}},
		{line: rgb(0xb86e00), width: 1.5, dash: [4]float64{3, 2}},
	}
	hlodLine = style{line: rgb(0x7a3e9d), width: 1.5, dash: [4]float64{9, 3, 2, 3}}
)

// choose finds the tile and its distances.
func (p *Map) choose(id string) error {
	if b := p.m.SharedBucket; b != nil && id == b.ID {
		return p.chooseTile(&b.Tile, -1, b.Bounds, b.StreamingRadius == nil || b.UnloadRadius == nil)
	}
	for i := range p.panels {
		for k := range p.panels[i].tiles {
			if t := &p.m.Tiles[p.panels[i].tiles[k].index]; t.ID == id {
				return p.chooseTile(t, i, t.Bounds, false)
			}
		}
	}
	for i := range p.m.Tiles {
		if p.m.Tiles[i].ID == id {
			return fmt.Errorf("%w that could be drawn: %q lies on a floor or at a place beyond the map", ErrNoTile, id)
		}
	}
	if len(p.m.Tiles) == 0 {
		return fmt.Errorf("%w: %q: the manifest has no tiles", ErrNoTile, id)
	}
	return fmt.Errorf("%w: %q: the manifest has %s, such as %q", ErrNoTile, id, human.Plural(len(p.m.Tiles), "tile"), p.m.Tiles[0].ID)
}

// chooseTile takes the distances as the manifest has them and says what the
// reference engine would make of them.
func (p *Map) chooseTile(t *manifest.Tile, panel int, box manifest.Bounds, infinite bool) error {
	b := groundOf(box)
	if b == nil {
		return fmt.Errorf("%w that could be drawn: %q", ErrNoTile, t.ID)
	}
	c := &chosen{id: t.ID, panel: panel, box: *b}
	p.chosen = c
	bands := p.m.BandsOf(t)
	if infinite {
		c.notes = append(c.notes, "Radii are missing: always wanted.")
		return nil
	}
	c.ring("streaming", bands.Streaming, streamingLine)
	if panel < 0 {
		c.ring("unload", bands.Unload, unloadLine)
		return nil
	}
	if bands.Prefetch > 0 {
		c.ring("prefetch", bands.Prefetch, prefetchLine)
	} else {
		c.ring("prefetch (auto)", bands.Streaming+float64((bands.Unload-bands.Streaming)/2), prefetchLine)
	}
	for i, l := range bands.LODs {
		c.ring("LOD "+human.Count(int64(i+1)), l, lodLines[i%len(lodLines)])
	}
	if bands.HLOD > 0 {
		c.ring("HLOD", bands.HLOD, hlodLine)
	}
	c.ring("unload", bands.Unload, unloadLine)
	if n := band.Normalize(bands); !n.Near(bands) {
		c.notes = append(c.notes, "The reference engine changes them to: "+n.String()+".")
	}
	return nil
}

// keepChosen leaves only the panel of the chosen tile: its distances make the
// view wide.
func (p *Map) keepChosen() {
	if c := p.chosen; c.panel >= 0 {
		p.others = len(p.panels) - 1
		p.panels = p.panels[c.panel : c.panel+1]
		c.panel = 0
	}
}

// ring adds a distance, unless it is none.
func (c *chosen) ring(name string, distance float64, s style) {
	if distance > 0 && distance <= maxMapCoord && !math.IsNaN(distance) {
		c.rings = append(c.rings, ring{name, distance, s})
	}
}

// frame widens a view by the rings that are not far beyond it.
func (c *chosen) frame(v worldRect) worldRect {
	limit := maxRingShare * max(v.long(), c.box.long(), 1)
	out := v.union(c.box)
	for _, r := range c.rings {
		if r.distance <= limit {
			out = out.union(c.box.grow(r.distance))
		}
	}
	return out
}
