package manifest

import (
	"bytes"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest/tileid"
)

// cleanFloors is clean for floors.
func cleanFloors() *Manifest {
	m := clean()
	m.Version, m.PartitioningMode = VersionFloor, ModeQuadtreeFloor
	m.InteriorZone = &Bounds{Min: [3]float64{0, 0, -25}, Max: [3]float64{50, 10, 0}}
	for i, node := range []string{"F01_Q", "F02_Q_0_3"} {
		t := &m.Tiles[i]
		t.ID, t.FloorID, t.QuadtreeNodeID, t.SemanticTier, t.Interior = node+"_SI", new(i), node, tileid.TierStructuralInterior, true
	}
	return m
}

func TestValidateNames(t *testing.T) {
	if found := Validate(cleanFloors(), "", ValidateOptions{}); len(found) > 0 {
		t.Fatal(found)
	}
	for _, c := range []struct {
		name    string
		base    func() *Manifest
		change  func(m *Manifest)
		want    string // code, pointer
		message string
	}{
		{"grid", clean, func(m *Manifest) { m.Tiles[1].ID, m.Tiles[1].GridCoord = "tile_1_0_-2", &[3]int{1, 0, -2} }, "", ""},
		{"grid_coord", clean, func(m *Manifest) { m.Tiles[1].ID, m.Tiles[1].GridCoord = "tile_1_0_-2", &[3]int{1, 0, 2} }, "tile-grid-coord /tiles/1/grid_coord", "[1 0 2]"},
		{"floors in a grid", clean, func(m *Manifest) { m.Tiles[0].FloorID, m.Tiles[1].QuadtreeNodeID = new(0), "F01_Q" }, "tile-floor /tiles/0", "2 tiles"},
		{"no node", cleanFloors, func(m *Manifest) { m.Tiles[0].QuadtreeNodeID = "" }, "tile-node-id /tiles/0", "F01_Q_SI"},
		{"odd node", cleanFloors, func(m *Manifest) { m.Tiles[1].QuadtreeNodeID = "F02_Q_7" }, "tile-node-id /tiles/1/quadtree_node_id", "no parent"},
		{"other tree", cleanFloors, func(m *Manifest) { m.PartitioningMode = ModeKDTreeFloor; m.Tiles = m.Tiles[:1] }, "tile-node-id /tiles/0/quadtree_node_id", "another tree"},
		{"compact", cleanFloors, func(m *Manifest) { m.Tiles[1].QuadtreeNodeID, m.Tiles[1].ID = "F02Q03", "F02Q03_SI" }, "", ""},
		{"id of another node", cleanFloors, func(m *Manifest) { m.Tiles[1].ID = "F02_Q_0_2_SI" }, "tile-id /tiles/1/tile_id", "F02_Q_0_3_SI"},
		{"no tier", cleanFloors, func(m *Manifest) { m.Tiles[1].SemanticTier = "" }, "tile-tier /tiles/1", ""},
		{"odd tier", cleanFloors, func(m *Manifest) { m.Tiles[1].SemanticTier = "Garden" }, "tile-tier /tiles/1/semantic_tier", "Garden"},
		{"no floor", cleanFloors, func(m *Manifest) { m.Tiles[1].FloorID = nil }, "tile-floor /tiles/1", "no floor_id"},
		{"negative floor", cleanFloors, func(m *Manifest) { m.Tiles[1].FloorID = new(-1) }, "tile-floor /tiles/1/floor_id", "negative"},
		{"reference floors", cleanFloors, func(m *Manifest) { m.Tiles[0].FloorID, m.Tiles[1].FloorID = new(1), new(2) }, "", ""},
		{"mixed floors", cleanFloors, func(m *Manifest) { m.Tiles[1].FloorID = new(2) }, "tile-floor /tiles/1/floor_id", "its number less 1"},
		{"outside the zone", cleanFloors, func(m *Manifest) { m.InteriorZone.Max[0] = 20 }, "manifest-interior-zone /tiles/1/interior", "1 interior tiles"},
	} {
		m := c.base()
		c.change(m)
		got, message := "", ""
		for _, f := range Validate(m, "", ValidateOptions{}) {
			got += fmt.Sprint(f.Code, " ", f.Pointer)
			message += f.Message
		}
		if got != c.want || !strings.Contains(message, c.message) {
			t.Errorf("%s: got %q %q, want %q", c.name, got, message, c.want)
		}
	}
}

// Every spelling of a way out of the folder is refused, and none is opened.
func TestValidateRefusesEveryWayOut(t *testing.T) {
	dir, path, _ := cooked(t)
	testfile.Write(t, filepath.Join(filepath.Dir(dir), "outside.untold"), "x")
	text := testfile.Read(t, path)
	for rel, reason := range map[string]string{
		"../outside.untold": `".."`, "tiles/../../outside.untold": `".."`, "..": `".."`, "/etc/hosts": "absolute", "//host/share": "absolute",
		`tiles\\a.untold`: "backslash", `..\\outside.untold`: "backslash", `\\\\host\\share`: "backslash",
		"C:/a.untold": "colon", "c:a.untold": "colon", "https://example.org/a.untold": "colon", "file:///etc/hosts": "colon", "a.untold:stream": "colon",
		`tiles/a.untold\u0000`: "control character", `\ntiles/a.untold`: "control character", "": "empty", ".": "folder itself", "./": "folder itself",
		"tiles/.. /a": "dots and spaces", "tiles/.../a": "dots and spaces", strings.Repeat("a/", 2100) + "a": "too long",
	} {
		for _, key := range []string{`"path_relative_to_manifest": "tiles/a.untold"`, `"path": "tiles/a_lod1.untold"`} {
			name, _, _ := strings.Cut(key, ":")
			bad := bytes.Replace(text, []byte(key), []byte(name+`: "`+rel+`"`), 1)
			if bytes.Equal(bad, text) {
				t.Fatal("nothing was replaced")
			}
			found := ValidateBytes(bad, dir, ValidateOptions{CheckFiles: true})
			if len(found) != 1 || found[0].Code != codePathEscapes || found[0].Severity != finding.Error || !strings.Contains(found[0].Message, reason) {
				t.Errorf("%s %q: %v", name, rel, found)
			}
		}
	}
}

// The findings about files come in the manifest's order, whatever the number
// of workers.
func TestValidateFilesInOrder(t *testing.T) {
	dir := t.TempDir()
	m := clean()
	m.Tiles = nil
	var want []string
	for i := range 100 {
		e := clean().Tiles[0]
		e.ID, e.Path = fmt.Sprint("t", i), fmt.Sprintf("tiles/%d.untold", i)
		e.HLODLevels, e.LODLevels = nil, nil
		file := filepath.Join(dir, filepath.FromSlash(e.Path))
		if i%3 != 2 {
			testfile.Write(t, file, strings.Repeat("x", 1+i*i))
			e.FileSizeBytes, e.SHA256, _ = hashOf(file)
		}
		switch i % 3 {
		case 1:
			e.SHA256 = strings.Repeat("0", 64)
			want = append(want, fmt.Sprintf("file-hash /tiles/%d/sha256", i))
		case 2:
			want = append(want, fmt.Sprintf("file-missing /tiles/%d/path_relative_to_manifest", i))
		}
		m.Tiles = append(m.Tiles, e)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, workers := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(workers)
		var got []string
		for _, f := range Validate(m, dir, ValidateOptions{CheckFiles: true}) {
			got = append(got, fmt.Sprint(f.Code, " ", f.Pointer))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%d workers: %s", workers, d)
		}
	}
}
