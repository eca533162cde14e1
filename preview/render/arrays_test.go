package render

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/preview/internal/gpu"
	"github.com/untoldkit/untold/runtime/texture"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// paperDevice keeps a number for each layer of the textures that there are.
type paperDevice struct {
	t    testing.TB
	last gpu.Texture
	have map[gpu.Texture]paperTexture
}

type paperTexture struct {
	info   gpu.TextureInfo
	layers []int
}

func newPaper(t testing.TB) *paperDevice {
	return &paperDevice{t: t, have: map[gpu.Texture]paperTexture{}}
}

func (d *paperDevice) NewTexture(i *gpu.TextureInfo, layers int) gpu.Texture {
	d.last++
	d.have[d.last] = paperTexture{*i, make([]int, layers)}
	return d.last
}

func (d *paperDevice) CopyTexture(dst, src gpu.Layer, i *gpu.TextureInfo, skip int) {
	to, from := d.have[dst.Texture], d.have[src.Texture]
	if from.info != *i || to.info != *i || skip != 0 || dst.Texture == src.Texture {
		d.t.Fatalf("a copy from %+v to %+v", from.info, to.info)
	}
	to.layers[dst.Number] = from.layers[src.Number]
}

func (d *paperDevice) DeleteTexture(t gpu.Texture) {
	if d.have[t].layers == nil {
		d.t.Fatalf("texture %d is deleted twice", t)
	}
	delete(d.have, t)
}

// bytes returns the memory of all textures.
func (d *paperDevice) bytes() (n int64) {
	for _, t := range d.have {
		n += int64(len(t.layers)) * t.info.LayerBytes()
	}
	return n
}

// edgeInfo describes a texture with all levels.
func edgeInfo(edge int, srgb bool) gpu.TextureInfo {
	i := gpu.TextureInfo{Encoding: texfile.BC7, SRGB: srgb, Width: edge, Height: edge, Anisotropy: 1}
	for e := edge; e > 0; e /= 2 {
		i.Levels++
	}
	return i
}

// TestTextureArrays: each texture has a layer of its own in an array of its kind, and
// keeps what was stored there; bytes add up; arrays that are empty are gone, and what
// is idle is bounded.
func TestTextureArrays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := newPaper(t)
		copies := rapid.Bool().Draw(rt, "copies")
		arrays := newTextureArrays(d, copies, rapid.SampledFrom([]int{2, 7, 2048}).Draw(rt, "most"))
		arrays.limit = rapid.SampledFrom([]int64{0, 100_000, 3_000_000}).Draw(rt, "limit")
		var held []*layer
		mark := map[*layer]int{}
		next := 0
		free := func(i int) {
			arrays.free(held[i])
			delete(mark, held[i])
			held = slices.Delete(held, i, i+1)
		}
		rt.Repeat(map[string]func(*rapid.T){
			"come": func(rt *rapid.T) {
				edge := rapid.SampledFrom([]int{16, 64, 256, 512, 600, 1024}).Draw(rt, "edge")
				info := edgeInfo(edge, rapid.Bool().Draw(rt, "colour"))
				for range rapid.IntRange(1, 12).Draw(rt, "count") {
					before := arrays.moves
					l := arrays.alloc(&info)
					if next++; arrays.moves == before {
						rt.Fatal("nobody is told")
					}
					mark[l] = next
					d.have[l.array.name].layers[l.number] = next
					held = append(held, l)
				}
			},
			"go": func(rt *rapid.T) {
				for range rapid.IntRange(1, 12).Draw(rt, "count") {
					if len(held) > 0 {
						free(rapid.IntRange(0, len(held)-1).Draw(rt, "i"))
					}
				}
			},
			"tidy": func(*rapid.T) { arrays.tidy() },
			"rest": func(rt *rapid.T) {
				for moves := arrays.moves + 1; moves != arrays.moves; {
					moves = arrays.moves
					arrays.tidy()
				}
				for _, c := range arrays.classes {
					if copies && c.mergeable() != nil {
						rt.Fatalf("two arrays of %d texels could be one", c.Width)
					}
				}
			},
			"": func(rt *rapid.T) {
				places, used := map[gpu.Layer]bool{}, int64(0)
				for _, l := range held {
					at := l.at()
					have := d.have[at.Texture]
					switch {
					case places[at]:
						rt.Fatalf("two textures lie in %v", at)
					case have.info != l.array.class.TextureInfo || l.array.layers[l.number] != l:
						rt.Fatalf("a texture of %+v lies in an array of %+v", l.array.class.TextureInfo, have.info)
					case have.layers[at.Number] != mark[l]:
						rt.Fatalf("layer %v has %d, want %d", at, have.layers[at.Number], mark[l])
					}
					places[at] = true
					used += l.array.class.bytes
				}
				if arrays.bytes != d.bytes() || arrays.idle != arrays.bytes-used {
					rt.Fatalf("%d bytes, %d idle, want %d and %d", arrays.bytes, arrays.idle, d.bytes(), d.bytes()-used)
				}
				n := 0
				for _, c := range arrays.classes {
					for _, a := range c.arrays {
						n++
						if a.used == 0 || len(a.layers) > arrays.most || len(a.layers) > 1 && (c.Width > sharedEdge || int64(len(a.layers))*c.bytes > arrayMost) {
							rt.Fatalf("an array of %d layers of %d texels, %d used", len(a.layers), c.Width, a.used)
						}
					}
				}
				if n != len(d.have) || len(arrays.byInfo) != len(arrays.classes) {
					rt.Fatalf("%d arrays, %d textures", n, len(d.have))
				}
			},
		})
		for len(held) > 0 {
			free(len(held) - 1)
		}
		if len(d.have)+len(arrays.classes) != 0 || arrays.bytes != 0 || arrays.idle != 0 {
			rt.Fatalf("left over: %+v", arrays)
		}
	})
}

