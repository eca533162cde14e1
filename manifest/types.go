package manifest

import (
	"cmp"
	"strings"

	"github.com/untoldkit/untold/internal/geom"
)

// The values of Manifest.PartitioningMode. The reference engine goes by this
// string; the version number is only logged.
const (
	ModeUniformGrid   = "uniform_grid"
	ModeQuadtreeFloor = "quadtree_floor"
	ModeKDTreeFloor   = "kdtree_floor"
)

// The values of Manifest.Version that the exporter writes.
const (
	VersionGrid  = 3 // uniform grid
	VersionFloor = 4 // quadtree or kd-tree, with floors and tiers
)

// UnitsMetres is the value of Manifest.Units.
const UnitsMetres = "metres"

// DefaultPriority is the load priority that the exporter writes as default.
const DefaultPriority = 10

// GeneratorParity ends the generator of manifests that were cooked as the
// reference exporter does it, oddities included.
const GeneratorParity = " --compat engine"

// ours begins the generator of manifests of this program.
const ours = "untold"

// Parity reports whether the manifest was cooked as the reference exporter does
// it: what is odd about its distances is meant.
func (m *Manifest) Parity() bool { return strings.HasSuffix(m.Generator, GeneratorParity) }

// SharedTileID is the tile id of the shared bucket.
const SharedTileID = "shared"

// Manifest is a scene manifest. Pointers and empty strings stand for absent
// keys; the JSON names are in the tags. The struct is plain data; read it from
// several goroutines at will.
type Manifest struct {
	Version                int                     `json:"version"`           // 3 grid, 4 floors; required
	PartitioningMode       string                  `json:"partitioning_mode"` // one of the Mode constants
	DryRun                 bool                    `json:"dry_run"`           // planned only: no payload files exist, sizes are 0
	DebugAABBOnly          bool                    `json:"debug_aabb_only"`   // payloads are coloured boxes
	SourceSceneName        *string                 `json:"source_scene_name"` // file name of the source; nil when unknown
	PayloadDir             string                  `json:"payload_dir_relative_to_manifest"`
	AxisConvention         *AxisConvention         `json:"axis_convention,omitempty"`
	Generator              string                  `json:"generator,omitempty"`      // ours: program and version
	Units                  string                  `json:"units,omitempty"`          // ours: UnitsMetres
	TileSizeMode           string                  `json:"tile_size_mode,omitempty"` // auto or manual
	TileSize               *Vec3Size               `json:"tile_size,omitempty"`      // metres; the engine batches in cells of max(x, z)
	SceneBounds            *Bounds                 `json:"scene_bounds,omitempty"`
	OriginOffset           *[3]float64             `json:"origin_offset,omitempty"`  // ours: metres that were taken off the source's coordinates; nil: none
	ContentBounds          *Bounds                 `json:"content_bounds,omitempty"` // ours: where most of the triangles are; nil: everywhere
	Textures               []Texture               `json:"textures,omitempty"`       // ours: how large textures are in the world; none: sizes go by radii
	SceneLights            []Light                 `json:"scene_lights"`
	SceneCameras           []Camera                `json:"scene_cameras"`
	ColorLUT               *ColorLUT               `json:"colorLUT"`
	ColorGradeLUT          *GradeLUT               `json:"colorGradeLUT,omitempty"` // ours: how the picture is graded; nil: not
	StreamingProfile       *Profile                `json:"streaming_profile,omitempty"`
	StreamingDefaults      StreamingDefaults       `json:"streaming_defaults"` // required
	ClassificationConfig   *ClassificationConfig   `json:"classification_config,omitempty"`
	PartitionQualityConfig *PartitionQualityConfig `json:"partition_quality_config,omitempty"`
	HLODGeneration         *HLODGeneration         `json:"hlod_generation,omitempty"`
	LODGeneration          *LODGeneration          `json:"lod_generation,omitempty"`
	ObjectClassification   Classifications         `json:"object_classification,omitempty"` // grid only
	SharedBucket           *SharedBucket           `json:"shared_bucket"`
	FailedTiles            []FailedTile            `json:"failed_tiles"`
	Tiles                  []Tile                  `json:"tiles"`                   // required, may be empty
	InteriorZone           *Bounds                 `json:"interior_zone,omitempty"` // floors only: hull of the exterior shell
	Pyramid                *Pyramid                `json:"pyramid,omitempty"`       // ours: merged HLODs above the tiles; nil: none
}

