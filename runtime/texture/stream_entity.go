package texture

import (
	"math"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// Slot is one use of a texture by an entity.
type Slot struct {
	Dir string // the folder that URI is relative to: payload.Asset.Dir
	URI string // of the texture record, not to be trusted; "" for none
	Use texfile.Use
}

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
	// Burst serves the entity before others in its first tick: for meshes of a
	// tile that has just been loaded.
	Burst bool
	// Slots are its textures; they may repeat.
	Slots []Slot
}

// MaterialSlots appends the slots of a material in the order base colour,
// normal, metallic, roughness, emissive, occlusion, height; those without a
// texture have no URI. textures and str are those of the material's payload
// (payload.Asset.Textures and Strings), dir is its folder.
func MaterialSlots(dst []Slot, m *records.Material, textures []records.Texture, str func(offset uint32) string, dir string) []Slot {
	base := texfile.OpaqueColor
	if m.Flags&records.MaterialAlphaMask != 0 {
		base = texfile.Color
	}
	for _, x := range [...]struct {
		index uint32
		use   texfile.Use
	}{
		{m.BaseColorTexture, base},
		{m.NormalTexture, texfile.Normal},
		{m.MetallicTexture, texfile.Data},
		{m.RoughnessTexture, texfile.Data},
		{m.EmissiveTexture, texfile.OpaqueColor},
		{m.OcclusionTexture, texfile.Data},
		{m.HeightTexture, texfile.Data},
	} {
		slot := Slot{Dir: dir, Use: x.use}
		if uint64(x.index) < uint64(len(textures)) && str != nil {
			slot.URI = str(textures[x.index].URIOffset)
		}
		if slot.Use == texfile.OpaqueColor && (slot.URI == "" || !mayHaveAlpha(slot.URI)) {
			slot.Use = texfile.Color // one texture for all materials
		}
		dst = append(dst, slot)
	}
	return dst
}

// mayHaveAlpha reports whether a file may have alpha that was not made for the
// materials that use it: neither of JPEG, which has none, nor of what a cook has
// compressed.
func mayHaveAlpha(uri string) bool {
	switch strings.ToLower(path.Ext(uri)) {
	case ".jpg", ".jpeg", ".utex":
		return false
	}
	return true
}

// AssetSlots returns the slots of all materials of a payload, for Warmer.Warm;
// the arguments are those of MaterialSlots.
func AssetSlots(materials []records.Material, textures []records.Texture, str func(offset uint32) string, dir string) []Slot {
	var slots []Slot
	for i := range materials {
		slots = MaterialSlots(slots, &materials[i], textures, str, dir)
	}
	return slots
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
	fixed    bool
	finest   Tier    // what level, levels and fixed allow
	slots    []ID    // by slot, 0 for none
	textures []int32 // distinct
	op       int     // textures that are changing on its behalf
	shedHold time.Duration
	visible  uint64 // tick in which it was last visible
	bursting uint64 // tick in which it is served first
	tried    uint64 // tick in which it was last looked at for changes
}

func (e *entity) handle(index int32) Entity { return Entity(e.gen)<<32 | Entity(index) }

// find returns the record of a handle; nil for one that is gone.
func (s *Streamer) find(h Entity) (*entity, int32) {
	i := uint32(h)
	if uint64(i) >= uint64(len(s.entities)) {
		return nil, -1
	}
	e := &s.entities[i]
	if !e.live || e.gen != uint32(h>>32) {
		return nil, -1
	}
	return e, int32(i)
}

// Add registers an entity; its textures are loaded from the next Update on.
// After Close it returns 0.
func (s *Streamer) Add(p Part) Entity {
	if s.closed {
		return 0
	}
	index := int32(len(s.entities))
	if n := len(s.freeEntities); n > 0 {
		index, s.freeEntities = s.freeEntities[n-1], s.freeEntities[:n-1]
	} else {
		s.entities = append(s.entities, entity{})
	}
	e := &s.entities[index]
	*e = entity{gen: e.gen + 1, live: true, level: p.Level, levels: p.Levels, fixed: p.Fixed, slots: e.slots[:0], textures: e.textures[:0]}
	e.place(p.Min, p.Max)
	e.distance = s.distance(e)
	e.limit()
	for _, slot := range p.Slots {
		if slot.URI == "" {
			e.slots = append(e.slots, 0)
			continue
		}
		e.slots = append(e.slots, s.acquire(e, slot))
	}
	s.resting = false
	h := e.handle(index)
	if p.Burst && !p.Fixed && len(e.textures) > 0 {
		s.fresh = append(s.fresh, h)
	}
	return h
}

// Textures appends the IDs of an entity's textures in the order of its slots, 0
// where there is none. They stay the same as long as the entity exists; whether
// there is anything to draw yet, Look tells.
func (s *Streamer) Textures(dst []ID, h Entity) []ID {
	if e, _ := s.find(h); e != nil {
		dst = append(dst, e.slots...)
	}
	return dst
}

// ID returns the texture of a slot, 0 when no entity has it.
func (s *Streamer) ID(slot Slot) ID {
	if i, ok := s.byKey[keyOf(slot)]; ok && slot.URI != "" {
		return ID(i) + 1
	}
	return 0
}

