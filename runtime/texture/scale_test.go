package texture

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
)

func TestForScene(t *testing.T) {
	standard, _ := ProfileNamed("balanced")
	named, changed := standard, standard
	named.Profile = "detailed"
	changed.Interval = 0.1
	both := changed
	both.Profile = "detailed"
	bad := changed
	bad.MinDimension = 0
	aligned, _ := AlignToManifest(80, 120)
	detailed, _ := ProfileNamed("detailed")
	m := &manifest.Manifest{
		StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 80, UnloadRadius: 120},
		Textures: []manifest.Texture{
			{URI: "wall", UVPerMetre: 0.5},
			{URI: "palette"},
			{URI: "wall", UVPerMetre: 0.25},
			{URI: "wrong", UVPerMetre: -1},
			{URI: "none", UVPerMetre: math.Inf(1)},
		},
	}
	scales := Scales{"wall": 0.25, "palette": 0}
	for _, x := range []struct {
		name      string
		set, want config.Textures
		scales    Scales
		ok        bool
	}{
		{"nothing set", standard, aligned, scales, true},
		{"a profile", named, detailed, nil, true},
		{"a parameter", changed, changed, nil, true},
		{"both", both, both, nil, true},
		{"nonsense", bad, bad, nil, false},
	} {
		got, s, err := ForScene(x.set, m)
		if (err == nil) != x.ok || got != x.want || !maps.Equal(s, x.scales) {
			t.Errorf("%s: %+v, %v, %v", x.name, got, s, err)
		}
	}
	m.Textures = nil
	if _, s, err := ForScene(standard, m); err != nil || s != nil {
		t.Errorf("of a manifest that says nothing of textures: %v, %v", s, err)
	}
}

func TestPixelSize(t *testing.T) {
	standard := PixelSize(60, 1080)
	if math.Abs(standard-2/math.Sqrt(3)/1080) > 1e-12 {
		t.Errorf("%v", standard)
	}
	for name, c := range map[string]struct{ got, want float64 }{
		"no angle":        {PixelSize(0, 0), standard},
		"a small picture": {PixelSize(60, 540), 2 * standard},
		"a large picture": {PixelSize(60, 2160), standard / 2},
		"a right angle":   {PixelSize(90, 1080), 2. / 1080},
	} {
		if math.Abs(c.got-c.want) > 1e-15 {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}

func withScales(scales Scales) func(*StreamOptions, *rig) {
	return func(o *StreamOptions, _ *rig) { o.Scales = scales }
}

// A palette is sampled at its finest level from any distance, a wall only from
// near; levels of tiles are no exception.
func TestSizesFollowWhatIsSeen(t *testing.T) {
	r := newStreamRig(t, withScales(Scales{"palette": 0, "wall": 0.25}))
	far := at(5000, "palette")
	far.Fixed = true
	palette, wall, other := r.add(far), r.add(at(3.7, "wall")), r.add(at(3.7, "other"))
	r.view.Visible = []Entity{palette, wall, other}
	r.settle()
	// A texel of the wall's 1024 on its 4 m is a pixel at 3.65 m.
	if got := r.edges(palette, wall, other); !slices.Equal(got, []int{2048, 1024, 2048}) {
		t.Errorf("%v", got)
	}
	r.view.Camera[0] = 0.1
	r.settle()
	if got := r.edges(wall); got[0] != 2048 {
		t.Errorf("from nearer: %v", got)
	}
	r.view.Camera[0], r.view.Pixel = 0, PixelSize(60, 0)*1.3
	r.settle()
	if got := r.edges(wall); got[0] != 2048 {
		t.Errorf("within the hysteresis: %v", got)
	}
	r.view.Pixel = PixelSize(60, 0) * 1.5
	r.settle()
	if got := r.edges(wall); got[0] != 1024 {
		t.Errorf("through a wider lens: %v", got)
	}
	r.s.SetScales(nil)
	r.settle()
	if got := r.edges(palette, wall); !slices.Equal(got, []int{256, 2048}) {
		t.Errorf("by radii: %v", got)
	}
}

// At rest no texel is larger than a pixel while there is a finer one, and no
// tier is there that is not needed.
func TestNoTexelIsLargerThanAPixel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		params := drawParams(rt)
		pixel := PixelSize(rapid.Float64Range(1, 170).Draw(rt, "angle"), float64(rapid.IntRange(1, 5000).Draw(rt, "lines")))
		scales := Scales{}
		r := newStreamRig(t, withScales(scales), func(o *StreamOptions, _ *rig) { o.Params = params })
		r.view.Pixel = pixel
		var es []Entity
		var ds []float64
		for i := range rapid.IntRange(1, 6).Draw(rt, "n") {
			uri := fmt.Sprint("t", i)
			scales[uri] = rapid.SampledFrom([]float64{0, 0.01, 0.3, 1, 7, 1e300}).Draw(rt, "scale")
			source := rapid.IntRange(1, 3000).Draw(rt, "source")
			r.loader.files[uri] = fakeFile{w: source, h: max(1, source/2)}
			d := rapid.Float64Range(0.001, 300).Draw(rt, "d")
			es, ds = append(es, r.add(at(d, uri))), append(ds, d)
		}
		r.view.Visible = es
		r.settle()
		for i, edge := range r.edges(es...) {
			x := &r.s.textures.list[r.s.entities.list[uint32(es[i])].textures[0]]
			texel := func(edge int) float64 { return 1 / (x.scale * pixel * float64(edge)) } // how far away it is a pixel
			if ds[i] < texel(edge) && x.start > 0 {
				rt.Fatalf("%s at %v m: %d of %d texels on an edge that is needed at %d", x.name.slot.URI, ds[i], edge, x.file.Edge(0), int(1/(x.scale*pixel*ds[i])))
			}
			for tier := range tiers {
				if less := x.file.Edge(x.at[tier]); less < edge && ds[i] > texel(less) {
					rt.Fatalf("%s at %v m: %d texels where %d are enough", x.name.slot.URI, ds[i], edge, less)
				}
			}
		}
	})
}
