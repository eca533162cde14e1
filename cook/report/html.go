package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // of the page's parts
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/manifest"
)

// The page: a template, its style and its only script, which sorts tables.
var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

// The caps of the page. The JSON report has everything.
const (
	maxTableRows = 1000
	maxPageTiles = 20_000 // more are not drawn
	maxTwoMaps   = 3_000  // more are drawn by one colour only
	pageMapSize  = 1400   // pixels
)

// page is what the template shows. All texts are clean; the template escapes
// them.
type page struct {
	Title, Subtitle, Policy string
	Style                   template.CSS
	Script                  template.JS
	Cards                   []card
	Maps                    []pageMap
	MapNote                 string
	Sections                []section
}

// card is a number worth knowing.
type card struct{ Name, Value, Note string }

// pageMap is a drawing of the partition.
type pageMap struct {
	Name string
	Open bool
	SVG  template.HTML
}

// section is a part of the page; empty ones are left out.
type section struct {
	ID, Title string
	Text      []string
	Tables    []*table
}

// table is a table of cells, at most maxTableRows of them.
type table struct {
	Caption string
	Head    []column
	Rows    [][]cell
	Sorts   bool // a click on a heading sorts
	Wide    bool // nothing stands beside it
	Total   int  // rows there are
}

type column struct {
	Text string
	Num  bool // right-aligned
}

// cell is a text with what it is sorted by, and a bar of 0 to 100 percent when
// Bar is set.
type cell struct {
	Text  string
	Value string
	Bar   string
	Lines []string // under the text, smaller
}

// More tells what the cap left out.
func (t *table) More() string {
	if n := t.Total - len(t.Rows); n > 0 {
		return fmt.Sprintf("%s of %s rows; the JSON report has all.", human.Count(int64(len(t.Rows))), human.Count(int64(t.Total)))
	}
	return ""
}

// Num tells whether the cells of a column are numbers.
func (t *table) Num(i int) bool { return t.Head[i].Num }

// WriteHTML writes the report as one page that needs nothing else: inline SVG
// and style, readable without scripts, light or dark as the reader's system
// is. Long tables are capped and say so.
func (r *Report) WriteHTML(w io.Writer) error {
	p := &page{Title: r.sceneName(), Subtitle: r.subtitle(), Style: template.CSS(pageCSS), Script: template.JS(pageJS)}
	// Nothing may be loaded, and no script runs but the page's own: a second
	// wall behind the escaping of names.
	sum := sha256.Sum256([]byte(pageJS))
	p.Policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	p.Cards = r.cards()
	if err := r.addMaps(p); err != nil {
		return err
	}
	for _, s := range []section{
		r.budgetSection(), r.noteSection(), r.sizeSection(), r.floorSection(), r.tierSection(), r.sharedSection(), r.placeSection(),
		r.levelSection(), r.compatSection(), r.failedSection(), r.tileSection(), r.objectSection(), r.optionSection(),
	} {
		if len(s.Text) > 0 || len(s.Tables) > 0 {
			p.Sections = append(p.Sections, s)
		}
	}
	return pageTemplate.Execute(w, p)
}

func (r *Report) sceneName() string {
	if r.Scene == "" {
		return "Scene without a name"
	}
	return clean(r.Scene)
}

// addMaps draws the maps: by tier or bytes, and by triangles.
func (r *Report) addMaps(p *page) error {
	m := r.Manifest
	if m == nil {
		return nil
	}
	if len(m.Tiles) > maxPageTiles {
		p.MapNote = human.Count(int64(len(m.Tiles))) + " tiles are too many to draw here; inspect --map draws them."
		return nil
	}
	first := autoColor(m)
	colors := []ColorBy{first}
	if len(m.Tiles) <= maxTwoMaps {
		for _, c := range []ColorBy{ColorTriangles, ColorBytes} {
			if c != first && anyValue(m.Tiles, c) {
				colors = append(colors, c)
			}
		}
	}
	for i, c := range colors {
		drawn, err := NewMap(m, MapOptions{Color: c, Size: pageMapSize})
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := drawn.WriteSVG(&b); err != nil {
			return err
		}
		p.Maps = append(p.Maps, pageMap{Name: "Map: " + colorHeading(c), Open: i == 0, SVG: template.HTML(b.String())})
	}
	return nil
}

// anyValue reports whether a tile has something to be coloured by.
func anyValue(tiles []manifest.Tile, c ColorBy) bool {
	p := Map{color: c}
	for i := range tiles {
		if p.value(&tiles[i]) > 0 {
			return true
		}
	}
	return false
}
