package partition

import (
	"fmt"
	"math"

	"github.com/untoldkit/untold/manifest"
)

// The defaults of FloorOptions.
const (
	DefaultMinObjects = 4
	ProfileAuto       = "auto"
	maxFloors         = 1 << 19
)

// Balance says what a kd-tree shares out evenly.
type Balance uint8

// The ways of balancing.
const (
	BalanceDefault   Balance = iota // BalanceTriangles, with Compat BalanceObjects
	BalanceTriangles                // "triangles"
	BalanceObjects                  // "objects"
)

// ParseBalance reads triangles or objects; the empty text is BalanceDefault.
func ParseBalance(s string) (Balance, error) {
	switch s {
	case "":
		return BalanceDefault, nil
	case "triangles":
		return BalanceTriangles, nil
	case "objects":
		return BalanceObjects, nil
	}
	return BalanceDefault, fmt.Errorf("%w: unknown kd-tree balance %q: use triangles or objects", ErrBadOptions, s)
}

// FloorOptions controls Quadtree and KDTree. The zero value gives the
// defaults.
type FloorOptions struct {
	// Compat partitions as the reference exporter does: floors by the median
	// height of objects and before the profile is known, numbered from 1;
	// every tile that is no shell is interior; substring matching; the
	// kd-tree balances objects at the median of one axis; objects that touch
	// a midline span; underfilled groups give up objects one by one. Matching
	// and Balance win over it.
	Compat bool
	// TileSide is the base for the streaming defaults and for telling a city
	// from a building, in metres; 0 is 25.
	TileSide float64
	// FloorCount and FloorBandHeight fix the floors; 0 finds them. One alone
	// gives the other from the scene's height.
	FloorCount      int
	FloorBandHeight float64 // metres
	// Profile is indoor, outdoor, or auto (also when empty).
	Profile string
	// TierRadii replaces radii of single tiers, in metres; the priority too
	// when it is given. Streaming radii are raised to 1, unload radii to 2 and
	// to the streaming radius + 0.1.
	TierRadii manifest.TierRadii
	Matching  TierMatching
	// UntaggedTier is for all objects that have neither an override nor an
	// annotation; TierNone guesses.
	UntaggedTier Tier
	// MinObjects: groups of the same node and tier with fewer objects are
	// collapsed into the parent node; 0 is 4, 1 never collapses.
	MinObjects int
	Balance    Balance // of the kd-tree
}

// withDefaults fills in the zero values and checks the rest.
func (o FloorOptions) withDefaults() (FloorOptions, error) {
	bad := func(what string, v any, want string) (FloorOptions, error) {
		return o, fmt.Errorf("%w: %s is %v: it must be %s", ErrBadOptions, what, v, want)
	}
	if o.TileSide == 0 {
		o.TileSide = DefaultTileSide
	}
	if o.MinObjects == 0 {
		o.MinObjects = DefaultMinObjects
	}
	if o.Profile == "" {
		o.Profile = ProfileAuto
	}
	if o.Matching == MatchDefault {
		if o.Matching = MatchTokens; o.Compat {
			o.Matching = MatchSubstring
		}
	}
	if o.Balance == BalanceDefault {
		if o.Balance = BalanceTriangles; o.Compat {
			o.Balance = BalanceObjects
		}
	}
	switch {
	case !(o.TileSide >= 1e-3 && o.TileSide <= maxCoordinate):
		return bad("the tile side", o.TileSide, "at least 0.001 m and finite")
	case o.FloorCount < 0 || o.FloorCount > maxFloors:
		return bad("the number of floors", o.FloorCount, fmt.Sprintf("between 0 and %d", maxFloors))
	case o.FloorBandHeight != 0 && !(o.FloorBandHeight >= 0.1 && o.FloorBandHeight <= maxCoordinate):
		return bad("the height of a floor", o.FloorBandHeight, "0, or at least 0.1 m and finite")
	case o.Profile != ProfileAuto && o.Profile != ProfileIndoor && o.Profile != ProfileOutdoor:
		return bad("the scene profile", fmt.Sprintf("%q", o.Profile), "auto, indoor or outdoor")
	case o.MinObjects < 0:
		return bad("the least number of objects", o.MinObjects, "positive")
	case o.Matching > MatchSubstring:
		return bad("the tier matching", o.Matching, "token or substring")
	case o.Balance > BalanceObjects:
		return bad("the kd-tree balance", o.Balance, "triangles or objects")
	case int(o.UntaggedTier) >= len(tierNames):
		return bad("the tier of untagged objects", o.UntaggedTier, "a tier")
	}
	return o, checkRadii(o.TierRadii)
}

// checkRadii refuses overrides without a tier and impossible distances.
func checkRadii(radii manifest.TierRadii) error {
	for _, r := range radii {
		if t, err := ParseTier(r.Tier); err != nil || t == TierNone {
			return fmt.Errorf("%w: the tier of a tier radius is %q: it must be a tier", ErrBadOptions, r.Tier)
		}
		for _, v := range []float64{r.Streaming, r.Unload} {
			if !(v >= 0 && v <= math.MaxFloat32) {
				return fmt.Errorf("%w: the radius of %s is %v: it must be 0 or more and finite", ErrBadOptions, r.Tier, v)
			}
		}
	}
	return nil
}
