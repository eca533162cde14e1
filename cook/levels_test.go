package cook

import (
	"context"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/band"
	"github.com/untoldkit/untold/manifest/tileid"
	"github.com/untoldkit/untold/partition"
)

// hills is a scene of a waving ground, n x n quads of 1 m with smooth normals,
// as one mesh of two materials, and a flat-shaded box every 8 m.
func hills(t testing.TB, n int) string {
	d := &model{}
	add(&d.materials, obj{"name": "grass"})
	add(&d.materials, obj{"name": "rock"})
	height := func(x, z float64) float64 {
		return 1.5*math.Sin(x/5) + math.Cos(z/7) + 0.3*math.Sin(x*1.3)*math.Cos(z*1.1)
	}
	var prims []obj
	for half := range 2 {
		var pos, normal, uv []float32
		var idx []uint16
		columns := n/2 + 1
		for i := range columns {
			for k := range n + 1 {
				x, z := float64(half*n/2+i), float64(k)
				pos = append(pos, float32(x), float32(height(x, z)), float32(z))
				dx, dz := height(x+.01, z)-height(x-.01, z), height(x, z+.01)-height(x, z-.01)
				l := math.Sqrt(dx*dx + dz*dz + .0004)
				normal = append(normal, float32(-dx/l), float32(.02/l), float32(-dz/l))
				uv = append(uv, float32(x/4), float32(z/4))
				if i > 0 && k > 0 {
					a, b := uint16((i-1)*(n+1)+k-1), uint16(i*(n+1)+k-1)
					idx = append(idx, a, a+1, b, b, a+1, b+1)
				}
			}
		}
		prims = append(prims, obj{"material": half, "indices": d.indices(idx...), "attributes": obj{
			"POSITION": d.floats(3, pos...), "NORMAL": d.floats(3, normal...), "TEXCOORD_0": d.floats(2, uv...),
		}})
	}
	d.node("ground", prims...)
	box := d.box()
	for x := 4; x < n; x += 8 {
		for z := 4; z < n; z += 8 {
			add(&d.nodes, obj{"name": "chair", "mesh": box, "translation": []float64{float64(x), height(float64(x), float64(z)), float64(z)}})
		}
	}
	return d.save(t)
}

// box adds a mesh: a flat-shaded cube of 2 m, each of its faces 3 x 3 quads.
func (d *model) box() int {
	var pos, normal []float32
	var idx []uint16
	for axis := range 3 {
		for _, sign := range []float32{-1, 1} {
			base := uint16(len(pos) / 3)
			for i := range 4 {
				for k := range 4 {
					var p, n [3]float32
					p[axis], n[axis] = sign, sign
					p[(axis+1)%3], p[(axis+2)%3] = float32(i)*2/3-1, float32(k)*2/3-1
					pos, normal = append(pos, p[:]...), append(normal, n[:]...)
					if i == 0 || k == 0 {
						continue
					}
					at := base + uint16(4*i+k)
					if sign < 0 {
						idx = append(idx, at-5, at-1, at-4, at-4, at-1, at)
					} else {
						idx = append(idx, at-5, at-4, at-1, at-1, at-4, at)
					}
				}
			}
		}
	}
	return add(&d.meshes, obj{"name": "box", "primitives": []obj{{
		"indices": d.indices(idx...), "attributes": obj{"POSITION": d.floats(3, pos...), "NORMAL": d.floats(3, normal...)},
	}}})
}

// smallPictures is an Options.lookSide of which pictures are as small as they get, for
// tests that do not look at what is seen of levels.
const smallPictures = 56

func levelOptions() Options {
	o := ClassicOptions()
	o.TileSize[0], o.TileSize[2] = 16, 16
	// Room for three levels.
	o.Floors.TierRadii = manifest.TierRadii{{Tier: tileid.TierExteriorShell, Streaming: 20, Unload: 60}}
	o.LODs, o.HLODs = manifest.DefaultLODLevels(), manifest.DefaultHLODLevels()
	o.lookSide, o.NoSync = smallPictures, true
	return o
}

