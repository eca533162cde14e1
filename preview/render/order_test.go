package render

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// TestFadesAddUp: of all that is drawn in one place the shader keeps every threshold
// exactly once, in pictures and in shadow maps.
func TestFadesAddUp(t *testing.T) {
	kept := func(m mask, threshold float32) bool { // fadedOut of material.glsl
		return threshold*256 >= float32(m&0xffff) && threshold*256 < float32(m>>16)
	}
	rapid.Check(t, func(t *rapid.T) {
		cuts := rapid.SliceOfN(rapid.IntRange(0, 4096), 0, 4).Draw(t, "cuts")
		cuts = append(cuts, 0, 4096)
		slices.Sort(cuts)
		var masks, casts []mask
		for i := range cuts[1:] {
			m, fading := maskOf(&runtime.Drawn{From: float64(cuts[i]) / 4096, Fade: float64(cuts[i+1]-cuts[i]) / 4096})
			if whole := cuts[i+1]-cuts[i] == 4096; whole == fading {
				t.Fatalf("from %d to %d: fading %t", cuts[i], cuts[i+1], fading)
			}
			if c, ok := m.cast(); ok {
				casts = append(casts, c)
				if !fading && c != allPixels {
					t.Fatalf("what is whole casts %x", c)
				}
			}
			masks = append(masks, m)
		}
		for _, list := range [][]mask{masks, casts} {
			for i := range 64 {
				n := 0
				for _, m := range list {
					if kept(m, (float32(i)+0.5)/64) {
						n++
					}
				}
				if n != 1 {
					t.Fatalf("cuts %v: threshold %d is drawn %d times: %x", cuts, i, n, list)
				}
			}
		}
	})
}

func TestDrawOrder(t *testing.T) {
	set := &textureSet{binding: 5}
	kinds := []mesh{
		{},
		{set: set},
		{kind: surfaceKind{alphaMask, true}, set: set},
		{kind: surfaceKind{alphaBlend, false}},
	}
	var last uint64
	for i := range kinds {
		m := &kinds[i]
		k := m.drawKey(m.passOf(false), 3)
		if i > 0 && k <= last {
			t.Errorf("kind %d sorts before the one before", i)
		}
		last = k
	}
	a, b := mesh{set: set}, mesh{set: set}
	if a.drawKey(passOpaqueTextured, 1) != b.drawKey(passOpaqueTextured, 1) {
		t.Error("equal states have different keys")
	}
	for name, m := range map[string]mesh{
		"sides": {set: set, kind: surfaceKind{doubleSided: true}}, "mirror": {set: set, mirrored: true},
		"width": {set: set, wide: true}, "textures": {},
	} {
		if m.drawKey(passOpaqueTextured, 1) == a.drawKey(passOpaqueTextured, 1) {
			t.Errorf("%s make no difference", name)
		}
	}
	if a.drawKey(passOpaque, 1) == a.drawKey(passOpaque, 2) {
		t.Error("pages make no difference")
	}
}

// TestDepthKey sorts blended draws from far to near.
func TestDepthKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.Float64Range(0, 1e6), 2, 20).Draw(t, "distances")
		slices.SortFunc(d, func(a, b float64) int {
			ka, kb := depthKey(a), depthKey(b)
			switch {
			case ka < kb:
				return -1
			case ka > kb:
				return 1
			}
			return 0
		})
		for i := 1; i < len(d); i++ {
			if float32(d[i]) > float32(d[i-1]) {
				t.Fatalf("%v comes before %v", d[i-1], d[i])
			}
		}
		if k := depthKey(d[0]); k&keyIndexMask != 0 || k>>keyPassShift != 0 {
			t.Fatalf("key %x uses bits that are not its own", k)
		}
	})
}

func TestPalette(t *testing.T) {
	if LODColor(payload.RepFull) == LODColor(payload.LOD(0)) || LODColor(payload.RepHLOD) == LODColor(payload.LOD(3)) {
		t.Error("levels look alike")
	}
	for i := range int32(200) {
		a, b := TileColor(1, i), TileColor(1, i+1)
		d := 0.0
		for k := range a {
			d += math.Abs(float64(a[k]) - float64(b[k]))
		}
		if d < 60 {
			t.Errorf("tiles %d and %d look alike: %v, %v", i, i+1, a, b)
		}
	}
	if got := hue(0, 1); got != [3]uint8{255, 0, 0} {
		t.Errorf("hue 0 is %v", got)
	}
	if got := hue(1.0/3, 1); got != [3]uint8{0, 255, 0} {
		t.Errorf("hue 1/3 is %v", got)
	}
}

func TestViewModes(t *testing.T) {
	for _, v := range ViewModes() {
		if got, ok := ParseViewMode(v.String()); !ok || got != v {
			t.Errorf("%v comes back as %v, %v", v, got, ok)
		}
	}
	if _, ok := ParseViewMode("no such view"); ok {
		t.Error("an unknown view is accepted")
	}
}
