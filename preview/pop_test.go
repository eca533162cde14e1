package preview

import (
	"encoding/json"
	"image"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/imagediff"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/preview/stats"
	"github.com/untoldkit/untold/runtime/simulate"
)

// TestFindPops: houses of the town come with the finer levels, which is seen; a
// camera that stands sees nothing of the kind.
func TestFindPops(t *testing.T) {
	needGL(t)
	o := options(t, writeTown(t, t.TempDir(), 2))
	o.Width, o.Height, o.FixedDT = 96, 64, 100*time.Millisecond
	o.Render = render.Options{Samples: 1, ShadowSize: -1}
	at := func(z float64) simulate.CameraKey {
		return simulate.CameraKey{Position: geom.Vec3{30, 20, z}, Forward: geom.Vec3{0, -0.15, -1}, Linear: true}
	}
	o.Path = &simulate.CameraPath{FovYDegrees: 40, Aspect: 1.5, Near: 0.1, Far: 1000, Keys: []simulate.CameraKey{at(160), at(40)}}
	o.Path.Keys[1].T = 8 * time.Second
	var first *Pops
	for range 2 {
		p, rep, err := FindPops(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.Switches {
			p.Switches[i].Before, p.Switches[i].After, p.Switches[i].Map = nil, nil, nil
		}
		if first != nil && !reflect.DeepEqual(p, first) {
			t.Errorf("a second run gives\n%+v, not\n%+v", p, first)
		}
		if first = p; rep.PopFigures != p.PopFigures || rep.Undrawn != 0 {
			t.Errorf("%+v, undrawn %d", rep.PopFigures, rep.Undrawn)
		}
	}
	seen, worst := map[string]bool{}, 0.0
	for _, s := range first.Switches {
		worst = max(worst, s.FLIP)
		for _, tile := range s.Tiles {
			seen[tile.From+" to "+tile.To] = true
		}
	}
	if first.PopMax != worst || worst < 0.001 || worst > 0.5 || first.Frames != 81 {
		t.Errorf("the worst is %v of %v", first.PopMax, worst)
	}
	for _, want := range []string{"hlod to lod1", "lod1 to lod0", "lod0 to full"} {
		if !seen[want] {
			t.Errorf("nothing goes from %s: %v", want, seen)
		}
	}
	o.Path.Keys = []simulate.CameraKey{at(100), at(100)}
	o.Path.Keys[1].T = time.Second
	p, _, err := FindPops(t.Context(), o)
	if err != nil || p.Switches == nil || len(p.Switches) != 0 || p.PopMax != 0 || p.PopP99 != 0 {
		t.Errorf("standing: %v, %+v", err, p)
	}
	o.Path = nil
	if _, _, err := FindPops(t.Context(), o); err == nil {
		t.Error("without a path")
	}
}

// Switches that nobody looked at keep no pictures, the worst do.
func TestPopReports(t *testing.T) {
	p := &Pops{Scene: "<town>", Width: 8, Height: 8, Seconds: 4, Frames: 12, PopFigures: stats.PopFigures{PopP99: 0.25, PopMax: 0.25}}
	a, b := newPicture(8, 10), newPicture(8, 60)
	for i := range 3 {
		p.Switches = append(p.Switches, Pop{T: float64(i), FLIP: 0.05 * float64(i), Tiles: []TileSwitch{{"a<b", "lod0", "full"}}})
	}
	flip, err := imagediff.FLIP(a, b, imagediff.PixelsPerDegree)
	if err != nil {
		t.Fatal(err)
	}
	p.Switches[2].Before, p.Switches[2].After, p.Switches[2].Map = a, b, flip
	dir := t.TempDir()
	page := filepath.Join(dir, "p.html")
	for _, path := range []string{page, filepath.Join(dir, "p.png"), filepath.Join(dir, "p.json")} {
		if err := p.WriteReport(path); err != nil {
			t.Error(err)
		}
	}
	html := string(readFile(t, page))
	if strings.Count(html, "data:image") != 4 || strings.Contains(html, "<town>") || !strings.Contains(html, "a&lt;b: lod0 to full") {
		t.Errorf("%.2000s", html)
	}
	var back Pops
	if err := json.Unmarshal(readFile(t, filepath.Join(dir, "p.json")), &back); err != nil || len(back.Switches) != 3 || back.PopMax != 0.25 {
		t.Errorf("%v: %+v", err, back)
	}
	if err := p.WriteReport(filepath.Join(dir, "p.txt")); err == nil {
		t.Error("a text is written")
	}
}

// newPicture is a grey square.
func newPicture(edge int, v uint8) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, edge, edge))
	for i := range img.Pix {
		img.Pix[i] = v
	}
	return img
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
