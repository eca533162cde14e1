package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/scripts/lodbench/model"
)

const (
	keepSeams = simplify.SeamsKeep
	weldSeams = simplify.SeamsWeld
)

// rewrite replaces what stands between the markers of the document.
func rewrite(path string, r *results) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text, err := fill(string(data), r)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// fill returns the document with fresh tables.
func fill(text string, r *results) (string, error) {
	refs, err := references(false)
	if err != nil {
		return "", err
	}
	file, err := readReference()
	if err != nil {
		return "", err
	}
	for _, part := range []struct{ name, body string }{
		{"verdict", verdictTable(r.Cells, refs)},
		{"quality", qualityTable(r.Cells, refs)},
		{"speed", speedTable(r)},
		{"stuck", stuckTable(r, file)},
		{"creases", creaseTable(r.Creases)},
		{"survey", surveyTable(r.Survey)},
		{"check", checkTable(file)},
	} {
		begin, end := "<!-- lodbench: "+part.name+" -->\n", "<!-- end -->"
		i := strings.Index(text, begin)
		if i < 0 {
			return "", fmt.Errorf("the marker %q is missing", begin)
		}
		i += len(begin)
		j := strings.Index(text[i:], end)
		if j < 0 {
			return "", fmt.Errorf("no %q after %q", end, begin)
		}
		text = text[:i] + part.body + text[i+j:]
	}
	return text, nil
}

// tally counts the cells that meet a goal.
type tally struct{ met, of int }

func (t *tally) add(ok bool) {
	t.of++
	if ok {
		t.met++
	}
}

func (t tally) String() string { return fmt.Sprintf("%d of %d", t.met, t.of) }

// tallies are the goals that cells are counted for.
type tallies struct{ blender, update, normal, blenderSeen, updateSeen, reached tally }

// judge counts the goals that cells meet. Cells without a reference do not
// count, nor do those that the other does not reach.
func judge(cells []cell, refs map[key]reference) tallies {
	var t tallies
	for _, c := range cells {
		r := refs[key{c.Model, c.Ratio}]
		t.reached.add(!c.Short)
		if r.blender != nil && !r.blenderStuck {
			_, ok := verdict(c.RMS, r.blender, r.decimals)
			t.blender.add(ok && !c.Short)
		}
		if r.update != nil && !r.stuck {
			_, ok := verdict(c.RMS, r.update, r.decimals)
			t.update.add(ok && !c.Short)
			_, ok = verdict(c.Normal, r.normal, r.degrees)
			t.normal.add(ok && !c.Short)
		}
		if ref := seenBy(&c, r.blenderSeen); ref != nil && !r.blenderStuck {
			_, ok := verdict(c.Seen, ref, seenDecimals)
			t.blenderSeen.add(ok && !c.Short)
		}
		if ref := seenBy(&c, r.updateSeen); ref != nil && !r.stuck {
			_, ok := verdict(c.Seen, ref, seenDecimals)
			t.updateSeen.add(ok && !c.Short)
		}
	}
	return t
}

func verdictTable(cells []cell, refs map[key]reference) string {
	var b strings.Builder
	b.WriteString("| | RMS <= Blender | RMS <= attr+update | normals <= attr+update | seen <= Blender | seen <= attr+update | target reached |\n|---|---|---|---|---|---|---|\n")
	line := func(name string, list []cell) {
		t := judge(list, refs)
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", name, count(t.blender), count(t.update), count(t.normal), count(t.blenderSeen), count(t.updateSeen), count(t.reached))
	}
	for _, name := range model.Names {
		if list := of(name, cells); len(list) > 0 {
			line(name, list)
		}
	}
	line("all", cells)
	return b.String()
}

func count(t tally) string {
	if t.of == 0 {
		return "-"
	}
	return t.String()
}

func of(name string, cells []cell) []cell {
	var list []cell
	for _, c := range cells {
		if c.Model == name {
			list = append(list, c)
		}
	}
	return list
}

func qualityTable(cells []cell, refs map[key]reference) string {
	var b strings.Builder
	b.WriteString("| model | target | triangles | vertices, of these for creases | RMS % | Blender | attr+update | max % | claimed % | normals deg | attr+update | seen | Blender | attr+update | across | stopped because |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, c := range cells {
		r := refs[key{c.Model, c.Ratio}]
		name := c.Model
		if c.Ratio == cells[0].Ratio {
			name = fmt.Sprintf("%s (%s)", c.Model, human.Count(c.Source))
		}
		fmt.Fprintf(&b, "| %s | %g %% | %s | %s, %s | %s | %s | %s | %.3f | %.3f | %.2f | %s | %s | %s | %s | %s | %s |\n",
			name, 100*c.Ratio, human.Count(c.Reached), human.Count(c.Vertices), human.Count(c.Creases), distance(c.RMS),
			compared(c.RMS, r.blender, r.decimals, r.blenderStuck), compared(c.RMS, r.update, r.decimals, r.stuck),
			c.Max, c.Claimed, c.Normal, compared(c.Normal, r.normal, r.degrees, r.stuck),
			figure(c.seen(), seenDecimals), compared(c.Seen, seenBy(&c, r.blenderSeen), seenDecimals, r.blenderStuck), compared(c.Seen, seenBy(&c, r.updateSeen), seenDecimals, r.stuck),
			across(&c), c.Stop)
	}
	return b.String()
}

