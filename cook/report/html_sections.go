package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/internal/budget"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/manifest"
)

func (r *Report) subtitle() string {
	parts := []string{cmp.Or(r.Mode, "unknown partition")}
	if b := r.Bounds; b != nil {
		s := b.Box().Size()
		parts = append(parts, fmt.Sprintf("%s x %s m, %s m high", decimal(s[0], 1), decimal(s[2], 1), decimal(s[1], 1)))
	}
	if r.Profile != "" {
		parts = append(parts, "profile "+r.Profile)
	}
	if r.DryRun {
		parts = append(parts, "dry run: nothing was written")
	}
	if r.Generator != "" {
		parts = append(parts, "by "+r.Generator)
	}
	return clean(strings.Join(parts, ", "))
}

func (r *Report) cards() []card {
	t := &r.Totals
	size := func(n int64) string {
		if n == 0 && r.DryRun {
			return "planned"
		}
		return bytesText(n)
	}
	var out []card
	if t.Objects > 0 {
		out = append(out, card{"Objects", shortCount(int64(t.Objects)), shortCount(int64(t.Triangles)) + " triangles"})
	}
	out = append(
		out,
		card{"Tiles", human.Count(int64(t.Tiles)), shortCount(int64(t.TileTriangles)) + " triangles stored"},
		card{"Full geometry", size(t.TileBytes), bytesText(t.MemoryBytes) + " on the GPU when all is loaded"},
	)
	if t.Levels > 0 {
		out = append(out, card{"LOD and HLOD files", human.Count(int64(t.Levels)), size(t.LevelBytes) + ", " + shortCount(int64(t.LevelTriangles)) + " triangles"})
	}
	if t.Textures > 0 {
		out = append(out, card{"Textures", human.Count(int64(t.Textures)), t.textureText()})
	}
	if s := r.Shared; s != nil {
		out = append(out, card{"Shared bucket", percent(s.TriangleShare), "of the stored triangles, " + human.Plural(s.Objects, "object")})
	}
	if n := len(r.Floors.Floors); n > 0 {
		out = append(out, card{"Floors", human.Count(int64(n)), "found by: " + cmp.Or(clean(r.Floors.Method), "the manifest")})
	}
	if t.FailedTiles > 0 {
		out = append(out, card{"Failed tiles", human.Count(int64(t.FailedTiles)), "see below"})
	}
	return out
}

// textureText says what the textures take, and what they were made from.
func (t *Totals) textureText() string {
	s := bytesText(t.TextureBytes)
	if t.TextureGPUBytes > 0 {
		s += ", " + bytesText(t.TextureGPUBytes) + " on the GPU"
	}
	if t.Images > 0 && t.TextureMode != "" && t.TextureMode != "copy" {
		s += fmt.Sprintf("; %s: from %s of %s (%s megapixels)", clean(t.TextureMode), human.Plural(t.Images, "image"), bytesText(t.ImageBytes), decimal(float64(t.ImagePixels)/1e6, 1))
	}
	return s
}

// percent writes a share of 0 to 1.
func percent(share float64) string { return decimal(share*100, 1) + " %" }

// The cells of tables.

func textCell(s string) cell { return cell{Text: clean(s)} }

func countCell(n int) cell { return cell{Text: human.Count(int64(n)), Value: strconv.Itoa(n)} }

func bytesCell(n int64) cell { return cell{Text: bytesText(n), Value: strconv.FormatInt(n, 10)} }

func metresCell(v float64) cell {
	return cell{Text: metresText(v), Value: strconv.FormatFloat(v, 'g', -1, 64)}
}

func barCell(part, whole float64) cell { return cell{Bar: decimal(share(part, whole)*100, 2)} }

func columns(names ...string) []column {
	var out []column
	for _, n := range names {
		text, num := strings.CutPrefix(n, ">")
		out = append(out, column{text, num})
	}
	return out
}

// add puts a row into the table, beyond the cap only its number.
func (t *table) add(cells ...cell) {
	if t.Total++; len(t.Rows) < maxTableRows {
		t.Rows = append(t.Rows, cells)
	}
}

