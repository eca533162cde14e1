package render

import (
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
}

func newBindings(at func(slot int, id texture.ID) gpu.Layer, moves *uint64) bindings {
	return bindings{at: at, moves: moves, byKey: map[binding]uint32{}, list: make([]binding, 1)}
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
		b.list = b.list[:1]
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
	s.binding = n
}
