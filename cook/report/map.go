package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/manifest"
)

// The errors of NewMap, for errors.Is.
var (
	// ErrMapOptions: an option of the map is outside its range.
	ErrMapOptions = errors.New("report: bad map option")
	// ErrNoTile: the tile whose distances were asked for does not exist.
	ErrNoTile = errors.New("report: no such tile")
)

// ColorBy says what the colour of a tile on a map means.
type ColorBy uint8

// What colours can mean. ColorAuto is the tier with floors, else the bytes,
// or the triangles where no size is known, as in a dry run.
const (
	ColorAuto ColorBy = iota
	ColorTier
	ColorBytes
	ColorTriangles
)

var colorNames = [...]string{"auto", "tier", "bytes", "triangles"}

// String returns auto, tier, bytes or triangles.
func (c ColorBy) String() string {
	if int(c) < len(colorNames) {
		return colorNames[c]
	}
	return fmt.Sprintf("ColorBy(%d)", uint8(c))
}

// ParseColorBy reads auto, tier, bytes or triangles; the empty text is
// ColorAuto. Other texts match ErrMapOptions.
func ParseColorBy(s string) (ColorBy, error) {
	if s == "" {
		return ColorAuto, nil
	}
	for i, name := range colorNames {
		if s == name {
			return ColorBy(i), nil
		}
	}
	return ColorAuto, fmt.Errorf("%w: unknown colour %q: use tier, bytes or triangles", ErrMapOptions, s)
}

// The limits of MapOptions.Size, in pixels.
const (
	MinMapSize     = 480
	MaxMapSize     = 8192
	DefaultMapSize = 1600
)

// MapOptions controls a map. The zero value gives the defaults.
type MapOptions struct {
	Color ColorBy
	// Tile is the id of a tile whose distances are drawn, "shared" for the
	// bucket; empty draws none. Only the floor of the tile is drawn then.
	Tile string
	// Whole shows all of every tile. Else a few tiles, and a bucket or zone,
	// that are far larger than the crowd are cut off by the picture's frame, so
	// that a terrain does not shrink the city on it to a dot; the legend says
	// so.
	Whole bool
	// Size is the longest side of the picture in pixels, MinMapSize to
	// MaxMapSize; 0 is DefaultMapSize.
	Size int
}

// Map is the partition of a scene from above: +X to the right and +Z down,
// which is not mirrored. Floors lie side by side at the same scale. With
// floors a tile is drawn as the box of its content, in grids as its cell.
type Map struct {
	m     *manifest.Manifest
	color ColorBy
	size  int

	panels    []panel
	hidden    int       // panels beyond maxPanels
	others    int       // panels left out beside the one of the chosen tile
	undrawn   int       // tiles whose boxes are beyond all sense
	view      worldRect // what every panel shows
	scale     scale     // of ColorBytes and ColorTriangles
	chosen    *chosen
	sharedBox *worldRect
	zone      *worldRect
	pyramid   []pyramidLevel
	types     *typesetter
}

// panel is one floor, or all of a grid.
type panel struct {
	key   int
	title string
	note  string // behind the title
	bit   uint64 // of the panel in what a pyramidNode has
	tiles []drawnTile
}

// drawnTile is a tile on the map.
type drawnTile struct {
	index int       // into Manifest.Tiles
	box   worldRect // what is filled
	cell  worldRect
	area  float64
}

// The limits of a map.
const (
	maxPanels     = 40
	maxMapCoord   = 1e30
	maxLabelTiles = 1500 // in a panel; more go without ids
)

// NewMap prepares the map of a manifest, which must not change until the map
// is drawn. Errors match ErrMapOptions or ErrNoTile.
func NewMap(m *manifest.Manifest, o MapOptions) (*Map, error) {
	if o.Size == 0 {
		o.Size = DefaultMapSize
	}
	if o.Size < MinMapSize || o.Size > MaxMapSize {
		return nil, fmt.Errorf("%w: size %d: use %d to %d pixels", ErrMapOptions, o.Size, MinMapSize, MaxMapSize)
	}
	if int(o.Color) >= len(colorNames) {
		return nil, fmt.Errorf("%w: %v", ErrMapOptions, o.Color)
	}
	p := &Map{m: m, size: o.Size, color: o.Color, types: newTypesetter()}
	if p.color == ColorAuto {
		p.color = autoColor(m)
	}
	p.scale = newScale(p.values())
	p.addTiles()
	p.addPyramid()
	if b := m.SharedBucket; b != nil {
		p.sharedBox = groundOf(b.Bounds)
	}
	if m.InteriorZone != nil {
		p.zone = groundOf(*m.InteriorZone)
	}
	if o.Tile != "" {
		if err := p.choose(o.Tile); err != nil {
			return nil, err
		}
		p.keepChosen()
	}
	p.view = p.frame(o.Whole)
	return p, nil
}

// WriteSVG writes the map as one SVG file, which refers to nothing else.
func (p *Map) WriteSVG(w io.Writer) error { return p.draw().writeSVG(w) }

