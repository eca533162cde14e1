package cook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/internal/boxscene"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/band"
	"github.com/untoldkit/untold/manifest/tileid"
	"github.com/untoldkit/untold/partition"
)

// A small scene is one tile that is wanted as far as it can be seen, without
// levels.
func TestSmallScenesAreWhole(t *testing.T) {
	scene := hills(t, 48)
	res, _ := runLevels(t, scene, DefaultOptions())
	m := res.Manifest
	if len(m.Tiles) != 1 || res.Levels != 0 || !res.Needs.Whole || m.TileSizeMode != "auto" {
		t.Fatalf("%d tiles, %d levels, %+v", len(m.Tiles), res.Levels, res.Needs)
	}
	b := m.BandsOf(&m.Tiles[0])
	pixel := 2 * math.Tan(math.Pi/6) / 1080
	if want := 48 / (2 * pixel); math.Abs(b.Streaming-want) > 0.02 || b.Prefetch != b.Streaming || b.Unload < b.Streaming+band.Gap {
		t.Errorf("%v, want %v", b, want)
	}
	if m.LODGeneration.Enabled || m.HLODGeneration.Enabled {
		t.Error("levels are said to be made")
	}
	// Every limit decides its own value only.
	o := DefaultOptions()
	o.WholeLimit, o.lookSide = 1000, smallPictures
	if res, _ := runLevels(t, scene, o); res.Needs.Whole || res.Levels == 0 || len(res.Manifest.Tiles) != 1 {
		t.Errorf("%d tiles, %d levels, %+v", len(res.Manifest.Tiles), res.Levels, res.Needs)
	}
	o = DefaultOptions()
	o.TileTriangles, o.lookSide = 400, smallPictures
	if res, _ := runLevels(t, scene, o); len(res.Manifest.Tiles) < 6 || !res.Needs.Whole {
		t.Errorf("%d tiles, %+v", len(res.Manifest.Tiles), res.Needs)
	}
}

// fitted is what fittedHills returns.
var fitted struct {
	sync.Once
	res *Result
}

// fittedHills are hills in four tiles at distances that a cook finds, cooked once for
// all tests: the result is for reading, and its files are gone.
func fittedHills(t *testing.T) *Result {
	t.Helper()
	fitted.Do(func() { fitted.res, _ = runLevels(t, hills(t, 32), fittedOptions()) })
	if fitted.res == nil {
		t.Fatal("the hills were not cooked")
	}
	return fitted.res
}

func fittedOptions() Options {
	o := DefaultOptions()
	o.WholeLimit, o.TileSize[0], o.TileSize[2] = 0, 16, 16
	o.lookSide, o.NoSync = smallPictures, true
	return o
}

