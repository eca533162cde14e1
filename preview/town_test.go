package preview

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
)

// The town of the tests: blocks of 30 m, each with a lawn, four houses with
// windows and chimneys, two levels and an HLOD.
const (
	townBlock     = 30.0
	townStreaming = 50.0
	townUnload    = 75.0
)

var townColors = [][4]float32{
	{0.55, 0.16, 0.10, 1}, {0.60, 0.55, 0.45, 1}, {0.12, 0.24, 0.42, 1}, {0.70, 0.48, 0.14, 1}, {0.35, 0.36, 0.38, 1},
}

// writeTown cooks a town of n x n blocks into a folder and returns its
// manifest.
func writeTown(t testing.TB, dir string, n int) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "tiles"), 0o755); err != nil {
		t.Fatal(err)
	}
	m := &manifest.Manifest{
		Version: manifest.VersionGrid, PartitioningMode: manifest.ModeUniformGrid, PayloadDir: "tiles",
		StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: townStreaming, UnloadRadius: townUnload, Priority: manifest.DefaultPriority},
	}
	for x := range n {
		for z := range n {
			m.Tiles = append(m.Tiles, townTile(t, dir, x, z))
		}
	}
	path := filepath.Join(dir, "town.json")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func townTile(t testing.TB, dir string, x, z int) manifest.Tile {
	id := fmt.Sprintf("tile_%d_0_%d", x, z)
	at := geom.Vec3{float64(x) * townBlock, 0, -float64(z)*townBlock - townBlock}
	cell := geom.Box{Min: at, Max: at.Add(geom.Vec3{townBlock, 20, townBlock})}
	size, box := writeBlock(t, filepath.Join(dir, "tiles", id+".untold"), at, x*31+z, 0)
	cells := manifest.BoundsOf(cell)
	tile := manifest.Tile{ID: id, Path: "tiles/" + id + ".untold", FileSizeBytes: size, Bounds: manifest.BoundsOf(box), Center: box.Center(), CellBounds: &cells}
	for level, d := range []float64{54, 90, 140} {
		name := fmt.Sprintf("%s_lod%d.untold", id, level)
		if level == 2 {
			name = id + "_hlod.untold"
		}
		size, _ := writeBlock(t, filepath.Join(dir, "tiles", name), at, x*31+z, level+1)
		l := manifest.Level{Path: "tiles/" + name, SwitchDistance: d, FileSizeBytes: size}
		if level == 2 {
			tile.HLODLevels = []manifest.Level{l}
		} else {
			tile.LODLevels = append(tile.LODLevels, l)
		}
	}
	return tile
}

// writeBlock writes one representation: the coarser the level, the less of the
// houses is left.
func writeBlock(t testing.TB, path string, at geom.Vec3, seed, level int) (int64, geom.Box) {
	t.Helper()
	kind := [...]format.FileType{format.FileTile, format.FileLOD, format.FileLOD, format.FileHLOD}[level]
	b := format.NewBuilder(kind)
	all := geom.EmptyBox()
	add := func(name string, color [4]float32, boxes ...geom.Box) {
		var o format.Object
		o.Name, o.MeshName = name, name
		o.Material = b.AddMaterial(fmt.Sprint(color), records.Material{
			BaseColor: color, NormalScale: 1, Roughness: 0.8, OcclusionStrength: 1, AlphaCutoff: 0.5,
			BaseColorTexture: records.NoIndex, NormalTexture: records.NoIndex, MetallicTexture: records.NoIndex,
			RoughnessTexture: records.NoIndex, EmissiveTexture: records.NoIndex, OcclusionTexture: records.NoIndex,
		})
		for _, box := range boxes {
			all = all.Union(box)
			o.Vertices, o.Indices = appendCube(o.Vertices, o.Indices, box)
		}
		if err := b.AddObject(o); err != nil {
			t.Fatal(err)
		}
	}
	part := func(x0, y0, z0, x1, y1, z1 float64) geom.Box {
		return geom.Box{Min: at.Add(geom.Vec3{x0, y0, z0}), Max: at.Add(geom.Vec3{x1, y1, z1})}
	}
	add("lawn", [4]float32{0.12, 0.26, 0.07, 1}, part(0, -0.5, 0, townBlock, 0, townBlock))
	for i := range 4 {
		x, z := 3+float64(i%2)*14, 3+float64(i/2)*14
		h := 4 + float64((seed*7+i*5)%11)
		color := townColors[(seed+i*3)%len(townColors)]
		add("house", color, part(x, 0, z, x+10, h, z+10))
		if level < 2 {
			add("chimney", [4]float32{0.3, 0.1, 0.08, 1}, part(x+1, h, z+1, x+2.2, h+1.5, z+2.2))
		}
		if level == 0 {
			var windows []geom.Box
			for k := range 3 {
				for y := 1.0; y < h-2; y += 2.5 {
					w := x + 1 + float64(k)*3
					windows = append(windows, part(w, y, z+9.9, w+1.6, y+1.4, z+10.1), part(w, y, z-0.1, w+1.6, y+1.4, z+0.1))
				}
			}
			add("windows", [4]float32{0.02, 0.03, 0.05, 1}, windows...)
		}
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	n, err := b.File().WriteTo(f, format.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return n, all
}

// appendCube appends the six faces of a box.
func appendCube(vertices []byte, indices []uint32, box geom.Box) ([]byte, []uint32) {
	base := uint32(len(vertices) / vertex.Size)
	for axis := range 3 {
		for side := range 2 {
			var n, tangent [3]float32
			n[axis] = float32(2*side - 1)
			u, v := (axis+1)%3, (axis+2)%3
			tangent[u] = 1
			for corner := range 4 {
				p := box.Min
				if side == 1 {
					p[axis] = box.Max[axis]
				}
				if corner == 1 || corner == 2 {
					p[u] = box.Max[u]
				}
				if corner >= 2 {
					p[v] = box.Max[v]
				}
				vertices = vertex.Append(vertices, []vertex.Vertex{{
					Position: p.F32(), Normal: vertex.PackNormal(n), Tangent: vertex.PackTangent([4]float32{tangent[0], tangent[1], tangent[2], 1}),
					Color: [4]uint8{255, 255, 255, 255},
				}})
			}
			quad := [6]uint32{0, 1, 2, 0, 2, 3}
			if side == 0 {
				quad = [6]uint32{0, 2, 1, 0, 3, 2}
			}
			for _, q := range quad {
				indices = append(indices, base+q)
			}
			base += 4
		}
	}
	return vertices, indices
}
