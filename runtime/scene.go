package runtime

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/octree"
	"github.com/untoldkit/untold/runtime/payload"
)

// ErrNoScene is matched by errors about scene ids that are not (or no longer)
// known.
var ErrNoScene = errors.New("runtime: no such scene")

// Source names a scene.
type Source struct {
	// Path of the manifest.
	Path string
	// Base is the folder, or for a Fetcher the address, that payload paths are
	// relative to; "": the folder of Path.
	Base string
	// Manifest, when not nil, is used instead of reading Path. The Streamer
	// keeps its strings, not the struct.
	Manifest *manifest.Manifest
	// Reload, when not nil, reads the scene anew, in a goroutine of its own: when a
	// payload turns out not to be the one that the manifest declares by its SHA-256,
	// which it mostly is not because the scene was cooked again. Without it the
	// manifest is read from Path.
	Reload func(ctx context.Context) (Source, error)

	entities bool // the tiles are streaming entities
}

// empty reports whether a source names nothing.
func (src *Source) empty() bool {
	return src.Path == "" && src.Base == "" && src.Manifest == nil && src.Reload == nil
}

// scene is a registered manifest with the state of its tiles.
type scene struct {
	*env
	tiles   *table
	budget  *budgetSplit // the Streamer's
	id      payload.SceneID
	dir     string
	dryRun  bool // there are no payload files
	regions *hierarchy
	tree    *octree.Tree // of all tiles but the shared bucket
	bounds  geom.Box     // of the scene, to clip tall tiles to; empty: unknown
	zone    geom.Box     // interior zone
	hasZone bool

	queryDistance     float64 // no tile needs a query beyond, in metres
	fullQueryDistance float64 // no full tile is dispatched beyond, in metres
	largest           float64 // finite streaming radius

	root, inverse geom.Mat4
	scale         float64 // of the root: metres of the world per metre of the scene
	view          view
	query, inner  nearby // tiles within queryDistance and fullQueryDistance of the camera; see find
	passLists
	travel
	cursor     int32 // where the next window of scanIdle begins
	occlusion  occlusion
	reloading  reloading
	refinement *refinement // nil: no pyramid

	recordPool
	active []int32 // tiles with a record, ascending
	split  []int32 // of them, those that stream mesh by mesh
	fades  int     // of them, how many fade
}

// passLists are the tiles that the passes of a tick look at.
type passLists struct {
	awake                []int32 // tiles with a record that are not asleep, ascending
	woken                []int32 // the same, but since the tick began
	listed               int     // length of woken when the next two were made: those behind are new
	nearActive, nearIdle []int32 // of query, not asleep: with a record, without
}

// travel is the way of the camera through a scene.
type travel struct {
	sight                  sight
	odometer               float64 // metres that the camera has moved, see move
	lastPos, lastPredicted geom.Vec3
	moved                  bool
	jumped                 bool // the next window of scanIdle holds everything near
}

// loadManifest reads the manifest unless it is there.
func (src *Source) loadManifest() (err error) {
	if src.Manifest == nil {
		src.Manifest, err = manifest.Load(src.Path)
	}
	return err
}

// newScene registers a manifest. No payload is touched.
func newScene(src Source, cfg *config.Config) (*scene, error) {
	if err := src.loadManifest(); err != nil {
		return nil, err
	}
	m := src.Manifest
	tiles, regions, err := newTable(m, cfg)
	if err != nil {
		return nil, err
	}
	if src.entities {
		for i := range tiles.flags {
			tiles.flags[i] |= flagEntity
		}
	}
	sc := &scene{
		dryRun: m.DryRun, dir: src.Base, tiles: tiles, regions: regions, tree: octree.New(tiles.box[:len(m.Tiles)]),
		bounds: geom.EmptyBox(), root: geom.Identity(), inverse: geom.Identity(), scale: 1,
		query: nearby{radius: -1}, inner: nearby{radius: -1}, travel: travel{jumped: true},
	}
	sc.reloading.read = src.reader()
	if cfg.Handoff == config.HandoffCovered { // the reference engine has no pyramid
		sc.refinement = newRefinement(m, tiles)
	}
	if sc.dir == "" {
		sc.dir = filepath.Dir(src.Path)
	}
	if m.SceneBounds != nil {
		sc.bounds = m.SceneBounds.Box()
	}
	if m.InteriorZone != nil {
		sc.zone, sc.hasZone = m.InteriorZone.Box(), true
	}
	sc.measureQueryDistance(cfg)
	return sc, nil
}

// setRoot moves the root of the scene.
func (sc *scene) setRoot(m geom.Mat4) error {
	inverse, ok := (*geom.Mat4)(&m).InverseAffine()
	if !ok {
		return fmt.Errorf("runtime: the transform of scene %d cannot be inverted: want an affine matrix without a zero scale", sc.id)
	}
	sc.root, sc.inverse, sc.scale = m, inverse, math.Cbrt(math.Abs(m.Det3()))
	return nil
}

