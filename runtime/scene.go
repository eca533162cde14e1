package runtime

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/octree"
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
}

// scene is a registered manifest with the state of its tiles.
type scene struct {
	id      SceneID
	dir     string
	dryRun  bool // there are no payload files
	tiles   *table
	regions *hierarchy
	tree    *octree.Tree // of all tiles but the shared bucket
	bounds  geom.Box     // of the scene, to clip tall tiles to; empty: unknown
	zone    geom.Box     // interior zone
	hasZone bool
	reach   float64 // no tile needs a query beyond, in metres
	largest float64 // finite streaming radius

	root, inverse          geom.Mat4
	scale                  float64 // of the root: metres of the world per metre of the scene
	view                   view
	query                  []int32   // tiles near the camera, ascending; see find
	queryAt, queryRadius   float64   // odometer at the query; its radius
	awake                  []int32   // active tiles that this tick looks at, ascending
	fresh                  []int32   // the same, but since the tick began
	hot                    []hotTile // of query, those that are not asleep
	odometer               float64   // metres that the camera has moved, see move
	lastPos, lastPredicted geom.Vec3
	moved                  bool
	occlusion              occlusion

	active  []int32 // tiles with a record, ascending
	records []*record
	free    []int32 // unused places of records
	spare   []*record
}

