package preview

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/preview/internal/camera"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/payload"
)

// sceneList owns the scenes that can be chosen, and which one is shown.
type sceneList struct {
	list    []Scene
	current int
	whole   bool // all of a scene, whatever the distance

	reread atomic.Pointer[Loaded] // what the runtime has read again
	taken  bool                   // what is shown is what it has read, and nobody has reloaded since
}

func (l *sceneList) name() string { return l.list[l.current].Name }

// load reads a scene.
func (l *sceneList) load(i int) (*Loaded, error) { return l.list[i].load(l.whole) }

// load is Load, for the view that was asked for.
func (s *Scene) load(whole bool) (*Loaded, error) {
	open, err := s.Load()
	if err == nil && open.Source.Manifest.DryRun {
		err = fmt.Errorf("preview: %s is the plan of a dry run and has no payload files: cook the scene without --dry-run", open.Source.Path)
	}
	if err == nil && whole {
		open.whole()
	}
	return open, err
}

// reader reads a scene again for the runtime, which finds that payloads are not
// those that the manifest declares. It is called beside the frames, in which
// scenes can be added to the list.
func (l *sceneList) reader(i int) func(context.Context) (runtime.Source, error) {
	scene, whole := l.list[i], l.whole
	var read func(context.Context) (runtime.Source, error)
	read = func(context.Context) (runtime.Source, error) {
		open, err := scene.load(whole)
		if err != nil {
			return runtime.Source{}, err
		}
		open.Source.Reload = read
		l.reread.Store(open)
		return open.Source, nil
	}
	return read
}

// shown owns what is known of the scene that is shown.
type shown struct {
	drive driver            // nil before the first scene
	s     *runtime.Streamer // of drive
	id    payload.SceneID
	open  *Loaded
	tiles map[string]int32 // by their ids
	light *authored        // of its author
	world geom.Box         // its bounds in the world, in this frame
	// rootOf returns where s has a scene. A use of a method as a value would be
	// garbage in every frame.
	rootOf func(payload.SceneID) geom.Mat4
}

// use takes over the Streamer of a driver.
func (sh *shown) use(d driver) {
	s := d.streamer()
	sh.drive, sh.s, sh.id = d, s, s.Scenes()[0]
	sh.rootOf = func(id payload.SceneID) geom.Mat4 { return rootOf(s, id) }
}

// root returns where the scene is.
func (sh *shown) root() geom.Mat4 { return rootOf(sh.s, sh.id) }

// describe takes from a manifest what is asked for by tile and by frame.
func (sh *shown) describe(open *Loaded, m *manifest.Manifest) {
	sh.open = open
	sh.tiles = make(map[string]int32, len(m.Tiles)+1)
	if b := m.SharedBucket; b != nil {
		sh.tiles[b.ID] = int32(len(m.Tiles))
	}
	for i := range m.Tiles {
		sh.tiles[m.Tiles[i].ID] = int32(i)
	}
}

// choose shows another scene. What is shown stays when that fails.
func (a *app) choose(i int) error {
	open, err := a.scenes.load(i)
	if err != nil {
		return err
	}
	cfg := a.o.Config.For(open.Source.Manifest)
	open.Source.Reload = a.scenes.reader(i)
	open.reach(&cfg)
	params, err := textureParams(&cfg, open.Source.Manifest)
	if err != nil {
		return err
	}
	var d driver
	if a.clock.virtual {
		d, err = a.openVirtual(open, cfg)
	} else {
		d, err = a.openLive(open, cfg)
	}
	if err != nil {
		return err
	}
	if a.shown.drive != nil {
		a.retire()
		if err := a.closeShown(); err != nil {
			return errors.Join(err, d.close())
		}
	}
	a.shown.use(d)
	a.records.updates = 0
	a.scenes.current, a.scenes.taken, a.cam.frozen = i, false, nil
	a.ending.forget()
	a.textures.limit = cfg.TextureBudget
	a.textures.choose(params)
	a.r.SetBatchScene(a.shown.id, batchCell(open))
	a.memory.watch(a.shown.s)
	a.adopt(open)
	a.cam.rig = camera.New(a.cam.scene.Bounds)
	a.cam.start(open, a.aspect(), a.messages.notify)
	a.tellLoading()
	if a.watch != nil {
		a.watch.follow(a.scenes.list[i].Path)
	}
	return nil
}

