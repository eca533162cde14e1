// Command shot draws cooked scenes without a GPU: pictures for the documents,
// and a look at what a cook made. One picture holds a panel per level.
//
//	go run ./scripts/shot -o city.png -levels full,lod1,lod2,hlod out/city/city.json
//
// It draws front faces with their base colour under a fixed sun. A tile that
// lacks a level is drawn at the next finer one.
package main

import (
	"flag"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "shot:", err)
		os.Exit(1)
	}
}

func run() error {
	out := flag.String("o", "shot.png", "the picture")
	levels := flag.String("levels", "full", "comma-separated panels: full, lod1, lod2, hlod, ...")
	eye := flag.String("eye", "", "camera position x,y,z (default: from above a corner)")
	target := flag.String("target", "", "point to look at x,y,z (default: the middle of the scene)")
	fov := flag.Float64("fov", 50, "vertical field of view in degrees")
	size := flag.String("size", "640x480", "of one panel in pixels")
	tiles := flag.String("tiles", "", "only tiles whose id contains this")
	columns := flag.Int("columns", 2, "panels in a row")
	wire := flag.Bool("wire", false, "draw the edges of triangles")
	flag.Parse()
	if flag.NArg() != 1 {
		return fmt.Errorf("give one manifest or one .untold file")
	}
	var w, h int
	if n, _ := fmt.Sscanf(*size, "%dx%d", &w, &h); n != 2 || w < 1 || h < 1 || w > 1<<14 || h > 1<<14 {
		return fmt.Errorf("-size %q is not like 640x480", *size)
	}
	names := strings.Split(*levels, ",")
	cols := min(max(*columns, 1), len(names))
	rows := (len(names) + cols - 1) / cols
	sheet := image.NewNRGBA(image.Rect(0, 0, cols*w, rows*h))
	for i, name := range names {
		s, err := load(flag.Arg(0), name, *tiles)
		if err != nil {
			return err
		}
		cam, err := camera(s.bounds, *eye, *target, *fov, w, h)
		if err != nil {
			return err
		}
		r := newRaster(w, h, cam, *wire)
		for m := range s.meshes {
			r.mesh(&s.meshes[m])
		}
		at := image.Rect(i%cols*w, i/cols*h, i%cols*w+w, i/cols*h+h)
		draw.Draw(sheet, at, r.picture(), image.Point{}, draw.Src)
		fmt.Printf("%s: %d files, %d triangles\n", name, s.files, s.triangles)
	}
	f, err := os.Create(*out)
	if err != nil {
		return err
	}
	enc := png.Encoder{CompressionLevel: png.BestCompression}
	if err := enc.Encode(f, sheet); err != nil {
		return err
	}
	return f.Close()
}

// payloads lists the files of a manifest at a level.
func payloads(path, level, filter string) ([]string, error) {
	if strings.HasSuffix(path, ".untold") {
		return []string{path}, nil
	}
	m, err := manifest.Load(path)
	if err != nil {
		return nil, err
	}
	var out []string
	add := func(rel string) error {
		full, err := manifest.Resolve(filepath.Dir(path), rel)
		out = append(out, full)
		return err
	}
	for i := range m.Tiles {
		if t := &m.Tiles[i]; strings.Contains(t.ID, filter) {
			if err := add(pathAt(t, level)); err != nil {
				return nil, err
			}
		}
	}
	if m.SharedBucket != nil && filter == "" {
		if err := add(m.SharedBucket.Path); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// pathAt returns the payload of a tile at a level or the next finer one.
func pathAt(t *manifest.Tile, level string) string {
	best := t.Path
	want := rank(level)
	for _, l := range append(append([]manifest.Level{}, t.LODLevels...), t.HLODLevels...) {
		name := strings.TrimSuffix(filepath.Base(l.Path), ".untold")
		if rank(name[strings.LastIndex(name, "_")+1:]) <= want {
			best = l.Path
		}
	}
	return best
}

// rank orders levels from fine to coarse.
func rank(level string) int {
	var n int
	switch _, err := fmt.Sscanf(level, "lod%d", &n); {
	case err == nil:
		return n
	case level == "full":
		return 0
	}
	return 1 << 20
}

// camera looks at the scene.
func camera(b geom.Box, eye, target string, fov float64, w, h int) (*view, error) {
	c, size := b.Center(), b.Size()
	at := geom.Vec3{c[0], b.Min[1] + 0.2*size[1], c[2]}
	from := geom.Vec3{c[0] - 0.55*size[0], b.Max[1] + 0.35*max(size[0], size[2]), c[2] + 0.75*size[2]}
	for _, p := range []struct {
		text string
		v    *geom.Vec3
	}{{eye, &from}, {target, &at}} {
		if p.text == "" {
			continue
		}
		if n, _ := fmt.Sscanf(p.text, "%g,%g,%g", &p.v[0], &p.v[1], &p.v[2]); n != 3 {
			return nil, fmt.Errorf("%q is not like 1,2,3", p.text)
		}
	}
	return newView(from, at, fov, w, h), nil
}
