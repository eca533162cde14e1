// Embed streams a cooked scene without a window: a camera flies straight over
// it, frame by frame on a clock of its own, and the program says what would be
// drawn.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
)

type clock struct{ now time.Duration }

func (c *clock) Now() time.Duration { return c.now }

func fly(manifest string) (runtime.Stats, []runtime.Drawn, error) {
	c, deps := &clock{}, runtime.Deps{}
	deps.Clock = c // leave it out in a program that runs in real time
	s, err := runtime.Open(context.Background(), runtime.Source{Path: manifest}, config.Default(), deps)
	if err != nil {
		return runtime.Stats{}, nil, err
	}
	defer s.Close()
	camera := runtime.Camera{Forward: [3]float64{1, 0, 0}, FovYDegrees: 60, Aspect: 16.0 / 9, Near: 0.1, Far: 1000}
	var drawn []runtime.Drawn
	for x := -100.0; x <= 100; x += 0.25 {
		camera.Position = [3]float64{x, 2, 0}
		s.Update(camera, 16*time.Millisecond)
		drawn = s.AppendDrawn(drawn[:0]) // here a program draws
		if s.Stats().ActiveLoads > 0 {
			<-s.Ready() // offline: wait for the disk instead of dropping detail
		}
		c.now += 16 * time.Millisecond
	}
	return s.Stats(), drawn, nil
}

func main() {
	stats, drawn, err := fly(os.Args[len(os.Args)-1])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d loads, %d tiles drawn, %d undrawn\n", stats.LoadsCompleted, len(drawn), stats.Undrawn)
}
