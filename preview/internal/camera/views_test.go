package camera

import (
	"math"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
)

func TestViews(t *testing.T) {
	town := box(-30, 0, -20, 30, 9, 20)
	s := Scene{Bounds: town, Tiles: []Tile{{town, math.Inf(1)}}}
	var names []string
	for _, v := range s.Views(1.5, 60) {
		names = append(names, v.Name)
		if !s.Sees(v.Pose, 1.5, 60) {
			t.Errorf("%s sees nothing from %+v", v.Name, v.Pose)
		}
		if town.Distance(v.Pose.Position) == 0 {
			t.Errorf("%s is inside", v.Name)
		}
		if v.Name == HighView && v.Pose.Forward[1] > -0.8 {
			t.Errorf("high looks along %v", v.Pose.Forward)
		}
		if x0, y0, x1, y1 := extent(v.Pose, town, 1.5, 60); strings.HasPrefix(v.Name, OrbitView) && math.Abs(max(x1-x0, y1-y0)/2-full) > 0.01 {
			t.Errorf("%s: the town fills %.2f x %.2f of 2", v.Name, x1-x0, y1-y0)
		}
	}
	if got := strings.Join(names, " "); got != "street roof high far orbit-1 orbit-2 orbit-3" {
		t.Error(got)
	}
	if v := (&Scene{Bounds: geom.EmptyBox()}).Views(1, 60); v != nil {
		t.Errorf("of nothing: %v", v)
	}
}

func TestParseViews(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{`{"views": [{"name": "a", "position": [1, 2, 3], "forward": [0, 0, -2], "fov_y_degrees": 40}, {"name": "b", "position": [0, 0, 0], "forward": [1, 0, 0]}]}`, ""},
		{`{"camera": [{"t": 0, "position": [0, 1, 0], "forward": [0, 0, -1]}, {"t": 2.5, "position": [0, 1, -5], "forward": [0, 0, -1]}], "fov_y_degrees": 50, "aspect": 1.5, "near": 0.1, "far": 100}`, ""},
		{`{"views": []}`, "no views"},
		{`{}`, "neither"},
		{`[]`, "cannot unmarshal"},
		{`{"views": [{"name": "a"}]}`, `views[0] ("a"): it needs a position`},
		{`{"views": [{"position": [0, 0, 0], "forward": [1, 0, 0]}]}`, "needs a name"},
		{`{"views": [{"name": "a", "position": [0, 0, 0], "forward": [0, 0, 0]}]}`, "no length"},
		{`{"views": [{"name": "a", "position": [0, 0, 0], "forward": [1, 0, 0], "fov_y_degrees": 180}]}`, "between 0 and 180"},
		{`{"views": [{"name": "a", "position": [0, 0, 0], "forwards": [1, 0, 0]}]}`, "unknown field"},
		{`{"views": [{"name": "a", "position": [0, 0, 0], "forward": [1, 0, 0]}, {"name": "a", "position": [0, 0, 0], "forward": [1, 0, 0]}]}`, "two views"},
	} {
		v, err := ParseViews([]byte(tc.in))
		if tc.want == "" {
			if err != nil || len(v) != 2 || v[0].Name == v[1].Name {
				t.Errorf("%s: %v, %v", tc.in, v, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.in, err, tc.want)
		}
	}
}
