package partition

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
)

type planner = func([]Object, FloorOptions) (*Plan, error)

var planners = map[string]planner{"quadtree": Quadtree, "kdtree": KDTree}

func mustFloors(t testing.TB, run planner, objects []Object, opts FloorOptions) *Plan {
	t.Helper()
	p, err := run(objects, opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// named makes an object of a box.
func named(name string, b geom.Box) Object { return Object{Name: name, Box: b} }

// numbered gives objects their IDs.
func numbered(objects ...Object) []Object {
	for i := range objects {
		objects[i].ID = i
	}
	return objects
}

var drawnNames = []string{
	"Wall", "Roof_01", "OfficeChair", "Sensor", "Box", "Floor slab", "facade", "", "é", "desk",
	"x__UT_F02Q100_L_SI", "y__UT_F01Q_S_ES",
}

func drawFloorObjects(t *rapid.T) []Object {
	coord := rapid.OneOf(rapid.Float64Range(-40, 40), rapid.SampledFrom([]float64{-40, -20, -10, 0, 10, 20, 40}))
	size := rapid.OneOf(rapid.Float64Range(0, 3), rapid.SampledFrom([]float64{0, 1, 10, 80}))
	n := rapid.IntRange(1, 60).Draw(t, "objects")
	last := len(drawnNames) - 1
	if !rapid.Bool().Draw(t, "annotated") {
		last -= 2
	}
	var out []Object
	for i := range n {
		var b geom.Box
		for a := range 3 {
			b.Min[a] = coord.Draw(t, "min")
			b.Max[a] = b.Min[a] + size.Draw(t, "size")
		}
		if rapid.IntRange(0, 15).Draw(t, "empty") == 0 && i > 0 {
			b = geom.EmptyBox()
		}
		out = append(out, Object{
			ID: i, Name: drawnNames[rapid.IntRange(0, last).Draw(t, "name")], Box: b,
			Triangles:    rapid.IntRange(0, 500).Draw(t, "triangles"),
			Policy:       Policy(rapid.IntRange(0, 8).Draw(t, "policy") % 3 * rapid.IntRange(0, 1).Draw(t, "has policy")),
			Tier:         Tier(rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3, 4}).Draw(t, "tier")),
			PriorityHint: rapid.SampledFrom([]int{0, 0, 3, 15, 99}).Draw(t, "hint"),
		})
	}
	return out
}

func drawFloorOptions(t *rapid.T) FloorOptions {
	return FloorOptions{
		Compat:          rapid.Bool().Draw(t, "compat"),
		FloorCount:      rapid.SampledFrom([]int{0, 0, 1, 5}).Draw(t, "floors"),
		FloorBandHeight: rapid.SampledFrom([]float64{0, 0, 3.5}).Draw(t, "band"),
		Profile:         rapid.SampledFrom([]string{"", "indoor", "outdoor"}).Draw(t, "profile"),
		MinObjects:      rapid.IntRange(0, 6).Draw(t, "least"),
		Balance:         Balance(rapid.IntRange(0, 2).Draw(t, "balance")),
		Matching:        TierMatching(rapid.IntRange(0, 2).Draw(t, "matching")),
		UntaggedTier:    Tier(rapid.SampledFrom([]int{0, 0, 3}).Draw(t, "untagged")),
	}
}

// within reports whether b is inside a, borders included.
func within(a, b geom.Box) bool {
	for i := range 3 {
		if b.Min[i] < a.Min[i] || b.Max[i] > a.Max[i] {
			return false
		}
	}
	return true
}