func runLevels(t testing.TB, scene string, o Options) (*Result, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	res, err := Run(context.Background(), scene, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return res, dir
}

func TestRunLevels(t *testing.T) {
	res, dir := runLevels(t, hills(t, 48), levelOptions())
	m := res.Manifest
	if len(m.Tiles) != 9 || res.Levels != 27 || len(res.Dropped) != 0 {
		t.Fatalf("%d tiles, %d levels, dropped %v", len(m.Tiles), res.Levels, res.Dropped)
	}
	if !m.HLODGeneration.Enabled || !m.LODGeneration.Enabled || len(m.LODGeneration.Resolved) != 2 {
		t.Errorf("%+v %+v", m.HLODGeneration, m.LODGeneration)
	}
	for i := range m.Tiles {
		tile := &m.Tiles[i]
		bands := m.BandsOf(tile)
		if n := band.Normalize(bands); !n.Near(bands) {
			t.Errorf("%s: the engine turns %v into %v", tile.ID, bands, n)
		}
		finer, err := tile.TriangleCount, 0.0
		for k, l := range append(slices.Clone(tile.LODLevels), tile.HLODLevels...) {
			ratio := float64(l.TriangleCount) / float64(tile.TriangleCount)
			if most := []float64{.51, .204, .13}[k]; ratio > most || float64(l.TriangleCount) > .8*float64(finer) {
				t.Errorf("%s: %d of %d triangles, at most %.2f expected", l.Path, l.TriangleCount, tile.TriangleCount, most)
			}
			if l.GeometricError == nil || *l.GeometricError < err || *l.GeometricError > 3 {
				t.Errorf("%s: error %v after %v", l.Path, l.GeometricError, err)
			} else if k < 2 {
				err = *l.GeometricError
			}
			finer = l.TriangleCount
			checkContainer(t, filepath.Join(dir, l.Path))
		}
	}
	if f, err := manifest.ValidateFile(res.ManifestPath, manifest.ValidateOptions{CheckFiles: true}); err != nil || len(f) > 0 {
		t.Errorf("findings: %v", f)
	}
}

func TestLevelsDoNotDependOnJobs(t *testing.T) {
	scene := hills(t, 32)
	var first map[string]string
	for _, jobs := range []int{1, 7} {
		o := levelOptions()
		o.Jobs = jobs
		_, dir := runLevels(t, scene, o)
		got := testfile.ReadTree(t, dir)
		if first == nil {
			first = got
		} else if d := cmp.Diff(first, got); d != "" {
			t.Error(d)
		}
	}
}

// A dry run plans the same levels.
func TestLevelsDryRun(t *testing.T) {
	scene := hills(t, 32)
	real, _ := runLevels(t, scene, levelOptions())
	o := levelOptions()
	o.DryRun = true
	plan, dir := runLevels(t, scene, o)
	paths := func(r *Result) (out []string) {
		for i := range r.Manifest.Tiles {
			e := &r.Manifest.Tiles[i]
			for _, l := range append(slices.Clone(e.LODLevels), e.HLODLevels...) {
				out = append(out, l.Path)
			}
		}
		return out
	}
	if d := cmp.Diff(paths(real), paths(plan)); d != "" || plan.Levels == 0 {
		t.Error(d)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a dry run made its folder")
	}
}

// Levels that do not pay are left out and reported.
func TestLevelsDropped(t *testing.T) {
	o := levelOptions()
	o.LODs = []manifest.LODLevel{{DecimateRatio: .9, SwitchDistance: .1}, {DecimateRatio: .5, SwitchDistance: .3}, {DecimateRatio: .001, SwitchDistance: .9}}
	res, _ := runLevels(t, hills(t, 16), o)
	var got []string
	for _, d := range res.Dropped {
		got = append(got, d.Level+" "+strings.Fields(d.Reason)[0])
	}
	if d := cmp.Diff([]string{"lod1 its", "lod3 it"}, got); d != "" {
		t.Errorf("%v: %s", res.Dropped, d)
	}
	if e := res.Manifest.Tiles[0]; len(e.LODLevels) != 1 || !strings.HasSuffix(e.LODLevels[0].Path, "_lod2.untold") {
		t.Errorf("levels %+v", e.LODLevels)
	}
	// Radii without room drop levels before anything is made.
	o = levelOptions()
	o.Floors.TierRadii = manifest.TierRadii{{Tier: tileid.TierExteriorShell, Streaming: 20, Unload: 26}}
	res, _ = runLevels(t, hills(t, 16), o)
	if len(res.Dropped) != 1 || !res.Dropped[0].Bands || len(res.Manifest.Tiles[0].HLODLevels) != 1 {
		t.Errorf("%+v", res.Dropped)
	}
	if c := noteCount(res.Notes, "levels-without-room"); c != 1 {
		t.Errorf("%d noted", c)
	}
}

func noteCount(notes []Note, code string) int {
	for _, n := range notes {
		if n.Code == code {
			return n.Count
		}
	}
	return 0
}

// Switches by errors in pixels stand where the error is that small, as far as
// the bands let them.
func TestLevelErrorPixels(t *testing.T) {
	o := levelOptions()
	o.LODErrorPixels = 2
	o.Floors.TierRadii = manifest.TierRadii{{Tier: tileid.TierExteriorShell, Streaming: 20, Unload: 2000}}
	res, _ := runLevels(t, hills(t, 32), o)
	moved := 0
	for i := range res.Manifest.Tiles {
		e := &res.Manifest.Tiles[i]
		bands := res.Manifest.BandsOf(e)
		if n := band.Normalize(bands); !n.Near(bands) {
			t.Errorf("%s: the engine turns %v into %v", e.ID, bands, n)
		}
		for _, l := range append(slices.Clone(e.LODLevels), e.HLODLevels...) {
			want := *l.GeometricError * 1080 / (2 * math.Tan(math.Pi/6) * 2)
			if l.SwitchDistance < want-.01 && l.SwitchDistance < 1990 {
				t.Errorf("%s switches at %v, its error of %v m needs %v", l.Path, l.SwitchDistance, *l.GeometricError, want)
			}
			if math.Abs(l.SwitchDistance-want) < .01 {
				moved++
			}
		}
	}
	if moved == 0 {
		t.Error("no level stands where its error puts it")
	}
}

func TestLevelOptions(t *testing.T) {
	for _, c := range []struct {
		set  func(*Options)
		text string
	}{
		{func(o *Options) { o.LODs[0].DecimateRatio = 0 }, "ratio"},
		{func(o *Options) { o.LODs[0].DecimateRatio = math.NaN() }, "ratio"},
		{func(o *Options) { o.LODs[0].SwitchDistance = -1 }, "distance"},
		{func(o *Options) { o.LODs[1].DecimateRatio = .6 }, "coarser"},
		{func(o *Options) { o.HLODs[0].Suffix = "../x" }, "suffix"},
		{func(o *Options) { o.HLODs[0].Suffix = "_lod1" }, "suffix"},
		{func(o *Options) { o.HLODs = append(o.HLODs, o.HLODs[0]) }, "twice"},
		{func(o *Options) { o.LODErrorPixels = math.Inf(1) }, "pixels"},
		{func(o *Options) { o.LevelFovY = 180 }, "field of view"},
		{func(o *Options) { o.LODMinTriangles = -1 }, "triangles"},
		{func(o *Options) { o.HLODMaxTexture = -1 }, "texture"},
	} {
		o := levelOptions()
		c.set(&o)
		if err := o.check(); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%q: %v", c.text, err)
		}
	}
	for _, text := range []string{"", "1", "a:1", "1:b", "0.3:2", "1:2:3"} {
		if _, err := ParseLODLevel(text); err == nil {
			t.Errorf("ParseLODLevel(%q) succeeded", text)
		}
	}
	for _, text := range []string{"", "_h:1", "_h:x:1", "_h:1:0"} {
		if _, err := ParseHLODLevel(text); err == nil {
			t.Errorf("ParseHLODLevel(%q) succeeded", text)
		}
	}
	if l, err := ParseHLODLevel("_far:120:0.05"); err != nil || l != (manifest.HLODLevel{Suffix: "_far", ReductionRatio: .05, SwitchDistance: 120}) {
		t.Errorf("%+v, %v", l, err)
	}
}

