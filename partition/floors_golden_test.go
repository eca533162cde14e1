package partition

import (
	"encoding/json"
	"math"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
)

type goldenBox struct{ Min, Max geom.Vec3 }

// floorVectors is the golden data, as far as floors go.
type floorVectors struct {
	Cases []struct {
		Name string
		Args struct {
			Mode       string
			MinObjects int `json:"min_objects"`
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
			Floors      int
			BandHeight  float64 `json:"band_height"`
			Profile     string
			TileSize    float64 `json:"tile_size"`
			Tiles       []struct {
				ID        string    `json:"tile_id"`
				Floor     int       `json:"floor_id"`
				Node      string    `json:"quadtree_node_id"`
				Tier      string    `json:"semantic_tier"`
				Interior  bool      `json:"interior"`
				Bounds    goldenBox `json:"bounds"`
				Cell      goldenBox `json:"cell_bounds"`
				Streaming float64   `json:"streaming_radius"`
				Unload    float64   `json:"unload_radius"`
				Priority  int
				Objects   []string
			}
			Shared []string
			Zone   *goldenBox `json:"interior_zone"`
		}
	}
}

func TestFloorsGolden(t *testing.T) {
	data := testfile.Read(t, filepath.Join("..", "testdata", "vectors", "partition_vectors.json"))
	var v floorVectors
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	// The last bit of a product is not part of the contract.
	close := cmpopts.EquateApprox(0, 1e-9)
	ran := 0
	for _, c := range v.Cases {
		run := map[string]func([]Object, FloorOptions) (*Plan, error){"quadtree": Quadtree, "kdtree": KDTree}[c.Args.Mode]
		if run == nil {
			continue
		}
		ran++
		t.Run(c.Name, func(t *testing.T) {
			var objects []Object
			for i, o := range c.Objects {
				objects = append(objects, Object{ID: i, Name: o.Name, Box: geom.Box{Min: o.Min, Max: o.Max}, Materials: o.Materials})
			}
			p, err := run(objects, FloorOptions{Compat: true, MinObjects: c.Args.MinObjects})
			if err != nil {
				t.Fatal(err)
			}
			w := c.Expect
			got := []any{
				p.Mode, p.HalfDiag, p.Defaults, p.Floors.Count, p.Floors.BandHeight, p.Profile, p.TileSize[0],
				p.SharedRadii.Streaming, p.SharedRadii.Unload, names(objects, p.Shared), (*goldenBox)(p.InteriorZone),
			}
			want := []any{
				w.Mode, w.HalfDiag, Radii(w.Defaults), w.Floors, w.BandHeight, w.Profile, w.TileSize,
				w.SharedRadii[0], w.SharedRadii[1], w.Shared, w.Zone,
			}
			if d := cmp.Diff(want, got, close); d != "" {
				t.Error(d)
			}
			if len(p.Tiles) != len(w.Tiles) {
				t.Fatalf("%d tiles, want %d", len(p.Tiles), len(w.Tiles))
			}
			for i, w := range w.Tiles {
				g := p.Tiles[i]
				got := []any{g.ID, g.Floor, g.NodeID, g.Tier.String(), g.Interior, goldenBox(g.Content), goldenBox(g.Cell), g.Radii, g.Priority, names(objects, g.Objects)}
				want := []any{w.ID, w.Floor, w.Node, w.Tier, w.Interior, w.Bounds, w.Cell, Radii{w.Streaming, w.Unload, w.Priority}, w.Priority, w.Objects}
				if d := cmp.Diff(want, got, close); d != "" {
					t.Errorf("%s: %s", w.ID, d)
				}
			}
		})
	}
	if ran != 4 {
		t.Errorf("%d cases with floors, want 4", ran)
	}
}

// The complete manifests beside the golden data name tiles whose parts must
// fit together as a plan's do.
func TestFloorManifestsOfTheReference(t *testing.T) {
	for _, name := range []string{"manifest_v4_quadtree_floor.json", "manifest_v4_kdtree_floor.json"} {
		data := testfile.Read(t, filepath.Join("..", "testdata", "vectors", name))
		var m manifest.Manifest
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		size := m.SceneBounds.Box().Size()
		for _, r := range TierRadii(m.StreamingProfile.Resolved, 0.5*math.Hypot(size[0], size[2])) {
			for _, tile := range m.Tiles {
				if tile.SemanticTier != r.Tier {
					continue
				}
				tier, err := ParseTier(tile.SemanticTier)
				if err != nil || tile.ID != tile.QuadtreeNodeID+"_"+tier.Code() {
					t.Errorf("%s: %v", tile.ID, err)
				}
				if math.Abs(*tile.StreamingRadius-r.Streaming) > 1e-5 || math.Abs(*tile.UnloadRadius-r.Unload) > 1e-5 || *tile.Priority != *r.Priority {
					t.Errorf("%s: radii %v %v, want %+v", tile.ID, *tile.StreamingRadius, *tile.UnloadRadius, r)
				}
			}
		}
	}
}
