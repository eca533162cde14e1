package tiles3d

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
)

func pointer(v float64) *float64 { return &v }

// level is a level with errors, or none where they are negative.
func level(path string, at, geometric, visual float64) manifest.Level {
	l := manifest.Level{Path: path, SwitchDistance: at}
	if geometric >= 0 {
		l.GeometricError, l.VisualError = pointer(geometric), pointer(visual)
	}
	return l
}

// tile is a tile at x, a metre wide.
func tile(id string, x float64) manifest.Tile {
	return manifest.Tile{ID: id, Path: id, Bounds: manifest.Bounds{Min: [3]float64{x, 0, 0}, Max: [3]float64{x + 1, 1, 1}}}
}

// text shows a tree: the payload, its error and how it refines, the children behind.
func text(n *node) string {
	name := n.payload
	if name == "" {
		name = "-"
	}
	if n.add {
		name += "+"
	}
	name += fmt.Sprintf("%.4g", n.err)
	if n.request != nil {
		name += "!"
	}
	var children []string
	for _, c := range n.children {
		children = append(children, text(c))
	}
	if children == nil {
		return name
	}
	return name + "(" + strings.Join(children, " ") + ")"
}

func TestTree(t *testing.T) {
	levels := tile("a", 0)
	levels.LODLevels = []manifest.Level{level("a1", 10, 0.5, 0.2), level("a2", 30, 0.5, 1)}
	levels.HLODLevels = []manifest.Level{level("ah", 90, 3, 2), level("unused", 900, 9, 9)}
	foreign := tile("f", 2)
	foreign.LODLevels = []manifest.Level{level("f1", 100, -1, -1)}
	useless := tile("u", 4)
	useless.LODLevels = []manifest.Level{level("u1", 10, 2, 2), level("u2", 20, 1, 2), level("u3", 30, 2, 2)}
	inside := tile("i", 6)
	inside.Interior = true
	for name, c := range map[string]struct {
		m    manifest.Manifest
		want string
	}{
		"levels":  {manifest.Manifest{Tiles: []manifest.Tile{levels}}, "-+3.25(ah3.25(a21.25(a10.75(a0))))"},
		"foreign": {manifest.Manifest{Tiles: []manifest.Tile{foreign}}, "-+1.732(f11.711(f0))"},
		// What is no better than the level below would be loaded for nothing.
		"useless": {manifest.Manifest{Tiles: []manifest.Tile{useless}}, "-+2.25(u12.25(u0))"},
		"nothing": {manifest.Manifest{}, "-+0"},
		"bucket": {
			manifest.Manifest{Tiles: []manifest.Tile{tile("a", 0)}, SharedBucket: &manifest.SharedBucket{Tile: tile("s", 0)}},
			"-+1.732(-+1.732(a0) s0)",
		},
		"pyramid": {
			manifest.Manifest{
				Tiles: []manifest.Tile{tile("a", 0), tile("b", 1), tile("c", 2)},
				Pyramid: &manifest.Pyramid{Nodes: []manifest.PyramidNode{
					{ID: "ab", Path: "ab", Children: []string{"a", "b", "x", "a"}, GeometricError: 1, VisualError: 2, Bounds: manifest.Bounds{Max: [3]float64{2, 1, 1}}},
					{ID: "top", Path: "top", Children: []string{"ab", "c"}, GeometricError: 1, Bounds: manifest.Bounds{Max: [3]float64{3, 1, 1}}},
				}},
			},
			// The error of the parent is raised to that of its child.
			"-+3.317(top2.25(ab2.25(a0 b0) c0))",
		},
		"interior": {
			manifest.Manifest{Tiles: []manifest.Tile{inside}, InteriorZone: &manifest.Bounds{Max: [3]float64{9, 9, 9}}},
			"-+1.732(i0!)",
		},
	} {
		root := buildTree(&c.m, 0.25)
		root.bound()
		root.raise()
		if got := text(root); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestTreeRules: every tree, also of what no cook writes, has each payload once, errors
// that never fall going up, boxes that hold those below and no more children than a
// group or a pyramid node may have.
func TestTreeRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := manifest.Manifest{}
		want := map[string]int{}
		var ids []string
		number := rapid.IntRange(0, 200).Draw(t, "tiles")
		at := rapid.Float64Range(-1000, 1000)
		for i := range number {
			x := tile(fmt.Sprint("t", i), at.Draw(t, "x"))
			for k := range 3 {
				low := at.Draw(t, "low")
				x.Bounds.Min[k], x.Bounds.Max[k] = low, low+math.Abs(at.Draw(t, "size"))
			}
			if rapid.Bool().Draw(t, "level") {
				x.LODLevels = []manifest.Level{level(x.ID+"l", 10, math.Abs(at.Draw(t, "error")), 0)}
			}
			m.Tiles, ids = append(m.Tiles, x), append(ids, x.ID)
			want[x.ID] = 1
		}
		m.Pyramid = &manifest.Pyramid{}
		for i := range rapid.IntRange(0, 20).Draw(t, "nodes") {
			n := manifest.PyramidNode{ID: fmt.Sprint("n", i), Path: fmt.Sprint("n", i), GeometricError: math.Abs(at.Draw(t, "error"))}
			if len(ids) > 0 {
				n.Children = rapid.SliceOfN(rapid.SampledFrom(ids), 0, 9).Draw(t, "children")
			}
			ids = append(ids, n.ID)
			want[n.ID] = 1
			m.Pyramid.Nodes = append(m.Pyramid.Nodes, n)
		}
		root := buildTree(&m, 0)
		root.bound()
		root.raise()
		seen := map[string]int{}
		root.each(func(n *node) {
			seen[n.payload]++
			if n.payload == "" && n != root && len(n.children) > groupSize {
				t.Fatalf("a group of %d", len(n.children))
			}
			for _, c := range n.children {
				if c.err > n.err || !n.box.Contains(c.box, 0) {
					t.Fatalf("%s is above %s", text(n), text(c))
				}
			}
		})
		for id, n := range want {
			if seen[id] != n {
				t.Fatalf("%s stands %d times in %s", id, seen[id], text(root))
			}
		}
		before := text(root)
		most := rapid.IntRange(4, 60).Draw(t, "most")
		tilesets := split(root, most)
		all := 0
		for i, f := range tilesets {
			n := 0
			widest := 0
			f.root.each(func(x *node) {
				n++
				widest = max(widest, len(x.children))
			})
			if n > most && n > widest+1 {
				t.Fatalf("%s holds %d tiles, at most %d", f.name, n, most)
			}
			if all += n; i > 0 {
				all-- // what names it is a tile too
			}
		}
		if got := strings.Count(before, "(") + strings.Count(before, " ") + 1; got != all {
			t.Fatalf("%d tiles became %d in %d files", got, all, len(tilesets))
		}
	})
}

