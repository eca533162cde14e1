package budget

import "slices"

// Figure is a word of the vocabulary. A name means the same in all commands that
// have it.
type Figure struct {
	Name    string `json:"name"`
	Unit    Unit   `json:"unit"`
	Meaning string `json:"meaning"`
}

var vocabulary = slices.Concat(sceneFigures, foundFigures, runFigures, pictureFigures, benchFigures)

// Figures returns the vocabulary: of what was cooked, of what was found, of runs, of
// pictures, of measurements.
func Figures() []Figure { return slices.Clone(vocabulary) }

// Find returns the figure of a name.
func Find(name string) (Figure, bool) {
	i := slices.IndexFunc(vocabulary, func(f Figure) bool { return f.Name == name })
	if i < 0 {
		return Figure{}, false
	}
	return vocabulary[i], true
}

// UnitOf returns the unit of a figure; that of a name that is none is Ratio.
func UnitOf(name string) Unit {
	if f, ok := Find(name); ok {
		return f.Unit
	}
	return Ratio
}

// sceneFigures are of a cooked scene, by its manifest.
var sceneFigures = []Figure{
	{"tiles", Count, "tiles, without the shared bucket"},
	{"failed_tiles", Count, "tiles that could not be written"},
	{"tile_bytes_p50", Bytes, "file size of full tiles: half of them are no larger"},
	{"tile_bytes_p95", Bytes, "file size of full tiles: 95 % of them are no larger"},
	{"tile_bytes_max", Bytes, "file size of the largest full tile"},
	{"tile_bytes_total", Bytes, "file size of all full tiles, with the shared bucket"},
	{"triangles_per_tile_p50", Count, "triangles of full tiles: half of them have no more"},
	{"triangles_per_tile_p95", Count, "triangles of full tiles: 95 % of them have no more"},
	{"triangles_per_tile_max", Count, "triangles of the full tile that has most"},
	{"triangles_total", Count, "triangles of all full tiles, with the shared bucket"},
	{"objects_per_tile_p95", Count, "objects of full tiles: 95 % of them have no more"},
	{"objects_per_tile_max", Count, "objects of the full tile that has most"},
	{"tile_memory_p95", Bytes, "memory on the GPU that full tiles are estimated to take: 95 % of them take no more"},
	{"tile_memory_max", Bytes, "memory on the GPU that the tile with most is estimated to take"},
	{"shared_bytes", Bytes, "file size of the shared bucket"},
	{"shared_triangles", Count, "triangles of the shared bucket"},
	{"level_files", Count, "LODs and HLODs of tiles"},
	{"level_bytes_max", Bytes, "file size of the largest LOD or HLOD"},
	{"level_bytes_total", Bytes, "file size of all LODs and HLODs of tiles"},
	{"pyramid_files", Count, "nodes of the pyramid"},
	{"pyramid_bytes_total", Bytes, "file size of all nodes of the pyramid, without textures"},
	{"geometry_bytes_total", Bytes, "file size of all tiles, levels and nodes"},
	{"visual_error_px_p50", Pixels, "height of a level's visual error where it begins, at 60 degrees and 1080 lines: half of them are no higher"},
	{"visual_error_px_p95", Pixels, "height of a level's visual error where it begins: 95 % of them are no higher"},
	{"visual_error_px_max", Pixels, "height of a level's visual error where it begins: the highest"},
	{"pyramid_error_px_p50", Pixels, "height of a pyramid node's visual error from as far away as its box is long, at 60 degrees and 1080 lines: half of them are no higher"},
	{"pyramid_error_px_p95", Pixels, "height of a pyramid node's visual error from as far away as its box is long: 95 % of them are no higher"},
	{"pyramid_error_px_max", Pixels, "height of a pyramid node's visual error from as far away as its box is long: the highest"},
	{"unload_radius_max", Metres, "how far from a tile the camera is at most while it is wanted"},
}

