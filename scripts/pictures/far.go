package main

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"path/filepath"

	"github.com/untoldkit/untold/manifest"
)

// flights are the ways through the demo city on which switches are looked for, 30 s each.
var flights = []struct {
	name string
	keys []key
}{
	{"street", []key{{0, [3]float64{-60, 1.7, 160}, [3]float64{1, 0, 0}}, {30, [3]float64{300, 1.7, 160}, [3]float64{1, 0, 0}}}},
	{"roof", []key{{0, [3]float64{-120, 30, 290}, [3]float64{1, -0.12, -0.6}}, {30, [3]float64{300, 30, 40}, [3]float64{1, -0.12, -0.6}}}},
	{"high", []key{
		{0, [3]float64{160, 400, 900}, [3]float64{0, -0.5, -1}},
		{15, [3]float64{160, 180, 400}, [3]float64{0, -0.7, -1}},
		{30, [3]float64{160, 400, 900}, [3]float64{0, -0.5, -1}},
	}},
	{"orbit", turn(330, 160, 24)},
}

// key is where a camera is at a time.
type key struct {
	t                 float64
	position, forward [3]float64
}

// turn is a circle round the city in 30 s, radius and height in metres.
func turn(radius, height float64, steps int) []key {
	var keys []key
	for i := range steps + 1 {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(steps))
		keys = append(keys, key{30 * float64(i) / float64(steps), [3]float64{160 + float64(radius*cos), height, 160 + float64(radius*sin)}, [3]float64{-cos, -0.35, -sin}})
	}
	return keys
}

func pathFile(keys []key) map[string]any {
	var list []any
	for _, k := range keys {
		list = append(list, map[string]any{"t": k.t, "position": k.position, "forward": k.forward, "mode": "linear"})
	}
	return map[string]any{"fov_y_degrees": 60, "camera": list}
}

// withPyramid cooks the demo city with levels and nodes.
func (s *studio) withPyramid() (string, error) {
	return s.cookCity("pyramid", "--pyramid", "--whole-limit", "0")
}

// switches shows the worst switch of each flight: before, after, and FLIP.
func (s *studio) switches(out string) error {
	const w, h = 426, 240
	scene, err := s.withPyramid()
	if err != nil {
		return err
	}
	var rows []row
	for _, f := range flights {
		path, figures, pictures := filepath.Join(s.dir, f.name+".json"), filepath.Join(s.dir, f.name+"-pops.json"), filepath.Join(s.dir, f.name+"-pops.png")
		if err := writeJSON(path, pathFile(f.keys)); err != nil {
			return err
		}
		// At once: with fades, as untold preview has them, there is less to see.
		if err := s.call(s.program, "preview", scene, "--camera-path", path, "--size", fmt.Sprintf("%dx%d", w, h), "--set", "enableFadeTransitions=false",
			"--pop-report", figures, "--pop-report", pictures); err != nil {
			return err
		}
		var p pops
		if err := readJSON(figures, &p); err != nil {
			return err
		}
		fmt.Fprintf(s.log, "%s: %d frames with switches, FLIP p99 %.4f, at most %.4f\n", f.name, len(p.Switches), p.P99, p.Max)
		worst, at := p.worst()
		if at < 0 {
			continue
		}
		sheet, err := open(pictures)
		if err != nil {
			return err
		}
		cells, err := reportCells(sheet, w, h, min(len(p.Switches), 8))
		if err != nil {
			return err
		}
		caption := fmt.Sprintf("%s, the worst of %d, at %.1f s (%s): before, after, FLIP %.4f; p99 of the flight %.4f", f.name, len(p.Switches), worst.T, worst.what(), worst.FLIP, p.P99)
		rows = append(rows, row{caption, cells[0]})
	}
	m, err := sheet(rows)
	if err != nil {
		return err
	}
	return save(filepath.Join(out, "switches.jpg"), m)
}

// pops is what --pop-report writes.
type pops struct {
	Switches []pop   `json:"switches"`
	P99      float64 `json:"pop_p99"`
	Max      float64 `json:"pop_max"`
}

type pop struct {
	T     float64 `json:"t"`
	FLIP  float64 `json:"flip"`
	Tiles []struct {
		Tile, From, To string
	} `json:"tiles"`
}

// worst returns the switch whose pictures the report shows first, and -1 where there is none.
func (p *pops) worst() (pop, int) {
	at := -1
	for i := range p.Switches {
		if at < 0 || p.Switches[i].FLIP > p.Switches[at].FLIP {
			at = i
		}
	}
	if at < 0 {
		return pop{}, at
	}
	return p.Switches[at], at
}