// compared prints a reference: bold where ours is no worse, in brackets where
// the other did not reach the target.
func compared(v float64, ref *float64, decimals int, stuck bool) string {
	text := figure(ref, decimals)
	_, ok := verdict(v, ref, decimals)
	switch {
	case ref == nil:
		return text
	case stuck:
		return "(" + text + ")"
	case ok:
		return "**" + text + "**"
	}
	return text
}

// across prints how large a model is where a level begins.
func across(c *cell) string {
	if c.Across == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", c.Across)
}

// distance prints percent with the digits that matter.
func distance(v float64) string { return fmt.Sprintf("%.5f", v) }

func speedTable(r *results) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s.\n\n| model | vertices are | Mtri/s at 50 / 20 / 10 %% | bytes a vertex at 50 / 20 / 10 %% |\n|---|---|---|---|\n", r.Machine)
	for _, name := range model.Names {
		var speed, memory []string
		for _, c := range of(name, r.Cells) {
			if c.Speed == 0 {
				continue // it was measured where speed could not be
			}
			speed = append(speed, fmt.Sprintf("%.2f", c.Speed))
			memory = append(memory, fmt.Sprintf("%.0f", c.Memory))
		}
		if len(speed) > 0 {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name, layout[name], strings.Join(speed, " / "), strings.Join(memory, " / "))
		}
	}
	return b.String()
}

// layout says how a model's vertices are shared.
var layout = map[string]string{
	"FlightHelmet": "shared, with texture seams",
	"Mountains":    "shared",
	"dutch_ship":   "shared in small texture patches",
	"kit":          "shared within faces, coloured by a palette",
	"city":         "shared within faces, 43 materials",
	"rock360":      "shared, one texture seam",
	"terrain1k":    "shared",
	"city24":       "four per face",
}

func stuckTable(r *results, file *referenceFile) string {
	var b strings.Builder
	b.WriteString("| model | options | triangles | got | RMS % | max % | normals deg | pruned | stopped because |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, name := range stuckModels {
		for _, p := range file.Cells {
			if p.Model == name && p.Ratio == 0.1 && p.Peer != attr {
				fmt.Fprintf(&b, "| %s | *%s* | %s | %s | %s | %.3f | %s | - | - |\n", name, p.Peer, human.Count(p.Triangles), share(p.Triangles, p.Source), distance(p.RMS), p.Max, figure(p.Normal, 2))
			}
		}
		for _, v := range r.Stuck {
			c := v.Cell
			if c.Model == name {
				fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %.3f | %.2f | %d | %s |\n", name, v.Options, human.Count(c.Reached), share(c.Reached, c.Source), distance(c.RMS), c.Max, c.Normal, c.Pruned, c.Stop)
			}
		}
	}
	return b.String()
}

func creaseTable(list []variant) string {
	var b strings.Builder
	b.WriteString("| model | creases | triangles | vertices | KiB | RMS % | normals deg |\n|---|---|---|---|---|---|---|\n")
	for _, v := range list {
		c := v.Cell
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %.2f |\n", c.Model, v.Options, human.Count(c.Reached), human.Count(c.Vertices), human.Count(payload(c)>>10), distance(c.RMS), c.Normal)
	}
	return b.String()
}

// payload is what a level takes in a container, without compression: 32 bytes a
// vertex, and two or four bytes an index.
func payload(c cell) int {
	index := 2
	if c.Vertices > 1<<16 {
		index = 4
	}
	return 32*c.Vertices + 3*index*c.Reached
}

// surveyTable counts the shared models that reach 10 % and lists the others.
func surveyTable(cells []cell) string {
	var b strings.Builder
	var reached tally
	for _, c := range cells {
		reached.add(!c.Short)
	}
	fmt.Fprintf(&b, "%s shared models reach 10 %% with the default options.", reached)
	if reached.met < reached.of {
		b.WriteString(" The others:\n\n| model | triangles | left | stopped because |\n|---|---|---|---|\n")
		for _, c := range cells {
			if c.Short {
				fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.Model, human.Count(c.Source), share(c.Reached, c.Source), c.Stop)
			}
		}
		return b.String()
	}
	return b.String() + "\n"
}

func share(n, of int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of)) }

// checkTable compares the published figures with the same simplifiers measured
// by this bench.
func checkTable(file *referenceFile) string {
	var b strings.Builder
	b.WriteString("| model | target | Blender RMS, published / here | attr+update RMS, published / here | attr+update normals, published / here |\n|---|---|---|---|---|\n")
	for _, p := range published {
		var bl, up, no string
		for _, c := range file.Cells {
			if c.Model != p.model || c.Ratio != p.ratio {
				continue
			}
			switch c.Peer {
			case blender:
				bl = distance(c.RMS)
			case attrUpdate:
				up, no = distance(c.RMS), figure(c.Normal, 2)
			}
		}
		fmt.Fprintf(&b, "| %s | %g %% | %.4f / %s | %.4f / %s | %.1f / %s |\n", p.model, 100*p.ratio, p.blender, bl, p.update, up, p.normal, no)
	}
	return b.String()
}

// machine describes what speed was measured on.
func machine() string {
	return fmt.Sprintf("%d virtual cores (%s, %s)", runtime.NumCPU(), runtime.GOARCH, strings.Replace(runtime.Version(), "go", "Go ", 1))
}
