package render

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// TestFadesAddUp: of two representations that fade into each other the shader
// keeps every threshold exactly once.
func TestFadesAddUp(t *testing.T) {
	kept := func(fade float32, threshold float32) bool { // fadedOut of material.glsl
		if fade >= 0 {
			return threshold < fade
		}
		return threshold >= 1+fade
	}
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64Range(0, 1).Draw(t, "fade")
		// The outgoing one comes in two parts.
		full, hlod := payload.Key{Scene: 1, Tile: 4, Rep: payload.RepFull}, payload.Key{Scene: 1, Tile: 4, Rep: payload.RepHLOD}
		first := runtime.Drawn{Key: full, Fade: 1 - f}
		out, _ := fadeOf(&first, &first)
		part, _ := fadeOf(&runtime.Drawn{Key: full, Fade: 1 - f}, &first)
		in, _ := fadeOf(&runtime.Drawn{Key: hlod, Fade: f}, &first)
		for i := range 64 {
			threshold := (float32(i) + 0.5) / 64
			if kept(out, threshold) == kept(in, threshold) || kept(out, threshold) != kept(part, threshold) {
				t.Fatalf("fade %v: threshold %v is drawn %v, %v and %v", f, threshold, kept(out, threshold), kept(part, threshold), kept(in, threshold))
			}
		}
		alone := runtime.Drawn{Key: hlod, Fade: f}
		if v, _ := fadeOf(&alone, &alone); v < 0 {
			t.Fatalf("a tile that fades alone has %v", v)
		}
		solid := runtime.Drawn{Key: full, Fade: 1}
		if v, fading := fadeOf(&solid, &alone); v != 1 || fading {
			t.Fatalf("a tile that does not fade has %v, %v", v, fading)
		}
	})
}

func TestDrawOrder(t *testing.T) {
	set := &textureSet{id: 5}
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
