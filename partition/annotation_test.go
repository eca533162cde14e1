package partition

import (
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/manifest"
)

func TestParseAnnotation(t *testing.T) {
	for _, c := range []struct {
		name string
		want Annotation
		ok   bool
	}{
		{"Wall__UT_F02Q100_L_SI", Annotation{"F02Q100", 2, 3, false, StructuralInterior, .75}, true},
		{"Wall__UT_F12_Q_1_0_S_ES", Annotation{"F12_Q_1_0", 12, 2, true, ExteriorShell, .75}, true},
		{"__UT_F01Q_L_FP", Annotation{"F01Q", 1, 0, false, FineProps, .75}, true},
		{"a__UT_b__UT_F01_K_0_1_L_RC", Annotation{"F01_K_0_1", 1, 2, false, RoomContents, .75}, true},
		{"Wall__UT_F02Q100_L_SI.001", Annotation{"F02Q100", 2, 3, false, StructuralInterior, .75}, true},
		{"Wall__UT_F02Q100_L_SI.x1", Annotation{}, false},
		{"Wall", Annotation{}, false},
		{"Wall__UT_F02Q100_L_XX", Annotation{}, false},
		{"Wall__UT_F02Q900_L_SI", Annotation{}, false},
		{"Wall__UT_../x_L_SI", Annotation{}, false},
		{"Wall__UT_F02_SI", Annotation{}, false},
		{"Wall__UT_FQ1_L_SI", Annotation{}, false},
		{"Wall__UT_F99999999999999999999Q1_L_SI", Annotation{}, false},
		{"Wall__UT__L_SI", Annotation{}, false},
	} {
		got, ok := ParseAnnotation(c.name)
		if d := gocmp.Diff(c.want, got); d != "" || ok != c.ok {
			t.Errorf("%s: %v %s", c.name, ok, d)
		}
	}
}

func TestAnnotationsAreFollowed(t *testing.T) {
	at := func(name string, x float64) Object { return named(name, box(x, 0, 0, x+1, 1, 1)) }
	objects := numbered(
		at("a__UT_F02Q100_L_SI", 0), at("b", 50), at("c", 10), at("Roof__UT_F02Q_S_ES", 20), at("d__UT_F02Q100_L_SI", 30),
	)
	objects[1].Annotation = &Annotation{Node: "F01_Q_3", Tier: FineProps, Confidence: .9}
	objects[4].Annotation = &Annotation{Node: "not a node"} // the name's counts
	for name, run := range planners {
		p := mustFloors(t, run, objects, FloorOptions{})
		checkPlan(t, objects, FloorOptions{}, p)
		if d := gocmp.Diff(map[string][]int{"F02Q100_SI": {0, 4}, "F01_Q_3_FP": {1}}, layout(p)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if !slices.Equal(p.Shared, []int{2, 3}) || p.Mode != manifest.ModeQuadtreeFloor || !p.PreAnnotated || p.Floors.Method != FloorsAnnotated {
			t.Errorf("%s: %v %s %v", name, p.Shared, p.Mode, p.Floors)
		}
		if got := p.Objects[2].Reasons.Strings(); !slices.Equal(got, []string{"not_annotated"}) {
			t.Error(got)
		}
		if p.Tiles[1].Floor != 1 || objects[1].Annotation.Floor != 0 {
			t.Errorf("floor %d; the input is changed: %v", p.Tiles[1].Floor, objects[1].Annotation)
		}
	}
	// With fewer than half, the tree decides.
	p := mustFloors(t, Quadtree, numbered(at("a__UT_F02Q100_L_SI", 0), at("b", 10), at("c", 20)), FloorOptions{})
	if p.PreAnnotated {
		t.Error("one of three is enough")
	}
}
