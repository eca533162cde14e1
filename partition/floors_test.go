package partition

import (
	"fmt"
	"math"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/tileid"
)

// tower has a slab and a row of pillars on each floor, 3.5 m apart, and a
// roof that is called so.
func tower(storeys int, base float64) []Object {
	var out []Object
	for f := range storeys {
		y := base + 3.5*float64(f)
		out = append(out, named("mesh", box(0, y-.3, 0, 20, y, 20)))
		for i := range 5 {
			x := float64(4 * i)
			out = append(out, named("Pillar", box(x, y, 1, x+.4, y+3, 1.4)))
			out = append(out, named("Desk", box(x, y, 5, x+3, y+.75, 7))) // flat and wide, but small
		}
	}
	top := base + 3.5*float64(storeys)
	return numbered(append(out, named("Roof", box(0, top, 0, 20, top+.3, 20)))...)
}

func TestFloorsBySlabs(t *testing.T) {
	for _, base := range []float64{0, -117.3, 4e3 + .1} {
		objects := tower(6, base)
		p := mustFloors(t, Quadtree, objects, FloorOptions{})
		if f := p.Floors; f.Method != FloorsSlabs || f.Count != 6 || math.Abs(f.BandHeight-3.5) > 1e-6 || f.Base != 0 {
			t.Fatalf("base %v: %+v", base, f)
		}
		for i, l := range p.Floors.Slabs {
			if math.Abs(l.Top-base-3.5*float64(i)) > 1e-6 || l.Count != 6 || math.Abs(l.Area-430) > 1e-6 && l.Count == 1 {
				// Desks are above the slab by more than a bin.
				if l.Count != 1 || math.Abs(l.Area-400) > 1e-6 {
					t.Errorf("base %v: level %d is %+v", base, i, l)
				}
			}
		}
		for i, o := range objects {
			want := int32(min(math.Floor((o.Box.Max[1]-base+.4)/3.5), 5))
			if got := p.Objects[i].Floor; got != want {
				t.Errorf("base %v: %s %v is on floor %d, want %d", base, o.Name, o.Box, got, want)
			}
		}
	}
}

func TestFloorsBySlabsOfSpecialScenes(t *testing.T) {
	slab := func(top float64) Object { return named("Slab", box(0, top-.3, 0, 20, top, 20)) }
	high := named("Pillar", box(0, 0, 0, 1, 12, 1))
	for _, c := range []struct {
		name    string
		objects []Object
		method  FloorMethod
		count   int
	}{
		{"split levels are one floor", []Object{slab(0), slab(1), slab(4), high}, FloorsSlabs, 2},
		{"a slab in many pieces", []Object{slab(0), named("floor", box(0, 3.4, 0, 10, 3.5, 20)), named("floor", box(10, 3.5, 0, 20, 3.6, 20)), high}, FloorsSlabs, 2},
		{"a mezzanine that is too small", []Object{slab(0), named("Slab", box(0, 3, 0, 5, 3.2, 5)), high, named("Roof", box(0, 12, 0, 20, 12, 20))}, FloorsSlabs, 1},
		{"on a wide ground", append(tower(6, 0), named("Terrain", box(-300, -1, -300, 300, -.05, 300))), FloorsSlabs, 6},
		{"more slabs than any house has", func() (all []Object) {
			for i := range 20_000 {
				all = append(all, slab(float64(3*i)))
			}
			return all
		}(), FloorsSlabs, maxSlabLevels},
		{"a ceiling is no floor", []Object{slab(0), named("Ceiling", box(0, 3, 0, 20, 3.1, 20)), high}, FloorsSlabs, 1},
		{"the top is no floor", []Object{slab(0), slab(12), high}, FloorsSlabs, 1},
		{"an outlier far up", append(tower(3, 0), named("Bird", box(0, 900, 0, 1, 901, 1))), FloorsSlabs, 3},
		{"no slabs", []Object{high, named("Wall", box(3, 0, 0, 4, 2.8, 1))}, FloorsMedian, 5},
		{"only a plate", []Object{slab(0)}, FloorsSlabs, 1},
		{"pavements on a hill", []Object{
			named("Sidewalk", box(0, -.2, 0, 90, 0, 9)), named("Sidewalk", box(0, 2.3, 20, 90, 2.5, 29)),
			named("Sidewalk", box(0, 4.8, 40, 90, 5, 49)), high,
		}, FloorsSlabs, 1},
		{"a wing of its own height", append(tower(4, 0), named("Slab", box(100, 1.6, 0, 120, 1.75, 20))), FloorsSlabs, 4},
	} {
		p := mustFloors(t, Quadtree, numbered(c.objects...), FloorOptions{})
		if p.Floors.Method != c.method || p.Floors.Count != c.count {
			t.Errorf("%s: %+v", c.name, p.Floors)
		}
	}
}

