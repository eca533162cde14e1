package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/band"
)

// bandsFlags are the flags of manifest bands.
type bandsFlags struct {
	fov, height   float64
	engine, check bool
	asJSON        bool
	limit         int
}

func newManifestBands(a *app) *cobra.Command {
	var f bandsFlags
	cmd := &cobra.Command{
		Use:   "bands MANIFEST",
		Short: "Show at which distances tiles change what is drawn",
		Long: `bands lists the distances of every tile, in metres from its bounds, with the defaults for what
the tile lacks: the tile is fetched within prefetch (half way between the radii when nothing is
written), wanted within streaming, and goes beyond unload; LODs and the HLOD are shown beyond
their switches. px is how high what is seen of the levels' error
(visual_error, else geometric_error) is on the screen at their switches, LODs
first, where the manifest has errors.

A star marks what the reference engine changes on load, an x a level that it drops; --engine shows
the distances as it leaves them. An exclamation mark stands at a LOD that begins inside the
streaming radius: the engine does not load the full tile beyond it. With --check the exit code is
1 when there are stars or x.`,
		Example: `  untold manifest bands out/city
  untold manifest bands city.json --engine --check
  untold manifest bands city.json --json --fov 90 --height 2160`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if !(f.fov > 0 && f.fov < 180) || !(f.height >= 1) || math.IsInf(f.height, 0) {
				return errors.New("--fov must be between 0 and 180 degrees, --height at least 1 pixel")
			}
			path, err := manifestPath("manifest bands", "", args[0])
			if err != nil {
				return err
			}
			m, err := manifest.LoadPlanned(path)
			if err != nil {
				return judgedManifest(err)
			}
			r := f.report(path, m)
			if f.asJSON {
				err = writeJSON(a.stdout, r)
			} else {
				err = f.print(a, r)
			}
			if err == nil && f.check && r.Changed > 0 {
				return errFindings
			}
			return err
		},
	}
	fl := cmd.Flags()
	fl.Float64Var(&f.fov, "fov", 60, "vertical field of view in degrees, for px")
	fl.Float64Var(&f.height, "height", 1080, "height of the screen in pixels, for px")
	fl.BoolVar(&f.engine, "engine", false, "show the distances as the reference engine changes them")
	fl.BoolVar(&f.check, "check", false, "exit code 1 when the reference engine changes a distance or drops a level")
	fl.BoolVar(&f.asJSON, "json", false, "print JSON; it has both, written and engine")
	fl.IntVar(&f.limit, "limit", 40, "tiles listed in text output, 0 for all")
	return cmd
}

// bandsReport is what bands prints as JSON.
type bandsReport struct {
	Path    string         `json:"path"`
	FovY    float64        `json:"fov_y_degrees"`
	Height  float64        `json:"height_pixels"`
	Changed int            `json:"changed"`              // tiles
	Dropped int            `json:"dropped"`              // levels
	Inside  int            `json:"lod_inside_streaming"` // tiles
	Tiers   []*tierSummary `json:"tiers"`
	Tiles   []bandsRow     `json:"tiles"`
}

// bandsRow is one tile.
type bandsRow struct {
	ID      string        `json:"tile_id"`
	Tier    string        `json:"semantic_tier,omitempty"`
	Shared  bool          `json:"shared_bucket,omitempty"`
	Written distancesJSON `json:"written"`
	Engine  distancesJSON `json:"engine"`
	Changed bool          `json:"changed"`
	Dropped int           `json:"dropped"`
	Inside  bool          `json:"lod_inside_streaming"`
	// Pixels are the errors of the levels at their switches, null when unknown.
	HLODPixels *float64   `json:"hlod_pixels"`
	LODPixels  []*float64 `json:"lod_pixels"`

	bands tileBands
}

// distancesJSON are bands; null is infinite, or for hlod: none.
type distancesJSON struct {
	Streaming *float64  `json:"streaming"`
	Unload    *float64  `json:"unload"`
	Prefetch  *float64  `json:"prefetch"`
	HLOD      *float64  `json:"hlod"`
	LODs      []float64 `json:"lods"`
}

// tierSummary is what the tiles of one tier have in common.
type tierSummary struct {
	Tier      string     `json:"tier"`
	Tiles     int        `json:"tiles"`
	Streaming [2]float64 `json:"streaming"` // least and greatest
	Unload    [2]float64 `json:"unload"`
	Changed   int        `json:"changed"`
	Dropped   int        `json:"dropped"`
}

func (f *bandsFlags) report(path string, m *manifest.Manifest) *bandsReport {
	r := &bandsReport{Path: path, FovY: f.fov, Height: f.height, Tiers: []*tierSummary{}, Tiles: []bandsRow{}}
	for _, e := range bandsOfTiles(m) {
		row := bandsRow{
			ID: e.id, Tier: e.tier, Shared: e.shared, Written: distancesOf(e.written), Engine: distancesOf(e.engine),
			Changed: e.changed(), Dropped: e.dropped(), HLODPixels: f.pixels(e.hlodError, f.shown(&e).HLOD), LODPixels: []*float64{}, bands: e,
		}
		if b := f.shown(&e); len(b.LODs) > 0 {
			row.Inside = b.LODs[0] < b.Streaming
		}
		for i, d := range f.shown(&e).LODs {
			row.LODPixels = append(row.LODPixels, f.pixels(e.lodErrors[i], d))
		}
		r.Tiles = append(r.Tiles, row)
		if r.Dropped += row.Dropped; row.Changed {
			r.Changed++
		}
		if row.Inside {
			r.Inside++
		}
		if !e.shared {
			r.tier(&row, f.shown(&e))
		}
	}
	return r
}

