package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/boxscene"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/preview"
)

// litYard cooks a floor under a red lamp, a green spot and a blue one behind a wall, with
// two cameras and a table that hands channels on: red becomes green, green blue.
func litYard(t *testing.T, args ...string) string {
	t.Helper()
	type m = boxscene.Object
	s := boxscene.New(
		boxscene.Box{Name: "Floor", At: [3]float64{0, -0.5, 0}, Scale: [3]float64{20, 1, 20}},
		boxscene.Box{Name: "Wall", At: [3]float64{0, 1, -9}, Scale: [3]float64{20, 2, 1}},
	)
	at := func(name string, x, y, z float64, light int) m {
		return m{"name": name, "translation": []float64{x, y, z}, "rotation": []float64{-0.7071068, 0, 0, 0.7071068}, "extensions": m{"KHR_lights_punctual": m{"light": light}}}
	}
	s.AddNode(at("Lamp", -5, 2, 0, 0))
	s.AddNode(at("Spot", 5, 4, 0, 1))
	s.AddNode(m{"name": "Above", "translation": []float64{0, 22, 0}, "rotation": []float64{-0.7071068, 0, 0, 0.7071068}, "camera": 0})
	s.AddNode(m{"name": "Portrait", "translation": []float64{0, 3, 14}, "camera": 1})
	s.Root["extensionsUsed"] = []string{"KHR_lights_punctual"}
	s.Root["extensions"] = m{"KHR_lights_punctual": m{"lights": []m{
		{"type": "point", "intensity": 400, "color": []float64{1, 0, 0}, "range": 6},
		{"type": "spot", "intensity": 1600, "color": []float64{0, 1, 0}, "spot": m{"innerConeAngle": 0.5, "outerConeAngle": 0.6}},
	}}}
	s.Root["cameras"] = []m{
		{"type": "perspective", "perspective": m{"yfov": 0.9, "znear": 0.1, "zfar": 100, "aspectRatio": 1.25}},
		{"type": "perspective", "perspective": m{"yfov": 0.9, "znear": 0.1, "zfar": 100, "aspectRatio": 0.5}},
	}
	out := filepath.Join(t.TempDir(), "out")
	if r := execute(t, nil, append([]string{"cook", s.Save(t, "yard.gltf"), "-o", out}, args...)...); r.code != 0 {
		t.Fatal(r.err)
	}
	return out
}

// handOn is a table that hands channels on.
func handOn(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintln(&b, "LUT_3D_SIZE 2")
	for i := range 8 {
		fmt.Fprintf(&b, "%d.0 %d.0 %d.0\n", i>>2, i&1, i>>1&1)
	}
	return testfile.Write(t, filepath.Join(t.TempDir(), "on.cube"), b.String())
}

func shot(t *testing.T, args ...string) image.Image {
	t.Helper()
	out := filepath.Join(t.TempDir(), "shot.png")
	r := here(t, append([]string{"preview", "--headless", "--samples", "1", "--shadows", "-1", "--screenshot", out}, args...)...)
	if r.code != 0 {
		t.Fatalf("%v: exit %d\n%s", args, r.code, r.err)
	}
	img, err := png.Decode(bytes.NewReader(testfile.Read(t, out)))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// TestPreviewLights: a cooked scene is lit by its lights where they are, from its
// cameras, and graded by its table.
func TestPreviewLights(t *testing.T) {
	if !preview.Available {
		t.Skip("built without OpenGL (cgo)")
	}
	dir := litYard(t, "--grade", handOn(t))
	above := []string{dir, "--camera", "Above", "--size", "100x80", "--lights", "authored"}
	authored, own, plain := shot(t, append(above, "--no-grade")...), shot(t, append(above, "--no-grade", "--lights", "preview")...), shot(t, above...)
	pixel := func(img image.Image, x, y int) color.NRGBA {
		return color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
	}
	lamp, spot, dark := pixel(authored, 33, 40), pixel(authored, 67, 40), pixel(authored, 50, 62)
	if int(lamp.R) < int(lamp.B)+60 || int(spot.G) < int(spot.B)+60 || dark.R > 90 || dark.G > 90 {
		t.Errorf("below the lamp %v, the spot %v, between %v", lamp, spot, dark)
	}
	if a, b := pixel(own, 33, 40), pixel(own, 67, 40); max(int(a.R)-int(b.R), int(b.R)-int(a.R)) > 8 || a.R < 150 {
		t.Errorf("by the preview's sun: %v, %v", a, b)
	}
	for i, c := range []color.NRGBA{lamp, spot} {
		got := pixel(plain, 33+34*i, 40)
		for _, d := range []int{int(got.R) - int(c.B), int(got.G) - int(c.R), int(got.B) - int(c.G)} {
			if max(d, -d) > 2 {
				t.Errorf("graded %v becomes %v", c, got)
				break
			}
		}
	}
	if size := shot(t, dir, "--camera", "2").Bounds().Size(); size != image.Pt(360, 720) {
		t.Errorf("a camera of aspect 0.5 has a picture of %v", size)
	}
	for _, tc := range []struct {
		want string
		args []string
	}{
		{`has no camera "Gate": it has "Above", "Portrait"`, []string{"--camera", "Gate"}},
		{"--lights is \"sun\"; use auto, authored, preview, both", []string{"--lights", "sun"}},
		{"a camera path has its own start", []string{"--camera", "1", "--orbit"}},
	} {
		if r := here(t, append([]string{"preview", dir, "--headless", "--frames", "1"}, tc.args...)...); r.code == 0 || !strings.Contains(r.err, tc.want) {
			t.Errorf("%v: exit %d, %q", tc.args, r.code, r.err)
		}
	}
	if list, _ := offerCameras(nil, []string{dir}, "A"); !slices.Equal(list, []string{"Above"}) {
		t.Errorf("the shell offers %q", list)
	}
	if r := execute(t, nil, "inspect", filepath.Join(dir, "yard.json")); !strings.Contains(r.stdout, "2 lights, 2 cameras") || !strings.Contains(r.stdout, "graded by tiles/yard_grade.cube, of size 2") {
		t.Errorf("%s", r.stdout)
	}
}

// TestCookRefusesATable: what is no table is said before there is work.
func TestCookRefusesATable(t *testing.T) {
	bad := testfile.Write(t, filepath.Join(t.TempDir(), "bad.cube"), "LUT_3D_SIZE 99\n")
	r := execute(t, nil, "cook", boxscene.New(boxscene.Box{Name: "A"}).Save(t, "a.gltf"), "-o", filepath.Join(t.TempDir(), "out"), "--grade", bad)
	if r.code == 0 || !strings.Contains(r.err, bad) || !strings.Contains(r.err, `line 1: the size is "99": 2 to 65`) {
		t.Errorf("exit %d, %q", r.code, r.err)
	}
}
