package render

import (
	"slices"

	"github.com/untoldkit/untold/preview/internal/gpu"
	"github.com/untoldkit/untold/runtime/texture"
)

// binding is the arrays of a draw's textures by slot, 0 for what is neutral. Draws
// with the same one can be one command, whatever the layers are.
type binding [slots]gpu.Texture

// use is what draws have in common that can be one command: arrays, and a page of the geometry
// pool.
type use struct {
	binding uint32
	page    int
}

// bindings numbers the bindings of the sets that are drawn, anew whenever a texture
// has moved.
type bindings struct {
	at    func(slot int, id texture.ID) gpu.Layer // where a texture lies, or what stands in
	moves *uint64                                 // of the textures: see textureArrays
	seen  uint64
	byKey map[binding]uint32
	list  []binding // the first one is neutral

	sets []*textureSet // settled since a texture has moved
	uses map[use]int   // how many of them
	turn int           // of align
	calm int           // sets at which align has found nothing to do since then
}

func newBindings(at func(slot int, id texture.ID) gpu.Layer, moves *uint64) bindings {
	return bindings{at: at, moves: moves, byKey: map[binding]uint32{}, list: make([]binding, 1), uses: map[use]int{}}
}

// settle brings a set up to where its textures are now, for a draw from a page. Textures stay
// where they are while a frame is collected and drawn.
func (b *bindings) settle(s *textureSet, page int) {
	if s == nil {
		return
	}
	if now := *b.moves + 1; b.seen != now { // a set begins with 0
		b.seen = now
		clear(b.byKey)
		clear(b.uses)
		b.list, b.sets, b.calm = b.list[:1], b.sets[:0], 0
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
		b.list = append(b.list, key)
	}
	s.binding, s.page = n, page
	b.sets = append(b.sets, s)
	b.uses[use{n, page}]++
}

// alignTries is at how many sets align looks.
const alignTries = 8

// align looks at a few of the sets that were drawn, in turn, and moves a texture that one of
// them has alone to another array where there is room, if that gives the set a use that at least
// as many others have. As sizes change, textures come to lie in arrays in any order, and nearly
// every set would be a command of its own. Every move makes common uses more common, so that it
// comes to an end; one in a frame takes little time.
func (b *bindings) align(arrays *textureArrays, layerOf func(texture.ID) *layer) {
	if b.seen != *b.moves+1 {
		return
	}
	for range alignTries {
		if b.calm >= len(b.sets) {
			return
		}
		b.turn = (b.turn + 1) % len(b.sets)
		if l, to := b.better(b.sets[b.turn], layerOf); l != nil {
			arrays.move(l, to)
			return
		}
		b.calm++
	}
}

// better returns a texture of a set and the array to which to move it; nil for none.
func (b *bindings) better(s *textureSet, layerOf func(texture.ID) *layer) (found *layer, to *textureArray) {
	key, most := b.list[s.binding], b.uses[use{s.binding, s.page}]-1 // others
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
			n, ok := b.byKey[other]
			if uses := b.uses[use{n, s.page}]; ok && uses > most && b.alone(s, id) {
				found, to, most = l, a, uses
			}
		}
	}
	return found, to
}

// alone reports whether no other set has a texture of one.
func (b *bindings) alone(s *textureSet, id texture.ID) bool {
	return !slices.ContainsFunc(b.sets, func(o *textureSet) bool { return o != s && slices.Contains(o.key[:], id) })
}
