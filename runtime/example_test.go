package runtime_test

import (
	"context"
	"fmt"
	"time"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/payload"
)

// instant is a Loader that has every file at hand.
type instant struct{}

func (instant) Start(req payload.Request) {
	req.Done.Loaded(req.Token, payload.Result{GeometryBytes: 1 << 20})
}

// stepped is a Clock that moves when it is told to.
type stepped struct{ now time.Duration }

func (c *stepped) Now() time.Duration { return c.now }

// Walk up to a tile and away from it again, on a clock of our own.
func ExampleStreamer_Update() {
	m := &manifest.Manifest{
		StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 50, UnloadRadius: 100},
		Tiles: []manifest.Tile{{
			ID: "hall", Path: "hall.untold", Bounds: manifest.Bounds{Max: [3]float64{10, 10, 10}},
			HLODLevels: []manifest.Level{{Path: "hall_hlod.untold", SwitchDistance: 95}},
		}},
	}
	clock := &stepped{}
	s, err := runtime.Open(context.Background(), runtime.Source{Manifest: m, Path: "scene.json"}, config.Default(),
		runtime.Deps{Clock: clock, Loader: instant{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	for ; clock.now < 40*time.Second; clock.now += 100 * time.Millisecond {
		x := -200 + 20*clock.now.Seconds() // through the hall and out again
		s.Update(runtime.Camera{Position: [3]float64{x, 2, 5}, Forward: [3]float64{1, 0, 0}}, 100*time.Millisecond)
		for _, e := range s.Events() {
			if e.Kind == event.Drawn {
				fmt.Printf("x = %4.0f: %s draws %v\n", x, e.Tile, e.Rep)
			}
		}
	}
	// Output:
	// x = -198: hall draws hlod
	// x =  -82: hall draws full
	// x =  172: hall draws hlod
	// x =  512: hall draws none
}
