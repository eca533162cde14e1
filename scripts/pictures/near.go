package main

import (
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"

	"github.com/untoldkit/untold/manifest"
)

// demo is what make demo shows without a window.
func (s *studio) demo(out string) error {
	scene, err := s.cookCity("demo")
	if err != nil {
		return err
	}
	m, err := s.shot(scene, nil, "960x540")
	if err != nil {
		return err
	}
	return save(filepath.Join(out, "demo.jpg"), m)
}

// settings are those of the pictures of docs/tuning.md.
var settings = []struct {
	name          string
	cook, preview []string
}{
	{"tuning-2px", nil, nil},
	{"tuning-16px", []string{"--lod-error-pixels", "16"}, nil},
	{"tuning-budget", nil, []string{"--set", "geometryBudget=4000000"}},
}

// looks are the views of each setting, by the ends of their names.
var looks = []struct{ suffix, view string }{{".png", "lit"}, {"-levels.png", "lod"}}

func tuningFiles() []string {
	var names []string
	for _, c := range settings {
		for _, look := range looks {
			names = append(names, c.name+look.suffix)
		}
	}
	return names
}

// tuning has one view of the city at different settings, each with its levels.
func (s *studio) tuning(out string) error {
	v := &view{position: [3]float64{-30, 60, 330}, forward: [3]float64{0.69, -0.26, -0.68}}
	for _, c := range settings {
		scene, err := s.cookCity(c.name, append([]string{"--whole-limit", "0"}, c.cook...)...)
		if err != nil {
			return err
		}
		for _, look := range looks {
			stats := filepath.Join(s.dir, c.name+"-stats.json")
			m, err := s.shot(scene, v, "376x212", append([]string{"--view", look.view, "--stats", stats}, c.preview...)...)
			if err != nil {
				return err
			}
			if err := save(filepath.Join(out, c.name+look.suffix), m); err != nil {
				return err
			}
			if err := s.figures(c.name, stats); err != nil {
				return err
			}
		}
	}
	return nil
}

// figures prints what a page says of a picture.
func (s *studio) figures(name, file string) error {
	var f struct {
		Triangles int     `json:"triangles"`
		Geometry  int64   `json:"geometry_bytes"`
		Loaded    int64   `json:"bytes_loaded"`
		Error     float64 `json:"error_px_p50"`
	}
	if err := readJSON(file, &f); err != nil {
		return err
	}
	fmt.Fprintf(s.log, "%s: %d triangles, %d bytes on the GPU, %d bytes loaded, error %.1f pixels of 1080\n", name, f.Triangles, f.Geometry, f.Loaded, f.Error)
	return nil
}

// levels shows the city with all tiles at one level, of each tile the coarsest up to it.
func (s *studio) levels(out string) error {
	scene, err := s.cookCity("levels", "--tile-size", "50",
		"--lod-level", "0.3:0.5", "--lod-level", "0.78:0.2", "--hlod-level", "_hlod:1:0.1")
	if err != nil {
		return err
	}
	v := &view{position: [3]float64{-20, 75, 345}, forward: [3]float64{0.66, -0.2, -0.72}}
	var cells []image.Image
	for level, name := range []string{"full", "lod1", "lod2", "hlod"} {
		m, err := manifest.Load(scene)
		if err != nil {
			return err
		}
		sum, bytes, tiles := atLevel(m, level)
		fmt.Fprintf(s.log, "levels, %s: %d triangles and %d bytes of %d tiles\n", name, sum, bytes, tiles)
		path := filepath.Join(filepath.Dir(scene), "all-"+name+".json")
		if err := m.Save(path); err != nil {
			return err
		}
		// All tiles come before the picture is taken.
		picture, err := s.shot(path, v, "440x280", "--whole", "--set", "maxConcurrentTileLoads=64")
		// Another manifest would keep the folder from being cooked again.
		if err := errors.Join(err, os.Remove(path)); err != nil {
			return err
		}
		cells = append(cells, picture)
	}
	m, err := sheet([]row{{"full; LOD 1", cells[:2]}, {"LOD 2; HLOD", cells[2:]}})
	if err != nil {
		return err
	}
	return save(filepath.Join(out, "levels.jpg"), m)
}

// atLevel puts a level of each tile in the place of the tile: 0 is full detail, 1 and 2 the
// LODs, 3 the HLOD. It returns triangles and bytes of that level, and how many tiles have it.
func atLevel(m *manifest.Manifest, level int) (triangles, bytes int64, tiles int) {
	for i := range m.Tiles {
		t := &m.Tiles[i]
		chain := []manifest.Level{{Path: t.Path, TriangleCount: t.TriangleCount, FileSizeBytes: t.FileSizeBytes, SHA256: t.SHA256}}
		for k, l := range t.LODLevels {
			if k < level {
				chain = append(chain, l)
			}
		}
		reached := len(chain) == level+1
		if level == 3 && len(t.HLODLevels) > 0 {
			chain, reached = append(chain, t.HLODLevels[0]), true
		}
		l := chain[len(chain)-1]
		if reached {
			triangles, bytes, tiles = triangles+int64(l.TriangleCount), bytes+l.FileSizeBytes, tiles+1
		}
		t.Path, t.TriangleCount, t.FileSizeBytes, t.SHA256 = l.Path, l.TriangleCount, l.FileSizeBytes, l.SHA256
		t.LODLevels, t.HLODLevels = nil, []manifest.Level{}
	}
	m.Pyramid = nil
	return triangles, bytes, tiles
}
