package tileid

import (
	"testing"

	"pgregory.net/rapid"
)

func TestParseGrid(t *testing.T) {
	for id, want := range map[string][3]int{
		"tile_0_0_0": {}, "tile_1_0_-2": {1, 0, -2}, "tile_-12_3_400": {-12, 3, 400},
	} {
		if got, ok := ParseGrid(id); !ok || got != want {
			t.Errorf("%s: %v %v", id, got, ok)
		}
	}
	for _, id := range []string{
		"", "tile", "tile_", "tile_1_2", "tile_1_2_3_4", "tile_01_0_0", "tile_+1_0_0", "tile_-0_0_0", "tile_1_0_0 ", "Tile_1_0_0",
		"tile_1__0", "tile_a_0_0", "tile_99999999999_0_0", "shared",
	} {
		if c, ok := ParseGrid(id); ok {
			t.Errorf("%q: %v", id, c)
		}
	}
}

func TestParseNode(t *testing.T) {
	for id, want := range map[string]Node{
		"F01_Q": {1, 'Q', "", false}, "F01_Q_0_3": {1, 'Q', "03", false}, "F12_K_1_0": {12, 'K', "10", false},
		"F02Q100": {2, 'Q', "100", true}, "F02Q": {2, 'Q', "", true}, "F100_K": {100, 'K', "", false},
	} {
		if got, ok := ParseNode(id); !ok || got != want {
			t.Errorf("%s: %+v %v", id, got, ok)
		}
	}
	for _, id := range []string{
		"", "F", "F01", "F01_", "F1_Q", "F00_Q", "F01_Q_", "F01_Q_4", "F01_K_2", "F01_Q_0_", "F01_Q__0", "F01_Q0", "F01Q_0", "F01_R",
		"f01_Q", "F01_q", "F01_Q_0_SI", "F-1_Q", "F12345678_Q", "F01__Q", "F01_Q_00",
	} {
		if n, ok := ParseNode(id); ok {
			t.Errorf("%q: %+v", id, n)
		}
	}
}

func TestParseFloorTile(t *testing.T) {
	for id, want := range map[string][2]string{
		"F01_Q_SI": {"F01_Q", TierStructuralInterior}, "F02_K_0_1_ES": {"F02_K_0_1", TierExteriorShell},
		"F02Q100_RC": {"F02Q100", TierRoomContents}, "F01_Q_3_FP": {"F01_Q_3", TierFineProps},
	} {
		if node, tier, ok := ParseFloorTile(id); !ok || node != want[0] || tier != want[1] {
			t.Errorf("%s: %s %s %v", id, node, tier, ok)
		}
	}
	for _, id := range []string{"", "SI", "_SI", "F01_Q", "F01_Q_XX", "F01_Q_si", "tile_0_0_0", "F01_SI"} {
		if node, tier, ok := ParseFloorTile(id); ok {
			t.Errorf("%q: %s %s", id, node, tier)
		}
	}
}

// Parsers of names from outside take any text.
func TestIDParsersTakeAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringMatching(`(tile_)?F?[0-9]{0,3}[-_QK0-9a-z]{0,12}(_SI|_ES)?`).Draw(t, "id")
		ParseGrid(id)
		if n, ok := ParseNode(id); ok && (n.Floor < 1 || len(n.Path) > len(id)) {
			t.Fatalf("%+v", n)
		}
		ParseFloorTile(id)
	})
}
