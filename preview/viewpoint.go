package preview

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/preview/internal/camera"
	"github.com/untoldkit/untold/runtime"
)

// Viewpoint is a camera of the scene's author.
type Viewpoint struct {
	Name string
	// Camera has position, directions, field of view, planes and aspect (width over
	// height); FovYDegrees, both planes and Aspect are 0 where the author gives none
	// that makes sense.
	Camera runtime.Camera
}

// Viewpoints returns the cameras of a scene's author, in the order of the manifest.
func Viewpoints(m *manifest.Manifest) []Viewpoint {
	out := make([]Viewpoint, len(m.SceneCameras))
	for i := range m.SceneCameras {
		c := &m.SceneCameras[i]
		p := camera.Authored(c)
		at := runtime.Camera{Position: p.Position, Forward: p.Forward, FovYDegrees: p.FovYDegrees, Near: p.Near, Far: p.Far, Up: p.Up}
		if c.AspectRatio >= 1e-2 && c.AspectRatio <= 1e2 {
			at.Aspect = c.AspectRatio
		}
		out[i] = Viewpoint{c.Name, at}
	}
	return out
}

// named is how many names an error lists.
const named = 12

// ViewpointOf finds a camera of a scene's author by its name, of several the first,
// or by its number, from 1 on.
func ViewpointOf(m *manifest.Manifest, name string) (Viewpoint, error) {
	list := Viewpoints(m)
	for i := range list {
		if list[i].Name == name {
			return list[i], nil
		}
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= len(list) {
		return list[n-1], nil
	}
	if len(list) == 0 {
		return Viewpoint{}, fmt.Errorf("preview: the scene has no camera %q: it has none of its own", human.Clip(name, 80))
	}
	var names []string
	for i := range list[:min(named, len(list))] {
		names = append(names, strconv.Quote(human.Clip(list[i].Name, 80)))
	}
	if len(list) > named {
		names = append(names, fmt.Sprintf("%d more", len(list)-named))
	}
	return Viewpoint{}, fmt.Errorf("preview: the scene has no camera %q: it has %s; a number from 1 to %d names one, too", human.Clip(name, 80), strings.Join(names, ", "), len(list))
}

// pose returns where a camera is.
func pose(c *runtime.Camera) camera.Pose {
	return camera.Pose{Position: c.Position, Forward: c.Forward, FovYDegrees: c.FovYDegrees, Near: c.Near, Far: c.Far, Up: c.Up}
}
