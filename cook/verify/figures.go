package verify

import (
	"fmt"
	"slices"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/internal/budget"
	"github.com/untoldkit/untold/manifest"
)

// Figures are the numbers of a verdict that budgets are about, by the names of the
// vocabulary (untold figures).
type Figures struct {
	Files    int `json:"files"`
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Infos    int `json:"infos"` // of those that are listed
	// Figures are of all manifests that were judged, as of one scene; nil without any
	// that can be read.
	*manifest.Figures
}

// Value returns a figure by the key of its JSON. Figures of scenes are not known
// where no manifest was judged.
func (f *Figures) Value(name string) (float64, error) {
	if f.Figures == nil && slices.Contains(sceneFigures(), name) {
		return 0, fmt.Errorf("%s is of a scene, and no manifest that can be read was judged", name)
	}
	return budget.Value(f, name)
}

func sceneFigures() []string {
	names, _ := budget.Numbers(&manifest.Figures{})
	return names
}

// FigureNames lists what Figures have.
func FigureNames() []string {
	names, _ := budget.Numbers(&Figures{Figures: &manifest.Figures{}})
	return names
}

// count fills in Figures.
func (r *Report) count(manifests []*manifest.Manifest) {
	f := Figures{Files: len(r.Files), Errors: r.Errors, Warnings: r.Warnings}
	for i := range r.Files {
		for k := range r.Files[i].Findings {
			if r.Files[i].Findings[k].Severity == finding.Info {
				f.Infos++
			}
		}
	}
	if len(manifests) > 0 {
		of := manifest.FiguresOf(manifests...)
		f.Figures = &of
	}
	r.Figures = f
}
