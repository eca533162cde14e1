package runtime

// evictor owns what goes when memory is short: textures first, then meshes by
// their value, then whole representations, the farthest first.
//
// It promises that no tick evicts more than a few, that nothing within its
// streaming radius goes, for it would come back at once, and that of a tile
// within reach the last thing it can draw stays while the budget holds it.
type evictor struct {
	*eventLog
	budget    *geometryBudget
	residency *residency
	meshes    *meshStreamer
	cache     unusedEvicter // nil: none
	textures  TextureRelief // nil: none
	evictees  []evictee
	warned    bool // that nothing can go
	count     evictorCounters
}

// evictorCounters says what was evicted besides geometry, which the budget
// counts; Stats says what its fields mean.
type evictorCounters struct {
	triggered    bool // in the last tick
	texturesShed uint64
	unusedFreed  int64 // main memory of unused files
}

// addTo adds the counters up.
func (c *evictorCounters) addTo(st *Stats) {
	st.EvictionTriggered, st.TexturesShed = c.triggered, c.texturesShed
	st.CPUReleased += c.unusedFreed
}
