package texture

import (
	"errors"
	"fmt"
	"math"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// ErrParams is matched by errors about config.Textures that make no sense.
var ErrParams = errors.New("texture: bad parameters")

// profiles are the reference engine's.
var profiles = []config.Textures{
	{Profile: "detailed", UpgradeRadius: 2.5, DowngradeRadius: 6, MaxDimension: 1024, MinDimension: 512, Interval: 0.1, ConcurrentOps: 6, Hysteresis: 0.20, PressureHold: 3},
	{Profile: "superdetailed", UpgradeRadius: 4, DowngradeRadius: 8, MaxDimension: 2048, MinDimension: 1024, Interval: 0.1, ConcurrentOps: 6, Hysteresis: 0.20, PressureHold: 3},
	{Profile: "openWorld", UpgradeRadius: 15, DowngradeRadius: 60, MaxDimension: 1024, MinDimension: 256, Interval: 0.2, ConcurrentOps: 3, Hysteresis: 0.15, PressureHold: 3},
	{Profile: "balanced", UpgradeRadius: 12, DowngradeRadius: 20, MaxDimension: 1024, MinDimension: 256, Interval: 0.2, ConcurrentOps: 3, Hysteresis: 0.15, PressureHold: 3},
	{Profile: "tiled", UpgradeRadius: 30, DowngradeRadius: 70, MaxDimension: 1024, MinDimension: 256, Interval: 0.1, ConcurrentOps: 6, Hysteresis: 0.15, PressureHold: 3},
}

// Profiles returns the names of the profiles: detailed and superdetailed for
// objects looked at from near, openWorld and balanced for walks, tiled for
// scenes in tiles.
func Profiles() []string {
	out := make([]string, len(profiles))
	for i := range profiles {
		out[i] = profiles[i].Profile
	}
	return out
}

// ProfileNamed returns the parameters of a profile. The error matches ErrParams
// and lists the names.
func ProfileNamed(name string) (config.Textures, error) {
	for _, p := range profiles {
		if p.Profile == name {
			return p, nil
		}
	}
	return config.Textures{}, fmt.Errorf("%w: profile %q: want one of %v", ErrParams, name, Profiles())
}

// AlignToManifest returns the profile tiled with the radii that suit a scene
// whose tiles stream at the given radii in metres: full
// size well within the radius at which a tile is loaded, and the medium size as
// long as it can be there.
func AlignToManifest(streamingRadius, unloadRadius float64) (config.Textures, error) {
	p, err := ProfileNamed("tiled")
	if err != nil {
		return config.Textures{}, err
	}
	p.UpgradeRadius = max(0.70*streamingRadius, 2.5)
	p.DowngradeRadius = max(unloadRadius, p.UpgradeRadius+1, 2*p.UpgradeRadius)
	return p, validate(&p)
}

// validate checks the ranges. The error matches ErrParams and names the field.
func validate(p *config.Textures) error {
	bad := func(field string, got any, want string) error {
		return fmt.Errorf("%w: %s is %v: want %s", ErrParams, field, got, want)
	}
	finite := func(v float64) bool { return v >= 0 && !math.IsInf(v, 0) }
	switch {
	case !finite(p.UpgradeRadius):
		return bad("UpgradeRadius", p.UpgradeRadius, "a finite distance")
	case !finite(p.DowngradeRadius) || p.DowngradeRadius < p.UpgradeRadius:
		return bad("DowngradeRadius", p.DowngradeRadius, fmt.Sprintf("a finite distance of at least UpgradeRadius, %v", p.UpgradeRadius))
	case p.MinDimension < 1 || p.MinDimension > texfile.MaxEdge:
		return bad("MinDimension", p.MinDimension, fmt.Sprintf("1 to %d", texfile.MaxEdge))
	case p.MaxDimension < p.MinDimension || p.MaxDimension > texfile.MaxEdge:
		return bad("MaxDimension", p.MaxDimension, fmt.Sprintf("MinDimension, %d, to %d", p.MinDimension, texfile.MaxEdge))
	case !(p.Interval >= 0) || p.Interval > maxSeconds:
		return bad("Interval", p.Interval, fmt.Sprintf("0 to %v seconds", maxSeconds))
	case p.ConcurrentOps < 0:
		return bad("ConcurrentOps", p.ConcurrentOps, "at least 0")
	case !(p.Hysteresis >= 0 && p.Hysteresis <= 1):
		return bad("Hysteresis", p.Hysteresis, "0 to 1")
	case !(p.PressureHold >= 0) || p.PressureHold > maxSeconds:
		return bad("PressureHold", p.PressureHold, fmt.Sprintf("0 to %v seconds", maxSeconds))
	}
	return nil
}

// maxSeconds keeps times within a time.Duration.
const maxSeconds = 1e9

// Tier is a size class of textures.
type Tier uint8

// The tiers.
const (
	TierMinimum Tier = iota // at most MinDimension of the parameters
	TierMedium              // at most MaxDimension of the parameters
	TierFull                // the size of the source
	tiers
)

// String returns minimum, medium or full.
func (t Tier) String() string { return [...]string{"minimum", "medium", "full"}[min(t, TierFull)] }

// policy is config.Textures as the tick uses them.
type policy struct {
	config.Textures
	reach // of textures of which nothing else is known
}

// reach is the distances at which tiers change.
type reach struct {
	full, medium        float64 // wanted within
	fullIn, fullOut     float64 // upgrade within, downgrade beyond
	mediumIn, mediumOut float64
}

func newPolicy(p config.Textures) policy {
	h := p.Hysteresis
	return policy{p, reach{
		full: p.UpgradeRadius, medium: p.DowngradeRadius,
		fullIn: p.UpgradeRadius * (1 - h), fullOut: p.UpgradeRadius * (1 + h),
		mediumIn: p.DowngradeRadius * (1 - h), mediumOut: p.DowngradeRadius * (1 + h),
	}}
}

// tierAt returns the tier of a distance, without hysteresis.
func (r *reach) tierAt(d float64) Tier {
	switch {
	case d <= r.full:
		return TierFull
	case d <= r.medium:
		return TierMedium
	}
	return TierMinimum
}

// shedTier returns what a shed leaves at a distance.
func (p *policy) shedTier(d float64) Tier {
	if d <= p.UpgradeRadius {
		return TierMedium
	}
	return TierMinimum
}

// tierOfLevel returns the finest tier for a level of an entity's LOD group:
// level 0 is not limited, the levels between stay at medium, the last at
// minimum.
func tierOfLevel(level, levels int) Tier {
	switch {
	case level <= 0 || levels < 2:
		return TierFull
	case level >= levels-1:
		return TierMinimum
	}
	return TierMedium
}

// starts are the first levels of a texture's mip chain by tier; 0 is the
// source.
type starts [tiers]int

// decide returns the first level that a texture should have which now begins
// with level cur. finest limits the tier, as an entity's LOD does; ceiling
// limits upgrades only, as a pressure hold does.
//
// A change waits until the distance has passed the radius of the tier by the
// hysteresis. Where that keeps a texture from the full
// size, it may still come to the medium one, so that of two textures that start
// alike the nearer is never the coarser.
func (r *reach) decide(d float64, cur int, at *starts, finest, ceiling Tier) int {
	cur = max(cur, at[finest])
	tier := min(r.tierAt(d), finest)
	up := min(tier, ceiling)
	if up == TierFull && d > r.fullIn && at[up] < cur {
		up = TierMedium
	}
	if up == TierMedium && d > r.mediumIn && at[up] < cur {
		up = TierMinimum
	}
	if at[up] < cur {
		return at[up]
	}
	if at[tier] <= cur {
		return cur
	}
	out := r.mediumOut
	if cur < at[TierMedium] {
		out = r.fullOut
	}
	if d < out {
		return cur
	}
	return at[tier]
}
