package preview

import (
	"fmt"
	"sync/atomic"

	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/memory"
)

// pressure carries reports of a memory.Monitor to the goroutine of Run.
type pressure struct {
	level atomic.Uint32 // the worst since it was taken
}

func (p *pressure) report(level runtime.PressureLevel) {
	for {
		old := p.level.Load()
		if old >= uint32(level) || p.level.CompareAndSwap(old, uint32(level)) {
			return
		}
	}
}

func (p *pressure) take() runtime.PressureLevel { return runtime.PressureLevel(p.level.Swap(0)) }

// openProbe finds out how much memory the scenes may have: what is configured,
// else a part of the graphics card's, else of the machine's. Virtual time knows
// only what is configured, so that a run is the same on every machine.
func (a *app) openProbe() {
	if a.clock.virtual {
		return
	}
	dedicated := a.r.Info().DedicatedBytes
	a.probe = memory.NewProbe(memory.ProbeOptions{
		Root:  a.o.memoryRoot,
		Fixed: runtime.Memory{GeometryBudget: a.o.Config.GeometryBudget, TextureBudget: a.o.Config.TextureBudget},
		GPU:   func() int64 { return dedicated },
		Used:  a.used,
	})
	if a.o.Logger != nil {
		a.o.Logger.Info("memory", "budgets", a.probe.String())
	}
}

// closeProbe ends the readings.
func (a *app) closeProbe() error {
	if a.probe == nil {
		return nil
	}
	return a.probe.Close()
}

// used returns what is on the device beside the geometry of the streamer, as of
// the last frame.
func (a *app) used() (geometry, textures int64) { return a.stats.BatchBytes, a.stats.TextureBytes }

// watchMemory passes on to a Streamer when the system wants memory back.
func (a *app) watchMemory(s *runtime.Streamer) {
	if a.clock.virtual {
		return
	}
	o := memory.MonitorOptions{Root: a.o.memoryRoot}
	a.monitor = memory.Watch(o, func(level runtime.PressureLevel) {
		s.NotifyMemoryPressure(level)
		a.pressure.report(level)
	})
	if a.o.Logger != nil {
		a.o.Logger.Info("memory pressure", "watched", a.monitor.String())
	}
}

// closeMonitor ends the watch, before its Streamer is closed.
func (a *app) closeMonitor() error {
	if a.monitor == nil {
		return nil
	}
	err := a.monitor.Close()
	a.monitor = nil
	return err
}

// closeStreamer ends what runs for the present scene.
func (a *app) closeStreamer() error {
	if err := a.closeMonitor(); err != nil {
		return err
	}
	if a.session != nil {
		return a.session.Close()
	}
	return a.s.Close()
}

// relieve answers memory pressure with what the runtime knows nothing of.
func (a *app) relieve() {
	if level := a.pressure.take(); level > runtime.PressureNone {
		a.meter.out.PressureSignals++
		a.r.RelieveBatches(level)
	}
}

// tellShortage says once of a scene that the geometry budget leaves a part of
// what is in view out.
func (a *app) tellShortage() {
	if a.short {
		return
	}
	st := a.s.Stats()
	if st.TilesGivenUp == 0 {
		return
	}
	a.short = true
	a.news.alarm(a.clock.elapsed(), fmt.Sprintf(
		"%d of %d tiles in view are missing: %.1f MB for geometry do not go farther than %.0f m; --preset or --set geometryBudget gives more",
		st.TilesGivenUp, st.TilesInView, float64(st.GeometryBudget)/1e6, st.GeometryReach))
}
