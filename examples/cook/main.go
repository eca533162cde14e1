// Cook cooks a glTF scene from Go: with options of its own, its progress, what was left
// out or changed, and the figures of the result. A second cook finds nothing to do.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"

	"github.com/untoldkit/untold/cook"
)

// run cooks a scene into a folder and tells about it on w.
func run(ctx context.Context, scene, dir string, w io.Writer) (*cook.Result, error) {
	opts := cook.DefaultOptions()               // those of untold cook
	opts.TileSize[0], opts.TileSize[2] = 32, 32 // metres; left at 0 they follow from the scene
	opts.WholeLimit = 0                         // coarser levels although the scene is small
	stage := ""
	opts.Progress = func(s string, done, total int) { // on one goroutine at a time
		if s != stage {
			stage = s
			fmt.Fprintf(w, "%s: %d to do\n", s, total)
		}
	}
	res, err := cook.Run(ctx, scene, dir, opts)
	switch {
	case errors.Is(err, cook.ErrBadInput):
		return nil, fmt.Errorf("the scene is at fault: %w", err)
	case errors.Is(err, cook.ErrBusy):
		return nil, fmt.Errorf("try again later: %w", err)
	case err != nil:
		return nil, err // the folder is as it was before
	}
	for _, n := range res.Notes {
		word := "note"
		if n.Warning {
			word = "warning"
		}
		fmt.Fprintf(w, "%s: %s (%s, %d times)\n", word, n.Message, n.Code, n.Count)
	}
	fmt.Fprintf(w, "%s: %d tiles, %d triangles, %d bytes of full detail, %d levels\n",
		res.ManifestPath, res.Tiles, res.Triangles, res.PayloadBytes, res.Levels)
	if res.Unchanged {
		fmt.Fprintln(w, "nothing has changed since the last cook")
	}
	return res, nil
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: cook SCENE.glb FOLDER")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if _, err := run(ctx, os.Args[1], os.Args[2], os.Stdout); err != nil {
		log.Fatal(err)
	}
}
