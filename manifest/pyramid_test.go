package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/internal/geom"
)

// pyramid returns a manifest with two tiles under one node under a root.
func pyramid() *Manifest {
	m := clean()
	node := func(id string, level int, visual float64, children ...string) PyramidNode {
		return PyramidNode{
			ID: id, Level: level, Children: children, Path: "tiles/" + id + ".untold", FileSizeBytes: 4, EstimatedMemoryBytes: 9,
			GeometricError: 2 * visual, VisualError: visual, Bounds: Bounds{Max: [3]float64{50, 10, 0}, Min: [3]float64{0, 0, -25}},
		}
	}
	m.Pyramid = &Pyramid{Nodes: []PyramidNode{node("low", 1, 0.5, "a", "b"), node("top", 2, 1, "low")}}
	return m
}

func TestPyramid(t *testing.T) {
	m := pyramid()
	if found := Validate(m, "", ValidateOptions{}); len(found) > 0 {
		t.Fatal(found)
	}
	got, err := Decode(encodeBytes(t, m))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(m.Pyramid, got.Pyramid); d != "" {
		t.Error(d)
	}
	if p := m.Payloads(); p[len(p)-1] != "tiles/top.untold" {
		t.Error(p)
	}
	for _, c := range []struct {
		name    string
		change  func(low, top *PyramidNode)
		code    finding.Code
		pointer string
		message string
	}{
		{"no such child", func(low, _ *PyramidNode) { low.Children[0] = "x" }, codePyramid, "/pyramid/nodes/0/children", `no tile "x"`},
		{"parent first", func(low, top *PyramidNode) { *low, *top = *top, *low }, codePyramid, "/pyramid/nodes/0/children", `"low"`},
		{"two parents", func(_, top *PyramidNode) { top.Level, top.Children = 1, []string{"a"} }, codePyramid, "/pyramid/nodes/1/children", "a parent already"},
		{"twice", func(low, _ *PyramidNode) { low.Children[1] = "a" }, codePyramid, "/pyramid/nodes/0/children", "a parent already"},
		{"above itself", func(_, top *PyramidNode) { top.Level = 1 }, codePyramid, "/pyramid/nodes/1/level", "of level 1"},
		{"tile high up", func(low, _ *PyramidNode) { low.Level = 2 }, codePyramid, "/pyramid/nodes/0/level", "of level 0"},
		{"level 0", func(low, _ *PyramidNode) { low.Level = 0 }, codePyramid, "/pyramid/nodes/0/level", "below 1"},
		{"no children", func(_, top *PyramidNode) { top.Children = nil }, codePyramid, "/pyramid/nodes/1/children", "no children"},
		{"many children", func(low, _ *PyramidNode) { low.Children = make([]string, 65) }, codePyramid, "/pyramid/nodes/0/children", "65 children"},
		{"error falls", func(_, top *PyramidNode) { top.VisualError = 0.25 }, codePyramid, "/pyramid/nodes/1", "smaller"},
		{"negative error", func(low, _ *PyramidNode) { low.GeometricError = -1 }, codePyramid, "/pyramid/nodes/0", "at least 0"},
		{"negative memory", func(low, _ *PyramidNode) { low.EstimatedMemoryBytes = -1 }, codePyramid, "/pyramid/nodes/0/estimated_memory_bytes", "-1 bytes"},
		{"name of a tile", func(_, top *PyramidNode) { top.ID = "b" }, codePyramid, "/pyramid/nodes/1/node_id", "/tiles/1"},
		{"no name", func(_, top *PyramidNode) { top.ID = "" }, codePyramid, "/pyramid/nodes/1/node_id", "empty"},
		{"path", func(low, _ *PyramidNode) { low.Path = "../x" }, codePathEscapes, "/pyramid/nodes/0/path_relative_to_manifest", ".."},
		{"box", func(low, _ *PyramidNode) { low.Bounds.Min[1] = 99 }, codeBounds, "/pyramid/nodes/0/bounds", "along y"},
	} {
		m := pyramid()
		c.change(&m.Pyramid.Nodes[0], &m.Pyramid.Nodes[1])
		found := Validate(m, "", ValidateOptions{})
		ok := false
		for _, f := range found {
			ok = ok || f.Code == c.code && f.Pointer == c.pointer && strings.Contains(f.Message, c.message)
		}
		if !ok {
			t.Errorf("%s: %v", c.name, found)
		}
	}
}

