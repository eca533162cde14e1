package simulate

import "github.com/untoldkit/untold/internal/budget"

// Report holds the figures of a run. Its JSON has exactly these keys, in this
// order. Update times are measured and differ from run to run; all else is the
// same for the same scenario.
type Report struct {
	Frames      int     `json:"frames"`
	UpdateMSP50 float64 `json:"update_ms_p50"` // wall clock of one Update, milliseconds
	UpdateMSP99 float64 `json:"update_ms_p99"`
	UpdateMSMax float64 `json:"update_ms_max"`

	BytesRequested    int64 `json:"bytes_requested"` // declared file sizes of all requests
	BytesLoaded       int64 `json:"bytes_loaded"`    // of those that succeeded
	PeakGeometryBytes int64 `json:"peak_geometry_bytes"`
	PeakTextureBytes  int64 `json:"peak_texture_bytes"` // use by others included

	Loads     int `json:"loads"`     // begun, of all representations
	Cancels   int `json:"cancels"`   // tile.cancel
	Failures  int `json:"failures"`  // *.failed of representations
	Retries   int `json:"retries"`   // tile.retry
	Timeouts  int `json:"timeouts"`  // tile.timeout
	Evictions int `json:"evictions"` // evict.tile and evict.lru

	// Undrawn counts tile-frames in which a tile that was drawn before and
	// still wants a representation shows none.
	Undrawn int `json:"undrawn"`
	// DoubleDrawn counts tile-frames with more than one representation, but
	// for two that fade into each other.
	DoubleDrawn int `json:"double_drawn"`
	// Uncovered is the part of the tiles in view, larger than two pixels of 1080
	// lines, that show nothing: over all frames in which nothing that is wanted is
	// under way or waits, and the last one. Tiles that the floor or the interior
	// gate keeps out do not count. UncoveredBudget is the share of those that lie
	// farther away than the geometry budget reaches.
	Uncovered       float64 `json:"uncovered"`
	UncoveredBudget float64 `json:"uncovered_budget"`
	// RepresentationChangesPerTileMinute is the number of changes of what is
	// drawn for each minute that a tile is drawn.
	RepresentationChangesPerTileMinute float64 `json:"representation_changes_per_tile_minute"`
	// TimeToFull is the time in seconds from when the camera comes within a
	// tile's streaming radius until its full geometry is drawn; visits that
	// end before do not count.
	TimeToFullP50 float64 `json:"time_to_full_p50"`
	TimeToFullP95 float64 `json:"time_to_full_p95"`
	// TimeToOpen is the time in seconds that the manifest took. TimeToPicture is that until
	// all tiles in view, larger than two pixels, show something; TimeTo8PX is that until,
	// besides, no error in view covers more than 8 pixels, nor any texel of colours and
	// normals that could be finer. Where that never was, it is the run's length. Both count
	// from when the manifest was asked for.
	TimeToOpen    float64 `json:"time_to_open"`
	TimeToPicture float64 `json:"time_to_picture"`
	TimeTo8PX     float64 `json:"time_to_8px"`
	// Over8PX is in how much of the time from the first picture on, looked at ten times a
	// second, an error or such a texel covers more than 8 pixels. It is 1 without a picture.
	Over8PX float64 `json:"over_8px"`
	// StallSeconds is the time in which the nearest tile is drawn below the
	// detail that it wants at its distance.
	StallSeconds float64 `json:"stall_seconds"`

	// Of tiles that stream mesh by mesh.
	MeshLoads     int   `json:"mesh_loads"`     // mesh.load
	MeshUnloads   int   `json:"mesh_unloads"`   // mesh.unload
	MeshFailures  int   `json:"mesh_failures"`  // mesh.failed
	MeshEvictions int   `json:"mesh_evictions"` // evict.lru, also among evictions
	LODSwitches   int   `json:"lod_switches"`   // of LOD groups
	PeakCPUBytes  int64 `json:"peak_cpu_bytes"` // of main memory, for meshes to be uploaded from

	// GivenUp counts the tile-frames that would be undrawn if they did not lie
	// farther away than the geometry budget reaches: not even the cheapest
	// representations up to there fit into it. A tile that is drawn again within
	// 3 s was undrawn all the same. GeometryReachMin is the shortest
	// such distance of the run in metres, the query radius without shortage.
	GivenUp          int     `json:"given_up"`
	GeometryReachMin float64 `json:"geometry_reach_min"`

	// LimitedMemory and LimitedTriangles are the parts of the frames in which one of these
	// budgets, the one that asks for more, makes detail coarser.
	LimitedMemory    float64 `json:"limited_memory"`
	LimitedTriangles float64 `json:"limited_triangles"`

	// ErrorPX is how many pixels of pictureHeight lines the greatest error covers of
	// all that is drawn in a frame and in view: what half of the frames, 99 % of them
	// and none exceed. Levels have the visual error of the manifest, else the
	// geometric one, at the distance of their tile's box, nodes of the pyramid their
	// visual error at that of the nearest child for which they are drawn; full tiles
	// and levels without errors have none. It is at most pictureHeight.
	ErrorPXP50 float64 `json:"error_px_p50"`
	ErrorPXP99 float64 `json:"error_px_p99"`
	ErrorPXMax float64 `json:"error_px_max"`
	// PyramidNodes is how many nodes of the pyramid were drawn at once at most,
	// PyramidBytesPeak what their geometry took on the device at most.
	PyramidNodes     int   `json:"pyramid_nodes"`
	PyramidBytesPeak int64 `json:"pyramid_bytes_peak"`
	// Pops counts what has come at once where something else was, in view: in one
	// frame a place shows one representation alone, in the next another one alone. A
	// node that comes to several places counts once.
	Pops int `json:"pops"`
	// ViewTriangles are those that the manifest lets expect of what is drawn in a frame
	// and in view: all of a tile whose box is, of a node the same part as of its children.
	// Half of the frames have no more than the first, none more than the second. The shared
	// bucket does not count.
	ViewTrianglesP50 int `json:"view_triangles_p50"`
	ViewTrianglesMax int `json:"view_triangles_max"`

	// Of textures.
	TextureLoads        int   `json:"texture_loads"`         // that came for the first time, tex.load
	TextureUpgrades     int   `json:"texture_upgrades"`      // tex.upgrade
	TextureDowngrades   int   `json:"texture_downgrades"`    // tex.downgrade
	TextureFailures     int   `json:"texture_failures"`      // tex.fail and tex.missing, but for files of a scene at an address that have not come
	TextureSheds        int   `json:"texture_sheds"`         // entities that gave memory up
	TextureRefusals     int   `json:"texture_refusals"`      // upgrades put off for lack of room
	TextureBytesLoaded  int64 `json:"texture_bytes_loaded"`  // of all that was uploaded
	TextureBytesRead    int64 `json:"texture_bytes_read"`    // of files that this took, each level and each image once
	PeakTextureReserved int64 `json:"peak_texture_reserved"` // bytes kept free for loads under way
	// At the end, by tier: textures on the device, and those that could not be
	// loaded.
	TexturesMinimum int `json:"textures_minimum"`
	TexturesMedium  int `json:"textures_medium"`
	TexturesFull    int `json:"textures_full"`
	TexturesMissing int `json:"textures_missing"`
}