// foundFigures count what a cook or a validation has to say.
var foundFigures = []Figure{
	{"texture_files", Count, "textures that the cook wrote"},
	{"texture_bytes_total", Bytes, "file size of the textures that the cook wrote"},
	{"texture_memory", Bytes, "what the cook's textures take on the GPU with all their levels"},
	{"gpu_bytes_at_most", Bytes, "geometry on the GPU that is wanted at a time, at most, from the middle of any tile"},
	{"dropped_levels", Count, "levels that were asked for and not made"},
	{"notes", Count, "kinds of notes of the cook, without warnings"},
	{"files", Count, "files that were judged"},
	{"errors", Count, "what went wrong: findings that are errors; in a preview loads, textures and pictures that failed"},
	{"warnings", Count, "findings that are warnings; of a cook, its kinds of warnings"},
	{"infos", Count, "findings that are neither errors nor warnings, of those that are listed"},
}

// runFigures are of the streaming runtime.
var runFigures = []Figure{
	{"frames", Count, "frames of the run"},
	{"update_ms_p50", Milliseconds, "time of one update: half of them take no longer"},
	{"update_ms_p99", Milliseconds, "time of one update: 99 % of them take no longer"},
	{"update_ms_max", Milliseconds, "time of the longest update"},
	{"bytes_requested", Bytes, "file sizes of all requests"},
	{"bytes_loaded", Bytes, "file sizes of the requests that succeeded"},
	{"peak_geometry_bytes", Bytes, "most geometry on the GPU at a time"},
	{"peak_texture_bytes", Bytes, "most textures on the GPU at a time"},
	{"loads", Count, "loads that were begun"},
	{"cancels", Count, "loads that were called off"},
	{"failures", Count, "loads that failed"},
	{"retries", Count, "loads that were tried again"},
	{"timeouts", Count, "loads that took too long"},
	{"evictions", Count, "tiles and meshes that had to make room"},
	{"undrawn", Count, "tile-frames in which what was drawn before, and is still wanted, shows nothing"},
	{"double_drawn", Count, "tile-frames with two representations that do not fade into each other"},
	{"uncovered", Share, "part of the tiles in view that show nothing when nothing is under way"},
	{"uncovered_budget", Share, "part of the tiles in view that show nothing, where the geometry budget does not reach"},
	{"representation_changes_per_tile_minute", Ratio, "changes of what is drawn for each minute that a tile is drawn"},
	{"time_to_full_p50", Seconds, "time from coming near a tile until it is drawn in full: half of the visits take no longer"},
	{"time_to_full_p95", Seconds, "time from coming near a tile until it is drawn in full: 95 % of the visits take no longer"},
	{"time_to_open", Seconds, "time until the manifest was there and read"},
	{"time_to_picture", Seconds, "time, from asking for the manifest, until all that is in view shows something"},
	{"time_to_8px", Seconds, "time until, besides, no error in view covers more than 8 pixels, nor a texel that could be smaller"},
	{"over_8px", Share, "part of the time from the first picture on in which an error, or a texel that could be smaller, covers more than 8 pixels"},
	{"stall_seconds", Seconds, "time in which the nearest tile is drawn below the detail that it wants"},
	{"mesh_loads", Count, "meshes that were loaded, of tiles that stream mesh by mesh"},
	{"mesh_unloads", Count, "meshes that were unloaded"},
	{"mesh_failures", Count, "meshes that failed"},
	{"mesh_evictions", Count, "meshes that had to make room"},
	{"lod_switches", Count, "switches of LOD groups"},
	{"peak_cpu_bytes", Bytes, "most main memory for meshes that wait for the GPU"},
	{"given_up", Count, "tile-frames that show nothing because the geometry budget does not reach so far"},
	{"geometry_reach_min", Metres, "shortest distance that the geometry budget reaches"},
	{"limited_memory", Share, "part of the frames in which geometry memory makes detail coarser"},
	{"limited_triangles", Share, "part of the frames in which the budget of triangles makes detail coarser"},
	{"error_px_p50", Pixels, "greatest error in view of a frame: half of the frames have no more"},
	{"error_px_p99", Pixels, "greatest error in view of a frame: 99 % of the frames have no more"},
	{"error_px_max", Pixels, "greatest error in view of the worst frame"},
	{"pyramid_nodes", Count, "most nodes of the pyramid drawn at a time"},
	{"pyramid_bytes_peak", Bytes, "most memory of nodes of the pyramid on the GPU"},
	{"pops", Count, "representations that came at once where another one was, in view"},
	{"view_triangles_p50", Count, "triangles of what is drawn in view, by the manifest: half of the frames have no more"},
	{"view_triangles_max", Count, "triangles of what is drawn in view, by the manifest, in the frame with most"},
	{"texture_loads", Count, "textures that came for the first time"},
	{"texture_upgrades", Count, "textures that became finer"},
	{"texture_downgrades", Count, "textures that became coarser"},
	{"texture_failures", Count, "textures that failed"},
	{"texture_sheds", Count, "entities that gave texture memory up"},
	{"texture_refusals", Count, "upgrades put off for lack of room"},
	{"texture_bytes_loaded", Bytes, "textures that were uploaded"},
	{"texture_bytes_read", Bytes, "what was read of files for that"},
	{"peak_texture_reserved", Bytes, "most memory kept free for textures under way"},
	{"textures_minimum", Count, "textures at their smallest size, at the end"},
	{"textures_medium", Count, "textures at a middle size, at the end"},
	{"textures_full", Count, "textures at full size, at the end"},
	{"textures_missing", Count, "textures that could not be loaded, at the end"},
}

