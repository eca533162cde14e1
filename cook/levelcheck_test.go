package cook

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/cook/levelcheck"
	"github.com/untoldkit/untold/internal/race"
)

// assertLevels judges the levels of a cooked scene by their files: where they begin
// what is seen is within the limits, no more than a part of the panes has lost one of
// its triangles, and colours and silhouettes are kept.
func assertLevels(t *testing.T, manifest string, o *Options, mostHalves float64) []levelcheck.Level {
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
		if float64(l.HalfQuads) > mostHalves*float64(l.Quads) {
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
	if race.Enabled {
		t.Skip("takes minutes; make test runs it without the race detector")
	}
	o := DefaultOptions()
	o.WholeLimit = 0
	dir := t.TempDir()
	mustRun(t, generated(t, "city", "-blocks", "1"), dir, o)
	quads := 0
	for _, l := range assertLevels(t, filepath.Join(dir, "city.json"), &o, 0) {
		quads += l.Quads
	}
	if quads < 1000 {
		t.Errorf("%d quads are left in all levels", quads)
	}
}

// TestLevelsOfKits: towns whose colours lie in one palette texture. The ends of
// cornices, of whose profile a corner is gone, count as halves: they have no backs,
// and no faces of their own to go with.
func TestLevelsOfKits(t *testing.T) {
	if race.Enabled {
		t.Skip("takes minutes; make test runs it without the race detector")
	}
	for _, kit := range []string{"kaykit-city", "kenney-city"} {
		t.Run(kit, func(t *testing.T) {
			folder, err := filepath.Abs(filepath.Join("..", "..", "shared", "assets", "kits", kit))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(folder); err != nil {
				t.Skip("needs the shared assets: ", err)
			}
			o := DefaultOptions()
			o.WholeLimit = 0
			dir := t.TempDir()
			mustRun(t, scripted(t, kit, "assemble", "-q", "-kit", folder, "-cells", "8"), dir, o)
			for _, l := range assertLevels(t, filepath.Join(dir, kit+".json"), &o, 0.003) {
				t.Logf("%s: %d of %d triangles from %.1f m", l.Path, l.Triangles, l.FullTriangles, l.Begins)
			}
		})
	}
}
