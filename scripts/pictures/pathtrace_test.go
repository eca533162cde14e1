package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// TestLightIsThePreviews: the path tracer has the preview's sun, sky, exposure and tone curve.
func TestLightIsThePreviews(t *testing.T) {
	sky := string(testfile.Read(t, filepath.Join("..", "..", "preview", "render", "sky.go")))
	numbers := func(start string) []float64 {
		m := regexp.MustCompile(regexp.QuoteMeta(start) + `\s*(?:\[3\]float64)?\{?([-0-9., ]+)`).FindStringSubmatch(sky)
		if m == nil {
			t.Fatalf("preview/render/sky.go has no %q", start)
		}
		var out []float64
		for _, text := range strings.Split(strings.Trim(m[1], " ,"), ",") {
			var v float64
			if _, err := fmt.Sscan(text, &v); err != nil {
				t.Fatal(err)
			}
			out = append(out, v)
		}
		return out
	}
	for start, want := range map[string][3]float64{
		"defaultSun = geom.Vec3": afternoon.ToSun, "\tsun:": afternoon.Sun, "zenith:": afternoon.Zenith,
		"horizon:": afternoon.Horizon, "ground:": afternoon.Ground, "glow:": afternoon.Glow,
	} {
		if got := numbers(start); len(got) != 3 || [3]float64(got) != want {
			t.Errorf("%s %v there, %v here", start, got, want)
		}
	}
	if got := numbers("ToneNeutral:"); got[0] != exposure {
		t.Errorf("exposure %v there, %v here", got, exposure)
	}
}

// TestDeveloped: black stays black, what lies below the shoulder loses the 4 % of reflections,
// and what is above it becomes white at last.
func TestDeveloped(t *testing.T) {
	var data []byte
	for _, v := range []float32{0, 0, 0, 0.54 / exposure, 0.34 / exposure, 0.14 / exposure, 1e6, 1e6, 1e6, -1, 0.04 / exposure, float32(math.Inf(-1))} {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	m, err := developed(data, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][3]uint8{{0, 0, 0}, {188, 149, 89}, {255, 255, 255}, {0, 56, 0}} {
		r, g, b, _ := m.At(i%2, i/2).RGBA()
		if got := [3]uint8{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8)}; got != want {
			t.Errorf("pixel %d is %v, want %v", i, got, want)
		}
	}
	if _, err := developed(data, 2, 3); err == nil {
		t.Error("too few pixels")
	}
}

// TestPairs: the models are there, and two pairs make a row.
func TestPairs(t *testing.T) {
	models := filepath.Join("..", "..", "..", "shared", "assets", "models")
	if _, err := os.Stat(models); err != nil {
		t.Skip(err)
	}
	for _, p := range pairs {
		if _, err := os.Stat(filepath.Join(models, p.folder, p.file)); err != nil {
			t.Error(err)
		}
	}
}

// TestNoBlender: who has none is told how to get it, and gets the other pictures.
func TestNoBlender(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var log strings.Builder
	s, drawn := &studio{log: &log}, 0
	list := []recipe{{name: "preview", take: (*studio).besideBlender}, {name: "next", take: func(*studio, string) error { drawn++; return nil }}}
	if err := takeAll(s, &options{}, list); err != nil || drawn != 1 || !strings.Contains(log.String(), "preview is left out: blender is needed: install it") {
		t.Errorf("%v, %d drawn\n%s", err, drawn, log.String())
	}
	if err := takeAll(s, &options{only: "preview"}, list); err == nil || drawn != 1 {
		t.Error("what was asked for is left out")
	}
}