// pictureFigures are of what is drawn.
var pictureFigures = []Figure{
	{"seconds", Seconds, "length of the run"},
	{"interval_ms_p50", Milliseconds, "time from frame to frame: half of them take no longer"},
	{"interval_ms_p99", Milliseconds, "time from frame to frame: 99 % of them take no longer"},
	{"interval_ms_max", Milliseconds, "longest time from frame to frame"},
	{"frame_ms_p50", Milliseconds, "time that a frame keeps the program busy: half of them take no longer"},
	{"frame_ms_p99", Milliseconds, "time that a frame keeps the program busy: 99 % of them take no longer"},
	{"frame_ms_max", Milliseconds, "longest time that a frame keeps the program busy"},
	{"gpu_ms_p50", Milliseconds, "time of the GPU for a frame: half of them take no longer; 0: unknown"},
	{"gpu_ms_p99", Milliseconds, "time of the GPU for a frame: 99 % of them take no longer; 0: unknown"},
	{"gpu_ms_max", Milliseconds, "longest time of the GPU for a frame; 0: unknown"},
	{"pace_p99", Ratio, "how many times as long as those around it a frame takes: 99 % of them take no longer"},
	{"hitches", Count, "frames that take more than twice as long as those around them"},
	{"cpu_ms_p50", Milliseconds, "processor time of a frame: half of them take no more"},
	{"cpu_ms_p99", Milliseconds, "processor time of a frame: 99 % of them take no more"},
	{"cpu_pace_p99", Ratio, "as pace_p99, of processor time"},
	{"upload_ms_max", Milliseconds, "time of uploads in one frame, at most"},
	{"work_p50", Count, "triangles of a frame with its shadow maps: half of them have no more"},
	{"work_p99", Count, "triangles of a frame with its shadow maps: 99 % of them have no more"},
	{"work_max", Count, "triangles of the frame with most, with its shadow maps"},
	{"shadow_triangles_max", Count, "most triangles of shadow maps in a frame, the first aside"},
	{"shadow_late_max", Count, "frames for which shadows were out of date, at most"},
	{"draws", Count, "meshes drawn in the last frame"},
	{"draws_max", Count, "most meshes drawn in a frame"},
	{"draw_calls", Count, "draw calls of the last frame"},
	{"draw_calls_max", Count, "most draw calls of a frame"},
	{"triangles", Count, "triangles of the last frame"},
	{"triangles_max", Count, "most triangles of a frame"},
	{"draws_mean", Ratio, "meshes drawn per frame"},
	{"draw_calls_mean", Ratio, "draw calls per frame"},
	{"draws_saved_mean", Ratio, "how many more draws per frame there would be without batches"},
	{"instanced_mean", Ratio, "draws per frame that are further instances"},
	{"batches", Count, "batches in the last frame"},
	{"batch_draws", Count, "batches in view in the last frame"},
	{"batched_meshes", Count, "meshes that the batches in view draw"},
	{"batch_bytes", Bytes, "memory of batches, at the end"},
	{"batch_bytes_max", Bytes, "most memory of batches"},
	{"pressure_signals", Count, "frames in which the system wanted memory back"},
	{"uploads", Count, "pieces that were uploaded"},
	{"upload_bytes", Bytes, "size of all that was uploaded"},
	{"resident_full", Count, "full tiles in memory, at the end"},
	{"resident_lod", Count, "LODs in memory, at the end"},
	{"resident_hlod", Count, "HLODs in memory, at the end"},
	{"geometry_bytes", Bytes, "geometry on the GPU, at the end"},
	{"texture_bytes", Bytes, "textures on the GPU, at the end"},
	{"texture_budget", Bytes, "what textures may take, 0 for no limit"},
	{"texture_storage_max", Bytes, "most memory of textures, that of layers without one included"},
	{"textures", Count, "textures on the GPU, at the end"},
	{"flip_mean", Ratio, "mean FLIP of the worst camera of --compare-whole, 0 to 1"},
	{"flip_p99", Ratio, "FLIP of the worst camera of --compare-whole: 99 % of the pixels have no more"},
	{"ssim_min", Ratio, "SSIM of the worst camera of --compare-whole, 1 for equal pictures"},
	{"pop_p99", Ratio, "mean FLIP of the switches of a frame (--pop-report): 99 % of the frames have no more"},
	{"pop_max", Ratio, "mean FLIP of the switches of the worst frame"},
	{"pop_changed_p99", Share, "part of the pixels that the switches of a frame change: 99 % of the frames have no more"},
	{"pop_changed_max", Share, "part of the pixels that the switches of the worst frame change"},
	{"not_uploaded", Count, "the renderer's part of undrawn"},
	{"gl_errors", Count, "errors of OpenGL (--debug-gl)"},
	{"gl_performance", Count, "messages of OpenGL about performance (--debug-gl)"},
	{"gl_performance_start", Count, "messages of OpenGL about performance before the first frame"},
}

