package report

import (
	"encoding/json"
	"io"

	"github.com/untoldkit/untold/internal/budget"
	"github.com/untoldkit/untold/manifest"
)

// Report is what there is to say about one cook. It is plain data; no field
// may hold NaN or an infinity, which JSON cannot express. Lists are in the
// order of the manifest or of the scene.
type Report struct {
	Scene     string `json:"scene"`             // file name of the source, empty when unknown
	Mode      string `json:"partitioning_mode"` // one of manifest's Mode constants
	Generator string `json:"generator"`         // program and version
	DryRun    bool   `json:"dry_run"`           // planned only: sizes are 0
	Clip      bool   `json:"clip"`              // grids: geometry is cut at tile borders

	Bounds   *manifest.Bounds   `json:"scene_bounds"` // nil when unknown
	TileSize *manifest.Vec3Size `json:"tile_size"`    // nil when unknown
	Profile  string             `json:"profile"`      // indoor or outdoor, with the request: "indoor (auto)"
	Options  []KV               `json:"options"`      // as the cook used them, in the order to show
	Totals   Totals             `json:"totals"`
	// Figures are what budgets are about; nil if this is not of a cook.
	Figures *Figures `json:"figures,omitempty"`
	// Budgets says what became of budgets that the caller has judged.
	Budgets []budget.Verdict `json:"budgets,omitempty"`

	Tiles  []Tile                `json:"tiles"`
	Failed []manifest.FailedTile `json:"failed_tiles"`
	Shared *Shared               `json:"shared_bucket"` // nil without one
	// Objects says where every object went.
	Objects []Object `json:"objects"`

	Floors FloorReport `json:"floors"`
	Tiers  []TierCount `json:"tiers"` // of tiles; empty for grids

	Dropped []DroppedLevel `json:"dropped_levels"`
	Compat  *Compat        `json:"compat_engine"` // nil: not compared
	Notes   []Note         `json:"notes"`

	// Manifest is drawn as a map in the page; nil leaves the map out.
	Manifest *manifest.Manifest `json:"-"`
}

// KV is one line of a list of settings.
type KV struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Totals sums up the cook.
type Totals struct {
	Objects        int   `json:"objects"`         // with geometry, each once
	Triangles      int   `json:"triangles"`       // of the scene, each object once
	Tiles          int   `json:"tiles"`           // written, without the bucket
	FailedTiles    int   `json:"failed_tiles"`    // planned, but not written
	TileTriangles  int   `json:"tile_triangles"`  // of all full payloads with the bucket
	Levels         int   `json:"levels"`          // LOD and HLOD files
	LevelTriangles int   `json:"level_triangles"` // of these
	TileBytes      int64 `json:"tile_bytes"`      // of the full payloads with the bucket
	LevelBytes     int64 `json:"level_bytes"`     // of the LOD and HLOD files
	MemoryBytes    int64 `json:"memory_bytes"`    // estimated, all full tiles resident
	Textures       int   `json:"textures"`        // staged files
	TextureBytes   int64 `json:"texture_bytes"`   // of these
	// TextureMode is copy, resize, bc, astc or ktx2; TextureGPUBytes what the textures take
	// in video memory with all their levels. Images counts the scene's own.
	TextureMode     string `json:"texture_mode,omitempty"`
	TextureGPUBytes int64  `json:"texture_gpu_bytes,omitempty"`
	Images          int    `json:"images,omitempty"`
	ImagePixels     int64  `json:"image_pixels,omitempty"`
	ImageBytes      int64  `json:"image_bytes,omitempty"`
	// VertexCache says what the order of the triangles is worth.
	VertexCache VertexCache `json:"vertex_cache"`
}

// VertexCache holds means over all triangles for a FIFO cache of 16 vertices,
// before and after cooking: ACMR is vertices transformed per triangle, ATVR per
// vertex (1 is ideal). All 0 when unknown.
type VertexCache struct {
	ACMRBefore float64 `json:"acmr_before"`
	ACMRAfter  float64 `json:"acmr_after"`
	ATVRBefore float64 `json:"atvr_before"`
	ATVRAfter  float64 `json:"atvr_after"`
}

