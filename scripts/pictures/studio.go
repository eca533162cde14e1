package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// studio is where pictures are taken.
type studio struct {
	log          io.Writer
	program, dir string
	assets       string // models and kits of others
	side         int    // of the city that is drawn to the horizon, metres
	gone         bool
}

func newStudio(log io.Writer, o *options) (*studio, error) {
	program, err := filepath.Abs(o.program)
	if err != nil {
		return nil, err
	}
	s := &studio{log: log, program: program, assets: o.assets, dir: o.keep, side: o.horizon, gone: o.keep == ""}
	if s.gone {
		s.dir, err = os.MkdirTemp("", "pictures-*")
	} else {
		err = os.MkdirAll(s.dir, 0o755)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (s *studio) close() {
	if s.gone {
		os.RemoveAll(s.dir)
	}
}

// scene generates a scene, unless it was kept; it is called by its name.
func (s *studio) scene(name string, flags ...string) (string, error) {
	file := filepath.Join(s.dir, name+".glb")
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	return file, s.call("go", append([]string{"run", "./scripts/gen", "-o", file}, flags...)...)
}

// cookCity cooks the demo city into a folder of that name and returns its manifest.
func (s *studio) cookCity(name string, flags ...string) (string, error) {
	glb, err := s.scene("city")
	if err != nil {
		return "", err
	}
	return s.cook(name, glb, flags...)
}

// cook cooks a scene into a folder of that name, which takes no time where it was kept, and
// returns its manifest.
func (s *studio) cook(name, scene string, flags ...string) (string, error) {
	dir, base := filepath.Join(s.dir, name), strings.TrimSuffix(filepath.Base(scene), filepath.Ext(scene))
	return filepath.Join(dir, base+".json"), s.call(s.program, append([]string{"cook", scene, "-o", dir, "-q"}, flags...)...)
}

// call runs a program, whose words are shown when it fails.
func (s *studio) call(program string, args ...string) error {
	fmt.Fprintln(s.log, filepath.Base(program), strings.Join(args, " "))
	cmd := exec.Command(program, args...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, text)
	}
	return nil
}

// view is a camera that stands still.
type view struct {
	position, forward [3]float64
	seconds           float64 // until the picture is taken, 0: 4
	fov               float64 // degrees from bottom to top, 0: 40
}

// shot draws a scene and returns the picture.
func (s *studio) shot(scene string, v *view, size string, flags ...string) (image.Image, error) {
	file := filepath.Join(s.dir, "shot.png")
	args := []string{"preview", scene, "--headless", "--no-hud", "--size", size, "--screenshot", file}
	if v != nil {
		camera := filepath.Join(s.dir, "camera.json")
		if err := writeJSON(camera, map[string]any{"fov_y_degrees": cmp.Or(v.fov, 40), "camera": []any{
			map[string]any{"t": 0, "position": v.position, "forward": v.forward}, map[string]any{"t": cmp.Or(v.seconds, 4)},
		}}); err != nil {
			return nil, err
		}
		args = append(args, "--camera-path", camera, "--fixed-dt", "0.2")
	}
	if err := s.call(s.program, append(args, flags...)...); err != nil {
		return nil, err
	}
	return open(file)
}

// open reads a PNG file.
func open(path string) (image.Image, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return png.Decode(bytes.NewReader(data))
}

// save writes a picture: PNG, or JPEG by its name.
func save(path string, m image.Image) error {
	var b bytes.Buffer
	var err error
	if filepath.Ext(path) == ".jpg" {
		err = jpeg.Encode(&b, m, &jpeg.Options{Quality: 80})
	} else {
		err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, m)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

func readJSON(path string, v any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func writeJSON(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
