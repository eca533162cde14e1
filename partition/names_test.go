package partition

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/manifest/payloadpath"
)

func TestSanitize(t *testing.T) {
	for in, want := range map[string]string{
		"My Object! (v2)": "My_Object___v2", "a-b_c": "a-b_c", "": "object", "___": "object", "!!!": "object", "_a_": "a",
		"../../etc/passwd": "etc_passwd", `C:\x`: "C__x", "Ärger 日本": "Ärger_日本", "a\x00b": "a_b", "\xff": "object", "½": "½", "a.glb": "a_glb",
	} {
		if got := Sanitize(in); got != want {
			t.Errorf("Sanitize(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSanitizedNamesAreSafePaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		s := Sanitize(name)
		if s != Sanitize(s) {
			t.Fatalf("%q becomes %q, then %q", name, s, Sanitize(s))
		}
		for _, file := range []string{TileFile(s), HLODFile(s, "_hlod"), LODFile(s, 1), SharedFile(s), ManifestFile(s)} {
			if err := payloadpath.Check("tiles/" + file); err != nil {
				t.Fatalf("%q: %v", name, err)
			}
		}
	})
}

func TestFileNames(t *testing.T) {
	for got, want := range map[string]string{
		TileID([3]int{6, 0, 12}):                    "tile_6_0_12",
		TileID([3]int{-1, -1, 0}):                   "tile_-1_-1_0",
		TileFile("tile_0_0_3"):                      "tile_0_0_3.untold",
		HLODFile("tile_0_0_3", "_hlod"):             "tile_0_0_3_hlod.untold",
		LODFile("tile_0_0_3", 1):                    "tile_0_0_3_lod1.untold",
		SharedFile("Yard"):                          "Yard_shared.untold",
		ManifestFile("Yard"):                        "Yard.json",
		PolicyForceLocal.String():                   "force_local",
		Policy(9).String():                          "Policy(9)",
		ExportFutureSplit.String():                  "future_split_candidate",
		(WidthThreshold | CellLimit).Strings()[1]:   "cell_limit",
		(DepthThreshold | ForcedLocal).Strings()[0]: "depth_threshold",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestParsePolicy(t *testing.T) {
	for _, p := range []Policy{PolicyNone, PolicyForceLocal, PolicyForceShared} {
		if got, err := ParsePolicy(p.String()); got != p || err != nil {
			t.Error(got, err)
		}
	}
	if _, err := ParsePolicy("Force_Local"); err == nil {
		t.Error("no error")
	}
}
