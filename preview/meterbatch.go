package preview

import "github.com/untoldkit/untold/preview/render"

// BatchFigures are the keys of a Report about static batches and the memory
// that they are made of.
type BatchFigures struct {
	DrawsMean float64 `json:"draws_mean"` // meshes drawn per frame
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

// batchMeter works out means.
type batchMeter struct {
	frames, draws, saved, instanced int64
}

// frame adds a frame.
func (m *batchMeter) frame(o *BatchFigures, st *render.Stats) {
	m.frames++
	m.draws += int64(st.Draws)
	m.saved += int64(st.BatchedMeshes - st.BatchDraws)
	m.instanced += int64(st.Instanced)
	n := float64(m.frames)
	o.DrawsMean, o.DrawsSavedMean, o.InstancedMean = float64(m.draws)/n, float64(m.saved)/n, float64(m.instanced)/n
	o.Batches, o.BatchDraws, o.BatchedMeshes = st.Batches, st.BatchDraws, st.BatchedMeshes
	o.BatchBytes, o.BatchBytesMax = st.BatchBytes, max(o.BatchBytesMax, st.BatchBytes)
}
