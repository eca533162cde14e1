package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/partition"
)

// tileSection lists the tiles, those with the most triangles first.
func (r *Report) tileSection() section {
	s := section{ID: "tiles", Title: "Tiles"}
	if len(r.Tiles) == 0 {
		return s
	}
	floors := len(r.Floors.Floors) > 0
	head := []string{"Tile", ">Objects", ">Triangles", ">Bytes", ">Streams at", ">Unloads at", ">Priority", "Levels"}
	if floors {
		head = slices.Insert(head, 1, ">Floor", "Tier")
	}
	t := &table{Head: columns(head...), Sorts: true}
	for _, i := range heaviest(r.Tiles) {
		x := &r.Tiles[i]
		if len(t.Rows) >= maxTableRows {
			t.Total = len(r.Tiles)
			break
		}
		row := []cell{
			textCell(x.ID), countCell(x.Objects), countCell(x.Triangles), bytesCell(x.Bytes),
			metresCell(x.Streaming), metresCell(x.Unload), countCell(x.Priority), levelCell(x.Levels),
		}
		if floors {
			floor := cell{}
			if x.Floor != nil {
				floor = countCell(*x.Floor)
			}
			tier := x.Tier
			if x.Interior {
				tier += ", interior"
			}
			row = slices.Insert(row, 1, floor, textCell(tier))
		}
		t.add(row...)
	}
	s.Tables = []*table{t}
	return s
}

// heaviest returns the indices of tiles by triangles, most first.
func heaviest(tiles []Tile) []int {
	order := make([]int, len(tiles))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &tiles[a], &tiles[b]
		return cmp.Or(cmp.Compare(y.Triangles, x.Triangles), cmp.Compare(y.Bytes, x.Bytes))
	})
	return order
}

// levelCell lists the levels of a tile.
func levelCell(levels []Level) cell {
	c := cell{Text: human.Count(int64(len(levels))), Value: strconv.Itoa(len(levels))}
	if len(levels) == 0 {
		c.Text = ""
	}
	for _, l := range levels {
		line := l.Name + " from " + metresText(geom.Round(l.Switch, 2))
		if l.Triangles > 0 {
			line += ", " + human.Count(int64(l.Triangles)) + " triangles"
		}
		if l.Bytes > 0 {
			line += ", " + bytesText(l.Bytes)
		}
		if l.Error != nil {
			line += ", error " + decimal(*l.Error, 4) + " m"
		}
		c.Lines = append(c.Lines, clean(line))
	}
	return c
}

// placeSection counts objects by where they went and why.
func (r *Report) placeSection() section {
	s := section{ID: "places", Title: "Where objects went"}
	if len(r.Objects) == 0 {
		return s
	}
	type group struct {
		text               string
		objects, triangles int
	}
	at := map[string]int{}
	var groups []group
	for i := range r.Objects {
		o := &r.Objects[i]
		text := r.why(o, false)
		k, ok := at[text]
		if !ok {
			k = len(groups)
			at[text] = k
			groups = append(groups, group{text: text})
		}
		groups[k].objects++
		groups[k].triangles += o.Triangles
	}
	slices.SortStableFunc(groups, func(a, b group) int { return cmp.Compare(b.objects, a.objects) })
	t := &table{Head: columns("What", ">Objects", ">Triangles", "")}
	for _, g := range groups {
		t.add(textCell(g.text), countCell(g.objects), countCell(g.triangles), barCell(float64(g.objects), float64(groups[0].objects)))
	}
	s.Tables = []*table{t}
	return s
}

