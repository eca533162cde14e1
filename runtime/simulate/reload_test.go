package simulate

import (
	"context"
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// mismatching answers every request with a file that is not the declared one.
type mismatching struct{}

func (mismatching) Start(req payload.Request) {
	req.Done.Loaded(req.Token, payload.Result{Err: fmt.Errorf("%s: %w", req.Path, payload.ErrMismatch)})
}

// callers lists who has called.
func callers() (names string) {
	pc := make([]uintptr, 64)
	frames := goruntime.CallersFrames(pc[:goruntime.Callers(1, pc)])
	for {
		f, more := frames.Next()
		if names += f.Function + "\n"; !more {
			return names
		}
	}
}

// TestManifestIsReadAgainInTime: when a run that is drawn meets a damaged
// payload, the manifest is read again between two frames, whatever the machine
// does meanwhile, so that its answer comes in the same frame of every run.
func TestManifestIsReadAgainInTime(t *testing.T) {
	made := func(sum string) *manifest.Manifest {
		return &manifest.Manifest{
			Version: manifest.VersionGrid, PartitioningMode: manifest.ModeUniformGrid,
			StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 50, UnloadRadius: 80},
			Tiles: []manifest.Tile{{
				ID: "a", Path: "tiles/a.untold", FileSizeBytes: 10, SHA256: strings.Repeat(sum, 64),
				Bounds: manifest.Bounds{Max: [3]float64{1, 1, 1}}, Center: [3]float64{0.5, 0.5, 0.5},
			}},
		}
	}
	for name, fresh := range map[string]*manifest.Manifest{"scene.reload": made("b"), "warn": made("a")} {
		var frames []int
		now := 0
		session, err := Start(context.Background(), Cooked("scene.json", made("a")), Options{
			Drawing: &Drawing{Loader: mismatching{}, Device: runtime.NullDevice{}},
			Reload: func(context.Context) (*manifest.Manifest, error) {
				if by := callers(); !strings.Contains(by, "simulate.(*Session).Frame") {
					t.Errorf("%s: the manifest is read by\n%s", name, by)
				}
				return fresh, nil
			},
			OnRecord: func(r *Record) error {
				if r.Event == name {
					frames = append(frames, now)
				}
				return nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		// The first tick is in frame 5, the load fails 50 ms later, in frame 8.
		for now = range 12 {
			if err := session.Frame(context.Background(), runtime.Camera{Forward: [3]float64{0, 0, -1}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := session.Close(); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(frames) != "[9]" {
			t.Errorf("%s in the frames %v", name, frames)
		}
	}
}
