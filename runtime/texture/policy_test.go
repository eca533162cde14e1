package texture

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/texture/texfile"
	"pgregory.net/rapid"
)

func TestProfiles(t *testing.T) {
	for _, want := range []config.Textures{
		{Profile: "detailed", UpgradeRadius: 2.5, DowngradeRadius: 6, MaxDimension: 1024, MinDimension: 512, Interval: .1, ConcurrentOps: 6, Hysteresis: .20, PressureHold: 3},
		{Profile: "superdetailed", UpgradeRadius: 4, DowngradeRadius: 8, MaxDimension: 2048, MinDimension: 1024, Interval: .1, ConcurrentOps: 6, Hysteresis: .20, PressureHold: 3},
		{Profile: "openWorld", UpgradeRadius: 15, DowngradeRadius: 60, MaxDimension: 1024, MinDimension: 256, Interval: .2, ConcurrentOps: 3, Hysteresis: .15, PressureHold: 3},
		{Profile: "balanced", UpgradeRadius: 12, DowngradeRadius: 20, MaxDimension: 1024, MinDimension: 256, Interval: .2, ConcurrentOps: 3, Hysteresis: .15, PressureHold: 3},
		{Profile: "tiled", UpgradeRadius: 30, DowngradeRadius: 70, MaxDimension: 1024, MinDimension: 256, Interval: .1, ConcurrentOps: 6, Hysteresis: .15, PressureHold: 3},
	} {
		got, err := ProfileNamed(want.Profile)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", want.Profile, got, err, want)
		}
		if err := validate(&got); err != nil {
			t.Errorf("%s: %v", want.Profile, err)
		}
	}
	if len(Profiles()) != 5 {
		t.Errorf("profiles %v", Profiles())
	}
	if _, err := ProfileNamed("tilde"); !errors.Is(err, ErrParams) || !strings.Contains(err.Error(), "superdetailed") {
		t.Errorf("unknown profile: %v", err)
	}
}

func TestAlignToManifest(t *testing.T) {
	for _, c := range []struct{ stream, unload, upgrade, downgrade float64 }{
		{38.5, 57.8, 26.95, 57.8}, {80, 120, 56, 120}, {0.35, 0.52, 2.5, 5}, {10, 5, 7, 14},
	} {
		p, err := AlignToManifest(c.stream, c.unload)
		if err != nil || p.Profile != "tiled" || p.ConcurrentOps != 6 ||
			math.Abs(p.UpgradeRadius-c.upgrade) > 1e-12 || math.Abs(p.DowngradeRadius-c.downgrade) > 1e-12 {
			t.Errorf("(%v, %v): %+v, %v; want %v and %v", c.stream, c.unload, p, err, c.upgrade, c.downgrade)
		}
	}
	for _, radius := range []float64{math.NaN(), math.Inf(1)} {
		if _, err := AlignToManifest(radius, radius); !errors.Is(err, ErrParams) {
			t.Errorf("radius %v: %v", radius, err)
		}
	}
}

func TestParamsValidate(t *testing.T) {
	for _, c := range []struct {
		field string
		set   func(*config.Textures)
	}{
		{"UpgradeRadius", func(p *config.Textures) { p.UpgradeRadius = -1 }},
		{"UpgradeRadius", func(p *config.Textures) { p.UpgradeRadius = math.NaN() }},
		{"DowngradeRadius", func(p *config.Textures) { p.DowngradeRadius = p.UpgradeRadius - 1 }},
		{"DowngradeRadius", func(p *config.Textures) { p.DowngradeRadius = math.Inf(1) }},
		{"MinDimension", func(p *config.Textures) { p.MinDimension = 0 }},
		{"MaxDimension", func(p *config.Textures) { p.MaxDimension = p.MinDimension - 1 }},
		{"MaxDimension", func(p *config.Textures) { p.MaxDimension = 1 << 17 }},
		{"Interval", func(p *config.Textures) { p.Interval = math.Inf(1) }},
		{"ConcurrentOps", func(p *config.Textures) { p.ConcurrentOps = -1 }},
		{"Hysteresis", func(p *config.Textures) { p.Hysteresis = 1.1 }},
		{"PressureHold", func(p *config.Textures) { p.PressureHold = math.NaN() }},
	} {
		p := config.Default().Texture
		c.set(&p)
		if err := validate(&p); !errors.Is(err, ErrParams) || !strings.Contains(err.Error(), c.field) {
			t.Errorf("%s: %v", c.field, err)
		}
	}
}