// objectSection lists the objects: those that went nowhere or to the bucket,
// then those in many tiles, then the heavy ones.
func (r *Report) objectSection() section {
	s := section{ID: "objects", Title: "Objects"}
	if len(r.Objects) == 0 {
		return s
	}
	rank := map[string]int{PlaceNone: 0, PlaceShared: 1, PlaceTiles: 2}
	order := make([]int, len(r.Objects))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &r.Objects[a], &r.Objects[b]
		return cmp.Or(cmp.Compare(rank[x.Place], rank[y.Place]), cmp.Compare(y.TileCount, x.TileCount), cmp.Compare(y.Triangles, x.Triangles))
	})
	t := &table{Head: columns("Object", ">Triangles", ">Width, depth, height", "Place", "Why"), Sorts: true, Total: 0}
	for _, i := range order {
		o := &r.Objects[i]
		if len(t.Rows) >= maxTableRows {
			t.Total = len(order)
			break
		}
		d := o.Dimensions
		t.add(textCell(o.Name), countCell(o.Triangles), textCell(decimal(d[0], 2)+" x "+decimal(d[1], 2)+" x "+decimal(d[2], 2)+" m"),
			textCell(placeText(o)), textCell(r.why(o, true)))
	}
	s.Tables = []*table{t}
	return s
}

func placeText(o *Object) string {
	switch o.Place {
	case PlaceShared:
		return "shared bucket"
	case PlaceTiles:
		text := strings.Join(o.Tiles, ", ")
		if n := o.TileCount - len(o.Tiles); n > 0 {
			text += " and " + human.Count(int64(n)) + " more"
		}
		return text
	}
	return "nowhere"
}

// reasonTexts explains the words of partition.Reasons.
var reasonTexts = map[string]string{
	"width_threshold":   "wider than the spanning limit",
	"depth_threshold":   "deeper than the spanning limit",
	"overlap_threshold": "overlaps too many cells",
	"force_local":       "forced into tiles",
	"force_shared":      "forced into the bucket",
	"cell_limit":        "overlaps more cells than one object may",
	"spans_floor":       "a shell across the first nodes of its floor",
	"not_annotated":     "without annotation in an annotated scene",
}

// Why says in some words why an object went where it did.
func (r *Report) Why(o *Object) string { return r.why(o, true) }

// why says in a few words why an object went where it did; detail adds the
// numbers that differ between objects.
func (r *Report) why(o *Object, detail bool) string {
	var parts []string
	for _, w := range o.Reasons {
		parts = append(parts, cmp.Or(reasonTexts[w], w))
	}
	cause := strings.Join(parts, ", ")
	switch {
	case o.Place == PlaceNone && o.Export == partition.ExportSkipped.String():
		return "no geometry"
	case o.Place == PlaceNone:
		return "left out: no triangle with an area, or outside of the sample"
	case o.Place == PlaceShared:
		return "bucket: " + cmp.Or(cause, "spans several tiles")
	case o.Tier != "":
		return r.whyTier(o, cause, detail)
	}
	text := "local: in one cell"
	switch {
	case cause != "" && o.Export == partition.ExportLocal.String():
		text = "local: " + cause
	case cause != "" && r.Clip:
		text = "spanning (" + cause + "), cut at cell borders"
	case cause != "":
		text = "spanning (" + cause + ")"
	case o.TileCount > 1 && r.Clip:
		text = "local: cut at cell borders"
	case o.TileCount > 1:
		text = "local: whole in every cell it overlaps"
	}
	if detail {
		text += "; " + human.Plural(o.Overlap, "cell") + ", " + "longest side " + decimal(o.DimRatio, 2) + " x the tile's"
	}
	return text
}

func (r *Report) whyTier(o *Object, cause string, detail bool) string {
	text := o.Tier + " by " + o.TierSource
	if o.Confidence > 0 && o.Confidence < 0.5 {
		text += ", unsure"
	}
	if o.Spanning {
		text += ", at an inner node because it crosses the borders below"
	}
	if cause != "" {
		text += ", " + cause
	}
	if detail {
		text += "; confidence " + decimal(o.Confidence, 2)
		if o.Floor != nil {
			text += ", floor " + human.Count(int64(*o.Floor))
		}
	}
	return text
}