// newScene registers a manifest. No payload is touched.
func newScene(src Source, cfg *Config) (*scene, error) {
	m := src.Manifest
	if m == nil {
		var err error
		if m, err = manifest.Load(src.Path); err != nil {
			return nil, err
		}
	}
	tiles, regions, err := newTable(m, cfg.NormalizeBands)
	if err != nil {
		return nil, err
	}
	sc := &scene{
		dryRun: m.DryRun, dir: src.Base, tiles: tiles, regions: regions, tree: octree.New(tiles.box[:len(m.Tiles)]),
		bounds: geom.EmptyBox(), root: geom.Identity(), inverse: geom.Identity(), scale: 1,
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
	sc.measureReach(cfg)
	return sc, nil
}

// measureReach finds how far a query has to look: levels show up to the query
// ceiling; without them the largest radius is enough.
func (sc *scene) measureReach(cfg *Config) {
	for i := range sc.tiles.radius {
		r := &sc.tiles.radius[i]
		if !math.IsInf(r.stream, 1) {
			sc.largest = max(sc.largest, r.stream)
		}
		if sc.tiles.has(int32(i), flagShared) {
			continue // looked at wherever the camera is
		}
		sc.reach = max(sc.reach, r.unload, r.prefetch+cfg.DispatchEpsilon, r.stream+1)
	}
	if len(sc.tiles.levels) > 0 || !(sc.reach < cfg.MaxQueryRadius) {
		sc.reach = cfg.MaxQueryRadius
	}
}

// queryMargin is how much farther than necessary a query looks, in metres, so
// that its result holds until the camera has moved so far.
const queryMargin = 32.0

// hotTile is a tile near the camera with its distances.
type hotTile struct {
	tile              int32
	actual, effective float64
}

// find brings the list of near tiles up to date: no tile within reach of the
// camera is missing. Without a margin every call makes a query.
func (sc *scene) find(ceiling, margin float64) {
	reach := sc.reach
	if reach < ceiling {
		reach = min(ceiling, reach+sc.view.ahead)
	}
	if margin > 0 && sc.queryRadius >= reach+(sc.odometer-sc.queryAt) {
		return
	}
	sc.queryAt, sc.queryRadius = sc.odometer, reach+margin
	reach = sc.queryRadius
	sc.query = sc.tree.Sphere(sc.view.pos, reach, sc.query[:0])
	// The shared bucket is looked at wherever the camera is.
	if last := int32(sc.tiles.len()) - 1; last >= 0 && sc.tiles.has(last, flagShared) {
		sc.query = append(sc.query, last)
	}
}

// warm lists the near tiles that are not asleep and measures those without a
// record.
func (sc *scene) warm(epsilon float64) {
	sc.hot = sc.hot[:0]
	for _, tile := range sc.query {
		if sc.asleep(tile) {
			continue
		}
		h := hotTile{tile: tile}
		if r := sc.recordOf(tile); r != nil {
			h.actual, h.effective = r.actual, r.effective
		} else {
			h.actual = sc.tiles.box[tile].Distance(sc.view.pos)
			// A lower bound of the effective distance does for all but the few
			// that could be dispatched.
			if h.effective = h.actual - sc.view.ahead; h.effective <= sc.tiles.radius[tile].prefetch+epsilon {
				_, h.effective = sc.view.distance(&sc.tiles.box[tile])
			}
		}
		sc.hot = append(sc.hot, h)
	}
}

// setRoot moves the root of the scene.
func (sc *scene) setRoot(m geom.Mat4) error {
	inverse, ok := invertAffine(&m)
	if !ok {
		return fmt.Errorf("runtime: the transform of scene %d cannot be inverted: want an affine matrix without a zero scale", sc.id)
	}
	sc.root, sc.inverse, sc.scale = m, inverse, math.Cbrt(math.Abs(m.Det3()))
	return nil
}

// AddScene adds a scene at the identity transform.
func (s *Streamer) AddScene(src Source) (SceneID, error) {
	if s.closed {
		return 0, ErrClosed
	}
	sc, err := s.register(src)
	if err != nil {
		return 0, err
	}
	s.lastScene++
	sc.id = s.lastScene
	s.scenes = append(s.scenes, sc)
	s.now = s.deps.Clock.Now()
	s.emit(Event{Kind: EventSceneLoad, Scene: sc.id})
	return sc.id, nil
}

// register reads a scene; the default Loader needs its files.
func (s *Streamer) register(src Source) (*scene, error) {
	sc, err := newScene(src, &s.cfg)
	if err != nil {
		return nil, err
	}
	if _, files := s.deps.Loader.(*FileLoader); files && sc.dryRun {
		return nil, fmt.Errorf("runtime: %s is the plan of a dry run and has no payload files: cook the scene without --dry-run", src.Path)
	}
	return sc, nil
}

// RemoveScene tears a scene down. Nothing is reported about its tiles
// afterwards; requests in flight only keep their slots until they are answered.
func (s *Streamer) RemoveScene(id SceneID) error {
	sc, at := s.sceneByID(id)
	if sc == nil {
		return fmt.Errorf("%w: %d", ErrNoScene, id)
	}
	s.now = s.deps.Clock.Now()
	s.deliver()
	s.dropScene(sc)
	s.scenes = append(s.scenes[:at], s.scenes[at+1:]...)
	s.emit(Event{Kind: EventSceneUnload, Scene: id})
	return nil
}

// ReloadScene replaces a scene by a freshly registered one, which gets a new id
// and keeps the root transform. When src cannot be read the old scene stays.
func (s *Streamer) ReloadScene(id SceneID, src Source) (SceneID, error) {
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
	s.emit(Event{Kind: EventSceneLoad, Scene: sc.id})
	return sc.id, nil
}

// Scenes returns the ids of all scenes, ascending. The first one is that of
// Open.
func (s *Streamer) Scenes() []SceneID {
	ids := make([]SceneID, len(s.scenes))
	for i, sc := range s.scenes {
		ids[i] = sc.id
	}
	return ids
}

// SetSceneTransform moves the root of a scene; m is column-major and must be
// invertible. Radii are in scene space: they scale with it.
func (s *Streamer) SetSceneTransform(id SceneID, m [16]float64) error {
	sc, _ := s.sceneByID(id)
	if sc == nil {
		return fmt.Errorf("%w: %d", ErrNoScene, id)
	}
	return sc.setRoot(m)
}

func (s *Streamer) sceneByID(id SceneID) (*scene, int) {
	for i, sc := range s.scenes {
		if sc.id == id {
			return sc, i
		}
	}
	return nil, -1
}

// dropScene releases everything of a scene without reporting on its tiles.
func (s *Streamer) dropScene(sc *scene) {
	for _, f := range s.flights {
		if f.scene == sc {
			f.orphan = true
			f.cancel()
			f.scene = nil
		}
	}
	for _, tile := range sc.active {
		r := sc.recordOf(tile)
		s.countDrawn(r.drawn, -1)
		if r.fading != RepNone {
			s.stats.ActiveFades--
		}
		if r.undrawn {
			s.stats.UndrawnTiles--
		}
		for i := range r.reps {
			rep := Rep(i + 1)
			if r.reps[i].resident() {
				s.freeRep(r, rep)
			}
			if rep == RepFull && (r.reps[i].state == TileParsing || r.reps[i].state == TileUnloading) {
				s.stats.LoadingCount--
			}
		}
	}
}
