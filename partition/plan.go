package partition

import (
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
)

// Plan says where every object goes. Objects are named by their index in the
// input.
type Plan struct {
	Mode   string // one of the manifest's Mode constants
	Tiles  []Tile // grids: sorted by (tz, ty, tx), floors: by (NodeID, Tier) as texts; none is empty
	Shared []int  // objects of the shared bucket, in the order of their IDs
	// Objects is parallel to the input.
	Objects []Classification
	// Skipped are the objects that go nowhere: their boxes are empty, or a
	// sample or perimeter left their tiles out.
	Skipped []int

	SceneBounds  geom.Box // of all objects, also those that a sample leaves out
	HalfDiag     float64  // of the scene's footprint, metres
	Defaults     Radii    // streaming_defaults
	SharedRadii  Radii
	TileSize     geom.Vec3 // along u, h, v; with floors what most tiles stay below
	AutoTileSize bool      // TileSize was chosen, not given
	Side         float64   // what was chosen for x and z, 0 where nothing was
	Origin       geom.Vec3 // of the grid along u, h, v

	// The rest is for floors only.

	Floors           FloorInfo
	ProfileRequested string             // indoor, outdoor or auto
	Profile          string             // indoor or outdoor
	TierRadii        manifest.TierRadii // of the profile, with the overrides; all tiers
	InteriorZone     *geom.Box          // around the exterior shell; nil when there is none
	PreAnnotated     bool               // the objects' annotations were followed
	MinObjects       int                // see FloorOptions.MinObjects
}

// Tile is one tile of a plan.
type Tile struct {
	ID    string
	Coord [3]int // grid coordinates; zero for other modes
	// Cell is in engine axes. In grids neighbours share exactly equal planes;
	// with floors it is the node's rectangle, as high as the content.
	Cell     geom.Box
	Content  geom.Box // union of the objects' boxes; with clipping, inside the cell
	Objects  []int    // in the order of their IDs
	Priority int      // the default, or the highest hint

	// The rest is for floors only.

	Floor    int    // floor_id: 0 is the lowest floor, with Compat 1
	NodeID   string // quadtree_node_id, such as F01_Q_0_3, also of kd-trees
	Tier     Tier   // of all its objects
	Radii    Radii  // of the tier
	Interior bool   // wanted only inside the interior zone
	Spanning bool   // an object crosses the borders of the node's children
}

// CellRange is a box of grid coordinates, both ends included.
type CellRange struct{ Min, Max [3]int32 }

// Contains reports whether the range holds a cell.
func (r CellRange) Contains(coord [3]int) bool {
	for i, c := range coord {
		if c < int(r.Min[i]) || c > int(r.Max[i]) {
			return false
		}
	}
	return true
}

// Export says where an object goes.
type Export uint8

// The destinations. ExportFutureSplit is the reference's name for objects that
// are so long that they should be cut; without clipping they go to the shared
// bucket like ExportShared.
const (
	ExportSkipped     Export = iota // no geometry
	ExportLocal                     // into the tiles that it overlaps
	ExportShared                    // spans many tiles
	ExportFutureSplit               // spans very many tiles
)

var exportNames = [...]string{"skipped", "local_overlap", "shared_bucket", "future_split_candidate"}

// String returns the manifest's word for it.
func (e Export) String() string { return exportNames[e] }

// Reasons is a set of reasons for an Export.
type Reasons uint8

// The reasons, in the order in which manifests list them.
const (
	WidthThreshold   Reasons = 1 << iota // wider than the spanning limit
	DepthThreshold                       // deeper than the spanning limit
	OverlapThreshold                     // overlaps too many cells
	ForcedLocal                          // by its policy
	ForcedShared                         // by its policy
	CellLimit                            // overlaps more than MaxCellsPerObject cells
	SpansFloor                           // a shell that crosses the borders of its floor's first nodes
	NotAnnotated                         // the scene is annotated, the object is not
)

var reasonNames = [...]string{
	"width_threshold", "depth_threshold", "overlap_threshold", "force_local", "force_shared", "cell_limit",
	"spans_floor", "not_annotated",
}

// Strings returns the manifest's words, never nil.
func (r Reasons) Strings() []string {
	out := []string{}
	for i, name := range reasonNames {
		if r>>i&1 != 0 {
			out = append(out, name)
		}
	}
	return out
}

// Classification says how one object was judged and where it went.
type Classification struct {
	Export     Export // the verdict by size; a spanning object may still be clipped into tiles
	Reasons    Reasons
	InTiles    bool       // it goes to the tiles of Cells, else to the shared bucket (or nowhere)
	XZOverlap  int        // cells overlapped in the horizontal plane; at most MaxInt32
	Dimensions [3]float64 // width, depth, height in metres
	DimRatio   float64    // longest horizontal side over the longer side of a tile
	// Cells is the range of tiles that the object goes to. A box is shrunk by
	// 0.1 mm before it is matched with cells, so geometry may stick out of the
	// range's outer planes by that much: a clipper must cut only at planes
	// between cells of the range.
	Cells CellRange

	// The rest is for floors only; there XZOverlap, DimRatio and Cells are zero.

	Tier           Tier
	TierSource     TierSource
	Spanning       bool    // it crosses the borders of its node's children
	Floor          int32   // from 0 at the bottom
	TierConfidence float64 // 0 to 1; below 0.5 Tier is StructuralInterior
}

// Entry converts to the manifest's form, rounded as the exporter does.
func (c *Classification) Entry(name string) manifest.Classification {
	m := manifest.Classification{
		Name: name, ExportPolicy: c.Export.String(), XZOverlapCount: c.XZOverlap,
		DimRatio: geom.Round(c.DimRatio, 2), Reasons: c.Reasons.Strings(),
	}
	for i, d := range c.Dimensions {
		m.Dimensions[i] = geom.Round(d, 3)
	}
	return m
}
