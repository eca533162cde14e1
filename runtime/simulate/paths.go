package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
)

// PathOptions describe a generated camera path. Zero values take the defaults
// of the path.
type PathOptions struct {
	Bounds   geom.Box      // of the scene
	Speed    float64       // metres per second
	Duration time.Duration // with a speed: cuts the path; alone: sets the speed
	Ground   *Ground       // that FlyThrough and Walk follow; nil: flat
}

// PathOptionsOf are those of a scene: its bounds and its ground.
func PathOptionsOf(m *manifest.Manifest) PathOptions {
	return PathOptions{Bounds: TileBounds(m), Ground: GroundOf(m)}
}

// The defaults of generated paths. In scenes for which these are too fast or too high, they
// follow the size: a turn and each lane of a flight take some seconds.
const (
	orbitSpeed = 20.0
	flySpeed   = 20.0
	walkSpeed  = 1.5
	walkTime   = 120 * time.Second
	eyeHeight  = 1.7
	flyHeight  = 20.0

	leastLane = 2.0 // seconds
	leastWalk = 5.0 // seconds from one end of the scene to the other
)

// extent is the longest side of the scene, metres.
func (o *PathOptions) extent() float64 {
	s := o.Bounds.Size()
	return max(s[0], s[1], s[2], 0.01)
}

// eye is how high above the ground the camera is at least.
func (o *PathOptions) eye() float64 { return min(eyeHeight, o.extent()/2) }

// Orbit is one turn around the scene's middle, looking at it: the circle of
// half the longer horizontal side, half as high above the ground.
func Orbit(o PathOptions) (*CameraPath, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	size, middle := o.Bounds.Size(), o.Bounds.Center()
	radius := max(size[0], size[2], min(1, 2*o.extent())) / 2
	const steps = 96
	points := make([]geom.Vec3, steps+1)
	for i := range points {
		sin, cos := geom.Sincos(2 * math.Pi * float64(i) / steps)
		points[i] = millimetres(geom.Vec3{
			middle[0] + float64(radius*cos), o.Bounds.Min[1] + max(radius/2, o.eye()), middle[2] + float64(radius*sin),
		})
	}
	return o.along(points, min(orbitSpeed, 2*radius/leastLane), func(i int) geom.Vec3 { return middle.Sub(points[i]) })
}

// FlyThrough crosses the scene back and forth along its longer side in five
// lanes, low enough above the ground to have tiles on all sides, looking ahead.
func FlyThrough(o PathOptions) (*CameraPath, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	const lanes = 5
	long, side := 0, 2
	size := o.Bounds.Size()
	if size[2] > size[0] {
		long, side = 2, 0
	}
	height := o.Bounds.Min[1] + max(min(size[1]/2, flyHeight), o.eye())
	var points []geom.Vec3
	for i := range lanes {
		from, to := o.Bounds.Min[long], o.Bounds.Max[long]
		if i%2 == 1 {
			from, to = to, from
		}
		for _, along := range [...]float64{from, to} {
			p := geom.Vec3{1: height}
			p[long] = along
			p[side] = o.Bounds.Min[side] + float64(size[side]*(float64(i)+0.5)/lanes)
			points = append(points, millimetres(p))
		}
	}
	points = o.overGround(points)
	return o.along(points, min(flySpeed, max(size[long], o.extent()/lanes)/leastLane), ahead(points))
}

// Walk strolls through the scene at eye height above the ground, two minutes
// unless a duration is given. The same seed gives the same walk.
func Walk(o PathOptions, seed uint64) (*CameraPath, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Duration == 0 {
		o.Duration = walkTime
	}
	if o.Speed == 0 {
		o.Speed = min(walkSpeed, o.extent()/leastWalk)
	}
	r := rand.New(rand.NewPCG(seed, 0x756e746f6c64))
	size := o.Bounds.Size()
	// A step from the middle stays inside.
	scale := min(1, max(min(size[0], size[2]), o.extent()/20)/20)
	at := func() geom.Vec3 {
		return geom.Vec3{
			o.Bounds.Min[0] + float64(size[0]*r.Float64()), o.Bounds.Min[1] + o.eye(), o.Bounds.Min[2] + float64(size[2]*r.Float64()),
		}
	}
	p, heading := at(), float64(2*math.Pi*r.Float64())
	points := []geom.Vec3{millimetres(p)}
	for length := 0.0; length < o.Duration.Seconds()*o.Speed && len(points) < maxKeys; {
		heading += float64((float64(r.Float64()) - 0.5) * math.Pi / 2)
		step := float64((2 + float64(8*r.Float64())) * scale)
		sin, cos := geom.Sincos(heading)
		next := p.Add(geom.Vec3{float64(step * cos), 0, float64(step * sin)})
		if !o.Bounds.Contains(geom.Box{Min: geom.Vec3{next[0], o.Bounds.Min[1], next[2]}, Max: geom.Vec3{next[0], o.Bounds.Min[1], next[2]}}, 0) {
			// Turn back towards the middle.
			to := o.Bounds.Center().Sub(p)
			heading = math.Round(math.Atan2(to[2], to[0])*1e6) / 1e6
			sin, cos = geom.Sincos(heading)
			next = p.Add(geom.Vec3{float64(step * cos), 0, float64(step * sin)})
		}
		p = millimetres(next)
		points = append(points, p)
		length += step
	}
	points = o.overGround(points)
	return o.along(points, o.Speed, ahead(points))
}

