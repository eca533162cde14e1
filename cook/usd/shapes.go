package usd

import (
	"math"

	"github.com/untoldkit/untold/cook/usd/internal/layer"
	"github.com/untoldkit/untold/internal/geom"
)

// How round shapes are cut: segments around, and rows from pole to pole.
const (
	segments = 32
	rows     = 16
)

// shapes make the simple shapes, around z.
var shapes = map[string]func(w *walker, p *prim, m *maker) error{
	"Cube": cube, "Sphere": sphere, "Cylinder": cylinder, "Cylinder_1": cylinder, "Cone": cone,
	"Capsule": capsule, "Capsule_1": capsule, "Plane": plane,
}

// maker collects a shape. Faces show their front where their corners turn left.
type maker struct {
	points, normals, uvs    []float64
	counts, indices, corner []int64 // corner: indices of normals and texture coordinates
}

// face adds one of points with normals and texture coordinates.
func (m *maker) face(points, normals []geom.Vec3, uvs [][2]float64) {
	m.counts = append(m.counts, int64(len(points)))
	for i, q := range points {
		m.indices = append(m.indices, int64(len(m.points)/3))
		m.corner = append(m.corner, int64(len(m.normals)/3))
		m.points = append(m.points, q[:]...)
		m.normals = append(m.normals, normals[i][:]...)
		m.uvs = append(m.uvs, uvs[i][:]...)
	}
}

// shape makes a simple shape.
func (w *walker) shape(p *prim, kind string) (*surface, error) {
	m := &maker{}
	if err := shapes[kind](w, p, m); err != nil {
		return nil, err
	}
	axis, err := w.word(p, "axis", "Z")
	if err != nil {
		return nil, err
	}
	s := &surface{place: p.path}
	numbers := func(list []float64, width int) *layer.Numbers {
		return &layer.Numbers{Width: width, Array: true, F64: list}
	}
	ints := func(list []int64) *layer.Numbers { return &layer.Numbers{Width: 1, Array: true, Int: list} }
	if kind != "Cube" && kind != "Sphere" {
		for _, list := range [][]float64{m.points, m.normals} {
			for i := 0; i < len(list); i += 3 {
				x, y, z := list[i], list[i+1], list[i+2]
				switch axis {
				case "X":
					list[i], list[i+1], list[i+2] = z, x, y
				case "Y":
					list[i], list[i+1], list[i+2] = y, z, x
				}
			}
		}
	}
	s.points, s.counts, s.indices = numbers(m.points, 3), ints(m.counts), ints(m.indices)
	s.normals = &primvar{"faceVarying", numbers(m.normals, 3), ints(m.corner)}
	s.uvs[0] = &primvar{"faceVarying", numbers(m.uvs, 2), ints(m.corner)}
	if v, err := w.value(p, "doubleSided"); err != nil {
		return nil, err
	} else if b, ok := v.(bool); ok {
		s.double = b
	}
	return s, w.check(p, s)
}

var unitUVs = [][2]float64{{0, 0}, {1, 0}, {1, 1}, {0, 1}}

func cube(w *walker, p *prim, m *maker) error {
	size, err := w.number(p, "size", 2)
	h := size / 2
	for axis := range 3 {
		for _, side := range []float64{1, -1} {
			var n geom.Vec3
			n[axis] = side
			var points []geom.Vec3
			for _, c := range [][2]float64{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}} {
				var q geom.Vec3
				q[axis], q[(axis+1)%3], q[(axis+2)%3] = side*h, c[0]*side*h, c[1]*h
				points = append(points, q)
			}
			m.face(points, []geom.Vec3{n, n, n, n}, unitUVs)
		}
	}
	return err
}

// around returns the direction of a segment.
func around(i int) (x, y float64) {
	sin, cos := geom.Sincos(float64(i) * (2 * math.Pi / segments))
	return cos, sin
}

