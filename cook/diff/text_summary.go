package diff

import (
	"fmt"
	"strings"

	"github.com/untoldkit/untold/internal/human"
)

// summary writes the verdict and the figures of the whole.
func (p *printer) summary(r *Result) {
	a, b := &r.A, &r.B
	sizes := fmt.Sprintf("%s; %s", bytesText(Pair{a.Bytes, b.Bytes}), trianglesText(Pair{a.Triangles, b.Triangles}))
	beyond := ""
	if r.Tolerance > 0 {
		beyond = fmt.Sprintf(" beyond %g m", r.Tolerance)
	}
	container := a.Kind == KindContainer
	n := r.Tiles.Added + r.Tiles.Removed + r.Tiles.Changed
	looked := a.Tiles+b.Tiles > 0
	switch {
	case !r.Differ && !looked:
		p.line("no differences in %s%s", strings.Join(r.Only, ", "), beyond)
	case !r.Differ && container:
		p.line("no differences%s: %s", beyond, sizes)
	case !r.Differ:
		p.line("no differences%s: %s; %s", beyond, human.Plural(a.Tiles, "tile"), sizes)
	case r.Grids != "":
		p.line("the scenes are cut into other tiles, so tiles are not compared one by one: %s", clean(r.Grids))
		p.line("  tiles      %s; %s", countsText(a.Tiles, b.Tiles), sizes)
	case container && n > 0:
		p.line("the containers differ: %s", sizes)
	case container:
		p.line("the containers are the same, what they name is not: %s", sizes)
	case looked && n == 0:
		p.line("no tile differs, other things do: %s; %s", human.Plural(a.Tiles, "tile"), sizes)
	case looked:
		verb := "differ"
		if n == 1 {
			verb = "differs"
		}
		p.line("%s of %s %s: %s; %s", human.Count(n), human.Plural(n+r.Tiles.Same, "tile"), verb, r.Tiles.text(), sizes)
	default:
		p.line("there are differences in what was compared: %s", strings.Join(r.Only, ", "))
	}
	p.line("  A          %s", clean(a.Path))
	p.line("  B          %s", clean(b.Path))
	if !r.Differ {
		return
	}
	if r.Tiles.Entries > 0 {
		p.line("  tiles      %s of the changed ones differ in the manifest alone, their files are the same", human.Count(r.Tiles.Entries))
	}
	if r.Triangles.differ() && !container {
		p.line("  triangles  %s", r.Triangles.text())
	}
	p.counts("levels", &r.Levels, r.Grids, Pair{int64(a.Levels), int64(b.Levels)}, Pair{a.LevelBytes, b.LevelBytes}, Pair{a.LevelTriangles, b.LevelTriangles})
	p.counts("nodes", &r.Nodes, r.Grids, Pair{int64(a.Nodes), int64(b.Nodes)}, Pair{a.NodeBytes, b.NodeBytes}, Pair{a.NodeTriangles, b.NodeTriangles})
	var m, t Counts
	for i := range r.Materials {
		m.add(r.Materials[i].Change)
	}
	for i := range r.Textures {
		t.add(r.Textures[i].Change)
	}
	if m.differ() {
		p.line("  materials  %s", m.changes())
	}
	if t.differ() {
		p.line("  textures   %s; %s", t.changes(), bytesText(Pair{a.TextureBytes, b.TextureBytes}))
	}
	if n := len(r.Settings); n > 0 {
		p.line("  settings   %s of the scene", human.Plural(n, "setting"))
	}
}

// counts is the line of the summary about levels or nodes.
func (p *printer) counts(what string, c *Counts, grids string, n, size, triangles Pair) {
	switch {
	case n.A+n.B == 0:
	case grids != "":
		p.line("  %-9s  %s; %s; %s", what, countsText(int(n.A), int(n.B)), bytesText(size), trianglesText(triangles))
	case c.differ():
		p.line("  %-9s  %s; %s; %s", what, c.text(), bytesText(size), trianglesText(triangles))
		if c.Entries > 0 {
			p.line("             %s of the changed ones differ in the manifest alone, their files are the same", human.Count(c.Entries))
		}
	}
}

func (c *Counts) text() string {
	return fmt.Sprintf("%s added, %s removed, %s changed, %s same", human.Count(c.Added), human.Count(c.Removed), human.Count(c.Changed), human.Count(c.Same))
}

// changes is text without what is the same, and without what there is none of.
func (c *Counts) changes() string {
	return listText([]count{{int64(c.Added), "added"}, {int64(c.Removed), "removed"}, {int64(c.Changed), "changed"}})
}

type count struct {
	n    int64
	what string
}

func listText(list []count) string {
	var out []string
	for _, x := range list {
		if x.n != 0 {
			out = append(out, human.Count(x.n)+" "+x.what)
		}
	}
	return strings.Join(out, ", ")
}

// text says what became of triangles.
func (t *Triangles) text() string {
	s := listText([]count{{t.Added, "added"}, {t.Removed, "removed"}, {t.Moved, "moved"}, {t.From, "from other meshes"}, {t.To, "to other meshes"}})
	if len(t.Moves) == 1 {
		s = t.Moves[0].text(s)
	}
	if t.Changed > 0 {
		if s != "" {
			s += ", "
		}
		s += fmt.Sprintf("%s in place with other %s", human.Count(t.Changed), t.Attributes.text())
	}
	if t.Unmatched {
		s += " (instances draw too many to compare one by one)"
	}
	return s
}

// text appends to what moved where it went.
func (v *Move) text(moved string) string {
	if v.By == nil {
		return moved + ", turned or scaled"
	}
	return fmt.Sprintf("%s by (%g, %g, %g) m", moved, v.By[0], v.By[1], v.By[2])
}

func (a *Attributes) text() string {
	var out []string
	for _, x := range []count{
		{a.Normals, "normals"},
		{a.Tangents, "tangents"},
		{a.UV0, "texture coordinates"},
		{a.UV1, "second texture coordinates"},
		{a.Colors, "colours"},
		{a.Material, "material"},
		{a.Winding, "winding"},
	} {
		if x.n > 0 {
			out = append(out, x.what)
		}
	}
	if len(out) < 2 {
		return strings.Join(out, "")
	}
	return strings.Join(out[:len(out)-1], ", ") + " or " + out[len(out)-1]
}

func arrow(a, b string) string {
	if a == b {
		return a
	}
	return a + " -> " + b
}

func countsText(a, b int) string { return arrow(human.Count(a), human.Count(b)) }

// bytesText tells two sizes; their difference where they look alike.
func bytesText(p Pair) string {
	a, b := human.Bytes(p.A), human.Bytes(p.B)
	switch {
	case p.A < 0 && p.B < 0:
		return "no file"
	case p.A < 0:
		return "no file -> " + b
	case p.B < 0:
		return a + " -> no file"
	case a == b && p.A != p.B:
		sign := "+"
		if p.B < p.A {
			sign = "-"
		}
		return fmt.Sprintf("%s (%s%s bytes)", a, sign, human.Count(max(p.B-p.A, p.A-p.B)))
	}
	return arrow(a, b)
}

func trianglesText(p Pair) string {
	if p.A == p.B {
		return human.Plural(p.A, "triangle")
	}
	return human.Count(p.A) + " -> " + human.Plural(p.B, "triangle")
}
