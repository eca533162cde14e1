package runtime

import (
	"math"

	"github.com/untoldkit/untold/runtime/memory"
)

// geometryBudget owns the memory of the device: what is used of it, what is on
// its way, what representations cost as far as is known, and which tiles are
// granted how much of what they ask for.
//
// It answers whether something may be loaded, and never evicts anything itself.
// At the high-water mark only what replaces something dearer, or what belongs to
// a tile of which nothing is drawn, may still come; the budget itself is exceeded
// only by estimates that were wrong, and by a first tile that is larger.
type geometryBudget struct {
	*env
	probe  MemoryProbe   // nil: only what the configuration says
	device *device       // knows what estimates are worth
	memory memory.Memory // as of the last read

	geometryBytes, textureBytes         int64 // uploaded by this Streamer
	peakGeometryBytes, peakTextureBytes int64
	pending                             int64 // bytes of geometry on their way
	nodes                               int64 // of geometryBytes, those of pyramids, which no tile shares

	evicting  bool // from the high-water mark down to the low one
	refused   bool // something found no room in the last tick
	evictions uint64
	evicted   int // of them in this tick

	learned [classes + 1]learned // by class, and of all
	taught  bool                 // something has been loaded
	split   budgetSplit
}

func newGeometryBudget(e *env, probe MemoryProbe, d *device) *geometryBudget {
	return &geometryBudget{env: e, probe: probe, device: d, split: budgetSplit{nearestEvicted: math.Inf(1)}}
}

// begin takes the memory of a tick.
func (b *geometryBudget) begin(loads []*load) {
	b.read()
	b.split.nearestEvicted, b.evicted = math.Inf(1), 0
	b.sumPending(loads)
}

// book counts bytes on the device.
func (b *geometryBudget) book(geometry, texture int64) {
	b.geometryBytes += geometry
	b.textureBytes += texture
	b.peakGeometryBytes = max(b.peakGeometryBytes, b.geometryBytes)
	b.peakTextureBytes = max(b.peakTextureBytes, b.textureBytes)
}

// bookNode counts bytes on the device if they are of a node of a pyramid.
func (b *geometryBudget) bookNode(r *record, geometry int64) {
	if r.scene.tiles.has(r.tile, flagNode) {
		b.nodes += geometry
	}
}

// noteEviction counts one.
func (b *geometryBudget) noteEviction() {
	b.evictions++
	b.evicted++
}

// addTo adds what is known of the memory up.
func (b *geometryBudget) addTo(st *Stats) {
	st.GeometryBytes, st.TextureBytes, st.PeakGeometryBytes, st.PeakTextureBytes = b.geometryBytes, b.textureBytes, b.peakGeometryBytes, b.peakTextureBytes
	st.PyramidBytes = b.nodes
	st.GeometryUsed, st.TextureUsed = b.used(), b.textureBytes+b.memory.TextureUsed
	st.GeometryBudget, st.TextureBudget = b.memory.GeometryBudget, b.memory.TextureBudget
	st.GeometryUtilization, st.GeometryAvailable = utilization(st.GeometryUsed, st.GeometryBudget)
	st.TextureUtilization, st.TextureAvailable = utilization(st.TextureUsed, st.TextureBudget)
	st.GeometryReach, st.GeometryDetail = b.split.limits(b.cfg.MaxQueryRadius)
	st.DetailLimit = b.split.limit()
	st.Evictions, st.EvictionsPerformed = b.evictions, b.evicted
}

// read asks the probe; a budget of the probe wins over the configured
// one.
func (b *geometryBudget) read() {
	m := memory.Memory{}
	if b.probe != nil {
		m = b.probe.Memory()
	}
	if m.GeometryBudget <= 0 {
		m.GeometryBudget = b.cfg.GeometryBudget
	}
	if m.TextureBudget <= 0 {
		m.TextureBudget = b.cfg.TextureBudget
	}
	b.memory = m
}

// used returns all geometry on the device, in bytes.
func (b *geometryBudget) used() int64 { return b.geometryBytes + b.memory.GeometryUsed }

// high reports whether geometry is at or above the high-water mark.
func (b *geometryBudget) high() bool { return b.at(b.cfg.HighWaterMark) }

func (b *geometryBudget) at(mark float64) bool {
	return b.memory.GeometryBudget > 0 && float64(b.used())/float64(b.memory.GeometryBudget) >= mark
}

func (b *geometryBudget) aboveLow() bool {
	return b.memory.GeometryBudget > 0 && float64(b.used()) > b.cfg.LowWaterMark*float64(b.memory.GeometryBudget)
}

// textureHigh reports whether textures are at or above the high-water mark.
func (b *geometryBudget) textureHigh() bool {
	used := b.textureBytes + b.memory.TextureUsed
	return b.memory.TextureBudget > 0 && float64(used)/float64(b.memory.TextureBudget) >= b.cfg.HighWaterMark
}

// utilization returns the used part of a budget and what is left of it, zeros
// without a budget.
func utilization(used, budget int64) (part float64, available int64) {
	if budget <= 0 {
		return 0, 0
	}
	return float64(used) / float64(budget), max(0, budget-used)
}