// Levels begin where their error is as large as was asked for, far enough apart;
// the engine takes all distances as they are.
func TestFitDistances(t *testing.T) {
	scene := hills(t, 32)
	pixel := 2 * math.Tan(math.Pi/6) / 1080
	for _, c := range []struct {
		pixels, view float64
	}{{0, 0}, {1, 0}, {6, 0}, {0, 500}, {0, 40}} {
		if race.Enabled && (c.pixels > 0 || c.view == 500) {
			continue // make test runs all without the detector
		}
		var res *Result
		if c.pixels == 0 && c.view == 0 {
			res = fittedHills(t)
		} else {
			o := fittedOptions()
			o.LODErrorPixels, o.ViewDistance = c.pixels, c.view
			res, _ = runLevels(t, scene, o)
		}
		m := res.Manifest
		if len(m.Tiles) != 4 || c.view == 0 && res.Levels < 4 {
			t.Fatalf("%+v: %d tiles, %d levels, dropped %v", c, len(m.Tiles), res.Levels, res.Dropped)
		}
		allowed := c.pixels
		if allowed == 0 {
			allowed = DefaultLevelPixels
		}
		if c.view > 0 {
			allowed = DefaultLevelMaxPixels
		}
		for i := range m.Tiles {
			tile := &m.Tiles[i]
			b := m.BandsOf(tile)
			if n := band.Normalize(b); !n.Near(b) {
				t.Errorf("%+v: %s: the engine turns %v into %v", c, tile.ID, b, n)
			}
			levels := append(slices.Clone(tile.LODLevels), tile.HLODLevels...)
			first, last := math.Inf(1), 0.0
			for _, l := range levels {
				if px := *l.VisualError / (pixel * l.SwitchDistance); px > allowed*1.001 {
					t.Errorf("%+v: %s begins with %v pixels", c, l.Path, px)
				}
				if c.view == 0 && last > 0 && l.SwitchDistance < leastSpread*last-0.02 {
					t.Errorf("%+v: %s begins at %v, the level before at %v", c, l.Path, l.SwitchDistance, last)
				}
				first, last = min(first, l.SwitchDistance), l.SwitchDistance
			}
			if b.Streaming > first || b.Prefetch > first || b.Prefetch < b.Streaming {
				t.Errorf("%+v: %s: %v, the first level begins at %v", c, tile.ID, b, first)
			}
			if c.view > 0 && b.Unload > c.view+band.Gap {
				t.Errorf("%+v: %s: %v", c, tile.ID, b)
			}
		}
	}
}

// A plan has the distances of the cook.
func TestFitDistancesOfPlans(t *testing.T) {
	real, o := fittedHills(t), fittedOptions()
	o.DryRun = true
	plan := mustRun(t, hills(t, 32), filepath.Join(t.TempDir(), "out"), o)
	for i := range real.Manifest.Tiles {
		a, b := real.Manifest.BandsOf(&real.Manifest.Tiles[i]), plan.Manifest.BandsOf(&plan.Manifest.Tiles[i])
		if d := cmp.Diff(a, b); d != "" {
			t.Errorf("%s: %s", real.Manifest.Tiles[i].ID, d)
		}
	}
}

// An estimate is the plan but for what follows from levels, and near to it there.
func TestEstimatedLevels(t *testing.T) {
	o := fittedOptions()
	o.DryRun = true
	scene := hills(t, 32)
	plan := mustRun(t, scene, filepath.Join(t.TempDir(), "out"), o)
	o.EstimateLevels = true
	out := filepath.Join(t.TempDir(), "out")
	var first []byte
	for _, jobs := range []int{1, 3} {
		o.Jobs = jobs
		got := mustRun(t, scene, out, o)
		if got.Estimated != 1 || len(got.Manifest.Tiles) != 4 {
			t.Fatalf("the levels of %d of %d tiles are estimated, want those of 1 of 4", got.Estimated, len(got.Manifest.Tiles))
		}
		for i := range plan.Manifest.Tiles {
			want, tile := &plan.Manifest.Tiles[i], &got.Manifest.Tiles[i]
			if len(tile.LODLevels) < len(want.LODLevels) || tile.TriangleCount != want.TriangleCount || tile.Bounds != want.Bounds {
				t.Errorf("%s: %+v, want %+v", tile.ID, tile, want)
			}
			a, b := plan.Manifest.BandsOf(want), got.Manifest.BandsOf(tile)
			if !(b.Streaming > a.Streaming/4 && b.Streaming < 4*a.Streaming) {
				t.Errorf("%s begins to be coarser at %v, by estimate at %v", tile.ID, a.Streaming, b.Streaming)
			}
		}
		estimates := figuresByName(t, got)
		for name, value := range figuresByName(t, plan) {
			if value != estimates[name] && !FollowsFromLevels(name) {
				t.Errorf("%s is %v, by estimate %v", name, value, estimates[name])
			}
		}
		text, err := json.Marshal(got)
		if first == nil {
			first = text
		}
		if err != nil || !bytes.Equal(first, text) {
			t.Errorf("%v: %d jobs estimate otherwise", err, jobs)
		}
	}
}

