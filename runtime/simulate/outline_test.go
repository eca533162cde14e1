package simulate

import (
	"fmt"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
)

// TestOutlineComesFirst: over a slow network every tile in view shows something
// as soon as the smallest levels of all have come, whatever full tiles weigh, and
// all of them become full in the end.
func TestOutlineComesFirst(t *testing.T) {
	const side, edge, full, lod, hlod = 5, 50.0, 2_000_000, 600_000, 20_000
	m := &manifest.Manifest{
		Version: manifest.VersionGrid, PartitioningMode: manifest.ModeUniformGrid,
		StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 400, UnloadRadius: 450, Priority: manifest.DefaultPriority},
	}
	for i := range side * side {
		at := geom.Vec3{float64(i%side)*edge - side*edge/2, 0, -float64(i/side)*edge - edge - 20}
		box := geom.Box{Min: at, Max: at.Add(geom.Vec3{edge, 10, edge})}
		id := fmt.Sprintf("t%02d", i)
		m.Tiles = append(m.Tiles, manifest.Tile{
			ID: id, Path: id + ".untold", FileSizeBytes: full, Bounds: manifest.BoundsOf(box), Center: box.Center(),
			LODLevels:  []manifest.Level{{Path: id + "_lod.untold", SwitchDistance: 410, FileSizeBytes: lod}},
			HLODLevels: []manifest.Level{{Path: id + "_hlod.untold", SwitchDistance: 440, FileSizeBytes: hlod}},
		})
	}
	s := Cooked("m.json", m)
	s.Duration = 80 * time.Second
	s.Path.FovYDegrees, s.Path.Aspect, s.Path.Near, s.Path.Far = 100, 2, 0.1, 5000
	s.Path.Keys = []CameraKey{{Position: [3]float64{0, 60, 20}, Forward: [3]float64{0, -0.4, -1}}}
	const bandwidth = 1e6
	first := map[string]time.Duration{}
	fulls := 0
	for _, r := range mustRun(t, s, Options{Bandwidth: bandwidth, NetworkLatency: 50 * time.Millisecond}).Records {
		if r.Event != "drawn" {
			continue
		}
		id, _ := r.value("tile")
		if _, ok := first[id.(string)]; !ok {
			first[id.(string)] = r.T
		}
		if rep, _ := r.value("rep"); rep == "full" {
			fulls++
		}
	}
	if len(first) != side*side || fulls != side*side {
		t.Fatalf("%d tiles are drawn, %d become full", len(first), fulls)
	}
	// All outlines are half a megabyte; they come in rounds, each with its latency
	// and parse.
	for id, at := range first {
		if limit := 3 * time.Second; at > limit {
			t.Errorf("%s is drawn first at %v, want %v", id, at, limit)
		}
	}
}
