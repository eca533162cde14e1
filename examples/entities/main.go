// Entities streams .untold files that no manifest lists: a street of lamps, each of
// which comes when the camera is near and goes when it has passed.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
)

// walk passes n entities of one file, which stand 50 m apart, and returns in which
// order they were drawn for the first time.
func walk(file string, n int) (order []string, stats runtime.Stats, err error) {
	none := runtime.Source{Manifest: &manifest.Manifest{Version: manifest.VersionGrid, PartitioningMode: manifest.ModeUniformGrid}}
	s, err := runtime.Open(context.Background(), none, config.Default(), runtime.Deps{})
	if err != nil {
		return nil, stats, err
	}
	defer s.Close()
	dir, name := filepath.Split(file)
	scenes := map[payload.SceneID]string{}
	for i := range n {
		id, err := s.AddEntity(dir, runtime.Entity{
			ID: fmt.Sprintf("lamp %d", i), Path: name, StreamingRadius: 40, UnloadRadius: 60,
			Bounds: manifest.Bounds{Max: [3]float64{1, 1, 1}}, // of what the file holds
		})
		if err != nil {
			return nil, stats, err
		}
		scenes[id] = fmt.Sprintf("lamp %d", i)
		at := float64(50 * i) // along X
		if err := s.SetSceneTransform(id, [16]float64{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, at, 0, 0, 1}); err != nil {
			return nil, stats, err
		}
	}
	camera := runtime.Camera{Forward: [3]float64{1, 0, 0}, FovYDegrees: 60, Aspect: 16.0 / 9, Near: 0.1, Far: 1000}
	for x := -100.0; x <= float64(50*n+100); x += 0.5 {
		camera.Position = [3]float64{x, 2, 5}
		s.Update(camera, 100*time.Millisecond)
		if s.Stats().ActiveLoads > 0 {
			<-s.Ready()
		}
		for _, d := range s.AppendDrawn(nil) {
			if lamp, ok := scenes[d.Scene]; ok {
				order = append(order, lamp)
				delete(scenes, d.Scene)
			}
		}
	}
	return order, s.Stats(), nil
}

func main() {
	order, stats, err := walk(os.Args[len(os.Args)-1], 4)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q were drawn; %d loads\n", order, stats.LoadsCompleted)
}
