package preview

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/preview/stats"
	"github.com/untoldkit/untold/runtime/memory"
)

// Budgets of one frame in real time: uploads must not be felt, so that they get
// a part of what frames take anyway, which is more where frames are slow, or the
// queue would grow. It is bounded, since a browser answers nobody meanwhile.
const (
	uploadTime  = time.Millisecond / 4 // at least
	uploadMost  = 10 * time.Millisecond
	uploadPart  = 2 // of the mean frame's time, as a divisor
	uploadBytes = 8 << 20
)

// loop runs frames until the end: each is a step, is handed over when it is due,
// and is measured; then it is decided whether another one follows.
func (a *app) loop() error {
	a.clock.start = time.Now()
	a.pacer.start()
	last := time.Duration(0)
	for !a.ended && a.ctx.Err() == nil {
		begin, cpu := time.Now(), stats.CPUTime()
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
		busy := time.Since(begin)
		a.meter.Busy(busy)
		a.cost.Frame, a.cost.MS, a.cost.CPU = a.frame, busy.Seconds()*1e3, (stats.CPUTime()-cpu).Seconds()*1e3
		a.cost.Interval = a.pacer.hand(a.ctx).Seconds() * 1e3
		if a.frame > 0 { // the first one compiles shaders
			a.meter.Timed(&a.cost)
		}
		if a.o.OnFrame != nil {
			if err := a.o.OnFrame(&a.cost); err != nil {
				return err
			}
		}
		a.tellStatus()
		a.frame++
		if err := a.ending.nothingWanted(&a.shown, &a.cam.stream, len(a.drawn), false); err != nil {
			return err
		}
		if err := a.ending.nothingLoads(&a.shown, len(a.drawn)); err != nil {
			return err
		}
		if a.ended = a.ended || a.ending.done(a.frame, a.clock); !a.ended {
			a.wait()
		}
	}
	return a.finish()
}

// tellStatus is for programs that show it themselves.
func (a *app) tellStatus() {
	if a.o.OnStatus == nil {
		return
	}
	a.status = Status{
		Scene: a.scenes.name(), Camera: a.cam.draw, Missing: a.overlay.load.missing, Frame: &a.cost, Stream: a.shown.s.Stats(), Drawn: a.stats,
		ErrorPixels: a.shown.drive.errorPixels(), View: a.display.view, Viewpoints: a.viewpoints,
	}
	a.o.OnStatus(&a.status)
}

// step is one frame, in this order: what the person did and a new cook change
// what is asked for; the cameras move; streaming sees where they are now, before
// anything is drawn; what comes and goes fades by what streaming has decided; the
// picture is drawn last and shows all of that.
func (a *app) step(dt time.Duration) error {
	c := &a.cost
	*c = stats.Frame{}
	a.dt = dt
	a.handle()
	for _, do := range a.o.Control.take() {
		do(a)
	}
	a.newCook()
	steered := a.input.moves()
	a.cam.move(a.input.take(a.lines()), steered, a.clock.elapsed(), dt, a.aspect())
	w := &a.lap
	w.Last = time.Now()
	if err := a.advance(w); err != nil {
		return err
	}
	a.appear.fadeIn(a.drawn, a.shown.id, a.clock.elapsed(), dt)
	if a.settles() {
		if err := a.r.Settle(a.ctx); err != nil {
			return fmt.Errorf("preview: %w", err)
		}
	}
	c.Upload = w.Lap()
	st := a.shown.s.Stats()
	if text := a.memory.shortage(&st); text != "" {
		a.messages.alert(text)
	}
	a.draw()
	c.Drew(&a.stats)
	w.Lap()
	if err := a.surf.Present(); err != nil {
		return err
	}
	c.Present = w.Lap()
	c.GC = a.meter.Collections()
	return a.picture()
}

// advance streams for one frame: the system's pressure is answered before the
// runtime decides; batches get what geometry leaves; textures are sized by what is
// drawn; then as much is uploaded as the frame has time for. On a virtual clock
// that is everything, so that no picture depends on how fast the machine is.
func (a *app) advance(w *stats.Stopwatch) (err error) {
	if level := a.memory.take(); level > memory.PressureNone {
		a.meter.PressureSignal()
		a.r.RelieveBatches(level)
	}
	drawn, err := a.shown.drive.update(a.ctx, a.cam.stream, a.dt, a.paused, w, &a.cost)
	if err != nil {
		return err
	}
	a.drawn = append(a.drawn[:0], drawn...)
	a.limitBatches()
	w.Lap()
	if a.clock.virtual {
		err = a.r.AwaitTextures(a.ctx)
	} else {
		retry := a.frame%retryFrames == 0 && a.stats.TexturesMissing > 0
		st := a.shown.s.Stats()
		f := render.Frame{Camera: a.cam.draw, CullCamera: a.cam.frozen, Drawn: a.drawn, Root: a.shown.rootOf}
		err = a.textures.stream(&f, a.cam.stream.Position, a.clock.Now(), a.lines(), st.TextureBudget, st.ActiveLoads > 0, a.shown.s.Drafts(), retry)
	}
	if err != nil {
		return err
	}
	a.cost.Textures = w.Lap()
	if !a.clock.virtual {
		a.r.Pump(render.Budget{Time: min(max(uploadTime, a.meter.Mean()/uploadPart), uploadMost), Bytes: uploadBytes})
		return nil
	}
	for range 1 << 20 {
		if a.r.Pump(render.Budget{}) {
			break
		}
	}
	return nil
}

// settles reports whether a frame waits for its textures: pictures of a run on
// a virtual clock must not depend on how fast they come.
func (a *app) settles() bool { return a.clock.virtual && a.o.RecordDir != "" }

// draw draws what is resident, and what is written over it.
func (a *app) draw() {
	f := render.Frame{
		Camera: a.cam.draw, CullCamera: a.cam.frozen, Drawn: a.drawn, Root: a.shown.rootOf, View: a.display.view, Wireframe: a.display.show.Wireframe,
		Exposure: a.display.exposure, Bounds: &a.shown.world,
	}
	root := a.shown.root()
	f.Daylight, f.Lights = a.shown.light.at(&root, a.display.lighting)
	f.Grade = a.shown.open.Grade != nil && !a.display.ungraded
	f.Sun = root.Dir(a.shown.light.sun)
	a.shown.world = a.cam.scene.Bounds.Transform(&root)
	w := stats.Stopwatch{Last: time.Now()}
	a.compose(&f)
	a.cost.HUD = w.Lap()
	a.stats = a.r.Draw(f)
	a.meter.Drew(&a.stats)
	st := a.shown.s.Stats()
	a.ending.drew(&st, &a.stats, len(a.drawn), a.shown.s.Drafts())
}
