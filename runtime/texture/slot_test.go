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