// profile turns a line of points, from the bottom to the top, about z: distances from it,
// heights, and normals in the same plane.
func (m *maker) profile(line [][4]float64) {
	for k := range len(line) - 1 {
		a, b := line[k], line[k+1]
		for i := range segments {
			x0, y0 := around(i)
			x1, y1 := around(i + 1)
			at := func(q [4]float64, x, y float64) (geom.Vec3, geom.Vec3) {
				return geom.Vec3{q[0] * x, q[0] * y, q[1]}, geom.Vec3{q[2] * x, q[2] * y, q[3]}
			}
			uv := func(i, k int) [2]float64 {
				return [2]float64{float64(i) / segments, float64(k) / float64(len(line)-1)}
			}
			pa0, na0 := at(a, x0, y0)
			pa1, na1 := at(a, x1, y1)
			pb0, nb0 := at(b, x0, y0)
			pb1, nb1 := at(b, x1, y1)
			switch {
			case a[0] == 0 && b[0] == 0:
			case a[0] == 0:
				m.face([]geom.Vec3{pa0, pb1, pb0}, []geom.Vec3{na0, nb1, nb0}, [][2]float64{uv(i, k), uv(i+1, k+1), uv(i, k+1)})
			case b[0] == 0:
				m.face([]geom.Vec3{pa0, pa1, pb0}, []geom.Vec3{na0, na1, nb0}, [][2]float64{uv(i, k), uv(i+1, k), uv(i, k+1)})
			default:
				m.face([]geom.Vec3{pa0, pa1, pb1, pb0}, []geom.Vec3{na0, na1, nb1, nb0}, [][2]float64{uv(i, k), uv(i+1, k), uv(i+1, k+1), uv(i, k+1)})
			}
		}
	}
}

// cap closes a shape by a disk.
func (m *maker) cap(radius, z, side float64) {
	if radius == 0 {
		return
	}
	var points, normals []geom.Vec3
	var uvs [][2]float64
	for i := range segments {
		if side < 0 {
			i = segments - 1 - i
		}
		x, y := around(i)
		points = append(points, geom.Vec3{x * radius, y * radius, z})
		normals = append(normals, geom.Vec3{0, 0, side})
		uvs = append(uvs, [2]float64{0.5 + float64(0.5*x), 0.5 + float64(0.5*y)})
	}
	m.face(points, normals, uvs)
}

// arc returns the profile of a part of a ball: from row first to last of all, moved up.
func arc(radius, up float64, first, last int) (line [][4]float64) {
	for k := first; k <= last; k++ {
		sin, cos := geom.Sincos(float64(k) * (math.Pi / rows))
		if k == 0 || k == rows {
			sin = 0
		}
		line = append(line, [4]float64{radius * sin, up - float64(radius*cos), sin, -cos})
	}
	return line
}

func sphere(w *walker, p *prim, m *maker) error {
	radius, err := w.number(p, "radius", 1)
	m.profile(arc(radius, 0, 0, rows))
	return err
}

// sizes reads the radius at both ends, and half the height.
func (w *walker) sizes(p *prim, height, radius float64) (bottom, top, half float64, err error) {
	if half, err = w.number(p, "height", height); err != nil {
		return 0, 0, 0, err
	}
	if radius, err = w.number(p, "radius", radius); err != nil {
		return 0, 0, 0, err
	}
	if bottom, err = w.number(p, "radiusBottom", radius); err != nil {
		return 0, 0, 0, err
	}
	top, err = w.number(p, "radiusTop", radius)
	return bottom, top, half / 2, err
}

// wall returns the profile between two rims.
func wall(bottom, top, half float64) [][4]float64 {
	n := geom.Vec3{2 * half, bottom - top, 0}.Normalize(0, geom.Vec3{1, 0, 0})
	return [][4]float64{{bottom, -half, n[0], n[1]}, {top, half, n[0], n[1]}}
}

func cylinder(w *walker, p *prim, m *maker) error {
	bottom, top, half, err := w.sizes(p, 2, 1)
	m.profile(wall(bottom, top, half))
	m.cap(bottom, -half, -1)
	m.cap(top, half, 1)
	return err
}

func cone(w *walker, p *prim, m *maker) error {
	bottom, _, half, err := w.sizes(p, 2, 1)
	m.profile(wall(bottom, 0, half))
	m.cap(bottom, -half, -1)
	return err
}

func capsule(w *walker, p *prim, m *maker) error {
	bottom, top, half, err := w.sizes(p, 1, 0.5)
	line := arc(bottom, -half, 0, rows/2)
	m.profile(append(line, arc(top, half, rows/2, rows)...))
	return err
}

func plane(w *walker, p *prim, m *maker) error {
	width, err := w.number(p, "width", 2)
	if err != nil {
		return err
	}
	length, err := w.number(p, "length", 2)
	var points []geom.Vec3
	for _, c := range unitUVs {
		points = append(points, geom.Vec3{(c[0] - 0.5) * width, (c[1] - 0.5) * length, 0})
	}
	n := geom.Vec3{0, 0, 1}
	m.face(points, []geom.Vec3{n, n, n, n}, unitUVs)
	return err
}
