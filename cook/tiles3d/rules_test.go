package tiles3d

import (
	"bytes"
	"encoding/json"
	"math"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/measure"
	"github.com/untoldkit/untold/internal/geom"
)

// surfaces loads contents once.
type surfaces map[string]*measure.Surface

// load returns what a GLB draws, in the axes of tilesets, decoded as viewers do.
func (s surfaces) load(t *testing.T, file string) *measure.Surface {
	t.Helper()
	if s[file] != nil {
		return s[file]
	}
	scene, err := gltfscene.Load(t.Context(), file, gltfscene.Options{AllowParentPaths: true})
	if err != nil {
		t.Fatal(err)
	}
	out := &measure.Surface{}
	for i := range scene.Nodes {
		n := &scene.Nodes[i]
		if n.Mesh < 0 {
			continue
		}
		for _, p := range scene.Meshes[n.Mesh].Primitives {
			base := uint32(len(out.Positions))
			for _, v := range p.Positions {
				w := n.World.Point(geom.FromF32(v))
				out.Positions = append(out.Positions, geom.Vec3{w[0], -w[2], w[1]})
			}
			for _, k := range p.Indices {
				out.Indices = append(out.Indices, base+k)
			}
		}
	}
	s[file] = out
	return out
}

// judge holds a written tileset to the rules of the specification and to what it says of
// its contents: the keys and types of tileset.json, finite errors that never grow going
// down, volumes inside those above, contents that are there, lie in the tileset's folder
// and fill their boxes.
type judge struct {
	t        *testing.T
	dir      string
	surfaces surfaces
	tiles    int
	contents map[string]bool
	// chain, when set, is called for every content and the one that replaces it.
	chain func(coarse, fine string, err float64)
}

func (j *judge) tileset(name string, above *tileJSON) *tilesetJSON {
	j.t.Helper()
	data, err := os.ReadFile(filepath.Join(j.dir, filepath.FromSlash(name)))
	if err != nil {
		j.t.Fatal(err)
	}
	var s tilesetJSON
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		j.t.Fatalf("%s: %v", name, err)
	}
	if s.Asset.Version != "1.1" || s.Root == nil || s.GeometricError < s.Root.GeometricError {
		j.t.Fatalf("%s: %+v", name, s)
	}
	if above != nil && (above.GeometricError < s.Root.GeometricError || !inside(box(s.Root.Volume), box(above.Volume))) {
		j.t.Errorf("%s does not fit the tile that names it", name)
	}
	j.tile(s.Root, name)
	return &s
}

func box(v volumeJSON) geom.Box {
	b := v.Box
	c, h := geom.Vec3{b[0], b[1], b[2]}, geom.Vec3{b[3], b[7], b[11]}
	return geom.Box{Min: c.Sub(h), Max: c.Add(h)}
}

// inside reports whether a box lies in another, but for what is lost in its middle.
func inside(a, b geom.Box) bool {
	return b.Contains(a, 1e-9*(1+b.Size().Len()+b.Center().Len()))
}

func (j *judge) tile(t *tileJSON, where string) {
	j.t.Helper()
	j.tiles++
	volumes := []*volumeJSON{&t.Volume, t.Request}
	if t.Content != nil {
		volumes = append(volumes, t.Content.Volume)
	}
	for _, v := range volumes {
		if v == nil {
			continue
		}
		for i, x := range v.Box {
			if x-x != 0 || (i == 3 || i == 7 || i == 11) && x <= 0 {
				j.t.Errorf("%s: box %v", where, v.Box)
			}
		}
	}
	if t.GeometricError < 0 || math.IsInf(t.GeometricError, 0) || t.Refine != "ADD" && t.Refine != "REPLACE" {
		j.t.Errorf("%s: error %v, refine %q", where, t.GeometricError, t.Refine)
	}
	if t.Content == nil && len(t.Children) == 0 {
		j.t.Errorf("%s: a tile with nothing", where)
	}
	if t.Content != nil {
		j.content(t, where)
	}
	for _, c := range t.Children {
		if c.GeometricError > t.GeometricError || !inside(box(c.Volume), box(t.Volume)) {
			j.t.Errorf("%s: a child of error %v with box %v is below one of error %v with box %v", where, c.GeometricError, c.Volume.Box, t.GeometricError, t.Volume.Box)
		}
		if j.chain != nil && t.Content != nil && c.Content != nil && len(t.Children) == 1 {
			j.chain(t.Content.URI, c.Content.URI, t.GeometricError)
		}
		j.tile(c, where)
	}
}

func (j *judge) content(t *tileJSON, where string) {
	j.t.Helper()
	name, err := url.PathUnescape(t.Content.URI)
	if err != nil || !filepath.IsLocal(filepath.FromSlash(name)) {
		j.t.Fatalf("%s: content %q", where, t.Content.URI)
	}
	if strings.EqualFold(path.Ext(name), ".json") {
		if len(t.Children) > 0 {
			j.t.Errorf("%s: a tile with a tileset has children", where)
		}
		j.tileset(name, t)
		j.tiles-- // its root stands for the tile
		return
	}
	j.contents[name] = true
	v := t.Volume
	if t.Content.Volume != nil {
		v = *t.Content.Volume
		if !inside(box(v), box(t.Volume)) {
			j.t.Errorf("%s: the content's box leaves the tile's", name)
		}
	}
	all := geom.EmptyBox()
	for _, p := range j.surfaces.load(j.t, filepath.Join(j.dir, filepath.FromSlash(name))).Positions {
		all = all.Extend(p)
	}
	if !inside(all, box(v)) || t.Content.Volume != nil && !box(v).Contains(all, 0) {
		j.t.Errorf("%s: drawn in %v, its box is %v", name, all, box(v))
	}
	// Tight, but for boxes that are thickened.
	if d := box(v).Size().Sub(all.Size()).Len(); t.Content.Volume != nil && d > 4*thin {
		j.t.Errorf("%s: drawn in %v, its box is %v larger", name, all, d)
	}
}

// judgeTileset judges all of a folder.
func judgeTileset(t *testing.T, dir string, chain func(dir, coarse, fine string, err float64, s surfaces)) (*tilesetJSON, *judge) {
	t.Helper()
	j := &judge{t: t, dir: dir, surfaces: surfaces{}, contents: map[string]bool{}}
	if chain != nil {
		j.chain = func(coarse, fine string, err float64) { chain(dir, coarse, fine, err, j.surfaces) }
	}
	return j.tileset(tilesetName, nil), j
}