// Tile is one written tile.
type Tile struct {
	ID        string `json:"tile_id"`
	Path      string `json:"path"`
	Floor     *int   `json:"floor_id,omitempty"` // nil for grids
	NodeID    string `json:"node_id,omitempty"`
	Tier      string `json:"tier,omitempty"`
	Objects   int    `json:"objects"`
	Triangles int    `json:"triangles"`
	Bytes     int64  `json:"bytes"` // of the full payload
	// MemoryBytes is the estimated GPU memory of the full payload.
	MemoryBytes int64           `json:"memory_bytes"`
	Streaming   float64         `json:"streaming_radius"`
	Unload      float64         `json:"unload_radius"`
	Prefetch    float64         `json:"prefetch_radius,omitempty"` // 0: automatic
	Priority    int             `json:"priority"`
	Interior    bool            `json:"interior,omitempty"`
	Spanning    bool            `json:"spanning,omitempty"` // holds objects that cross its node's children
	Bounds      manifest.Bounds `json:"bounds"`
	Levels      []Level         `json:"levels"` // LODs from near to far, then the HLOD
}

// Level is a coarser representation of a tile.
type Level struct {
	Name      string   `json:"name"` // lod1, lod2, ..., hlod
	Path      string   `json:"path"`
	Triangles int      `json:"triangles"` // 0 when unknown
	Bytes     int64    `json:"bytes"`     // 0 when unknown or planned
	Error     *float64 `json:"geometric_error"`
	Switch    float64  `json:"switch_distance"` // metres: shown from here on
}

// Shared says what the shared bucket holds and costs: it is resident almost
// everywhere.
type Shared struct {
	Path        string          `json:"path"`
	Objects     int             `json:"objects"`
	Triangles   int             `json:"triangles"`
	Bytes       int64           `json:"bytes"`
	MemoryBytes int64           `json:"memory_bytes"`
	Streaming   *float64        `json:"streaming_radius"` // nil: infinite
	Unload      *float64        `json:"unload_radius"`    // nil: infinite
	Priority    int             `json:"priority"`
	Bounds      manifest.Bounds `json:"bounds"`
	// TriangleShare and ByteShare are parts of Totals.TileTriangles and
	// Totals.TileBytes, 0 to 1.
	TriangleShare float64 `json:"triangle_share"`
	ByteShare     float64 `json:"byte_share"`
}

// The values of Object.Place.
const (
	PlaceTiles  = "tiles"
	PlaceShared = "shared"
	PlaceNone   = "none"
)

// Object says where one object went, and why.
type Object struct {
	Name       string     `json:"name"`
	Triangles  int        `json:"triangles"`
	Dimensions [3]float64 `json:"dimensions"` // width, depth, height in metres
	Place      string     `json:"place"`      // one of the Place constants
	// Tiles names the tiles, at most MaxObjectTiles of them; TileCount counts
	// them all.
	Tiles     []string `json:"tiles"`
	TileCount int      `json:"tile_count"`
	Policy    string   `json:"policy,omitempty"` // force_local, force_shared; empty for none

	// Grids: the verdict by size, the cells under it, and its longest side in
	// tiles.
	Export   string   `json:"export,omitempty"`
	Overlap  int      `json:"xz_overlap_count,omitempty"`
	DimRatio float64  `json:"dim_ratio,omitempty"`
	Reasons  []string `json:"reasons"` // partition's words, such as width_threshold

	// Floors: the tier, what decided about it, and how sure that is.
	Tier       string  `json:"tier,omitempty"`
	TierSource string  `json:"tier_source,omitempty"`
	Confidence float64 `json:"tier_confidence,omitempty"`
	Floor      *int    `json:"floor_id,omitempty"`
	Spanning   bool    `json:"spanning,omitempty"` // it stays at an inner node
}

// MaxObjectTiles is how many tiles of one object are named.
const MaxObjectTiles = 8