func TestFloorsGiven(t *testing.T) {
	objects := numbered(named("Pillar", box(0, 0, 0, 1, 12, 1)), named("Wall", box(3, 7.9, 0, 4, 8.3, 1)), named("Wall", box(3, 40, 0, 4, 40, 1)))
	for _, c := range []struct {
		opts   FloorOptions
		count  int
		band   float64
		floors []int32
	}{
		{FloorOptions{FloorCount: 4, FloorBandHeight: 4}, 4, 4, []int32{1, 2, 3}},
		{FloorOptions{FloorCount: 4}, 4, 10, []int32{0, 0, 3}},
		{FloorOptions{FloorBandHeight: 4}, 10, 4, []int32{1, 2, 9}},
		{FloorOptions{Profile: "outdoor"}, 1, 40, []int32{0, 0, 0}},
		{FloorOptions{Profile: "outdoor", FloorCount: 2}, 2, 20, []int32{0, 0, 1}},
		{FloorOptions{Profile: "outdoor", Compat: true}, 1, 40, []int32{0, 0, 0}},
	} {
		p := mustFloors(t, KDTree, objects, c.opts)
		var floors []int32
		for _, o := range p.Objects {
			floors = append(floors, o.Floor)
		}
		if p.Floors.Count != c.count || p.Floors.BandHeight != c.band || !gocmp.Equal(floors, c.floors) {
			t.Errorf("%+v: %+v, objects on %v", c.opts, p.Floors, floors)
		}
	}
}

func TestFloorNumbers(t *testing.T) {
	objects := tower(2, 0)
	for _, c := range []struct {
		opts FloorOptions
		want string
	}{
		{FloorOptions{MinObjects: 1000}, "F01_Q_RC 0, F01_Q_SI 0, F02_Q_RC 1, F02_Q_SI 1, "},
		{FloorOptions{MinObjects: 1000, Compat: true, FloorCount: 2, UntaggedTier: FineProps}, "F01_Q_FP 1, F02_Q_FP 2, "},
	} {
		got := ""
		for _, tile := range mustFloors(t, Quadtree, objects, c.opts).Tiles {
			if tile.Cell.Size()[0] > 19 {
				got += fmt.Sprint(tile.ID, " ", tile.Floor, ", ")
			}
		}
		if got != c.want {
			t.Errorf("%+v: %s", c.opts, got)
		}
	}
}

// city is wide and of one kind, and its ground plane is a slab.
func city() []Object {
	out := []Object{named("Ground", box(-10, -1, -10, 510, 0, 510))}
	for i := range 100 {
		x, z := float64(i%10)*50, float64(i/10)*50
		out = append(out, named(fmt.Sprint("Block", i), box(x, 0, z, x+20, 30, z+20)))
	}
	return numbered(out...)
}

func TestProfileComesFirst(t *testing.T) {
	p := mustFloors(t, Quadtree, city(), FloorOptions{})
	if p.Profile != ProfileOutdoor || p.ProfileRequested != ProfileAuto || p.Floors.Method != FloorsOutdoor || p.Floors.Count != 1 {
		t.Errorf("%s %+v", p.Profile, p.Floors)
	}
	for _, tile := range p.Tiles {
		if tile.Interior {
			t.Errorf("%s is interior", tile.ID)
		}
	}
	if p := mustFloors(t, Quadtree, city(), FloorOptions{Compat: true}); p.Profile != ProfileOutdoor || p.Floors.Count != 9 || !p.Tiles[0].Interior {
		t.Errorf("compat: %s %+v", p.Profile, p.Floors)
	}
	if p := mustFloors(t, Quadtree, city(), FloorOptions{TileSide: 100}); p.Profile != ProfileIndoor {
		t.Error("large tiles: ", p.Profile)
	}
}

