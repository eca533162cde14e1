package camera

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime/simulate"
)

// View is a pose with a name.
type View struct {
	Name string
	Pose Pose
}

// How views are named. StreetView may stand inside of something that the
// manifest does not tell of.
const (
	StreetView = "street"
	RoofView   = "roof"
	HighView   = "high"
	FarView    = "far"
	OrbitView  = "orbit" // orbit-1, orbit-2, ...
)

// orbits is how many views an orbit has.
const orbits = 3

// full is the part of the picture that these views fill, or most of it would be
// the same whatever is drawn.
const full = 0.95

// distant is that of the view from far away, where coarse levels are drawn.
const distant = 0.2

// Views returns views of the content that follow from the manifest alone: from
// the height of eyes before it, past its top from a corner, from high above, from
// far away, and from three sides. aspect is width over height, fovY in degrees.
func (s *Scene) Views(aspect, fovY float64) []View {
	content := s.Content
	if content.IsEmpty() || content.Size().Len() == 0 {
		content = s.Bounds
	}
	if content.IsEmpty() || !content.Size().IsFinite() {
		return nil
	}
	size, middle := content.Size(), content.Center()
	eye := EyeLevel(content)
	street := geom.Vec3{middle[0], content.Min[1] + eye, content.Max[2] + max(float64(size[2]*0.05), eye)}
	roof := geom.Vec3{middle[0] + float64(size[0]*0.55), content.Max[1] + float64(size[1]*0.05), middle[2] + float64(size[2]*0.55)}
	views := []View{
		{StreetView, Pose{Position: street, Forward: geom.Vec3{0, 0, -1}}},
		{RoofView, Pose{Position: roof, Forward: middle.Sub(roof)}},
	}
	boxes := s.within(content)
	f := direction(content, 0)
	azimuth := math.Atan2(f[0], f[2])
	turned := func(by, down float64) geom.Vec3 {
		sa, ca := geom.Sincos(azimuth + by*(math.Pi/180))
		sd, cd := geom.Sincos(down * (math.Pi / 180))
		return geom.Vec3{float64(sa * cd), -sd, float64(ca * cd)}
	}
	views = append(views, View{HighView, fit(boxes, turned(0, 60), aspect, fovY, full, 1)}, View{FarView, fit(boxes, turned(0, 20), aspect, fovY, distant, 1)})
	for i := range orbits {
		p := fit(boxes, turned(float64(i)*360/orbits, 20), aspect, fovY, full, 1)
		views = append(views, View{fmt.Sprintf("%s-%d", OrbitView, i+1), p})
	}
	return views
}

// EyeLevel returns how high above the lowest point of a box a view from the
// street is, in metres: a person's eyes, or less above models that are small.
func EyeLevel(content geom.Box) float64 {
	return min(EyeHeight, max(float64(content.Size()[1]*0.12), 1e-3))
}

// maxViews bounds a file of views: each takes two pictures.
const maxViews = 64

// ReadViews reads a JSON file of views: an object with a list "views" of objects
// with "name", "position", "forward" and, where it is not the usual one,
// "fov_y_degrees"; or a recorded camera path, each key of which is a view.
func ReadViews(path string) ([]View, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const limit = 1 << 20
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if len(data) > limit {
		return nil, fmt.Errorf("camera: %s: more than %d bytes", path, limit)
	}
	views, err := ParseViews(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return views, nil
}

// ParseViews is ReadViews for the bytes of a file.
func ParseViews(data []byte) ([]View, error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(data, &keys); err != nil {
		return nil, fmt.Errorf("camera: views: %w", err)
	}
	list, ok := keys["views"]
	if !ok {
		return pathViews(data)
	}
	var in []struct {
		Name     string      `json:"name"`
		Position *[3]float64 `json:"position"`
		Forward  *[3]float64 `json:"forward"`
		FovY     float64     `json:"fov_y_degrees"`
	}
	dec := json.NewDecoder(strings.NewReader(string(list)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return nil, fmt.Errorf("camera: views: %w", err)
	}
	out := make([]View, 0, len(in))
	for i, v := range in {
		bad := func(what string) error { return fmt.Errorf("camera: views[%d] (%q): %s", i, v.Name, what) }
		switch {
		case v.Name == "":
			return nil, bad("it needs a name")
		case v.Position == nil || v.Forward == nil:
			return nil, bad("it needs a position and a forward direction")
		case geom.Vec3(*v.Forward).Len() < 1e-9:
			return nil, bad("the forward direction has no length")
		case v.FovY != 0 && !(v.FovY > 0 && v.FovY < 180):
			return nil, bad("fov_y_degrees must be between 0 and 180")
		}
		out = append(out, View{v.Name, Pose{Position: *v.Position, Forward: *v.Forward, FovYDegrees: v.FovY}})
	}
	return checkViews(out)
}

// pathViews makes a view of every key of a camera path.
func pathViews(data []byte) ([]View, error) {
	p, err := simulate.ParseCameraPath(data)
	if err != nil {
		return nil, fmt.Errorf("camera: neither \"views\" nor a camera path: %w", err)
	}
	var out []View
	for i := range p.Keys {
		k := &p.Keys[i]
		out = append(out, View{fmt.Sprintf("t=%g", k.T.Seconds()), Pose{Position: k.Position, Forward: k.Forward, FovYDegrees: p.FovYDegrees}})
	}
	return checkViews(out)
}

func checkViews(views []View) ([]View, error) {
	if len(views) == 0 {
		return nil, errors.New("camera: there are no views")
	}
	if len(views) > maxViews {
		return nil, fmt.Errorf("camera: %d views, at most %d are compared", len(views), maxViews)
	}
	names := map[string]bool{}
	for _, v := range views {
		if names[v.Name] {
			return nil, fmt.Errorf("camera: two views are called %q", v.Name)
		}
		names[v.Name] = true
	}
	return views, nil
}
