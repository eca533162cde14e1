package texture

import (
	"math"
	"time"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

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
	busy     bool // a load changes it
	late     bool // the first load did not come in time
	start    int  // first level on the device
	at       starts
	scaled   bool // scale is known: what is seen decides, not radii
	scale    float64
	reach    *reach
	voted    bool    // somebody had a vote in the last tick
	vote     int     // first level that it should have
	near     float64 // distance of the nearest entity, as of the last look
	wrong    float64 // the least Part.Error, as of the last look
	retryAt  time.Duration
	file     texfile.Size
	bytes    int64 // on the device
	*portion       // apart too; once something is on the device
	need     int64 // bytes of its first levels, if those are known to be many
	cooked   bool  // by its name: its levels come one by one
	came     time.Duration
	failures int
}

// name says where a texture comes from.
type name struct {
	key  resourceKey
	slot Slot
}

// edge returns the longest edge on the device, 0 for nothing.
func (t *resource) edge() int {
	if t.state != stateResident {
		return 0
	}
	return t.file.Edge(t.start)
}

// tier returns the finest tier whose size a texture has.
func (t *resource) tier() Tier {
	switch {
	case t.start <= t.at[TierFull]:
		return TierFull
	case t.start <= t.at[TierMedium]:
		return TierMedium
	}
	return TierMinimum
}

func (t *resource) aboveMinimum() bool {
	return t.state == stateResident && t.start < t.at[TierMinimum]
}

// textureTable owns the records of textures: one per file and use, counted by the
// entities that use it, with where its tiers begin and within which distances
// they are wanted. These follow the parameters, the scales and the pixel size at
// all times. It loads nothing and knows neither device nor budget.
type textureTable struct {
	policy  policy
	minimum int // longest edge of the minimum size: MinDimension, or less where memory is short
	scales  Scales
	pixel   float64
	maxEdge int // that the device takes
	small   int // longest edge at which cooked ones come first; 0: the minimum

	list  []resource // ID - 1 is the index
	free  []int32
	byKey map[resourceKey]int32
}

func newTextureTable(p config.Textures, scales Scales, deviceEdge, small int) textureTable {
	if deviceEdge == 0 {
		deviceEdge = texfile.MaxEdge
	}
	return textureTable{policy: newPolicy(p), minimum: p.MinDimension, scales: scales, pixel: PixelSize(0, 0), maxEdge: deviceEdge, small: small, byKey: map[resourceKey]int32{}}
}

// find returns the record of a texture; nil for an ID without one.
func (t *textureTable) find(id ID) *resource {
	if id == 0 || uint64(id) > uint64(len(t.list)) || t.list[id-1].refs == 0 {
		return nil
	}
	return &t.list[id-1]
}

// acquire returns the texture of a slot for an entity, and whether it is new.
func (t *textureTable) acquire(e *entity, slot Slot) (index int32, isNew bool) {
	key := keyOf(slot)
	i, ok := t.byKey[key]
	if !ok {
		i = int32(len(t.list))
		if n := len(t.free); n > 0 {
			i, t.free = t.free[n-1], t.free[:n-1]
		} else {
			t.list = append(t.list, resource{})
		}
		t.list[i] = resource{name: &name{key, slot}, near: math.Inf(1), wrong: math.Inf(1), cooked: texfile.IsCooked(slot.URI)}
		t.setScale(&t.list[i])
		t.byKey[key] = i
	}
	for _, have := range e.textures {
		if have == i {
			return i, false
		}
	}
	r := &t.list[i]
	r.refs++
	r.near, r.wrong = min(r.near, e.distance), min(r.wrong, e.wrong)
	e.textures = append(e.textures, i)
	return i, !ok
}

// release frees the record of a texture that nobody uses.
func (t *textureTable) release(i int32) {
	delete(t.byKey, t.list[i].name.key)
	t.list[i] = resource{}
	t.free = append(t.free, i)
}

