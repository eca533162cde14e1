package preview

import (
	"fmt"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/preview/camera"
)

// adopt takes what the views need of a manifest. A scene that is shown whole is
// looked at as when it streams.
func (a *app) adopt(open *Loaded) {
	m := open.streamed()
	cfg := a.o.Config.For(m)
	if open.asCooked == nil {
		open.reach(&cfg)
	}
	a.open, a.look = open, camera.SceneOf(m, cfg.MaxQueryRadius)
	a.tiles = make(map[string]int32, len(m.Tiles)+1)
	if b := m.SharedBucket; b != nil {
		a.tiles[b.ID] = int32(len(m.Tiles))
	}
	for i := range m.Tiles {
		a.tiles[m.Tiles[i].ID] = int32(i)
	}
	a.sun = [3]float64{}
	for i := range m.SceneLights {
		if l := &m.SceneLights[i]; l.Kind == "directional" && l.Direction[1] < 0 {
			a.sun = geom.Vec3(l.Direction).Scale(-1)
			break
		}
	}
	a.overlay.changed()
}

// start puts the camera where the scene's author wants it, else where it sees
// something.
func (a *app) start() {
	for i := range a.look.Authored {
		c := &a.look.Authored[i]
		if p := camera.Authored(c); a.look.Sees(p, a.aspect(), a.rig.Camera(a.aspect()).FovYDegrees) {
			a.rig.Jump(p)
			return
		}
		a.say(fmt.Sprintf("camera %q sees nothing of the scene, or it as a dot: skipped", c.Name))
	}
	if a.look.Indoors {
		if p, ok := indoors(a.look, a.open); ok {
			a.rig.Jump(p)
			return
		}
	}
	a.frameScene()
}

func (a *app) frameScene() {
	c := a.rig.Camera(a.aspect())
	a.rig.Jump(a.look.Frame(a.aspect(), c.FovYDegrees))
}
