package preview

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/preview/internal/batch"
	"github.com/untoldkit/untold/preview/internal/hud"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/preview/surface"
	"github.com/untoldkit/untold/runtime/payload"
)

const (
	// batchTiles is how many tiles wide a batch cell is: cooked tiles have one
	// mesh of each material, so there is something to join between tiles only.
	batchTiles = 4
	// batchStable is for how many frames nothing may have come to a cell or gone
	// from it before it is merged: cells of many tiles change often.
	batchStable = 3
	// batchAssets bounds the decoded geometry that is kept for merging.
	batchAssets = 256 << 20
	// batchShare is the part of the geometry budget that batches may have, as a
	// divisor.
	batchShare = 4
	// looseCell is the cell of files without tiles, in metres.
	looseCell = 100
)

// startBatching lets the renderer join static meshes, if the configuration says
// so. In virtual time that does not depend on how fast it is.
func (a *app) startBatching() {
	cfg := &a.o.Config
	if !cfg.Batching.Enabled {
		return
	}
	o := batch.OptionsOf(cfg)
	o.StableFrames = batchStable
	a.r.SetBatching(&render.BatchOptions{Options: o, Sync: a.clock.virtual, AssetBytes: batchAssets})
}

// batchCell returns the edge of a scene's batch cells.
func batchCell(open *Loaded) float64 {
	m := open.Source.Manifest
	if m.TileSize == nil && open.Everywhere {
		return looseCell
	}
	return batchTiles * batch.CellSize(m)
}

// limitBatches leaves batches what streaming does not need: they go before any
// geometry would have to.
func (a *app) limitBatches() {
	st := a.shown.s.Stats()
	budget := st.GeometryBudget
	if budget == 0 {
		budget = a.o.Config.GeometryBudget // before the first tick
	}
	if budget <= 0 || budget == math.MaxInt64 {
		a.r.LimitBatches(0)
		return
	}
	room := int64(a.o.Config.LowWaterMark*float64(budget)) - st.GeometryBytes
	a.r.LimitBatches(max(1, min(budget/batchShare, room)))
}

// cellColors are those of batch cells by their state.
var cellColors = [...]hud.Color{
	batch.CellUnbatched: hud.ColorNone, batch.CellPending: hud.ColorLoading,
	batch.CellBatched: hud.ColorResident, batch.CellRefused: hud.ColorUnloaded,
}

// cellLegend explains them.
func cellLegend() []hud.LegendEntry {
	return []hud.LegendEntry{
		{Color: hud.ColorResident, Text: "cell: merged"},
		{Color: hud.ColorLoading, Text: "pending"},
		{Color: hud.ColorNone, Text: "nothing to join"},
		{Color: hud.ColorUnloaded, Text: "too large"},
	}
}

// drawCells adds the boxes of what the batch cells hold.
func (v *overlay) drawCells(scene payload.SceneID, root *geom.Mat4) {
	for i := range v.cells[:min(len(v.cells), hud.MaxBoxes)] {
		c := &v.cells[i]
		if c.Scene == scene {
			v.lines = hud.AppendBox(v.lines, boxOf(c), root, cellColors[min(c.State, batch.CellRefused)])
		}
	}
}

func boxOf(c *batch.Cell) geom.Box {
	return geom.Box{Min: geom.FromF32(c.Bounds.Min), Max: geom.FromF32(c.Bounds.Max)}
}

// showBatches shows what is merged, or the cells in which it is.
func (a *app) showBatches(m surface.Mods) {
	switch {
	case !a.o.Config.Batching.Enabled:
		a.messages.notify("static batching is off")
	case m&surface.ModShift != 0:
		toggle("batch cells", func(s *Show) *bool { return &s.Cells })(a, m)
	default:
		a.display.flip(render.ViewBatches)
	}
}
