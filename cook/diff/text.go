package diff

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/untoldkit/untold/internal/human"
)

// detailLines is how many meshes, and how many other lines of a kind, are listed of
// one tile where lists are limited.
const detailLines = 8

// valueLength is how many bytes of a value are shown.
const valueLength = 80

// WriteText writes the result for people: a summary, then what differs. At most
// limit tiles, materials and so on are listed, all with 0.
func (r *Result) WriteText(w io.Writer, limit int) error {
	p := &printer{limit: limit}
	p.summary(r)
	common := commonFields(r.Items)
	if r.A.Kind == KindContainer {
		for i := range r.Items {
			p.line("")
			p.payload(r.Items[i].Payload, "  ")
		}
	} else {
		p.tiles(r, common)
	}
	p.section("Materials", "material", len(r.Materials), func(i int) bool { return p.material(&r.Materials[i]) })
	p.section("Textures", "texture", len(r.Textures), func(i int) bool { return p.texture(&r.Textures[i]) })
	settings := foldedSettings(r.Settings)
	p.section("Settings", "setting", len(settings), func(i int) bool {
		p.line("  %s", settings[i])
		return true
	})
	p.section("Not compared", "file", len(r.Failures), func(i int) bool {
		p.line("  %s", clean(r.Failures[i].Error))
		return true
	})
	_, err := w.Write(p.out.Bytes())
	return err
}

// tiles lists the tiles and nodes of a scene.
func (p *printer) tiles(r *Result, common map[string]int) {
	p.section("Tiles", "tile", len(r.Items), func(i int) bool { return p.item(&r.Items[i], common) })
	p.commonFields(common)
	p.section("Nodes of the pyramid", "node", len(r.NodeItems), func(i int) bool { return p.item(&r.NodeItems[i], nil) })
}

type printer struct {
	out   bytes.Buffer
	limit int
}

func (p *printer) line(format string, args ...any) { fmt.Fprintf(&p.out, format+"\n", args...) }

// section lists things below a title; show returns false for what needs no line.
func (p *printer) section(title, thing string, n int, show func(i int) bool) {
	shown, more, begun := 0, 0, false
	for i := range n {
		if p.limit > 0 && shown >= p.limit {
			more = n - i
			break
		}
		at := p.out.Len()
		if !begun {
			p.line("\n%s:", title)
		}
		if !show(i) {
			p.out.Truncate(at)
			continue
		}
		begun = true
		shown++
	}
	if more > 0 {
		p.line("  ... %s (--limit 0 shows all)", human.Plural(more, "more "+thing))
	}
}

// item lists what differs in a tile, a node or a container.
func (p *printer) item(t *Item, common map[string]int) bool {
	own := slices.DeleteFunc(slices.Clone(t.Settings), func(f Field) bool { return common[fieldText(&f)] > 0 })
	if t.Change == Changed && t.Payload == nil && !t.Failed && len(own)+len(t.Levels) == 0 && len(t.Settings) > 0 {
		return false // all of it is in many tiles
	}
	name := clean(t.ID)
	head := headText(t.Change, t.Payload)
	if t.Failed {
		head = notCompared
	} else if t.Change == Changed && t.Payload == nil && len(t.Settings) == 0 && len(t.Levels) > 0 {
		head = "same file, other levels"
	}
	p.line("  %s: %s", name, head)
	if t.Change != Changed {
		return true
	}
	if slices.ContainsFunc(own, func(f Field) bool { return strings.HasPrefix(f.Key, "bounds.") }) {
		own = slices.DeleteFunc(own, func(f Field) bool { return f.Key == "center" }) // follows
	}
	p.fields(own, "    ")
	p.payload(t.Payload, "    ")
	for i := range t.Levels {
		l := &t.Levels[i]
		head := headText(l.Change, l.Payload)
		if l.Failed {
			head = notCompared
		}
		p.line("    %s: %s", l.Name, head)
		if l.Change == Changed {
			p.fields(l.Settings, "      ")
			if l.Payload != nil && l.Payload.Counts.A == l.Payload.Counts.B && l.Payload.Triangles != nil && l.Payload.Triangles.differ() {
				p.line("      triangles: %s", l.Payload.Triangles.text())
			}
		}
	}
	return true
}