// With floors only shells and structure get levels.
func TestLevelTiers(t *testing.T) {
	o := levelOptions()
	o.Partition = PartitionQuadtree
	o.Floors.MinObjects = 1
	o.Floors.Profile = partition.ProfileIndoor
	o.Floors.TierRadii = nil
	for _, tier := range []string{tileid.TierStructuralInterior, tileid.TierRoomContents} {
		o.Floors.TierRadii = append(o.Floors.TierRadii, manifest.TierRadius{Tier: tier, Streaming: 20, Unload: 60})
	}
	res, _ := runLevels(t, hills(t, 32), o)
	tiers := map[string]bool{}
	for i := range res.Manifest.Tiles {
		e := &res.Manifest.Tiles[i]
		tiers[e.SemanticTier] = true
		has := len(e.LODLevels)+len(e.HLODLevels) > 0
		may := e.SemanticTier == tileid.TierExteriorShell || e.SemanticTier == tileid.TierStructuralInterior
		if has && !may {
			t.Errorf("%s has levels", e.ID)
		}
	}
	if res.Levels == 0 || len(tiers) < 2 {
		t.Errorf("%d levels, tiers %v", res.Levels, tiers)
	}
}

// An atlas makes one draw of an HLOD, with the colours of its materials.
func TestHLODAtlas(t *testing.T) {
	d := &model{}
	red := d.texture(dataImage("red", color.NRGBA{200, 20, 20, 255}))
	green := d.texture(dataImage("green", color.NRGBA{20, 200, 20, 255}))
	add(&d.materials, obj{"name": "red", "pbrMetallicRoughness": obj{"baseColorTexture": obj{"index": red}, "metallicFactor": 0.0}})
	add(&d.materials, obj{"name": "green", "pbrMetallicRoughness": obj{"baseColorTexture": obj{"index": green}, "metallicFactor": 1.0}})
	add(&d.materials, obj{"name": "blue", "pbrMetallicRoughness": obj{"baseColorFactor": []float64{0, 0, 1, 1}, "metallicFactor": 0.0}})
	add(&d.materials, obj{"name": "glass", "alphaMode": "BLEND"})
	wall := func(material int, x float32) obj {
		var pos, normal, uv []float32
		var idx []uint16
		const n = 12
		for i := range n + 1 {
			for k := range n + 1 {
				pos = append(pos, x+float32(i)/n, float32(k)/n, 3+float32(math.Sin(float64(i*k)))/50)
				normal, uv = append(normal, 0, 0, 1), append(uv, float32(i)*2/n, float32(k)*20/n*float32(material))
				if i > 0 && k > 0 {
					a, b := uint16((i-1)*(n+1)+k-1), uint16(i*(n+1)+k-1)
					idx = append(idx, a, b, a+1, a+1, b, b+1)
				}
			}
		}
		return obj{"material": material, "indices": d.indices(idx...), "attributes": obj{
			"POSITION": d.floats(3, pos...), "NORMAL": d.floats(3, normal...), "TEXCOORD_0": d.floats(2, uv...),
		}}
	}
	d.node("wall", wall(0, 0), wall(1, 1.1), wall(2, 2.2), wall(3, 3.3))
	o := levelOptions()
	o.LODs, o.HLODAtlas = nil, true
	o.HLODs[0].ReductionRatio = .3
	res, dir := runLevels(t, d.save(t), o)
	if len(res.Manifest.Tiles) != 1 || len(res.Manifest.Tiles[0].HLODLevels) != 1 {
		t.Fatalf("%+v", res.Dropped)
	}
	path := filepath.Join(dir, res.Manifest.Tiles[0].HLODLevels[0].Path)
	checkContainer(t, path)
	r, f := openFile(t, path)
	if len(f.Meshes) != 2 || len(f.Materials) != 2 {
		t.Fatalf("%d meshes, %d materials: %v", len(f.Meshes), len(f.Materials), f.Materials)
	}
	m := &f.Materials[f.Meshes[0].Material]
	if m.Metallic < .3 || m.Metallic > .37 || !strings.HasSuffix(r.String(f.Textures[m.BaseColorTexture].URIOffset), "_atlas.png") {
		t.Errorf("metallic %v, %q", m.Metallic, r.String(f.Textures[m.BaseColorTexture].URIOffset))
	}
	img := picture(t, path, [2]float64{0, 0}, [2]float64{3.2, 1}, 320, func(name string) bool { return strings.Contains(name, "hlod") })
	for i, want := range []color.NRGBA{{200, 20, 20, 255}, {20, 200, 20, 255}, {0, 0, 255, 255}} {
		if got := img.NRGBAAt(50+110*i, 160); !near(got, want) {
			t.Errorf("wall %d is %v, want %v", i, got, want)
		}
	}
	if res.Textures != 3 {
		t.Errorf("%d textures", res.Textures)
	}
}

// Where cook decides itself, a level saves a file's worth of triangles, too.
func TestMostTriangles(t *testing.T) {
	for _, c := range []struct {
		fit         bool
		finer, most int
	}{
		{false, 100, 80}, {false, 35, 28}, {true, 1000, 800}, {true, 640, 512}, {true, 600, 472}, {true, 128, 0}, {true, 35, -93},
	} {
		o := Options{LevelOptions: LevelOptions{FitDistances: c.fit}}
		if got := o.mostTriangles(c.finer); got != float64(c.most) {
			t.Errorf("fit %v, %d triangles: %v, want %d", c.fit, c.finer, got, c.most)
		}
	}
}
