package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/scenecheck"
	"github.com/untoldkit/untold/internal/stable"
	"github.com/untoldkit/untold/internal/testfile"
)

func TestRoles(t *testing.T) {
	tests := map[string]role{
		"road_corner_curved": roleRoad, "road-straight-lightposts": roleRoad, "Street_Straight": roleRoad,
		"streetlight": roleLight, "trafficlight_A": roleLight, "building-small-a": roleBuilding, "Building_A_withoutBase": roleBuilding,
		"firehydrant": roleProp, "watertower": roleProp, "bush": roleTree, "grass-trees-tall": roleGround, "pavement": roleGround,
		"car_police": roleCar, "wallHalf": roleWall, "wall_doorway": roleWall, "door-rotate": roleDoor, "floor_tile_large": roleFloor,
		"tileLarge": roleFloor, "chest_gold": roleLoot, "barrel": roleLoot, "pillar": rolePillar, "Cube.001": roleOther, "scarf": roleOther,
	}
	for name, want := range tests {
		if got, why := guessRole(name); got != want {
			t.Errorf("%s is taken for %s (%q), want %s", name, got, why, want)
		}
	}
}

func TestTokens(t *testing.T) {
	for name, want := range map[string][]string{
		"road_corner-Curved2b": {"road", "corner", "curved", "b"}, "wallHalfLOW": {"wall", "half", "low"}, "": nil, "42": nil, "Ümlaut": {"ümlaut"},
	} {
		if d := cmp.Diff(want, tokens(name)); d != "" {
			t.Errorf("%q: %s", name, d)
		}
	}
}

func TestMasks(t *testing.T) {
	for m := range uint8(16) {
		if rotate(m, 4) != m || rotate(rotate(m, 1), 3) != m || kindOfMask(rotate(m, 1)) != kindOfMask(m) {
			t.Errorf("mask %04b does not turn round", m)
		}
	}
	if rotate(1<<sideS, 1) != 1<<sideE || rotate(1<<sideW, 1) != 1<<sideS {
		t.Error("a quarter turn must take +Z to +X and -X to +Z")
	}
	for kind, m := range defaultOpen {
		if kindOfMask(m) != kind {
			t.Errorf("%s has the mask %04b", kind, m)
		}
	}
}

// TestStreets checks the plan: connected, without dead ends, and never two
// streets side by side.
func TestStreets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(4, 30).Draw(t, "cells")
		s := planStreets(stable.NewRNG(rapid.Uint64().Draw(t, "seed")), n, n)
		for z := range n {
			for x := range n {
				if !s.at(x, z) {
					continue
				}
				if m := s.mask(x, z); kindOfMask(m) == kindEnd {
					t.Fatalf("dead end at %d, %d", x, z)
				}
				if s.at(x+1, z) && s.at(x, z+1) && s.at(x+1, z+1) {
					t.Fatalf("two streets side by side at %d, %d", x, z)
				}
				if !s.reaches(0, 0, x, z) {
					t.Fatalf("the street at %d, %d is cut off", x, z)
				}
			}
		}
	})
}

// TestCloseStretchKeepsBridges closes the only way between two rings.
func TestCloseStretchKeepsBridges(t *testing.T) {
	plan := []string{
		"###...###",
		"#.#####.#",
		"###...###",
	}
	s := &streets{w: 9, h: 3, road: make([]bool, 27)}
	for z, row := range plan {
		for x, c := range row {
			s.road[z*9+x] = c == '#'
		}
	}
	s.closeStretch(2, 1, 6, 1)
	if !s.at(4, 1) {
		t.Error("the bridge was closed")
	}
	s.road[4], s.road[3], s.road[5] = true, true, true // a second way
	s.closeStretch(2, 1, 6, 1)
	if s.at(4, 1) || !s.at(2, 1) || !s.at(6, 1) {
		t.Error("a stretch with a way round stays open")
	}
}

