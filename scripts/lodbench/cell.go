package main

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/untoldkit/untold/cook/measure"
	"github.com/untoldkit/untold/cook/palette"
	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/scripts/lodbench/model"
)

// cell is what the simplifier made of one model at one ratio. Distances are
// percent of the diagonal.
type cell struct {
	Model    string  `json:"model"`
	Ratio    float64 `json:"ratio"`
	Source   int     `json:"source"` // triangles
	Reached  int     `json:"reached"`
	RMS      float64 `json:"rms"`
	Max      float64 `json:"max"`
	Normal   float64 `json:"normal"`          // mean degrees
	Vertices int     `json:"vertices"`        // of the result
	Creases  int     `json:"creases"`         // of these, for second normals
	Claimed  float64 `json:"claimed"`         // the error that the simplifier reports
	Stop     string  `json:"stop"`            // why it ended
	Short    bool    `json:"short,omitempty"` // the target was not reached
	Pruned   int     `json:"pruned,omitempty"`
	Across   float64 `json:"across,omitempty"` // pixels along the diagonal where the level begins; 0: not looked at
	Seen     float64 `json:"seen,omitempty"`   // mean FLIP there, 0 to 1

	// These depend on the machine; no test compares them.
	Speed  float64 `json:"mtriPerSecond"`  // of the source
	Memory float64 `json:"bytesPerVertex"` // all that was allocated, result included, per vertex of the source
}

// subject is a model with what all of its cells share.
type subject struct {
	mesh     *model.Mesh
	index    *measure.Index
	diagonal float64
	viewer   *viewer
}

func newSubject(m *model.Mesh) *subject {
	s := &subject{mesh: m, index: measure.NewIndex(surface(m))}
	s.diagonal = s.index.Surface().Diagonal()
	s.viewer = newViewer(m, s.diagonal)
	return s
}

// measureAll measures all cells and passes each on as soon as it is there.
func measureAll(o *options, each func(cell)) ([]cell, error) {
	var cells []cell
	for _, name := range o.models {
		m, err := model.Get(name, o.assets, o.small)
		if err != nil {
			return nil, err
		}
		s := newSubject(m)
		for _, ratio := range o.ratios {
			c, level, err := s.measure(o, ratio)
			if err != nil {
				return nil, err
			}
			if ratio <= o.seenTo {
				if err := s.see(&c, level); err != nil {
					return nil, err
				}
			}
			if o.pictures != "" {
				if err := s.writePictures(o, c, level); err != nil {
					return nil, err
				}
			}
			cells = append(cells, c)
			each(c)
		}
	}
	return cells, nil
}

// measure simplifies the subject to a ratio and measures the distance of the
// result.
func (s *subject) measure(o *options, ratio float64) (cell, *simplify.Mesh, error) {
	in := &simplify.Mesh{Positions: s.mesh.Positions, Normals: s.mesh.Normals, UV: [2][][2]float32{s.mesh.UV}, Colors: s.mesh.Colors, Indices: s.mesh.Indices, Groups: s.mesh.Groups}
	opts := o.simplify
	// As cook does.
	var colors *palette.Palettes
	if s.mesh.Palettes != nil {
		if colors = palette.Find(in, s.mesh.Palettes); colors != nil {
			in = colors.Prepare(in)
			colors.Apply(&opts)
		}
	}
	opts.PruneBelow *= s.diagonal
	limit := math.Inf(1)
	if o.maxError > 0 {
		limit = o.maxError * s.diagonal
	}
	target := int(ratio * float64(s.mesh.Triangles()))
	c := cell{Model: s.mesh.Name, Ratio: ratio, Source: s.mesh.Triangles()}
	var result *simplify.Mesh
	for range o.repeat {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		mesh, r, err := simplify.Simplify(in, opts, target, limit)
		seconds := time.Since(start).Seconds()
		if err != nil {
			return cell{}, nil, fmt.Errorf("%s at %g %%: %w", c.Model, 100*ratio, err)
		}
		runtime.ReadMemStats(&after)
		if result = mesh; colors != nil {
			result = colors.Restore(mesh)
		}
		c.Stop, c.Pruned = r.Stop.String(), r.Pruned
		c.Vertices, c.Creases = len(mesh.Positions), r.Creases
		c.Claimed = round(100*r.RelativeError, 5)
		c.Speed = max(c.Speed, round(float64(c.Source)/1e6/seconds, 2))
		c.Memory = math.Round(float64(after.TotalAlloc-before.TotalAlloc) / float64(len(in.Positions)))
	}
	out := measure.NewIndex(&measure.Surface{Positions: result.Positions, Normals: result.Normals, Indices: result.Indices})
	r := measure.Compare(s.index, out, o.samples)
	scale := 100 / s.diagonal
	c.Reached = out.Surface().Triangles()
	c.Short = c.Reached > target
	c.RMS, c.Max, c.Normal = round(r.RMS*scale, 5), round(r.Max*scale, 3), round(r.Normal, 2)
	return c, result, nil
}