func TestInteriorNeedsAShell(t *testing.T) {
	house := numbered(named("Desk", box(1, 0, 1, 2, 1, 2)), named("Facade", box(0, 0, 0, 20, 6, .2)), named("Roof", box(3, 6, 3, 4, 6.2, 4)))
	for _, c := range []struct {
		name     string
		objects  []Object
		opts     FloorOptions
		interior bool
		zone     bool
	}{
		{"a house", house, FloorOptions{}, true, true},
		{"without a shell", house[:1], FloorOptions{}, false, false},
		{"without a shell, compat", house[:1], FloorOptions{Compat: true}, true, false},
		{"outdoors", house, FloorOptions{Profile: "outdoor"}, false, true},
		{"the plot around a house", numbered(named("Path", box(-30, -.1, -30, 40, 0, 40)), house[1], house[2]), FloorOptions{}, false, true},
	} {
		p := mustFloors(t, Quadtree, c.objects, c.opts)
		for _, tile := range p.Tiles {
			if tile.Interior != (c.interior && tile.Tier != ExteriorShell) {
				t.Errorf("%s: %s interior %v", c.name, tile.ID, tile.Interior)
			}
		}
		if (p.InteriorZone != nil) != c.zone {
			t.Errorf("%s: zone %v", c.name, p.InteriorZone)
		}
	}
	// The facade spans the floor and is in the bucket; the roof is a tile, and
	// tiles alone make the zone.
	for _, compat := range []bool{false, true} {
		p := mustFloors(t, Quadtree, house, FloorOptions{Compat: compat})
		if len(p.Shared) != 1 || *p.InteriorZone != house[2].Box {
			t.Errorf("compat %v: bucket %v, zone %v", compat, p.Shared, *p.InteriorZone)
		}
		// Without the roof the bucket's facade is all the shell there is.
		if p = mustFloors(t, Quadtree, house[:2], FloorOptions{Compat: compat}); len(p.Shared) != 1 || *p.InteriorZone != house[1].Box {
			t.Errorf("compat %v, no roof: bucket %v, zone %v", compat, p.Shared, *p.InteriorZone)
		}
	}
}

// TestInteriorFootprint: a tile is interior within the shell's footprint and
// 1 m around it, the bucket's part of the shell included, and not beyond.
func TestInteriorFootprint(t *testing.T) {
	for _, c := range []struct {
		reach    float64
		interior bool
	}{{0, true}, {0.9, true}, {1, true}, {1.1, false}, {30, false}} {
		objects := numbered(
			named("Desk", box(1, 0, 1, 20+c.reach, 1, 2)),
			named("Facade", box(0, 0, 0, 20, 6, 3)), named("Roof", box(3, 6, 3, 4, 6.2, 4)),
		)
		p := mustFloors(t, Quadtree, objects, FloorOptions{})
		for _, tile := range p.Tiles {
			if tile.Tier != ExteriorShell && tile.Interior != c.interior {
				t.Errorf("%v m beyond the shell: %s interior %v", c.reach, tile.ID, tile.Interior)
			}
		}
	}
}

func TestTierRadiusOverrides(t *testing.T) {
	seven := 7
	objects := numbered(named("Wall", box(0, 0, 0, 9, 3, .2)), named("Desk", box(5, 0, 5, 6, 1, 6)), named("Desk", box(0, 0, 5, 1, 1, 6)))
	objects[1].PriorityHint = 12
	opts := FloorOptions{MinObjects: 1, TierRadii: manifest.TierRadii{
		{Tier: tileid.TierStructuralInterior, Streaming: 10, Unload: 16},
		{Tier: tileid.TierRoomContents, Streaming: .5, Unload: 0, Priority: &seven},
	}}
	p := mustFloors(t, KDTree, objects, opts)
	want := map[string]Radii{"F01_K_SI": {10, 16, 10}, "F01_K_RC": {1, 2, 12}}
	for _, tile := range p.Tiles {
		if tile.Radii != want[tile.ID] || tile.Priority != tile.Radii.Priority {
			t.Errorf("%s: %+v, want %+v", tile.ID, tile.Radii, want[tile.ID])
		}
	}
	if p.Defaults != (Radii{10, 16, 10}) || *p.TierRadii[2].Priority != 7 {
		t.Errorf("defaults %+v, tiers %+v", p.Defaults, p.TierRadii)
	}
	for _, c := range []struct {
		text string
		want manifest.TierRadius
		ok   bool
	}{
		{"RoomContents=20,30,7", manifest.TierRadius{Tier: "RoomContents", Streaming: 20, Unload: 30, Priority: &seven}, true},
		{" FineProps = 1.5 , 2", manifest.TierRadius{Tier: "FineProps", Streaming: 1.5, Unload: 2}, true},
		{"RoomContents=20", manifest.TierRadius{}, false},
		{"RoomContents", manifest.TierRadius{}, false},
		{"Auto=1,2", manifest.TierRadius{}, false},
		{"Sofa=1,2", manifest.TierRadius{}, false},
		{"FineProps=NaN,2", manifest.TierRadius{}, false},
		{"FineProps=-1,2", manifest.TierRadius{}, false},
		{"FineProps=2,1", manifest.TierRadius{}, false},
		{"FineProps=1,2,high", manifest.TierRadius{}, false},
		{"FineProps=1,2,3,4", manifest.TierRadius{}, false},
	} {
		got, err := ParseTierRadius(c.text)
		if d := gocmp.Diff(c.want, got); d != "" || (err == nil) != c.ok {
			t.Errorf("%q: %v %s", c.text, err, d)
		}
	}
}
