package manifestbuild

import (
	"path"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/band"
)

// levels lists the levels of a tile: as the older manifest has them, less those
// without a file; placed anew by the configured distances when there is a file
// that it does not have.
func (b *builder) levels(m *manifest.Manifest, t *manifest.Tile, e *entry) {
	known := map[*payload]*manifest.Level{}
	if e.old != nil {
		for _, list := range [][]manifest.Level{e.old.HLODLevels, e.old.LODLevels} {
			for i := range list {
				if p := e.level(list[i].Path); p != nil {
					known[p] = &list[i]
				}
			}
		}
	}
	switch {
	case len(known) < len(e.hlods)+len(e.lods):
		b.place(m, t, e, known)
	case e.old != nil:
		t.HLODLevels, t.LODLevels = b.remaining(e, e.old.HLODLevels), b.remaining(e, e.old.LODLevels)
	}
}

// level returns the file that the older manifest has under a path: the same
// one, or when the folder has another name by now the one of the same name.
func (e *entry) level(old string) *payload {
	var byName *payload
	consider := func(p *payload) bool {
		if path.Base(p.path) == path.Base(old) {
			byName = p
		}
		return p.path == old
	}
	for _, l := range e.hlods {
		if consider(l.payload) {
			return l.payload
		}
	}
	for _, l := range e.lods {
		if consider(l.payload) {
			return l.payload
		}
	}
	return byName
}

// remaining brings the levels that have a file up to date.
func (b *builder) remaining(e *entry, old []manifest.Level) []manifest.Level {
	if old == nil {
		return nil
	}
	out := []manifest.Level{}
	for _, l := range old {
		if p := e.level(l.Path); p != nil {
			out = append(out, fillLevel(l, p))
			continue
		}
		if b.lostLevels++; b.lostLevels == 1 {
			b.lostLevel = l.Path
		}
	}
	return out
}

func fillLevel(l manifest.Level, p *payload) manifest.Level {
	l.Path, l.FileSizeBytes, l.SHA256, l.TriangleCount, l.GeometryBytes = p.path, p.size, p.sha256, p.triangles, p.memory
	return l
}

// place finds switch distances for all levels of a tile: those of the
// configuration in the older manifest, else the exporter's, fitted into the
// tile's radii.
func (b *builder) place(m *manifest.Manifest, t *manifest.Tile, e *entry, known map[*payload]*manifest.Level) {
	hlods := make([]float64, len(e.hlods))
	for i, l := range e.hlods {
		hlods[i] = hlodDistance(m, l.suffix)
	}
	lods := make([]float64, len(e.lods))
	for i, l := range e.lods {
		lods[i] = lodDistance(m, l.number)
	}
	bands := m.BandsOf(t)
	fit := band.Fit(bands.Streaming, bands.Unload, hlods, lods)
	if fit.Widened {
		unload := fit.Bands.Unload
		t.UnloadRadius = &unload
	}
	t.HLODLevels, t.LODLevels = []manifest.Level{}, []manifest.Level{}
	entryOf := func(p *payload, distance float64) manifest.Level {
		var l manifest.Level
		if old := known[p]; old != nil {
			l = *old
		}
		l.SwitchDistance = distance
		return fillLevel(l, p)
	}
	for _, s := range fit.HLOD {
		t.HLODLevels = append(t.HLODLevels, entryOf(e.hlods[s.Level].payload, s.Distance))
	}
	for _, s := range fit.LODs {
		t.LODLevels = append(t.LODLevels, entryOf(e.lods[s.Level].payload, s.Distance))
	}
	for _, d := range fit.Dropped {
		var where string
		if d.HLOD {
			where = e.hlods[d.Level].path
		} else {
			where = e.lods[d.Level].path
		}
		b.note("no-room", where, true, "the level has no room between the radii and is left out: %s", d.Reason)
	}
}

// hlodDistance is the configured distance of a suffix.
func hlodDistance(m *manifest.Manifest, suffix string) float64 {
	if g := m.HLODGeneration; g != nil {
		for _, l := range g.Levels {
			if l.Suffix == suffix {
				return l.SwitchDistance
			}
		}
	}
	return manifest.DefaultHLODLevels()[0].SwitchDistance
}

// lodDistance is the configured distance of a number, counted from 1. Beyond
// the last one the rest of the band is halved.
func lodDistance(m *manifest.Manifest, number int) float64 {
	levels := manifest.DefaultLODLevels()
	if g := m.LODGeneration; g != nil && len(g.Levels) > 0 {
		levels = g.Levels
	}
	if number = max(number, 1); number <= len(levels) {
		return levels[number-1].SwitchDistance
	}
	last := levels[len(levels)-1].SwitchDistance
	if last > 1 {
		return last + float64(band.Gap*float64(number-len(levels)))
	}
	rest := 1 - last
	for range min(number-len(levels), 60) {
		rest /= 2
	}
	return 1 - rest
}