// WritePNG writes the map as a PNG.
func (p *Map) WritePNG(w io.Writer) error { return p.draw().writePNG(w) }

// autoColor resolves ColorAuto.
func autoColor(m *manifest.Manifest) ColorBy {
	if m.HasFloors() {
		return ColorTier
	}
	triangles := false
	for i := range m.Tiles {
		if m.Tiles[i].FileSizeBytes > 0 {
			return ColorBytes
		}
		triangles = triangles || m.Tiles[i].TriangleCount > 0
	}
	if triangles {
		return ColorTriangles
	}
	return ColorBytes
}

// value is what a tile is coloured by.
func (p *Map) value(t *manifest.Tile) int64 {
	if p.color == ColorTriangles {
		return int64(t.TriangleCount)
	}
	return t.FileSizeBytes
}

func (p *Map) values() []int64 {
	out := make([]int64, len(p.m.Tiles))
	for i := range out {
		out[i] = p.value(&p.m.Tiles[i])
	}
	return out
}

// colorOf returns the colour of a tile.
func (p *Map) colorOf(t *manifest.Tile) paint {
	if p.color == ColorTier {
		return tierColor(t.SemanticTier)
	}
	if v := p.value(t); v > 0 {
		return ramp(p.scale.class(v), p.scale.classes())
	}
	return emptyColor
}

func tierColor(tier string) paint {
	if c, ok := tierColors[tier]; ok {
		return c
	}
	return otherTierColor
}

// groundOf returns the ground under a box, nil for one that is beyond all
// sense. Sides in the wrong order are taken as meant.
func groundOf(b manifest.Bounds) *worldRect {
	r := worldRect{
		min(b.Min[0], b.Max[0]), min(b.Min[2], b.Max[2]), max(b.Min[0], b.Max[0]), max(b.Min[2], b.Max[2]),
	}
	for _, v := range [4]float64{r.x0, r.z0, r.x1, r.z1} {
		if !(math.Abs(v) <= maxMapCoord) {
			return nil
		}
	}
	return &r
}

// addTiles sorts the tiles into panels.
func (p *Map) addTiles() {
	floors := p.m.HasFloors()
	at := map[int]int{}
	for i := range p.m.Tiles {
		t := &p.m.Tiles[i]
		box := groundOf(t.Bounds)
		if box == nil {
			p.undrawn++
			continue
		}
		d := drawnTile{index: i, box: *box, cell: *box}
		if t.CellBounds != nil {
			if c := groundOf(*t.CellBounds); c != nil {
				d.cell = *c
			}
		}
		if !floors {
			d.box = d.cell
		}
		d.area = d.box.w() * d.box.h()
		key := panelKey(t)
		k, ok := at[key]
		if !ok {
			k = len(p.panels)
			at[key] = k
			p.panels = append(p.panels, panel{key: key})
		}
		p.panels[k].tiles = append(p.panels[k].tiles, d)
	}
	if len(p.panels) == 0 {
		p.panels = []panel{{}}
	}
	slices.SortFunc(p.panels, func(a, b panel) int { return cmp.Compare(a.key, b.key) })
	if n := len(p.panels); n > maxPanels {
		p.hidden, p.panels = n-maxPanels, p.panels[:maxPanels]
	}
	for i := range p.panels {
		p.finishPanel(&p.panels[i])
	}
}

// noFloor is the panel of tiles that tell neither floor nor grid layer.
const noFloor = math.MinInt

// panelKey returns the floor of a tile, or its layer of a grid.
func panelKey(t *manifest.Tile) int {
	switch {
	case t.FloorID != nil:
		return *t.FloorID
	case t.GridCoord != nil:
		return t.GridCoord[1]
	}
	return noFloor
}

// finishPanel puts large tiles under small ones and names the panel.
func (p *Map) finishPanel(a *panel) {
	slices.SortStableFunc(a.tiles, func(x, y drawnTile) int {
		tx, ty := &p.m.Tiles[x.index], &p.m.Tiles[y.index]
		return cmp.Or(cmp.Compare(y.area, x.area), cmp.Compare(tierRank(tx.SemanticTier), tierRank(ty.SemanticTier)))
	})
	switch {
	case a.key == noFloor && len(p.panels) == 1:
	case a.key == noFloor:
		a.title = "no floor"
	case p.m.HasFloors():
		a.title = "Floor " + human.Count(int64(a.key))
	case len(p.panels) > 1:
		a.title = "Grid layer " + human.Count(int64(a.key))
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, d := range a.tiles {
		b := &p.m.Tiles[d.index].Bounds
		lo, hi = min(lo, b.Min[1]), max(hi, b.Max[1])
	}
	a.note = human.Plural(len(a.tiles), "tile")
	if lo <= hi && math.Abs(lo) < 1e9 && math.Abs(hi) < 1e9 {
		a.note += ", y " + decimal(lo, 1) + " to " + metresText(geom.Round(hi, 1))
	}
}