// checkPlan checks what holds for every plan with floors.
func checkPlan(t interface{ Fatalf(string, ...any) }, objects []Object, opts FloorOptions, p *Plan) {
	places := make([]int, len(objects))
	ids := map[string]bool{}
	for _, tile := range p.Tiles {
		if ids[tile.ID] || tile.ID != tile.NodeID+"_"+tile.Tier.Code() || Sanitize(tile.ID) != tile.ID {
			t.Fatalf("id %q is bad or there twice", tile.ID)
		}
		ids[tile.ID] = true
		if len(tile.Objects) == 0 || !slices.IsSorted(tile.Objects) && !p.PreAnnotated {
			t.Fatalf("%s: objects %v", tile.ID, tile.Objects)
		}
		if !within(tile.Cell, tile.Content) {
			t.Fatalf("%s: content %v is not in cell %v", tile.ID, tile.Content, tile.Cell)
		}
		if f := tile.Floor - p.Floors.Base; f < 0 || f >= p.Floors.Count {
			t.Fatalf("%s: floor %d of %d", tile.ID, tile.Floor, p.Floors.Count)
		}
		if tile.Radii.Streaming < 1 || tile.Radii.Unload < 2 || tile.Priority != tile.Radii.Priority {
			t.Fatalf("%s: radii %+v", tile.ID, tile.Radii)
		}
		if tile.Interior && (tile.Tier == ExteriorShell || !opts.Compat && (p.InteriorZone == nil || p.Profile != ProfileIndoor)) {
			t.Fatalf("%s must not be interior", tile.ID)
		}
		for _, o := range tile.Objects {
			places[o]++
			c := p.Objects[o]
			if !within(tile.Content, objects[o].Box) || c.Tier != tile.Tier || !c.InTiles || tile.Priority < objects[o].PriorityHint {
				t.Fatalf("%s: object %d does not belong there: %+v", tile.ID, o, c)
			}
		}
	}
	for _, o := range p.Shared {
		places[o]++
		if c := p.Objects[o]; c.InTiles || c.Export != ExportShared || c.Reasons == 0 {
			t.Fatalf("object %d in the bucket: %+v", o, c)
		}
	}
	for _, o := range p.Skipped {
		places[o]++
	}
	for o, n := range places {
		if n != 1 {
			t.Fatalf("object %d is in %d places", o, n)
		}
	}
}

func TestFloorPlansHoldTogether(t *testing.T) {
	for name, run := range planners {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			objects, opts := drawFloorObjects(t), drawFloorOptions(t)
			p, err := run(objects, opts)
			if err != nil {
				t.Fatal(err)
			}
			checkPlan(t, objects, opts, p)
		}))
	}
}

func TestFloorPlansDoNotDependOnTheOrder(t *testing.T) {
	for name, run := range planners {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			objects, opts := drawFloorObjects(t), drawFloorOptions(t)
			perm := rapid.Permutation(func() (s []int) {
				for i := range objects {
					s = append(s, i)
				}
				return s
			}()).Draw(t, "order")
			shuffled := make([]Object, len(objects))
			for i, j := range perm {
				shuffled[i] = objects[j]
			}
			a, err := run(objects, opts)
			if err != nil {
				t.Fatal(err)
			}
			b, err := run(shuffled, opts)
			if err != nil {
				t.Fatal(err)
			}
			// Back to the indices of the first.
			rename := func(list []int) {
				for i := range list {
					list[i] = perm[list[i]]
				}
			}
			for i := range b.Tiles {
				rename(b.Tiles[i].Objects)
			}
			rename(b.Shared)
			rename(b.Skipped)
			classes := make([]Classification, len(b.Objects))
			for i, c := range b.Objects {
				classes[perm[i]] = c
			}
			b.Objects = classes
			if d := gocmp.Diff(a, b, cmpopts.EquateEmpty()); d != "" {
				t.Fatal(d)
			}
		}))
	}
}

