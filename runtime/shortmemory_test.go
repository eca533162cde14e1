package runtime

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
	"pgregory.net/rapid"
)

// shortScene draws a scene with tiles of all kinds, and what they take.
func shortScene(t *rapid.T) (*manifest.Manifest, map[string]int64) {
	m, bytes := sceneOf(), map[string]int64{}
	if rapid.Bool().Draw(t, "floors") {
		m.PartitioningMode = manifest.ModeKDTreeFloor
		m.InteriorZone = &manifest.Bounds{Min: [3]float64{-40, -10, -40}, Max: [3]float64{40, 30, 40}}
	}
	coord := rapid.Float64Range(-120, 120)
	for i := range rapid.IntRange(2, 25).Draw(t, "tiles") {
		b := around(coord.Draw(t, "x"), 0, coord.Draw(t, "z"), rapid.Float64Range(1, 15).Draw(t, "half"))
		stream := rapid.Float64Range(10, 100).Draw(t, "stream")
		unload := stream + rapid.Float64Range(4, 60).Draw(t, "band")
		opts := []tileOption{radiiAt(stream, unload)}
		full := rapid.Int64Range(1, 400).Draw(t, "full")
		id := fmt.Sprintf("t%02d", i)
		if rapid.Bool().Draw(t, "hlod") {
			opts = append(opts, hlodAt(unload*0.95))
		}
		if rapid.Bool().Draw(t, "lod") {
			opts = append(opts, lodsAt(unload*0.8))
		}
		if rapid.IntRange(0, 3).Draw(t, "interior") == 0 {
			opts = append(opts, interiorOn(0))
		}
		tile := tileAt(id, b, opts...)
		tile.FileSizeBytes = full
		for k := range tile.HLODLevels {
			tile.HLODLevels[k].FileSizeBytes = max(1, full/10)
			bytes[id+" hlod"] = max(1, full/10)
		}
		for k := range tile.LODLevels {
			tile.LODLevels[k].FileSizeBytes = max(1, full/3)
			bytes[id+" lod0"] = max(1, full/3)
		}
		bytes[id+" full"] = full
		m.Tiles = append(m.Tiles, tile)
	}
	return m, bytes
}

// shortWatch checks what is given up, and how it comes back.
type shortWatch struct {
	t       *rapid.T
	r       *rig
	drawn   map[string]bool
	evicted map[string]time.Duration // by tile and representation
	absent  []uint8                  // what was out of view
	gone    map[string]bool          // while the camera stands
	stands  bool
	known   bool // what everything takes, as after an earlier residence
}

func (w *shortWatch) frame() {
	s := w.r.s
	sc := s.scenes[0]
	st := s.Stats()
	for tile, absent := range sc.sight.absent {
		if w.absent[tile] > 0 && absent == 0 { // it has come into view, and is not held back
			for rep := payload.RepFull; rep <= payload.RepLOD0; rep++ {
				delete(w.evicted, sc.tiles.id[tile]+" "+rep.String())
			}
		}
	}
	copy(w.absent, sc.sight.absent)
	for _, e := range w.r.last {
		key := e.Tile + " " + e.Rep.String()
		switch e.Kind {
		case event.EvictTile:
			w.evicted[key] = e.Time
		case event.TileDispatch, event.HLODLoad, event.LODLoad:
			if at, ok := w.evicted[key]; ok && e.Time-at < 3*time.Second {
				w.fail("%s comes back after %v", key, e.Time-at)
			}
		}
	}
	now := map[string]bool{}
	for _, d := range s.AppendDrawn(nil) {
		now[sc.tiles.id[d.Tile]] = true
	}
	for i, id := range sc.tiles.id {
		tile := int32(i)
		d := sc.tiles.box[tile].Distance(w.r.camera.Position)
		wants := d <= sc.tiles.radius[tile].unload || sc.tiles.covers(tile, d)
		switch {
		case w.drawn[id] && !now[id] && wants && d <= st.GeometryReach:
			w.fail("%s is left bare at %v m, the reach is %v m", id, d, st.GeometryReach)
		case w.stands && w.drawn[id] && !now[id]:
			w.gone[id] = true
		case w.stands && now[id] && w.gone[id] && sc.tiles.levelAt[tile] == sc.tiles.levelAt[tile+1]:
			w.fail("%s has no levels, and has left and come back though the camera stands", id)
		}
	}
	w.drawn = now
	if st.Undrawn > 0 {
		w.fail("undrawn")
	}
	if w.known && st.GeometryUsed > st.GeometryBudget {
		w.fail("%d bytes of %d", st.GeometryUsed, st.GeometryBudget)
	}
}

func (w *shortWatch) fail(format string, args ...any) {
	log := w.r.log
	w.t.Fatalf("at %.1f s: %s\n%s", w.r.now(), fmt.Sprintf(format, args...), strings.Join(log[max(0, len(log)-60):], "\n"))
}

// However short memory is: what is drawn within reach is never taken away without
// a successor, what was given up stays away for 3 s unless it comes into view, the budget
// holds, and while the camera stands no tile without levels comes and goes.
func TestShortMemory(t *testing.T) {
	race.Checks(t, 10) // make test does all of them without the detector
	tb := t
	rapid.Check(t, func(t *rapid.T) {
		m, bytes := shortScene(t)
		sum, most := int64(0), int64(0)
		for _, n := range bytes {
			sum, most = sum+n, max(most, n)
		}
		budget := max(most*2, sum*int64(rapid.IntRange(5, 100).Draw(t, "percent"))/100)
		r := newRig(tb, m, withConfig(func(c *config.Config) {
			*c = config.Default()
			c.GeometryBudget, c.OutOfCorePolicy = budget, config.OutOfCoreImmediate
			c.EnableFrustumGate = rapid.Bool().Draw(t, "frustum")
			c.MaxConcurrentTileLoads = rapid.IntRange(1, 4).Draw(t, "loads")
		}), withLatency(rapid.Float64Range(0.01, 1).Draw(t, "latency")))
		r.loader.Bytes = func(q payload.Request) int64 { return bytes[q.TileID+" "+q.Key.Rep.String()] }
		r.memory = memory.Memory{}
		r.lens()
		r.dt = 50 * time.Millisecond
		w := &shortWatch{t: t, r: r, absent: make([]uint8, len(m.Tiles)), evicted: map[string]time.Duration{}, gone: map[string]bool{}, known: rapid.Bool().Draw(t, "known")}
		for key, n := range bytes {
			id, name, _ := strings.Cut(key, " ")
			if rep, err := payload.ParseRep(name); err == nil && w.known {
				tiles := r.s.scenes[0].tiles
				tiles.fileOf(int32(slices.Index(tiles.id, id)), rep).gpu = n
			}
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "walk"), 1))
		at, dir := geom.Vec3{0, 2, 0}, 0.0
		speed := rapid.SampledFrom([]float64{1.5, 5, 20}).Draw(t, "speed")
		for range 1200 {
			dir += rng.Float64()*0.4 - 0.2
			ahead := geom.Vec3{math.Cos(dir), 0, math.Sin(dir)}
			if next := at.Add(ahead.Scale(speed * r.dt.Seconds())); math.Abs(next[0]) < 150 && math.Abs(next[2]) < 150 {
				at = next
			} else {
				dir += math.Pi / 2
			}
			r.camera.Position, r.camera.Forward = at, ahead
			r.step()
			w.frame()
		}
		for k := range 600 { // it stands, once what moved has settled
			w.stands = k > 200
			r.step()
			w.frame()
		}
	})
}
