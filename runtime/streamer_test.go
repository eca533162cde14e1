package runtime

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
)

// A frame of any length leaves the tick interval alone.
func TestLongFramesDoNotStopTheTicks(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", face(10))))
	for _, dt := range []time.Duration{50 * time.Millisecond, math.MaxInt64, math.MinInt64} {
		r.s.Update(r.camera, dt)
	}
	before := r.s.Stats().Ticks
	for range 10 {
		r.s.Update(r.camera, 100*time.Millisecond)
	}
	if got := r.s.Stats().Ticks - before; got != 10 {
		t.Errorf("%d ticks in 10 frames of 0.1 s", got)
	}
}

func TestClosedStreamerSaysSo(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", face(10))))
	r.until(1)
	if len(r.s.Snapshot().Tiles) != 1 {
		t.Fatal("nothing is loaded")
	}
	if err := r.s.Close(); err != nil {
		t.Fatal(err)
	}
	src := Source{Manifest: sceneOf(), Path: "scene/scene.json"}
	_, add := r.s.AddScene(src)
	_, reload := r.s.ReloadScene(1, src)
	_, entities := r.s.AddEntities("x", Entity{Path: "a.untold", Bounds: face(0)})
	for name, err := range map[string]error{
		"AddScene": add, "ReloadScene": reload, "AddEntities": entities, "RemoveScene": r.s.RemoveScene(1),
		"SetSceneTransform": r.s.SetSceneTransform(1, scaled(1, 0, 0, 0)), "AddResident": r.s.AddResident(1, "a", payload.RepFull, payload.Result{}),
	} {
		if !errors.Is(err, payload.ErrClosed) {
			t.Errorf("%s: %v, want ErrClosed", name, err)
		}
	}
	if snap := r.s.Snapshot(); len(snap.Tiles) != 0 || snap.Stats.GeometryBytes != 0 || snap.Stats.ResidentFull != 0 {
		t.Errorf("the snapshot is one of before: %+v", snap)
	}
}

// lostDevice takes nothing.
type lostDevice struct{ NullDevice }

func (lostDevice) Upload(payload.Key, *payload.Asset) error { return errors.New("device lost") }

func TestAdoptReleasesTheAssetOnError(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", face(10))), func(_ *config.Config, d *Deps, _ *rig) { d.Device = lostDevice{} })
	adopt := func(id payload.SceneID, tile string, rep payload.Rep) (released bool) {
		if err := r.s.AddResident(id, tile, rep, payload.Result{Asset: payload.NewAsset(func() { released = true })}); err == nil {
			t.Errorf("%v of tile %q of scene %d was adopted", rep, tile, id)
		}
		return released
	}
	if !adopt(7, "a", payload.RepFull) || !adopt(1, "z", payload.RepFull) || !adopt(1, "a", payload.RepHLOD) || !adopt(1, "a", payload.RepFull) {
		t.Error("an asset was not released")
	}
	if err := r.s.Close(); err != nil {
		t.Fatal(err)
	}
	if !adopt(1, "a", payload.RepFull) {
		t.Error("a closed Streamer did not release the asset")
	}
}
