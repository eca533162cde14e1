package preview

import (
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/memory"
)

// memoryWatch owns what a run knows of the machine's memory: the probe from which
// the budgets of real time follow, and the monitor that tells the shown scene's
// Streamer when the system wants memory back. In virtual time it has neither, so
// that a run is the same on every machine.
type memoryWatch struct {
	root    string          // stands for / ; of tests
	logger  *slog.Logger    // nil: silent
	probe   *memory.Probe   // nil in virtual time
	monitor *memory.Monitor // of the shown scene's Streamer, nil in virtual time
	level   atomic.Uint32   // the worst pressure since it was taken
	told    bool            // that the geometry budget is too small for the scene
}

// open finds out how much memory the scenes may have: what is configured, else a
// part of the graphics card's, else of the machine's. used returns what is on the
// device beside the geometry of the Streamer.
func (w *memoryWatch) open(cfg *config.Config, dedicated int64, used func() (geometry, textures int64)) {
	w.probe = memory.NewProbe(memory.ProbeOptions{
		Root:  w.root,
		Fixed: memory.Memory{GeometryBudget: cfg.GeometryBudget, TextureBudget: cfg.TextureBudget},
		GPU:   func() int64 { return dedicated },
		Used:  used,
	})
	if w.logger != nil {
		w.logger.Info("memory", "budgets", w.probe.String())
	}
}

// close ends the readings.
func (w *memoryWatch) close() error {
	if w.probe == nil {
		return nil
	}
	return w.probe.Close()
}

// watch passes on to a Streamer when the system wants memory back.
func (w *memoryWatch) watch(s *runtime.Streamer) {
	if w.told = false; w.probe == nil {
		return
	}
	w.monitor = memory.Watch(memory.MonitorOptions{Root: w.root}, func(level memory.PressureLevel) {
		s.NotifyMemoryPressure(level)
		w.report(level)
	})
	if w.logger != nil {
		w.logger.Info("memory pressure", "watched", w.monitor.String())
	}
}

// unwatch ends the watch; its Streamer is closed afterwards.
func (w *memoryWatch) unwatch() error {
	if w.monitor == nil {
		return nil
	}
	err := w.monitor.Close()
	w.monitor = nil
	return err
}

// report carries a level to the goroutine of Run.
func (w *memoryWatch) report(level memory.PressureLevel) {
	for {
		old := w.level.Load()
		if old >= uint32(level) || w.level.CompareAndSwap(old, uint32(level)) {
			return
		}
	}
}

// take returns the worst level since the last call.
func (w *memoryWatch) take() memory.PressureLevel { return memory.PressureLevel(w.level.Swap(0)) }

// shortage says once of a scene that the geometry budget leaves a part of what is
// in view out, "" else.
func (w *memoryWatch) shortage(st *runtime.Stats) string {
	if w.told || st.TilesGivenUp == 0 {
		return ""
	}
	w.told = true
	return fmt.Sprintf(
		"%d of %d tiles in view are missing: %.1f MB for geometry do not go farther than %.0f m; --preset or --set geometryBudget gives more",
		st.TilesGivenUp, st.TilesInView, float64(st.GeometryBudget)/1e6, st.GeometryReach)
}