func figuresByName(t *testing.T, r *Result) (out map[string]any) {
	t.Helper()
	text, err := json.Marshal(&r.Figures)
	if err := errors.Join(err, json.Unmarshal(text, &out)); err != nil {
		t.Fatal(err)
	}
	for _, name := range levelFigures {
		if _, ok := out[name]; !ok {
			t.Errorf("there is no figure %s", name)
		}
	}
	return out
}

// Where no level is made for it, an estimate is by the number of triangles alone, and
// rises from level to level.
func TestEstimateWithoutSamples(t *testing.T) {
	o := DefaultOptions()
	o.DryRun, o.EstimateLevels = true, true
	if err := o.check(); err != nil {
		t.Fatal(err)
	}
	c := &scenePlan{opts: &o, ns: &notes{}}
	list, _ := o.fitLevels(partition.Radii{})
	p := payload{predicted: guessTriangles + 1, levels: list, full: 10_000, area: 10_000, gpuBytes: 480_000}
	all := []payload{p, {predicted: levelSavesLeast, full: 2, levels: slices.Clone(list)}}
	c.chooseMade(all)
	if n := c.estimateLevels(all); n != 1 || all[0].levelsMade || all[1].levelsMade || len(all[1].drops) != 3 {
		t.Errorf("%d tiles: %+v", n, all)
	}
	// What is left out for what is estimated says so, and what is certain does not.
	p = payload{predicted: guessTriangles + 1, full: 10_000, area: 10_000, gpuBytes: 480_000}
	p.levels = []level{{name: "lod1", ratio: 0.5}, {name: "lod2", ratio: 0.45}, {name: "hlod", hlod: true, ratio: 0.001}}
	few := payload{levels: slices.Clone(list), full: 100, area: 1, gpuBytes: 4800}
	some := []payload{p, few}
	if n := c.estimateLevels(some); n != 1 || len(some[0].drops) != 2 || !strings.HasPrefix(some[0].drops[0].Reason, "by estimate: its 4500 triangles would save too few") {
		t.Errorf("%d tiles: %+v", n, some)
	}
	for _, d := range append(some[0].drops[1:], some[1].drops...) {
		if strings.Contains(d.Reason, "estimate") {
			t.Errorf("%+v is certain", d)
		}
	}
	// A tile of which a level is left out only by its number of triangles counts: it may
	// have fewer.
	one := []payload{{levels: []level{{name: "lod1", ratio: 0.95}}, full: 10_000, area: 1, gpuBytes: 1}}
	if n := c.estimateLevels(one); n != 1 || len(one[0].drops) != 1 || !strings.HasPrefix(one[0].drops[0].Reason, "by estimate: ") {
		t.Errorf("%d tiles: %+v", n, one)
	}
	last := 0.0
	for _, l := range all[0].levels {
		if want := 0.14 / l.ratio; !l.made || math.Abs(l.seen-want) > 1e-9 || l.seen <= last || l.triangles != int(10_000*l.ratio) || l.gpuBytes != int64(48*l.triangles) {
			t.Errorf("%+v, want an error of %v", l, want)
		}
		last = l.seen
	}
}