// notCompared is what is said where a file could not be read.
const notCompared = "could not be compared"

// headText says what became of a payload in a few words.
func headText(c Change, p *Payload) string {
	switch {
	case p == nil && c == Changed:
		return "same file, other settings in the manifest"
	case p == nil:
		return string(c)
	case c == Added:
		return fmt.Sprintf("added, %s, %s", human.Bytes(p.Bytes.B), human.Plural(p.Counts.B, "triangle"))
	case c == Removed:
		return fmt.Sprintf("removed, %s, %s", human.Bytes(p.Bytes.A), human.Plural(p.Counts.A, "triangle"))
	}
	same := ""
	if p.Triangles != nil && !p.Triangles.differ() {
		same = ", all the same"
	}
	return fmt.Sprintf("changed, %s, %s%s", bytesText(p.Bytes), trianglesText(p.Counts), same)
}

func (p *printer) fields(list []Field, in string) {
	for i := range list {
		p.line("%s%s", in, fieldText(&list[i]))
	}
}

// few calls show for the first of some things and says how many more there are.
func (p *printer) few(n int, in, thing string, show func(i int)) {
	for i := range n {
		if p.limit > 0 && i >= detailLines {
			p.line("%s... %s (--limit 0 shows all)", in, human.Plural(n-i, "more "+thing))
			return
		}
		show(i)
	}
}

// payload lists what differs in a container.
func (p *printer) payload(x *Payload, in string) {
	if x == nil || x.Triangles == nil {
		return
	}
	nothing := !x.differs()
	switch {
	case x.Triangles.differ():
		p.line("%striangles: %s", in, x.Triangles.text())
	case nothing:
		p.line("%sthe same content, stored differently", in)
	}
	if moves := x.Triangles.Moves; len(moves) > 1 {
		p.few(len(moves), in+"  ", "move", func(i int) {
			p.line("%s  %s", in, moves[i].text(human.Plural(moves[i].Triangles, "triangle")+" moved"))
		})
	}
	for i := range x.Header {
		if f := &x.Header[i]; !x.Triangles.differ() || !strings.HasPrefix(f.Key, "world_bounds.") { // follow
			p.line("%sheader: %s", in, fieldText(f))
		}
	}
	namesakes := map[string]int{}
	for i := range x.Meshes {
		namesakes[x.Meshes[i].Name]++
	}
	p.few(len(x.Meshes), in, "mesh", func(i int) { p.mesh(&x.Meshes[i], in, namesakes[x.Meshes[i].Name] > 1) })
	p.entities(x.Entities, in, x.Triangles.differ())
	p.names(x.Materials, in+"materials: ")
	p.names(x.Textures, in+"textures: ")
	for i := range x.Chunks {
		if c := &x.Chunks[i]; nothing || c.Compression != nil || c.Change != Changed {
			p.chunk(c, in)
		}
	}
}

// mesh tells about a mesh; of one that has namesakes, which entity it belongs to.
func (p *printer) mesh(r *Record, in string, namesakes bool) {
	name := fmt.Sprintf("%smesh %s", in, quoted(r.Name))
	if namesakes && r.Entity != "" && r.Entity != r.Name {
		name += " of " + quoted(r.Entity)
	}
	if r.Material != "" && r.Material != r.Name {
		name += fmt.Sprintf(" (material %s)", quoted(r.Material))
	}
	if r.Change != Changed {
		c := r.Triangles
		s := fmt.Sprintf("%s: %s, %s", name, r.Change, human.Plural(c.Added+c.Removed+c.From+c.To, "triangle"))
		if n := c.From + c.To; n > 0 {
			s += fmt.Sprintf(", %s of them %s other meshes", human.Count(n), map[Change]string{Added: "from", Removed: "now in"}[r.Change])
		}
		p.line("%s", s)
		return
	}
	var parts []string
	if r.Triangles != nil {
		parts = append(parts, r.Triangles.text())
	}
	for i := range r.Fields {
		f := &r.Fields[i]
		// Counts and boxes follow the triangles.
		if r.Triangles == nil || f.Key == "material" || f.Key == "name" || f.Key == "flags" {
			parts = append(parts, fieldText(f))
		}
	}
	p.line("%s: %s", name, strings.Join(parts, "; "))
}

