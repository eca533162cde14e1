package manifest

// AxisConvention names the axes; it is the same in every manifest.
type AxisConvention struct {
	Up        string `json:"up"`
	Forward   string `json:"forward"`
	TilePlane string `json:"tile_plane"`
}

// EngineAxes returns the axes of engine space, the only legal convention.
func EngineAxes() *AxisConvention {
	return &AxisConvention{Up: "+Y", Forward: "+Z", TilePlane: "XZ"}
}

// The kinds of Light and their light_type numbers.
const (
	LightDirectional = "directional" // 1
	LightPoint       = "point"       // 2
	LightSpot        = "spot"        // 3
	LightArea        = "area"        // 4
)

// lightKinds is indexed by light_type.
var lightKinds = [...]string{1: LightDirectional, LightPoint, LightSpot, LightArea}

// LightType returns the light_type number of a kind, 2 (point) for an unknown
// one.
func LightType(kind string) int {
	for i, k := range lightKinds {
		if k == kind && i > 0 {
			return i
		}
	}
	return 2
}

// Light is an authored light. The decoder fills absent keys with the engine's
// defaults, which DefaultLight returns.
type Light struct {
	Name      string     `json:"entity_name"`
	Kind      string     `json:"kind"`       // one of the Light constants
	Type      int        `json:"light_type"` // LightType(Kind)
	Color     [3]float64 `json:"color"`      // linear, 0 to 1
	Intensity float64    `json:"intensity"`
	Position  [3]float64 `json:"position"`
	Radius    float64    `json:"radius"`
	Range     float64    `json:"range"`     // metres; 0 = unlimited
	Direction [3]float64 `json:"direction"` // unit, the way the light travels
	Falloff   float64    `json:"falloff"`
	Right     [3]float64 `json:"right"`
	InnerCone float64    `json:"inner_cone"` // degrees, half angle
	Up        [3]float64 `json:"up"`
	OuterCone float64    `json:"outer_cone"` // degrees, half angle
	AreaSize  [2]float64 `json:"area_size"`  // metres
	// SourcePower and SourceExposure are what the intensity was computed from.
	SourcePower     float64 `json:"source_power"`
	SourceExposure  float64 `json:"source_exposure"`
	CastsShadow     bool    `json:"casts_shadow"`
	RadiometricUnit bool    `json:"uses_radiometric_units"`
	// LocalTransformRows is row-major, with the columns right, up, local +Z
	// (the opposite of Direction) and position.
	LocalTransformRows [4][4]float64 `json:"local_transform_rows"`
}

// DefaultLight returns a light of the given kind with the engine's defaults.
func DefaultLight(kind string) Light {
	l := Light{
		Kind: kind, Type: LightType(kind), Color: [3]float64{1, 1, 1}, Intensity: 1, Radius: 1,
		Direction: [3]float64{0, -1, 0}, Falloff: 0.5, Right: [3]float64{1, 0, 0}, InnerCone: 5,
		Up: [3]float64{0, 1, 0}, OuterCone: 10, AreaSize: [2]float64{1, 1}, SourcePower: 1,
		CastsShadow: kind == LightDirectional,
	}
	l.LocalTransformRows = l.TransformRows()
	return l
}

// TransformRows computes LocalTransformRows from the basis and the position.
func (l *Light) TransformRows() [4][4]float64 {
	back := [3]float64{-l.Direction[0], -l.Direction[1], -l.Direction[2]}
	return transformRows(l.Right, l.Up, back, l.Position)
}

// Camera is an authored camera. Right, Up and Forward form a mirrored basis,
// as the exporter writes it. The decoder fills absent keys with the engine's
// defaults, which DefaultCamera returns.
type Camera struct {
	Name        string     `json:"entity_name"`
	Position    [3]float64 `json:"position"`
	Forward     [3]float64 `json:"forward"` // view direction
	Up          [3]float64 `json:"up"`
	Right       [3]float64 `json:"right"`
	FovYDegrees float64    `json:"fov_y_degrees"`
	NearClip    float64    `json:"near_clip"` // metres, at least 0.001
	FarClip     float64    `json:"far_clip"`  // metres
	AspectRatio float64    `json:"aspect_ratio"`
	// LocalTransformRows is row-major, with the columns right, up, forward
	// and position.
	LocalTransformRows [4][4]float64 `json:"local_transform_rows"`
}

// DefaultCamera returns a camera with the engine's defaults.
func DefaultCamera() Camera {
	c := Camera{
		Forward: [3]float64{0, 0, 1}, Up: [3]float64{0, 1, 0}, Right: [3]float64{1, 0, 0},
		FovYDegrees: 50, NearClip: 0.1, FarClip: 1000, AspectRatio: 1.5,
	}
	c.LocalTransformRows = c.TransformRows()
	return c
}

// TransformRows computes LocalTransformRows from the basis and the position.
func (c *Camera) TransformRows() [4][4]float64 {
	return transformRows(c.Right, c.Up, c.Forward, c.Position)
}

// transformRows returns the rows of the matrix with the given columns.
func transformRows(x, y, z, p [3]float64) [4][4]float64 {
	var r [4][4]float64
	for i := range 3 {
		r[i] = [4]float64{x[i], y[i], z[i], p[i]}
	}
	r[3][3] = 1
	return r
}

