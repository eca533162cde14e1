package preview

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/untoldkit/untold/internal/editdist"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/runtime"
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
	DrawCalls    int `json:"draw_calls"` // in the last frame
	Triangles    int `json:"triangles"`  // in the last frame
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
	Textures      int   `json:"textures"`

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

// pairs lists the numbers of a report, by way of its JSON so that names stand
// once.
func (r *Report) pairs() (keys []string, values []float64) {
	flat := *r
	flat.Worst = nil // not a number
	// Such a struct always has an encoding.
	data, _ := json.Marshal(&flat)
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.UseNumber()
	key := ""
	for {
		t, err := dec.Token()
		if err != nil {
			return keys, values
		}
		switch v := t.(type) {
		case json.Number:
			f, _ := v.Float64()
			keys, values = append(keys, key), append(values, f)
		case string:
			key = v // the text of a text is overwritten by the next key
		}
	}
}

// ReportKeys returns the keys that are numbers, in their order.
func ReportKeys() []string {
	keys, _ := new(Report).pairs()
	return keys
}

// Value returns a number by its key.
func (r *Report) Value(key string) (float64, error) {
	keys, values := r.pairs()
	if i := slices.Index(keys, key); i >= 0 {
		return values[i], nil
	}
	best, hint := 4, "the keys are "+strings.Join(keys, ", ")
	for _, k := range keys {
		if d := editdist.Distance(key, k); d < best {
			best, hint = d, fmt.Sprintf("did you mean %q?", k)
		}
	}
	return 0, fmt.Errorf("the report has no key %q; %s", key, hint)
}

// ParseCondition reads a condition on a number of a Report, such as undrawn>0.
func ParseCondition(s string) (simulate.Condition, error) {
	return simulate.ParseConditionOn(s, new(Report))
}

// meter works out a report.
type meter struct {
	frames         []float32 // milliseconds
	intervals, cpu []float32 // milliseconds
	work           []float32 // triangles, shadows included
	worst          worst
	collections    collections
	out            Report
	closed         simulate.Report // of Streamers that are closed
	batches        batchMeter
}

// timed adds a frame that is done.
func (m *meter) timed(f *Frame) {
	m.frames = append(m.frames, float32(f.MS))
	m.intervals = append(m.intervals, float32(f.Interval))
	m.cpu = append(m.cpu, float32(f.CPU))
	m.work = append(m.work, float32(f.Triangles+f.ShadowTriangles))
	m.out.ShadowMax = max(m.out.ShadowMax, f.ShadowTriangles)
	m.worst.add(f)
}

// frame adds a frame: what the renderer did.
func (m *meter) frame(st *render.Stats) {
	o := &m.out
	o.Draws, o.DrawCalls, o.Triangles = st.Draws, st.Calls, st.Triangles
	o.DrawsMax, o.TrianglesMax = max(o.DrawsMax, st.Draws), max(o.TrianglesMax, st.Triangles)
	o.ShadowLateMax = max(o.ShadowLateMax, st.ShadowLate)
	o.Uploads += st.UploadPieces
	o.UploadBytes += st.UploadBytes
	o.UploadMSMax = max(o.UploadMSMax, st.UploadTime.Seconds()*1000)
	o.NotUploaded += st.NotResident
	m.batches.frame(&o.BatchFigures, st)
	o.GLErrors, o.GLPerformance, o.GLPerformanceStart = st.GLErrors, st.GLPerformance, st.GLPerformanceStart
	o.TextureBytes, o.TextureBudget, o.Textures = st.TextureBytes, st.TextureBudget, st.Textures
}

// report sums up; all is what was measured without the picture, st of the present
// Streamer.
func (m *meter) report(all *simulate.Report, st runtime.Stats, errs int) *Report {
	o := m.out
	o.Report = *all
	o.Undrawn += o.NotUploaded
	quantiles := func(list []float32, p50, p99, most *float64) {
		if len(list) == 0 {
			return
		}
		slices.Sort(list)
		n := len(list)
		*p50, *p99, *most = float64(list[(n*50+99)/100-1]), float64(list[(n*99+99)/100-1]), float64(list[n-1])
	}
	var none float64
	pace := paces(m.frames)
	o.Hitches = hitches(pace)
	quantiles(pace, &none, &o.PaceP99, &none)
	quantiles(paces(m.cpu), &none, &o.CPUPaceP99, &none)
	quantiles(m.cpu, &o.CPUMSP50, &o.CPUMSP99, &none)
	quantiles(m.frames, &o.FrameMSP50, &o.FrameMSP99, &o.FrameMSMax)
	quantiles(m.intervals, &o.IntervalMSP50, &o.IntervalMSP99, &o.IntervalMSMax)
	quantiles(m.work, &o.WorkP50, &o.WorkP99, &o.WorkMax)
	o.Worst = m.worst.list
	o.ResidentFull, o.ResidentLOD, o.ResidentHLOD = st.ResidentFull, st.ResidentLOD, st.ResidentHLOD
	o.GeometryBytes = st.GeometryBytes
	o.Errors = errs + o.Failures + o.TexturesMissing
	return &o
}
