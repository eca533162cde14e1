package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/tileid"
)

func TestCookFloors(t *testing.T) {
	for _, kind := range []string{"quadtree", "kdtree"} {
		dir := cooked(t, "--partition", kind, "--floor-count", "2", "--floor-band-height", "3", "--scene-profile", "outdoor",
			"--tier-radius", "RoomContents=30,44,9", "--untagged-semantic-tier", "RoomContents", "--tier-matching", "substring",
			"--min-objects-per-tile-tier", "1")
		r := execute(t, nil, "validate", dir, "--strict")
		if r.code != 0 || !strings.Contains(r.stdout, "0 errors, 0 warnings") {
			t.Errorf("%s: validate: exit %d\n%s%s", kind, r.code, r.stdout, r.err)
		}
		if r := execute(t, nil, "inspect", dir); r.code != 0 || !strings.Contains(r.stdout, kind+"_floor") {
			t.Errorf("%s: inspect: exit %d\n%s%s", kind, r.code, r.stdout, r.err)
		}
		m, err := manifest.Load(filepath.Join(dir, "yard.json"))
		if err != nil {
			t.Fatal(err)
		}
		if m.Version != manifest.VersionFloor || m.StreamingProfile.Requested != "outdoor" || len(m.StreamingProfile.Overrides) != 1 ||
			m.PartitionQualityConfig.MinObjectsPerTileTier != 1 || m.PartitionQualityConfig.CollapseUnderfilled {
			t.Errorf("%s: %+v %+v", kind, m.StreamingProfile, m.PartitionQualityConfig)
		}
		for _, e := range m.Tiles {
			if e.SemanticTier != tileid.TierRoomContents || *e.StreamingRadius != 30 || *e.UnloadRadius != 44 || *e.Priority != 9 || e.Interior {
				t.Errorf("%s: %+v", kind, e)
			}
		}
	}
}

func TestFloorFlagErrors(t *testing.T) {
	scene, out := yard(t), filepath.Join(t.TempDir(), "out")
	for _, c := range []struct {
		args string
		text string
	}{
		{"--partition octree", "--partition"},
		{"--floor-count 3", "--floor-count needs --partition"},
		{"--partition grid --tier-radius FineProps=1,2", "--tier-radius FineProps needs --partition"},
		{"--partition quadtree --clip=false", "--clip is for --partition grid"},
		{"--partition kdtree --auto-tile-size", "--auto-tile-size is for --partition grid"},
		{"--partition quadtree --kdtree-balance objects", "--kdtree-balance needs --partition kdtree"},
		{"--partition kdtree --kdtree-balance bytes", "--kdtree-balance"},
		{"--partition kdtree --tier-matching regex", "--tier-matching"},
		{"--partition kdtree --untagged-semantic-tier Sofa", "--untagged-semantic-tier"},
		{"--partition kdtree --tier-radius Sofa=1,2", "--tier-radius"},
		{"--partition kdtree --min-objects-per-tile-tier 0", "--min-objects-per-tile-tier"},
		{"--partition kdtree --floor-count -1", "--floor-count is -1; it must be"},
		{"--partition kdtree --floor-band-height NaN", "--floor-band-height is NaN; it must be"},
		{"--partition kdtree --scene-profile space", "--scene-profile is \"space\"; use"},
	} {
		r := execute(t, nil, append([]string{"cook", scene, "-o", out}, strings.Fields(c.args)...)...)
		if r.code != 2 || !strings.Contains(r.err, c.text) {
			t.Errorf("%s: exit %d, stderr %q lacks %q", c.args, r.code, r.err, c.text)
		}
	}
}
