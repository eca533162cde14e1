package main

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/boxscene"
	"github.com/untoldkit/untold/internal/testfile"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	scene := testfile.Write(t, filepath.Join(dir, "boxes.glb"), boxscene.New(boxscene.Box{Name: "a"}, boxscene.Box{Name: "b", At: [3]float64{40, 0, 0}}).Bytes())
	var said strings.Builder
	res, err := run(t.Context(), scene, filepath.Join(dir, "out"), &said)
	if err != nil || res.Tiles == 0 || res.Triangles != 24 || !strings.Contains(said.String(), "to do\n") || !strings.Contains(said.String(), "boxes.json: ") {
		t.Fatalf("%v\n%s", err, &said)
	}
	said.Reset()
	if res, err = run(t.Context(), scene, filepath.Join(dir, "out"), &said); err != nil || !res.Unchanged || !strings.Contains(said.String(), "nothing has changed") {
		t.Errorf("%v\n%s", err, &said)
	}
	bad := testfile.Write(t, filepath.Join(dir, "bad.gltf"), `{"asset": {"version": "2.0"}, "scenes": 3}`)
	if _, err := run(t.Context(), bad, filepath.Join(dir, "none"), io.Discard); err == nil {
		t.Error("a scene that is none is cooked")
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := run(ctx, scene, filepath.Join(dir, "ended"), io.Discard); err == nil {
		t.Error("a cook that was called off ends well")
	}
}