func (r *Report) noteSection() section {
	s := section{ID: "notes", Title: "Notes"}
	if len(r.Notes) == 0 {
		return s
	}
	t := &table{Head: columns("Kind", "What", ">Count", "First at", "Code")}
	notes := slices.Clone(r.Notes)
	slices.SortStableFunc(notes, func(a, b Note) int { return index(b.Warning) - index(a.Warning) })
	for _, n := range notes {
		kind := "remark"
		if n.Warning {
			kind = "warning"
		}
		t.add(textCell(kind), textCell(n.Message), countCell(n.Count), textCell(n.Where), textCell(n.Code))
	}
	s.Tables = []*table{t}
	return s
}

// budgetSection lists the budgets that were judged.
func (r *Report) budgetSection() section {
	s := section{ID: "budgets", Title: "Budgets"}
	if len(r.Budgets) == 0 {
		return s
	}
	t := &table{Head: columns("Figure", "Is", "Fails if", ">Used", "Verdict")}
	for i := range r.Budgets {
		v := &r.Budgets[i]
		used, verdict := "-", "kept"
		if v.Used != nil {
			used = decimal(100**v.Used, 1) + " %"
		}
		if v.Failed {
			verdict = "failed"
		}
		t.add(textCell(v.Figure), textCell(budget.Text(v.Value, v.Unit)), textCell(v.FailIf), textCell(used), textCell(verdict))
	}
	s.Tables = []*table{t}
	return s
}

func (r *Report) sizeSection() section {
	s := section{ID: "sizes", Title: "Tile sizes"}
	if len(r.Tiles) == 0 {
		return s
	}
	triangles, bytes := make([]int64, len(r.Tiles)), make([]int64, len(r.Tiles))
	for i := range r.Tiles {
		triangles[i], bytes[i] = int64(r.Tiles[i].Triangles), r.Tiles[i].Bytes
	}
	balance := &table{Wide: true, Head: columns("Full geometry of a tile", ">Smallest", ">Median", ">Mean", ">90 % below", ">Largest", ">Largest / median")}
	histogram := func(name string, values []int64, unit func(int64) string) {
		slices.Sort(values)
		n := len(values)
		if values[n-1] <= 0 {
			return
		}
		var sum int64
		for _, v := range values {
			sum += v
		}
		mid, most := int64(median(values)), values[n-1]
		ratio := "-"
		if mid > 0 {
			ratio = decimal(float64(most)/float64(mid), 2)
		}
		p90 := values[min(n-1, n*9/10)]
		balance.add(textCell(name), textCell(unit(values[0])), textCell(unit(mid)), textCell(unit(sum/int64(n))), textCell(unit(p90)), textCell(unit(most)), textCell(ratio))
		s.Tables = append(s.Tables, histogramTable(name+" per tile", values, unit))
	}
	histogram("Triangles", triangles, shortCount)
	histogram("Bytes", bytes, bytesText)
	if len(balance.Rows) > 0 {
		s.Tables = append([]*table{balance}, s.Tables...)
	}
	return s
}

// histogramTable counts values by class.
func histogramTable(caption string, values []int64, unit func(int64) string) *table {
	c := newScale(values)
	count, none := make([]int, c.classes()), 0
	for _, v := range values {
		if v > 0 {
			count[c.class(v)]++
		} else {
			none++
		}
	}
	most := max(none, slices.Max(count))
	t := &table{Caption: caption, Head: columns("Range", ">Tiles", "")}
	if none > 0 {
		t.add(textCell("none"), countCell(none), barCell(float64(none), float64(most)))
	}
	for i, n := range count {
		text := c.label(i, unit)
		if len(count) == 1 {
			text = unit(values[len(values)-1])
		}
		t.add(textCell(text), countCell(n), barCell(float64(n), float64(most)))
	}
	return t
}

// floorMethods explains the words of partition.FloorMethod.
var floorMethods = map[string]string{
	"given":     "The floors are those of the options.",
	"outdoor":   "The profile is outdoor, which has one floor.",
	"slabs":     "The floors were found by the heights at which slabs lie.",
	"median":    "The floors are bands of the median height of storey-high objects; no slabs were found.",
	"annotated": "The floors are those of the objects' annotations.",
}

