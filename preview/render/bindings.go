package render

import (
	"slices"

	"github.com/untoldkit/untold/preview/internal/gpu"
	"github.com/untoldkit/untold/runtime/texture"
)

// binding is the arrays of a draw's textures by slot, 0 for what is neutral. Draws
// with the same one can be one command, whatever the layers are.
type binding [slots]gpu.Texture

// bindings numbers the bindings of the sets that are drawn, anew whenever a texture
// has moved.
type bindings struct {
	at    func(slot int, id texture.ID) gpu.Layer // where a texture lies, or what stands in
	moves *uint64                                 // of the textures: see textureArrays
	seen  uint64
	byKey map[binding]uint32
	list  []binding // the first one is neutral
	uses  []int     // sets that have them

	sets []*textureSet // settled since a texture has moved
	turn int           // of align
	calm int           // sets at which align has found nothing to do since then
}

func newBindings(at func(slot int, id texture.ID) gpu.Layer, moves *uint64) bindings {
	return bindings{at: at, moves: moves, byKey: map[binding]uint32{}, list: make([]binding, 1), uses: make([]int, 1)}
}

// settle brings a set up to where its textures are now. Textures stay where they are
// while a frame is collected and drawn.
func (b *bindings) settle(s *textureSet) {
	if s == nil {
		return
	}
	if now := *b.moves + 1; b.seen != now { // a set begins with 0
		b.seen = now
		clear(b.byKey)
		b.list, b.uses, b.sets, b.calm = b.list[:1], b.uses[:1], b.sets[:0], 0
	}
	if s.seen == b.seen {
		return
	}
	s.seen = b.seen
	var key binding
	s.layers = [2]uint32{}
	for slot, id := range s.key {
		at := b.at(slot, id)
		key[slot] = at.Texture
		s.layers[slot/4] |= uint32(at.Number) << (slot % 4 * 8)
	}
	n, ok := b.byKey[key]
	if !ok {
		n = uint32(len(b.list)) // 0 sorts draws without textures first
		b.byKey[key] = n
		b.list, b.uses = append(b.list, key), append(b.uses, 0)
	}
	b.uses[n]++
	b.sets = append(b.sets, s)
	s.binding = n
}

// alignTries is at how many sets align looks.
const alignTries = 8

// align looks at a few of the sets that were drawn, in turn, and moves a texture that one of
// them has alone to another array where there is room, if that gives the set a binding that at
// least as many others have. As sizes change, textures come to lie in arrays in any order, and
// nearly every set would have a binding of its own. Every move makes common bindings more
// common, so that it comes to an end; one in a frame takes little time.
func (b *bindings) align(arrays *textureArrays, layerOf func(texture.ID) *layer) {
	if b.seen != *b.moves+1 {
		return
	}
	for range alignTries {
		if b.calm >= len(b.sets) {
			return
		}
		b.turn = (b.turn + 1) % len(b.sets)
		s := b.sets[b.turn]
		if l, to := b.better(s, layerOf); l != nil {
			arrays.move(l, to)
			return
		}
		b.calm++
	}
}

// better returns a texture of a set and the array to which to move it; nil for none.
func (b *bindings) better(s *textureSet, layerOf func(texture.ID) *layer) (found *layer, to *textureArray) {
	key, most := b.list[s.binding], b.uses[s.binding]-1 // others
	for slot, id := range s.key {
		l := layerOf(id)
		if l == nil || slices.Index(s.key[:], id) < slot {
			continue
		}
		for _, a := range l.array.class.arrays {
			if a == l.array || a.used == len(a.layers) {
				continue
			}
			other := key
			for k := range other {
				if s.key[k] == id {
					other[k] = a.name
				}
			}
			if n, ok := b.byKey[other]; ok && b.uses[n] > most && b.alone(s, id) {
				found, to, most = l, a, b.uses[n]
			}
		}
	}
	return found, to
}

// alone reports whether no other set has a texture of one.
func (b *bindings) alone(s *textureSet, id texture.ID) bool {
	return !slices.ContainsFunc(b.sets, func(o *textureSet) bool { return o != s && slices.Contains(o.key[:], id) })
}
