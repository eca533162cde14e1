package texture

import (
	"testing"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// TestAlphaCountsWhereItIsUsed: base colours of opaque materials and what glows
// keep the colours under transparent texels.
func TestAlphaCountsWhereItIsUsed(t *testing.T) {
	name := "a.png"
	str := func(uint32) string { return name }
	for _, c := range []struct {
		flags          uint32
		name           string
		base, emissive texfile.Use
	}{
		{0, "a.png", texfile.OpaqueColor, texfile.OpaqueColor},
		{records.MaterialCutout, "a.png", texfile.Color, texfile.OpaqueColor},
		{records.MaterialBlend, "a.PNG", texfile.Color, texfile.OpaqueColor},
		{0, "a.JPG", texfile.Color, texfile.Color},
		{0, "a.utex", texfile.Color, texfile.Color},
		{0, "a", texfile.OpaqueColor, texfile.OpaqueColor},
	} {
		name = c.name
		slots := MaterialSlots(nil, &records.Material{Flags: c.flags}, make([]records.Texture, 1), str, "")
		if slots[0].Use != c.base || slots[4].Use != c.emissive {
			t.Errorf("%q, flags %d: %v and %v, want %v and %v", c.name, c.flags, slots[0].Use, slots[4].Use, c.base, c.emissive)
		}
	}
}

// TestCutoffOfASlot: levels of images of cut-outs keep what is drawn, after the material's
// own alpha; cooked textures have it kept, and one file serves all materials.
func TestCutoffOfASlot(t *testing.T) {
	name := ""
	str := func(uint32) string { return name }
	for _, c := range []struct {
		flags         uint32
		name          string
		cutoff, alpha float32
		want          float32
	}{
		{records.MaterialCutout, "a.png", 0.5, 1, 0.5},
		{records.MaterialCutout | records.MaterialDoubleSided, "a.png", 0.4, 0.8, 0.5},
		{records.MaterialCutout, "a.png", 0.5, 0.4, 0}, // nothing is drawn
		{records.MaterialCutout, "a.png", 0, 1, 0},     // all is
		{records.MaterialCutout, "a.png", 0.5, 0, 0},
		{records.MaterialCutout, "a.utex", 0.5, 1, 0},
		{records.MaterialCutout, "a.jpg", 0.5, 1, 0},
		{records.MaterialBlend, "a.png", 0.5, 1, 0},
		{0, "a.png", 0.5, 1, 0},
	} {
		name = c.name
		m := records.Material{Flags: c.flags, AlphaCutoff: c.cutoff, BaseColor: [4]float32{1, 1, 1, c.alpha}}
		slots := MaterialSlots(nil, &m, make([]records.Texture, 1), str, "")
		if slots[0].Cutoff != c.want || slots[4].Cutoff != 0 {
			t.Errorf("%+v: %v and %v", c, slots[0].Cutoff, slots[4].Cutoff)
		}
	}
	if keyOf(Slot{URI: "a.png"}) == keyOf(Slot{URI: "a.png", Cutoff: 0.5}) {
		t.Error("two cutoffs are one texture")
	}
}
