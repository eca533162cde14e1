package report

import (
	"github.com/untoldkit/untold/internal/budget"
	"github.com/untoldkit/untold/manifest"
)

// Figures are the numbers of a cook that budgets are about, by the names of the
// vocabulary (untold figures). What a plan does not know is nil.
type Figures struct {
	manifest.Figures
	TextureFiles   *int   `json:"texture_files"`
	TextureBytes   *int64 `json:"texture_bytes_total"` // of the files
	TextureMemory  *int64 `json:"texture_memory"`      // bytes on the GPU with all levels
	GPUBytesAtMost int64  `json:"gpu_bytes_at_most"`   // of geometry, wanted at a time
	DroppedLevels  int    `json:"dropped_levels"`
	Notes          int    `json:"notes"`    // kinds, without warnings
	Warnings       int    `json:"warnings"` // kinds
}

// Value returns a figure by the key of its JSON.
func (f *Figures) Value(name string) (float64, error) { return budget.Value(f, name) }
