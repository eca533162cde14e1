package render

import (
	"slices"

	"github.com/untoldkit/untold/preview/internal/gpu"
)

// Textures that are alike lie in the layers of common arrays, so that draws with
// different textures can be one command.
const (
	sharedEdge   = 512     // of the largest textures that share an array, in texels
	arrayBytes   = 1 << 20 // of the first arrays of a class that have several layers, at most
	arrayMost    = 4 << 20 // of an array of several layers, at most
	arrayLayers  = 64      // of an array, at most: a draw's record has a byte for each
	arrayReserve = 12      // the part of the budget that layers without a texture may take
	arrayShare   = 4       // the part of it that arrays of several layers take, where textures can't move together
)

// arrayDevice is what textureArrays need of a gpu.Device.
type arrayDevice interface {
	NewTexture(i *gpu.TextureInfo, layers int) gpu.Texture
	CopyTexture(dst, src gpu.Layer, i *gpu.TextureInfo, skip int)
	DeleteTexture(gpu.Texture)
}

// textureArrays hands out layers of arrays. Textures of equal size, levels, format
// and sampling share arrays if they are small.
//
// An array keeps the layers with which it begins: drivers take tens of milliseconds to
// make a very large one and to copy what it had. The more textures of a class there are, the
// more layers its next array has. Where the device copies textures those of two arrays that are
// half empty move together. See reserve for the layers that are idle.
type textureArrays struct {
	device arrayDevice
	copies bool
	most   int   // layers that the device takes
	limit  int64 // bytes; 0: none

	byInfo  map[gpu.TextureInfo]*arrayClass
	classes []*arrayClass
	bytes   int64 // of all arrays
	idle    int64 // of layers without a texture
	shared  int64 // of arrays of several layers

	moves uint64 // changes whenever a texture comes, moves or goes
}

func newTextureArrays(d arrayDevice, copies bool, most int) textureArrays {
	return textureArrays{device: d, copies: copies, most: max(1, min(most, arrayLayers)), byInfo: map[gpu.TextureInfo]*arrayClass{}}
}

// arrayClass is the arrays of textures that are alike.
type arrayClass struct {
	gpu.TextureInfo
	bytes  int64 // of a layer
	arrays []*textureArray
}

// textureArray is a texture with several layers, of which at least one is used.
type textureArray struct {
	class  *arrayClass
	name   gpu.Texture
	layers []*layer // nil: free
	used   int
}

// layer is where a texture lies. It moves when its array becomes part of others.
type layer struct {
	array  *textureArray
	number int
}

// at returns the layer as the device knows it.
func (l *layer) at() gpu.Layer { return gpu.Layer{Texture: l.array.name, Number: l.number} }

// alloc returns a layer for a texture.
func (t *textureArrays) alloc(i *gpu.TextureInfo) *layer {
	c := t.byInfo[*i]
	if c == nil {
		c = &arrayClass{TextureInfo: *i, bytes: i.LayerBytes()}
		t.byInfo[*i] = c
		t.classes = append(t.classes, c)
	}
	a := c.fullest()
	if a == nil {
		a = t.add(c)
	}
	l := &layer{array: a, number: slices.Index(a.layers, nil)}
	a.layers[l.number] = l
	a.used++
	t.idle -= c.bytes
	t.moves++
	return l
}

// fullest returns the array that takes the next texture: the fullest that has a free
// layer, so that the others empty; nil for none.
func (c *arrayClass) fullest() (found *textureArray) {
	for _, a := range c.arrays {
		if a.used < len(a.layers) && (found == nil || a.used > found.used) {
			found = a
		}
	}
	return found
}

// layersOf returns how many layers the next array has: one for textures that are large,
// or of a size of which there are seldom many, and no more than what may be idle.
func (t *textureArrays) layersOf(c *arrayClass) int {
	if c.Width > sharedEdge || c.Width != c.Height || c.Width&(c.Width-1) != 0 {
		return 1
	}
	all := 0
	for _, a := range c.arrays {
		all += len(a.layers)
	}
	n := min(t.most, max(int(arrayBytes/c.bytes), min(all, int(arrayMost/c.bytes))))
	if t.limit > 0 {
		n = min(n, 1+int(max(0, t.limit/arrayReserve-t.idle)/c.bytes))
		if !t.copies { // textures that go leave gaps: what becomes smaller to make room may make none
			n = min(n, int(max(0, t.limit/arrayShare-t.shared)/c.bytes))
		}
	}
	return max(1, n)
}

