package preview

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/untoldkit/untold/preview/internal/camera"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/simulate"
)

// cameraDriver owns the cameras of a frame: they follow a path until a person
// takes over, and the rig from then on. It knows the views of the shown scene and
// records paths.
type cameraDriver struct {
	rig       *camera.Rig
	scene     *camera.Scene        // what is known of the shown scene
	path      *simulate.CameraPath // nil: none
	following bool                 // the path
	flight    *flight              // takes the rig somewhere; nil: none

	stream runtime.Camera  // decides what is loaded
	draw   runtime.Camera  // is drawn
	frozen *runtime.Camera // culls; nil: draw does

	recording    *camera.Recorder // nil: off
	recordedFrom time.Duration
}

// move takes the cameras to their places in a frame of dt; steered says that a
// person wants to move them.
func (c *cameraDriver) move(in camera.Input, steered bool, now, dt time.Duration, aspect float64) {
	if c.following && steered {
		c.following = false
		c.rig.Jump(camera.Pose{Position: c.stream.Position, Forward: c.stream.Forward, FovYDegrees: c.stream.FovYDegrees})
	}
	if c.following {
		c.stream = c.path.At(now)
		c.draw = c.stream
		c.draw.Aspect = aspect
		c.draw.Near, c.draw.Far = camera.Clip(c.scene.Bounds, c.stream.Position)
	} else {
		c.fly(steered, now)
		c.rig.Step(in, dt.Seconds())
		c.followRig(aspect)
	}
	if c.recording != nil {
		c.recording.Add(now-c.recordedFrom, c.stream)
	}
}

// followRig takes both cameras to where the rig is.
func (c *cameraDriver) followRig(aspect float64) {
	c.stream = c.rig.Camera(aspect)
	c.draw = c.stream
}

// moveTo takes both cameras to a place of a path.
func (c *cameraDriver) moveTo(at runtime.Camera, aspect float64) {
	at.Aspect = aspect
	c.stream, c.draw = at, at
	c.draw.Near, c.draw.Far = camera.Clip(c.scene.Bounds, at.Position)
}

// freeze keeps the culling of this moment, so that one can fly around it, or ends
// that; it returns whether it is frozen now.
func (c *cameraDriver) freeze() bool {
	if c.frozen != nil {
		c.frozen = nil
		return false
	}
	at := c.draw
	c.frozen = &at
	return true
}

// start puts the camera where the scene's author wants it, else where it sees
// something. An authored camera that sees nothing is told of and skipped.
func (c *cameraDriver) start(open *Loaded, aspect float64, notify func(string)) {
	for i := range c.scene.Authored {
		at := &c.scene.Authored[i]
		if p := camera.Authored(at); c.scene.Sees(p, aspect, c.fovY(aspect)) {
			c.rig.Jump(p)
			return
		}
		notify(fmt.Sprintf("camera %q sees nothing of the scene, or it as a dot: skipped", at.Name))
	}
	if c.scene.Indoors {
		if p, ok := indoors(c.scene, open); ok {
			c.rig.Jump(p)
			return
		}
	}
	c.frameScene(aspect)
}

// frameScene shows the whole scene.
func (c *cameraDriver) frameScene(aspect float64) {
	c.rig.Jump(c.scene.Frame(aspect, c.fovY(aspect)))
}

func (c *cameraDriver) fovY(aspect float64) float64 { return c.rig.Camera(aspect).FovYDegrees }

// views returns the views of the scene that names ask for, as Compare has them.
func (c *cameraDriver) views(names string, open *Loaded, aspect float64) ([]camera.View, error) {
	if strings.EqualFold(filepath.Ext(names), ".json") {
		return camera.ReadViews(names)
	}
	fovY := c.fovY(aspect)
	known := c.scene.Views(aspect, fovY)
	if p, ok := street(c.scene, open); ok {
		for i := range known {
			if known[i].Name == camera.StreetView {
				known[i].Pose = p
			}
		}
	}
	taken := map[string]bool{}
	for i := range known {
		taken[known[i].Name] = true
	}
	for i := range c.scene.Authored {
		at := &c.scene.Authored[i]
		if p := camera.Authored(at); !taken[at.Name] && c.scene.Sees(p, aspect, fovY) {
			taken[at.Name] = true
			known = append(known, camera.View{Name: at.Name, Pose: p})
		}
	}
	if names == "auto" {
		if len(known) == 0 {
			return nil, errors.New("preview: there is nothing to compare: the scene has no extent")
		}
		return known, nil
	}
	var out []camera.View
	for _, name := range strings.Split(names, ",") {
		found := false
		for _, v := range known {
			if name = strings.TrimSpace(name); v.Name == name || name == camera.OrbitView && strings.HasPrefix(v.Name, camera.OrbitView+"-") {
				out, found = append(out, v), true
			}
		}
		if !found {
			var all []string
			for _, v := range known {
				all = append(all, v.Name)
			}
			return nil, fmt.Errorf("preview: the scene has no view %q: it has %s; auto takes them all, and a .json file may hold others", name, strings.Join(all, ", "))
		}
	}
	return out, nil
}