// TestArrayReserve: what may be idle is kept free in the budget, and beyond it textures
// lie alone.
func TestArrayReserve(t *testing.T) {
	d := newPaper(t)
	arrays := newTextureArrays(d, false, 256)
	info := edgeInfo(64, true)
	bytes := info.LayerBytes()
	arrays.limit = arrayReserve * 20 * bytes
	if arrays.alloc(&info); arrays.idle != 20*bytes || arrays.reserve() != 20*bytes {
		t.Errorf("%d bytes idle, %d kept free", arrays.idle/bytes, arrays.reserve()/bytes)
	}
	other := edgeInfo(64, false)
	if l := arrays.alloc(&other); len(l.array.layers) != 1 {
		t.Errorf("an array of %d layers", len(l.array.layers))
	}
	if odd := (gpu.TextureInfo{Width: 60, Height: 64, Levels: 1, Anisotropy: 1}); len(arrays.alloc(&odd).array.layers) != 1 {
		t.Error("a texture of an unusual size has neighbours")
	}
}

// TestRoomComesOfSmallerTextures: where the device can't copy, gaps in arrays take a bounded
// part of the budget, so that room is made without nearly all textures becoming smaller.
func TestRoomComesOfSmallerTextures(t *testing.T) {
	const n, most = 1000, 150
	for _, edge := range []int{64, 128, 256, 512} {
		arrays := newTextureArrays(newPaper(t), false, 256)
		large, small := edgeInfo(edge, true), edgeInfo(edge/2, true)
		arrays.limit = n * large.LayerBytes() * 16 / 15
		var list []*layer
		for range n {
			list = append(list, arrays.alloc(&large))
		}
		fewer := 0
		for ; fewer < n && arrays.bytes-arrays.idle+arrays.limit/20 > arrays.limit-arrays.reserve(); fewer++ {
			arrays.free(list[(fewer*7919)%n]) // in no order
			arrays.alloc(&small)
		}
		if fewer > most || arrays.idle > arrays.limit/arrayShare {
			t.Errorf("%d texels: %d of %d textures become smaller for a twentieth of the budget, %d %% are idle", edge, fewer, n, 100*arrays.idle/arrays.limit)
		}
		if arrays.shared > arrays.limit/arrayShare || edge < 512 && arrays.shared == 0 {
			t.Errorf("%d texels: %d bytes of %d are shared", edge, arrays.shared, arrays.limit)
		}
	}
}

// TestBindings: sets whose textures lie in the same arrays have the same binding, and
// are told apart by layers; a set follows its textures.
func TestBindings(t *testing.T) {
	d := newPaper(t)
	arrays := newTextureArrays(d, true, 256)
	color, data := edgeInfo(64, true), edgeInfo(32, false)
	at := map[texture.ID]*layer{}
	b := newBindings(func(_ int, id texture.ID) gpu.Layer {
		if l := at[id]; l != nil {
			return l.at()
		}
		return gpu.Layer{}
	}, &arrays.moves)
	sets := []*textureSet{
		{key: textureKey{slotBase: 1, slotOcclusion: 2}}, {key: textureKey{slotBase: 3, slotOcclusion: 4}}, {key: textureKey{slotBase: 5}},
	}
	settle := func() string {
		for _, s := range sets {
			b.settle(s, 0)
		}
		return fmt.Sprint(sets[0].binding == sets[1].binding, sets[0].binding == sets[2].binding, sets[0].layers, sets[1].layers, sets[2].layers)
	}
	for _, s := range sets { // all neutral
		if b.settle(s, 0); s.binding == 0 || b.list[s.binding] != (binding{}) {
			t.Errorf("%+v", s)
		}
	}
	for id := texture.ID(1); id <= 5; id += 2 {
		at[id], at[id+1] = arrays.alloc(&color), arrays.alloc(&data)
	}
	if got, want := settle(), "true false [0 0] [1 256] [2 0]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if list := b.list[sets[1].binding]; list[slotBase] != at[3].array.name || list[slotOcclusion] != at[4].array.name || list[slotNormal] != 0 {
		t.Errorf("%v", list)
	}
	arrays.free(at[3])
	large := edgeInfo(128, true)
	at[3] = arrays.alloc(&large)
	if got, want := settle(), "false false [0 0] [0 256] [2 0]"; got != want {
		t.Errorf("one is larger: %s, want %s", got, want)
	}
	b.settle(nil, 0)
}