// setParams changes the parameters of all textures.
func (t *textureTable) setParams(p config.Textures) {
	t.policy = newPolicy(p)
	t.setMinimum(p.MinDimension)
}

// setMinimum changes the minimum size of all textures.
func (t *textureTable) setMinimum(edge int) {
	t.minimum = edge
	for i := range t.list {
		if r := &t.list[i]; r.state == stateResident {
			t.setStarts(r)
		}
	}
}

// setScales says how large textures are in the world.
func (t *textureTable) setScales(scales Scales) {
	t.scales = scales
	for i := range t.list {
		if r := &t.list[i]; r.refs > 0 {
			t.setScale(r)
		}
	}
}

// setScale looks a texture's scale up.
func (t *textureTable) setScale(r *resource) {
	r.scale, r.scaled = t.scales[r.name.slot.URI]
	t.setReach(r)
}

// setPixel takes over what a pixel covers.
func (t *textureTable) setPixel(pixel float64) {
	if !(pixel > 0) || math.IsInf(pixel, 1) {
		pixel = PixelSize(0, 0)
	}
	if pixel == t.pixel {
		return
	}
	t.pixel = pixel
	for i := range t.list {
		if r := &t.list[i]; r.refs > 0 && r.scaled {
			t.setReach(r)
		}
	}
}

// setFile takes over what is known of a texture's file.
func (t *textureTable) setFile(r *resource, file texfile.Size) {
	if r.file != file {
		r.file = file
		r.portion = &portion{data: r.name.slot.Use == texfile.Normal || r.name.slot.Use == texfile.Data, sizes: make([]int64, file.Mips)}
		for level := range r.sizes {
			r.sizes[level] = file.Bytes(level)
		}
	}
	t.setStarts(r)
}

// setStarts computes where the tiers of a texture begin, once its file is known.
func (t *textureTable) setStarts(r *resource) {
	for tier, edge := range [tiers]int{TierMinimum: t.minimum, TierMedium: t.medium(), TierFull: texfile.MaxEdge} {
		r.at[tier] = r.file.StartFor(min(edge, t.maxEdge))
	}
	t.setReach(r)
}

// setReach computes at which distances a texture changes.
func (t *textureTable) setReach(r *resource) {
	if r.reach = &t.policy.reach; r.scaled && r.state == stateResident {
		own := t.policy.reachOf(r, t.pixel)
		r.reach = &own
	}
}

// medium returns the longest edge of the medium size, which shrinks with the minimum:
// between the two lies what most have where memory is short.
func (t *textureTable) medium() int {
	return max(t.minimum, t.policy.MaxDimension*t.minimum/t.policy.MinDimension)
}

// firstEdge returns the longest edge of first loads.
func (t *textureTable) firstEdge() int { return min(t.minimum, t.maxEdge) }

// coarsePixels is how many pixels texels of colours and normals may cover at first, and in a
// draft of a scene: an eighth less than its errors in the end. What a camera comes nearer to is
// replaced before it is too coarse.
const coarsePixels = 7

// measured reports whether it is known how large the texels of a texture are in the world, and
// that counts: of data it does not.
func (r *resource) measured() bool {
	return r.scaled && r.scale > 0 && r.name.slot.Use != texfile.Data
}

// fine reports whether so many texels on the longest edge of a measured texture
// are enough at first, and in a draft: no larger than coarsePixels, or than what is wrong with
// the shape that they are on.
func (t *textureTable) fine(r *resource, edge int) bool {
	return t.texelPixels(r, edge, r.near) <= coarsePixels || 1/(r.scale*float64(edge)) <= r.wrong
}

