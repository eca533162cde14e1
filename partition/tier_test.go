package partition

import (
	"math"
	"testing"

	"github.com/untoldkit/untold/manifest/tileid"
)

// TestTierRadii checks the radii of each tier.
func TestTierRadii(t *testing.T) {
	for _, c := range []struct {
		profile           string
		halfDiag          float64
		tier              int
		name              string
		streaming, unload float64
		priority          int
	}{
		{ProfileIndoor, 28.284271247461902, 0, tileid.TierExteriorShell, 22.627417, 33.941125, 15},
		{ProfileIndoor, 28.284271247461902, 1, tileid.TierStructuralInterior, 8.485281, 14.142136, 10},
		{ProfileIndoor, 28.284271247461902, 2, tileid.TierRoomContents, 2.828427, 5.091169, 8},
		{ProfileIndoor, 28.284271247461902, 3, tileid.TierFineProps, 1, 2, 5},
		{ProfileOutdoor, 1000, 0, tileid.TierExteriorShell, 350, 550, 15},
		{ProfileOutdoor, 1000, 1, tileid.TierStructuralInterior, 250, 400, 12},
		{"unheard of", 100, 0, tileid.TierExteriorShell, 80, 120, 15},
	} {
		r := TierRadii(c.profile, c.halfDiag)[c.tier]
		if r.Tier != c.name || math.Abs(r.Streaming-c.streaming) > 1e-5 || math.Abs(r.Unload-c.unload) > 1e-5 || *r.Priority != c.priority {
			t.Errorf("%s, %v: %+v, want %+v", c.profile, c.halfDiag, r, c)
		}
	}
}