// AddScene adds a scene at the identity transform.
func (s *Streamer) AddScene(src Source) (payload.SceneID, error) {
	if s.closed {
		return 0, payload.ErrClosed
	}
	sc, err := s.register(src)
	if err != nil {
		return 0, err
	}
	s.lastScene++
	sc.id = s.lastScene
	s.scenes = append(s.scenes, sc)
	s.now = s.deps.Clock.Now()
	s.wake = s.wake || sc.drafts() // what is seen first does not wait for a tick
	s.emit(event.Event{Kind: event.SceneLoad, Scene: sc.id})
	return sc.id, nil
}

// register reads a scene. The default Loader refuses plans of dry runs, which
// have no payload files.
func (s *Streamer) register(src Source) (*scene, error) {
	sc, err := newScene(src, &s.cfg)
	if err != nil {
		return nil, err
	}
	sc.env, sc.budget = s.env, &s.budget.split
	sc.sight = newSight(sc.tiles.len())
	sc.adoptNodes()
	if _, files := s.deps.Loader.(*payload.FileLoader); files && sc.dryRun {
		return nil, fmt.Errorf("runtime: %s is the plan of a dry run and has no payload files: cook the scene without --dry-run", src.Path)
	}
	return sc, nil
}

// RemoveScene tears a scene down. Nothing is reported about its tiles
// afterwards; requests in flight only keep their slots until they are answered.
func (s *Streamer) RemoveScene(id payload.SceneID) error {
	if s.closed {
		return payload.ErrClosed
	}
	sc, at := s.sceneByID(id)
	if sc == nil {
		return fmt.Errorf("%w: %d", ErrNoScene, id)
	}
	s.now = s.deps.Clock.Now()
	s.deliver()
	s.succession.dropRetiredFor(sc)
	s.dropScene(sc)
	s.scenes = append(s.scenes[:at], s.scenes[at+1:]...)
	s.emit(event.Event{Kind: event.SceneUnload, Scene: sc.id})
	return nil
}

// ReloadScene replaces a scene by a freshly registered one, which gets a new id
// and keeps the root transform. When src cannot be read the old scene stays.
func (s *Streamer) ReloadScene(id payload.SceneID, src Source) (payload.SceneID, error) {
	if s.closed {
		return 0, payload.ErrClosed
	}
	old, _ := s.sceneByID(id)
	if old == nil {
		return 0, fmt.Errorf("%w: %d", ErrNoScene, id)
	}
	sc, err := s.register(src)
	if err != nil {
		return 0, err
	}
	sc.root, sc.inverse, sc.scale = old.root, old.inverse, old.scale
	if err := s.RemoveScene(id); err != nil {
		return 0, err
	}
	s.lastScene++
	sc.id = s.lastScene
	s.scenes = append(s.scenes, sc)
	s.wake = s.wake || sc.drafts() // what is seen first does not wait for a tick
	s.emit(event.Event{Kind: event.SceneLoad, Scene: sc.id})
	return sc.id, nil
}

// Scenes returns the ids of all scenes, ascending. The first one is that of
// Open.
func (s *Streamer) Scenes() []payload.SceneID {
	ids := make([]payload.SceneID, len(s.scenes))
	for i, sc := range s.scenes {
		ids[i] = sc.id
	}
	return ids
}

// SetSceneTransform moves the root of a scene; m is column-major and must be
// invertible. Radii are in scene space: they scale with it.
func (s *Streamer) SetSceneTransform(id payload.SceneID, m [16]float64) error {
	if s.closed {
		return payload.ErrClosed
	}
	sc, _ := s.sceneByID(id)
	if sc == nil {
		return fmt.Errorf("%w: %d", ErrNoScene, id)
	}
	if err := sc.setRoot(m); err != nil {
		return err
	}
	for i := range s.succession.retired {
		if x := &s.succession.retired[i]; x.next == sc {
			x.root, x.inverse, x.scale = sc.root, sc.inverse, sc.scale
		}
	}
	return nil
}

// sceneByID returns a scene and its place. The id of a scene that was replaced
// stands for its successor.
func (s *Streamer) sceneByID(id payload.SceneID) (*scene, int) {
	for next, ok := s.successors[id]; ok; next, ok = s.successors[id] {
		id = next
	}
	for i, sc := range s.scenes {
		if sc.id == id {
			return sc, i
		}
	}
	return nil, -1
}

// dropScene releases everything of a scene without reporting on its tiles.
func (s *Streamer) dropScene(sc *scene) {
	s.selector.clearShortlists()
	s.loads.abandon(sc)
	s.pyramid.drop(sc)
	for _, tile := range sc.active {
		r := sc.recordOf(tile)
		s.handoff.countDrawn(r.drawn, -1)
		r.endFade()
		s.handoff.markUndrawn(r, false)
		for i := range r.reps {
			rep := payload.Rep(i + 1)
			if r.reps[i].resident() {
				s.residency.free(r, rep)
			}
			if rep == payload.RepFull && (r.reps[i].state == TileParsing || r.reps[i].state == TileUnloading) {
				s.residency.count.loading--
			}
		}
	}
}
