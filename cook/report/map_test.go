package report

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"image/color"
	"image/png"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/tileid"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestGoldenMaps(t *testing.T) {
	for _, c := range []struct {
		name string
		m    *manifest.Manifest
		o    MapOptions
	}{
		{"grid", gridManifest(4, 3), MapOptions{Size: 800}},
		{"floors", floorManifest(), MapOptions{Size: 900}},
		{"distances", floorManifest(), MapOptions{Size: 700, Color: ColorTriangles, Tile: "F01_Q_0_SI"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := svgOf(t, c.m, c.o)
			wellFormed(t, got, true)
			file := filepath.Join("testdata", c.name+".svg")
			if *update {
				testfile.Write(t, file, got)
			}
			want := testfile.Read(t, file)
			if !bytes.Equal(got, want) {
				t.Errorf("the map differs from %s; look at it, then run the test with -update", file)
			}
			if again := svgOf(t, c.m, c.o); !bytes.Equal(got, again) {
				t.Error("a second drawing differs")
			}
		})
	}
}

// TestMapOfPyramid: each level has its outlines and its line in the legend.
func TestMapOfPyramid(t *testing.T) {
	m := gridManifest(4, 4)
	m.Pyramid = &manifest.Pyramid{}
	node := func(id string, level int, children ...string) {
		m.Pyramid.Nodes = append(m.Pyramid.Nodes, manifest.PyramidNode{ID: id, Level: level, Children: children, TriangleCount: 4000, FileSizeBytes: 90_000, VisualError: 0.5 * float64(level)})
	}
	for i := range 4 {
		var tiles []string
		for k := range 4 {
			tiles = append(tiles, m.Tiles[4*(2*(i/2)+k/2)+2*(i%2)+k%2].ID)
		}
		node(fmt.Sprintf("n%d", i), 1, tiles...)
	}
	node("top", 2, "n0", "n1", "n2", "n3", "nobody")
	node("stray", 3, "nobody")
	got := svgOf(t, m, MapOptions{Size: 800})
	wellFormed(t, got, true)
	for _, want := range []string{"Pyramid of HLODs", "level 1", "4 nodes", "level 2", "1 node", "error 1 m"} {
		if !bytes.Contains(got, []byte(want)) {
			t.Errorf("the map does not say %q", want)
		}
	}
	if n := bytes.Count(got, []byte(fmt.Sprintf("#%02x%02x%02x", pyramidColor.r, pyramidColor.g, pyramidColor.b))); n != 2+2 {
		t.Errorf("%d levels of outlines and samples", n)
	}
	if bytes.Contains(got, []byte("level 3")) {
		t.Error("a node above nothing is drawn")
	}
}

// TestMapOfPyramidOfFloors: a node is drawn on the floors that have tiles below it.
func TestMapOfPyramidOfFloors(t *testing.T) {
	m := gridManifest(4, 1)
	m.PartitioningMode = manifest.ModeKDTreeFloor
	for i := range m.Tiles {
		floor := i / 2
		m.Tiles[i].GridCoord, m.Tiles[i].FloorID = nil, &floor
	}
	node := func(id string, level int, children ...string) manifest.PyramidNode {
		return manifest.PyramidNode{ID: id, Level: level, Children: children}
	}
	m.Pyramid = &manifest.Pyramid{Nodes: []manifest.PyramidNode{
		node("low", 1, m.Tiles[0].ID, m.Tiles[1].ID), node("high", 1, m.Tiles[2].ID, m.Tiles[3].ID), node("top", 2, "low", "high"),
	}}
	p, err := NewMap(m, MapOptions{Size: 800})
	if err != nil {
		t.Fatal(err)
	}
	var got []uint64
	for _, l := range p.pyramid {
		for _, n := range l.nodes {
			got = append(got, n.panels)
		}
	}
	if !slices.Equal(got, []uint64{1, 2, 3}) || p.panels[0].bit != 1 || p.panels[1].bit != 2 {
		t.Errorf("the nodes are on the panels %b", got)
	}
}

