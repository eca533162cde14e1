package cook

import (
	"slices"

	"github.com/untoldkit/untold/cook/report"
	"github.com/untoldkit/untold/manifest"
)

// levelFigures are the figures that follow from levels.
var levelFigures = []string{
	"level_files", "level_bytes_max", "level_bytes_total", "geometry_bytes_total", "visual_error_px_p50", "visual_error_px_p95", "visual_error_px_max",
	"unload_radius_max", "gpu_bytes_at_most", "dropped_levels", "notes",
}

// FollowsFromLevels reports whether a figure is an estimate with
// OutputOptions.EstimateLevels.
func FollowsFromLevels(figure string) bool { return slices.Contains(levelFigures, figure) }

// countFigures fills in Figures from all else that a result has.
func (r *Result) countFigures() {
	f := report.Figures{Figures: manifest.FiguresOf(r.Manifest), DroppedLevels: len(r.Dropped)}
	if !r.DryRun {
		t := &r.TextureTotals
		f.TextureFiles, f.TextureBytes, f.TextureMemory = &t.Files, &t.Bytes, &t.GPUBytes
	}
	if r.Needs != nil {
		f.GPUBytesAtMost = r.Needs.MostBytes
	}
	for i := range r.Notes {
		if r.Notes[i].Warning {
			f.Warnings++
		} else {
			f.Notes++
		}
	}
	r.Figures = f
	if r.Report != nil {
		r.Report.Figures = &r.Figures
	}
}