// ColorLUT is the scene's colour table. A record that breaks a rule makes the
// engine refuse the whole scene; Validate checks them.
type ColorLUT struct {
	URI            string  `json:"lutUri"`  // from the manifest's folder, with slashes
	Size           int     `json:"lutSize"` // 2 to 64
	ViewTransform  string  `json:"viewTransform"`
	Look           string  `json:"look"`
	DisplayDevice  *string `json:"displayDevice"` // nil or exactly "sRGB"
	Exposure       float64 `json:"exposure"`
	Gamma          float64 `json:"gamma"`          // above 0
	ShaperMinStops float64 `json:"shaperMinStops"` // below the next
	ShaperMaxStops float64 `json:"shaperMaxStops"`
}

// GradeLUT is a colour table for the finished picture: display colours, encoded as
// sRGB, in and out.
type GradeLUT struct {
	URI string `json:"lutUri"` // of a .cube file, from the manifest's folder, with slashes
	// Size is that of the table: the edge of its lattice, 2 to 65, or how many entries
	// its curves have, 2 to 65,536.
	Size int `json:"lutSize"`
}

// ColorTables returns the paths of the files of ColorLUT and ColorGradeLUT, as the
// manifest has them. They come from outside; see package payloadpath.
func (m *Manifest) ColorTables() (out []string) {
	if m.ColorLUT != nil {
		out = append(out, m.ColorLUT.URI)
	}
	if m.ColorGradeLUT != nil {
		out = append(out, m.ColorGradeLUT.URI)
	}
	return out
}

// Profile is streaming_profile: which radii were chosen and why.
type Profile struct {
	Requested     string    `json:"requested"` // auto, indoor, outdoor
	Resolved      string    `json:"resolved"`  // indoor, outdoor
	SceneHalfDiag float64   `json:"scene_half_diag"`
	Overrides     TierRadii `json:"tier_radius_overrides"`
	Radii         TierRadii `json:"tier_radii"`
}

// TierRadii is a JSON object from tier to radii that keeps its order.
type TierRadii []TierRadius

// TierRadius holds the radii of one semantic tier, in metres.
type TierRadius struct {
	Tier      string
	Streaming float64
	Unload    float64
	Priority  *int // nil in an override that leaves it alone
}

// Classifications is a JSON object from object name to classification that
// keeps its order. Names of objects may repeat; then the first is written.
type Classifications []Classification

// Classification says where the grid put an object and why.
type Classification struct {
	Name           string
	ExportPolicy   string     // local_overlap, shared_bucket, future_split_candidate
	XZOverlapCount int        // cells overlapped in the horizontal plane
	Dimensions     [3]float64 // width, depth, height in metres
	DimRatio       float64    // longest horizontal side over the tile size
	Reasons        []string
}

// ClassificationConfig records the limits of the grid's classification.
type ClassificationConfig struct {
	SpanningThresholdTiles   float64 `json:"spanning_threshold_tiles"`
	OverlapThreshold         *int    `json:"overlap_threshold"` // nil: automatic
	FutureSplitTileThreshold float64 `json:"future_split_tile_threshold"`
}

// PartitionQualityConfig records how underfilled tiles were treated.
type PartitionQualityConfig struct {
	CollapseUnderfilled   bool `json:"collapse_underfilled_tile_tiers"`
	MinObjectsPerTileTier int  `json:"min_objects_per_tile_tier"`
	AppliesToPreannotated bool `json:"applies_to_preannotated_metadata"`
}

// HLODGeneration records the HLOD levels as configured and as resolved against
// the streaming defaults.
type HLODGeneration struct {
	Enabled  bool        `json:"enabled"`
	Levels   []HLODLevel `json:"levels"`
	Resolved []HLODLevel `json:"default_resolved_levels"`
}

// HLODLevel is one configured HLOD level. A distance of at most 1 is a
// fraction of the band, a larger one is metres.
type HLODLevel struct {
	Suffix         string  `json:"suffix"`
	ReductionRatio float64 `json:"reduction_ratio"`
	SwitchDistance float64 `json:"switch_distance"`
}

// LODGeneration records the LOD levels as configured and as resolved against
// the streaming defaults.
type LODGeneration struct {
	Enabled  bool       `json:"enabled"`
	Levels   []LODLevel `json:"levels"`
	Resolved []LODLevel `json:"default_resolved_levels"`
}

// LODLevel is one configured LOD level, finest first; distances as in
// HLODLevel.
type LODLevel struct {
	DecimateRatio  float64 `json:"decimate_ratio"`
	SwitchDistance float64 `json:"switch_distance"`
}

// DefaultHLODLevels returns the exporter's HLOD level: a tenth of the
// triangles, from the far end of the band.
func DefaultHLODLevels() []HLODLevel {
	return []HLODLevel{{Suffix: "_hlod", ReductionRatio: 0.1, SwitchDistance: 1}}
}

// DefaultLODLevels returns the exporter's two LOD levels.
func DefaultLODLevels() []LODLevel {
	return []LODLevel{{DecimateRatio: 0.5, SwitchDistance: 0.3}, {DecimateRatio: 0.2, SwitchDistance: 0.78}}
}
