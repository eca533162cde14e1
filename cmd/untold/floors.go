package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/spf13/pflag"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/manifest/tileid"
	"github.com/untoldkit/untold/partition"
)

// floorFlags are the flags of the partitions by floors, as texts.
type floorFlags struct {
	matching, untagged, balance string
	radii                       []string
}

// floorFlagNames need --partition quadtree or kdtree.
var floorFlagNames = []string{
	"floor-count", "floor-band-height", "scene-profile", "tier-matching", "untagged-semantic-tier",
	"kdtree-balance", "min-objects-per-tile-tier",
}

func (x *floorFlags) register(f *pflag.FlagSet, o *cook.Options) {
	f.StringVar(&o.Partition, "partition", cook.PartitionGrid, "how to cut: grid, quadtree or kdtree")
	f.IntVar(&o.Floors.FloorCount, "floor-count", 0, "number of floors; 0 finds them (quadtree, kdtree)")
	f.Float64Var(&o.Floors.FloorBandHeight, "floor-band-height", 0, "height of a floor in metres; 0 finds it (quadtree, kdtree)")
	f.StringVar(&o.Floors.Profile, "scene-profile", partition.ProfileAuto, "auto, indoor or outdoor (quadtree, kdtree)")
	f.StringArrayVar(&x.radii, "tier-radius", nil, "TIER=STREAMING,UNLOAD[,PRIORITY] in metres; repeatable; a grid takes ExteriorShell's or StructuralInterior's")
	f.StringVar(&x.matching, "tier-matching", "token", "how words are found in names: token or substring (quadtree, kdtree)")
	f.StringVar(&x.untagged, "untagged-semantic-tier", "Auto",
		"tier of objects without an override: Auto guesses, else ExteriorShell, StructuralInterior, RoomContents or FineProps (quadtree, kdtree)")
	f.StringVar(&x.balance, "kdtree-balance", "triangles", "what a kd-tree shares out: triangles or objects")
	f.IntVar(&o.Floors.MinObjects, "min-objects-per-tile-tier", partition.DefaultMinObjects,
		"tiles with fewer objects join the parent node's; 1 keeps them (quadtree, kdtree)")
}

// resolve checks the texts and puts them into the options.
func (x *floorFlags) resolve(f *pflag.FlagSet, o *cook.Options) error {
	switch o.Partition {
	case cook.PartitionQuadtree, cook.PartitionKDTree:
	case cook.PartitionGrid:
		for _, name := range floorFlagNames {
			if f.Changed(name) {
				return fmt.Errorf("--%s needs --partition quadtree or kdtree", name)
			}
		}
	default:
		return fmt.Errorf("--partition is %q; use grid, quadtree or kdtree", o.Partition)
	}
	if o.Partition != cook.PartitionKDTree && f.Changed("kdtree-balance") {
		return fmt.Errorf("--kdtree-balance needs --partition kdtree")
	}
	if o.Floors.MinObjects < 1 {
		return fmt.Errorf("--min-objects-per-tile-tier is %d; it must be 1 or more", o.Floors.MinObjects)
	}
	switch fl := &o.Floors; {
	case fl.FloorCount < 0:
		return fmt.Errorf("--floor-count is %d; it must be 0, which finds them, or more", fl.FloorCount)
	case fl.FloorBandHeight != 0 && !(fl.FloorBandHeight >= 0.1 && !math.IsInf(fl.FloorBandHeight, 0)):
		return fmt.Errorf("--floor-band-height is %v; it must be 0, which finds it, or at least 0.1 metres", fl.FloorBandHeight)
	case !slices.Contains([]string{"", partition.ProfileAuto, partition.ProfileIndoor, partition.ProfileOutdoor}, fl.Profile):
		return fmt.Errorf("--scene-profile is %q; use auto, indoor or outdoor", fl.Profile)
	}
	var err error
	fail := func(flag string) error { return fmt.Errorf("--%s: %w", flag, err) }
	if o.Compat { // what is not given is the preset's
		for name, v := range map[string]*string{"tier-matching": &x.matching, "kdtree-balance": &x.balance} {
			if !f.Changed(name) {
				*v = ""
			}
		}
	}
	if o.Floors.Matching, err = partition.ParseTierMatching(x.matching); err != nil {
		return fail("tier-matching")
	}
	if o.Floors.UntaggedTier, err = partition.ParseTier(x.untagged); err != nil {
		return fail("untagged-semantic-tier")
	}
	if o.Floors.Balance, err = partition.ParseBalance(x.balance); err != nil {
		return fail("kdtree-balance")
	}
	o.Floors.TierRadii = nil
	for _, text := range x.radii {
		r, err := partition.ParseTierRadius(text)
		if err != nil {
			return fmt.Errorf("--tier-radius: %w", err)
		}
		if o.Partition == cook.PartitionGrid && r.Tier != tileid.TierExteriorShell && r.Tier != tileid.TierStructuralInterior {
			return fmt.Errorf("--tier-radius %s needs --partition quadtree or kdtree; a grid takes those of %s or %s",
				r.Tier, tileid.TierExteriorShell, tileid.TierStructuralInterior)
		}
		o.Floors.TierRadii = append(o.Floors.TierRadii, r)
	}
	return nil
}