// Then returns the figures of two runs, one after the other: sums of what is
// counted, the larger of peaks, shares of the view and times of updates, and the second's of what is
// so at the end. Quantiles and rates are those of the longer run, times to a picture the first's.
func (r *Report) Then(next *Report) Report {
	out, other := *next, r
	if r.Frames > next.Frames {
		out, other = *r, next
		out.TexturesMinimum, out.TexturesMedium, out.TexturesFull, out.TexturesMissing = next.TexturesMinimum, next.TexturesMedium, next.TexturesFull, next.TexturesMissing
	}
	if other.Frames == 0 {
		return out
	}
	out.Frames += other.Frames
	out.UpdateMSMax = max(out.UpdateMSMax, other.UpdateMSMax)
	out.BytesRequested += other.BytesRequested
	out.BytesLoaded += other.BytesLoaded
	out.PeakGeometryBytes = max(out.PeakGeometryBytes, other.PeakGeometryBytes)
	out.PeakTextureBytes = max(out.PeakTextureBytes, other.PeakTextureBytes)
	out.PeakCPUBytes = max(out.PeakCPUBytes, other.PeakCPUBytes)
	out.PeakTextureReserved = max(out.PeakTextureReserved, other.PeakTextureReserved)
	out.TimeToOpen, out.TimeToPicture, out.TimeTo8PX = r.TimeToOpen, r.TimeToPicture, r.TimeTo8PX
	out.Over8PX = max(out.Over8PX, other.Over8PX)
	out.GeometryReachMin = min(out.GeometryReachMin, other.GeometryReachMin)
	out.ErrorPXMax = max(out.ErrorPXMax, other.ErrorPXMax)
	out.ViewTrianglesMax = max(out.ViewTrianglesMax, other.ViewTrianglesMax)
	out.PyramidNodes = max(out.PyramidNodes, other.PyramidNodes)
	out.PyramidBytesPeak = max(out.PyramidBytesPeak, other.PyramidBytesPeak)
	out.StallSeconds += other.StallSeconds
	out.Uncovered = max(out.Uncovered, other.Uncovered)
	out.UncoveredBudget = max(out.UncoveredBudget, other.UncoveredBudget)
	out.LimitedMemory = max(out.LimitedMemory, other.LimitedMemory)
	out.LimitedTriangles = max(out.LimitedTriangles, other.LimitedTriangles)
	out.TextureBytesLoaded += other.TextureBytesLoaded
	out.TextureBytesRead += other.TextureBytesRead
	for _, f := range [...]struct {
		sum *int
		add int
	}{
		{&out.Loads, other.Loads},
		{&out.Cancels, other.Cancels},
		{&out.Failures, other.Failures},
		{&out.Retries, other.Retries},
		{&out.Timeouts, other.Timeouts},
		{&out.Evictions, other.Evictions},
		{&out.Undrawn, other.Undrawn},
		{&out.DoubleDrawn, other.DoubleDrawn},
		{&out.MeshLoads, other.MeshLoads},
		{&out.MeshUnloads, other.MeshUnloads},
		{&out.MeshFailures, other.MeshFailures},
		{&out.MeshEvictions, other.MeshEvictions},
		{&out.LODSwitches, other.LODSwitches},
		{&out.GivenUp, other.GivenUp},
		{&out.Pops, other.Pops},
		{&out.TextureLoads, other.TextureLoads},
		{&out.TextureUpgrades, other.TextureUpgrades},
		{&out.TextureDowngrades, other.TextureDowngrades},
		{&out.TextureFailures, other.TextureFailures},
		{&out.TextureSheds, other.TextureSheds},
		{&out.TextureRefusals, other.TextureRefusals},
	} {
		*f.sum += f.add
	}
	return out
}

// ReportKeys returns the keys of a report in their order.
func ReportKeys() []string {
	keys, _ := budget.Numbers(new(Report))
	return keys
}

// Value returns a figure by its key.
func (r *Report) Value(key string) (float64, error) { return budget.Value(r, key) }

// quantile returns the smallest value that is not below the given part of a
// sorted list; 0 of an empty one.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	// The nearest-rank definition, in whole numbers to stay exact.
	rank := (int(q*1000)*len(sorted) + 999) / 1000
	return sorted[max(rank, 1)-1]
}