// entities lists entities but those that have another name or box alone, which
// follow their meshes.
func (p *printer) entities(list []Record, in string, triangles bool) {
	renamed, boxes := 0, 0
	var rest []*Record
	for i := range list {
		r := &list[i]
		follows := r.Change == Changed && !slices.ContainsFunc(r.Fields, func(f Field) bool { return f.Key != "name" && !strings.Contains(f.Key, "_bounds.") })
		switch {
		case follows && r.Fields[0].Key == "name":
			renamed++
		case follows:
			boxes++
		default:
			rest = append(rest, r)
		}
	}
	if renamed > 0 {
		p.line("%s%s got another name", in, human.Plural(renamed, "entity"))
	}
	p.few(len(rest), in, "entity", func(i int) {
		r := rest[i]
		if r.Change != Changed {
			p.line("%sentity %s: %s", in, quoted(r.Name), r.Change)
			return
		}
		var parts []string
		for i := range r.Fields {
			if f := &r.Fields[i]; !strings.Contains(f.Key, "_bounds.") {
				parts = append(parts, fieldText(f))
			}
		}
		p.line("%sentity %s: %s", in, quoted(r.Name), strings.Join(parts, "; "))
	})
	if boxes == len(list) && boxes > 0 && !triangles {
		p.line("%s%s with another box", in, human.Plural(boxes, "entity"))
	}
}

// names tells in one line which materials or textures a payload gained, lost or has
// changed: their fields stand in a section of their own.
func (p *printer) names(list []Record, head string) {
	var out []string
	for _, r := range list {
		out = append(out, map[Change]string{Added: "+ ", Removed: "- ", Changed: "changed "}[r.Change]+quoted(r.Name))
	}
	if p.limit > 0 && len(out) > detailLines {
		out = append(out[:detailLines], fmt.Sprintf("and %d more", len(out)-detailLines))
	}
	if len(out) > 0 {
		p.line("%s%s", head, strings.Join(out, ", "))
	}
}

func (p *printer) chunk(c *Chunk, in string) {
	s := fmt.Sprintf("%s%s: ", in, c.Name)
	switch {
	case c.Change != Changed:
		s += string(c.Change)
	case c.Content:
		s += "other bytes"
	default:
		s += "the same bytes when decoded"
	}
	if c.Compression != nil {
		s += fmt.Sprintf(", %v -> %v", c.Compression.A, c.Compression.B)
	}
	p.line("%s, %s stored", s, bytesText(c.Stored))
}

func (p *printer) material(m *Material) bool {
	switch m.Change {
	case Added:
		p.line("  %s: added, in %s", quoted(m.Name), human.Plural(m.Files.B, "file"))
	case Removed:
		p.line("  %s: removed, was in %s", quoted(m.Name), human.Plural(m.Files.A, "file"))
	default:
		p.line("  %s: changed, in %s", quoted(m.Name), human.Plural(m.Files.B, "file"))
	}
	p.fields(m.Fields, "    ")
	return true
}

func (p *printer) texture(t *Texture) bool {
	s := fmt.Sprintf("  %s: %s", clean(t.URI), t.Change)
	switch {
	case t.Change == Added:
		s += ", " + bytesText(Pair{t.Bytes.B, t.Bytes.B})
	case t.Change == Removed:
		s += ", " + bytesText(Pair{t.Bytes.A, t.Bytes.A})
	case t.Content && t.Bytes.A >= 0 && t.Bytes.B >= 0:
		s += ", other content, " + bytesText(t.Bytes)
	case t.Content:
		s += ", " + bytesText(t.Bytes)
	default:
		s += ", the same file"
	}
	p.line("%s", s)
	p.fields(t.Fields, "    ")
	return true
}
