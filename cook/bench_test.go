package cook

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/manifest"
)

// BenchmarkRunLevels cooks buildings of hard-edged boxes (scripts/gen -kind
// boxes) with two LODs and an HLOD. Its baseline is the same cook without
// levels: x-base is how many times longer the levels make it.
func BenchmarkRunLevels(b *testing.B) {
	scene := filepath.Join(b.TempDir(), "boxes.glb")
	gen := exec.Command("go", "run", "../scripts/gen", "-kind", "boxes", "-blocks", "8", "-o", scene)
	if out, err := gen.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	st, err := os.Stat(scene)
	if err != nil {
		b.Fatal(err)
	}
	out := filepath.Join(b.TempDir(), "out")
	var plain, levels time.Duration
	triangles := 0
	b.SetBytes(st.Size())
	for b.Loop() {
		for _, with := range []bool{false, true} {
			o := ClassicOptions()
			o.TileSize[0], o.TileSize[2], o.Full = 50, 50, true
			if with {
				o.LODs, o.HLODs = manifest.DefaultLODLevels(), manifest.DefaultHLODLevels()
			}
			start := time.Now()
			res, err := Run(context.Background(), scene, out, o)
			if err != nil {
				b.Fatal(err)
			}
			if with {
				levels += time.Since(start)
			} else {
				plain += time.Since(start)
			}
			triangles += res.Triangles
		}
	}
	b.ReportMetric(levels.Seconds()/plain.Seconds(), "x-base")
	b.ReportMetric(float64(triangles)/2/1e6/levels.Seconds(), "Mtri/s")
}

// BenchmarkCookAgain cooks a generated city over an earlier cook of it, without a change
// and with one thing moved. The baseline is a cook from nothing in the same run:
// unchanged-% and edit-% are parts of its time.
func BenchmarkCookAgain(b *testing.B) {
	levels := DefaultOptions()
	levels.WholeLimit = 0
	b.Run("levels", func(b *testing.B) { cookAgain(b, levels, 1) })
	small := DefaultOptions() // the dearest: full cooks that take little for each tile
	small.LODs, small.HLODs, small.AutoPyramid = nil, nil, false
	small.TileSize[0], small.TileSize[2] = 6.25, 6.25
	b.Run("2000_tiles", func(b *testing.B) { cookAgain(b, small, 2000) })
}

// cookAgain cooks a city of so many tiles or more.
func cookAgain(b *testing.B, o Options, least int) {
	scene := filepath.Join(b.TempDir(), "city.gltf")
	gen := exec.Command("go", "run", "../scripts/gen", "-blocks", "4", "-o", scene)
	if out, err := gen.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	var doc map[string]any
	text, err := os.ReadFile(scene)
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil {
		b.Fatal(err)
	}
	var moved []any // the translation of something
	for _, n := range doc["nodes"].([]any) {
		node := n.(map[string]any)
		if name, _ := node["name"].(string); strings.HasPrefix(name, "Bench") {
			moved = node["translation"].([]any)
			break
		}
	}
	o.NoSync = true
	tiles := 0
	out := filepath.Join(b.TempDir(), "out")
	cook := func(full bool) time.Duration {
		o.Full = full
		start := time.Now()
		res, err := Run(context.Background(), scene, out, o)
		if err != nil {
			b.Fatal(err)
		}
		tiles = res.Tiles
		return time.Since(start)
	}
	save := func() {
		text, err := json.Marshal(doc)
		if err == nil {
			err = os.WriteFile(scene, text, 0o644)
		}
		old := time.Now().Add(-time.Hour) // so that its time can be trusted
		if err == nil {
			err = os.Chtimes(scene, old, old)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	var all, same, edit time.Duration
	for b.Loop() {
		save()
		all += cook(true)
		same += cook(false)
		moved[0] = moved[0].(float64) + 0.25
		save()
		edit += cook(false)
	}
	if tiles < least {
		b.Fatalf("%d tiles, at least %d are to be", tiles, least)
	}
	b.ReportMetric(float64(tiles), "tiles")
	b.ReportMetric(100*same.Seconds()/all.Seconds(), "unchanged-%")
	b.ReportMetric(100*edit.Seconds()/all.Seconds(), "edit-%")
	b.ReportMetric(all.Seconds()/float64(b.N), "s/cook")
	b.ReportMetric(same.Seconds()/float64(b.N), "s/unchanged")
}

// BenchmarkCookWithin cooks a field of houses within as little memory as an eighth of its
// file, and with plenty; x-plenty is the time of the first over that of the second in one
// run. The collector is set as the program sets it.
func BenchmarkCookWithin(b *testing.B) {
	scene := filepath.Join(b.TempDir(), "houses.glb")
	gen := exec.Command("go", "run", "../scripts/gen", "-kind", "boxes", "-blocks", "50", "-textures=false", "-o", scene)
	if out, err := gen.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	out := filepath.Join(b.TempDir(), "out")
	cook := func(memory int64, garbage int) time.Duration {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(memory * 9 / 10))
		defer debug.SetGCPercent(debug.SetGCPercent(garbage))
		o := DefaultOptions()
		o.LODs, o.HLODs, o.AutoPyramid, o.NoSync, o.Full, o.Memory = nil, nil, false, true, true, memory
		start := time.Now()
		if _, err := Run(context.Background(), scene, out, o); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	var little, plenty time.Duration
	for b.Loop() {
		little += cook(64<<20, 50)
		plenty += cook(8<<30, 400)
	}
	b.ReportMetric(little.Seconds()/plenty.Seconds(), "x-plenty")
	b.ReportMetric(little.Seconds()/float64(b.N), "s/cook")
}