// HasFloors reports whether the partitioning mode is one of the two that
// switch the engine's floor logic on.
func (m *Manifest) HasFloors() bool {
	return m.PartitioningMode == ModeQuadtreeFloor || m.PartitioningMode == ModeKDTreeFloor
}

// Tile is one entry of Manifest.Tiles: a file with the full geometry of a part
// of the scene, and the files of its coarser levels.
type Tile struct {
	ID             string  `json:"tile_id"`                    // required, unique
	GridCoord      *[3]int `json:"grid_coord,omitempty"`       // grid: tx, ty, tz; tz counts along -Z
	FloorID        *int    `json:"floor_id,omitempty"`         // floors: 0 = ground
	QuadtreeNodeID string  `json:"quadtree_node_id,omitempty"` // floors, also for the kd-tree
	SemanticTier   string  `json:"semantic_tier,omitempty"`    // floors: one of the Tier constants
	// Path of the payload from the manifest's folder, with slashes; required.
	// It comes from outside: go through package payloadpath.
	Path            string   `json:"path_relative_to_manifest"`
	StreamingRadius *float64 `json:"streaming_radius,omitempty"` // metres; nil: the default
	UnloadRadius    *float64 `json:"unload_radius,omitempty"`    // metres; nil: the default
	PrefetchRadius  *float64 `json:"prefetch_radius,omitempty"`  // metres; nil: the default, then automatic
	Priority        *int     `json:"priority,omitempty"`         // higher loads first; nil: the default
	// Only the first HLOD level is used at run time.
	HLODLevels []Level `json:"hlod_levels"`
	LODLevels  []Level `json:"lod_levels,omitempty"` // ascending by distance
	Interior   bool    `json:"interior,omitempty"`   // wanted only inside the interior zone
	// Size of the payload; required. 0 in a dry run.
	FileSizeBytes        int64  `json:"file_size_bytes"`
	EstimatedMemoryBytes *int64 `json:"estimated_memory_bytes,omitempty"`
	SHA256               string `json:"sha256,omitempty"`         // ours: of the payload file, lower-case hex
	TriangleCount        int    `json:"triangle_count,omitempty"` // ours: of the payload, 0 when unknown
	// Bounds of the content; required. The runtime measures distances to it.
	Bounds Bounds `json:"bounds"`
	// CellBounds is the grid cell or node rectangle; in grids a key of ours.
	CellBounds                    *Bounds    `json:"cell_bounds,omitempty"`
	SecondaryRepresentationPolicy string     `json:"secondary_representation_policy,omitempty"`
	Center                        [3]float64 `json:"center"` // middle of Bounds; required
	ObjectCount                   *int       `json:"object_count,omitempty"`
	Objects                       []string   `json:"objects,omitempty"` // grid: names of the objects
}

// Level is one coarser representation of a tile: an hlod_levels or lod_levels
// entry.
type Level struct {
	Path           string   `json:"path"`                      // required, as Tile.Path
	SwitchDistance float64  `json:"switch_distance"`           // metres: shown from here on; required
	FileSizeBytes  int64    `json:"file_size_bytes,omitempty"` // ours: 0 when unknown or a dry run
	SHA256         string   `json:"sha256,omitempty"`          // ours
	TriangleCount  int      `json:"triangle_count,omitempty"`  // ours: 0 when unknown
	GeometryBytes  int64    `json:"geometry_bytes,omitempty"`  // ours: of its vertices and indices on the GPU, 0 when unknown
	GeometricError *float64 `json:"geometric_error,omitempty"` // ours: greatest distance from the full geometry, metres
	VisualError    *float64 `json:"visual_error,omitempty"`    // ours: size of what is seen of the difference, metres
}

// GPUBytes returns how many bytes a level may be expected to take on the GPU: those of its
// geometry, or where they are not known those of its file, which may be compressed. It is 0
// where neither is known, and never negative.
func (l *Level) GPUBytes() int64 { return gpuBytes(l.GeometryBytes, l.FileSizeBytes) }

