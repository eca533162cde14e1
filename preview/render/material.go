package render

import (
	"math"

	"github.com/untoldkit/untold/format/records"
)

// The texture slots of a material, in the order of the texture units and of
// texture.MaterialSlots.
const (
	slotBase = iota
	slotNormal
	slotMetallic
	slotRoughness
	slotEmissive
	slotOcclusion
	slots
)

// Bits of a packed material's flags; bits 0 to 5 say which slots have a
// texture. mesh.frag.glsl has the same numbers.
const (
	flagUnlit          = 1 << 6
	flagDoubleSided    = 1 << 7
	flagMetallicShift  = 8
	flagRoughnessShift = 10
	flagMasked         = 1 << 12
	materialFloats     = 16 // four texels
)

// alphaMode is how a material's alpha is used.
type alphaMode uint8

const (
	alphaOpaque alphaMode = iota
	alphaMask
	alphaBlend
)

// surfaceKind is what the order of drawing depends on.
type surfaceKind struct {
	alpha       alphaMode
	doubleSided bool
}

func kindOf(m *records.Material) surfaceKind {
	k := surfaceKind{doubleSided: m.Flags&records.MaterialDoubleSided != 0}
	switch m.Flags & records.MaterialAlphaMask {
	case records.MaterialCutout:
		k.alpha = alphaMask
	case records.MaterialBlend:
		k.alpha = alphaBlend
	}
	return k
}

// packMaterial appends a material as the shader reads it. has says which slots
// have a texture.
func packMaterial(dst []float32, m *records.Material, has uint32) []float32 {
	flags := has
	if m.Flags&records.MaterialUnlit != 0 {
		flags |= flagUnlit
	}
	if m.Flags&records.MaterialDoubleSided != 0 {
		flags |= flagDoubleSided
	}
	if m.Flags&records.MaterialAlphaMask == records.MaterialCutout {
		flags |= flagMasked
	}
	flags |= m.Reserved[0] & 3 << flagRoughnessShift
	flags |= m.Reserved[0] >> 2 & 3 << flagMetallicShift
	c, e := m.BaseColor, m.Emissive
	return append(dst,
		factor(c[0]), factor(c[1]), factor(c[2]), unit(c[3]),
		factor(e[0]), factor(e[1]), factor(e[2]), factor(m.AlphaCutoff),
		unit(m.Metallic), unit(m.Roughness), finite(m.NormalScale), unit(m.OcclusionStrength),
		float32(flags), 0, 0, 0)
}

// defaultMaterial is glTF's: white, rough, not metallic.
func defaultMaterial() records.Material {
	return records.Material{
		BaseColor: [4]float32{1, 1, 1, 1}, NormalScale: 1, Roughness: 1, OcclusionStrength: 1, AlphaCutoff: 0.5,
		BaseColorTexture: records.NoIndex, NormalTexture: records.NoIndex, MetallicTexture: records.NoIndex,
		RoughnessTexture: records.NoIndex, EmissiveTexture: records.NoIndex, OcclusionTexture: records.NoIndex,
		HeightTexture: records.NoIndex,
	}
}

// finite replaces what would spread over the picture.
func finite(v float32) float32 {
	if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return v
}

func factor(v float32) float32 { return max(0, min(finite(v), 60000)) }
func unit(v float32) float32   { return max(0, min(finite(v), 1)) }
