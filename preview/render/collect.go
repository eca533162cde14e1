package render

import (
	"cmp"
	"math"
	"slices"

	"github.com/untoldkit/untold/format/vertex/compact"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture"
)

// collected is what a frame draws: what is in view, in which order, and the words
// that the shaders read of it. It owns these lists, which are kept from frame to
// frame, and knows nothing of OpenGL: the same frame, uploads and textures give the
// same lists.
type collected struct {
	uploaded map[payload.Key]*rep // the renderer's
	stats    *Stats               // to count in
	textures *texture.Streamer    // whose sizes ViewTextureTiers shows
	bindings *bindings            // of textures
	number   uint64               // of the frame

	shade   shade
	lens    lens
	view    frustum // what culls, in the world
	sun     geom.Vec3
	scenes  []sceneView
	reps    []drawnRep
	batches []drawnRep // of static batches
	casting []cast     // of all reps
	main    list
	visible []texture.Entity // meshes with textures in view, the nearest first

	// As the shaders read them; see mesh.vert.glsl.
	objects  []float32
	draws    []uint32
	commands []uint32

	maxDraws int // in all lists of a frame

	near, far float64 // distances from the eye to what is drawn
	shadowFar float64 // where shadows end
}

// sceneView is a scene in this frame.
type sceneView struct {
	id      payload.SceneID
	root    geom.Mat4
	plain   bool    // root is the identity
	mirror  bool    // root mirrors
	view    frustum // in the scene's space
	eye     geom.Vec3
	stretch float64 // largest scale of root
}

// drawnRep is a representation that is to be drawn.
type drawnRep struct {
	*rep
	scene    int32
	mask     mask
	fading   bool
	distance float64 // from the eye to its box
	color    uint32  // in flat views
	merged   []bool  // by record: a batch draws it; nil: none
	batch    bool    // it is one itself
	parts    uint64  // children of a node of the pyramid for which it is drawn; 0: all
	casting  []cast  // shadows; nil: none. A node has one entry that casts for all
}

// cast is what casts shadows of a representation.
type cast struct {
	parts uint64 // children of a node for which it does; 0: all
	mask  mask   // of the texels
}

// shows reports whether a mesh belongs to what is drawn.
func (d *drawnRep) shows(m *mesh) bool { return d.parts == 0 || m.part&d.parts != 0 }

// castOf returns the texels to which a mesh casts shadows, and whether it casts any.
func castOf(casting []cast, m *mesh) (mask, bool) {
	for i := range casting {
		if c := &casting[i]; c.parts == 0 || m.part&c.parts != 0 {
			return c.mask, true
		}
	}
	return 0, false
}

// item is one draw.
type item struct {
	mesh  *mesh
	page  *page
	state uint64 // drawKey
	color uint32
	slot  int32 // object
	mask  mask

	firstIndex, indexCount uint32 // in the page
}

// list is the draws of one pass over the scene, in order.
type list struct {
	items []item
	order []uint64
	first int // record of the first one
}

func (l *list) reset() { l.items, l.order = l.items[:0], l.order[:0] }

func (l *list) add(key uint64, it item) {
	if len(l.items) < maxDraws {
		l.order = append(l.order, key&keyStateMask|uint64(len(l.items)))
		l.items = append(l.items, it)
	}
}

func (l *list) at(i int) *item { return &l.items[l.order[i]&keyIndexMask] }

// begin takes over the cameras of a frame of which it is told the number and the
// ratio of width to height.
func (c *collected) begin(f *Frame, number uint64, aspect float64) {
	c.number = number
	c.shade = shadeOf(f.View)
	c.lens = newLens(&f.Camera, aspect)
	cull := c.lens
	if f.CullCamera != nil {
		cull = newLens(f.CullCamera, aspect)
	}
	c.view = frustumOf(&cull)
	c.sun = geom.Vec3(f.Sun).Normalize(1e-9, defaultSun)
	c.scenes, c.reps, c.casting = c.scenes[:0], c.reps[:0], c.casting[:0]
	c.objects, c.draws, c.commands = c.objects[:0], c.draws[:0], c.commands[:0]
	c.main.reset()
	c.visible = c.visible[:0]
	c.near, c.far, c.shadowFar = math.Inf(1), 0, 0
}