// shown are the distances that the table shows.
func (f *bandsFlags) shown(e *tileBands) *band.Bands {
	if f.engine {
		return &e.engine
	}
	return &e.written
}

// pixels is the height of an error on the screen, nil when unknown.
func (f *bandsFlags) pixels(geometric, distance float64) *float64 {
	px := geom.Round(band.ScreenError(geometric, distance, f.fov, f.height), 2)
	if math.IsNaN(px) || math.IsInf(px, 0) {
		return nil
	}
	return &px
}

func distancesOf(b band.Bands) distancesJSON {
	finite := func(v float64) *float64 {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil
		}
		return &v
	}
	d := distancesJSON{Streaming: finite(b.Streaming), Unload: finite(b.Unload), Prefetch: finite(b.AutoPrefetch()), LODs: append([]float64{}, b.LODs...)}
	if b.HLOD != 0 {
		d.HLOD = &b.HLOD
	}
	return d
}

// tier adds a tile to the summary of its tier.
func (r *bandsReport) tier(row *bandsRow, b *band.Bands) {
	name := row.Tier
	if name == "" {
		name = "all"
	}
	at := slices.IndexFunc(r.Tiers, func(t *tierSummary) bool { return t.Tier == name })
	if at < 0 {
		at = len(r.Tiers)
		r.Tiers = append(r.Tiers, &tierSummary{Tier: name, Streaming: [2]float64{b.Streaming, b.Streaming}, Unload: [2]float64{b.Unload, b.Unload}})
	}
	t := r.Tiers[at]
	t.Tiles++
	t.Streaming = [2]float64{min(t.Streaming[0], b.Streaming), max(t.Streaming[1], b.Streaming)}
	t.Unload = [2]float64{min(t.Unload[0], b.Unload), max(t.Unload[1], b.Unload)}
	if t.Dropped += row.Dropped; row.Changed {
		t.Changed++
	}
}

func (f *bandsFlags) print(a *app, r *bandsReport) error {
	tiers := slices.ContainsFunc(r.Tiles, func(x bandsRow) bool { return x.Tier != "" })
	header := []string{"tile", "tier", ">streaming", ">prefetch", ">unload", ">hlod", "lods", "px"}
	if !tiers {
		header = slices.Delete(header, 1, 2)
	}
	t := newTable(f.limit, header...)
	for i := range r.Tiles {
		cells := f.cells(&r.Tiles[i])
		if !tiers {
			cells = slices.Delete(cells, 1, 2)
		}
		t.add(cells...)
	}
	t.print(a.stdout)
	s := newTable(0, "tier", ">tiles", ">streaming", ">unload", ">changed", ">dropped")
	for _, x := range r.Tiers {
		s.add(x.Tier, x.Tiles, rangeText(x.Streaming), rangeText(x.Unload), x.Changed, x.Dropped)
	}
	fmt.Fprintln(a.stdout)
	s.print(a.stdout)
	verdict := "the reference engine takes all distances as they are"
	if r.Changed > 0 {
		verdict = fmt.Sprintf("the reference engine changes %d of %s and drops %s; untold manifest normalize writes distances that stay",
			r.Changed, human.Plural(len(r.Tiles), "tile"), human.Plural(r.Dropped, "level"))
	}
	if r.Inside > 0 {
		verdict += fmt.Sprintf("\nthe LODs of %s begin inside the streaming radius", human.Plural(r.Inside, "tile"))
	}
	_, err := fmt.Fprintf(a.stdout, "\n%s\n", verdict)
	return err
}

// cells are the columns of a tile.
func (f *bandsFlags) cells(row *bandsRow) []any {
	w, e, b := &row.bands.written, &row.bands.engine, f.shown(&row.bands)
	hlod := "-"
	switch {
	case w.HLOD != 0 && e.HLOD == 0:
		hlod = distance(w.HLOD) + "x"
	case w.HLOD != 0:
		hlod = marked(b.HLOD, w.HLOD, e.HLOD)
	}
	var lods, px []string
	for i, d := range w.LODs {
		if i >= len(e.LODs) {
			lods = append(lods, distance(d)+"x")
			continue
		}
		text := marked(b.LODs[i], d, e.LODs[i])
		if b.LODs[i] < b.Streaming {
			text += "!"
		}
		lods = append(lods, text)
	}
	known := false
	for _, p := range append(slices.Clone(row.LODPixels), row.HLODPixels) {
		text := "?"
		if p != nil {
			text, known = fmt.Sprintf("%.3g", *p), true
		}
		px = append(px, text)
	}
	if !known {
		px = nil
	} else if w.HLOD == 0 {
		px = px[:len(px)-1]
	}
	return []any{
		row.ID, row.Tier, marked(b.Streaming, w.Streaming, e.Streaming), marked(b.AutoPrefetch(), w.AutoPrefetch(), e.AutoPrefetch()),
		marked(b.Unload, w.Unload, e.Unload), hlod, strings.Join(lods, " "), strings.Join(px, " "),
	}
}

// marked is a distance with a star when the engine changes it.
func marked(shown, written, engine float64) string {
	if math.Abs(written-engine) > 1e-3 {
		return distance(shown) + "*"
	}
	return distance(shown)
}

// distance has two decimals, as manifests write switches.
func distance(v float64) string {
	if math.IsInf(v, 1) {
		return "inf"
	}
	return fmt.Sprint(band.Round(v))
}

func rangeText(r [2]float64) string {
	if r[0] == r[1] {
		return distance(r[0])
	}
	return distance(r[0]) + ".." + distance(r[1])
}