// Radii that were given hold, and all levels find their places between them: what is
// left out is so for its looks.
func TestGivenRadiiHold(t *testing.T) {
	o := DefaultOptions()
	o.WholeLimit, o.TileSize[0], o.TileSize[2], o.lookSide = 0, 32, 32, smallPictures
	o.Floors.TierRadii = manifest.TierRadii{{Tier: tileid.TierExteriorShell, Streaming: 20, Unload: 60}}
	res, _ := runLevels(t, hills(t, 64), o)
	placed := 0
	for i := range res.Manifest.Tiles {
		tile := &res.Manifest.Tiles[i]
		b := res.Manifest.BandsOf(tile)
		lods, hlods := len(tile.LODLevels), len(tile.HLODLevels)
		if b.Streaming != 20 || b.Unload != 60 || len(b.LODs) != lods || (b.HLOD > 0) != (hlods == 1) || !band.Normalize(b).Near(b) {
			t.Errorf("%s: %v for %d LODs and %d HLODs", tile.ID, b, lods, hlods)
		}
		placed += lods + hlods
	}
	for _, d := range res.Dropped {
		if placed++; !strings.Contains(d.Reason, "mean colour") {
			t.Errorf("%+v", d)
		}
	}
	if placed != 3*len(res.Manifest.Tiles) {
		t.Errorf("%d levels are made or left out", placed)
	}
}

// The scene's place does not count: a box that crosses the origin is one tile.
func TestGridBeginsAtTheScene(t *testing.T) {
	for _, at := range []geom.Vec3{{}, {1000.3, 5, -77.7}, {-40, 0, 40}} {
		d := &model{}
		box := d.box()
		add(&d.nodes, obj{"name": "box", "mesh": box, "translation": []float64{at[0], at[1], at[2]}})
		res, _ := runLevels(t, d.save(t), DefaultOptions())
		if n := len(res.Manifest.Tiles); n != 1 {
			t.Errorf("at %v: %d tiles", at, n)
		}
	}
}

// The preset gives what it gave before there were distances of the scene's own.
func TestPresetKeepsItsDistances(t *testing.T) {
	o := EngineOptions()
	o.LODs, o.HLODs, o.lookSide = manifest.DefaultLODLevels(), manifest.DefaultHLODLevels(), smallPictures
	res, _ := runLevels(t, hills(t, 48), o)
	m := res.Manifest
	want := partition.GridRadii(25, m.StreamingProfile.SceneHalfDiag)
	if d := m.StreamingDefaults; math.Abs(d.StreamingRadius-want.Streaming) > 0.01 || math.Abs(d.UnloadRadius-want.Unload) > 0.01 {
		t.Errorf("%+v, want %+v", d, want)
	}
	for i := range m.Tiles {
		tile := &m.Tiles[i]
		if tile.StreamingRadius != nil || tile.PrefetchRadius != nil {
			t.Errorf("%s has radii of its own", tile.ID)
		}
		for _, l := range append(tile.LODLevels, tile.HLODLevels...) {
			if l.VisualError != nil {
				t.Errorf("%s has a visual error", l.Path)
			}
		}
	}
}

// Where a wide plane lies below a small town, the manifest says where the town
// is; the preset says nothing.
func TestManifestSaysWhereTheContentIs(t *testing.T) {
	boxes := []boxscene.Box{{Name: "Ground", At: [3]float64{0, -0.5, 0}, Scale: [3]float64{2000, 1, 2000}}}
	for i := range 144 {
		boxes = append(boxes, boxscene.Box{Name: fmt.Sprint("House", i), At: [3]float64{float64(i%12) * 4, 0.5, float64(i/12) * 4}})
	}
	scene := runScene(t, "town.gltf", boxes)
	m := mustRun(t, scene, t.TempDir(), DefaultOptions()).Manifest
	want := manifest.Bounds{Min: [3]float64{-0.5, 0, -0.5}, Max: [3]float64{44.5, 1, 44.5}}
	if m.ContentBounds == nil || *m.ContentBounds != want {
		t.Errorf("%v, want %v", m.ContentBounds, want)
	}
	if m := mustRun(t, scene, t.TempDir(), EngineOptions()).Manifest; m.ContentBounds != nil {
		t.Errorf("the preset has %v", m.ContentBounds)
	}
	if m := mustRun(t, runScene(t, "yard.gltf", townBoxes()), t.TempDir(), DefaultOptions()).Manifest; m.ContentBounds != nil {
		t.Errorf("a yard has %v", m.ContentBounds)
	}
}