// ahead looks from each point to the next one, level.
func ahead(points []geom.Vec3) func(i int) geom.Vec3 {
	return func(i int) geom.Vec3 {
		v := points[min(i+1, len(points)-1)].Sub(points[i])
		v[1] = 0
		return v
	}
}

// overGround lifts a way above the lowest point of the scene by what the ground is
// higher below it, with points between that follow the ground within a cell.
func (o *PathOptions) overGround(points []geom.Vec3) []geom.Vec3 {
	if o.Ground.flat() {
		return points
	}
	step := min(o.Ground.step[0], o.Ground.step[1]) / 4
	var out []geom.Vec3
	for i, p := range points {
		if i > 0 && len(out) < maxKeys {
			way := p.Sub(points[i-1])
			n := math.Min(math.Ceil(way.Len()/step), float64(maxKeys-len(out)))
			for k := 1.0; k < n; k++ {
				out = append(out, points[i-1].Add(way.Scale(k/n)))
			}
		}
		out = append(out, p)
	}
	for i := range out {
		out[i][1] += o.Ground.at(out[i][0], out[i][2])
		out[i] = millimetres(out[i])
	}
	return out
}

// maxKeys bounds a generated path.
const maxKeys = 1_000_000

func (o *PathOptions) check() error {
	switch s := o.Bounds.Size(); {
	case o.Bounds.IsEmpty() || !s.IsFinite():
		return fmt.Errorf("simulate: a scene without finite bounds has no generated camera path")
	case !(o.Speed >= 0) || math.IsInf(o.Speed, 0) || o.Duration < 0:
		return fmt.Errorf("simulate: speed and duration must not be negative")
	}
	return nil
}

// along turns points into keys at an even speed. look gives the direction at a
// point.
func (o *PathOptions) along(points []geom.Vec3, usual float64, look func(i int) geom.Vec3) (*CameraPath, error) {
	var length float64
	for i := 1; i < len(points); i++ {
		length += points[i].Sub(points[i-1]).Len()
	}
	speed := o.Speed
	switch {
	case speed == 0 && o.Duration > 0:
		speed = length / o.Duration.Seconds()
	case speed == 0:
		speed = usual
	}
	if total := length / max(speed, 1e-9); total > maxSeconds {
		return nil, fmt.Errorf("simulate: at %g m/s the path of %.0f m takes more than %g s: raise the speed", speed, length, float64(maxSeconds))
	}
	p := defaultLens()
	p.Far = max(p.Far, o.Bounds.Size().Len())
	var t float64
	forward := geom.Vec3{0, 0, -1}
	for i, at := range points {
		if i > 0 {
			t += at.Sub(points[i-1]).Len() / max(speed, 1e-9)
		}
		if f := look(i); f.Len() > 0 {
			forward = f
		}
		k := CameraKey{T: duration(t), Position: at, Forward: forward, Linear: i > 0}
		if n := len(p.Keys); n > 0 && k.T <= p.Keys[n-1].T {
			continue
		}
		p.Keys = append(p.Keys, k)
	}
	if last := &p.Keys[len(p.Keys)-1]; o.Duration > 0 && last.T > o.Duration {
		p.cut(o.Duration)
	}
	return &p, nil
}

// cut ends the path at a time.
func (p *CameraPath) cut(at time.Duration) {
	c := p.At(at)
	for len(p.Keys) > 1 && p.Keys[len(p.Keys)-1].T >= at {
		p.Keys = p.Keys[:len(p.Keys)-1]
	}
	p.Keys = append(p.Keys, CameraKey{T: at, Position: c.Position, Forward: c.Forward, Linear: true})
}

// millimetres rounds, so that the last bits of a sine, which differ between
// processors, do not make a difference.
func millimetres(v geom.Vec3) geom.Vec3 {
	for a := range v {
		if math.Abs(v[a]) < 1e12 { // else there are none
			v[a] = math.Round(v[a]*1000) / 1000
		}
	}
	return v
}

// TileBounds is the box around the tiles of a scene, for PathOptions; empty without any.
func TileBounds(m *manifest.Manifest) geom.Box {
	box := geom.EmptyBox()
	for i := range m.Tiles {
		box = box.Union(m.Tiles[i].Bounds.Box())
	}
	return box
}

// SeeAll moves the far plane, if need be, to where all of a scene lies before it from
// every key of the path: a city is not to end at the 1,000 m of scenarios.
func (p *CameraPath) SeeAll(m *manifest.Manifest) {
	box := TileBounds(m)
	if box.IsEmpty() || !box.Min.IsFinite() || !box.Max.IsFinite() {
		return
	}
	for i := range p.Keys {
		for _, c := range box.Corners() {
			// Between keys the path may swing out by a part of what they are apart.
			p.Far = max(p.Far, math.Ceil(float64(1.25*c.Sub(p.Keys[i].Position).Len())))
		}
	}
}
