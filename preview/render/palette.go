package render

import (
	"math"

	"github.com/untoldkit/untold/runtime/payload"
)

// lodColors are the colours of representations, sRGB: full detail, LOD levels,
// and the last one for the HLOD.
var lodColors = [...][3]uint8{
	{255, 64, 64}, {64, 220, 64}, {72, 96, 255}, {255, 220, 48}, {230, 64, 230}, {48, 220, 230},
}

// LODColor returns the colour of a representation in ViewLOD, sRGB.
func LODColor(rep payload.Rep) [3]uint8 {
	level, isLOD := rep.Level()
	switch {
	case rep == payload.RepHLOD:
		return lodColors[len(lodColors)-1]
	case isLOD: // full detail is LOD 0 of the palette
		return lodColors[1+level%(len(lodColors)-2)]
	}
	return lodColors[0]
}

// TileColor returns the colour of a tile in ViewTiles, sRGB: neighbours in the
// manifest are far apart in hue.
func TileColor(scene payload.SceneID, tile int32) [3]uint8 {
	const golden = 0x9e3779b9 // 2^32 / the golden ratio: hues that stay apart
	h := (uint32(tile) + uint32(scene)*7919) * golden
	return hue(float64(h>>8)/(1<<24), 0.62-0.2*float64(h>>4&1))
}

// hue returns a colour of full value (HSV).
func hue(h, saturation float64) (c [3]uint8) {
	for i, n := range [3]float64{5, 3, 1} {
		k := math.Mod(n+6*h, 6)
		c[i] = uint8(255 * (1 - saturation*max(0, min(k, 4-k, 1))))
	}
	return c
}

// tierColors are the colours of texture sizes (missing and none are ours), sRGB.
var tierColors = struct{ full, medium, minimum, loading, missing, none [3]uint8 }{
	full: [3]uint8{26, 102, 255}, medium: [3]uint8{255, 140, 0}, minimum: [3]uint8{255, 64, 64},
	loading: [3]uint8{255, 217, 51}, missing: [3]uint8{255, 0, 255}, none: [3]uint8{150, 150, 150},
}

// TextureColor is an entry of the legend of ViewTextureTiers.
type TextureColor struct {
	Name  string
	Color [3]uint8 // sRGB
}

// TextureColors returns the legend of ViewTextureTiers.
func TextureColors() []TextureColor {
	c := &tierColors
	return []TextureColor{
		{"full", c.full}, {"medium", c.medium}, {"minimum", c.minimum}, {"in flight", c.loading}, {"missing", c.missing}, {"no texture", c.none},
	}
}

func rgba(c [3]uint8) uint32 {
	return uint32(c[0]) | uint32(c[1])<<8 | uint32(c[2])<<16 | 255<<24
}
