package main

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/cook/measure"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/scripts/lodbench/model"
)

// cell is a node beside what the others make of the same geometry.
type cell struct {
	node   string
	level  int
	source int     // triangles that it stands for
	across float64 // pixels along the diagonal of its box where it begins
	ours   figures
	peers  map[string]figures
}

// figures are of one result. RMS is percent of the diagonal, FLIP 0 to 1.
type figures struct {
	triangles int
	rms, flip float64
}

// How large nodes are looked at, in pixels along the diagonal: one that begins nearer or
// farther is judged there.
const (
	mostAcross  = 400.0
	leastAcross = 16.0
)

func compare(o *options, m *manifest.Manifest, n *manifest.PyramidNode) (cell, error) {
	full, node, err := load(o, m, n)
	if err != nil {
		return cell{}, err
	}
	others, err := simplify(o, n.ID, full, node.Triangles())
	if err != nil {
		return cell{}, err
	}
	index := measure.NewIndex(surface(full))
	diagonal := index.Surface().Diagonal()
	// The node's own materials stand behind those of what it stands for.
	first := int32(len(full.Materials))
	for i := range node.Groups {
		node.Groups[i] += first
	}
	materials := append(full.Materials[:first:first], node.Materials...)
	for i := range materials {
		// A node has what shines in a texture, which is not drawn: nothing shines.
		materials[i].Emissive = [3]float32{}
	}
	v := &viewer{appearance.New(seen(full), materials), diagonal, o.samples, nil}
	c := cell{node: n.ID, level: n.Level, source: full.Triangles(), peers: map[string]figures{}}
	// Where its visual error is two pixels high the node begins.
	c.across = min(max(2*diagonal/n.VisualError, leastAcross), mostAcross)
	if c.ours, err = v.figures(index, node, c.across); err != nil {
		return c, err
	}
	for _, peer := range peers {
		mesh, ok := others[peer]
		if !ok {
			continue
		}
		if c.peers[peer], err = v.figures(index, mesh, c.across); err != nil {
			return c, fmt.Errorf("%s: %w", peer, err)
		}
	}
	return c, v.save(o.pictures, n.ID)
}

func surface(m *model.Mesh) *measure.Surface {
	return &measure.Surface{Positions: m.Positions, Normals: m.Normals, Indices: m.Indices}
}

func seen(m *model.Mesh) *appearance.Mesh {
	return &appearance.Mesh{Positions: m.Positions, Normals: m.Normals, UV: m.UV, Colors: m.Colors, Indices: m.Indices, Materials: m.Groups}
}

// viewer draws what a node stands for, and what is in its place.
type viewer struct {
	reference *appearance.Reference
	diagonal  float64
	samples   int
	drawn     []*image.NRGBA // from one side, each after what it is compared with
}

// save writes what was drawn, one below the other: full detail and what stands in for it.
func (v *viewer) save(folder, name string) error {
	if folder == "" {
		return nil
	}
	w, h := v.drawn[0].Rect.Dx(), v.drawn[0].Rect.Dy()
	out := image.NewNRGBA(image.Rect(0, 0, 2*w, h*len(v.drawn)/2))
	for i, m := range v.drawn {
		draw.Draw(out, m.Rect.Sub(m.Rect.Min).Add(image.Pt(i%2*w, i/2*h)), m, m.Rect.Min, draw.Src)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, out); err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(filepath.Join(folder, name+".png"), b.Bytes(), 0o644))
}

func (v *viewer) figures(index *measure.Index, m *model.Mesh, across float64) (figures, error) {
	r := measure.Compare(index, measure.NewIndex(surface(m)), v.samples)
	f := figures{triangles: m.Triangles(), rms: 100 * r.RMS / v.diagonal}
	// Pictures are drawn at least twice as large.
	halves := min(1+int(math.Log2(mostAcross/across)), appearance.MaxHalves)
	pixel := v.diagonal / across / float64(int(1)<<halves)
	var d appearance.Difference
	for side := range appearance.Views {
		a, b := v.reference.Draw(nil, side, pixel), v.reference.Draw(seen(m), side, pixel)
		for range halves {
			a.Half()
			b.Half()
		}
		if side == 4 {
			full, _ := a.Image()
			level, _ := b.Image()
			v.drawn = append(v.drawn, full, level)
		}
		if err := d.Add(a, b); err != nil {
			return f, err
		}
	}
	f.flip = d.FLIP()
	return f, nil
}

// short tells whether a result has so many triangles more than the node that its figures do
// not compare.
func (c *cell) short(f figures) bool { return float64(f.triangles) > 1.02*float64(c.ours.triangles) }

const heading = `| node | level | stands for | triangles: node, sloppy, Blender | across | RMS % | sloppy | Blender | FLIP | sloppy | Blender |
|---|---|---|---|---|---|---|---|---|---|---|
`

// row is a line of the table: a figure that ours does not exceed is bold, one that does not
// compare in brackets.
func (c *cell) row() string {
	triangles := fmt.Sprint(c.ours.triangles)
	rms, flip := fmt.Sprintf("%.3f", c.ours.rms), fmt.Sprintf("%.4f", c.ours.flip)
	for _, peer := range peers {
		f, ok := c.peers[peer]
		if !ok {
			triangles, rms, flip = triangles+", -", rms+" | -", flip+" | -"
			continue
		}
		triangles += fmt.Sprintf(", %d", f.triangles)
		rms += " | " + c.mark("%.3f", f, c.ours.rms, f.rms)
		flip += " | " + c.mark("%.4f", f, c.ours.flip, f.flip)
	}
	return fmt.Sprintf("| %s | %d | %d | %s | %.0f | %s | %s |", c.node, c.level, c.source, triangles, c.across, rms, flip)
}

func (c *cell) mark(format string, f figures, ours, theirs float64) string {
	text := fmt.Sprintf(format, theirs)
	switch {
	case c.short(f):
		return "(" + text + ")"
	case ours <= theirs:
		return "**" + text + "**"
	}
	return text
}

// verdict counts in how many of the cells that compare nodes are no worse.
func verdict(cells []cell) string {
	var parts []string
	for _, peer := range peers {
		var all, rms, flip int
		for _, c := range cells {
			f, ok := c.peers[peer]
			if !ok || c.short(f) {
				continue
			}
			all++
			if c.ours.rms <= f.rms {
				rms++
			}
			if c.ours.flip <= f.flip {
				flip++
			}
		}
		parts = append(parts, fmt.Sprintf("%s: RMS no worse in %d of %d, FLIP in %d of %d", peer, rms, all, flip, all))
	}
	return strings.Join(parts, "; ")
}

// rewrite replaces what stands between the marks of a document.
func rewrite(path string, cells []cell) error {
	const begin, end = "<!-- nodebench -->\n", "<!-- end -->"
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok := bytes.Cut(data, []byte(begin))
	_, after, closed := bytes.Cut(rest, []byte(end))
	if !ok || !closed {
		return fmt.Errorf("%s: no table between %q and %q", path, strings.TrimSpace(begin), end)
	}
	var b bytes.Buffer
	b.Write(before)
	b.WriteString(begin + heading)
	for _, c := range cells {
		b.WriteString(c.row() + "\n")
	}
	b.WriteString("\n" + verdict(cells) + ".\n" + end)
	b.Write(after)
	return os.WriteFile(path, b.Bytes(), 0o644)
}
