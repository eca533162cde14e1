package partition

import (
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/tileid"
)

// The scene profiles.
const (
	ProfileIndoor  = "indoor"
	ProfileOutdoor = "outdoor"
)

// tierScale holds the radii of a tier as fractions of the scene's half
// diagonal.
type tierScale struct {
	tier              string
	streaming, unload float64
	priority          int
}

var tierScales = map[string][4]tierScale{
	ProfileIndoor: {
		{tileid.TierExteriorShell, .80, 1.20, 15},
		{tileid.TierStructuralInterior, .30, .50, 10},
		{tileid.TierRoomContents, .10, .18, 8},
		{tileid.TierFineProps, .03, .06, 5},
	},
	ProfileOutdoor: {
		{tileid.TierExteriorShell, .35, .55, 15},
		{tileid.TierStructuralInterior, .25, .40, 12},
		{tileid.TierRoomContents, .10, .18, 8},
		{tileid.TierFineProps, .04, .08, 5},
	},
}

// TierRadii returns the radii of all semantic tiers for a profile, in metres:
// fractions of half the diagonal of the scene's footprint, at least 1 and 2.
// An unknown profile counts as indoor.
func TierRadii(profile string, halfDiag float64) manifest.TierRadii {
	scales, ok := tierScales[profile]
	if !ok {
		scales = tierScales[ProfileIndoor]
	}
	var out manifest.TierRadii
	for _, s := range scales {
		priority := s.priority
		out = append(out, manifest.TierRadius{
			Tier: s.tier, Streaming: max(1, halfDiag*s.streaming), Unload: max(2, halfDiag*s.unload), Priority: &priority,
		})
	}
	return out
}
