package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/imagediff"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/preview"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/preview/surface"
	streaming "github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
)

// native is the picture of untold preview for a camera; nil: the start.
func native(t *testing.T, scene string, at *streaming.Camera, o render.Options, width, height int) image.Image {
	t.Helper()
	scenes, err := preview.Open(scene)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "native.png")
	_, err = preview.Run(t.Context(), preview.Options{
		Scenes: scenes, Config: config.Default(), Headless: true, Width: width, Height: height, Screenshot: out, Start: at, Render: o, FPS: -1,
	})
	if errors.Is(err, surface.ErrContext) || errors.Is(err, surface.ErrUnavailable) {
		t.Skipf("no OpenGL here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(testfile.Read(t, out)))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// TestBrowserPictures: a real browser shows what preview does, from cameras that
// links hold, with and without extensions of WebGL; nothing is written to its
// console, and no tile is missing.
func TestBrowserPictures(t *testing.T) {
	const width, height, pixelsPerDegree, most = 320, 240, 67, 0.03
	b, dir, s := browserCity(t, width, height)
	scene := filepath.Join(dir, "city.json")
	start := b.open(t, s.url+"?shadows=-1&samples=1", 3)
	moved := func(ahead, up float64) *streaming.Camera {
		c := &streaming.Camera{Forward: start.Forward, FovYDegrees: 60}
		for i := range c.Position {
			c.Position[i] = start.Position[i] + ahead*start.Forward[i]
		}
		c.Position[1] += up
		return c
	}
	for _, c := range []struct {
		name, query string
		at          *streaming.Camera
		render      render.Options
		frames      int
	}{
		{"start", "shadows=-1&samples=1", nil, render.Options{ShadowSize: -1, Samples: 1}, 3},
		{"nearer", "shadows=256&samples=4", moved(40, 0), render.Options{ShadowSize: 256, Samples: 4}, 70},
		{"plain", "shadows=-1&samples=1&plain", moved(20, 10), render.Options{ShadowSize: -1, Samples: 1, Plain: true}, 3},
		{"farther", "shadows=-1&samples=1", moved(-60, 10), render.Options{ShadowSize: -1, Samples: 1}, 3},
		{"low", "shadows=-1&samples=1", moved(60, -20), render.Options{ShadowSize: -1, Samples: 1}, 3},
		{"one by one", "shadows=-1&samples=1&without=WEBGL_multi_draw,EXT_clip_control", moved(20, -5), render.Options{ShadowSize: -1, Samples: 1}, 3},
	} {
		url := s.url + "?" + c.query
		if c.at != nil {
			list, err := json.Marshal([]any{c.at.Position, c.at.Forward, c.at.FovYDegrees})
			if err != nil {
				t.Fatal(err)
			}
			url += "#camera=" + strings.NewReplacer("[", "", "]", "").Replace(string(list))
		}
		st := b.open(t, url, c.frames)
		if st.Undrawn != 0 || st.Draws == 0 || st.Tiles == 0 || c.at != nil && st.Position != c.at.Position {
			t.Errorf("%s: %+v", c.name, st)
		}
		got, want := b.picture(t), native(t, scene, c.at, c.render, width, height)
		m, err := imagediff.FLIP(want, got, pixelsPerDegree)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: mean FLIP %.4f, 99 %% below %.3f, %d draws, %d triangles", c.name, m.Mean(), m.Quantile(0.99), st.Draws, st.Triangles)
		if m.Mean() > most {
			keep := filepath.Join(t.ArtifactDir(), c.name+".png")
			writePicture(t, keep, got)
			writePicture(t, strings.TrimSuffix(keep, ".png")+"-native.png", want)
			t.Errorf("%s: mean FLIP %.4f beside the preview; pictures: %s (-artifacts keeps them)", c.name, m.Mean(), keep)
		}
	}
	b.quiet(t)
}

func writePicture(t *testing.T, path string, img image.Image) {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, path, out.String())
}
