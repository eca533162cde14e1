package simulate

import (
	"math"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
)

// hills is a grid of 4 x 4 tiles of 100 m whose ground has a height at each place.
func hills(height func(x, z float64) float64) *manifest.Manifest {
	m := &manifest.Manifest{PartitioningMode: manifest.ModeUniformGrid, TileSize: &manifest.Vec3Size{X: 100, Y: 10_000, Z: 100}}
	for x := 0.0; x < 400; x += 100 {
		for z := 0.0; z < 400; z += 100 {
			low, high := math.Inf(1), math.Inf(-1)
			for _, c := range [][2]float64{{0, 0}, {100, 0}, {0, 100}, {100, 100}} {
				h := height(x+c[0], z+c[1])
				low, high = min(low, h), max(high, h)
			}
			m.Tiles = append(m.Tiles, manifest.Tile{
				Bounds:     manifest.Bounds{Min: geom.Vec3{x, low, z}, Max: geom.Vec3{x + 100, high + 30, z + 100}},
				CellBounds: &manifest.Bounds{Min: geom.Vec3{x, -100, z}, Max: geom.Vec3{x + 100, 9_900, z + 100}},
			})
		}
	}
	return m
}

// TestPathsFollowTheGround: on a slope the camera stays at its height above it.
func TestPathsFollowTheGround(t *testing.T) {
	slope := func(x, z float64) float64 { return float64(0.2*x) + float64(0.1*z) - 7 }
	o := PathOptionsOf(hills(slope))
	fly, err := FlyThrough(o)
	if err != nil {
		t.Fatal(err)
	}
	o.Duration = 5 * time.Minute
	walk, err := Walk(o, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path   *CameraPath
		height float64
	}{{fly, flyHeight}, {walk, eyeHeight}} {
		for at := time.Duration(0); at < c.path.Keys[len(c.path.Keys)-1].T; at += time.Second {
			v := c.path.At(at)
			if x, z := v.Position[0], v.Position[2]; x < 0 || z < 0 || x > 300 || z > 300 {
				continue // beyond the last tiles' lower edges their slope is not known
			}
			if got := v.Position[1] - slope(v.Position[0], v.Position[2]); math.Abs(got-c.height) > 0.01 || v.Forward[1] != 0 {
				t.Fatalf("%v above the ground at %v, looking %v", got, v.Position, v.Forward)
			}
		}
	}
}

// TestGroundOf: what tells nothing is flat, and hostile cells allocate nothing.
func TestGroundOf(t *testing.T) {
	flat := func(x, z float64) float64 { return 3 }
	if g := GroundOf(hills(flat)); !g.flat() || g.at(1e300, math.Inf(-1)) != 0 {
		t.Errorf("%+v", g)
	}
	for name, edit := range map[string]func(m *manifest.Manifest){
		"no tiles":   func(m *manifest.Manifest) { m.Tiles = nil },
		"no grid":    func(m *manifest.Manifest) { m.PartitioningMode = manifest.ModeKDTreeFloor },
		"no size":    func(m *manifest.Manifest) { m.TileSize = nil },
		"no cell":    func(m *manifest.Manifest) { m.Tiles[5].CellBounds = nil },
		"tiny tiles": func(m *manifest.Manifest) { m.TileSize.X = 1e-9 },
		"far apart":  func(m *manifest.Manifest) { m.Tiles[5].CellBounds.Min = geom.Vec3{1e6, 0, 1e6} },
		"not finite": func(m *manifest.Manifest) { m.Tiles[5].CellBounds.Min[0] = math.Inf(1) },
		"no number":  func(m *manifest.Manifest) { m.Tiles[5].CellBounds.Min[2] = math.NaN() },
		"no bottom":  func(m *manifest.Manifest) { m.Tiles[5].Bounds.Min[1] = math.Inf(-1) },
	} {
		m := hills(func(x, z float64) float64 { return x })
		edit(m)
		if g := GroundOf(m); g != nil {
			t.Errorf("%s: %+v", name, g)
		}
	}
}

// TestHostileGround: whatever numbers a manifest has, its paths are errors or finite.
func TestHostileGround(t *testing.T) {
	for name, edit := range map[string]func(m *manifest.Manifest){
		"as it is":     func(m *manifest.Manifest) {},
		"narrow cells": func(m *manifest.Manifest) { m.TileSize.X, m.TileSize.Z = 1e-3, math.Inf(1) },
		"no cells":     func(m *manifest.Manifest) { m.TileSize.X, m.TileSize.Z = 5e-324, 5e-324 },
		"a wide tile":  func(m *manifest.Manifest) { m.Tiles[3].Bounds.Max[2] = 1e306 },
		"a high tile":  func(m *manifest.Manifest) { m.Tiles[3].Bounds.Min[1], m.Tiles[3].Bounds.Max[1] = 1e307, 1e307 },
		"a deep tile":  func(m *manifest.Manifest) { m.Tiles[3].Bounds.Min[1] = -1e308 },
		"two of them":  func(m *manifest.Manifest) { m.Tiles[3].Bounds.Min[1], m.Tiles[4].Bounds.Min[1] = -1e308, 1e308 },
		"no number":    func(m *manifest.Manifest) { m.Tiles[3].Bounds.Min[0] = math.NaN() },
	} {
		m := hills(func(x, z float64) float64 { return float64(0.2*x) + float64(0.1*z) })
		edit(m)
		o := PathOptionsOf(m)
		o.Duration = 10 * time.Second
		fly, err := FlyThrough(o)
		walk, walked := Walk(o, 1)
		if (err == nil) != (fly != nil) || (walked == nil) != (walk != nil) {
			t.Fatalf("%s: %v, %v", name, err, walked)
		}
		for _, p := range []*CameraPath{fly, walk} {
			if p == nil {
				continue
			}
			if len(p.Keys) > 2*maxKeys {
				t.Fatalf("%s: %d keys", name, len(p.Keys))
			}
			for _, k := range p.Keys {
				if !k.Position.IsFinite() || !k.Forward.IsFinite() {
					t.Fatalf("%s: %+v", name, k)
				}
			}
		}
	}
}
