package runtime

import (
	"testing"

	"github.com/untoldkit/untold/manifest"
)

// partEnv is what the parts of a Streamer share, for tests of one part alone:
// 1000 s on the clock and one scene of the given tiles.
func partEnv(t testing.TB, cfg *Config, tiles ...manifest.Tile) (*env, *scene) {
	t.Helper()
	e := newEnv(cfg)
	e.now = epoch
	sc, err := newScene(Source{Manifest: sceneOf(tiles...), Path: "scene/scene.json"}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	sc.env, sc.id, sc.budget = e, 1, &budgetSplit{}
	e.scenes = append(e.scenes, sc)
	return e, sc
}
