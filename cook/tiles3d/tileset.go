package tiles3d

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/glb"
)

// The JSON of a tileset, in the order of the specification (3D Tiles 1.1, section 7).
type (
	tilesetJSON struct {
		Asset          assetJSON `json:"asset"`
		GeometricError float64   `json:"geometricError"`
		Root           *tileJSON `json:"root"`
	}
	assetJSON struct {
		Version string      `json:"version"`
		Extras  *extrasJSON `json:"extras,omitempty"` // the specification has no key for the generator
	}
	extrasJSON struct {
		Untold untoldJSON `json:"untold"`
	}
	untoldJSON struct {
		Generator string    `json:"generator"`
		Made      *madeJSON `json:"made,omitempty"` // of the first file
	}
	tileJSON struct {
		Volume         volumeJSON   `json:"boundingVolume"`
		Request        *volumeJSON  `json:"viewerRequestVolume,omitempty"`
		GeometricError float64      `json:"geometricError"`
		Refine         string       `json:"refine"`
		Transform      []float64    `json:"transform,omitempty"`
		Content        *contentJSON `json:"content,omitempty"`
		Children       []*tileJSON  `json:"children,omitempty"`
	}
	contentJSON struct {
		Volume *volumeJSON `json:"boundingVolume,omitempty"`
		URI    string      `json:"uri"`
	}
	volumeJSON struct {
		Box [12]float64 `json:"box"`
	}
)

// thin is half the thickness, in metres, that boxes have at least: some viewers cannot
// do with flat ones.
const thin = 1e-3

// volume turns a box to the axes of tilesets, Z up: its middle, then the halves of its
// edges along X, Y and Z.
func volume(b geom.Box) volumeJSON {
	if b.IsEmpty() {
		b = geom.Box{}
	}
	c, h := b.Center(), b.Size().Scale(0.5)
	for i := range h {
		h[i] = max(h[i], thin)
	}
	return volumeJSON{[12]float64{c[0], 0 - c[2], c[1], h[0], 0, 0, 0, h[2], 0, 0, 0, h[1]}}
}

// file is a tileset of the output.
type file struct {
	name string
	root *node
}

// split cuts the tree into files of at most so many tiles each, where no tile has more
// children: the first is the tileset, whose tiles name the others as their content.
func split(root *node, most int) []*file {
	var below []*file
	cut(root, most, &below)
	files := []*file{{"tileset.json", root}}
	for i, f := range slices.Backward(below) { // found from below
		f.name = fmt.Sprintf("tileset_%d.json", len(below)-i)
		files = append(files, f)
	}
	return files
}

// cut counts the tiles of n's file; while there are too many, the largest branch becomes
// a file of its own.
func cut(n *node, most int, files *[]*file) (count int) {
	sizes := make([]int, len(n.children))
	count = 1
	for i, c := range n.children {
		sizes[i] = cut(c, most, files)
		count += sizes[i]
	}
	for count > most {
		k := 0
		for i := range sizes {
			if sizes[i] > sizes[k] {
				k = i
			}
		}
		if sizes[k] == 1 {
			break // nothing but single tiles
		}
		c := n.children[k]
		f := &file{root: c}
		*files = append(*files, f)
		n.children[k] = &node{err: c.err, box: c.box, external: f}
		count -= sizes[k] - 1
		sizes[k] = 1
	}
	return count
}

// encode writes a tileset. transform, of the first, may be nil.
func encode(root *node, transform *geom.Mat4, about untoldJSON) ([]byte, error) {
	top := tileOf(root)
	if transform != nil {
		top.Transform = transform[:]
	}
	t := tilesetJSON{Asset: assetJSON{"1.1", &extrasJSON{about}}, GeometricError: root.err, Root: top}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(t); err != nil {
		return nil, fmt.Errorf("tiles3d: a box or an error of the tileset is no finite number: %w", err)
	}
	return b.Bytes(), nil
}

func tileOf(n *node) *tileJSON {
	t := &tileJSON{Volume: volume(n.box), GeometricError: n.err, Refine: "REPLACE"}
	if n.add {
		t.Refine = "ADD"
	}
	if n.request != nil {
		v := volume(*n.request)
		t.Request = &v
	}
	switch {
	case n.external != nil:
		t.Content = &contentJSON{URI: n.external.name}
	case n.uri != "":
		t.Content = &contentJSON{URI: glb.EscapeURI(n.uri)}
		if n.own != n.box {
			v := volume(n.own)
			t.Content.Volume = &v
		}
	}
	for _, c := range n.children {
		t.Children = append(t.Children, tileOf(c))
	}
	return t
}
