// Regions streams a world of several scenes: the manifest of each is read when the
// camera comes near, and the scene is closed when the camera has gone.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
)

// travel visits the regions along X, a kilometre apart, and returns what is told
// of them.
func travel(manifests []string) (told []string, err error) {
	none := runtime.Source{Manifest: &manifest.Manifest{Version: manifest.VersionGrid, PartitioningMode: manifest.ModeUniformGrid}}
	s, err := runtime.Open(context.Background(), none, config.Default(), runtime.Deps{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var list []runtime.Region
	for i, path := range manifests {
		at := float64(1000 * i)
		list = append(list, runtime.Region{
			ID: fmt.Sprintf("quarter %d", i), Source: runtime.Source{Path: path}, Radius: 300, UnloadRadius: 400,
			Bounds: manifest.Bounds{Min: [3]float64{at, 0, 0}, Max: [3]float64{at + 1, 1, 1}},
		})
	}
	regions, err := runtime.NewRegions(s, list...)
	if err != nil {
		return nil, err
	}
	defer regions.Close()
	camera := runtime.Camera{Forward: [3]float64{1, 0, 0}, FovYDegrees: 60, Aspect: 16.0 / 9, Near: 0.1, Far: 1000}
	for x := -500.0; x <= float64(1000*len(manifests)); x += 10 {
		camera.Position = [3]float64{x, 2, 0}
		for settled := false; !settled; { // offline: wait for the disk
			regions.Update(camera, 500*time.Millisecond) // before the Streamer's
			s.Update(camera, 500*time.Millisecond)
			settled = s.Stats().ActiveLoads == 0
			for _, r := range list {
				if state, _, _ := regions.State(r.ID); state == runtime.RegionLoading {
					settled = false
				}
			}
			if !settled {
				select { // manifests of regions are read beside the Streamer
				case <-s.Ready():
				case <-time.After(10 * time.Millisecond):
				}
			}
		}
		for _, e := range s.Events() {
			if e.Region != "" {
				told = append(told, fmt.Sprintf("%s %s", e.Kind, e.Region))
			}
		}
	}
	return told, nil
}

func main() {
	told, err := travel(os.Args[1:])
	if err != nil {
		log.Fatal(err)
	}
	for _, line := range told {
		fmt.Println(line)
	}
}
