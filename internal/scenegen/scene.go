package scenegen

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/untoldkit/untold/internal/glb"
	"github.com/untoldkit/untold/internal/glbwrite"
)

// scene receives the city or office as it is laid out and passes nodes and
// meshes on to the writer at once. Without a writer it only counts, which is
// how a wanted number of triangles is turned into a size.
type scene struct {
	ctx    context.Context
	w      *glbwrite.Writer // nil for a dry run
	mats   *palette
	unique bool // every use of a mesh gets geometry of its own
	detail int  // 0 coarse, 1 normal, 2 and 3 finer

	meshes map[string]*meshRef
	stack  [][]int // children of the open groups
	lights []object
	stats  Stats
}

// meshRef is a mesh that nodes can share.
type meshRef struct {
	name  string
	index int
	tris  int
	uses  int
	shape *shape // kept only for unique scenes
}

func newScene(ctx context.Context, w *glbwrite.Writer, mats *palette, unique bool, detail int) *scene {
	return &scene{ctx: ctx, w: w, mats: mats, unique: unique, detail: detail, meshes: map[string]*meshRef{}, stack: [][]int{nil}}
}

// mesh returns the mesh of that key and builds it on first use.
func (s *scene) mesh(key string, build func(*shape)) *meshRef {
	if m := s.meshes[key]; m != nil {
		return m
	}
	sh := &shape{}
	build(sh)
	m := &meshRef{name: key, tris: sh.triangles()}
	m.index = s.write(key, sh)
	if s.unique && s.w != nil {
		m.shape = sh
	}
	s.meshes[key] = m
	return m
}

// once writes a mesh that is used by one node only and need not be kept.
func (s *scene) once(key string, build func(*shape)) *meshRef {
	sh := &shape{}
	build(sh)
	return &meshRef{name: key, tris: sh.triangles(), index: s.write(key, sh)}
}

func (s *scene) write(name string, sh *shape) int {
	s.stats.Meshes++
	s.stats.MeshTriangles += sh.triangles()
	if s.w == nil {
		return s.stats.Meshes - 1
	}
	prims := make([]glbwrite.Primitive, len(sh.parts))
	for i, p := range sh.parts {
		prims[i] = p.p
		prims[i].Material = s.mats.get(p.material)
		if s.mats.wantsTangents(p.material) {
			addTangents(&prims[i])
		}
		if !s.mats.wantsUV(p.material) {
			prims[i].UV0, prims[i].UV1 = nil, nil
		}
	}
	return s.w.Mesh(name, prims)
}

// ended reports that nobody waits for the scene any more. It is asked once a block or
// building.
func (s *scene) ended() bool { return s.ctx.Err() != nil }

// segments scales a number of segments by the level of detail.
func (s *scene) segments(n int) int {
	return max(3, [4]int{n / 2, n, n * 2, n * 4}[s.detail])
}

// place adds a node that draws a mesh.
func (s *scene) place(name string, m *meshRef, x xform) {
	s.placeWith(name, m, x, nil)
}

// placeWith is place with children added by inside.
func (s *scene) placeWith(name string, m *meshRef, x xform, inside func()) {
	index := -1
	if m != nil {
		index = m.index
		if s.unique && m.uses > 0 && (m.shape != nil || s.w == nil) {
			index = s.copyOf(m)
		}
		m.uses++
		s.stats.DrawnTriangles += m.tris
	}
	s.node(glbwrite.Node{Name: name, Mesh: index, Camera: -1, Light: -1}, x, inside)
}

// copyOf writes the mesh once more, grown by a hair so that no two copies
// have the same bytes.
func (s *scene) copyOf(m *meshRef) int {
	name := fmt.Sprintf("%s_%d", m.name, m.uses)
	if s.w == nil {
		s.stats.Meshes++
		s.stats.MeshTriangles += m.tris
		return s.stats.Meshes - 1
	}
	var k [3]float32
	for a := range k {
		k[a] = 1 + float32(float32(m.uses>>(8*a)&255)*1e-5)
	}
	c := &shape{}
	for _, p := range m.shape.parts {
		q := *p
		q.p.Pos = make([][3]float32, len(p.p.Pos))
		for i, v := range p.p.Pos {
			q.p.Pos[i] = [3]float32{v[0] * k[0], v[1] * k[1], v[2] * k[2]}
		}
		c.parts = append(c.parts, &q)
	}
	return s.write(name, c)
}

// group adds a node without geometry.
func (s *scene) group(name string, x xform, inside func()) {
	s.placeWith(name, nil, x, inside)
}

// groupWith is group with extras for programs that look for meaning.
func (s *scene) groupWith(name string, x xform, extras object, inside func()) {
	b, err := json.Marshal(extras)
	if err != nil {
		panic(err) // extras are literals of this program
	}
	s.node(glbwrite.Node{Name: name, Mesh: -1, Camera: -1, Light: -1, Extras: b}, x, inside)
}

// node writes the node after the children that inside adds.
func (s *scene) node(n glbwrite.Node, x xform, inside func()) {
	if inside != nil {
		s.stack = append(s.stack, nil)
		inside()
		n.Children = s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
	}
	n.Translation = x.t.F32()
	if x.s != (vec{}) {
		n.Scale = x.s.F32()
	}
	if x.yaw != 0 || x.pitch != 0 || x.roll != 0 {
		for k, v := range x.quat() {
			n.Rotation[k] = float32(v)
		}
	}
	i := s.stats.Nodes
	s.stats.Nodes++
	if s.w != nil {
		i = s.w.Node(&n)
	}
	top := len(s.stack) - 1
	s.stack[top] = append(s.stack[top], i)
}

// camera adds a perspective camera and its node.
func (s *scene) camera(name string, x xform) {
	i := -1
	if s.w != nil {
		i = s.w.Object(glb.Cameras, object{
			"name": name, "type": "perspective",
			"perspective": object{"yfov": 0.9, "znear": 0.1, "zfar": 5000},
		})
	}
	s.node(glbwrite.Node{Name: name, Mesh: -1, Camera: i, Light: -1}, x, nil)
}

// light adds a KHR_lights_punctual light and its node.
func (s *scene) light(name string, x xform, desc object) {
	desc["name"] = name
	s.lights = append(s.lights, desc)
	s.node(glbwrite.Node{Name: name, Mesh: -1, Camera: -1, Light: len(s.lights) - 1}, x, nil)
}

// close writes the file.
func (s *scene) close(name string) (Stats, error) {
	if len(s.lights) > 0 {
		s.w.RootExtension("KHR_lights_punctual", object{"lights": s.lights})
	}
	s.stats.Materials = s.w.Count(glb.Materials)
	n, err := s.w.Close(name, s.stack[0])
	s.stats.Bytes = n
	return s.stats, err
}
