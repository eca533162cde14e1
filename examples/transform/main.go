// Transform moves a cooked scene under a camera that stands still, as one moves a
// model that lies on a table: what streams follows where the scene is.
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

// slide takes a scene along X past the camera and returns from where to where some
// of it was drawn.
func slide(path string) (first, last float64, err error) {
	s, err := runtime.Open(context.Background(), runtime.Source{Path: path}, config.Default(), runtime.Deps{})
	if err != nil {
		return 0, 0, err
	}
	defer s.Close()
	camera := runtime.Camera{Forward: [3]float64{1, 0, 0}, FovYDegrees: 60, Aspect: 16.0 / 9, Near: 0.1, Far: 1000}
	scene, seen := s.Scenes()[0], false
	for x := 1000.0; x >= 0; x -= 5 {
		// Column-major; radii are in the scene's space and would scale with it.
		if err := s.SetSceneTransform(scene, [16]float64{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, 0, 0, 1}); err != nil {
			return 0, 0, err
		}
		s.Update(camera, 100*time.Millisecond)
		for s.Stats().ActiveLoads > 0 {
			<-s.Ready()
			s.Update(camera, 100*time.Millisecond)
		}
		if len(s.AppendDrawn(nil)) > 0 {
			if last = x; !seen {
				first, seen = x, true
			}
		}
	}
	return first, last, nil
}

func main() {
	first, last, err := slide(os.Args[len(os.Args)-1])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("drawn while the scene was %g to %g m away\n", first, last)
}
