package main

import (
	"cmp"
	"math"
	"slices"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/band"
)

// tileBands is what a manifest says about the distances of one tile, and what
// the reference engine makes of it.
type tileBands struct {
	id     string
	tier   string // semantic tier, "" in grids
	shared bool   // the shared bucket, whose distances nobody changes
	// written holds the distances with the defaults for what the tile lacks,
	// the first HLOD and the LODs in ascending order, as a runtime without
	// clamping uses them. Absent radii of the shared bucket are infinite.
	written band.Bands
	engine  band.Bands // written after band.Normalize
	// hlodError and lodErrors are the visual errors, or where there is none the
	// geometric ones, of the levels of written, in metres; NaN where the manifest
	// has none.
	hlodError float64
	lodErrors []float64
}

// changed reports whether the engine changes a distance by more than a
// millimetre or drops a level.
func (t *tileBands) changed() bool { return !t.shared && !t.engine.Near(t.written) }

// dropped counts the levels that the engine drops.
func (t *tileBands) dropped() int {
	n := len(t.written.LODs) - len(t.engine.LODs)
	if t.written.HLOD != 0 && t.engine.HLOD == 0 {
		n++
	}
	return n
}

// bandsOfTiles returns the distances of all tiles in their order, then of the
// shared bucket.
func bandsOfTiles(m *manifest.Manifest) []tileBands {
	out := make([]tileBands, 0, len(m.Tiles)+1)
	for i := range m.Tiles {
		t := &m.Tiles[i]
		b := m.BandsOf(t)
		e := tileBands{id: t.ID, tier: t.SemanticTier, written: b, engine: band.Normalize(b), hlodError: math.NaN()}
		if len(t.HLODLevels) > 0 {
			e.hlodError = errorOf(&t.HLODLevels[0])
		}
		lods := slices.Clone(t.LODLevels)
		slices.SortStableFunc(lods, func(x, y manifest.Level) int { return cmp.Compare(x.SwitchDistance, y.SwitchDistance) })
		for k := range lods {
			e.lodErrors = append(e.lodErrors, errorOf(&lods[k]))
		}
		out = append(out, e)
	}
	if s := m.SharedBucket; s != nil {
		b := m.BandsOf(&s.Tile)
		b.HLOD, b.LODs = 0, nil
		if s.StreamingRadius == nil {
			b.Streaming = math.Inf(1)
		}
		if s.UnloadRadius == nil {
			b.Unload = math.Inf(1)
		}
		out = append(out, tileBands{id: s.ID, tier: s.SemanticTier, shared: true, written: b, engine: b, hlodError: math.NaN()})
	}
	return out
}

// errorOf is the error that decides where a level begins, NaN where it is unknown.
func errorOf(l *manifest.Level) float64 {
	return band.LevelError(l.VisualError, l.GeometricError, math.NaN())
}
