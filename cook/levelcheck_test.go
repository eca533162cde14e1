package cook

import (
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/cook/levelcheck"
)

// assertLevels judges the levels of a cooked scene by their files: where they begin
// what is seen is within the limits, no pane has lost one of its triangles, and
// colours and silhouettes are kept.
func assertLevels(t *testing.T, manifest string, o *Options) []levelcheck.Level {
	t.Helper()
	list, err := levelcheck.Check(t.Context(), manifest, levelcheck.Options{Look: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatal("there are no levels")
	}
	within := 0
	for i := range list {
		l := &list[i]
		if l.Pixels <= DefaultLevelPixels+0.005 { // distances have two decimals
			within++
		}
		if l.Pixels > o.LODMaxErrorPixels {
			t.Errorf("%s: %.3g pixels of error where it begins", l.Path, l.Pixels)
		}
		if l.HalfQuads > 0 {
			t.Errorf("%s: of %d quads one triangle is left, of %d both", l.Path, l.HalfQuads, l.Quads)
		}
		if s := l.Look; s.FLIP > 0.1 || s.Drift > 4 || s.Coverage < 0.95 || s.Coverage > 1.05 {
			t.Errorf("%s begins at %.4g m: FLIP %.4f, the mean colour off by %.1f of 255, %.1f %% covered", l.Path, l.Begins, s.FLIP, s.Drift, 100*s.Coverage)
		}
	}
	if 100*within < 95*len(list) {
		t.Errorf("%d of %d levels are within %v pixels of error where they begin", within, len(list), DefaultLevelPixels)
	}
	return list
}

// TestLevelsOfTheCity: a block of the city and the ground round it.
func TestLevelsOfTheCity(t *testing.T) {
	o := DefaultOptions()
	o.WholeLimit = 0
	dir := t.TempDir()
	mustRun(t, generated(t, "city", "-blocks", "1"), dir, o)
	quads := 0
	for _, l := range assertLevels(t, filepath.Join(dir, "city.json"), &o) {
		quads += l.Quads
	}
	if quads < 1000 {
		t.Errorf("%d quads are left in all levels", quads)
	}
}
