package partition

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/tileid"
)

// When a scene counts as outdoor.
const (
	outdoorMinHalfDiag  = 150.0 // metres
	outdoorMinTiles     = 8.0   // half diagonal in tiles
	outdoorMaxShell     = 0.10  // share of the objects
	outdoorMinStructure = 0.65  // share of the objects
)

// inferProfile tells a city from a building: it is wide, of one kind, and has
// hardly any facades. counts holds the objects by tier.
func inferProfile(requested string, halfDiag, side float64, counts [len(tierNames)]int) string {
	if requested != ProfileAuto {
		return requested
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	if total == 0 || halfDiag < max(outdoorMinHalfDiag, outdoorMinTiles*side) {
		return ProfileIndoor
	}
	shell := float64(counts[ExteriorShell]) / float64(total)
	structure := float64(counts[StructuralInterior]) / float64(total)
	if shell < outdoorMaxShell && structure >= outdoorMinStructure {
		return ProfileOutdoor
	}
	return ProfileIndoor
}

// overrideRadii replaces radii of single tiers.
func overrideRadii(radii, overrides manifest.TierRadii) manifest.TierRadii {
	for _, o := range overrides {
		for i := range radii {
			r := &radii[i]
			if r.Tier != o.Tier {
				continue
			}
			r.Streaming = max(1, o.Streaming)
			r.Unload = max(2, o.Unload, r.Streaming+.1)
			if o.Priority != nil {
				priority := *o.Priority
				r.Priority = &priority
			}
		}
	}
	return radii
}

// defaultRadii returns the scene's streaming defaults: those of a grid, or an
// override of the shell, else of the structure.
func defaultRadii(side, halfDiag float64, overrides manifest.TierRadii) Radii {
	r := GridRadii(side, halfDiag)
	for _, tier := range []string{tileid.TierStructuralInterior, tileid.TierExteriorShell} {
		for _, o := range overrides {
			if o.Tier == tier {
				r.Streaming = max(1, o.Streaming)
				r.Unload = max(2, o.Unload, r.Streaming+.1)
			}
		}
	}
	return r
}

// ParseTierRadius reads <tier>=<streaming>,<unload>[,<priority>] in metres,
// such as RoomContents=20,30,9. Errors match ErrBadOptions.
func ParseTierRadius(s string) (manifest.TierRadius, error) {
	bad := func() (manifest.TierRadius, error) {
		return manifest.TierRadius{}, fmt.Errorf("%w: tier radius %q: it must be like RoomContents=20,30 or RoomContents=20,30,9",
			ErrBadOptions, s)
	}
	name, values, ok := strings.Cut(s, "=")
	tier, err := ParseTier(strings.TrimSpace(name))
	fields := strings.Split(values, ",")
	if ok && (err != nil || tier == TierNone) {
		return manifest.TierRadius{}, fmt.Errorf("%w: tier radius %q: %q is no tier: use ExteriorShell, StructuralInterior, RoomContents or FineProps",
			ErrBadOptions, s, strings.TrimSpace(name))
	}
	if !ok || len(fields) < 2 || len(fields) > 3 {
		return bad()
	}
	r := manifest.TierRadius{Tier: tier.String()}
	for i, v := range []*float64{&r.Streaming, &r.Unload} {
		*v, err = strconv.ParseFloat(strings.TrimSpace(fields[i]), 64)
		if err != nil || !(*v >= 0 && *v <= math.MaxFloat32) {
			return bad()
		}
	}
	if r.Unload < r.Streaming {
		return manifest.TierRadius{}, fmt.Errorf("%w: tier radius %q: what is unloaded beyond %g m would be loaded within %g m again and again; the second number, where it goes, is the larger one",
			ErrBadOptions, s, r.Unload, r.Streaming)
	}
	if len(fields) == 3 {
		priority, err := strconv.ParseInt(strings.TrimSpace(fields[2]), 10, 32)
		if err != nil {
			return bad()
		}
		p := int(priority)
		r.Priority = &p
	}
	return r, nil
}
