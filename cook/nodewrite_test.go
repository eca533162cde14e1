package cook

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/boxscene"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/internal/testfile"
)

// TestNodesShareTextures: textures with the same content are one file, which is counted
// once; every file is used; names do not depend on the number of processors.
func TestNodesShareTextures(t *testing.T) {
	var boxes []boxscene.Box
	for i := range 16 {
		boxes = append(boxes, boxscene.Box{Name: "Box", At: [3]float64{float64(i%4)*25 + 12, 0.5, -float64(i/4)*25 - 12}})
	}
	scene := runScene(t, "boxes.gltf", boxes)
	for _, mode := range []TextureMode{TexturesCopy, TexturesBC} {
		var first map[string]string
		for _, jobs := range []int{3, 1} {
			if race.Enabled && jobs == 1 {
				continue // make test compares both without the detector
			}
			o := ClassicOptions()
			o.Pyramid, o.Jobs, o.nodeTexels, o.lookSide, o.Textures = true, jobs, 64, smallPictures, mode
			dir := t.TempDir()
			res := mustRun(t, scene, dir, o)
			files := testfile.ReadTree(t, dir)
			if first == nil {
				first = files
			} else if d := cmp.Diff(first, files); d != "" {
				t.Errorf("%v: the files depend on the number of processors", mode)
			}
			used, uses := map[string]bool{}, 0
			for i := range res.Manifest.Pyramid.Nodes {
				f, err := format.Open(filepath.Join(dir, res.Manifest.Pyramid.Nodes[i].Path))
				if err != nil {
					t.Fatal(err)
				}
				for k := range f.Textures() {
					used[f.String(f.Textures()[k].URIOffset)] = true
					uses++
				}
				f.Close()
			}
			there := 0
			for name, data := range files {
				if _, file, ok := strings.Cut(name, "/Textures/"); ok {
					there++
					if !used["Textures/"+file] || len(data) == 0 {
						t.Errorf("%v: %s is used by no node", mode, name)
					}
				}
			}
			if there != len(used) || there == uses || res.Textures != there {
				t.Errorf("%v: %d files for %d uses, %d are counted", mode, there, uses, res.Textures)
			}
		}
	}
}

// TestNodeTexturesAreCompressed: where images stay what they are nodes have blocks under
// Zstandard all the same.
func TestNodeTexturesAreCompressed(t *testing.T) {
	scene := runScene(t, "boxes.gltf", []boxscene.Box{
		{Name: "A", At: [3]float64{12, 0.5, -12}}, {Name: "B", At: [3]float64{37, 0.5, -12}}, {Name: "C", At: [3]float64{37, 0.5, -37}},
	})
	for _, c := range []struct {
		mode TextureMode
		want string
	}{{TexturesCopy, ".ktx2"}, {TexturesResize, ".ktx2"}, {TexturesBC, ".utex"}, {TexturesKTX2, ".ktx2"}} {
		o := ClassicOptions()
		o.Pyramid, o.nodeTexels, o.lookSide, o.Textures = true, 64, smallPictures, c.mode
		dir := t.TempDir()
		mustRun(t, scene, dir, o)
		n := 0
		for name := range testfile.ReadTree(t, dir) {
			if strings.Contains(name, "/Textures/hlod_") {
				n++
				if filepath.Ext(name) != c.want {
					t.Errorf("%v: %s", c.mode, name)
				}
			}
		}
		if n == 0 {
			t.Errorf("%v: no textures", c.mode)
		}
	}
}

// TestNodesSayHowLargeTexelsAre: what the manifest says of a node's textures is what most of
// its surface shows, though walls of a node are narrower than its texels.
func TestNodesSayHowLargeTexelsAre(t *testing.T) {
	var boxes []boxscene.Box
	for i := range 16 {
		at := [3]float64{float64(i%4)*25 + 12, 0.5, -float64(i/4)*25 - 12}
		boxes = append(boxes,
			boxscene.Box{Name: "Hall", At: at, Scale: [3]float64{16, 6, 16}},
			boxscene.Box{Name: "Wall", At: at, Scale: [3]float64{0.15, 9, 22}},
		)
	}
	o := ClassicOptions()
	o.Pyramid, o.nodeTexels, o.lookSide = true, 64, smallPictures
	dir := t.TempDir()
	m := mustRun(t, runScene(t, "boxes.gltf", boxes), dir, o).Manifest
	said := map[string]float64{}
	for _, x := range m.Textures {
		said[x.URI] = x.UVPerMetre
	}
	for i := range m.Pyramid.Nodes {
		n := &m.Pyramid.Nodes[i]
		_, f := openFile(t, filepath.Join(dir, filepath.FromSlash(n.Path)))
		half := math.Inf(1) // of the surface of each child has as much
		for k := range f.Meshes {
			half = min(half, meshScales(f, &f.Meshes[k], &f.Entities[0].LocalTransform, [2]uint32{1, 1}).least(0.5))
		}
		for _, name := range texturesOf(f) {
			if got := said["Textures/"+name]; got < 0.85*half || got > 1.5*half || got == 0 {
				t.Errorf("%s: %v of the side on a metre, half of the surface has %v", name, got, half)
			}
		}
	}
}
