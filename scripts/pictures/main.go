// Command pictures takes pictures of the documents again: generated scenes, cooked and
// drawn without a window by untold preview.
//
//	make pictures                                   # all that it knows, to docs/images
//	go run ./scripts/pictures -only tuning -o out   # some of them, elsewhere
//
// It needs bin/untold with its preview (make build) and OpenGL, also without a GPU.
// Others are taken by other means: 3dtiles.jpg by scripts/viewers3d, size.svg and
// tune.svg by what docs/performance.md and docs/tuning.md say; levels.png, horizon.jpg,
// forest.jpg, switches.jpg and preview.png are put together by hand, of large scenes, of
// assets that are not in the repository, or beside another renderer.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	only := flag.String("only", "", "names of pictures, with commas: demo, tuning (default: all)")
	out := flag.String("o", filepath.Join("docs", "images"), "`folder` of the pictures")
	program := flag.String("untold", filepath.Join("bin", "untold"), "the `program`, with its preview")
	flag.Parse()
	if err := run(os.Stdout, *only, *out, *program); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

// studio is where pictures are taken.
type studio struct {
	log                io.Writer
	program, dir, city string
}

// picture is one, or some that belong together; take writes them into a folder.
type picture struct {
	name string
	take func(s *studio, out string) error
}

var pictures = []picture{{"demo", (*studio).demo}, {"tuning", (*studio).tuning}}

func run(log io.Writer, only, out, program string) error {
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	wanted := strings.FieldsFunc(only, func(r rune) bool { return r == ',' })
	for _, w := range wanted {
		if !slices.ContainsFunc(pictures, func(p picture) bool { return p.name == w }) {
			return fmt.Errorf("there is no picture %q: demo or tuning", w)
		}
	}
	dir, err := os.MkdirTemp("", "pictures-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s := &studio{log: log, program: program, dir: dir, city: filepath.Join(dir, "city.glb")}
	if err := s.call("go", "run", "./scripts/gen", "-o", s.city); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, p := range pictures {
		if len(wanted) > 0 && !slices.Contains(wanted, p.name) {
			continue
		}
		if err := p.take(s, out); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
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
type view struct{ position, forward [3]float64 }

// shot draws a scene and returns the picture.
func (s *studio) shot(scene string, v *view, size string, flags ...string) (image.Image, error) {
	file := filepath.Join(s.dir, "shot.png")
	args := []string{"preview", scene, "--headless", "--no-hud", "--size", size, "--screenshot", file}
	if v != nil {
		path, err := json.Marshal(map[string]any{"fov_y_degrees": 40, "camera": []any{
			map[string]any{"t": 0, "position": v.position, "forward": v.forward}, map[string]any{"t": 4},
		}})
		if err != nil {
			return nil, err
		}
		camera := filepath.Join(s.dir, "camera.json")
		if err := os.WriteFile(camera, path, 0o644); err != nil {
			return nil, err
		}
		args = append(args, "--camera-path", camera, "--fixed-dt", "0.2")
	}
	if err := s.call(s.program, append(args, flags...)...); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file)
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
		err = jpeg.Encode(&b, m, &jpeg.Options{Quality: 90})
	} else {
		err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, m)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// demo is what make demo shows without a window.
func (s *studio) demo(out string) error {
	scene := filepath.Join(s.dir, "demo")
	if err := s.call(s.program, "cook", s.city, "-o", scene, "-q"); err != nil {
		return err
	}
	m, err := s.shot(scene, nil, "960x540")
	if err != nil {
		return err
	}
	return save(filepath.Join(out, "demo.jpg"), m)
}

// tuning has one view of the city at different settings, each with its levels.
func (s *studio) tuning(out string) error {
	v := &view{[3]float64{-30, 60, 330}, [3]float64{0.69, -0.26, -0.68}}
	for _, c := range []struct {
		name          string
		cook, preview []string
	}{
		{"tuning-2px", nil, nil},
		{"tuning-16px", []string{"--lod-error-pixels", "16"}, nil},
		{"tuning-budget", nil, []string{"--set", "geometryBudget=4000000"}},
	} {
		scene := filepath.Join(s.dir, c.name)
		if err := s.call(s.program, append([]string{"cook", s.city, "-o", scene, "-q", "--whole-limit", "0"}, c.cook...)...); err != nil {
			return err
		}
		for _, look := range []struct{ suffix, view string }{{".png", "lit"}, {"-levels.png", "lod"}} {
			stats := filepath.Join(s.dir, c.name+".json")
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
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var f struct {
		Triangles int     `json:"triangles"`
		Geometry  int64   `json:"geometry_bytes"`
		Loaded    int64   `json:"bytes_loaded"`
		Error     float64 `json:"error_px_p50"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	fmt.Fprintf(s.log, "%s: %d triangles, %d bytes on the GPU, %d bytes loaded, error %.1f pixels of 1080\n", name, f.Triangles, f.Geometry, f.Loaded, f.Error)
	return nil
}
