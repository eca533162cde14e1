package main

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/glb"
	"github.com/untoldkit/untold/internal/glbwrite"
	"github.com/untoldkit/untold/internal/stable"
)

// builder places the parts of a kit.
type builder struct {
	k     *kit
	m     *merger
	seed  uint64
	cells int
	err   error
}

// add places a part and appends its node to the list; the first error sticks.
func (b *builder) add(list *[]int, name string, p *part, pos geom.Vec3, yaw float64) {
	if b.err != nil {
		return
	}
	var i int
	if i, b.err = b.m.place(name, p, pos, yaw); b.err == nil {
		*list = append(*list, i)
	}
}

// center returns the middle of a cell at height 0.
func (b *builder) center(x, z int) geom.Vec3 {
	return geom.Vec3{(float64(x) + 0.5) * b.k.pitch, 0, (float64(z) + 0.5) * b.k.pitch}
}

// surface returns the height of a part that was placed in a cell, turned by
// yaw, at an offset from the cell's middle.
func surface(p *part, yaw, dx, dz float64) float64 {
	a := p.anchor()
	q := turn(geom.Vec3{dx, 0, dz}, -yaw)
	y, _ := p.top(q[0]+a[0], q[2]+a[2])
	return y
}

// stand places a small part with its lowest point on a surface.
func (b *builder) stand(list *[]int, name string, p *part, cell geom.Vec3, on *part, onYaw, dx, dz, yaw float64) {
	y := surface(on, onYaw, dx, dz) - p.box.Min[1]
	b.add(list, name, p, cell.Add(geom.Vec3{dx, y, dz}), yaw)
}

// turn rotates about +Y by turns: +Z goes to +X at a quarter.
func turn(v geom.Vec3, turns float64) geom.Vec3 {
	s, c := stable.Sin(turns), stable.Cos(turns)
	return geom.Vec3{float64(c*v[0]) + float64(s*v[2]), v[1], float64(c*v[2]) - float64(s*v[0])}
}

// yawQuat is the quaternion of a turn about +Y.
func yawQuat(turns float64) [4]float32 {
	turns -= math.Floor(turns)
	return [4]float32{0, float32(stable.Sin(turns / 2)), 0, float32(stable.Cos(turns / 2))}
}

// finish adds light, camera and the root, and returns the root nodes.
func (b *builder) finish(name string, children []int, scale float64) []int {
	size := float64(b.cells) * b.k.pitch * scale
	root := glbwrite.Node{
		Name: name, Mesh: -1, Camera: -1, Light: -1, Children: children,
		Scale: geom.Vec3{scale, scale, scale}.F32(),
	}
	b.m.nodes += 3
	roots := []int{b.m.w.Node(&root)}
	b.m.w.RootExtension("KHR_lights_punctual", map[string]any{"lights": []any{
		map[string]any{"name": "Sun", "type": "directional", "intensity": 3},
	}})
	q := yawQuat(0.1)
	roots = append(roots, b.m.w.Node(&glbwrite.Node{
		Name: "Sun", Mesh: -1, Camera: -1, Light: 0,
		// A quarter of a right angle down from the turned direction.
		Rotation: mulQuat(q, [4]float32{float32(stable.Sin(-0.07)), 0, 0, float32(stable.Cos(-0.07))}),
	}))
	cam := b.m.w.Object(glb.Cameras, map[string]any{
		"name": "Camera_Aerial", "type": "perspective",
		"perspective": map[string]any{"yfov": 0.9, "znear": size / 2000, "zfar": size * 6},
	})
	eye, d := geom.Vec3{size * 0.5, size * 0.55, size * 1.35}, stable.Angle(-0.55, 0.85)
	roots = append(roots, b.m.w.Node(&glbwrite.Node{
		Name: "Camera_Aerial", Mesh: -1, Camera: cam, Light: -1,
		Translation: eye.F32(), Rotation: [4]float32{float32(stable.Sin(d / 2)), 0, 0, float32(stable.Cos(d / 2))},
	}))
	return roots
}

func mulQuat(a, b [4]float32) [4]float32 {
	m := func(x, y float32) float64 { return float64(float64(x) * float64(y)) }
	return [4]float32{
		float32(m(a[3], b[0]) + m(a[0], b[3]) + m(a[1], b[2]) - m(a[2], b[1])),
		float32(m(a[3], b[1]) - m(a[0], b[2]) + m(a[1], b[3]) + m(a[2], b[0])),
		float32(m(a[3], b[2]) + m(a[0], b[1]) - m(a[1], b[0]) + m(a[2], b[3])),
		float32(m(a[3], b[3]) - m(a[0], b[0]) - m(a[1], b[1]) - m(a[2], b[2])),
	}
}