func (r *Report) floorSection() section {
	s := section{ID: "floors", Title: "Floors"}
	f := &r.Floors
	if len(f.Floors) == 0 {
		return s
	}
	if text := floorMethods[f.Method]; text != "" {
		if f.BandHeight > 0 {
			text += " A floor is " + metresText(geom.Round(f.BandHeight, 2)) + " high."
		}
		s.Text = append(s.Text, text)
	}
	most := 0
	for _, x := range f.Floors {
		most = max(most, x.Triangles)
	}
	t := &table{Head: columns("Floor", ">From", ">To", ">Tiles", ">Objects", ">Bytes", ">Triangles", "")}
	for _, x := range f.Floors {
		lo, hi := cell{}, cell{}
		if x.Bottom != nil && x.Top != nil {
			lo, hi = metresCell(*x.Bottom), metresCell(*x.Top)
		}
		t.add(countCell(x.ID), lo, hi, countCell(x.Tiles), countCell(x.Objects), bytesCell(x.Bytes), countCell(x.Triangles), barCell(float64(x.Triangles), float64(most)))
	}
	s.Tables = append(s.Tables, t)
	if len(f.Slabs) > 0 {
		t := &table{Caption: "Slab levels", Head: columns("Top at", ">Area", ">Objects")}
		for _, x := range f.Slabs {
			t.add(metresCell(x.Top), cell{Text: human.Count(int64(x.Area)) + " m\u00b2", Value: decimal(x.Area, 3)}, countCell(x.Count))
		}
		s.Tables = append(s.Tables, t)
	}
	return s
}

func (r *Report) tierSection() section {
	s := section{ID: "tiers", Title: "Semantic tiers"}
	if len(r.Tiers) == 0 {
		return s
	}
	most := 0
	for _, x := range r.Tiers {
		most = max(most, x.Triangles)
	}
	t := &table{Head: columns("Tier", ">Streams at", ">Unloads at", ">Tiles", ">Objects", ">Bytes", ">Triangles", "")}
	for _, x := range r.Tiers {
		t.add(textCell(cmp.Or(x.Tier, "none")), metresCell(x.Streaming), metresCell(x.Unload), countCell(x.Tiles), countCell(x.Objects),
			bytesCell(x.Bytes), countCell(x.Triangles), barCell(float64(x.Triangles), float64(most)))
	}
	s.Tables = []*table{t}
	return s
}

func (r *Report) sharedSection() section {
	s := section{ID: "shared", Title: "Shared bucket"}
	b := r.Shared
	if b == nil {
		return s
	}
	advice := "Large shares are better forced into tiles, or cut by a grid."
	if r.Mode == manifest.ModeUniformGrid {
		advice = "Large shares are better split (cook with clipping) or forced into tiles."
	}
	s.Text = []string{"What is in the bucket is loaded as one piece from its streaming radius on, without coarser levels. " + advice}
	radius := func(v *float64) string {
		if v == nil {
			return "infinite"
		}
		return metresText(geom.Round(*v, 2))
	}
	t := &table{Head: columns("Cost", ">Value", ">Share of all tiles")}
	t.add(textCell("objects"), countCell(b.Objects), textCell(""))
	t.add(textCell("triangles"), countCell(b.Triangles), textCell(percent(b.TriangleShare)))
	t.add(textCell("bytes"), bytesCell(b.Bytes), textCell(percent(b.ByteShare)))
	t.add(textCell("GPU memory"), bytesCell(b.MemoryBytes), textCell(percent(share(float64(b.MemoryBytes), float64(r.Totals.MemoryBytes)))))
	t.add(textCell("streaming radius"), textCell(radius(b.Streaming)), textCell(""))
	t.add(textCell("unload radius"), textCell(radius(b.Unload)), textCell(""))
	t.add(textCell("box"), textCell(boxText(b.Bounds)), textCell(""))
	s.Tables = []*table{t}
	return s
}

// boxText writes a box as from and to.
func boxText(b manifest.Bounds) string {
	p := func(v [3]float64) string {
		return "(" + decimal(v[0], 1) + ", " + decimal(v[1], 1) + ", " + decimal(v[2], 1) + ")"
	}
	return p(b.Min) + " to " + p(b.Max) + " m"
}