func square(edge int) texfile.Size {
	s, err := texfile.NewSize(edge, edge, texfile.RGBA8)
	if err != nil {
		panic(err)
	}
	return s
}

// startsOf returns where the tiers of a square source begin.
func startsOf(p *policy, source int) starts {
	f := square(source)
	return starts{TierMinimum: f.StartFor(p.MinDimension), TierMedium: f.StartFor(p.MaxDimension), TierFull: 0}
}

func balanced() policy {
	p, _ := ProfileNamed("balanced")
	return newPolicy(p)
}

func TestDecide(t *testing.T) {
	p := balanced()
	for _, c := range []struct {
		name            string
		source          int
		d               float64
		edge            int // now
		finest, ceiling Tier
		want            int
	}{
		{"far and small stays", 2048, 25, 256, TierFull, TierFull, 256},
		{"within the radius but not yet past the hysteresis", 2048, 19, 256, TierFull, TierFull, 256},
		{"to medium", 2048, 16.9, 256, TierFull, TierFull, 1024},
		{"to full", 2048, 10.1, 1024, TierFull, TierFull, 2048},
		{"to full in one step", 2048, 10.1, 256, TierFull, TierFull, 2048},
		{"not yet full, so medium", 2048, 11, 256, TierFull, TierFull, 1024},
		{"not yet full, medium already", 2048, 11, 1024, TierFull, TierFull, 1024},
		{"full is held", 2048, 13.7, 2048, TierFull, TierFull, 2048},
		{"full is given up", 2048, 13.9, 2048, TierFull, TierFull, 1024},
		{"medium is held", 2048, 22.9, 1024, TierFull, TierFull, 1024},
		{"medium is given up", 2048, 23.1, 1024, TierFull, TierFull, 256},
		{"from full to the minimum", 2048, 500, 2048, TierFull, TierFull, 256},
		{"a nameless distance is far", 2048, math.Inf(1), 1024, TierFull, TierFull, 256},
		{"a hold limits upgrades", 2048, 1, 256, TierFull, TierMedium, 1024},
		{"a hold takes nothing", 2048, 1, 2048, TierFull, TierMedium, 2048},
		{"a level takes at once", 2048, 1, 2048, TierMedium, TierFull, 1024},
		{"the last level", 2048, 1, 2048, TierMinimum, TierFull, 256},
		{"a level limits upgrades", 2048, 1, 256, TierMedium, TierFull, 1024},
		{"smaller than medium, between", 512, 16, 256, TierFull, TierFull, 512},
		{"smaller than medium, not past the hysteresis", 512, 18, 256, TierFull, TierFull, 256},
		{"smaller than medium, held", 512, 22.9, 512, TierFull, TierFull, 512},
		{"smaller than medium, given up", 512, 23.1, 512, TierFull, TierFull, 256},
		{"as large as medium", 1024, 11, 256, TierFull, TierFull, 1024},
		{"smaller than the minimum", 100, 1, 100, TierFull, TierFull, 100},
		{"begun below the minimum", 2048, 500, 16, TierFull, TierFull, 256},
		{"begun below the minimum, last level", 2048, 1, 16, TierMinimum, TierFull, 256},
	} {
		at := startsOf(&p, c.source)
		cur := square(c.source).StartFor(c.edge)
		if got := c.source >> p.reach.decide(c.d, cur, &at, c.finest, c.ceiling); got != c.want {
			t.Errorf("%s: %d at %v m with %d: %d, want %d", c.name, c.source, c.d, c.edge, got, c.want)
		}
	}
}

