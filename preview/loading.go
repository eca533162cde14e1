package preview

import (
	"fmt"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// loading tells how much of what is wanted is resident while there is something
// on its way.
type loading struct {
	missing float64 // share that is still to come; 0: nothing is on its way
	title   string  // of the window
}

// update brings it up to date and returns the window's title, and whether that has
// changed. Tiles that nobody loads, because they failed or found no room in a
// budget, keep no bar on the screen.
func (l *loading) update(sh *shown, name string) (title string, changed bool) {
	l.missing = 0
	if st := sh.s.Stats(); st.ActiveLoads > 0 || st.PendingLoadBacklog > 0 {
		l.missing = 1 - residentShare(sh.s.Snapshot().Tiles, sh.id, sh.open.Source.Manifest)
	}
	title = name
	if l.missing > 0 {
		title += fmt.Sprintf(": %.0f %% loaded", 100*(1-l.missing))
	}
	title += " - untold preview"
	changed = title != l.title
	l.title = title
	return title, changed
}

// tellLoading shows in the window's title how much of the scene has come.
func (a *app) tellLoading() {
	if title, changed := a.overlay.load.update(&a.shown, a.scenes.name()); changed {
		a.surf.SetTitle(title)
	}
}

// residentShare is the part, by bytes of files, of what the tiles of a scene want
// that is resident; 1 where nothing is wanted.
func residentShare(tiles []runtime.TileStatus, id payload.SceneID, m *manifest.Manifest) float64 {
	var have, want float64
	for i := range tiles {
		t := &tiles[i]
		if t.Wanted == payload.RepNone || t.Scene != id {
			continue
		}
		size := float64(max(1, payloadBytes(m, int(t.Tile), t.Wanted)))
		want += size
		switch {
		case t.Wanted == payload.RepFull && t.Meshes > 0:
			have += size * float64(t.MeshesLoaded) / float64(t.Meshes)
		case t.Resident.Has(t.Wanted):
			have += size
		}
	}
	if want == 0 {
		return 1
	}
	return have / want
}

// payloadBytes is the size of a representation's file, 0 where the manifest does
// not tell. The shared bucket comes after the tiles.
func payloadBytes(m *manifest.Manifest, tile int, r payload.Rep) int64 {
	var t *manifest.Tile
	switch {
	case tile < len(m.Tiles):
		t = &m.Tiles[tile]
	case m.SharedBucket != nil:
		t = &m.SharedBucket.Tile
	default:
		return 0
	}
	for i := range t.LODLevels {
		if r == payload.LOD(i) {
			return t.LODLevels[i].FileSizeBytes
		}
	}
	if r == payload.RepHLOD && len(t.HLODLevels) > 0 {
		return t.HLODLevels[0].FileSizeBytes
	}
	return t.FileSizeBytes
}