func TestFloorsRefuseBadInput(t *testing.T) {
	one := of(box(0, 0, 0, 1, 1, 1))
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name    string
		objects []Object
		opts    FloorOptions
		want    error
	}{
		{"nothing", nil, FloorOptions{}, ErrNoObjects},
		{"only empty boxes", of(geom.EmptyBox()), FloorOptions{}, ErrNoObjects},
		{"NaN", of(box(0, nan, 0, 1, 1, 1)), FloorOptions{}, ErrBadBox},
		{"infinite", of(box(0, 0, 0, inf, 1, 1)), FloorOptions{}, ErrBadBox},
		{"tile side", one, FloorOptions{TileSide: -1}, ErrBadOptions},
		{"floor count", one, FloorOptions{FloorCount: -1}, ErrBadOptions},
		{"too many floors", one, FloorOptions{FloorCount: maxFloors + 1}, ErrBadOptions},
		{"band", one, FloorOptions{FloorBandHeight: nan}, ErrBadOptions},
		{"profile", one, FloorOptions{Profile: "space"}, ErrBadOptions},
		{"least", one, FloorOptions{MinObjects: -1}, ErrBadOptions},
		{"matching", one, FloorOptions{Matching: 9}, ErrBadOptions},
		{"balance", one, FloorOptions{Balance: 9}, ErrBadOptions},
		{"untagged", one, FloorOptions{UntaggedTier: 9}, ErrBadOptions},
		{"tier", one, FloorOptions{TierRadii: manifest.TierRadii{{Tier: "Auto"}}}, ErrBadOptions},
		{"radius", one, FloorOptions{TierRadii: manifest.TierRadii{{Tier: "FineProps", Streaming: inf}}}, ErrBadOptions},
	} {
		for name, run := range planners {
			if _, err := run(c.objects, c.opts); !errors.Is(err, c.want) {
				t.Errorf("%s, %s: %v, want %v", c.name, name, err, c.want)
			}
		}
	}
	bad := of(box(0, 0, 0, 1, 1, 1))
	bad[0].Tier = 200
	if _, err := Quadtree(bad, FloorOptions{}); !errors.Is(err, ErrBadOptions) {
		t.Errorf("a tier that is none: %v", err)
	}
}

func TestFloorsSurviveAbsurdScenes(t *testing.T) {
	far := 9e29
	scenes := map[string][]Object{
		"huge":       of(box(-far, -far, -far, far, far, far), box(far, far, far, far, far, far), box(1, 2, 3, 4, 5, 6), box(-far, 0, 0, -far, 0, 0)),
		"tiny":       of(box(0, 0, 0, 5e-324, 5e-324, 5e-324), box(5e-324, 0, 0, 5e-324, 0, 0)),
		"one point":  of(slices.Repeat([]geom.Box{box(7, 7, 7, 7, 7, 7)}, 20_000)...),
		"one column": of(slices.Repeat([]geom.Box{box(0, -1e6, 0, 0, 1e6, 0)}, 1000)...),
	}
	for scene, objects := range scenes {
		for name, run := range planners {
			for _, opts := range []FloorOptions{{}, {Compat: true}, {FloorCount: maxFloors}, {FloorBandHeight: 0.1, Compat: true}} {
				t.Run(fmt.Sprint(scene, " ", name, " ", opts.Compat), func(t *testing.T) {
					checkPlan(t, objects, opts, mustFloors(t, run, objects, opts))
				})
			}
		}
	}
}

// million is a tower of floors with furniture, slabs and facades.
func million(n int) []Object {
	rng := rand.New(rand.NewPCG(1, 2))
	kinds := []string{"Wall_", "OfficeChair", "Sensor", "Box", "Pillar.", "desk-lamp "}
	objects := make([]Object, n)
	for i := range objects {
		b := box(0, 0, 0, 0, 0, 0)
		x, z, y := rng.Float64()*300, rng.Float64()*300, float64(rng.IntN(20))*3.5
		s := 0.2 + rng.Float64()*2
		b.Min, b.Max = geom.Vec3{x, y, z}, geom.Vec3{x + s, y + s, z + s}
		objects[i] = Object{ID: i, Name: fmt.Sprint(kinds[i%len(kinds)], i), Box: b, Triangles: rng.IntN(5000), Materials: []string{"Oak wood", "steel"}}
	}
	for f := range 20 {
		objects[f].Name, objects[f].Box = "Slab", box(0, float64(f)*3.5-.3, 0, 300, float64(f)*3.5, 300)
	}
	return objects
}

func BenchmarkFloors(b *testing.B) {
	objects := million(1_000_000)
	for _, c := range []struct {
		name string
		run  planner
		opts FloorOptions
	}{
		{"quadtree", Quadtree, FloorOptions{}},
		{"kdtree", KDTree, FloorOptions{}},
		{"quadtree compat", Quadtree, FloorOptions{Compat: true}},
		{"kdtree compat", KDTree, FloorOptions{Compat: true}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var p *Plan
			for b.Loop() {
				p = mustFloors(b, c.run, objects, c.opts)
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.Sys)/(1<<20), "MiB-of-process")
			b.ReportMetric(float64(len(p.Tiles)), "tiles")
		})
	}
}
