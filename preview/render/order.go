package render

import (
	"math"

	"github.com/untoldkit/untold/runtime"
)

// A draw's key decides its place in the frame: pass, then the state that is
// dear to change, then the order in which draws were collected, which is near
// to far by representation. Its low bits are the index of the draw.
//
//	63..60  pass and program
//	59      double-sided
//	58      mirrored
//	57..50  page of the geometry pool
//	49      32-bit indices
//	48..24  binding of textures
//	23..0   index
const (
	keyIndexBits    = 24
	keyIndexMask    = 1<<keyIndexBits - 1
	keyBindingShift = keyIndexBits
	keyBindingMask  = 1<<25 - 1
	keyWideShift    = 49
	keyPageShift    = 50
	keyPageMask     = 0xff
	keyMirrorShift  = 58
	keySidesShift   = 59
	keyPassShift    = 60
	keyStateMask    = ^uint64(keyIndexMask)
)

// maxDraws is what an index in a key can name.
const maxDraws = 1 << keyIndexBits

// pass is what a draw needs of the pipeline, in drawing order: what fills the
// depth buffer cheaply comes first.
type pass uint64

const (
	passOpaque pass = iota
	passOpaqueTextured
	passDither // opaque, fading
	passDitherTextured
	passMask
	passMaskDither
	passBlend // sorted back to front
	passes
)

// drawKey returns the key without the index. The textures' places are settled.
func (m *mesh) drawKey(p pass, page int) uint64 {
	k := uint64(p)<<keyPassShift | uint64(page&keyPageMask)<<keyPageShift
	if m.kind.doubleSided {
		k |= 1 << keySidesShift
	}
	if m.mirrored {
		k |= 1 << keyMirrorShift
	}
	if m.wide {
		k |= 1 << keyWideShift
	}
	if m.set != nil {
		k |= uint64(m.set.binding&keyBindingMask) << keyBindingShift
	}
	return k
}

// passOf returns the pass of a mesh that fades or not.
func (m *mesh) passOf(fading bool) pass {
	switch {
	case m.kind.alpha == alphaBlend:
		return passBlend
	case m.kind.alpha == alphaMask && fading:
		return passMaskDither
	case m.kind.alpha == alphaMask:
		return passMask
	}
	p := passOpaque
	if fading {
		p = passDither
	}
	if m.set != nil {
		p++
	}
	return p
}

// depthKey returns the key of a blended draw: the farthest first.
func depthKey(distance float64) uint64 {
	return uint64(^math.Float32bits(float32(distance))) << keyIndexBits
}

// mask is which pixels a draw has of those that fading representations share, as the
// shaders take it: of thresholds in steps of 1/256 those from the lower 16 bits up to
// the upper ones.
type mask uint32

const (
	maskSteps      = 256
	allPixels mask = maskSteps << 16
)

// maskOf returns the mask of an entry, and whether it fades. What is drawn in one
// place meets at the same thresholds, and so at the same steps.
func maskOf(d *runtime.Drawn) (m mask, fading bool) {
	if !(d.Fade < 1) {
		return allPixels, false
	}
	step := func(v float64) mask { return mask(math.RoundToEven(min(max(v, 0), 1) * maskSteps)) }
	return step(d.From) | step(d.From+d.Fade)<<16, true
}

// castSteps are in how many steps shadows fade: each draws maps anew, and what is kept of
// two by two texels looks even once it is filtered.
const castSteps = 4

// cast returns which texels of shadow maps the entry has, and whether it has any. What is
// drawn in one place shares them out as it does pixels.
func (m mask) cast() (mask, bool) {
	const step = maskSteps / castSteps
	rounded := func(v mask) mask { return (v + step/2) / step * step }
	from, to := rounded(m&0xffff), rounded(m>>16)
	return from | to<<16, from < to
}

// shade is what meshes show: the lit view has programs of its own, the others
// share theirs and read it from frame.glsl.
type shade int

const (
	shadeLit shade = iota
	shadeFlat
	shadeAlbedo
	shadeNormals
)

// shadeOf returns the shading of a view.
func shadeOf(v ViewMode) shade {
	switch v {
	case ViewLOD, ViewTiles, ViewBatches, ViewTextureTiers, ViewWireframe:
		return shadeFlat
	case ViewAlbedo:
		return shadeAlbedo
	case ViewNormals:
		return shadeNormals
	}
	return shadeLit
}
