package simulate

import (
	"context"
	"fmt"
	"time"

	"github.com/untoldkit/untold/internal/clock"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture"
)

// Session is a run whose caller moves the camera and counts the frames: Run
// itself is one along the scenario's path. It belongs to one goroutine.
type Session struct{ r *run }

// Start opens a scenario. The session is to be closed.
func Start(ctx context.Context, s *Scenario, o Options) (*Session, error) {
	if s.Manifest == nil {
		return nil, fmt.Errorf("simulate: the scenario's manifest %q is not loaded: use Load", s.ManifestPath)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	r := &run{s: s, o: o, w: newModel(s, &o), res: &Result{}, pacer: pacer{wall: o.wall}}
	if o.wall == nil {
		r.pacer.wall = clock.System{}
	}
	r.w.ctx = ctx
	var err error
	if r.w.textures, err = newTextureTier(r.w, o.MaxTexture, r.record, r.early); err != nil {
		return nil, err
	}
	if r.streamer, err = runtime.Open(ctx, r.source(), s.Config, r.w.deps()); err != nil {
		return nil, err
	}
	if t := r.w.textures; t != nil && o.Drawing != nil && o.Drawing.Textures != nil {
		o.Drawing.Textures.Follow(t.stream)
	}
	if err = r.begin(); err != nil {
		_ = r.streamer.Close()
		return nil, err
	}
	return &Session{r}, nil
}

// Frame runs the next frame with the camera at a place. The first one is at 0 s,
// each later one the scenario's DT after the one before. The error is that of
// Options.OnRecord or of ctx.
func (s *Session) Frame(ctx context.Context, camera runtime.Camera) error {
	r := s.r
	r.w.ctx = ctx
	if r.started {
		r.w.now, r.w.frame = r.w.now+r.s.DT, r.w.frame+1
	}
	r.started = true
	return r.step(camera)
}

// Reload shows the scene as it was cooked anew, in the next frame.
func (s *Session) Reload(m *manifest.Manifest) (payload.SceneID, error) {
	r := s.r
	src := r.source()
	src.Manifest = m
	id, err := r.streamer.ReloadScene(r.scene, src)
	if err != nil {
		return 0, err
	}
	if err := r.take(); err != nil {
		return 0, err
	}
	r.follow(id, m)
	return id, nil
}

// Streamer returns the runtime of the session, to be read; it is updated by
// Frame alone.
func (s *Session) Streamer() *runtime.Streamer { return s.r.streamer }

// Drawn returns what is drawn after the latest frame. The list is valid until
// the next one.
func (s *Session) Drawn() []runtime.Drawn { return s.r.meter.drawn }

// ErrorPixels returns how many pixels the greatest error of what is drawn after the
// latest frame covers, as in the Report.
func (s *Session) ErrorPixels() float64 { return s.r.meter.ErrorPixels() }

// UpdateTime returns the wall clock of the latest Update of the runtime.
func (s *Session) UpdateTime() time.Duration { return s.r.took }

// TextureStats returns the counters of the textures, zero for a scene that can
// have none.
func (s *Session) TextureStats() texture.Stats {
	if t := s.r.w.textures; t != nil {
		return t.stream.Stats()
	}
	return texture.Stats{}
}

// Rest lets the textures come to rest, as if time went on while the camera
// stands, for a last picture. What happens then is no part of the run: it makes
// no records. No frame may follow.
func (s *Session) Rest(ctx context.Context) error {
	r := s.r
	r.finish()
	r.w.ctx = ctx
	if r.w.textures == nil {
		return nil
	}
	return r.w.textures.rest(ctx, r.camera)
}

// Report returns the figures so far.
func (s *Session) Report() Report { return s.r.report() }

// Close ends the session and releases what is uploaded.
func (s *Session) Close() error {
	s.r.finish()
	if s.r.regions != nil {
		s.r.regions.Close()
	}
	return s.r.streamer.Close()
}

// finish ends the records: what follows is no part of the run.
func (r *run) finish() {
	if !r.over {
		r.res.Report = r.report()
		r.over = true
	}
}

// report sums up; after the end as things were then.
func (r *run) report() Report {
	if r.over {
		return r.res.Report
	}
	rep := r.meter.Report()
	rep.BytesRequested, rep.BytesLoaded = r.w.requested, r.w.loaded
	if r.w.textures != nil {
		r.w.textures.report(&rep)
	}
	return rep
}