// Remove takes an entity out. Textures that no other uses are released, and
// what is being loaded for it is dropped. Unknown handles are ignored.
func (s *Streamer) Remove(h Entity) {
	e, index := s.find(h)
	if e == nil {
		return
	}
	s.cancelOp(e, index)
	for _, t := range e.textures {
		s.unref(t)
	}
	e.live = false
	s.freeEntities = append(s.freeEntities, index)
}

// Move changes the box of an entity, in world space. It counts from the next
// tick on.
func (s *Streamer) Move(h Entity, boxMin, boxMax [3]float64) {
	if e, _ := s.find(h); e != nil {
		e.place(boxMin, boxMax)
	}
}

// SetLevel changes which level of its LOD group an entity is. What is being
// loaded for the old one is dropped.
func (s *Streamer) SetLevel(h Entity, level, levels int) {
	e, index := s.find(h)
	if e == nil || e.level == level && e.levels == levels {
		return
	}
	s.cancelOp(e, index)
	e.level, e.levels = level, levels
	e.limit()
}

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

func (s *Streamer) distance(e *entity) float64 {
	if e.box.IsEmpty() {
		return math.Inf(1)
	}
	return e.box.Distance(s.camera)
}

// resourceKey names a texture: the same file read for two uses is two.
type resourceKey struct {
	file string
	use  texfile.Use
}

// keyOf joins folder and URI by their text. A URI that will be refused must not
// stand for the file that another one names.
func keyOf(slot Slot) resourceKey {
	if texfile.CheckURI(slot.URI) != nil {
		return resourceKey{slot.Dir + "\x00" + slot.URI, slot.Use}
	}
	return resourceKey{filepath.Join(slot.Dir, filepath.FromSlash(slot.URI)), slot.Use}
}

// state is how far a texture has come.
type state uint8

const (
	stateWaiting  state = iota // for its first load
	stateLoading               // for the first time
	stateResident              // something is on the device
	stateMissing               // the first load has failed
)

// resource is a record of the table of textures.
type resource struct {
	name     *name // apart, because ticks go through all records
	refs     int   // 0: the record is free
	state    state
	busy     bool // a flight changes it
	late     bool // the first load did not come in time
	start    int  // first level on the device
	at       starts
	scaled   bool // scale is known: what is seen decides, not radii
	scale    float64
	reach    *reach
	voted    uint64  // tick in which vote was set
	vote     int     // first level that it should have
	near     float64 // distance of the nearest entity, as of the last look
	retryAt  time.Duration
	file     texfile.Size
	bytes    int64 // on the device
	need     int64 // bytes of its first levels, if those are known to be many
	failures int
}

// name says where a texture comes from.
type name struct {
	key  resourceKey
	slot Slot
}

// acquire returns the texture of a slot for an entity.
func (s *Streamer) acquire(e *entity, slot Slot) ID {
	key := keyOf(slot)
	i, ok := s.byKey[key]
	if !ok {
		i = int32(len(s.textures))
		if n := len(s.freeTextures); n > 0 {
			i, s.freeTextures = s.freeTextures[n-1], s.freeTextures[:n-1]
		} else {
			s.textures = append(s.textures, resource{})
		}
		s.textures[i] = resource{name: &name{key, slot}, near: math.Inf(1)}
		s.setScale(&s.textures[i])
		s.byKey[key] = i
		s.await(i)
	}
	for _, have := range e.textures {
		if have == i {
			return ID(i) + 1
		}
	}
	t := &s.textures[i]
	t.refs++
	t.near = min(t.near, e.distance)
	e.textures = append(e.textures, i)
	return ID(i) + 1
}

// await queues a texture for its first load. What is released before stays in
// the queue until its turn.
func (s *Streamer) await(i int32) {
	s.textures[i].state = stateWaiting
	s.waiting = append(s.waiting, i)
	s.sorted = false
}

// unref gives one entity's use of a texture back.
func (s *Streamer) unref(i int32) {
	t := &s.textures[i]
	if t.refs--; t.refs > 0 {
		return
	}
	for k := range s.flights {
		if s.flights[k].texture == i {
			s.drop(k)
			break
		}
	}
	if t.state == stateResident {
		s.used -= t.bytes
		s.device.Release(ID(i) + 1)
		s.trace(Event{Kind: EventRelease, Texture: ID(i) + 1, From: t.edge()})
	}
	delete(s.byKey, t.name.key)
	*t = resource{}
	s.freeTextures = append(s.freeTextures, i)
}

// edge returns the longest edge on the device, 0 for nothing.
func (t *resource) edge() int {
	if t.state != stateResident {
		return 0
	}
	return t.file.Edge(t.start)
}

// setStarts computes where the tiers of a texture begin.
func (s *Streamer) setStarts(t *resource) {
	limit := s.options.MaxEdge
	if limit == 0 {
		limit = texfile.MaxEdge
	}
	for tier, edge := range [tiers]int{TierMinimum: s.policy.MinDimension, TierMedium: s.policy.MaxDimension, TierFull: texfile.MaxEdge} {
		t.at[tier] = t.file.StartFor(min(edge, limit))
	}
	s.setReach(t)
}