// setsOfTextures are materials with textures of their own on paper.
type setsOfTextures struct {
	t      testing.TB
	device *paperDevice
	arrays textureArrays
	at     map[texture.ID]*layer
	sets   []*textureSet
	bindings
}

func newSetsOfTextures(t testing.TB, n int, limit int64) *setsOfTextures {
	d := newPaper(t)
	x := &setsOfTextures{t: t, device: d, arrays: newTextureArrays(d, true, 256), at: map[texture.ID]*layer{}}
	x.arrays.limit = limit
	x.bindings = newBindings(func(_ int, id texture.ID) gpu.Layer {
		if l := x.at[id]; l != nil {
			return l.at()
		}
		return gpu.Layer{}
	}, &x.arrays.moves)
	shared := texture.ID(4*n + 1)
	x.put(shared, 64, false)
	for i := range texture.ID(n) {
		s := &textureSet{key: textureKey{slotBase: 4*i + 1, slotNormal: 4*i + 2, slotMetallic: 4*i + 3, slotRoughness: 4*i + 3, slotEmissive: 4*i + 4}}
		if i%10 == 0 {
			s.key[slotOcclusion] = shared
		}
		x.sets = append(x.sets, s)
	}
	return x
}

// put gives a texture a size.
func (x *setsOfTextures) put(id texture.ID, edge int, srgb bool) {
	info := edgeInfo(edge, srgb)
	l := x.arrays.alloc(&info)
	x.device.have[l.array.name].layers[l.number] = int(id)
	if old := x.at[id]; old != nil {
		x.arrays.free(old)
	}
	x.at[id] = l
}

// resize gives the textures of a set one of three sizes.
func (x *setsOfTextures) resize(set, size int) {
	e, key := [][2]int{{256, 128}, {512, 256}, {128, 128}}[size], &x.sets[set].key
	x.put(key[slotBase], e[0], true)
	x.put(key[slotNormal], e[1], false)
	x.put(key[slotMetallic], e[1], false)
	x.put(key[slotEmissive], e[1], true)
}

// settle draws all sets, from two pages, and returns how many commands that takes.
func (x *setsOfTextures) settle() int {
	for i, s := range x.sets {
		x.bindings.settle(s, i/7%2)
	}
	return len(x.uses)
}

// rest lets frames pass until nothing moves.
func (x *setsOfTextures) rest() (frames int) {
	x.settle()
	for moves := x.arrays.moves + 1; moves != x.arrays.moves || x.calm < len(x.bindings.sets); frames++ {
		if moves = x.arrays.moves; frames > 100*len(x.sets) {
			x.t.Fatal("there is no end of moves")
		}
		x.align(&x.arrays, func(id texture.ID) *layer { return x.at[id] })
		x.arrays.tidy()
		x.settle()
	}
	for id, l := range x.at {
		if have := x.device.have[l.array.name].layers[l.number]; have != int(id) {
			x.t.Fatalf("texture %d has become %d", id, have)
		}
	}
	return frames
}

// TestBindingsRest: moves never make bindings more, no texture is lost, and there is an end.
func TestBindingsRest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const n = 30
		x := newSetsOfTextures(t, n, rapid.SampledFrom([]int64{0, 3_000_000, 20_000_000}).Draw(rt, "limit"))
		for i := range n {
			x.resize(i, rapid.IntRange(0, 2).Draw(rt, "size"))
		}
		for range rapid.IntRange(0, 60).Draw(rt, "changes") {
			x.resize(rapid.IntRange(0, n-1).Draw(rt, "set"), rapid.IntRange(0, 2).Draw(rt, "size"))
		}
		before := x.settle()
		if x.rest(); x.settle() > before {
			rt.Fatalf("%d commands, %d before", x.settle(), before)
		}
	})
}

// TestBindingsComeTogether: textures that come and change their sizes in any order leave nearly
// every set with a binding of its own; a few seconds later there are fewer.
func TestBindingsComeTogether(t *testing.T) {
	const n = 300
	x, any := newSetsOfTextures(t, n, 96_000_000), rand.New(rand.NewPCG(1, 2))
	for _, i := range any.Perm(n) {
		x.resize(i, any.IntN(3))
	}
	for range n {
		x.resize(any.IntN(n), any.IntN(3))
	}
	before := x.settle()
	frames := x.rest()
	if after := x.settle(); after > before*3/4 || frames > n {
		t.Errorf("%d commands for %d sets, %d after %d frames", before, n, after, frames)
	}
}
