package cook

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"maps"
	"math"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
)

// wood is a ground of n by n metres with trees of crossed leaf cards, whose material has an
// alpha mode.
func wood(t *testing.T, n int, mode string) string {
	t.Helper()
	d := &model{}
	img := image.NewNRGBA(image.Rect(0, 0, 32, 32))
	for y := range 32 {
		for x := range 32 {
			c := color.NRGBA{60, 120, 30, 255}
			if (x-16)*(x-16)+(y-16)*(y-16) > 200 || (x/3+y/3)%3 == 0 {
				c.A = 0
			}
			img.SetNRGBA(x, y, c)
		}
	}
	add(&d.materials, obj{"pbrMetallicRoughness": obj{"baseColorFactor": []float64{0.3, 0.25, 0.2, 1}, "metallicFactor": 0}})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	i := d.texture(obj{"name": "leaf", "uri": "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())})
	add(&d.materials, obj{"doubleSided": true, "alphaMode": mode, "pbrMetallicRoughness": obj{"metallicFactor": 0, "baseColorTexture": obj{"index": i}}})
	quad := func(pos, normal, uv *[]float32, idx *[]uint16, p [4][3]float32, n [3]float32) {
		base := uint16(len(*pos) / 3)
		for k := range p {
			*pos, *normal = append(*pos, p[k][:]...), append(*normal, n[:]...)
		}
		*uv = append(*uv, 0, 1, 1, 1, 1, 0, 0, 0)
		*idx = append(*idx, base, base+1, base+2, base, base+2, base+3)
	}
	side := float32(n)
	var pos, normal, uv []float32
	var idx []uint16
	quad(&pos, &normal, &uv, &idx, [4][3]float32{{0, 0, 0}, {0, 0, side}, {side, 0, side}, {side, 0, 0}}, [3]float32{0, 1, 0})
	d.node("ground", obj{"material": 0, "indices": d.indices(idx...), "attributes": obj{"POSITION": d.floats(3, pos...), "NORMAL": d.floats(3, normal...), "TEXCOORD_0": d.floats(2, uv...)}})
	pos, normal, uv, idx = nil, nil, nil, nil
	for i := range 12 {
		a := float64(i) * 0.9
		c, s, y := float32(math.Cos(a)), float32(math.Sin(a)), float32(i%4)/2
		quad(&pos, &normal, &uv, &idx, [4][3]float32{{-c, y + 1, -s}, {c, y + 1, s}, {c, y + 3, s}, {-c, y + 3, -s}}, [3]float32{-s, 0, c})
	}
	tree := add(&d.meshes, obj{"primitives": []obj{{
		"material": 1, "indices": d.indices(idx...),
		"attributes": obj{"POSITION": d.floats(3, pos...), "NORMAL": d.floats(3, normal...), "TEXCOORD_0": d.floats(2, uv...)},
	}}})
	for x := 2; x < n; x += 4 {
		for z := 2; z < n; z += 4 {
			add(&d.nodes, obj{"mesh": tree, "translation": []float64{float64(x), 0, float64(z)}})
		}
	}
	return d.save(t)
}

// TestPyramidOfAForest: nodes of leaves that are masked or blended have cards, stand as high
// as the trees at every level, keep to the budget, are valid, and the same whatever the
// number of processors. Opaque leaves have none.
func TestPyramidOfAForest(t *testing.T) {
	for _, c := range []struct {
		mode  string
		cards bool
		jobs  []int
	}{{"MASK", true, []int{1, 3}}, {"BLEND", true, []int{2}}, {"OPAQUE", false, []int{2}}} {
		if race.Enabled && c.mode != "MASK" {
			continue // make test runs all without the detector
		}
		scene := wood(t, 32, c.mode)
		var first map[string]string
		for _, jobs := range c.jobs {
			o := DefaultOptions()
			o.TileSize, o.WholeLimit, o.Pyramid, o.Jobs = [3]float64{8, o.TileSize[1], 8}, 0, true, jobs
			o.nodeTexels, o.lookSide, o.LODs, o.HLODs = 128, smallPictures, nil, nil
			dir := t.TempDir()
			res := mustRun(t, scene, dir, o)
			checkPyramid(t, dir, res)
			m, err := manifest.Load(res.ManifestPath)
			if err != nil {
				t.Fatal(err)
			}
			for i := range m.Pyramid.Nodes {
				n := &m.Pyramid.Nodes[i]
				f, err := format.Open(filepath.Join(dir, n.Path))
				if err != nil {
					t.Fatal(err)
				}
				if mode := f.Materials()[0].Flags & records.MaterialAlphaMask; mode == records.MaterialCutout != c.cards {
					t.Errorf("%s: %s: alpha mode %d", c.mode, n.ID, mode)
				}
				if c.cards && n.Bounds.Max[1] < 3.5 {
					t.Errorf("%s: %s is %v m high", c.mode, n.ID, n.Bounds.Max[1])
				}
				f.Close()
			}
			files := testfile.ReadTree(t, dir)
			if first == nil {
				first = maps.Clone(files)
			} else if d := cmp.Diff(first, files); d != "" {
				t.Errorf("%s: the files depend on the number of processors", c.mode)
			}
		}
	}
}