func gpuBytes(geometry, file int64) int64 { return cmp.Or(max(0, geometry), max(0, file)) }

// SharedBucket holds the geometry that spans many tiles. It is streamed like a
// tile, but its levels are ignored and missing radii mean infinity.
type SharedBucket struct {
	Tile
	ExportPolicy string         `json:"export_policy,omitempty"` // shared_bucket
	Members      []BucketObject `json:"objects"`                 // takes the place of Tile.Objects
}

// BucketObject is one object of the shared bucket. With floors only the name
// is written.
type BucketObject struct {
	Name           string      `json:"name"`
	ExportPolicy   string      `json:"export_policy,omitempty"`
	XZOverlapCount *int        `json:"xz_overlap_count,omitempty"`
	Dimensions     *[3]float64 `json:"dimensions,omitempty"` // width, depth, height in metres
	Reasons        []string    `json:"reasons,omitempty"`
}

// Texture says how large a texture is in the world, from which it follows what
// size of it a picture shows.
type Texture struct {
	URI string `json:"uri"` // as the payloads name it, relative to their folder
	// UVPerMetre is which part of the texture's longest edge lies on a metre where
	// it is stretched most, at least 0; 0 where surfaces take single texels, as of a
	// palette.
	UVPerMetre float64 `json:"uv_per_metre"`
}

// FailedTile is a tile that could not be written.
type FailedTile struct {
	ID                   string  `json:"tile_id"`
	GridCoord            *[3]int `json:"grid_coord,omitempty"`
	QuadtreeNodeID       string  `json:"quadtree_node_id,omitempty"`
	SemanticTier         string  `json:"semantic_tier,omitempty"`
	FloorID              *int    `json:"floor_id,omitempty"`
	Path                 string  `json:"path_relative_to_manifest"`
	Error                string  `json:"error"`
	CandidateObjectCount int     `json:"candidate_object_count"`
}

// Bounds is an axis-aligned box in metres.
type Bounds struct {
	Min [3]float64 `json:"min"`
	Max [3]float64 `json:"max"`
}

// BoundsOf converts a box.
func BoundsOf(b geom.Box) Bounds { return Bounds{Min: b.Min, Max: b.Max} }

// Box converts to a geom.Box.
func (b Bounds) Box() geom.Box { return geom.Box{Min: b.Min, Max: b.Max} }

// Center returns the middle.
func (b Bounds) Center() [3]float64 {
	var c [3]float64
	for i := range c {
		// Halves first: the sum of two large coordinates may overflow.
		c[i] = float64(b.Min[i]*0.5) + float64(b.Max[i]*0.5)
	}
	return c
}

// Vec3Size is tile_size, which must be an object, not an array.
type Vec3Size struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	Z float64 `json:"z"`
}

// StreamingDefaults holds what tiles fall back to.
type StreamingDefaults struct {
	StreamingRadius float64 `json:"streaming_radius"` // metres; required
	UnloadRadius    float64 `json:"unload_radius"`    // metres; required
	Priority        int     `json:"priority"`         // required
	// PrefetchRadius also applies to the shared bucket, without clamping: give
	// the bucket its own when it is set. Nil: automatic.
	PrefetchRadius *float64 `json:"prefetch_radius,omitempty"`
}

// Payloads lists the paths of all container files that the manifest names, as
// it names them: tiles in their order, each followed by its HLOD and LOD
// levels, then the shared bucket, then the pyramid. The paths come from outside; see package
// payloadpath.
func (m *Manifest) Payloads() []string {
	var out []string
	add := func(t *Tile) {
		out = append(out, t.Path)
		for _, levels := range [][]Level{t.HLODLevels, t.LODLevels} {
			for i := range levels {
				out = append(out, levels[i].Path)
			}
		}
	}
	for i := range m.Tiles {
		add(&m.Tiles[i])
	}
	if m.SharedBucket != nil {
		add(&m.SharedBucket.Tile)
	}
	if m.Pyramid != nil {
		for i := range m.Pyramid.Nodes {
			out = append(out, m.Pyramid.Nodes[i].Path)
		}
	}
	return out
}
