package cook

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/manifest"
)

var (
	gridID  = regexp.MustCompile(`^tile_-?\d+_-?\d+_-?\d+$`)
	floorID = regexp.MustCompile(`^F\d{2,}_(Q(_[0-3])*|K(_[01])*)_(ES|SI|RC|FP)$`)
)

// Whatever the scene and the mode: all surface is stored exactly once, tiles'
// boxes hold their geometry exactly, ids are well-formed, the manifest is
// clean, and where objects stay whole each is in one payload.
func TestRunProperties(t *testing.T) {
	race.Checks(t, 25) // make test does all of them without the detector
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		dir := filepath.Join(base, fmt.Sprint(n))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		boxes := rapid.SliceOfN(rapid.Custom(randomBox), 1, 25).Draw(rt, "boxes")
		area := 0.0
		names := map[string]bool{}
		for i := range boxes {
			boxes[i].name = fmt.Sprintf("%s_%d", boxes[i].name, i)
			names[boxes[i].name] = true
			s := boxes[i].size
			area += 2 * (s[0]*s[1] + s[1]*s[2] + s[2]*s[0])
		}
		o := ClassicOptions()
		o.Partition = rapid.SampledFrom([]string{PartitionGrid, PartitionQuadtree, PartitionKDTree}).Draw(rt, "mode")
		side := rapid.SampledFrom([]float64{5, 20, 64}).Draw(rt, "tile")
		o.TileSize[0], o.TileSize[2] = side, side
		o.Merge = false
		o.Floors.MinObjects = rapid.IntRange(1, 4).Draw(rt, "least")
		if rapid.Bool().Draw(rt, "low tiles") {
			o.TileSize[1] = 7
		}
		res, err := Run(context.Background(), boxScene(t, dir, boxes), filepath.Join(dir, "out"), o)
		if err != nil {
			rt.Fatal(err)
		}
		if f, err := manifest.ValidateFile(res.ManifestPath, manifest.ValidateOptions{CheckFiles: true}); err != nil || hasErrors(f) {
			rt.Fatalf("%v, %v", err, f)
		}
		stored := 0.0
		m := res.Manifest
		list := m.Tiles
		if m.SharedBucket != nil {
			list = append(list[:len(list):len(list)], m.SharedBucket.Tile)
		}
		for i := range list {
			e := &list[i]
			if id := map[bool]*regexp.Regexp{false: gridID, true: floorID}[m.HasFloors()]; e.ID != manifest.SharedTileID && !id.MatchString(e.ID) {
				rt.Errorf("id %q", e.ID)
			}
			a, entities := tileContent(rt, filepath.Join(filepath.Dir(res.ManifestPath), e.Path), e)
			stored += a
			for _, name := range entities {
				if !m.HasFloors() {
					continue
				}
				if !names[name] {
					rt.Errorf("%s holds %q, which is elsewhere too", e.ID, name)
				}
				delete(names, name)
			}
		}
		if math.Abs(stored-area) > 1e-4*area {
			rt.Errorf("%v square metres became %v", area, stored)
		}
		if m.HasFloors() && len(names) > 0 {
			rt.Errorf("nowhere: %v", names)
		}
	})
}

// propBox is a box of a random scene.
type propBox struct {
	name     string
	at, size geom.Vec3
}

func randomBox(t *rapid.T) propBox {
	b := propBox{name: rapid.SampledFrom([]string{"Wall", "Facade", "Chair", "Lamp", "Slab", "Thing"}).Draw(t, "name")}
	for a := range 3 {
		// Multiples of a quarter: borders of tiles are met often.
		b.at[a] = float64(rapid.IntRange(-160, 160).Draw(t, "at")) / 4
		b.size[a] = float64(rapid.IntRange(1, 60).Draw(t, "size")) / 4
	}
	if rapid.IntRange(0, 9).Draw(t, "large") == 0 {
		b.size[0], b.size[2] = 8*b.size[0], 8*b.size[2]
	}
	return b
}

func boxScene(t testing.TB, dir string, boxes []propBox) string {
	d := &model{}
	mesh := d.box() // a cube of 2 m
	for _, b := range boxes {
		add(&d.nodes, obj{
			"name": b.name, "mesh": mesh, "translation": b.at,
			"scale": []float64{b.size[0] / 2, b.size[1] / 2, b.size[2] / 2},
		})
	}
	from := d.save(t)
	to := filepath.Join(dir, "scene.gltf")
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
	return to
}

// tileContent returns the area of a payload's triangles and the names of its
// entities, and checks its box.
func tileContent(t *rapid.T, path string, e *manifest.Tile) (area float64, names []string) {
	r, err := format.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := r.ToFile()
	if err != nil {
		t.Fatal(err)
	}
	box := geom.EmptyBox()
	for i := range f.Meshes {
		m := &f.Meshes[i]
		names = append(names, strings.TrimSuffix(r.String(f.Entities[m.EntityID].NameOffset), "_mat0"))
		var p [3]geom.Vec3
		for k, v := range vertex.Indices(f.Indices[m.IndexOffset:][:m.IndexSize], m.IndexType) {
			p[k%3] = geom.FromF32(vertex.Get(f.Vertices[m.VertexOffset+uint64(v)*vertex.Size:]).Position)
			box = box.Extend(p[k%3])
			if k%3 == 2 {
				area += p[1].Sub(p[0]).Cross(p[2].Sub(p[0])).Len() / 2
			}
		}
	}
	if manifest.BoundsOf(box) != e.Bounds {
		t.Errorf("%s: bounds %v, geometry %v", e.ID, e.Bounds, box)
	}
	if c := e.CellBounds; c != nil && e.GridCoord != nil {
		for a := range 3 {
			if box.Min[a] < c.Min[a]-2e-4 || box.Max[a] > c.Max[a]+2e-4 {
				t.Errorf("%s: geometry %v outside of the cell %v", e.ID, box, c)
			}
		}
	}
	return area, names
}