// TestCave checks that every floor cell can be reached on foot.
func TestCave(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 24).Draw(t, "cells")
		c := planCave(stable.NewRNG(rapid.Uint64().Draw(t, "seed")), n)
		seen := make([]bool, n*n)
		var queue [][2]int
		cells := 0
		for i, r := range c.room {
			if r != 0 {
				if cells == 0 {
					queue, seen[i] = append(queue, [2]int{i % n, i / n}), true
				}
				cells++
			}
		}
		reached := 0
		for ; len(queue) > 0; queue = queue[1:] {
			reached++
			x, z := queue[0][0], queue[0][1]
			for _, st := range sideStep {
				nx, nz := x+st[0], z+st[1]
				if k := c.between(x, z, nx, nz); k != c.between(nx, nz, x, z) {
					t.Fatalf("the edge %d,%d to %d,%d differs by direction", x, z, nx, nz)
				} else if c.at(nx, nz) != 0 && k != edgeWall && !seen[nz*n+nx] {
					seen[nz*n+nx] = true
					queue = append(queue, [2]int{nx, nz})
				}
			}
		}
		if cells == 0 || reached != cells {
			t.Fatalf("%d of %d cells can be reached", reached, cells)
		}
	})
}

// kitDir finds a shared kit or skips the test.
func kitDir(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "shared", "assets", "kits", name)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("shared kit %s is absent", name)
	}
	return dir
}

func TestKits(t *testing.T) {
	for _, name := range []string{"kaykit-city", "kenney-city"} {
		t.Run(name, func(t *testing.T) {
			dir := kitDir(t, name)
			path, log := assemble(t, "-kit", dir, "-cells", "14")
			if strings.Contains(log, "warning") {
				t.Errorf("unexpected warnings:\n%s", log)
			}
			r, err := scenecheck.File(path)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Doc.Images) != 1 || len(r.Doc.Materials) != 1 {
				t.Errorf("%d images and %d materials, want one atlas", len(r.Doc.Images), len(r.Doc.Materials))
			}
			streetsConnect(t, dir, r)
			again, _ := assemble(t, "-kit", dir, "-cells", "14")
			other, _ := assemble(t, "-kit", dir, "-cells", "14", "-seed", "2")
			if !same(t, path, again) || same(t, path, other) {
				t.Error("bytes must depend on the seed and on nothing else")
			}
		})
	}
}

// streetsConnect reads the turned road parts back from the file and compares
// their open sides with their neighbours.
func streetsConnect(t *testing.T, dir string, r *scenecheck.Report) {
	t.Helper()
	parts, err := loadParts(dir)
	if err != nil {
		t.Fatal(err)
	}
	k, err := newKit(parts, 0, func(string, ...any) {})
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]*part{}
	for _, p := range parts {
		byName[p.name] = p
	}
	open := map[[2]int]uint8{}
	for i, n := range r.Doc.Nodes {
		if !strings.HasPrefix(n.Name, "Road_") {
			continue
		}
		var x, z int
		if _, err := fmt.Sscanf(n.Name[strings.Index(n.Name[5:], "_")+6:], "%d_%d", &x, &z); err != nil {
			t.Fatal(n.Name, err)
		}
		p := byName[r.Doc.Meshes[*n.Mesh].Name]
		// The image of +Z says how many quarters the part was turned.
		f := r.World[i].Column(2)
		q := 0
		for d, st := range sideStep {
			if f[0]*float64(st[0])+f[2]*float64(st[1]) > 0.9 {
				q = d
			}
		}
		open[[2]int{x, z}] = rotate(p.open, q)
		want := [2]float64{(float64(x) + 0.5) * k.pitch, (float64(z) + 0.5) * k.pitch}
		if c := r.World[i].Column(3); c[0] != float64(float32(want[0])) || c[2] != float64(float32(want[1])) {
			t.Errorf("%s stands at %v, want %v", n.Name, c, want)
		}
	}
	if len(open) < 40 {
		t.Errorf("only %d road cells", len(open))
	}
	for c, m := range open {
		for d, st := range sideStep {
			other, isRoad := open[[2]int{c[0] + st[0], c[1] + st[1]}]
			if (m>>d&1 == 1) != isRoad || isRoad && other>>((d+2)%4)&1 == 0 {
				t.Errorf("the street at %v does not meet its neighbour on side %d", c, d)
			}
		}
	}
}

func same(t *testing.T, a, b string) bool {
	t.Helper()
	x := testfile.Read(t, a)
	y := testfile.Read(t, b)
	return bytes.Equal(x, y)
}