// TestPyramidOfFloors: tiles may be below nodes of any level, those that are wanted only
// from within below none.
func TestPyramidOfFloors(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(m *Manifest, low, top *PyramidNode)
		message string // "": none
	}{
		{"a tile below each", func(*Manifest, *PyramidNode, *PyramidNode) {}, ""},
		{"high up", func(_ *Manifest, low, top *PyramidNode) { low.Level, top.Level = 2, 4 }, ""},
		{"above itself", func(_ *Manifest, low, _ *PyramidNode) { low.Level = 2 }, "of level 2"},
		{"interior", func(m *Manifest, _, _ *PyramidNode) { m.Tiles[1].Interior = true }, "only inside the interior zone"},
	} {
		m := cleanFloors()
		m.Pyramid = pyramid().Pyramid
		low, top := &m.Pyramid.Nodes[0], &m.Pyramid.Nodes[1]
		low.Children, top.Children = []string{m.Tiles[0].ID}, []string{m.Tiles[1].ID, "low"}
		m.Tiles[0].Interior, m.Tiles[1].Interior = false, false
		c.change(m, low, top)
		found := Validate(m, "", ValidateOptions{})
		if c.message == "" && len(found) > 0 || c.message != "" && (len(found) != 1 || found[0].Code != codePyramid || !strings.Contains(found[0].Message, c.message)) {
			t.Errorf("%s: %v", c.name, found)
		}
	}
}

// TestPyramidIsOptional: what is no pyramid is noted and left out, and the tiles can
// be read.
func TestPyramidIsOptional(t *testing.T) {
	for _, bad := range []string{`7`, `[]`, `{"nodes": 7}`, `{"nodes": [{"level": "high"}]}`} {
		found := ValidateBytes(wrap(`"pyramid": LIST`, bad, 1), "", ValidateOptions{})
		if len(found) == 0 || found[0].Severity == finding.Error {
			t.Errorf("%s: %v", bad, found)
		}
		m, err := Decode(wrap(`"pyramid": LIST`, bad, 1))
		if err != nil || m.Pyramid != nil {
			t.Errorf("%s: %v, %v", bad, m, err)
		}
	}
}

// TestPyramidWithoutErrors: a node that does not say how large its error is, is none
// without an error.
func TestPyramidWithoutErrors(t *testing.T) {
	text := string(encodeBytes(t, pyramid()))
	for _, c := range []struct {
		name, old, new string
		want           float64
		says           string
	}{
		{"no visual error", `, "visual_error": 0.5`, ``, 1, "its geometric_error counts"},
		{"null", `"visual_error": 0.5`, `"visual_error": null`, 1, "its geometric_error counts"},
		{"no error", `, "geometric_error": 1, "visual_error": 0.5`, ``, geom.Vec3{50, 10, 25}.Len(), "the size of its box counts"},
		{"no geometric error", `, "geometric_error": 1`, ``, 0.5, ""},
	} {
		data := strings.Replace(text, c.old, c.new, 1)
		if data == text {
			t.Fatalf("%s: %s is not in %s", c.name, c.old, text)
		}
		m, err := Decode([]byte(data))
		if err != nil || m.Pyramid == nil || m.Pyramid.Nodes[0].VisualError != c.want || m.Pyramid.Nodes[1].VisualError != 1 {
			t.Errorf("%s: %v, %+v", c.name, err, m.Pyramid)
			continue
		}
		said := false
		for _, f := range ValidateBytes([]byte(data), "", ValidateOptions{}) {
			said = said || f.Severity == finding.Warning && c.says != "" && strings.Contains(f.Message, c.says)
		}
		if said != (c.says != "") {
			t.Errorf("%s: validate does not say %q", c.name, c.says)
		}
	}
}
