package render

import (
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime/texture"
)

// TestTextureSets: sets live as long as materials need them, and equal ones are
// shared.
func TestTextureSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sets := newTextureSets()
		var held []*textureSet
		t.Repeat(map[string]func(*rapid.T){
			"material": func(t *rapid.T) {
				var key textureKey
				for slot := range 2 {
					key[slot] = texture.ID(rapid.IntRange(0, 3).Draw(t, "texture"))
				}
				s := sets.acquire(key)
				if (s == nil) != (key == textureKey{}) || s != nil && s.key != key {
					t.Fatalf("%v has the set %+v", key, s)
				}
				if s != nil {
					held = append(held, s)
				}
			},
			"release": func(t *rapid.T) {
				if len(held) == 0 {
					t.Skip("nothing is held")
				}
				i := rapid.IntRange(0, len(held)-1).Draw(t, "i")
				sets.release(held[i])
				held = append(held[:i], held[i+1:]...)
			},
			"": func(t *rapid.T) {
				uses := map[*textureSet]int{}
				keys := map[textureKey]*textureSet{}
				for _, s := range held {
					uses[s]++
					if other := keys[s.key]; other != nil && other != s {
						t.Fatalf("two sets have the textures %v", s.key)
					}
					keys[s.key] = s
				}
				if len(sets.byKey) != len(uses) {
					t.Fatalf("%d sets, want %d", len(sets.byKey), len(uses))
				}
				for s, n := range uses {
					if s.refs != n {
						t.Fatalf("%d references, want %d", s.refs, n)
					}
				}
			},
		})
	})
}

func TestTierColor(t *testing.T) {
	for _, c := range []struct {
		id   texture.ID
		look texture.Look
		want [3]uint8
	}{
		{0, texture.Look{}, tierColors.none},
		{1, texture.Look{}, tierColors.loading},
		{1, texture.Look{Busy: true, Edge: 64, Tier: texture.TierFull}, tierColors.loading},
		{1, texture.Look{Missing: true}, tierColors.missing},
		{1, texture.Look{Edge: 1024, Tier: texture.TierFull}, tierColors.full},
		{1, texture.Look{Edge: 512, Tier: texture.TierMedium}, tierColors.medium},
		{1, texture.Look{Edge: 256, Tier: texture.TierMinimum}, tierColors.minimum},
	} {
		if got := tierColor(c.id, c.look); got != c.want {
			t.Errorf("%+v: %v, want %v", c.look, got, c.want)
		}
	}
	var none *textureSet
	only := &textureSet{key: textureKey{slotNormal: 3, slotOcclusion: 4}}
	if none.shown() != 0 || only.shown() != 3 || only.has() != 1<<slotNormal|1<<slotOcclusion {
		t.Errorf("%d, %d, %b", none.shown(), only.shown(), only.has())
	}
}

// TestWorldBox: the box of a mesh holds its corners wherever the scene is.
func TestWorldBox(t *testing.T) {
	plain, turned := geom.Identity(), geom.Mat4{1: 2, 4: -2, 10: 2, 12: 100, 15: 1} // a quarter turn about Z, doubled, shifted
	for _, c := range []struct {
		root *geom.Mat4
		want geom.Box
	}{
		{&plain, geom.Box{Min: geom.Vec3{0, 1, 2}, Max: geom.Vec3{2, 5, 4}}},
		{&turned, geom.Box{Min: geom.Vec3{90, 0, 4}, Max: geom.Vec3{98, 4, 8}}},
	} {
		if got := worldBox([3]float64{1, 3, 3}, [3]float64{1, 2, 1}, c.root); got != c.want {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}

func writePNG(t testing.TB, file string, img image.Image) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, img); err != nil {
		t.Fatal(err)
	}
}