// what names the first tile of a switch.
func (p *pop) what() string {
	if len(p.Tiles) == 0 {
		return "a fade"
	}
	t := p.Tiles[0]
	text := fmt.Sprintf("%s %s to %s", t.Tile, t.From, t.To)
	if n := len(p.Tiles) - 1; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// sight is a scene in a picture in which a pixel has a size in metres.
type sight struct {
	name  string
	metre float64 // a pixel
	down  float64 // degrees
}

// views writes cameras that look at the middle of a scene from so far that a pixel of a picture
// of h lines has the given size there, through a long lens, so that it has that everywhere.
func views(path string, middle [3]float64, h int, sights []sight) error {
	const fov = 10
	var list []any
	for _, v := range sights {
		sin, cos := math.Sincos(v.down * math.Pi / 180)
		forward := [3]float64{-0.6 * cos, -sin, -0.8 * cos}
		away := v.metre * float64(h) / 2 / math.Tan(fov*math.Pi/360)
		var at [3]float64
		for k := range 3 {
			at[k] = middle[k] - away*forward[k]
		}
		list = append(list, map[string]any{"name": v.name, "position": at, "forward": forward, "fov_y_degrees": fov})
	}
	return writeJSON(path, map[string]any{"views": list})
}

// compared is what --compare-whole writes.
type compared struct {
	Views []struct {
		Name      string  `json:"name"`
		FLIP      float64 `json:"flip_mean"`
		HLOD      int     `json:"drawn_hlod"`
		LOD       int     `json:"drawn_lod"`
		Full      int     `json:"drawn_full"`
		Triangles int     `json:"triangles"`
		Whole     int     `json:"whole_triangles"`
	} `json:"views"`
}

// beside compares a scene as it streams with full detail, in pictures of w x h pixels whose
// lines are those that errors in pixels count.
func (s *studio) beside(scene, title string, w, h int, sights []sight) ([]row, error) {
	m, err := manifest.Load(scene)
	if err != nil {
		return nil, err
	}
	b := cmp.Or(m.ContentBounds, m.SceneBounds)
	middle := [3]float64{(b.Min[0] + b.Max[0]) / 2, b.Min[1], (b.Min[2] + b.Max[2]) / 2}
	cameras, figures, pictures := filepath.Join(s.dir, "views.json"), filepath.Join(s.dir, "beside.json"), filepath.Join(s.dir, "beside.png")
	if err := views(cameras, middle, h, sights); err != nil {
		return nil, err
	}
	if err := s.call(s.program, "preview", scene, "--compare-whole", cameras, "--size", fmt.Sprintf("%dx%d", w, h),
		"--set", fmt.Sprintf("pictureHeight=%d", h), "--report", figures, "--report", pictures); err != nil {
		return nil, err
	}
	var c compared
	if err := readJSON(figures, &c); err != nil {
		return nil, err
	}
	picture, err := open(pictures)
	if err != nil {
		return nil, err
	}
	cells, err := reportCells(picture, w, h, len(c.Views))
	if err != nil {
		return nil, err
	}
	var rows []row
	for i, v := range c.Views {
		caption := fmt.Sprintf("%s, %s: streamed (%d nodes or HLODs, %d LODs, %d full), whole, FLIP %.4f", title, v.Name, v.HLOD, v.LOD, v.Full, v.FLIP)
		fmt.Fprintln(s.log, caption)
		rows = append(rows, row{caption, cells[i]})
	}
	return rows, nil
}

// pyramid shows the demo city streamed and whole where nodes begin.
func (s *studio) pyramid(out string) error {
	scene, err := s.withPyramid()
	if err != nil {
		return err
	}
	rows, err := s.beside(scene, "demo city", 426, 300, []sight{
		{"0.5 m a pixel, from 45 degrees", 0.5, 45},
		{"1 m a pixel, from 45 degrees", 1, 45},
		{"2 m a pixel, from 45 degrees", 2, 45},
		{"1 m a pixel, from 15 degrees", 1, 15},
	})
	if err != nil {
		return err
	}
	m, err := sheet(rows)
	if err != nil {
		return err
	}
	return save(filepath.Join(out, "pyramid.jpg"), m)
}

// forest shows a forest streamed and whole where its nodes begin and farther away.
func (s *studio) forest(out string) error {
	glb, err := s.scene("forest", "-kind", "forest", "-blocks", "2")
	if err != nil {
		return err
	}
	scene, err := s.cook("forest", glb, "--pyramid", "--whole-limit", "0", "--tile-size", "40")
	if err != nil {
		return err
	}
	rows, err := s.beside(scene, "forest", 300, 200, []sight{
		{"0.75 m a pixel, from 45 degrees", 0.75, 45},
		{"1.5 m a pixel, from 45 degrees", 1.5, 45},
		{"0.75 m a pixel, from 15 degrees", 0.75, 15},
	})
	if err != nil {
		return err
	}
	m, err := sheet(rows)
	if err != nil {
		return err
	}
	return save(filepath.Join(out, "forest.jpg"), m)
}

// horizon shows a large city to its end, from high up and from its roofs.
func (s *studio) horizon(out string) error {
	name := fmt.Sprintf("city%d", s.side)
	glb, err := s.scene(name, "-size", fmt.Sprint(s.side))
	if err != nil {
		return err
	}
	scene, err := s.cook(name, glb, "--pyramid", "--whole-limit", "0")
	if err != nil {
		return err
	}
	side := float64(s.side)
	budgets := []string{"--set", "geometryBudget=160000000", "--set", "textureBudget=96000000"}
	var rows []row
	const seconds = 60 // at five ticks each: until a thousand textures have come and found their sizes
	for i, v := range []view{
		{position: [3]float64{-0.1 * side, float64(0.3*side) + 40, 1.15 * side}, forward: [3]float64{0.6, -0.36, -0.7}, seconds: seconds},
		{position: [3]float64{0.2 * side, 36, 0.95 * side}, forward: [3]float64{0.4, -0.1, -0.9}, seconds: seconds},
	} {
		m, err := s.shot(scene, &v, "960x400", budgets...)
		if err != nil {
			return fmt.Errorf("picture %d: %w", i, err)
		}
		rows = append(rows, row{cells: []image.Image{m}})
	}
	m, err := sheet(rows)
	if err != nil {
		return err
	}
	return save(filepath.Join(out, "horizon.jpg"), m)
}

// tune draws what untold tune tries on a city.
func (s *studio) tune(out string) error {
	glb, err := s.scene("tune", "-size", "1000")
	if err != nil {
		return err
	}
	path, err := filepath.Abs(filepath.Join(out, "tune.svg"))
	if err != nil {
		return err
	}
	return s.call(s.program, "tune", glb, "--bandwidth", "10MBps", "--latency", "50ms", "--trials", "8", "--force", "--plot", path)
}