// add makes another array.
func (t *textureArrays) add(c *arrayClass) *textureArray {
	n := t.layersOf(c)
	a := &textureArray{class: c, name: t.device.NewTexture(&c.TextureInfo, n), layers: make([]*layer, n)}
	c.arrays = append(c.arrays, a)
	if n > 1 {
		t.shared += int64(n) * c.bytes
	}
	t.bytes += int64(n) * c.bytes
	t.idle += int64(n) * c.bytes
	return a
}

// free gives a layer back.
func (t *textureArrays) free(l *layer) {
	a := l.array
	a.layers[l.number] = nil
	a.used--
	t.idle += a.class.bytes
	t.moves++
	if a.used == 0 {
		t.remove(a)
	}
}

// remove deletes an array in which nothing is left.
func (t *textureArrays) remove(a *textureArray) {
	c, n := a.class, int64(len(a.layers))
	t.device.DeleteTexture(a.name)
	if n > 1 {
		t.shared -= n * c.bytes
	}
	t.bytes -= n * c.bytes
	t.idle -= n * c.bytes
	c.arrays = slices.DeleteFunc(c.arrays, func(o *textureArray) bool { return o == a })
	if len(c.arrays) == 0 {
		delete(t.byInfo, c.TextureInfo)
		t.classes = slices.DeleteFunc(t.classes, func(o *arrayClass) bool { return o == c })
	}
}

// tidy moves the textures of one array to others of its class, where the device can
// copy and these have room: once per frame, so that it takes little time.
func (t *textureArrays) tidy() {
	if !t.copies {
		return
	}
	for _, c := range t.classes {
		if a := c.mergeable(); a != nil {
			t.merge(a)
			return
		}
	}
}

// mergeable returns the array with the fewest textures if the others have room for
// twice as many, so that the next texture does not make it again; nil for none.
func (c *arrayClass) mergeable() *textureArray {
	if len(c.arrays) < 2 {
		return nil
	}
	least, room := c.arrays[0], 0
	for _, a := range c.arrays {
		if a.used <= least.used {
			least = a
		}
		room += len(a.layers) - a.used
	}
	if room-(len(least.layers)-least.used) < 2*least.used {
		return nil
	}
	return least
}

// merge moves the textures of an array to the others of its class.
func (t *textureArrays) merge(a *textureArray) {
	c := a.class
	for _, o := range c.arrays {
		if o == a {
			continue
		}
		for n := range o.layers {
			if o.layers[n] != nil {
				continue
			}
			from := slices.IndexFunc(a.layers, func(l *layer) bool { return l != nil })
			if from < 0 {
				break
			}
			t.copy(a.layers[from], o, n)
		}
	}
	t.moves++
	t.remove(a)
}

// move takes a texture to another array of its class, which has room.
func (t *textureArrays) move(l *layer, to *textureArray) {
	from := l.array
	t.copy(l, to, slices.Index(to.layers, nil))
	t.moves++
	if from.used == 0 {
		t.remove(from)
	}
}

// copy puts a texture into a free layer of another array.
func (t *textureArrays) copy(l *layer, to *textureArray, n int) {
	from := l.array
	t.device.CopyTexture(gpu.Layer{Texture: to.name, Number: n}, l.at(), &from.class.TextureInfo, 0)
	from.layers[l.number], to.layers[n] = nil, l
	from.used, to.used = from.used-1, to.used+1
	l.array, l.number = to, n
}

// reserve returns how much of the limit is for idle layers.
func (t *textureArrays) reserve() int64 {
	if t.limit == 0 {
		return 0
	}
	return max(t.idle, t.limit/arrayReserve)
}
