package render

import (
	"slices"

	"github.com/untoldkit/untold/preview/internal/gpu"
)

// Textures that are alike lie in the layers of common arrays, so that draws with
// different textures can be one command.
const (
	sharedEdge   = 512     // of the largest textures that share an array, in texels
	arrayBytes   = 8 << 20 // of an array of several layers, at most
	arrayLayers  = 256     // of an array, at most: a draw's record has a byte for each
	fixedBytes   = 512 << 10
	fixedLayers  = 16
	fixedReserve = 16 // the part of the budget that layers without a texture may take
)

// arrayDevice is what textureArrays need of a gpu.Device.
type arrayDevice interface {
	NewTexture(i *gpu.TextureInfo, layers int) gpu.Texture
	CopyTexture(dst, src gpu.Layer, i *gpu.TextureInfo, layers, skip int)
	DeleteTexture(gpu.Texture)
}

// textureArrays hands out layers of arrays. Textures of equal size, levels, format
// and sampling share arrays if they are small.
//
// Where the device copies textures, arrays grow by half when they are full and
// shrink when half of them is free, so that up to a third is idle, and nothing where
// that would go beyond the limit. Where it does not, they keep the layers with which
// they begin, which are few: see reserve.
type textureArrays struct {
	device arrayDevice
	copies bool
	most   int   // layers that the device takes
	limit  int64 // bytes; 0: none

	byInfo  map[gpu.TextureInfo]*arrayClass
	classes []*arrayClass
	bytes   int64 // of all arrays
	idle    int64 // of layers without a texture

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

// layer is where a texture lies. It moves when its array grows or shrinks.
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
	a := c.roomiest(t.layersOf(c))
	switch {
	case a == nil:
		a = t.add(c)
	case a.used == len(a.layers):
		t.resize(a, t.within(c, len(a.layers), min(grown(len(a.layers)), t.layersOf(c))))
	}
	l := &layer{array: a, number: slices.Index(a.layers, nil)}
	a.layers[l.number] = l
	a.used++
	t.idle -= c.bytes
	t.moves++
	return l
}

// roomiest returns the array that takes the next texture: the fullest that has a
// free layer, so that the others empty, or one that may grow to so many; nil for
// none.
func (c *arrayClass) roomiest(most int) (found *textureArray) {
	for _, a := range c.arrays {
		if a.used < len(a.layers) && (found == nil || a.used > found.used) {
			found = a
		}
	}
	if found != nil {
		return found
	}
	for _, a := range c.arrays {
		if len(a.layers) < most {
			return a
		}
	}
	return nil
}

// grown returns how many layers an array of n gets.
func grown(n int) int { return n + (n+1)/2 }

// within returns how many layers an array of n may have for so many that it should:
// one more at least.
func (t *textureArrays) within(c *arrayClass, n, want int) int {
	if t.limit > 0 && t.bytes+int64(want-n)*c.bytes > t.limit {
		return n + 1
	}
	return want
}

// layersOf returns to how many layers an array may grow.
func (t *textureArrays) layersOf(c *arrayClass) int {
	if !t.copies || max(c.Width, c.Height) > sharedEdge {
		return 1
	}
	return max(1, min(t.most, int(arrayBytes/c.bytes)))
}

// add makes another array.
func (t *textureArrays) add(c *arrayClass) *textureArray {
	n := 1
	// Of other sizes there are seldom many.
	if !t.copies && c.Width == c.Height && c.Width&(c.Width-1) == 0 && c.Width <= sharedEdge {
		n = max(1, min(t.most, fixedLayers, int(fixedBytes/c.bytes)))
		if t.limit > 0 && t.idle+int64(n-1)*c.bytes > t.limit/fixedReserve {
			n = 1
		}
	}
	a := &textureArray{class: c, name: t.device.NewTexture(&c.TextureInfo, n), layers: make([]*layer, n)}
	c.arrays = append(c.arrays, a)
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
	t.bytes -= n * c.bytes
	t.idle -= n * c.bytes
	c.arrays = slices.DeleteFunc(c.arrays, func(o *textureArray) bool { return o == a })
	if len(c.arrays) == 0 {
		delete(t.byInfo, c.TextureInfo)
		t.classes = slices.DeleteFunc(t.classes, func(o *arrayClass) bool { return o == c })
	}
}

// resize gives an array n layers, at least as many as it uses, without gaps.
func (t *textureArrays) resize(a *textureArray, n int) {
	c := a.class
	name, layers := t.device.NewTexture(&c.TextureInfo, n), make([]*layer, n)
	for from, to := 0, 0; from < len(a.layers); {
		if a.layers[from] == nil {
			from++
			continue
		}
		run := 1
		for from+run < len(a.layers) && a.layers[from+run] != nil {
			run++
		}
		t.device.CopyTexture(gpu.Layer{Texture: name, Number: to}, gpu.Layer{Texture: a.name, Number: from}, &c.TextureInfo, run, 0)
		for i, l := range a.layers[from : from+run] {
			l.number = to + i
			layers[to+i] = l
		}
		from, to = from+run, to+run
	}
	t.device.DeleteTexture(a.name)
	more := int64(n-len(a.layers)) * c.bytes
	t.bytes += more
	t.idle += more
	a.name, a.layers = name, layers
	t.moves++
}

// tidy gives memory of idle layers back, of one array at a time, where the device can
// copy: once per frame, so that it takes little time.
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
	var worst *textureArray
	idle, to := int64(0), 0
	for _, c := range t.classes {
		for _, a := range c.arrays {
			n := min(grown(a.used), len(a.layers))
			switch {
			case t.limit > 0 && t.bytes > t.limit:
				n = a.used
			case 2*a.used > len(a.layers):
				continue
			}
			if bytes := int64(len(a.layers)-n) * c.bytes; bytes > idle {
				worst, idle, to = a, bytes, n
			}
		}
	}
	if worst != nil {
		t.resize(worst, to)
	}
}

// mergeable returns the array with the fewest textures if the others have room for
// them; nil for none.
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
	if room-(len(least.layers)-least.used) < least.used {
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
			l := a.layers[from]
			t.device.CopyTexture(gpu.Layer{Texture: o.name, Number: n}, l.at(), &c.TextureInfo, 1, 0)
			a.layers[from], o.layers[n] = nil, l
			a.used, o.used = a.used-1, o.used+1
			l.array, l.number = o, n
		}
	}
	t.moves++
	t.remove(a)
}

// reserve returns how much of the limit is for idle layers: nothing where tidy keeps
// to it.
func (t *textureArrays) reserve() int64 {
	if t.copies || t.limit == 0 {
		return 0
	}
	return max(t.idle, t.limit/fixedReserve)
}
