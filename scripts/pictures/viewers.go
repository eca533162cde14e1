package main

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/untoldkit/untold/manifest"
)

// gaze is a camera by what it looks at, with 60 degrees from bottom to top, as the pages of
// scripts/viewers3d have it.
type gaze struct{ eye, target [3]float64 }

func (g *gaze) view() *view {
	v := &view{position: g.eye, fov: 60}
	var length float64
	for k := range 3 {
		v.forward[k] = g.target[k] - g.eye[k]
		length = math.Hypot(length, v.forward[k])
	}
	for k := range 3 {
		v.forward[k] /= length
	}
	return v
}

// at looks down at all of a scene from a corner.
func at(scene string) (*gaze, error) {
	m, err := manifest.Load(scene)
	if err != nil {
		return nil, err
	}
	b := m.SceneBounds
	if m.ContentBounds != nil {
		b = m.ContentBounds
	}
	var g gaze
	var diagonal float64
	for k := range 3 {
		g.target[k] = (b.Min[k] + b.Max[k]) / 2
		diagonal = math.Hypot(diagonal, b.Max[k]-b.Min[k])
	}
	for k, v := range [3]float64{-0.55, 0.45, 0.7} {
		g.eye[k] = g.target[k] + diagonal*v
	}
	return &g, nil
}

// job is a picture for scripts/viewers3d/capture.mjs.
type job struct {
	Name    string `json:"name"`
	Viewer  string `json:"viewer"`
	Tileset string `json:"tileset"`
	Eye     string `json:"eye"`
	Target  string `json:"target"`
	Out     string `json:"out"`
	Width   int    `json:"width"`
	Height  int    `json:"height"`
	Timeout int    `json:"timeout"` // milliseconds
}

// captures draws files of the studio's folder in viewers, each with w x h pixels.
func (s *studio) captures(w, h int, g *gaze, files map[string]string, viewers ...string) ([]image.Image, error) {
	dir, err := filepath.Abs(filepath.Join(s.dir, "viewers3d"))
	if err != nil {
		return nil, err
	}
	scripts, err := filepath.Abs(filepath.Join("scripts", "viewers3d"))
	if err != nil {
		return nil, err
	}
	if err := s.call("sh", filepath.Join(scripts, "modules.sh"), dir); err != nil {
		return nil, err
	}
	url, stop, err := s.serve()
	if err != nil {
		return nil, err
	}
	defer stop()
	text := func(v [3]float64) string { return strings.ReplaceAll(strings.Trim(fmt.Sprint(v), "[]"), " ", ",") }
	var jobs []job
	for _, name := range viewers {
		rel, err := filepath.Rel(s.dir, files[name])
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, job{
			Name: filepath.Base(files[name]), Viewer: name, Tileset: url + "/" + filepath.ToSlash(rel), Eye: text(g.eye), Target: text(g.target),
			Out: filepath.Join(dir, name+".png"), Width: w, Height: h, Timeout: 1_200_000,
		})
	}
	list := filepath.Join(dir, "jobs.json")
	if err := writeJSON(list, jobs); err != nil {
		return nil, err
	}
	cmd := exec.Command("node", filepath.Join(scripts, "capture.mjs"), list)
	cmd.Dir = dir // where the modules are
	said, err := cmd.CombinedOutput()
	fmt.Fprintf(s.log, "%s", said)
	if err != nil { // also where something was not drawn in time
		return nil, fmt.Errorf("capture.mjs: %w", err)
	}
	var out []image.Image
	for i := range jobs {
		m, err := open(jobs[i].Out)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// address is the beginning of the one that untold serve prints.
var address = regexp.MustCompile(`http://[0-9.:]+`)

// serve serves the studio's folder until stop.
func (s *studio) serve() (url string, stop func(), err error) {
	cmd := exec.Command(s.program, "serve", s.dir, "--addr", "127.0.0.1:0", "--quiet")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	lines := bufio.NewScanner(out)
	for url == "" && lines.Scan() {
		url = address.FindString(lines.Text())
	}
	if url == "" {
		stop()
		return "", nil, errors.Join(errors.New("untold serve printed no address"), lines.Err())
	}
	go func() { // what it says later is nobody's
		for lines.Scan() {
		}
	}()
	return url, stop, nil
}

// tileset exports a cooked scene, and returns the file of the tileset.
func (s *studio) tileset(scene string) (string, error) {
	dir := filepath.Dir(scene) + "-3dtiles"
	return filepath.Join(dir, "tileset.json"), s.call(s.program, "export", scene, "--format", "3dtiles", "-o", dir, "-q")
}

// overTheCity is where the pictures of the demo city beside other viewers are taken.
var overTheCity = gaze{[3]float64{300, 120, 260}, [3]float64{120, 10, 40}}

// webThree shows the demo city in the element for web pages and in 3d-tiles-renderer.
func (s *studio) webThree(out string) error {
	scene, err := s.withPyramid()
	if err != nil {
		return err
	}
	tileset, err := s.tileset(scene)
	if err != nil {
		return err
	}
	cells, err := s.captures(640, 360, &overTheCity, map[string]string{"untold": scene, "three": tileset}, "untold", "three")
	if err != nil {
		return err
	}
	m, err := sheet([]row{{cells: cells}})
	if err != nil {
		return err
	}
	return save(filepath.Join(out, "web-three.jpg"), m)
}

// tiles3d shows scenes in the preview and in viewers of 3D Tiles.
func (s *studio) tiles3d(out string) error {
	const w, h = 480, 270
	kit := filepath.Join(s.dir, "kit.glb")
	if err := s.call("go", "run", "./scripts/assemble", "-kit", filepath.Join(s.assets, "kits", "kaykit-city"), "-cells", "8", "-o", kit); err != nil {
		return err
	}
	office, err := s.scene("office", "-kind", "office")
	if err != nil {
		return err
	}
	city, err := s.withPyramid()
	if err != nil {
		return err
	}
	scenes := []string{city}
	for i, file := range []string{kit, office, filepath.Join(s.assets, "models", "FlightHelmet")} {
		scene, err := s.cookOnly(fmt.Sprintf("beside%d", i), file)
		if err != nil {
			return err
		}
		scenes = append(scenes, scene)
	}
	var rows []row
	for i, scene := range scenes {
		g := &overTheCity
		if i > 0 {
			if g, err = at(scene); err != nil {
				return err
			}
		}
		tileset, err := s.tileset(scene)
		if err != nil {
			return err
		}
		ours, err := s.shot(scene, g.view(), fmt.Sprintf("%dx%d", w, h))
		if err != nil {
			return err
		}
		cells, err := s.captures(w, h, g, map[string]string{"three": tileset, "cesium": tileset}, "three", "cesium")
		if err != nil {
			return err
		}
		rows = append(rows, row{cells: append([]image.Image{ours}, cells...)})
	}
	m, err := sheet(rows)
	if err != nil {
		return err
	}
	return save(filepath.Join(out, "3dtiles.jpg"), m)
}

// cookOnly cooks a scene, or the only one of a folder, and returns the manifest, whatever
// it is called.
func (s *studio) cookOnly(name, scene string) (string, error) {
	if _, err := s.cook(name, scene); err != nil {
		return "", err
	}
	list, err := filepath.Glob(filepath.Join(s.dir, name, "*.json"))
	if err != nil {
		return "", err
	}
	if len(list) != 1 {
		return "", fmt.Errorf("%s has %d manifests, not one", name, len(list))
	}
	return list[0], nil
}