// FloorReport says how the floors were found and what is on them.
type FloorReport struct {
	Method     string      `json:"method"`      // partition's word: none, given, outdoor, slabs, median, annotated
	BandHeight float64     `json:"band_height"` // metres; 0 without floors
	Slabs      []SlabLevel `json:"slabs"`       // found by method slabs, ascending
	Floors     []Floor     `json:"floors"`      // ascending by ID; empty for grids
}

// SlabLevel is a height at which slabs lie.
type SlabLevel struct {
	Top   float64 `json:"top"`  // metres above world zero
	Area  float64 `json:"area"` // square metres
	Count int     `json:"objects"`
}

// Floor counts what is on one floor.
type Floor struct {
	ID        int      `json:"floor_id"`
	Bottom    *float64 `json:"bottom"` // metres, of the content; nil without content
	Top       *float64 `json:"top"`
	Tiles     int      `json:"tiles"`
	Objects   int      `json:"objects"`
	Triangles int      `json:"triangles"`
	Bytes     int64    `json:"bytes"`
}

// TierCount counts what is in one semantic tier.
type TierCount struct {
	Tier      string  `json:"tier"`
	Tiles     int     `json:"tiles"`
	Objects   int     `json:"objects"`
	Triangles int     `json:"triangles"`
	Bytes     int64   `json:"bytes"`
	Streaming float64 `json:"streaming_radius"`
	Unload    float64 `json:"unload_radius"`
}

// The values of DroppedLevel.Stage.
const (
	StageBands    = "bands"    // no room between the radii
	StageGeometry = "geometry" // the level would not have paid
)

// DroppedLevel is a LOD or HLOD that was asked for and not made.
type DroppedLevel struct {
	Tile   string `json:"tile_id"` // empty: all tiles
	Level  string `json:"level"`   // lod1, lod2, ..., hlod
	Stage  string `json:"stage"`   // one of the Stage constants
	Reason string `json:"reason"`  // one line; equal reasons are counted together in the page
}

// Compat compares the cook with what --compat engine would have done.
type Compat struct {
	Ours   Side `json:"ours"`
	Engine Side `json:"engine"`
}

// Side is one half of a comparison.
type Side struct {
	Tiles           int     `json:"tiles"`
	Objects         int     `json:"objects"`            // placed, each once
	Assigned        int     `json:"objects_assigned"`   // counted once for every tile they go to
	Duplicated      int     `json:"duplicated_objects"` // written into several tiles; whole ones, or cut ones with ours
	SharedObjects   int     `json:"shared_objects"`
	SharedTriangles int     `json:"shared_triangles"`
	Floors          int     `json:"floors"`           // that hold a tile; 0 for grids
	StoredTriangles int     `json:"stored_triangles"` // of all tiles and the bucket
	MedianTriangles float64 `json:"median_triangles"` // per tile
	MaxTriangles    int     `json:"max_triangles"`    // per tile
	InteriorTiles   int     `json:"interior_tiles"`
}

// Note reports something that was left out, changed or suspicious, once per
// kind. Its fields are those of gltfscene.Note, so that one converts to the
// other.
type Note struct {
	Code    string `json:"code"`
	Count   int    `json:"count"`
	Message string `json:"message"`
	Where   string `json:"where,omitempty"`
	Warning bool   `json:"warning"`
}

// WriteJSON writes the whole report, indented, with an empty list where there
// is nothing. It fails when a number is not finite or w fails.
func (r *Report) WriteJSON(w io.Writer) error {
	c := *r
	c.Options, c.Tiles, c.Failed = list(c.Options), list(c.Tiles), list(c.Failed)
	c.Objects, c.Tiers, c.Dropped, c.Notes = list(c.Objects), list(c.Tiers), list(c.Dropped), list(c.Notes)
	c.Floors.Slabs, c.Floors.Floors = list(c.Floors.Slabs), list(c.Floors.Floors)
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(&c)
}

// list returns s, or an empty slice for nil, so that JSON shows [].
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
