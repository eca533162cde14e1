package main

import (
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/scripts/lodbench/model"
)

// TestSeen looks at levels of a small rock: the rungs of the ladder, on which
// others are looked at, and sizes between them agree with a look at that size.
func TestSeen(t *testing.T) {
	m, err := model.Get("rock360", "", true)
	if err != nil {
		t.Fatal(err)
	}
	s := newSubject(m)
	if seen, err := s.viewer.flip(asSeen(m), 200); seen != 0 || err != nil {
		t.Errorf("the model beside itself: %v, %v", seen, err)
	}
	o := &options{samples: 100, repeat: 1}
	c, level, err := s.measure(o, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	two, err := s.viewer.rungs(levelAsSeen(level), []int{6, 7})
	if err != nil {
		t.Fatal(err)
	}
	ladder := make([]float64, rungs)
	copy(ladder[6:], two)
	for _, across := range []float64{rung(6), rung(7), 75} {
		seen, err := s.viewer.flip(levelAsSeen(level), across)
		if err != nil {
			t.Fatal(err)
		}
		if by := between(ladder, across); math.Abs(by-seen) > 0.02*seen {
			t.Errorf("at %g pixels: %g, between rungs %g", across, seen, by)
		}
	}
	if err := s.see(&c, level); err != nil || !(c.Seen > 0 && c.Seen < 0.2 && c.Across > leastAcross && c.Across < mostAcross) {
		t.Errorf("it begins at %g pixels and is seen as %g: %v", c.Across, c.Seen, err)
	}
}

func TestBetween(t *testing.T) {
	ladder := make([]float64, rungs)
	for i := range ladder {
		ladder[i] = float64(i)
	}
	for across, want := range map[float64]float64{mostAcross: 0, 360: 2, 90: 6, leastAcross: rungs - 1, 1: rungs - 1, 10 * mostAcross: 0, rung(3): 3} {
		if got := between(ladder, across); math.Abs(got-want) > 1e-9 {
			t.Errorf("at %g pixels: %g, want %g", across, got, want)
		}
	}
	if got := between(ladder, mostAcross/math.Pow(2, 0.75)); math.Abs(got-1.5) > 1e-9 {
		t.Errorf("between two rungs: %g", got)
	}
}

// TestResultsToDraw asserts that results of others are refused that cannot be
// drawn with the materials of the model.
func TestResultsToDraw(t *testing.T) {
	v := &viewer{materials: 2}
	for want, groups := range map[string][]int32{"no groups": nil, "group 2, of 2": {2}, "group -1": {-1}, "": {1}} {
		err := v.check(&appearance.Mesh{Indices: []uint32{0, 0, 0}, Materials: groups})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v: %v", groups, err)
		}
	}
}

// TestPictures asserts that the model stands beside its level and the results of
// others, with differences below.
func TestPictures(t *testing.T) {
	dir := t.TempDir()
	others := filepath.Join(dir, "others")
	var log strings.Builder
	if err := run([]string{"-small", "-models", "rock360", "-export", others}, &log, &log); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(others, "rock360.mesh"), filepath.Join(others, "rock360.blender.5.mesh")); err != nil {
		t.Fatal(err)
	}
	args := []string{"-small", "-samples", "100", "-models", "rock360", "-ratios", "0.05", "-pictures", dir, "-others", others}
	if err := run(args, &log, &log); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(dir, "rock360.5.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	size := img.Bounds().Size()
	wide := size.X / 3
	if wide < pictureWidth {
		t.Fatalf("the picture has %v pixels", size)
	}
	differences := [3]int{}
	for y := range size.Y {
		if _, _, _, a := img.At(0, y).RGBA(); a > 0 {
			continue // no row of differences, which begins with a gap
		}
		for x := wide; x < size.X; x++ {
			if r, g, b, _ := img.At(x, y).RGBA(); r+g+b > 0 {
				differences[x/wide]++
			}
		}
	}
	if differences[1] < 1000 || differences[2] > 0 {
		t.Errorf("%d pixels of the level differ from the model, %d of the model itself", differences[1], differences[2])
	}
}

func TestSheet(t *testing.T) {
	a, b := image.NewNRGBA(image.Rect(0, 0, 100, 10)), image.NewNRGBA(image.Rect(0, 0, 60, 20))
	a.Pix[3], b.Pix[3] = 1, 2
	img := sheet([][]*image.NRGBA{{a, b}, {nil, b}})
	if img.Rect != image.Rect(0, 0, 640, 160) {
		t.Fatal(img.Rect)
	}
	for _, c := range []struct {
		x, y int
		want uint8
	}{{0, 0, 1}, {3, 3, 1}, {400, 3, 2}, {400, 80, 2}, {0, 80, 0}} {
		if got := img.NRGBAAt(c.x, c.y).A; got != c.want {
			t.Errorf("%d, %d: %d, want %d", c.x, c.y, got, c.want)
		}
	}
}
