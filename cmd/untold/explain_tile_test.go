package main

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/band"
)

// TestExplainShows: what is shown where covers all distances once.
func TestExplainShows(t *testing.T) {
	f := explainFlags{fov: 60, height: 1080}
	for _, c := range []struct {
		name string
		b    band.Bands
		want string
	}{
		{"no levels", band.Bands{Streaming: 50, Unload: 80}, "full 0-80"},
		{"levels", band.Bands{Streaming: 50, Unload: 300, LODs: []float64{60, 120}, HLOD: 200}, "full 0-60, lod1 60-120, lod2 120-200, hlod 200-"},
		{"a level inside the streaming radius", band.Bands{Streaming: 50, Unload: 300, LODs: []float64{30, 120}}, "full 0-50, lod1 50-120, lod2 120-"},
		{"a level that is never shown", band.Bands{Streaming: 50, Unload: 300, LODs: []float64{20, 30}, HLOD: 200}, "full 0-50, lod1 never, lod2 50-200, hlod 200-"},
		{"an HLOD before the LODs", band.Bands{Streaming: 50, Unload: 300, LODs: []float64{100}, HLOD: 90}, "full 0-90, lod1 never, hlod 90-"},
		{"the shared bucket", band.Bands{Streaming: math.Inf(1), Unload: math.Inf(1)}, "full 0-"},
	} {
		tile := &manifest.Tile{}
		e := &tileBands{written: c.b, hlodError: math.NaN()}
		for range c.b.LODs {
			e.lodErrors = append(e.lodErrors, 0.1)
		}
		for _, d := range c.b.LODs {
			tile.LODLevels = append(tile.LODLevels, manifest.Level{SwitchDistance: d})
		}
		if c.b.HLOD != 0 {
			tile.HLODLevels = []manifest.Level{{SwitchDistance: c.b.HLOD}}
		}
		var got []string
		for _, r := range f.shows(t.TempDir(), tile, e) {
			text := r.Name + " never"
			if !r.Never {
				text = r.Name + " " + distance(r.From) + "-"
				if r.To != nil {
					text += distance(*r.To)
				}
			}
			got = append(got, text)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// TestExplainNodes: a tile's nodes are listed from below, with all that they stand in
// for, and the farthest that holds is what a camera sees.
func TestExplainNodes(t *testing.T) {
	box := manifest.BoundsOf(geom.Box{Max: geom.Vec3{10, 10, 10}})
	m := &manifest.Manifest{Pyramid: &manifest.Pyramid{Nodes: []manifest.PyramidNode{
		{ID: "n0", Level: 1, Children: []string{"a", "b"}, VisualError: 0.1, Bounds: box},
		{ID: "n1", Level: 1, Children: []string{"c"}, VisualError: 0.1, Bounds: box},
		{ID: "root", Level: 2, Children: []string{"n0", "n1"}, VisualError: 1, Bounds: box},
	}}}
	f := explainFlags{fov: 60, height: 1080}
	nodes := f.nodesAbove(m, "b")
	if len(nodes) != 2 || nodes[0].ID != "n0" || nodes[0].Tiles != 2 || nodes[1].ID != "root" || nodes[1].Tiles != 3 || math.Abs(nodes[1].Beyond-10*nodes[0].Beyond) > 0.1 {
		t.Fatalf("%+v", nodes)
	}
	to := 20.0
	s := &tileStory{Bounds: box, Nodes: nodes, Shows: []representation{{Name: "full", To: &to}, {Name: "lod1", From: 20, Never: true}, {Name: "hlod", From: 20}}}
	for x, want := range map[float64]string{0: "full", 25: "full", 31: "hlod", 11 + nodes[0].Beyond: "n0", 11 + nodes[1].Beyond: "root"} {
		if got := s.from(m, geom.Vec3{x, 5, 5}); got.Shows != want {
			t.Errorf("at %g: %+v, want %s", x, got, want)
		}
	}
}

func TestExplainTile(t *testing.T) {
	dir := cooked(t, "--whole-limit", "0")
	r := here(t, "explain", dir, "tile_0_0_0", "--camera", "0, 2,0")
	if r.code != 0 || !strings.HasPrefix(r.stdout, "tile_0_0_0: a tile with ") || !strings.Contains(r.stdout, "\nfull ") || !strings.Contains(r.stdout, "\nfrom (0, 2, 0), ") {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	var s tileStory
	if r := here(t, "explain", dir, "tile_0_0_0", "--json"); r.code != 0 || json.Unmarshal([]byte(r.stdout), &s) != nil || s.Shows[0].GPUBytes == nil || s.Shows[0].Triangles == 0 || s.Camera != nil {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"tile_0_0"}, `no tile "tile_0_0" (untold manifest bands lists them); did you mean "tile_0_0_0"?`},
		{[]string{"shared"}, `no tile "shared"`},
		{[]string{"tile_0_0_0", "--camera", "1,2"}, `--camera is "1,2"; write X,Y,Z in metres`},
		{[]string{"tile_0_0_0", "--camera", "1,2,Inf"}, "write X,Y,Z"},
		{[]string{"tile_0_0_0", "--fov", "0"}, "--fov must be between"},
		{nil, "untold explain takes MANIFEST and TILE, not 1 argument"},
	} {
		if r := here(t, append([]string{"explain", dir}, c.args...)...); r.code != exitFailure || !strings.Contains(r.err, c.says) {
			t.Errorf("%v: exit %d: %s", c.args, r.code, r.err)
		}
	}
}
