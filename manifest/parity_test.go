package manifest

import (
	"slices"
	"testing"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest/tileid"
)

// What is odd by intention is a note where the manifest says so, and a warning
// elsewhere.
func TestParityIsANote(t *testing.T) {
	number := func(v float64) *float64 { return &v }
	m := &Manifest{
		Version: VersionFloor, PartitioningMode: ModeQuadtreeFloor,
		StreamingDefaults: StreamingDefaults{StreamingRadius: 600, UnloadRadius: 601, Priority: 10},
		Tiles: []Tile{{
			ID: "F01_Q_0_RC", QuadtreeNodeID: "F01_Q_0", SemanticTier: tileid.TierRoomContents, FloorID: new(int), Path: "a.untold", Interior: true, TriangleCount: 1, Bounds: Bounds{Max: geom.Vec3{900, 900, 900}},
			StreamingRadius: number(600), UnloadRadius: number(601), HLODLevels: []Level{}, LODLevels: []Level{{Path: "b.untold", SwitchDistance: 300}},
		}},
	}
	for _, c := range []struct {
		generator string
		odd       finding.Severity // of distances and zones
		far       finding.Severity
	}{
		{"", finding.Warning, finding.Warning},
		{"exporter 2", finding.Warning, finding.Warning},
		{"untold 1.0", finding.Warning, finding.Info},
		{"untold 1.0" + GeneratorParity, finding.Info, finding.Info},
	} {
		m.Generator = c.generator
		want := map[finding.Code]finding.Severity{codeBands: c.odd, codeLODInside: c.odd, codeInteriorZone: c.odd, codeQueryCeiling: c.far}
		for _, f := range Validate(m, "", ValidateOptions{}) {
			if s, ok := want[f.Code]; ok && f.Severity != s {
				t.Errorf("%q: %s is of severity %s, want %s", c.generator, f.Code, f.Severity, s)
			}
			delete(want, f.Code)
		}
		for code := range want {
			t.Errorf("%q: %s is missing", c.generator, code)
		}
	}
	// A scene of ours within the engine's reach is nothing to speak of; a larger one is.
	m.Generator = "untold 1.0"
	for edge, want := range map[float64]bool{280: false, 300: true} {
		m.Tiles[0].Bounds.Max = geom.Vec3{edge, edge, edge}
		found := slices.ContainsFunc(Validate(m, "", ValidateOptions{}), func(f finding.Finding) bool { return f.Code == codeQueryCeiling })
		if found != want {
			t.Errorf("a scene of %v m: %v", edge, found)
		}
	}
	// The bucket's box is around the camera: how far it unloads matters to nobody.
	far := &Manifest{
		Version: VersionGrid, PartitioningMode: ModeUniformGrid, StreamingDefaults: StreamingDefaults{StreamingRadius: 10, UnloadRadius: 20, Priority: 10},
		SharedBucket: &SharedBucket{Tile: Tile{ID: SharedTileID, Path: "s.untold", StreamingRadius: number(500), UnloadRadius: number(700)}},
	}
	found := false
	for _, f := range Validate(far, "", ValidateOptions{}) {
		if f.Code == codeQueryCeiling {
			if found = true; f.Severity != finding.Info {
				t.Errorf("the bucket alone: %+v", f)
			}
		}
	}
	if !found {
		t.Error("nothing is said about the bucket")
	}
}