// sceneOf returns the index of a scene, which it computes once per frame.
func (c *collected) sceneOf(f *Frame, id payload.SceneID) int32 {
	for i := range c.scenes {
		if c.scenes[i].id == id {
			return int32(i)
		}
	}
	s := sceneView{id: id, root: rootOf(f.Root, id), eye: c.lens.eye, stretch: 1}
	s.plain = s.root == geom.Identity()
	s.view = c.view.in(&s.root)
	if !s.plain {
		s.mirror = s.root.Det3() < 0
		s.stretch = max(s.root.Column(0).Len(), s.root.Column(1).Len(), s.root.Column(2).Len())
		inv, _ := s.root.InverseAffine()
		s.eye = inv.Point(c.lens.eye)
	}
	c.scenes = append(c.scenes, s)
	return int32(len(c.scenes) - 1)
}

// rootOf returns the transform of a scene.
func rootOf(root func(payload.SceneID) geom.Mat4, id payload.SceneID) geom.Mat4 {
	if root == nil {
		return geom.Identity()
	}
	if m := root(id); m.IsFinite() {
		return m
	}
	return geom.Identity()
}

// collectReps finds what is to be drawn, near to far.
func (c *collected) collectReps(f *Frame) {
	for i := range f.Drawn {
		n := c.uploaded[f.Drawn[i].Key]
		if n == nil || !n.resident {
			c.stats.NotResident++
			continue
		}
		if len(n.meshes) == 0 {
			continue
		}
		d := drawnRep{rep: n, scene: c.sceneOf(f, n.key.Scene), parts: f.Drawn[i].Parts}
		d.mask, d.fading = maskOf(&f.Drawn[i])
		caster := &d
		for k := len(c.reps) - 1; k >= 0 && c.reps[k].rep == n; k-- { // of a node
			caster = &c.reps[k]
		}
		c.addCast(caster, &d)
		s := &c.scenes[d.scene]
		d.distance = n.box.Distance(s.eye) * s.stretch
		c.near = min(c.near, d.distance)
		c.far = max(c.far, d.distance+n.box.Size().Len()*s.stretch)
		switch f.View {
		case ViewLOD:
			d.color = rgba(LODColor(n.key.Rep))
		case ViewTiles:
			d.color = rgba(TileColor(n.key.Scene, n.key.Tile))
		case ViewBatches:
			d.color = rgba(AloneColor)
		}
		c.reps = append(c.reps, d)
	}
	slices.SortFunc(c.reps, func(a, b drawnRep) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.serial, b.serial), cmp.Compare(a.parts, b.parts))
	})
}

// see lists the meshes with textures that are in view of a frame before it is
// drawn; it comes after begin.
func (c *collected) see(f *Frame) {
	for i := range f.Drawn {
		n := c.uploaded[f.Drawn[i].Key]
		if n == nil || !n.resident || len(n.meshes) == 0 || i > 0 && f.Drawn[i-1].Key == n.key {
			continue
		}
		view := &c.scenes[c.sceneOf(f, n.key.Scene)].view
		center, half := [3]float64(n.box.Center()), [3]float64(n.box.Size().Scale(0.5))
		if !view.sees(&center, &half) {
			continue
		}
		for k := range n.meshes {
			if m := &n.meshes[k]; m.entity != 0 && view.sees(&m.center, &m.half) {
				c.visible = append(c.visible, m.entity)
			}
		}
	}
}

// collectMain culls and orders the draws of the view: representations and
// batches by their distance.
func (c *collected) collectMain(f *Frame) {
	batches := c.batches
	for i := range c.reps {
		d := &c.reps[i]
		for len(batches) > 0 && batches[0].distance < d.distance {
			c.collectRep(f, &batches[0])
			batches = batches[1:]
		}
		c.collectRep(f, d)
	}
	for i := range batches {
		c.collectRep(f, &batches[i])
	}
	slices.Sort(c.main.order)
	c.stats.Instanced += c.record(&c.main)
}

// collectRep adds what is in view of a representation and not in a batch.
func (c *collected) collectRep(f *Frame, d *drawnRep) {
	s := &c.scenes[d.scene]
	center, half := [3]float64(d.box.Center()), [3]float64(d.box.Size().Scale(0.5))
	if !s.view.sees(&center, &half) {
		if !d.batch { // else its members are counted
			c.stats.Culled += len(d.meshes)
		}
		return
	}
	for k := range d.meshes {
		m := &d.meshes[k]
		if !d.shows(m) {
			continue
		}
		if !s.view.sees(&m.center, &m.half) {
			c.stats.Culled++
			continue
		}
		if m.entity != 0 { // textures are streamed by meshes, however they are drawn
			c.visible = append(c.visible, m.entity)
		}
		if int(m.record) < len(d.merged) && d.merged[m.record] {
			c.stats.BatchedMeshes++
			continue
		}
		if d.batch {
			c.stats.BatchDraws++
		}
		c.addMain(f, d, s, m)
	}
}

