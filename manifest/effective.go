package manifest

import "math"

// TileBands is what a manifest says about the distances of one tile, and what
// the reference engine makes of it.
type TileBands struct {
	ID     string
	Tier   string // semantic tier, "" in grids
	Shared bool   // the shared bucket, whose distances nobody changes
	// Written holds the distances with the defaults for what the tile lacks,
	// the first HLOD and the LODs in ascending order, as a runtime without
	// clamping uses them. Absent radii of the shared bucket are infinite.
	Written Bands
	Engine  Bands // Written after NormalizeBands
	// HLODError and LODErrors are the visual errors, or where there is none the
	// geometric ones, of the levels of
	// Written, in metres; NaN where the manifest has none.
	HLODError float64
	LODErrors []float64
}

// Changed reports whether the engine changes a distance by more than a
// millimetre or drops a level.
func (t *TileBands) Changed() bool { return !t.Shared && !t.Engine.Near(t.Written) }

// Dropped returns how many LODs the engine drops, from the coarse end.
func (t *TileBands) Dropped() int { return len(t.Written.LODs) - len(t.Engine.LODs) }

// AutoPrefetch returns the distance from which a tile is fetched, in metres:
// Prefetch, or half way between the radii when that is 0.
func (b Bands) AutoPrefetch() float64 {
	switch {
	case b.Prefetch > 0:
		return b.Prefetch
	case math.IsInf(b.Streaming, 1):
		return b.Streaming // and Unload is no less
	}
	return b.Streaming + float64((b.Unload-b.Streaming)*0.5)
}

// EffectiveBands returns the distances of all tiles in their order, then of
// the shared bucket.
func (m *Manifest) EffectiveBands() []TileBands {
	out := make([]TileBands, 0, len(m.Tiles)+1)
	for i := range m.Tiles {
		t := &m.Tiles[i]
		b := m.BandsOf(t)
		e := TileBands{ID: t.ID, Tier: t.SemanticTier, Written: b, Engine: NormalizeBands(b), HLODError: math.NaN()}
		if len(t.HLODLevels) > 0 {
			e.HLODError = errorOf(&t.HLODLevels[0])
		}
		distances := make([]float64, len(t.LODLevels))
		for k := range distances {
			distances[k] = t.LODLevels[k].SwitchDistance
		}
		for _, k := range ascending(distances) {
			e.LODErrors = append(e.LODErrors, errorOf(&t.LODLevels[k]))
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
		out = append(out, TileBands{ID: s.ID, Tier: s.SemanticTier, Shared: true, Written: b, Engine: b, HLODError: math.NaN()})
	}
	return out
}

// errorOf is what is seen of a level's difference, which decides where it begins;
// else its greatest distance, a bound that reads as far more.
func errorOf(l *Level) float64 {
	switch {
	case l.VisualError != nil:
		return *l.VisualError
	case l.GeometricError != nil:
		return *l.GeometricError
	}
	return math.NaN()
}

// ScreenError returns how many pixels an error of the geometry covers at a
// distance, both in metres, on a screen of the given height in pixels and
// vertical field of view in degrees.
func ScreenError(geometric, distance, fovY, height float64) float64 {
	return geometric * height / (2 * distance * math.Tan(fovY*math.Pi/360))
}
