package cook

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
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
			o.TileSize[0], o.TileSize[2] = 50, 50
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