// benchFigures are of measurements, as parts of an earlier one (bench --compare): 1 is as
// much, 2 twice as much.
var benchFigures = []Figure{
	{"cook_wall_ratio", Ratio, "median time of cooking into an empty folder, to that of --compare"},
	{"cook_cpu_ratio", Ratio, "median processor time of cooking into an empty folder, to that of --compare"},
	{"cook_memory_ratio", Ratio, "median peak memory of cooking into an empty folder, to that of --compare"},
	{"cook_again_wall_ratio", Ratio, "median time of cooking again without a change, to that of --compare"},
	{"cook_again_cpu_ratio", Ratio, "median processor time of cooking again without a change, to that of --compare"},
	{"cook_again_memory_ratio", Ratio, "median peak memory of cooking again without a change, to that of --compare"},
	{"open_manifest_wall_ratio", Ratio, "median time of reading the manifest, to that of --compare"},
	{"open_manifest_cpu_ratio", Ratio, "median processor time of reading the manifest, to that of --compare"},
	{"open_manifest_memory_ratio", Ratio, "median peak memory of reading the manifest, to that of --compare"},
	{"open_tile_wall_ratio", Ratio, "median time of loading the first tile, to that of --compare"},
	{"open_tile_cpu_ratio", Ratio, "median processor time of loading the first tile, to that of --compare"},
	{"open_tile_memory_ratio", Ratio, "median peak memory of loading the first tile, to that of --compare"},
	{"stream_wall_ratio", Ratio, "median time of loading all tiles, to that of --compare"},
	{"stream_cpu_ratio", Ratio, "median processor time of loading all tiles, to that of --compare"},
	{"stream_memory_ratio", Ratio, "median peak memory of loading all tiles, to that of --compare"},
	{"simulate_wall_ratio", Ratio, "median time of simulating the flight, to that of --compare"},
	{"simulate_cpu_ratio", Ratio, "median processor time of simulating the flight, to that of --compare"},
	{"simulate_memory_ratio", Ratio, "median peak memory of simulating the flight, to that of --compare"},
	{"cooked_bytes_ratio", Ratio, "size of the cooked files, to that of --compare"},
	{"flight_bytes_ratio", Ratio, "bytes that the flight loads, to those of --compare"},
}