func TestMapErrors(t *testing.T) {
	m := gridManifest(2, 2)
	for _, c := range []struct {
		o    MapOptions
		want error
		text string
	}{
		{MapOptions{Size: MinMapSize - 1}, ErrMapOptions, "pixels"},
		{MapOptions{Size: MaxMapSize + 1}, ErrMapOptions, "pixels"},
		{MapOptions{Color: 9}, ErrMapOptions, "ColorBy(9)"},
		{MapOptions{Tile: "tile_9_9_9"}, ErrNoTile, "4 tiles, such as \"tile_0_0_0\""},
	} {
		_, err := NewMap(m, c.o)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	if _, err := NewMap(&manifest.Manifest{}, MapOptions{Tile: "a"}); !errors.Is(err, ErrNoTile) {
		t.Errorf("no tiles: %v", err)
	}
	far := gridManifest(1, 1)
	far.Tiles[0].Bounds.Max[0], far.Tiles[0].CellBounds = 1e200, nil
	if _, err := NewMap(far, MapOptions{Tile: far.Tiles[0].ID}); !errors.Is(err, ErrNoTile) {
		t.Errorf("a tile beyond the map: %v", err)
	}
}

func TestParseColorBy(t *testing.T) {
	for c := ColorAuto; c <= ColorTriangles; c++ {
		if got, err := ParseColorBy(c.String()); got != c || err != nil {
			t.Errorf("%v: %v, %v", c, got, err)
		}
	}
	if c, err := ParseColorBy(""); c != ColorAuto || err != nil {
		t.Errorf("empty: %v, %v", c, err)
	}
	if _, err := ParseColorBy("Tier"); !errors.Is(err, ErrMapOptions) {
		t.Errorf("Tier: %v", err)
	}
}

func TestAutoColor(t *testing.T) {
	grid := gridManifest(2, 1)
	if c := autoColor(grid); c != ColorBytes {
		t.Errorf("grid: %v", c)
	}
	for i := range grid.Tiles {
		grid.Tiles[i].FileSizeBytes = 0
	}
	if c := autoColor(grid); c != ColorTriangles {
		t.Errorf("dry run: %v", c)
	}
	if c := autoColor(&manifest.Manifest{}); c != ColorBytes {
		t.Errorf("empty: %v", c)
	}
	if c := autoColor(floorManifest()); c != ColorTier {
		t.Errorf("floors: %v", c)
	}
}

// oddManifests are what foreign or hostile files may hold.
func oddManifests() map[string]*manifest.Manifest {
	tile := func(id string, b manifest.Bounds) manifest.Tile {
		return manifest.Tile{ID: id, Path: id, Bounds: b, FileSizeBytes: 100}
	}
	of := func(tiles ...manifest.Tile) *manifest.Manifest {
		return &manifest.Manifest{Version: 1, Tiles: tiles}
	}
	out := map[string]*manifest.Manifest{
		"no tiles":  of(),
		"one tile":  of(tile("a", bounds(0, 0, 0, 10, 10, 10))),
		"one point": of(tile("a", bounds(3, 3, 3, 3, 3, 3))),
		"one line":  of(tile("a", bounds(0, 0, 0, 1000, 1, 0)), tile("b", bounds(1000, 0, 0, 2000, 1, 0))),
		"tall":      of(tile("a", bounds(0, -1.01, 0, 25, 9998.99, 25)), tile("b", bounds(25, -1.01, 0, 50, 9998.99, 25))),
		"far away":  of(tile("a", bounds(1e6, 0, 1e6, 1e6+25, 3, 1e6+25)), tile("b", bounds(1e6+25, 0, 1e6, 1e6+50, 3, 1e6+25))),
		"farther":   of(tile("a", bounds(1e15, 0, 1e15, 1e15+1, 3, 1e15+1))),
		"huge":      of(tile("a", bounds(-3e38, -3e38, -3e38, 3e38, 3e38, 3e38)), tile("b", bounds(0, 0, 0, 1, 1, 1))),
		"largest":   of(tile("a", bounds(-1e30, 0, -1e30, 1e30, 1, 1e30)), tile("b", bounds(0, 0, 0, 1e-9, 1, 1e-9))),
		"reversed":  of(tile("a", bounds(10, 10, 10, 0, 0, 0))),
		"tiny":      of(tile("a", bounds(0, 0, 0, 1e-12, 1, 1e-12))),
		"names":     of(tile(`<b>"&'`+"\x00\xff\u202e", bounds(0, 0, 0, 90, 10, 90))),
	}
	out["no tiles"].SourceSceneName = pointer("]]><script>alert(1)</script>")
	many := &manifest.Manifest{PartitioningMode: manifest.ModeKDTreeFloor}
	for i := range 60 {
		many.Tiles = append(many.Tiles, tile(fmt.Sprint("F", i), bounds(0, float64(i), 0, 10, float64(i+1), 20)))
		many.Tiles[i].FloorID = &i
	}
	out["60 floors"] = many
	levels := gridManifest(2, 2)
	for i := range levels.Tiles {
		levels.Tiles[i].GridCoord[1] = i % 2
	}
	out["grid layers"] = levels
	mixed := floorManifest()
	mixed.Tiles[0].FloorID, mixed.Tiles[1].SemanticTier = nil, "Cellar"
	out["tile without a floor"] = mixed
	return out
}

func TestOddManifests(t *testing.T) {
	bad := regexp.MustCompile(`NaN|Inf|\d{9}`)
	for name, m := range oddManifests() {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{MinMapSize, 700, DefaultMapSize} {
				for _, tile := range []string{"", "a"} {
					p, err := NewMap(m, MapOptions{Size: size, Tile: tile})
					if tile != "" && errors.Is(err, ErrNoTile) {
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					var b bytes.Buffer
					if err := p.WriteSVG(&b); err != nil {
						t.Fatal(err)
					}
					wellFormed(t, b.Bytes(), true)
					for _, tag := range regexp.MustCompile(`<[^>]*>`).FindAllString(b.String(), -1) {
						if s := bad.FindString(tag); s != "" {
							t.Errorf("%s in %s", s, tag)
						}
					}
					if size == DefaultMapSize {
						continue // the same pixels, only more of them
					}
					img := p.draw().render()
					if w, h := img.Rect.Dx(), img.Rect.Dy(); max(w, h) > size || min(w, h) < 100 {
						t.Errorf("size %d: %d x %d", size, w, h)
					}
				}
			}
		})
	}
}

