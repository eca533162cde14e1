package main

import (
	_ "embed" // for reference.json
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/untoldkit/untold/scripts/lodbench/model"
)

// The other simplifiers. meshoptimizer's names are those of docs/lod.md.
const (
	blender    = "blender"
	attrUpdate = "attr+update"
	attr       = "attr"
)

var peerNames = []string{blender, attrUpdate, attr}

// peerCell is what another simplifier made of one model at one ratio.
// Distances are percent of the diagonal.
type peerCell struct {
	Model     string   `json:"model"`
	Ratio     float64  `json:"ratio"`
	Peer      string   `json:"peer"`
	Source    int      `json:"source"`
	Triangles int      `json:"triangles"`
	RMS       float64  `json:"rms"`
	Max       float64  `json:"max"`
	Normal    *float64 `json:"normal,omitempty"` // mean degrees, nil for not measured
	// Seen is the mean FLIP at all rungs of the ladder, 0 to 1, since our level
	// decides at which size it counts; nil for not measured.
	Seen []float64 `json:"seen,omitempty"`
}

// referenceFile is reference.json, which -peers writes.
type referenceFile struct {
	Versions map[string]string `json:"versions"`
	Cells    []peerCell        `json:"cells"`
}

//go:embed reference.json
var referenceJSON []byte

// published are the reference numbers of the three models that are not
// generated, as measured in C++ with meshoptimizer 1.2 and Blender 3.4.1:
// RMS of Blender, then RMS and mean normal deviation of attr+update. They are
// rounded to 4 and 1 decimals. stuck marks cells that attr+update does not
// reach within 2 %.
var published = []struct {
	model                   string
	ratio                   float64
	blender, update, normal float64
	stuck                   bool
}{
	{"FlightHelmet", 0.5, 0.0055, 0.0117, 1.5, false},
	{"FlightHelmet", 0.2, 0.0296, 0.0493, 7.6, false},
	{"FlightHelmet", 0.1, 0.0678, 0.1139, 16.5, false},
	{"Mountains", 0.5, 0.0075, 0.0108, 0.5, false},
	{"Mountains", 0.2, 0.0189, 0.0319, 1.4, false},
	{"Mountains", 0.1, 0.0353, 0.0656, 2.3, false},
	{"dutch_ship", 0.5, 0.0065, 0.0194, 1.6, false},
	{"dutch_ship", 0.2, 0.0431, 0.7181, 26.3, false},
	{"dutch_ship", 0.1, 0.2201, 1.2860, 29.1, true},
}

// reference holds the figures to compare one cell with; nil for none.
type reference struct {
	blender, update, normal *float64
	stuck                   bool // attr+update does not reach the target within 2 %
	blenderStuck            bool // nor does Blender
	decimals, degrees       int  // to which distances and angles are rounded

	blenderSeen, updateSeen []float64 // ladders
}

// seenBy returns how the other's results look where our level begins, nil for
// unknown.
func seenBy(c *cell, ladder []float64) *float64 {
	if c.Across == 0 || len(ladder) != rungs {
		return nil
	}
	v := between(ladder, c.Across)
	return &v
}

type key struct {
	model string
	ratio float64
}

// references returns the figures to compare with: the published ones, and those
// of reference.json for generated models in their full size, and for what is
// seen of all.
func references(small bool) (map[key]reference, error) {
	refs := map[key]reference{}
	for i := range published {
		p := &published[i]
		refs[key{p.model, p.ratio}] = reference{blender: &p.blender, update: &p.update, normal: &p.normal, stuck: p.stuck, decimals: 4, degrees: 1}
	}
	file, err := readReference()
	if err != nil {
		return nil, err
	}
	for i := range file.Cells {
		c := &file.Cells[i]
		if small && model.Generated(c.Model) {
			continue
		}
		k := key{c.Model, c.Ratio}
		r := refs[k]
		switch c.Peer {
		case blender:
			r.blenderSeen = c.Seen
		case attrUpdate:
			r.updateSeen = c.Seen
		}
		if !model.Generated(c.Model) {
			refs[k] = r
			continue
		}
		r.decimals, r.degrees = 5, 2
		short := float64(c.Triangles) > 1.02*c.Ratio*float64(c.Source)
		switch c.Peer {
		case blender:
			r.blender, r.blenderStuck = &c.RMS, short
		case attrUpdate:
			r.update, r.normal, r.stuck = &c.RMS, c.Normal, short
		}
		refs[k] = r
	}
	return refs, nil
}

func readReference() (*referenceFile, error) {
	var file referenceFile
	if err := json.Unmarshal(referenceJSON, &file); err != nil {
		return nil, fmt.Errorf("reference.json: %w", err)
	}
	return &file, nil
}

// verdict compares a figure with a reference rounded to decimals. ok is true
// if there is none.
func verdict(v float64, ref *float64, decimals int) (mark string, ok bool) {
	switch {
	case ref == nil:
		return "", true
	case round(v, decimals) <= *ref:
		return "<=", true
	}
	return ">", false
}

// updateReference measures the results of other simplifiers in folder, beside
// which versions.tsv names what made them, and writes them to path. Cells of
// models that were not selected stay.
func updateReference(o *options, folder, path string, log io.Writer) error {
	file, err := readReference()
	if err != nil {
		return err
	}
	versions, err := os.ReadFile(filepath.Join(folder, "versions.tsv"))
	if err != nil {
		return fmt.Errorf("scripts/lodpeers/run.sh makes the results to measure: %w", err)
	}
	file.Versions = map[string]string{}
	for line := range strings.Lines(string(versions)) {
		if name, version, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			file.Versions[name] = version
		}
	}
	cells, err := measurePeers(o, folder, log)
	if err != nil {
		return err
	}
	for _, c := range file.Cells {
		if !slices.Contains(o.models, c.Model) {
			cells = append(cells, c)
		}
	}
	slices.SortStableFunc(cells, func(a, b peerCell) int {
		return slices.Index(model.Names, a.Model) - slices.Index(model.Names, b.Model)
	})
	file.Cells = cells
	return writeJSON(path, file)
}