// TestPlace: the axes of a place are at right angles and the point is that of the
// ellipsoid.
func TestPlace(t *testing.T) {
	for _, c := range []struct {
		p    Place
		at   geom.Vec3
		axis [3]geom.Vec3 // X, Y and Z of the scene
	}{
		{Place{}, geom.Vec3{6378137, 0, 0}, [3]geom.Vec3{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}},
		{Place{Longitude: 90, Height: 10}, geom.Vec3{0, 6378147, 0}, [3]geom.Vec3{{-1, 0, 0}, {0, 0, 1}, {0, 1, 0}}},
		{Place{Latitude: 90}, geom.Vec3{0, 0, 6356752.3142}, [3]geom.Vec3{{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}},
		// Heading east: the scene's north points there, its east to the south.
		{Place{Heading: 90}, geom.Vec3{6378137, 0, 0}, [3]geom.Vec3{{0, 0, -1}, {0, 1, 0}, {1, 0, 0}}},
		// As CesiumJS has it.
		{
			Place{10.396597, 43.722952, 5, 30},
			geom.Vec3{4541011.8911, 833152.8524, 4385900.2529},
			[3]geom.Vec3{{0.183629, 0.914172, -0.361345}, {-0.678976, 0.383772, 0.625868}, {0.710825, 0.130417, 0.691172}},
		},
	} {
		m := c.p.transform()
		if got := m.Column(3); got.Sub(c.at).Len() > 0.001 {
			t.Errorf("%+v stands at %v, want %v", c.p, got, c.at)
		}
		for i, a := range c.axis {
			if m.Column(i).Sub(a).Len() > 1e-6 {
				t.Errorf("%+v: axis %d is %v, want %v", c.p, i, m.Column(i), a)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		p := Place{rapid.Float64Range(-180, 180).Draw(t, "lon"), rapid.Float64Range(-90, 90).Draw(t, "lat"), 0, rapid.Float64Range(-360, 360).Draw(t, "heading")}
		m := p.transform()
		if d := math.Abs(m.Det3() - 1); d > 1e-12 {
			t.Fatalf("%+v: the determinant is off by %v", p, d)
		}
		// On the ellipsoid (x²+y²)/a² + z²/b² is 1.
		at, b := m.Column(3), equator*math.Sqrt(1-eccentricity)
		if on := (at[0]*at[0]+at[1]*at[1])/equator/equator + at[2]*at[2]/b/b; math.Abs(on-1) > 1e-12 {
			t.Fatalf("%+v: off the ellipsoid: %v", p, on)
		}
	})
	for _, p := range []Place{{Longitude: 181}, {Latitude: -91}, {Height: math.NaN()}, {Heading: 1e9}} {
		if p.Check() == nil {
			t.Errorf("%+v was taken", p)
		}
	}
}