// retire keeps the figures of a scene that another one follows, or the end.
func (a *app) retire() {
	f := a.shown.drive.figures()
	a.meter.Retire(&f)
}

// closeShown ends what runs for the shown scene.
func (a *app) closeShown() error {
	if err := a.memory.unwatch(); err != nil {
		return err
	}
	return a.shown.drive.close()
}

// reload shows the scene as it was cooked anew; the camera stays.
func (a *app) reload() error {
	open, err := a.scenes.load(a.scenes.current)
	if err != nil {
		return err
	}
	params, err := textureParams(&a.o.Config, open.Source.Manifest)
	if err != nil {
		return err
	}
	open.Source.Reload = a.scenes.reader(a.scenes.current)
	id, err := a.shown.drive.reload(a.shown.id, open)
	if err != nil {
		return err
	}
	a.follow(id, open, params)
	a.scenes.taken = false
	return nil
}

// succeeded takes over the scene that the runtime has made of a manifest that it
// has read again.
func (a *app) succeeded(id payload.SceneID) {
	open := a.scenes.reread.Swap(nil)
	if open == nil {
		return
	}
	params, err := textureParams(&a.o.Config, open.Source.Manifest)
	if err != nil {
		a.messages.reportError(fmt.Sprintf("%s was cooked again, but: %v", open.Source.Path, err))
		params = a.textures.choice
	}
	a.shown.drive.follow(id, open.Source.Manifest)
	a.follow(id, open, params)
	a.scenes.taken = true
	a.messages.notify("cooked again: " + a.scenes.name())
}

// follow takes over a scene in the place of the one before it.
func (a *app) follow(id payload.SceneID, open *Loaded, params textureChoice) {
	a.r.SetBatchScene(a.shown.id, 0)
	a.r.SetBatchScene(id, batchCell(open))
	a.shown.id = id
	a.ending.forget()
	a.textures.choose(params)
	a.adopt(open)
	a.cam.rig.SetBounds(a.cam.scene.Bounds)
}

// adopt takes what the views need of a manifest. A scene that is shown whole is
// looked at as when it streams.
func (a *app) adopt(open *Loaded) {
	m := open.streamed()
	cfg := a.o.Config.For(m)
	if open.asCooked == nil {
		open.reach(&cfg)
	}
	a.shown.describe(open, m)
	a.cam.scene = camera.SceneOf(m, cfg.MaxQueryRadius)
	a.shown.light = authoredOf(m, a.cam.scene.Content)
	a.viewpoints = Viewpoints(m)
	a.regrade(open)
	a.overlay.changed()
}

// noticed is told of an event of the runtime.
func (a *app) noticed(e *event.Event) {
	a.cost.Events++
	if e.Kind == event.SceneReload {
		a.succeeded(e.Scene)
	}
	a.ending.noticed(e)
	if tile, ok := a.shown.tiles[e.Tile]; ok && e.Scene == a.shown.id {
		a.appear.noticed(e, tile, a.shown.s, a.clock.elapsed())
	}
	if isFailure(e.Kind) && e.Err != nil {
		a.messages.alert(failureOf(e))
	}
}

// failureOf says what went wrong with a load, and of which tile.
func failureOf(e *event.Event) string {
	text := e.Err.Error()
	if strings.HasPrefix(text, "tile "+e.Tile) {
		return text
	}
	return "tile " + e.Tile + ": " + text
}

// isFailure reports whether an event is a load that went wrong.
func isFailure(k event.Kind) bool {
	switch k {
	case event.TileFailed, event.TileTimeout, event.HLODFailed, event.LODFailed:
		return true
	}
	return false
}
