package cook

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/cook/measure"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/tileid"
)

// checkLevelErrors holds every level of a manifest against the limit in pixels,
// and against the files: whatever was listed is there, and nothing else is.
func checkLevelErrors(t *testing.T, res *Result, dir string, o Options) (levels int) {
	t.Helper()
	angle := 2 * math.Tan(o.LevelFovY*math.Pi/360) / float64(o.LevelHeight)
	named := map[string]bool{}
	for i := range res.Manifest.Tiles {
		e := &res.Manifest.Tiles[i]
		named[e.Path] = true
		finer := 0.0
		for _, l := range append(slices.Clone(e.LODLevels), e.HLODLevels...) {
			levels++
			named[l.Path] = true
			if l.GeometricError == nil {
				t.Errorf("%s has no error", l.Path)
				continue
			}
			if px := *l.GeometricError / (l.SwitchDistance * angle); px > o.LODMaxErrorPixels*(1+1e-9) {
				t.Errorf("%s: %.3g m at %v m are %.3g pixels, at most %v are allowed", l.Path, *l.GeometricError, l.SwitchDistance, px, o.LODMaxErrorPixels)
			}
			if *l.GeometricError < finer {
				t.Errorf("%s: an error of %v m behind one of %v", l.Path, *l.GeometricError, finer)
			}
			finer = *l.GeometricError
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, o.PayloadDir, "*.untold"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if rel := o.PayloadDir + "/" + filepath.Base(f); !named[rel] && !strings.HasSuffix(rel, "_shared.untold") {
			t.Errorf("no entry names %s", rel)
		}
	}
	if levels != res.Levels {
		t.Errorf("%d levels counted, %d listed", res.Levels, levels)
	}
	return levels
}

// No level's error is above the limit where it begins, with everything added
// up that the chain of levels does: in scenes of many kinds, with every way to
// find the distances.
func TestLevelErrorsKeepTheLimit(t *testing.T) {
	kit := func(name string) func(t *testing.T) string {
		return func(t *testing.T) string {
			folder := filepath.Join("..", "shared", "assets", "kits", name)
			if _, err := os.Stat(filepath.Join("..", folder)); err != nil {
				t.Skip("the shared assets are absent: ", err)
			}
			return scripted(t, name, "assemble", "-kit", folder, "-cells", "6", "-scale", "10")
		}
	}
	for _, c := range []struct {
		name  string
		side  float64
		scene func(t *testing.T) string
	}{
		{"hills", 16, func(t *testing.T) string { return hills(t, 48) }},
		{"city", 50, func(t *testing.T) string { return generated(t, "city", "-blocks", "1") }},
		{"boxes", 50, func(t *testing.T) string { return generated(t, "boxes", "-blocks", "2") }},
		{"office", 20, func(t *testing.T) string { return generated(t, "office", "-floors", "1") }},
		{"kaykit", 50, kit("kaykit-city")},
		{"kenney", 50, kit("kenney-city")},
	} {
		t.Run(c.name, func(t *testing.T) {
			if race.Enabled && c.name != "hills" {
				t.Skip("takes minutes; make test runs it without the race detector")
			}
			t.Parallel()
			scene := c.scene(t)
			for name, set := range map[string]func(*Options){
				"8 pixels":         func(o *Options) { o.LODMaxErrorPixels = 8 },
				"the default":      func(*Options) {},
				"switches by 4":    func(o *Options) { o.LODMaxErrorPixels, o.LODErrorPixels = 8, 4 },
				"small screen":     func(o *Options) { o.LODMaxErrorPixels, o.LevelHeight, o.LevelFovY = 8, 480, 90 },
				"compat and atlas": func(o *Options) { o.Compat, o.HLODAtlas, o.LODMaxErrorPixels, o.LODErrorPixels = true, true, 8, 2 },
			} {
				if race.Enabled && name != "the default" && name != "compat and atlas" {
					continue // make test cooks with all without the detector
				}
				o := ClassicOptions()
				o.TileSize[0], o.TileSize[2] = c.side, c.side
				o.LODs, o.HLODs = manifest.DefaultLODLevels(), manifest.DefaultHLODLevels()
				o.lookSide, o.NoSync = smallPictures, true
				set(&o)
				res, dir := runLevels(t, scene, o)
				if n := checkLevelErrors(t, res, dir, o); n == 0 && name == "the default" {
					t.Errorf("%s: no levels: %v", name, res.Dropped)
				}
			}
		})
	}
}

// What stands in the manifest is measured: the files lie no farther apart.
func TestGeometricErrorIsMeasured(t *testing.T) {
	res, dir := runLevels(t, hills(t, 48), levelOptions())
	load := func(rel string) *measure.Index {
		_, f := openFile(t, filepath.Join(dir, filepath.FromSlash(rel)))
		s := &measure.Surface{}
		for i := 0; i < len(f.Vertices); i += vertex.Size {
			s.Positions = append(s.Positions, geom.FromF32(vertex.Get(f.Vertices[i:]).Position))
		}
		for i := range f.Meshes {
			m := &f.Meshes[i]
			for k := range int(m.IndexCount) {
				s.Indices = append(s.Indices, uint32(m.VertexOffset/vertex.Size)+indexAt(f, m, k))
			}
		}
		return measure.NewIndex(s)
	}
	for i := range res.Manifest.Tiles {
		e := &res.Manifest.Tiles[i]
		full := load(e.Path)
		for _, l := range append(slices.Clone(e.LODLevels), e.HLODLevels...) {
			if d := measure.Farthest(full, load(l.Path)); d > *l.GeometricError+1e-5 || d < *l.GeometricError/2-1e-5 {
				t.Errorf("%s: %v m apart, the manifest says %v", l.Path, d, *l.GeometricError)
			}
		}
	}
}

// indexAt returns one of a mesh's indices.
func indexAt(f *format.File, m *records.Mesh, k int) uint32 {
	if b := f.Indices[m.IndexOffset:]; m.IndexType == vertex.Index32 {
		return binary.LittleEndian.Uint32(b[4*k:])
	} else {
		return uint32(binary.LittleEndian.Uint16(b[2*k:]))
	}
}

// Levels that find no room where their errors put them leave no file behind.
func TestLevelsWithoutRoomLeaveNothing(t *testing.T) {
	o := levelOptions()
	o.LODErrorPixels, o.LODMaxErrorPixels = 20, 400
	o.HLODs[0].ReductionRatio = .15
	o.Floors.TierRadii = manifest.TierRadii{{Tier: tileid.TierExteriorShell, Streaming: 300, Unload: 330}}
	res, dir := runLevels(t, hills(t, 32), o)
	checkLevelErrors(t, res, dir, o)
	if len(res.Dropped) == 0 {
		t.Error("every level found room")
	}
}

// Small copies of textures are there only for HLODs that use them.
func TestNoSmallTexturesWithoutHLOD(t *testing.T) {
	scene := texturedHills(t, hillImages()...)
	for _, mode := range []texture.Mode{texture.ModeCopy, texture.ModeResize, texture.ModeBC} {
		o := levelOptions()
		o.Textures, o.HLODMaxTexture = mode, 32
		o.HLODs[0].ReductionRatio = 1e-6 // no tile keeps enough triangles
		res, dir := runLevels(t, scene, o)
		for i := range res.Manifest.Tiles {
			if len(res.Manifest.Tiles[i].HLODLevels) > 0 {
				t.Fatal("an HLOD was made")
			}
		}
		count := 0
		for name := range testfile.ReadTree(t, dir) {
			if strings.Contains(name, texture.Folder) {
				count++
			}
			if strings.Contains(name, smallSuffix) {
				t.Errorf("%v: %s serves nothing", mode, name)
			}
		}
		checkTextures(t, dir)
		if res.Textures != count {
			t.Errorf("%v: %d textures counted, there are %d", mode, res.Textures, count)
		}
	}
}
