package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"testing"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/tileid"
	"github.com/untoldkit/untold/partition"
)

func pointer[T any](v T) *T { return &v }

// bounds makes a box of its corners.
func bounds(x0, y0, z0, x1, y1, z1 float64) manifest.Bounds {
	return manifest.Bounds{Min: [3]float64{x0, y0, z0}, Max: [3]float64{x1, y1, z1}}
}

// gridManifest is a grid of nx times nz tiles of 10 m, with sizes that differ,
// and a bucket.
func gridManifest(nx, nz int) *manifest.Manifest {
	m := &manifest.Manifest{
		Version: manifest.VersionGrid, PartitioningMode: manifest.ModeUniformGrid, SourceSceneName: pointer("yard.glb"),
		Generator: "untold test", TileSize: &manifest.Vec3Size{X: 10, Y: 10000, Z: 10},
		SceneBounds:       pointer(bounds(0, 0, float64(-10*nz), float64(10*nx), 3, 0)),
		StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 20, UnloadRadius: 30, Priority: 10},
	}
	size := int64(1500)
	for k := range nz {
		for i := range nx {
			x, z := float64(10*i), float64(-10*(k+1))
			cell := bounds(x, 0, z, x+10, 10000, z+10)
			id := partition.TileID([3]int{i, 0, k})
			m.Tiles = append(m.Tiles, manifest.Tile{
				ID: id, GridCoord: &[3]int{i, 0, k}, Path: "tiles/" + id + ".untold", FileSizeBytes: size,
				TriangleCount: int(size / 20), Bounds: bounds(x+1, 0, z+1, x+9, 3, z+9), CellBounds: &cell, ObjectCount: pointer(3),
			})
			size = size*13/10 + 7
			if size > 3_000_000 {
				size = 1500
			}
		}
	}
	b := bounds(-5, -1, float64(-10*nz)-5, float64(10*nx)+5, 0, 5)
	m.SharedBucket = &manifest.SharedBucket{Tile: manifest.Tile{
		ID: manifest.SharedTileID, Path: "tiles/yard_shared.untold", FileSizeBytes: 4000, TriangleCount: 200, Bounds: b,
		StreamingRadius: pointer(40.0), UnloadRadius: pointer(60.0),
	}, Members: []manifest.BucketObject{{Name: "Ground"}}}
	return m
}

// floorManifest has two floors with tiles of all tiers, levels, an interior
// zone and a bucket.
func floorManifest() *manifest.Manifest {
	m := &manifest.Manifest{
		Version: manifest.VersionFloor, PartitioningMode: manifest.ModeQuadtreeFloor, SourceSceneName: pointer("house.glb"),
		SceneBounds:       pointer(bounds(0, 0, 0, 40, 6, 30)),
		StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 20, UnloadRadius: 30, Priority: 10},
		InteriorZone:      pointer(bounds(0.5, 0, 0.5, 39.5, 6, 29.5)),
	}
	add := func(id string, floor int, tier string, triangles int, b manifest.Bounds) *manifest.Tile {
		m.Tiles = append(m.Tiles, manifest.Tile{
			ID: id, FloorID: &floor, QuadtreeNodeID: id[:len(id)-3], SemanticTier: tier, Path: "tiles/" + id + ".untold",
			FileSizeBytes: int64(triangles) * 30, TriangleCount: triangles, Bounds: b, ObjectCount: pointer(2),
			StreamingRadius: pointer(10.0), UnloadRadius: pointer(26.0), Interior: tier != tileid.TierExteriorShell,
		})
		return &m.Tiles[len(m.Tiles)-1]
	}
	add("F01_Q_ES", 0, tileid.TierExteriorShell, 900, bounds(0, 0, 0, 40, 3, 30))
	t := add("F01_Q_0_SI", 0, tileid.TierStructuralInterior, 500, bounds(1, 0, 14, 20, 3, 29))
	t.LODLevels = []manifest.Level{
		{Path: "tiles/F01_Q_0_SI_lod1.untold", SwitchDistance: 14, TriangleCount: 250, FileSizeBytes: 8000, GeometricError: pointer(0.01)},
		{Path: "tiles/F01_Q_0_SI_lod3.untold", SwitchDistance: 18, TriangleCount: 100, FileSizeBytes: 3200},
	}
	t.HLODLevels = []manifest.Level{{Path: "tiles/F01_Q_0_SI_hlod.untold", SwitchDistance: 22, TriangleCount: 40}}
	add("F01_Q_1_RC", 0, tileid.TierRoomContents, 2500, bounds(22, 0, 16, 38, 1, 28))
	add("F01_Q_1_FP", 0, tileid.TierFineProps, 60, bounds(22, 0, 16, 38, 1, 28))
	add("F02_Q_SI", 1, tileid.TierStructuralInterior, 1200, bounds(2, 3, 2, 38, 6, 28))
	m.SharedBucket = &manifest.SharedBucket{Tile: manifest.Tile{
		ID: manifest.SharedTileID, Path: "tiles/house_shared.untold", FileSizeBytes: 900, Bounds: bounds(0, 5, 0, 40, 6, 30),
	}, Members: []manifest.BucketObject{{Name: "Roof"}}}
	return m
}

// wellFormed parses markup. Strictly it is XML, else HTML that closes its
// tags.
func wellFormed(t *testing.T, data []byte, strict bool) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(data))
	if !strict {
		d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	}
	depth := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		switch token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
	}
	if depth != 0 {
		t.Fatalf("%d tags are open", depth)
	}
}

// svgOf draws a map.
func svgOf(t *testing.T, m *manifest.Manifest, o MapOptions) []byte {
	t.Helper()
	p, err := NewMap(m, o)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := p.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
