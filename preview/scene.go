package preview

import (
	"context"
	"errors"
	"fmt"

	"github.com/untoldkit/untold/preview/camera"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/simulate"
)

// choose shows another scene. What is shown stays when that fails.
func (a *app) choose(i int) error {
	open, err := a.load(i)
	if err != nil {
		return err
	}
	cfg := a.o.Config.For(open.Source.Manifest)
	open.Source.Reload = a.reader(i)
	open.reach(&cfg)
	params, err := textureParams(&cfg, open.Source.Manifest)
	if err != nil {
		return err
	}
	s, session, err := a.openStreamer(open, cfg)
	if err != nil {
		return err
	}
	if a.s != nil {
		a.retire()
		a.gate.forget()
		if err := a.closeStreamer(); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	a.session, a.updates = session, 0
	a.judge = newJudge(open, cfg)
	a.s, a.id, a.current, a.frozen, a.taken, a.short = s, s.Scenes()[0], i, nil, false, false
	a.textureLimit, a.futile = cfg.TextureBudget, futile{}
	a.chooseTextures(params)
	a.r.SetBatchScene(a.id, batchCell(open))
	a.watchMemory(s)
	a.adopt(open)
	a.rig = camera.New(a.look.Bounds)
	a.start()
	a.overlay.load.look(a)
	if a.watch != nil {
		a.watch.follow(a.scenes[i].Path)
	}
	return nil
}

// openStreamer opens a scene, in virtual time with what drives it.
func (a *app) openStreamer(open *Loaded, cfg runtime.Config) (*runtime.Streamer, *simulate.Session, error) {
	if a.clock.virtual {
		session, err := a.openSession(open, cfg)
		if err != nil {
			return nil, nil, err
		}
		return session.Streamer(), session, nil
	}
	s, err := runtime.Open(a.ctx, open.Source, cfg, a.deps())
	return s, nil, err
}

// load reads a scene.
func (a *app) load(i int) (*Loaded, error) { return a.scenes[i].load(a.o.Whole) }

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

// reload shows the scene as it was cooked anew; the camera stays.
func (a *app) reload() error {
	open, err := a.load(a.current)
	if err != nil {
		return err
	}
	params, err := textureParams(&a.o.Config, open.Source.Manifest)
	if err != nil {
		return err
	}
	open.Source.Reload = a.reader(a.current)
	id, err := a.reopen(open)
	if err != nil {
		return err
	}
	a.follow(id, open, params)
	a.taken = false
	return nil
}

// follow takes over a scene in the place of the one before it.
func (a *app) follow(id runtime.SceneID, open *Loaded, params textureChoice) {
	a.r.SetBatchScene(a.id, 0)
	a.r.SetBatchScene(id, batchCell(open))
	a.id, a.futile = id, futile{}
	a.chooseTextures(params)
	a.adopt(open)
	a.rig.SetBounds(a.look.Bounds)
}

// reader reads a scene again for the runtime, which finds that payloads are not
// those that the manifest declares. It is called beside the frames, in which
// scenes can be added to the list.
func (a *app) reader(i int) func(context.Context) (runtime.Source, error) {
	scene, whole := a.scenes[i], a.o.Whole
	var read func(context.Context) (runtime.Source, error)
	read = func(context.Context) (runtime.Source, error) {
		open, err := scene.load(whole)
		if err != nil {
			return runtime.Source{}, err
		}
		open.Source.Reload = read
		a.fresh.Store(open)
		return open.Source, nil
	}
	return read
}

// succeeded takes over the scene that the runtime has made of a manifest that it
// has read again.
func (a *app) succeeded(id runtime.SceneID) {
	open := a.fresh.Swap(nil)
	if open == nil {
		return
	}
	params, err := textureParams(&a.o.Config, open.Source.Manifest)
	if err != nil {
		a.fault(fmt.Sprintf("%s was cooked again, but: %v", open.Source.Path, err))
		params = a.textures
	}
	if a.session == nil {
		a.judge.Follow(id, open.Source.Manifest)
	}
	a.follow(id, open, params)
	a.taken = true
	a.say("cooked again: " + a.scenes[a.current].Name)
}

// reopen tells the runtime of a scene that was cooked anew.
func (a *app) reopen(open *Loaded) (runtime.SceneID, error) {
	if a.session != nil {
		return a.session.Reload(open.Source.Manifest)
	}
	id, err := a.s.ReloadScene(a.id, open.Source)
	if err == nil {
		a.judge.Follow(id, open.Source.Manifest)
	}
	return id, err
}