func TestManyTiles(t *testing.T) {
	m := gridManifest(120, 100)
	svg := svgOf(t, m, MapOptions{})
	wellFormed(t, svg, true)
	if n := bytes.Count(svg, []byte("<rect")); n < len(m.Tiles) {
		t.Errorf("%d rectangles for %d tiles", n, len(m.Tiles))
	}
	if bytes.Contains(svg, []byte(">119_0_99<")) {
		t.Error("ids are drawn on 12,000 tiles")
	}
	if len(svg) > 4<<20 {
		t.Errorf("%d bytes", len(svg))
	}
}

// TestPixels looks at the middles of tiles.
func TestPixels(t *testing.T) {
	m := gridManifest(5, 4)
	p, err := NewMap(m, MapOptions{Size: 640})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := p.WritePNG(&b); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if s := img.Bounds().Size(); max(s.X, s.Y) != 640 {
		t.Errorf("size %v", s)
	}
	l := p.place(p.legend().height)
	for i := range m.Tiles {
		// A quarter from the corner: the id is in the middle.
		box := l.project(l.panels[0], p.view, *groundOf(*m.Tiles[i].CellBounds))
		x, y := whole((3*box.x0+box.x1)/4), whole((3*box.y0+box.y1)/4)
		c := ramp(p.scale.class(m.Tiles[i].FileSizeBytes), p.scale.classes())
		if got := color.NRGBAModel.Convert(img.At(x, y)); got != c.nrgba() {
			t.Errorf("%s at %d, %d: %v, not %v", m.Tiles[i].ID, x, y, got, c.nrgba())
		}
	}
	if got := color.NRGBAModel.Convert(img.At(1, 1)); got != paperColor.nrgba() {
		t.Errorf("margin: %v", got)
	}
}

