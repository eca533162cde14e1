package preview

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/preview/camera"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/runtime"
)

// Budgets of one frame in real time: uploads must not be felt, so that they get
// a part of what frames take anyway; where frames are slow that is much, or the
// queue would grow.
const (
	uploadTime  = time.Millisecond / 4 // at least
	uploadPart  = 2                    // of the usual frame's time, as a divisor
	uploadBytes = 8 << 20
	usualFrames = 16 // that the usual time is a mean of, roughly
)

// loop runs frames until the end.
func (a *app) loop() error {
	a.clock.start = time.Now()
	a.pacer.start()
	last := time.Duration(0)
	for !a.ended && a.ctx.Err() == nil {
		begin, cpu := time.Now(), cpuTime()
		dt := a.o.FixedDT
		if a.clock.virtual {
			a.clock.now = time.Duration(a.frame) * dt
		} else {
			now := a.clock.elapsed()
			dt, last = now-last, now
		}
		if err := a.step(dt); err != nil {
			if a.ctx.Err() != nil && errors.Is(err, context.Canceled) {
				break
			}
			return err
		}
		a.busy = time.Since(begin)
		a.usual += (a.busy - a.usual) / usualFrames
		a.cost.Frame, a.cost.MS, a.cost.CPU = a.frame, a.busy.Seconds()*1e3, (cpuTime()-cpu).Seconds()*1e3
		a.cost.Interval = a.pacer.hand(a.ctx).Seconds() * 1e3
		if a.frame > 0 { // the first one compiles shaders
			a.meter.timed(&a.cost)
		}
		if a.o.OnFrame != nil {
			if err := a.o.OnFrame(&a.cost); err != nil {
				return err
			}
		}
		a.overlay.times.add(a.busy)
		a.frame++
		if err := a.nothingWanted(false); err != nil {
			return err
		}
		if err := a.nothingLoads(); err != nil {
			return err
		}
		if a.ended = a.ended || a.done(); !a.ended {
			a.wait()
		}
	}
	return a.finish()
}

// step is one frame.
func (a *app) step(dt time.Duration) error {
	c := &a.cost
	*c = Frame{}
	a.dt = dt
	a.handle()
	a.newCook()
	a.move(dt)
	w := stopwatch{time.Now()}
	var err error
	if a.session != nil {
		err = a.advance(&w)
	} else {
		err = a.live(&w)
	}
	if err != nil {
		return err
	}
	a.appearing()
	if a.settles() {
		if err := a.r.Settle(a.ctx); err != nil {
			return fmt.Errorf("preview: %w", err)
		}
	}
	c.Upload = w.lap()
	a.tellShortage()
	a.draw()
	c.drew(&a.stats)
	w.lap()
	if err := a.surf.Present(); err != nil {
		return err
	}
	c.Present = w.lap()
	c.GC = a.meter.collections.since()
	return a.picture()
}

// live runs the frame of a runtime in real time.
func (a *app) live(w *stopwatch) error {
	c := &a.cost
	a.gate.deliver()
	a.relieve()
	c.Load = w.lap()
	if !a.paused {
		a.s.Update(a.streamCam, a.dt)
		a.updates++
		c.Update = w.lap()
		a.judge.Updated(time.Duration(c.Update * 1e6))
	}
	if err := a.takeEvents(); err != nil {
		return err
	}
	st := a.s.Stats()
	a.judge.Frame(a.s, &st, &a.streamCam, a.clock.elapsed(), a.dt)
	a.drawn = append(a.drawn[:0], a.judge.Drawn()...)
	a.limitBatches()
	w.lap()
	if err := a.streamTextures(); err != nil {
		return err
	}
	c.Textures = w.lap()
	a.r.Pump(render.Budget{Time: max(uploadTime, a.usual/uploadPart), Bytes: uploadBytes})
	return nil
}

// settles reports whether a frame waits for its textures: pictures of a run on
// a virtual clock must not depend on how fast they come.
func (a *app) settles() bool { return a.clock.virtual && a.o.RecordDir != "" }

func (a *app) draw() {
	f := render.Frame{
		Camera: a.drawCam, CullCamera: a.frozen, Drawn: a.drawn, Root: a.rootOf, View: a.view, Wireframe: a.show.Wireframe,
		Sun: a.sun, Exposure: a.exposure, Bounds: &a.bounds,
	}
	root := a.root(a.id)
	a.bounds = a.look.Bounds.Transform(&root)
	w := stopwatch{time.Now()}
	a.overlay.compose(a, &f)
	a.cost.HUD = w.lap()
	a.stats = a.r.Draw(f)
	a.meter.frame(&a.stats)
	a.settleCount()
}

func (a *app) root(id runtime.SceneID) geom.Mat4 {
	if m, ok := a.s.SceneTransform(id); ok {
		return m
	}
	return geom.Identity()
}

// settleCount counts the frames in which there was nothing to wait for.
func (a *app) settleCount() {
	st := a.s.Stats()
	if st.ActiveLoads > 0 || st.PendingLoadBacklog > 0 || a.stats.Pending > 0 || a.stats.TexturesPending > 0 || a.stats.BatchWork > 0 || len(a.drawn) == 0 {
		a.quiet = 0
		return
	}
	a.quiet++
}

// move takes the camera to its place in this frame.
func (a *app) move(dt time.Duration) {
	if a.following && a.input.moves() {
		a.following = false // a person takes over
		a.rig.Jump(camera.Pose{Position: a.streamCam.Position, Forward: a.streamCam.Forward, FovYDegrees: a.streamCam.FovYDegrees})
	}
	if a.following {
		a.streamCam = a.o.Path.At(a.clock.elapsed())
		a.drawCam = a.streamCam
		a.drawCam.Aspect = a.aspect()
		a.drawCam.Near, a.drawCam.Far = camera.Clip(a.look.Bounds, a.streamCam.Position)
	} else {
		a.rig.Step(a.input.take(a.surf), dt.Seconds())
		a.streamCam = a.rig.Camera(a.aspect())
		a.drawCam = a.streamCam
	}
	if a.recording != nil {
		a.recording.Add(a.clock.elapsed()-a.recorded, a.streamCam)
	}
}

// pumpAll uploads everything that waits.
func pumpAll(r renderer) {
	for range 1 << 20 {
		if r.Pump(render.Budget{}) {
			return
		}
	}
}
