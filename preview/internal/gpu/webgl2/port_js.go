package webgl2

import (
	"syscall/js"
	"unsafe"

	"github.com/untoldkit/untold/preview/internal/gpu"
)

// browser is the port to an object of webgl.js.
type browser struct {
	object, replays js.Value
}

// New makes a device of an object that webgl.js has made for a canvas.
func New(object js.Value, plain bool) *Device {
	replays := object.Get("replay").Call("bind", object) // saves a look-up by name
	return newDevice(browser{object, replays}, plain)
}

func (b browser) caps(plain bool) features {
	c := b.object.Call("caps", plain)
	is := func(name string) bool { return c.Get(name).Bool() }
	n := func(name string) int { return c.Get(name).Int() }
	return features{depthClamp: is("depthClamp"), Caps: gpu.Caps{
		Vendor: c.Get("vendor").String(), Device: c.Get("device").String(), Version: c.Get("version").String(),
		ReverseZ: is("reverseZ"), MultiDraw: is("multiDraw"), TextureStorage: true, Blocks: is("blocks"), ASTC: is("astc"), WebGL: true, LatePrograms: true,
		Software: is("software"), Wireframe: is("wireframe"), Anisotropy: n("anisotropy"), MaxTexture: n("maxTexture"), MaxLayers: n("maxLayers"), Samples: n("samples"),
	}}
}

func (b browser) replay(words []uint32) {
	b.replays.Invoke(uintptr(unsafe.Pointer(&words[0])), len(words))
}

func (b browser) program(id uint32, s *gpu.Source) string {
	units := map[string]any{}
	for name, unit := range s.Units {
		units[name] = unit
	}
	return b.object.Call("program", id, s.Name, s.Vertex, s.Fragment, s.Block, units, s.Later).String()
}

func (b browser) ready(id uint32) bool { return b.object.Call("ready", id).Bool() }

func (b browser) location(program, id uint32, name string) bool {
	return b.object.Call("location", program, id, name).Bool()
}

func (b browser) read(target uint32, pix []byte) {
	b.object.Call("read", target, uintptr(unsafe.Pointer(&pix[0])))
}

func (b browser) err() string { return b.object.Call("error").String() }
