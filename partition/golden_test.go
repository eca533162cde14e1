package partition

import (
	"encoding/json"
	"math"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/testfile"
)

// vectors is the golden partition data, as far as grids and radii go.
type vectors struct {
	Cases []struct {
		Name string
		Args struct {
			Mode string
			Tile float64
			Clip bool
		}
		Objects []struct {
			Name      string
			Min, Max  geom.Vec3
			Materials []string
		}
		Expect struct {
			HalfDiag float64 `json:"half_diag"`
			Defaults struct {
				Streaming float64 `json:"streaming_radius"`
				Unload    float64 `json:"unload_radius"`
				Priority  int
			} `json:"streaming_defaults"`
			SharedRadii []float64 `json:"shared_radii"`
			Mode        string
			Tiles       []struct {
				ID    string `json:"tile_id"`
				Coord [3]int `json:"grid_coord"`
				Cell  struct{ Min, Max geom.Vec3 }
				// Names of the objects.
				Objects []string
			}
			Shared         []string
			Classification map[string]struct {
				Export  string `json:"export_policy"`
				Overlap int    `json:"xz_overlap_count"`
				Reasons []string
			}
		}
	}
	Radii []struct {
		Base     float64 `json:"base_tile"`
		HalfDiag float64 `json:"half_diag"`
		Defaults []float64
	}
}

// loadVectors reads the golden data.
func loadVectors(t *testing.T) (v vectors) {
	t.Helper()
	data := testfile.Read(t, filepath.Join("..", "testdata", "vectors", "partition_vectors.json"))
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func names(objects []Object, indices []int) []string {
	out := []string{}
	for _, i := range indices {
		out = append(out, objects[i].Name)
	}
	return out
}

func TestGridGolden(t *testing.T) {
	grids := 0
	for _, c := range loadVectors(t).Cases {
		if c.Args.Mode != "grid" {
			continue
		}
		grids++
		t.Run(c.Name, func(t *testing.T) {
			var objects []Object
			for i, o := range c.Objects {
				objects = append(objects, Object{ID: i, Name: o.Name, Box: geom.Box{Min: o.Min, Max: o.Max}, Materials: o.Materials})
			}
			p, err := Grid(objects, GridOptions{
				TileSize: geom.Vec3{c.Args.Tile, DefaultTileHeight, c.Args.Tile}, Clip: c.Args.Clip, Compat: true,
			})
			if err != nil {
				t.Fatal(err)
			}
			want := c.Expect
			if p.Mode != want.Mode || p.HalfDiag != want.HalfDiag {
				t.Errorf("mode %s, half diagonal %v", p.Mode, p.HalfDiag)
			}
			if d := cmp.Diff(Radii(want.Defaults), p.Defaults); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(want.SharedRadii, []float64{p.SharedRadii.Streaming, p.SharedRadii.Unload}); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(want.Shared, names(objects, p.Shared)); d != "" {
				t.Error(d)
			}
			if len(p.Tiles) != len(want.Tiles) {
				t.Fatalf("%d tiles, want %d", len(p.Tiles), len(want.Tiles))
			}
			for i, w := range want.Tiles {
				got := p.Tiles[i]
				if got.ID != w.ID || got.Coord != w.Coord || got.Cell != (geom.Box{Min: w.Cell.Min, Max: w.Cell.Max}) {
					t.Errorf("tile %d is %s %v %v, want %+v", i, got.ID, got.Coord, got.Cell, w)
				}
				if d := cmp.Diff(w.Objects, names(objects, got.Objects)); d != "" {
					t.Errorf("%s: %s", got.ID, d)
				}
			}
			for i := range objects {
				w := want.Classification[objects[i].Name]
				e := p.Objects[i].Entry(objects[i].Name)
				if e.ExportPolicy != w.Export || e.XZOverlapCount != w.Overlap || !cmp.Equal(e.Reasons, w.Reasons) {
					t.Errorf("%s: %+v, want %+v", objects[i].Name, e, w)
				}
			}
		})
	}
	if grids == 0 {
		t.Error("no grid cases")
	}
}

func TestGridRadiiGolden(t *testing.T) {
	for _, c := range loadVectors(t).Radii {
		r := GridRadii(c.Base, c.HalfDiag)
		if r.Streaming != c.Defaults[0] || r.Unload != c.Defaults[1] || r.Priority != 10 {
			t.Errorf("GridRadii(%v, %v) = %v, want %v", c.Base, c.HalfDiag, r, c.Defaults)
		}
	}
}

// A published scene of the reference engine.
func TestGridRadiiOfAPublishedScene(t *testing.T) {
	r, s := GridRadii(25, 110.1009), SharedRadii(110.1009)
	for _, c := range []struct{ got, want float64 }{
		{r.Streaming, 38.5353}, {r.Unload, 57.8030}, {s.Streaming, 110.1009}, {s.Unload, 165.15135},
	} {
		if math.Abs(c.got-c.want) > 1e-4 {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
}
