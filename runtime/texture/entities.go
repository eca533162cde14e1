package texture

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/untoldkit/untold/internal/geom"
)

// Entity is a handle of something that is drawn with textures, typically one
// mesh of an uploaded asset. Handles are not used twice; 0 is none.
type Entity uint64

// Part is an entity as it is added.
type Part struct {
	// Min and Max are the corners of its box in world space, metres, scene
	// transforms applied. A box that is not finite counts as infinitely far.
	Min, Max [3]float64
	// Fixed keeps the textures at the minimum: for the meshes of HLODs and of
	// per-tile LODs.
	Fixed bool
	// Level and Levels tell which level of an LOD group of entities this is; 0 is
	// the finest. Levels below 2 mean no group.
	Level, Levels int
	// Error is how much of the shape is wrong, in metres, as of a coarse level: over a network
	// the first levels of its textures have texels no smaller. 0 is unknown, or nothing.
	Error float64
	// Burst serves the entity before others in its first tick: for meshes of a
	// tile that has just been loaded.
	Burst bool
	// Slots are its textures; they may repeat.
	Slots []Slot
}

// entity is a record of the table of entities.
type entity struct {
	gen      uint32 // counts the uses of the record
	live     bool
	tracked  bool // some texture is above the minimum, as of the last look
	box      geom.Box
	distance float64 // as of the last look
	level    int
	levels   int
	wrong    float64 // Part.Error, at least 0
	fixed    bool
	finest   Tier    // what level, levels and fixed allow
	slots    []ID    // by slot, 0 for none
	textures []int32 // distinct
	op       int     // textures that are changing on its behalf
	shedHold time.Duration
	visible  uint64 // tick in which it was last visible
	bursting uint64 // tick in which it is served first
	tried    uint64 // tick in which it was last looked at for changes
	sharpens bool   // what is coarse of its textures is due, as of the last look
}

func (e *entity) handle(index int32) Entity { return Entity(e.gen)<<32 | Entity(index) }

func (e *entity) place(boxMin, boxMax [3]float64) {
	e.box = geom.Box{Min: boxMin, Max: boxMax}
	if !e.box.Min.IsFinite() || !e.box.Max.IsFinite() {
		e.box = geom.EmptyBox()
	}
}

// limit sets the finest tier that the entity may have.
func (e *entity) limit() {
	e.finest = tierOfLevel(e.level, e.levels)
	if e.fixed {
		e.finest = TierMinimum
	}
}

// distanceTo returns the distance to the camera, a pointer since this is the inner
// loop of a tick; what is nowhere is infinitely far.
func (e *entity) distanceTo(camera *geom.Vec3) float64 {
	if e.box.IsEmpty() {
		return math.Inf(1)
	}
	return e.box.Distance(*camera)
}

// entityTable owns the records of entities and their handles: a record is used
// again after its entity is gone, a handle never. It also knows which entities
// are new, and wait to be served first. It knows neither device nor budget.
type entityTable struct {
	list   []entity
	free   []int32
	fresh  []Entity // added, not all of their textures are there
	burst  []int32  // served first in this tick
	ranked []ranked // scratch of rank
}

// find returns the record of a handle; nil for one that is gone.
func (t *entityTable) find(h Entity) (*entity, int32) {
	i := uint32(h)
	if uint64(i) >= uint64(len(t.list)) {
		return nil, -1
	}
	e := &t.list[i]
	if !e.live || e.gen != uint32(h>>32) {
		return nil, -1
	}
	return e, int32(i)
}

// add returns the record of a new entity, as yet without textures.
func (t *entityTable) add(p Part, camera *geom.Vec3) (*entity, Entity) {
	index := int32(len(t.list))
	if n := len(t.free); n > 0 {
		index, t.free = t.free[n-1], t.free[:n-1]
	} else {
		t.list = append(t.list, entity{})
	}
	e := &t.list[index]
	*e = entity{gen: e.gen + 1, live: true, level: p.Level, levels: p.Levels, wrong: max(0, p.Error), fixed: p.Fixed, slots: e.slots[:0], textures: e.textures[:0]}
	e.place(p.Min, p.Max)
	e.distance = e.distanceTo(camera)
	e.limit()
	return e, e.handle(index)
}

// remove frees a record.
func (t *entityTable) remove(index int32) {
	t.list[index].live = false
	t.free = append(t.free, index)
}

// measure computes the distances of all entities, that of the nearest user of
// every texture, and what is above the minimum.
func (t *entityTable) measure(camera *geom.Vec3, textures *textureTable) {
	for i := range textures.list {
		textures.list[i].near, textures.list[i].wrong = math.Inf(1), math.Inf(1)
	}
	for i := range t.list {
		e := &t.list[i]
		if !e.live {
			continue
		}
		e.distance = e.distanceTo(camera)
		e.tracked = false
		for _, k := range e.textures {
			r := &textures.list[k]
			r.near, r.wrong = min(r.near, e.distance), min(r.wrong, e.wrong)
			if r.aboveMinimum() {
				e.tracked = true
			}
		}
	}
}

// mark notes who is visible in a tick, and who is served first in it: new
// entities whose textures have all come by now.
func (t *entityTable) mark(visible []Entity, tick uint64, textures *textureTable) {
	for _, h := range visible {
		if e, _ := t.find(h); e != nil {
			e.visible = tick
		}
	}
	t.burst = t.burst[:0]
	keep := t.fresh[:0]
	for _, h := range t.fresh {
		e, i := t.find(h)
		switch {
		case e == nil:
		case textures.complete(e.textures):
			e.bursting = tick
			t.burst = append(t.burst, i)
		default:
			keep = append(keep, h)
		}
	}
	t.fresh = keep
}

// ranked is an entity in an order of distance.
type ranked struct {
	distance float64
	entity   int32
	sharpens bool
}

func nearer(a, b ranked) int {
	return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.entity, b.entity))
}

// urgent is nearer, but for what sharpens something coarse, which comes first.
func urgent(a, b ranked) int {
	if a.sharpens != b.sharpens {
		if a.sharpens {
			return -1
		}
		return 1
	}
	return nearer(a, b)
}

func farther(a, b ranked) int {
	return cmp.Or(cmp.Compare(b.distance, a.distance), cmp.Compare(a.entity, b.entity))
}

// rank lists the entities that pass a test in an order; the list is good until
// the next call.
func (t *entityTable) rank(pass func(*entity) bool, order func(a, b ranked) int) []ranked {
	t.ranked = t.ranked[:0]
	for i := range t.list {
		if e := &t.list[i]; e.live && pass(e) {
			t.ranked = append(t.ranked, ranked{e.distance, int32(i), e.sharpens})
		}
	}
	slices.SortFunc(t.ranked, order)
	return t.ranked
}
