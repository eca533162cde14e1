package stats

import (
	"github.com/untoldkit/untold/internal/budget"
	"github.com/untoldkit/untold/runtime/simulate"
)

// Report holds the figures of a run. Its JSON has these keys; those that are
// numbers can be asked for by Value. Times are measured on the wall, sizes are
// bytes.
type Report struct {
	Scene  string `json:"scene"`
	Device string `json:"device"` // what OpenGL says about itself
	View   string `json:"view"`   // at the end

	// Report has what is known of a run without a picture. Undrawn counts what
	// the renderer has not uploaded too.
	simulate.Report

	Seconds float64 `json:"seconds"` // of the clock: virtual with a fixed frame time

	// Intervals are the times from the moment in which a frame is handed over to
	// that of the next, see Frame.Interval: what is commonly called frame time.
	IntervalMSP50 float64 `json:"interval_ms_p50"`
	IntervalMSP99 float64 `json:"interval_ms_p99"`
	IntervalMSMax float64 `json:"interval_ms_max"`
	// FrameMS is what a frame keeps the program busy, without the time for which
	// the run waits to keep its pace.
	FrameMSP50 float64 `json:"frame_ms_p50"`
	FrameMSP99 float64 `json:"frame_ms_p99"`
	FrameMSMax float64 `json:"frame_ms_max"`
	// GPUMS is what the GPU takes for a frame, at the same time as the program goes on: the
	// slower of both says how many frames there can be. 0 where the driver cannot tell, as
	// where a processor draws.
	GPUMSP50 float64 `json:"gpu_ms_p50"`
	GPUMSP99 float64 `json:"gpu_ms_p99"`
	GPUMSMax float64 `json:"gpu_ms_max"`
	// Pace is how many times as long as the sixty frames around it a frame
	// takes; Hitches counts those that take more than twice as long. CPU times
	// are those of all threads, and are 0 where the system cannot tell.
	PaceP99    float64 `json:"pace_p99"`
	Hitches    int     `json:"hitches"`
	CPUMSP50   float64 `json:"cpu_ms_p50"`
	CPUMSP99   float64 `json:"cpu_ms_p99"`
	CPUPaceP99 float64 `json:"cpu_pace_p99"`

	UploadMSMax float64 `json:"upload_ms_max"` // of one frame

	// Triangles of a frame, those of shadow maps included: the same in every
	// run on a virtual clock, as times are not.
	WorkP50 float64 `json:"work_p50"`
	WorkP99 float64 `json:"work_p99"`
	WorkMax float64 `json:"work_max"`
	// ShadowMax is the most triangles of shadow maps in one frame, the first
	// aside; ShadowLateMax for how many frames the shadows of what came or went
	// were out of date.
	ShadowMax     int `json:"shadow_triangles_max"`
	ShadowLateMax int `json:"shadow_late_max"`

	Draws        int `json:"draws"` // meshes drawn in the last frame
	DrawsMax     int `json:"draws_max"`
	DrawCalls    int `json:"draw_calls"` // commands of the device for them, in the last frame
	DrawCallsMax int `json:"draw_calls_max"`
	Triangles    int `json:"triangles"` // in the last frame
	TrianglesMax int `json:"triangles_max"`

	BatchFigures

	Uploads     int   `json:"uploads"` // pieces
	UploadBytes int64 `json:"upload_bytes"`

	ResidentFull  int   `json:"resident_full"` // at the end, as all residency
	ResidentLOD   int   `json:"resident_lod"`
	ResidentHLOD  int   `json:"resident_hlod"`
	GeometryBytes int64 `json:"geometry_bytes"`
	TextureBytes  int64 `json:"texture_bytes"`
	TextureBudget int64 `json:"texture_budget"` // 0: no limit
	// TextureStorageMax is the most memory of textures: layers without one, and those
	// of textures on their way, count too.
	TextureStorageMax int64 `json:"texture_storage_max"`
	Textures          int   `json:"textures"`

	// CompareFigures say that there is no difference where nothing was compared.
	CompareFigures
	PopFigures

	// NotUploaded is the renderer's share of Undrawn.
	NotUploaded int `json:"not_uploaded"`
	// Errors counts what went wrong: failed loads, textures that are missing,
	// pictures that could not be written.
	Errors int `json:"errors"`

	// What the driver has said where it was asked to (render.Options.Debug), else
	// 0: errors, and messages about performance, those before the first frame
	// apart.
	GLErrors           int `json:"gl_errors"`
	GLPerformance      int `json:"gl_performance"`
	GLPerformanceStart int `json:"gl_performance_start"`

	// Worst are the frames that took longest, the longest first.
	Worst []Frame `json:"worst,omitempty"`
}

// ReportKeys returns the keys that are numbers, in their order.
func ReportKeys() []string {
	keys, _ := budget.Numbers(new(Report))
	return keys
}

// Value returns a number by its key.
func (r *Report) Value(key string) (float64, error) {
	flat := *r
	flat.Worst = nil // no number, and long
	return budget.Value(&flat, key)
}

// ParseCondition reads a condition on a number of a Report, such as undrawn>0.
func ParseCondition(s string) (simulate.Condition, error) { return budget.Parse(s, ReportKeys()) }

// BatchFigures are the keys of a Report about static batches and the memory
// that they are made of.
type BatchFigures struct {
	DrawsMean     float64 `json:"draws_mean"`      // meshes drawn per frame
	DrawCallsMean float64 `json:"draw_calls_mean"` // commands of the device per frame
	// DrawsSavedMean is how many more there would be without batches.
	DrawsSavedMean float64 `json:"draws_saved_mean"`
	// InstancedMean is how many of the draws of a frame are further instances
	// of another one.
	InstancedMean float64 `json:"instanced_mean"`
	Batches       int     `json:"batches"`        // in the last frame, as the next two
	BatchDraws    int     `json:"batch_draws"`    // in view
	BatchedMeshes int     `json:"batched_meshes"` // drawn by these
	BatchBytes    int64   `json:"batch_bytes"`    // at the end
	BatchBytesMax int64   `json:"batch_bytes_max"`
	// PressureSignals counts frames in which the system wanted memory back.
	PressureSignals int `json:"pressure_signals"`
}

// CompareFigures are those of the worst view of a preview.Comparison.
type CompareFigures struct {
	FLIPMean float64 `json:"flip_mean"` // the highest
	FLIPP99  float64 `json:"flip_p99"`  // the highest
	SSIMMin  float64 `json:"ssim_min"`  // the lowest
}

// CompareKeys returns the keys of CompareFigures, which only a comparison has.
func CompareKeys() []string { return []string{"flip_mean", "flip_p99", "ssim_min"} }

// PopFigures say how much the picture changes from before a frame's switches to
// after them. P99 is what 99 % of the frames with switches do not exceed.
type PopFigures struct {
	// Mean FLIP, the difference that people see, 0 to 1.
	PopP99 float64 `json:"pop_p99"`
	PopMax float64 `json:"pop_max"`
	// Shares of the pixels of which a channel changes by more than 32 of 255.
	PopChangedP99 float64 `json:"pop_changed_p99"`
	PopChangedMax float64 `json:"pop_changed_max"`
}

// PopKeys returns the keys of PopFigures, which only a run that looks for pops
// has.
func PopKeys() []string { return []string{"pop_p99", "pop_max", "pop_changed_p99", "pop_changed_max"} }
