package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/fuzzbound"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

// FuzzManifest streams whatever the manifest package reads for a second, with
// a loader that answers, fails and hangs in turns: what is counted stays right,
// nothing but plain paths below the folder is asked for, and the work is
// bounded.
func FuzzManifest(f *testing.F) {
	levels := sceneOf(tileAt("a", around(0, 0, 0, 10), lodsAt(60, 90), hlodAt(120)), tileAt("b", around(100, 0, 0, 10), prefetchAt(55)))
	levels.SharedBucket = &manifest.SharedBucket{Tile: tileAt("shared", around(0, 0, 0, 100))}
	floors := sceneOf(tileAt("c", around(0, 4, 0, 3), interiorOn(1), nodeID("F02_0")), tileAt("d", around(0, 1, 0, 5), radiiAt(30, 60)))
	floors.PartitioningMode = manifest.ModeQuadtreeFloor
	floors.InteriorZone = &manifest.Bounds{Min: [3]float64{-60, -10, -60}, Max: [3]float64{60, 30, 60}}
	for _, m := range []*manifest.Manifest{levels, floors} {
		var b bytes.Buffer
		if err := m.Encode(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes(), 0.0, 0.0, uint8(0))
		f.Add(b.Bytes(), 70.0, -50.0, uint8(0b01_10_00_11))
	}
	huge := map[string]any{"min": []float64{-1e308, -1e308, -1e308}, "max": []float64{1e308, 1e308, 1e308}}
	text, err := json.Marshal(map[string]any{
		"version": 4, "streaming_defaults": map[string]any{"streaming_radius": 1e308, "unload_radius": 1.7e308, "priority": 1 << 40},
		"tiles": []any{
			map[string]any{"tile_id": "a", "path_relative_to_manifest": "../a.untold", "bounds": huge, "file_size_bytes": int64(math.MaxInt64)},
			map[string]any{"tile_id": "a", "path_relative_to_manifest": "a.untold", "bounds": huge, "prefetch_radius": -1, "streaming_radius": 0},
		},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text, 1e300, math.Inf(-1), uint8(7))
	f.Fuzz(func(t *testing.T, data []byte, x, z float64, answers uint8) {
		if len(data) > 64<<10 {
			return
		}
		m, err := manifest.Decode(data)
		if err != nil || len(m.Tiles) > 200 {
			return
		}
		fuzzbound.Run(t, len(data), fuzzbound.Limits{Alloc: 64 << 20, PerByte: 2000}, func() { streamForASecond(t, m, x, z, answers) })
	})
}

func streamForASecond(t *testing.T, m *manifest.Manifest, x, z float64, answers uint8) {
	t.Helper()
	clock := &fake.Clock{Time: fake.Epoch}
	r := &rig{t: t, clock: clock, dt: 50 * time.Millisecond, camera: Camera{Position: [3]float64{x, 2, z}, Forward: [3]float64{0, 0, -1}}}
	// Two bits for each of four requests say what becomes of it.
	fate := func(req payload.Request) uint8 { return answers >> (2 * (req.Token % 4)) & 3 }
	r.loader = &fake.Loader{
		Clock:   clock,
		Latency: func(req payload.Request) time.Duration { return time.Duration(fate(req)) * 70 * time.Millisecond },
		Fault:   func(req payload.Request) string { return []string{"", "", "fail", "hang"}[fate(req)] },
		Bytes:   func(req payload.Request) int64 { return int64(fate(req)) << 40 },
	}
	cfg := config.Default()
	cfg.GeometryBudget = 1 << 30
	s, err := Open(context.Background(), Source{Manifest: m, Path: "scene/scene.json"}, cfg, Deps{Clock: clock, Loader: r.loader, MemoryProbe: r})
	if err != nil {
		return
	}
	defer s.Close()
	r.s = s
	const frames = 20
	for i := range frames {
		r.step()
		r.camera.Position[0] += 3
		switch i {
		case 10:
			s.NotifyMemoryPressure(memory.PressureWarning)
		case 15:
			s.NotifyMemoryPressure(memory.PressureCritical)
		}
		checkInvariants(t, r, false)
	}
	for _, req := range r.loader.Started {
		if !filepath.IsLocal(filepath.FromSlash(req.Path)) {
			t.Fatalf("%q is asked for", req.Path)
		}
	}
	if n := len(r.loader.Started); n > frames*(cfg.MaxConcurrentTileLoads+cfg.MaxConcurrentLODLoads+cfg.MaxConcurrentHLODLoads) {
		t.Fatalf("%d requests in %d frames", n, frames)
	}
}
