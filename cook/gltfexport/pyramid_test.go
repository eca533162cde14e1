package gltfexport

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/manifest"
)

// TestPyramidLevels: of each branch the nodes of the level stand for what is below
// them, or the highest ones below it, or the tiles.
func TestPyramidLevels(t *testing.T) {
	node := func(id string, level int, children ...string) manifest.PyramidNode {
		return manifest.PyramidNode{ID: id, Level: level, Children: children, Path: "tiles/" + id + ".untold"}
	}
	trees := map[string][]manifest.PyramidNode{
		"grid":    {node("ab", 1, "a", "b"), node("cd", 1, "c", "d"), node("top", 2, "ab", "cd")},
		"tree":    {node("ab", 1, "a", "b"), node("abc", 3, "ab", "c"), node("top", 4, "d", "abc")},
		"forest":  {node("ab", 1, "a", "b"), node("cd", 2, "c", "d")},
		"hostile": {node("ab", 1, "a", "b", "ab", "x"), node("a", 2, "a", "ab", "c"), node("", -3, "c", "d")},
	}
	for _, c := range []struct {
		tree  string
		level int
		want  string // ids; "-": an error
	}{
		{"grid", 0, "a b c d in shared"},
		{"grid", 1, "ab cd shared"},
		{"grid", 2, "top shared"},
		{"grid", 3, "-1, 2, not 3"},
		{"tree", 1, "ab c d shared"},
		{"tree", 2, "-1, 3, 4, not 2"},
		{"tree", 3, "abc d shared"},
		{"tree", 4, "top shared"},
		{"forest", 1, "ab c d shared"},
		{"forest", 2, "ab cd shared"},
		{"none", 1, "-no pyramid"},
		{"hostile", 1, "ab Quad c shared"},
		{"hostile", 2, "a Quad shared"},
	} {
		dir := t.TempDir()
		m := &manifest.Manifest{Version: manifest.VersionGrid, PartitioningMode: manifest.ModeUniformGrid, PayloadDir: "tiles"}
		tile := func(id string) manifest.Tile {
			return manifest.Tile{ID: id, Path: "tiles/" + id + ".untold", HLODLevels: []manifest.Level{}}
		}
		ids := []string{"a", "b", "c", "d", "in", "shared"}
		for _, id := range ids[:5] {
			m.Tiles = append(m.Tiles, tile(id))
		}
		m.Tiles[4].Interior = true
		m.SharedBucket = &manifest.SharedBucket{Tile: tile("shared")}
		if nodes := trees[c.tree]; nodes != nil {
			m.Pyramid = &manifest.Pyramid{Nodes: nodes}
			for _, n := range nodes {
				ids = append(ids, n.ID)
			}
		}
		for _, id := range ids {
			save(t, dir, "tiles/"+id+".untold", plainQuad(t))
		}
		if err := m.Save(filepath.Join(dir, "scene.json")); err != nil {
			t.Fatal(err)
		}
		if said, fails := strings.CutPrefix(c.want, "-"); fails {
			_, err := Export(t.Context(), dir, filepath.Join(t.TempDir(), "x.glb"), Options{PyramidLevel: c.level})
			if !errors.Is(err, ErrNoLevel) || !strings.Contains(err.Error(), said) {
				t.Errorf("%s, level %d: %v", c.tree, c.level, err)
			}
			continue
		}
		res, s := back(t, dir, ".glb", Options{PyramidLevel: c.level})
		var got []string
		for i := range s.Nodes {
			if s.Nodes[i].Parent < 0 {
				got = append(got, s.Nodes[i].Name)
			}
		}
		if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s, level %d: %s", c.tree, c.level, d)
		}
		if inside := slices.ContainsFunc(res.Notes, func(n Note) bool { return n.Code == "interior-tiles" }); inside != (c.level > 0) {
			t.Errorf("%s, level %d: %v", c.tree, c.level, res.Notes)
		}
	}
}

// cookPyramid cooks a town with a pyramid above its tiles.
func cookPyramid(t testing.TB) (string, *cook.Result) {
	t.Helper()
	dir := t.TempDir()
	o := cook.ClassicOptions()
	o.Pyramid = true
	res, err := cook.Run(context.Background(), town(t, 10), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return dir, res
}

// TestPyramidTextures: nodes come with the textures that were baked for them.
func TestPyramidTextures(t *testing.T) {
	dir, cooked := cookPyramid(t)
	nodes := cooked.Manifest.Pyramid.Nodes
	above := map[string]int{} // level of the parent
	for i := range nodes {
		for _, id := range nodes[i].Children {
			above[id] = nodes[i].Level
		}
	}
	for level := 1; level <= nodes[len(nodes)-1].Level; level++ {
		for _, ext := range []string{".glb", ".gltf"} {
			if race.Enabled && (ext == ".glb") != (level == 1) {
				continue // make test writes all without the detector
			}
			res, s := back(t, dir, ext, Options{PyramidLevel: level})
			want, files := 0, map[string]bool{}
			for i := range nodes {
				if up := above[nodes[i].ID]; nodes[i].Level <= level && (up == 0 || up > level) {
					want += nodes[i].TriangleCount
					for _, uri := range texturesIn(t, filepath.Join(dir, nodes[i].Path)) {
						files[uri] = true
					}
				}
			}
			if want == 0 || len(files) == 0 || res.Triangles != want || res.Textures != len(files) || len(res.Notes) > 0 {
				t.Errorf("level %d: %d of %d triangles, %d of %d textures, %v", level, res.Triangles, want, res.Textures, len(files), res.Notes)
			}
			for i := range s.Materials {
				if s.Materials[i].BaseColorTex.Image < 0 {
					t.Errorf("level %d: %s shows no texture", level, s.Materials[i].Name)
				}
			}
		}
	}
}

// texturesIn lists the textures of a container.
func texturesIn(t testing.TB, path string) (out []string) {
	t.Helper()
	r, err := format.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range r.Textures() {
		out = append(out, r.String(r.Textures()[i].URIOffset))
	}
	return out
}
