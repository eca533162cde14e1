package cook

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/format/vertex"
)

// TestZeroNormals: a normal without a direction becomes its face's, also where
// the node turns the face, cut or not, and the note counts each vertex once.
func TestZeroNormals(t *testing.T) {
	zero := func() *model {
		d := &model{}
		p := d.square(0)
		attributes(p)["NORMAL"] = d.floats(3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		n := d.node("wall", p)
		n["rotation"] = []float64{0, 0.7071067811865476, 0, 0.7071067811865476} // +Z becomes +X
		return d
	}
	c := zero().convert(t)
	for _, v := range c.vertices(0) {
		if n := vertex.UnpackNormal(v.Normal); n[0] < 0.99 {
			t.Errorf("normal %v, want +X", n)
		}
	}
	if c.note("normals-repaired") != 4 {
		t.Errorf("notes %v", c.Notes)
	}
	for _, clip := range []bool{true, false} {
		o := ClassicOptions()
		o.TileSize[0], o.TileSize[2], o.Clip = 0.3, 0.3, clip
		res := mustRun(t, zero().save(t), t.TempDir(), o)
		if noteCount(res.Notes, "normals-repaired") != 4 {
			t.Errorf("clip %v: notes %v", clip, res.Notes)
		}
	}
	d := zero()
	d.nodes[0]["scale"] = []float64{1, 1, 0} // flattens the normal of +Z, not the square
	d.nodes[0]["rotation"] = []float64{0, 0, 0, 1}
	attributes(d.meshes[0]["primitives"].([]obj)[0])["NORMAL"] = d.floats(3, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0)
	if c := d.convert(t); c.note("normals-repaired") != 4 || vertex.UnpackNormal(c.vertices(0)[0].Normal)[2] < 0.99 {
		t.Errorf("flattened: %v, notes %v", c.vertices(0), c.Notes)
	}
}

// TestZeroTangents: u of the square grows along +X.
func TestZeroTangents(t *testing.T) {
	d := &model{}
	p := d.square(0)
	attributes(p)["TANGENT"] = d.floats(4, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, -1)
	attributes(p)["NORMAL"] = d.floats(3, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1)
	n := d.node("wall", p)
	n["rotation"] = []float64{0, 0, 0.7071067811865476, 0.7071067811865476} // +X becomes +Y
	c := d.convert(t)
	for _, v := range c.vertices(0) {
		if got := vertex.UnpackTangent(v.Tangent); got[1] < 0.99 || got[3] != 1 {
			t.Errorf("tangent %v, want +Y", got)
		}
	}
	if c.note("tangents-repaired") != 4 {
		t.Errorf("notes %v", c.Notes)
	}
}

// TestLostTexturesAreNamed: one line says which slots of how many materials
// stay empty.
func TestLostTexturesAreNamed(t *testing.T) {
	dds := func(name string) obj { return obj{"name": name, "uri": "data:image/vnd-ms.dds;base64,RERTIHw="} }
	d := textured(dds("a"), dataImage("good", green))
	second := obj{"normalTexture": obj{"index": d.texture(dds("b"))}, "pbrMetallicRoughness": obj{"baseColorTexture": obj{"index": 0}}}
	p := d.square(3)
	p["material"] = add(&d.materials, second)
	d.node("second", p)
	res, err := Convert(context.Background(), d.save(t), filepath.Join(t.TempDir(), "a.untold"), ClassicOptions())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range res.Notes {
		if n.Code == "texture-format-skipped" {
			if want := "2 materials lack base colour (2), normals (1); give"; !strings.Contains(n.Message, want) || n.Count != 2 {
				t.Errorf("%+v, want %q", n, want)
			}
			return
		}
	}
	t.Errorf("notes %v", res.Notes)
}