func TestTierPixels(t *testing.T) {
	m := floorManifest()
	p, err := NewMap(m, MapOptions{})
	if err != nil {
		t.Fatal(err)
	}
	img := p.draw().render()
	l := p.place(p.legend().height)
	for _, c := range []struct {
		panel int
		x, z  float64
		tier  string
	}{
		{0, 21, 5, tileid.TierExteriorShell},
		{0, 8, 20, tileid.TierStructuralInterior},
		{1, 20, 20, tileid.TierStructuralInterior},
		{0, 30, 20, tileid.TierFineProps}, // over RoomContents, whose box is the same
	} {
		r := l.panels[c.panel]
		got := color.NRGBAModel.Convert(img.At(whole(l.x(r, p.view, c.x)), whole(l.y(r, p.view, c.z))))
		if want := tierColors[c.tier].tint().nrgba(); got != want {
			t.Errorf("%+v: %v, not %v", c, got, want)
		}
	}
}

func TestCrowd(t *testing.T) {
	m := gridManifest(5, 5)
	m.SharedBucket = nil
	m.Tiles = append(m.Tiles, manifest.Tile{ID: "terrain", Bounds: bounds(-2000, 0, -2000, 2000, 3, 2000)})
	p, err := NewMap(m, MapOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if p.view.long() > 80 || len(p.remarks()) != 1 {
		t.Errorf("view %v, %q", p.view, p.remarks())
	}
	if p, err = NewMap(m, MapOptions{Whole: true}); err != nil || p.view.long() < 4000 || len(p.remarks()) != 0 {
		t.Errorf("whole: view %v, %q, %v", p.view, p.remarks(), err)
	}
	if p, err = NewMap(m, MapOptions{Tile: "terrain"}); err != nil || p.view.long() < 4000 {
		t.Errorf("chosen: view %v, %v", p.view, err)
	}
}

// TestRings: the distances are those of the engine's rules.
func TestRings(t *testing.T) {
	m := floorManifest()
	p, err := NewMap(m, MapOptions{Tile: "F01_Q_0_SI"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range p.chosen.rings {
		got = append(got, fmt.Sprintf("%s %v", r.name, r.distance))
	}
	want := "streaming 10, prefetch (auto) 18, LOD 1 14, LOD 2 18, HLOD 22, unload 26"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("%s, not %s", s, want)
	}
	if len(p.panels) != 1 || p.panels[0].title != "Floor 0" || len(p.chosen.notes) != 0 {
		t.Errorf("%d panels, %q, %q", len(p.panels), p.panels[0].title, p.chosen.notes)
	}
	m.Tiles[1].HLODLevels[0].SwitchDistance = 300
	if p, err = NewMap(m, MapOptions{Tile: "F01_Q_0_SI"}); err != nil || len(p.chosen.notes) != 1 {
		t.Errorf("a switch beyond the unload radius: %q, %v", p.chosen.notes, err)
	}
	if p, err = NewMap(m, MapOptions{Tile: "shared"}); err != nil || len(p.chosen.rings) != 0 || len(p.chosen.notes) != 1 || len(p.panels) != 2 {
		t.Errorf("bucket without radii: %+v, %v", p.chosen, err)
	}
	if p, err = NewMap(gridManifest(2, 2), MapOptions{Tile: "shared"}); err != nil || len(p.chosen.rings) != 2 {
		t.Errorf("bucket: %+v, %v", p.chosen, err)
	}
}

// TestProjection: whatever the scene, panels show the view at one scale, and
// the picture has the size that was asked for.
func TestProjection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &manifest.Manifest{PartitioningMode: manifest.ModeQuadtreeFloor}
		origin := rapid.Float64Range(-1e7, 1e7).Draw(t, "origin")
		extent := math.Pow(10, rapid.Float64Range(-2, 5).Draw(t, "extent"))
		coord := rapid.Float64Range(0, extent)
		for i := range rapid.IntRange(1, 30).Draw(t, "tiles") {
			x, z := origin+coord.Draw(t, "x"), -origin+coord.Draw(t, "z")
			e := manifest.Tile{ID: fmt.Sprint(i), Bounds: bounds(x, 0, z, x+coord.Draw(t, "w"), 3, z+coord.Draw(t, "d"))}
			e.FloorID = pointer(rapid.IntRange(0, 12).Draw(t, "floor"))
			m.Tiles = append(m.Tiles, e)
		}
		size := rapid.IntRange(MinMapSize, 3000).Draw(t, "size")
		p, err := NewMap(m, MapOptions{Size: size, Whole: true})
		if err != nil {
			t.Fatal(err)
		}
		l := p.place(p.legend().height)
		if l.w > size || l.h > size || max(l.w, l.h) < size-1 {
			t.Fatalf("%d x %d, not %d", l.w, l.h, size)
		}
		page := rect{0, 0, float64(l.w), float64(l.h)}
		for i, r := range l.panels {
			if !r.grow(-0.5).inside(page) {
				t.Fatalf("panel %v outside of %v", r, page)
			}
			for _, o := range append(l.panels[:i:i], l.legend) {
				if r.grow(-0.01).overlaps(o) {
					t.Fatalf("panel %v overlaps %v", r, o)
				}
			}
			for _, d := range p.panels[i].tiles {
				if b := l.project(r, p.view, d.box); !b.inside(r.grow(0.5)) {
					t.Fatalf("tile %v of %v is drawn at %v, outside of %v", d.box, p.view, b, r)
				} else if want := d.box.w() * l.scale; math.Abs(b.w()-want) > 0.01+want*1e-6 {
					t.Fatalf("tile %v is %v wide, not %v", d.box, b.w(), want)
				}
			}
		}
	})
}

func TestNiceStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := math.Pow(10, rapid.Float64Range(-9, 20).Draw(t, "exponent"))
		s := niceStep(v)
		if s < v || s > 2.5*v*1.0000001 {
			t.Fatalf("niceStep(%v) = %v", v, s)
		}
	})
	for _, v := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if s := niceStep(v); s != 1 {
			t.Errorf("niceStep(%v) = %v", v, s)
		}
	}
}

// FuzzMap: any manifest that loads can be drawn.
func FuzzMap(f *testing.F) {
	seeds := oddManifests()
	seeds["grid"], seeds["floors"] = gridManifest(2, 1), floorManifest()
	for _, m := range seeds {
		var b bytes.Buffer
		if err := m.Encode(&b); err != nil {
			continue // it holds what cannot be written
		}
		f.Add(b.Bytes(), "shared")
		f.Add(b.Bytes(), "a")
	}
	f.Fuzz(func(t *testing.T, data []byte, tile string) {
		m, err := manifest.Decode(data)
		if err != nil {
			return
		}
		p, err := NewMap(m, MapOptions{Size: MinMapSize, Tile: tile})
		if errors.Is(err, ErrNoTile) {
			p, err = NewMap(m, MapOptions{Size: MinMapSize})
		}
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := p.WriteSVG(&b); err != nil {
			t.Fatal(err)
		}
		wellFormed(t, b.Bytes(), true)
		p.draw().render()
		if err := New(m, nil, nil).WriteHTML(&b); err != nil {
			t.Fatal(err)
		}
	})
}
