package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"math"
	"os"
	"os/exec"
	"path/filepath"
)

// trace is a picture for pathtrace.py: a glTF file under a sun and a sky. Lengths are in
// metres, colours linear.
type trace struct {
	File     string     `json:"file"`
	Out      string     `json:"out"`
	Width    int        `json:"width"`
	Height   int        `json:"height"`
	Samples  int        `json:"samples"` // per pixel
	Position [3]float64 `json:"position"`
	Forward  [3]float64 `json:"forward"`
	FovY     float64    `json:"fov_y_degrees"`
	lighting
}

// lighting is the sun and the sky of the preview.
type lighting struct {
	ToSun   [3]float64 `json:"to_sun"` // any length
	Sun     [3]float64 `json:"sun"`    // what a white surface shows that faces it
	Zenith  [3]float64 `json:"zenith"`
	Horizon [3]float64 `json:"horizon"`
	Ground  [3]float64 `json:"ground"`
	Glow    [3]float64 `json:"glow"`
}

// afternoon and exposure are those of preview/render/sky.go; a test holds them together.
var afternoon = lighting{
	ToSun:   [3]float64{-0.5, 0.74, 0.6},
	Sun:     [3]float64{2.75, 2.52, 2.2},
	Zenith:  [3]float64{0.20, 0.37, 0.72},
	Horizon: [3]float64{0.72, 0.85, 1.00},
	Ground:  [3]float64{0.32, 0.30, 0.26},
	Glow:    [3]float64{0.30, 0.26, 0.20},
}

const exposure = 0.6

// pairs are the models of preview.png, each from where it is seen.
var pairs = []struct {
	folder, file string // below models
	gaze         gaze
	samples      int
}{
	{"FlightHelmet", "FlightHelmet.gltf", gaze{eye: [3]float64{-0.4, 0.57, 0.66}, target: [3]float64{-0.02, 0.34, 0.01}}, 256},
	{"dutch_ship_medium_1k", "dutch_ship_medium_1k.gltf", gaze{eye: [3]float64{-7.6, 14, 22.8}, target: [3]float64{1.7, 10.4, 0}}, 256},
	{"room", "room.glb", gaze{eye: [3]float64{0.5, 2.2, 4.2}, target: [3]float64{-0.3, 2, -5}}, 512}, // lit through its doors alone
	{"webxr-camp", "camp.gltf", gaze{eye: [3]float64{-4, 5, 12.5}, target: [3]float64{1, 0.8, 0}}, 512},
}

// besideBlender shows models in the preview and their files in Blender's path tracer, with
// the same camera, sun, sky, exposure and tone curve.
func (s *studio) besideBlender(out string) error {
	const w, h = 400, 300
	blender, err := exec.LookPath("blender")
	if err != nil {
		return fmt.Errorf("blender is needed: install it (Debian: apt-get install blender): %w", err)
	}
	rows := make([]row, 2)
	for i, p := range pairs {
		scene, err := s.cookOnly("pair-"+p.folder, filepath.Join(s.assets, "models", p.folder, p.file))
		if err != nil {
			return err
		}
		v := p.gaze.view()
		ours, err := s.shot(scene, v, fmt.Sprintf("%dx%d", w, h), "--whole", "--samples", "4")
		if err != nil {
			return err
		}
		theirs, err := s.pathtrace(blender, &trace{
			File: filepath.Join(s.assets, "models", p.folder, p.file), Width: w, Height: h, Samples: p.samples,
			Position: v.position, Forward: v.forward, FovY: v.fov, lighting: afternoon,
		})
		if err != nil {
			return err
		}
		rows[i/2].cells = append(rows[i/2].cells, ours, theirs)
	}
	m, err := sheet(rows)
	if err != nil {
		return err
	}
	return save(filepath.Join(out, "preview.png"), m)
}

// pathtrace draws a file with Blender's path tracer.
func (s *studio) pathtrace(blender string, t *trace) (image.Image, error) {
	dir, err := filepath.Abs(s.dir)
	if err != nil {
		return nil, err
	}
	if t.File, err = filepath.Abs(t.File); err != nil {
		return nil, err
	}
	t.Out = filepath.Join(dir, "pathtrace.rgb")
	job := filepath.Join(dir, "pathtrace.json")
	if err := writeJSON(job, t); err != nil {
		return nil, err
	}
	if err := s.call(blender, "-b", "--factory-startup", "--python-exit-code", "1", "-P", filepath.Join("scripts", "pictures", "pathtrace.py"), "--", job); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(t.Out)
	if err != nil {
		return nil, err
	}
	return developed(data, t.Width, t.Height)
}

// developed makes a picture of light, three float32 for each of w x h pixels, by the
// preview's exposure and tone curve.
func developed(data []byte, w, h int) (image.Image, error) {
	light := make([]float32, w*h*3)
	if len(data) != 4*len(light) {
		return nil, fmt.Errorf("%d bytes are no picture of %d x %d", len(data), w, h)
	}
	if err := binary.Read(bytes.NewReader(data), binary.LittleEndian, light); err != nil {
		return nil, err
	}
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		var c [3]float64
		for k := range c {
			c[k] = max(0, float64(light[3*i+k])*exposure)
		}
		c = neutral(c)
		m.SetNRGBA(i%w, i/w, color.NRGBA{encoded(c[0]), encoded(c[1]), encoded(c[2]), 255})
	}
	return m, nil
}

// neutral is Khronos PBR Neutral, the preview's tone curve unless another is chosen: it keeps
// colours below its shoulder but for the 4 % that surfaces reflect.
func neutral(c [3]float64) [3]float64 {
	const start, desaturation, d = 0.8 - 0.04, 0.15, 1 - (0.8 - 0.04)
	offset := 0.04
	if x := min(c[0], c[1], c[2]); x < 0.08 {
		offset = x - 6.25*x*x
	}
	for k := range c {
		c[k] -= offset
	}
	peak := max(c[0], c[1], c[2])
	if peak < start {
		return c
	}
	to := 1 - d*d/(peak+d-start)
	white := 1 - 1/(desaturation*(peak-to)+1)
	for k := range c {
		c[k] = c[k]*to/peak*(1-white) + to*white
	}
	return c
}

// encoded is a display colour as it is stored (IEC 61966-2-1).
func encoded(v float64) uint8 {
	if v <= 0.0031308 {
		v *= 12.92
	} else {
		v = 1.055*math.Pow(v, 1/2.4) - 0.055
	}
	return uint8(math.Round(255 * max(0, min(1, v))))
}