func TestTierOfLevel(t *testing.T) {
	for _, c := range []struct {
		level, levels int
		want          Tier
	}{
		{0, 0, TierFull},
		{0, 1, TierFull},
		{3, 1, TierFull},
		{-1, 4, TierFull},
		{0, 4, TierFull},
		{1, 4, TierMedium},
		{2, 4, TierMedium},
		{3, 4, TierMinimum},
		{9, 4, TierMinimum},
		{0, 2, TierFull},
		{1, 2, TierMinimum},
	} {
		if got := tierOfLevel(c.level, c.levels); got != c.want {
			t.Errorf("level %d of %d: %v, want %v", c.level, c.levels, got, c.want)
		}
	}
}

func drawParams(t *rapid.T) config.Textures {
	p := config.Textures{
		UpgradeRadius: rapid.Float64Range(0, 50).Draw(t, "upgrade"),
		MinDimension:  1 << rapid.IntRange(0, 9).Draw(t, "min"),
		Hysteresis:    rapid.Float64Range(0, 1).Draw(t, "h"),
		ConcurrentOps: rapid.IntRange(1, 6).Draw(t, "ops"),
		Interval:      rapid.SampledFrom([]float64{0, .1, .2}).Draw(t, "interval"),
		PressureHold:  3,
	}
	p.DowngradeRadius = p.UpgradeRadius + rapid.Float64Range(0, 50).Draw(t, "between")
	p.MaxDimension = min(texfile.MaxEdge, p.MinDimension<<rapid.IntRange(0, 4).Draw(t, "max"))
	return p
}

// TestDecideProperties: for whatever a texture is now, the nearer it is the
// larger it becomes; decisions hold when they are made again at the same place;
// and they lie between the tiers just inside and just outside the hysteresis.
func TestDecideProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPolicy(drawParams(t))
		source := rapid.IntRange(1, 5000).Draw(t, "source")
		at := startsOf(&p, source)
		cur := rapid.IntRange(0, square(source).Mips-1).Draw(t, "now")
		d := rapid.Float64Range(0, 200).Draw(t, "distance")
		e := d + rapid.Float64Range(0, 50).Draw(t, "farther")
		finest := Tier(rapid.IntRange(0, 2).Draw(t, "finest"))
		ceiling := Tier(rapid.IntRange(1, 2).Draw(t, "ceiling"))
		near, far := p.reach.decide(d, cur, &at, finest, ceiling), p.decide(e, cur, &at, finest, ceiling)
		if near > far {
			t.Fatalf("from level %d: %d at %v m, but %d at %v m", cur, near, d, far, e)
		}
		if again := p.reach.decide(d, near, &at, finest, ceiling); again != near {
			t.Fatalf("from level %d at %v m: %d, then %d", cur, d, near, again)
		}
		if near < at[finest] {
			t.Fatalf("level %d is finer than %v", near, finest)
		}
		if near < cur && near < at[min(p.tierAt(d), ceiling)] {
			t.Fatalf("upgraded to %d beyond the tier of %v m", near, d)
		}
		if near > max(cur, at[min(p.tierAt(d), finest)], at[TierMinimum]) {
			t.Fatalf("from %d to %d at %v m", cur, near, d)
		}
	})
}

func TestBytes(t *testing.T) {
	of := func(e texfile.Encoding, edge int) int64 {
		f := square(2048)
		f.Encoding = e
		return f.Bytes(f.StartFor(edge))
	}
	if got := of(texfile.RGBA8, 1024) - of(texfile.RGBA8, 256); got != 5242880 {
		t.Errorf("256 to 1024 in RGBA takes %d bytes, want 5242880", got)
	}
	// A block of 4 x 4 texels takes 16 bytes, so a byte per texel; the last two
	// levels are not smaller than one block.
	if got, want := of(texfile.BC7, 1024), int64(1024*1024+512*512+256*256+128*128+64*64+32*32+16*16+64+16+16+16); got != want {
		t.Errorf("1024 in BC7 takes %d bytes, want %d", got, want)
	}
}