// firstEdgeOf returns the longest edge of a texture's first load. Where loads come quickly one
// that comes small is no coarser than a draft, if its scale is known, since every step takes the
// latency of the network once more; elsewhere everything has something first.
func (t *textureTable) firstEdgeOf(r *resource, quick bool) int {
	if !r.cooked || t.small <= 0 {
		return t.firstEdge()
	}
	edge := min(t.firstEdge(), t.small)
	if quick && r.measured() {
		for edge < t.firstEdge() && !t.fine(r, edge) {
			edge = min(2*edge, t.firstEdge())
		}
	}
	return edge
}

// texelPixels returns how many pixels a texel of a texture of known scale above 0 covers at a
// distance where it has so many on its longest edge.
func (t *textureTable) texelPixels(r *resource, edge int, distance float64) float64 {
	return 1 / (r.scale * t.pixel * float64(edge) * max(distance, leastAway))
}

// enough reports whether a texture below the minimum size shows at a distance all that
// the picture does: its texels are no larger than pixels.
func (t *textureTable) enough(r *resource, distance float64) bool {
	return r.scaled && r.state == stateResident && r.start > r.at[TierMinimum] && r.scale*t.pixel*float64(r.file.Edge(r.start))*distance >= 1
}

// firstBytes bounds the bytes of a texture's first load.
func (t *textureTable) firstBytes(r *resource) int64 {
	return max(r.need, texfile.MostBytes(t.firstEdge()))
}

// Of a budget at most so much is for the minimum sizes of all textures; the minimum grows
// again where the next larger one would take less than minimumAgain.
const (
	minimumShare = 0.6
	minimumAgain = 0.45
	leastMinimum = 16 // texels
)

// fitMinimum chooses the minimum size: all that there is has to have something, before
// anything has more.
func (t *textureTable) fitMinimum(limit int64) {
	edge := t.policy.MinDimension
	if limit > 0 {
		for ; edge > leastMinimum; edge /= 2 {
			share := minimumShare
			if edge > t.minimum {
				share = minimumAgain
			}
			if float64(t.minimumBytes(edge)) <= float64(share*float64(limit)) {
				break
			}
		}
	}
	if edge != t.minimum {
		t.setMinimum(edge)
	}
}

// minimumBytes returns what all textures take with a minimum size.
func (t *textureTable) minimumBytes(edge int) (n int64) {
	edge = min(edge, t.maxEdge)
	most := texfile.MostBytes(edge)
	for i := range t.list {
		switch r := &t.list[i]; {
		case r.refs == 0 || r.state == stateMissing:
		case r.state == stateResident:
			n += r.file.Bytes(r.file.StartFor(edge))
		default:
			n += most
		}
	}
	return n
}

// complete reports whether none of these textures waits for its first load or
// for the end of a load.
func (t *textureTable) complete(indices []int32) bool {
	for _, k := range indices {
		if r := &t.list[k]; r.state == stateWaiting || r.state == stateLoading || r.busy {
			return false
		}
	}
	return true
}

// depth is how far a shed goes.
type depth uint8

const (
	toTiers   depth = iota // to the medium size within the upgrade radius, else to the minimum
	toMinimum              // everywhere to the minimum
)

// sheddable returns where a texture would begin after a shed, and the bytes
// that this gives back; -1 when it stays as it is.
func (t *textureTable) sheddable(index int32, beyond float64, to depth) (bytes int64, start int) {
	r := &t.list[index]
	if r.state != stateResident || r.busy || r.near <= beyond {
		return 0, -1
	}
	start = r.at[TierMinimum]
	if to == toTiers {
		start = r.at[t.policy.shedTier(r.near)]
	}
	if start <= r.start {
		return 0, -1
	}
	return r.bytes - r.file.Bytes(start), start
}

// reclaimable returns the bytes that a shed beyond a distance could give back.
func (t *textureTable) reclaimable(beyond float64, to depth) (n int64) {
	for i := range t.list {
		if t.list[i].refs > 0 {
			bytes, _ := t.sheddable(int32(i), beyond, to)
			n += bytes
		}
	}
	return n
}
