package preview

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/texture"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// TestTextureParams: the radii of the scene decide, unless somebody did.
func TestTextureParams(t *testing.T) {
	m := &manifest.Manifest{StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 100, UnloadRadius: 150}}
	aligned, err := texture.AlignToManifest(100, 150)
	if err != nil {
		t.Fatal(err)
	}
	detailed, err := texture.ProfileNamed("detailed")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		set  func(*config.Textures)
		want func(config.Textures) config.Textures
		err  error
	}{
		{"nothing", func(*config.Textures) {}, func(config.Textures) config.Textures { return aligned }, nil},
		{"a radius", func(c *config.Textures) { c.UpgradeRadius = 5 }, func(c config.Textures) config.Textures { return c }, nil},
		{"a profile", func(c *config.Textures) { c.Profile = "detailed" }, func(config.Textures) config.Textures { return detailed }, nil},
		{"a profile and more", func(c *config.Textures) { c.Profile, c.MinDimension = "mine", 64 }, func(c config.Textures) config.Textures { return c }, nil},
		{"an unknown profile", func(c *config.Textures) { c.Profile = "mine" }, nil, texture.ErrParams},
		{"nonsense", func(c *config.Textures) { c.MaxDimension = 0 }, nil, texture.ErrParams},
	} {
		cfg := config.Default()
		c.set(&cfg.Texture)
		got, err := textureParams(&cfg, m)
		if !errors.Is(err, c.err) || err == nil && got.params != c.want(cfg.Texture) {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

// TestTexturesFollowTheRun: they are judged once a frame under the clock and the
// budget of the run; in virtual time by the simulation, and the picture waits for
// what is being read.
func TestTexturesFollowTheRun(t *testing.T) {
	town := writeTown(t, t.TempDir(), 2)
	for _, virtual := range []bool{true, false} {
		o := options(t, town)
		o.Frames, o.Config.TextureBudget = 5, 12345678
		if !virtual {
			o.FixedDT = 0
		}
		r := newFakeRenderer()
		if _, err := fakeRun(t, o, &fakeSurface{w: 64, h: 48}, r); err != nil {
			t.Fatal(err)
		}
		if virtual {
			if r.awaited != 5 || len(r.viewed) != 0 || r.followed == nil || r.followed.Stats().Budget != 12345678 {
				t.Errorf("awaited %d times, judged %d times, %v", r.awaited, len(r.viewed), r.followed)
			}
			continue
		}
		if len(r.viewed) != 5 || r.budget != 10493825 || r.params.UpgradeRadius == 0 || r.awaited != 0 {
			t.Errorf("%d times, budget %d, %+v, awaited %d times", len(r.viewed), r.budget, r.params, r.awaited)
		}
	}
}

// TestTexturesWithoutBudget: virtual time, which knows nothing of the machine,
// has no limit unless one is configured.
func TestTexturesWithoutBudget(t *testing.T) {
	o := options(t, writeTown(t, t.TempDir(), 2))
	o.Frames = 5
	r := newFakeRenderer()
	if _, err := fakeRun(t, o, &fakeSurface{w: 64, h: 48}, r); err != nil {
		t.Fatal(err)
	}
	if got := r.followed.Stats().Budget; got != 0 {
		t.Errorf("textures have %d bytes, want no limit", got)
	}
}

// TestTexturesAreShed: textures above the high-water mark of their budget, as
// after it has shrunk, become smaller before anything else goes.
func TestTexturesAreShed(t *testing.T) {
	o := options(t, writeTown(t, t.TempDir(), 2))
	o.FixedDT, o.FPS, o.Frames, o.Config.TextureBudget = 0, -1, 40, 1_000_000
	var shed []int
	r, s := newFakeRenderer(), &fakeSurface{w: 64, h: 48}
	o.wall = func() time.Duration { return time.Duration(s.frame) * 50 * time.Millisecond }
	r.textureBytes = 1_000_000
	r.onShed = func(n int) int {
		shed = append(shed, n)
		r.textureBytes -= 50_000
		return n
	}
	events := lines(&o)
	rep, err := fakeRun(t, o, s, r)
	if err != nil {
		t.Fatal(err)
	}
	if len(shed) != 4 || shed[0] != 4 || rep.TextureBytes != 800_000 || rep.Evictions != 0 {
		t.Errorf("shed %v, %d bytes are left, %d evictions", shed, rep.TextureBytes, rep.Evictions)
	}
	n := 0
	for _, line := range *events {
		if strings.Contains(line, `"evict.shed"`) {
			n++
		}
	}
	if n != len(shed) {
		t.Errorf("%d events of %d", n, len(shed))
	}
}

// TestTellWhite: each texture once, and not all of them one by one; files that
// are on their way from a server are no news.
func TestTellWhite(t *testing.T) {
	var told []string
	c := textureControl{alert: func(text string) { told = append(told, text) }}
	for i := range 20 {
		for range 2 {
			c.tellWhite(texture.Slot{URI: fmt.Sprintf("%d.png", i)}, fmt.Errorf("%d.png: %w", i, texfile.ErrTooLarge))
		}
	}
	if len(told) != whiteTold+1 || told[0] != "a texture is drawn white: 0.png: texture: too many pixels" || !strings.HasPrefix(told[whiteTold], "more textures ") {
		t.Errorf("told %q", told)
	}
	told, c.white, c.remote = nil, nil, true
	c.tellWhite(texture.Slot{URI: "a.png"}, fmt.Errorf("a.png: %w", fs.ErrNotExist))
	c.tellWhite(texture.Slot{URI: "a.png"}, texfile.ErrDamaged)
	if len(told) != 1 || !strings.Contains(told[0], "damaged") {
		t.Errorf("told %q", told)
	}
}
