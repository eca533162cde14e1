package cook

import (
	"github.com/untoldkit/untold/cook/report"
	"github.com/untoldkit/untold/manifest"
)

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
