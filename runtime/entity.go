package runtime

import (
	"fmt"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/payloadpath"
	"github.com/untoldkit/untold/runtime/payload"
)

// Defaults of an Entity, those of a streaming component of the reference engine.
const (
	defaultEntityRadius       = 100.0 // metres
	defaultEntityUnloadRadius = 150.0
)

// Entity is one .untold file that streams on its own, without a manifest: a
// building or a street lamp of a scene that nobody has partitioned.
type Entity struct {
	ID   string // in events; Path when empty
	Path string // from the folder, with slashes
	// Bounds of the content, metres. They must hold what the file holds:
	// distances are measured to them.
	Bounds          manifest.Bounds
	StreamingRadius float64 // metres; 0: 100
	UnloadRadius    float64 // metres; 0: half as much again as StreamingRadius
	Priority        int     // higher loads first
}

// AddEntities registers files of a folder as streaming entities. Together they
// are a scene, so SetSceneTransform and RemoveScene work on them, and they
// share caps and budgets with all others. Keys count them in the given order.
// They stream as AddEntity says.
func (s *Streamer) AddEntities(dir string, entities ...Entity) (payload.SceneID, error) {
	m := &manifest.Manifest{
		Version: manifest.VersionGrid, PartitioningMode: manifest.ModeUniformGrid,
		StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: defaultEntityRadius, UnloadRadius: defaultEntityUnloadRadius},
		Tiles:             make([]manifest.Tile, len(entities)),
	}
	for i := range entities {
		t, err := entities[i].tile()
		if err != nil {
			return 0, err
		}
		m.Tiles[i] = t
	}
	return s.AddScene(Source{Manifest: m, Path: "entities", Base: dir, entities: true})
}

// AddEntity registers one file as a streaming entity, a scene of its own. In the
// second tier it is its own owner: unless outOfCorePolicy is immediate, what it
// holds streams mesh by mesh with the entity's radii and priority, in the slots
// of meshes; beyond the unload radius they go at once, without the grace that
// tiles have, and the decoded file after it.
func (s *Streamer) AddEntity(dir string, e Entity) (payload.SceneID, error) {
	return s.AddEntities(dir, e)
}

// tile returns the tile that an entity streams like.
func (e *Entity) tile() (manifest.Tile, error) {
	stream, unload := e.StreamingRadius, e.UnloadRadius
	if stream == 0 {
		stream = defaultEntityRadius
	}
	if unload == 0 {
		unload = stream * (defaultEntityUnloadRadius / defaultEntityRadius)
	}
	id := e.ID
	if id == "" {
		id = e.Path
	}
	switch {
	case !(stream > 0 && unload >= stream):
		return manifest.Tile{}, fmt.Errorf("runtime: entity %q: streaming radius %v m and unload radius %v m: want 0 < streaming <= unload", id, stream, unload)
	case e.Bounds.Box().IsEmpty():
		return manifest.Tile{}, fmt.Errorf("runtime: entity %q: the bounds %v are inside out", id, e.Bounds)
	}
	if err := payloadpath.Check(e.Path); err != nil {
		return manifest.Tile{}, fmt.Errorf("runtime: entity %q: %w", id, err)
	}
	return manifest.Tile{
		ID: id, Path: e.Path, Bounds: e.Bounds, Center: e.Bounds.Center(),
		StreamingRadius: &stream, UnloadRadius: &unload, Priority: &e.Priority,
	}, nil
}