// addCast adds the shadows of an entry to those that another one of its node, or it itself,
// casts: both follow one another.
func (c *collected) addCast(to, d *drawnRep) {
	m, ok := d.mask.cast()
	if !ok {
		return
	}
	for i := range to.casting {
		if to.casting[i].mask == m {
			to.casting[i].parts |= d.parts
			return
		}
	}
	c.casting = append(c.casting, cast{d.parts, m})
	n := len(c.casting)
	to.casting = c.casting[n-1-len(to.casting) : n : n]
}

func (c *collected) addMain(f *Frame, d *drawnRep, s *sceneView, m *mesh) {
	p := m.passOf(d.fading)
	page := d.bundles[m.bundle].at.page
	it := item{mesh: m, page: page, color: d.color, mask: d.mask, slot: c.slotOf(d, s, m), firstIndex: m.firstIndex, indexCount: m.indexCount}
	c.bindings.settle(m.set, page.id)
	it.state = m.drawKey(p, page.id)
	if s.mirror {
		it.state ^= 1 << keyMirrorShift
	}
	if f.View == ViewTextureTiers {
		id := m.set.shown()
		it.color = rgba(tierColor(id, c.textures.Look(id)))
	}
	key := it.state
	if p == passBlend {
		center := s.root.Point(m.center)
		key = uint64(passBlend)<<keyPassShift | depthKey(max(0, center.Sub(c.lens.eye).Dot(c.lens.forward)))
		c.stats.Blended++
	}
	c.main.add(key, it)
	c.stats.Draws++
	c.stats.Triangles += int(m.indexCount / 3)
}

// slotOf returns the object of a mesh in this frame, which is computed when it
// is first asked for.
func (c *collected) slotOf(d *drawnRep, s *sceneView, m *mesh) int32 {
	if n := (len(d.objects) + 1) * len(d.bundles); len(d.slots) != n {
		d.slots = make([]objectSlot, n)
	}
	k := &d.slots[int(m.object)*len(d.bundles)+int(m.bundle)]
	if k.stamp == c.number {
		return k.slot
	}
	world := s.root
	if m.object > 0 {
		if world = d.objects[m.object-1]; !s.plain {
			world = s.root.Mul(world)
		}
	}
	k.stamp, k.slot = c.number, c.addObject(&world, &d.bundles[m.bundle].packing)
	return k.slot
}

func (c *collected) addObject(world *geom.Mat4, p *compact.Packing) int32 {
	slot := len(c.objects) / objectFloats
	c.objects = appendObject(c.objects, world, c.lens.eye, p)
	return int32(slot)
}

// record appends the records and commands of a sorted list, as far as buffer
// textures can hold them. Neighbours with the same geometry and state are
// instances of one command, and the commands of all but the first draw nothing:
// a command picks its record by its base instance, and each instance the next
// one. It returns how many these are.
func (c *collected) record(l *list) (instanced int) {
	l.first = len(c.draws) / drawWords
	l.order = l.order[:min(len(l.order), c.maxDraws-l.first)]
	first := 0
	for i := range l.order {
		it := l.at(i)
		m := it.mesh
		count := uint32(1)
		if i > 0 && it.repeats(l.at(first)) {
			c.commands[commandWords*(l.first+first)+1]++
			count = 0
			instanced++
		} else {
			first = i
		}
		var layers [2]uint32
		if m.set != nil {
			layers = m.set.layers
		}
		c.draws = append(c.draws, uint32(it.slot), uint32(m.material), uint32(it.mask), it.color, layers[0], layers[1], 0, 0)
		c.commands = append(c.commands, it.indexCount, count, it.firstIndex, uint32(m.baseVertex), uint32(l.first+i))
	}
	return instanced
}

// repeats reports whether two draws can be instances of one command. Blended
// ones keep their order.
func (it *item) repeats(other *item) bool {
	m, o := it.mesh, other.mesh
	return it.state == other.state && it.page == other.page && it.firstIndex == other.firstIndex && m.baseVertex == o.baseVertex &&
		it.indexCount == other.indexCount && m.kind.alpha != alphaBlend
}

// Words of a draw's record, and of its command, which OpenGL defines.
const (
	drawWords    = 8
	commandWords = 5
)
