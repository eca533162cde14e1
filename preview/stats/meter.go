// Package stats measures a run of the preview: what each frame took, and the
// report that is made of all of them. It draws nothing and drives nothing; it
// is told of frames and of what the renderer says about them.
package stats

import (
	"slices"
	"time"

	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/simulate"
)

// meanFrames is how many frames the mean of Meter.Mean goes back, roughly;
// keptTimes how many the graph of frame times shows.
const (
	meanFrames = 16
	keptTimes  = 120
)

// Meter owns the figures of a run and works out its Report. The zero value is
// ready. It belongs to one goroutine.
type Meter struct {
	frames         []float32 // milliseconds
	intervals, cpu []float32 // milliseconds
	gpu            []float32 // milliseconds, of the frames of which it is known
	work           []float32 // triangles, shadows included
	mean           time.Duration
	recent         []time.Duration
	worst          worst
	collections    collections
	out            Report
	closed         simulate.Report // of scenes that are closed

	// Sums over the frames that were drawn, for means.
	drawn, draws, calls, saved, instanced int64
}

// Busy notes for how long a frame kept the program busy.
func (m *Meter) Busy(d time.Duration) {
	m.mean += (d - m.mean) / meanFrames
	if len(m.recent) == keptTimes {
		m.recent = slices.Delete(m.recent, 0, 1)
	}
	m.recent = append(m.recent, d)
}

// Mean returns what frames take, as a sliding mean.
func (m *Meter) Mean() time.Duration { return m.mean }

// Recent returns what the latest frames took, the latest last.
func (m *Meter) Recent() []time.Duration { return m.recent }

// Collections returns how many garbage collections ended since the last call.
func (m *Meter) Collections() int { return m.collections.since() }

// PressureSignal counts a frame in which the system wanted memory back.
func (m *Meter) PressureSignal() { m.out.PressureSignals++ }

// Timed adds a frame that is done.
func (m *Meter) Timed(f *Frame) {
	m.frames = append(m.frames, float32(f.MS))
	m.intervals = append(m.intervals, float32(f.Interval))
	m.cpu = append(m.cpu, float32(f.CPU))
	if f.GPU > 0 {
		m.gpu = append(m.gpu, float32(f.GPU))
	}
	m.work = append(m.work, float32(f.Triangles+f.ShadowTriangles))
	m.out.ShadowMax = max(m.out.ShadowMax, f.ShadowTriangles)
	m.worst.add(f)
}

// Drew adds what the renderer did for a frame.
func (m *Meter) Drew(st *render.Stats) {
	o := &m.out
	o.Draws, o.DrawCalls, o.Triangles = st.Draws, st.Calls, st.Triangles
	o.DrawsMax, o.DrawCallsMax, o.TrianglesMax = max(o.DrawsMax, st.Draws), max(o.DrawCallsMax, st.Calls), max(o.TrianglesMax, st.Triangles)
	o.ShadowLateMax = max(o.ShadowLateMax, st.ShadowLate)
	o.Uploads += st.UploadPieces
	o.UploadBytes += st.UploadBytes
	o.UploadMSMax = max(o.UploadMSMax, st.UploadTime.Seconds()*1000)
	o.NotUploaded += st.NotResident
	o.GLErrors, o.GLPerformance, o.GLPerformanceStart = st.GLErrors, st.GLPerformance, st.GLPerformanceStart
	o.TextureBytes, o.TextureBudget, o.Textures = st.TextureBytes, st.TextureBudget, st.Textures
	o.TextureStorageMax = max(o.TextureStorageMax, st.TextureStorage)

	m.drawn++
	m.draws += int64(st.Draws)
	m.calls += int64(st.Calls)
	m.saved += int64(st.BatchedMeshes - st.BatchDraws)
	m.instanced += int64(st.Instanced)
	n := float64(m.drawn)
	o.DrawCallsMean = float64(m.calls) / n
	o.DrawsMean, o.DrawsSavedMean, o.InstancedMean = float64(m.draws)/n, float64(m.saved)/n, float64(m.instanced)/n
	o.Batches, o.BatchDraws, o.BatchedMeshes = st.Batches, st.BatchDraws, st.BatchedMeshes
	o.BatchBytes, o.BatchBytesMax = st.BatchBytes, max(o.BatchBytesMax, st.BatchBytes)
}

// Retire keeps the figures of a scene that another one follows, or the end.
func (m *Meter) Retire(f *simulate.Report) { m.closed = m.closed.Then(f) }

// Report sums up; st is that of the present Streamer, drawn of the last frame.
// ownTextures says that the renderer chose the textures' sizes itself, so that
// their figures are its own. errs counts what went wrong beside loads.
func (m *Meter) Report(st *runtime.Stats, drawn *render.Stats, ownTextures bool, errs int) *Report {
	o := m.out
	o.Report = m.closed
	if ownTextures {
		addTextures(&o.Report, drawn)
	}
	o.TexturesMissing = max(o.TexturesMissing, drawn.TexturesMissing) // in the picture
	o.Undrawn += o.NotUploaded
	quantiles := func(list []float32, p50, p99, most *float64) {
		if len(list) == 0 {
			return
		}
		list = slices.Sorted(slices.Values(list))
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
	quantiles(m.gpu, &o.GPUMSP50, &o.GPUMSP99, &o.GPUMSMax)
	quantiles(m.intervals, &o.IntervalMSP50, &o.IntervalMSP99, &o.IntervalMSMax)
	quantiles(m.work, &o.WorkP50, &o.WorkP99, &o.WorkMax)
	o.Worst = m.worst.list
	o.ResidentFull, o.ResidentLOD, o.ResidentHLOD = st.ResidentFull, st.ResidentLOD, st.ResidentHLOD
	o.GeometryBytes = st.GeometryBytes
	o.Errors = errs + o.Failures + o.TexturesMissing
	o.SSIMMin = 1 // until something is compared
	return &o
}

// addTextures fills in what the renderer knows of textures, of all scenes
// together.
func addTextures(r *simulate.Report, s *render.Stats) {
	st := &s.TextureStream
	r.PeakTextureBytes = max(r.PeakTextureBytes, st.PeakBytes)
	r.TextureLoads, r.TextureUpgrades, r.TextureDowngrades = int(st.Loads), int(st.Upgrades), int(st.Downgrades)
	r.TextureFailures, r.TextureSheds, r.TextureRefusals = int(st.Failures), int(st.Sheds), int(st.Refused)
	r.TextureBytesLoaded, r.PeakTextureReserved = s.TextureBytesLoaded, st.PeakReserved
	r.TexturesMinimum, r.TexturesMedium, r.TexturesFull, r.TexturesMissing = st.Minimum, st.Medium, st.Full, st.Missing
}
