package manifest

// Payloads lists the paths of all container files that the manifest names, as
// it names them: tiles in their order, each followed by its HLOD and LOD
// levels, then the shared bucket. The paths come from outside; see Resolve.
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
	return out
}