// levelSection groups the levels that were not made by their reasons; reasons
// that differ in numbers only are one.
func (r *Report) levelSection() section {
	s := section{ID: "levels", Title: "Levels not made"}
	if len(r.Dropped) == 0 {
		return s
	}
	type group struct {
		DroppedLevel
		count int
	}
	at := map[DroppedLevel]int{}
	var groups []group
	for _, d := range r.Dropped {
		k := DroppedLevel{Level: d.Level, Stage: d.Stage, Reason: withoutNumbers(d.Reason)}
		i, ok := at[k]
		if !ok {
			i = len(groups)
			at[k] = i
			groups = append(groups, group{DroppedLevel: d})
		}
		groups[i].count++
	}
	slices.SortStableFunc(groups, func(a, b group) int { return cmp.Compare(b.count, a.count) })
	stages := map[string]string{StageBands: "no room between the distances", StageGeometry: "does not pay"}
	t := &table{Head: columns("Level", "Kind", ">Count", "First tile", "Its reason"), Sorts: true}
	for _, g := range groups {
		t.add(textCell(g.Level), textCell(cmp.Or(stages[g.Stage], g.Stage)), countCell(g.count), textCell(cmp.Or(g.Tile, "all tiles")), textCell(g.Reason))
	}
	s.Tables = []*table{t}
	return s
}

// withoutNumbers replaces every number in a text by #. A digit in a word, as
// in lod2, is no number.
func withoutNumbers(s string) string {
	words := strings.Fields(s)
	for i, w := range words {
		core := strings.Trim(w, "(),.;:")
		if _, err := strconv.ParseFloat(core, 64); err == nil {
			words[i] = strings.Replace(w, core, "#", 1)
		}
	}
	return strings.Join(words, " ")
}

func (r *Report) compatSection() section {
	s := section{ID: "compat", Title: "Compared with --compat engine"}
	if r.Compat == nil {
		return s
	}
	s.Text = []string{"What the reference exporter's rules would have made of the same objects."}
	t := &table{Head: columns("", ">This cook", ">Compat engine", ">Difference")}
	a, b := &r.Compat.Ours, &r.Compat.Engine
	row := func(name string, x, y int) {
		diff := human.Count(int64(x) - int64(y))
		if x > y {
			diff = "+" + diff
		}
		t.add(textCell(name), countCell(x), countCell(y), textCell(diff))
	}
	row("tiles", a.Tiles, b.Tiles)
	row("floors", a.Floors, b.Floors)
	row("objects placed", a.Objects, b.Objects)
	row("objects assigned to tiles", a.Assigned, b.Assigned)
	row("objects in several tiles", a.Duplicated, b.Duplicated)
	row("objects in the shared bucket", a.SharedObjects, b.SharedObjects)
	row("triangles in the shared bucket", a.SharedTriangles, b.SharedTriangles)
	row("triangles stored", a.StoredTriangles, b.StoredTriangles)
	row("median triangles of a tile", int(a.MedianTriangles), int(b.MedianTriangles))
	row("most triangles of a tile", a.MaxTriangles, b.MaxTriangles)
	row("interior tiles", a.InteriorTiles, b.InteriorTiles)
	s.Tables = []*table{t}
	return s
}

func (r *Report) failedSection() section {
	s := section{ID: "failed", Title: "Failed tiles"}
	if len(r.Failed) == 0 {
		return s
	}
	t := &table{Head: columns("Tile", "Error", ">Objects")}
	for _, f := range r.Failed {
		t.add(textCell(f.ID), textCell(f.Error), countCell(f.CandidateObjectCount))
	}
	s.Tables = []*table{t}
	return s
}

func (r *Report) optionSection() section {
	s := section{ID: "options", Title: "Options"}
	if len(r.Options) == 0 {
		return s
	}
	t := &table{Head: columns("Option", "Value")}
	for _, kv := range r.Options {
		t.add(textCell(kv.Key), textCell(kv.Value))
	}
	s.Tables = []*table{t}
	return s
}
