package texture

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// Slot is one use of a texture by an entity.
type Slot struct {
	Dir string // the folder that URI is relative to: payload.Asset.Dir
	URI string // of the texture record, not to be trusted; "" for none
	Use texfile.Use
	// Cutoff is the alpha from which texels of a cut-out are drawn, above 0 and at most
	// 1: see texfile.Options; 0 for all other uses, and for cooked textures, whose levels
	// have what they need.
	Cutoff float32
}

// MaterialSlots appends the slots of a material in the order base colour,
// normal, metallic, roughness, emissive, occlusion, height; those without a
// texture have no URI. textures and str are those of the material's payload
// (payload.Asset.Textures and Strings), dir is its folder.
func MaterialSlots(dst []Slot, m *records.Material, textures []records.Texture, str func(offset uint32) string, dir string) []Slot {
	base := texfile.OpaqueColor
	if m.Flags&records.MaterialAlphaMask != 0 {
		base = texfile.Color
	}
	for i, x := range [...]struct {
		index uint32
		use   texfile.Use
	}{
		{m.BaseColorTexture, base},
		{m.NormalTexture, texfile.Normal},
		{m.MetallicTexture, texfile.Data},
		{m.RoughnessTexture, texfile.Data},
		{m.EmissiveTexture, texfile.OpaqueColor},
		{m.OcclusionTexture, texfile.Data},
		{m.HeightTexture, texfile.Data},
	} {
		slot := Slot{Dir: dir, Use: x.use}
		if uint64(x.index) < uint64(len(textures)) && str != nil {
			slot.URI = str(textures[x.index].URIOffset)
		}
		if i == 0 && m.Flags&records.MaterialAlphaMask == records.MaterialCutout && mayHaveAlpha(slot.URI) {
			slot.Cutoff = cutoff(m)
		}
		if slot.Use == texfile.OpaqueColor && (slot.URI == "" || !mayHaveAlpha(slot.URI)) {
			slot.Use = texfile.Color // one texture for all materials
		}
		dst = append(dst, slot)
	}
	return dst
}

// cutoff returns the alpha of a texture from which a cut-out is drawn, after the
// material's own alpha, which is a factor of what is compared; 0 where nothing or all of
// it is drawn.
func cutoff(m *records.Material) float32 {
	if c := m.AlphaCutoff / m.BaseColor[3]; m.BaseColor[3] > 0 && c > 0 && c <= 1 {
		return c
	}
	return 0
}

// mayHaveAlpha reports whether a file may have alpha that was not made for the
// materials that use it: neither of JPEG, which has none, nor of what a cook has
// compressed.
func mayHaveAlpha(uri string) bool {
	switch strings.ToLower(path.Ext(uri)) {
	case ".jpg", ".jpeg", ".utex", ".ktx2":
		return false
	}
	return true
}

// AssetSlots returns the slots of all materials of a payload, for Warmer.Warm;
// the arguments are those of MaterialSlots.
func AssetSlots(materials []records.Material, textures []records.Texture, str func(offset uint32) string, dir string) []Slot {
	var slots []Slot
	for i := range materials {
		slots = MaterialSlots(slots, &materials[i], textures, str, dir)
	}
	return slots
}

// resourceKey names a texture: the same file read for two uses is two.
type resourceKey struct {
	file   string
	use    texfile.Use
	cutoff float32
}

// keyOf joins folder and URI by their text. A URI that will be refused must not
// stand for the file that another one names.
func keyOf(slot Slot) resourceKey {
	if texfile.CheckURI(slot.URI) != nil {
		return resourceKey{slot.Dir + "\x00" + slot.URI, slot.Use, slot.Cutoff}
	}
	return resourceKey{filepath.Join(slot.Dir, filepath.FromSlash(slot.URI)), slot.Use, slot.Cutoff}
}
