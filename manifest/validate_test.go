package manifest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/internal/plainfile"
	"github.com/untoldkit/untold/internal/testfile"
)

// clean returns a manifest that Validate has nothing to say about.
func clean() *Manifest {
	tile := func(id string, x float64) Tile {
		b := Bounds{Min: [3]float64{x, 0, -25}, Max: [3]float64{x + 25, 10, 0}}
		return Tile{
			ID: id, Path: "tiles/" + id + ".untold", FileSizeBytes: 4, Bounds: b, Center: b.Center(), CellBounds: &b,
			HLODLevels: []Level{{Path: "tiles/" + id + "_hlod.untold", SwitchDistance: 71}},
			LODLevels:  []Level{{Path: "tiles/" + id + "_lod1.untold", SwitchDistance: 56.89}},
		}
	}
	return &Manifest{
		Version: VersionGrid, PartitioningMode: ModeUniformGrid, PayloadDir: "tiles", TileSize: &Vec3Size{25, 10000, 25},
		StreamingDefaults: StreamingDefaults{StreamingRadius: 50, UnloadRadius: 75, Priority: 10},
		Tiles:             []Tile{tile("a", 0), tile("b", 25)},
	}
}

func TestValidateClean(t *testing.T) {
	if found := Validate(clean(), "", ValidateOptions{}); len(found) > 0 {
		t.Error(found)
	}
	if found := ValidateBytes(encodeBytes(t, clean()), "", ValidateOptions{}); len(found) > 0 {
		t.Error(found)
	}
}

// TestValidateEngineReach: levels that begin beyond the engine's query radius are
// noted once, with the farthest.
func TestValidateEngineReach(t *testing.T) {
	m := clean()
	m.Generator = "untold 1"
	for i := range m.Tiles {
		m.Tiles[i].StreamingRadius, m.Tiles[i].UnloadRadius = new(500.0), new(1200.0)
		m.Tiles[i].LODLevels = []Level{{Path: fmt.Sprintf("tiles/%d_lod1.untold", i), SwitchDistance: 500}}
		m.Tiles[i].HLODLevels = []Level{{Path: fmt.Sprintf("tiles/%d_hlod.untold", i), SwitchDistance: 600 + float64(i)}}
	}
	of := func(opts ValidateOptions) (out []finding.Finding) {
		for _, f := range Validate(m, "", opts) {
			if f.Code == codeEngineReach {
				out = append(out, f)
			}
		}
		return out
	}
	n := len(m.Tiles)
	found := of(ValidateOptions{})
	if len(found) != 1 || found[0].Severity != finding.Info || found[0].Pointer != fmt.Sprintf("/tiles/%d/hlod_levels/0/switch_distance", n-1) ||
		!strings.Contains(found[0].Message, fmt.Sprintf("%d levels begin beyond the 500 m", n)) || !strings.Contains(found[0].Message, fmt.Sprintf("at %d m", 599+n)) {
		t.Errorf("%+v", found)
	}
	if found := of(ValidateOptions{QueryCeiling: 5000}); len(found) > 0 {
		t.Errorf("an engine that looks farther: %+v", found)
	}
}

func TestValidateRules(t *testing.T) {
	far := 501.0
	for _, c := range []struct {
		name     string
		change   func(m *Manifest)
		code     finding.Code
		severity finding.Severity
		pointer  string
		message  string // part of it
	}{
		{"no tiles", func(m *Manifest) { m.Tiles = nil }, codeNoTiles, finding.Warning, "/tiles", ""},
		{"version without mode", func(m *Manifest) { m.Version, m.PartitioningMode = 4, "" }, codeMode, finding.Warning, "", "version 4"},
		{"unknown mode", func(m *Manifest) { m.PartitioningMode = "octree" }, codeMode, finding.Warning, "/partitioning_mode", "octree"},
		{"tile size", func(m *Manifest) { m.TileSize.Z = 0 }, codeTileSize, finding.Error, "/tile_size", ""},
		{"payload folder", func(m *Manifest) { m.PayloadDir = "../tiles" }, codePathEscapes, finding.Error, "/payload_dir_relative_to_manifest", ""},
		{"interior without zone", func(m *Manifest) { m.Tiles[1].Interior = true }, codeInteriorZone, finding.Warning, "", "1 tiles"},
		{"inverted zone", func(m *Manifest) { m.InteriorZone = &Bounds{Min: [3]float64{1, 0, 0}} }, codeInteriorZone, finding.Warning, "/interior_zone", "along x"},
		{"offset beyond the Earth", func(m *Manifest) { m.OriginOffset = &[3]float64{0, -2e9, 0} }, codeOrigin, finding.Warning, "/origin_offset", "along y"},
		{"texture of a negative size", func(m *Manifest) { m.Textures = []Texture{{"a.png", 1}, {"b.png", -1}} }, codeTexture, finding.Warning, "/textures/1/uv_per_metre", "b.png"},
		{"inverted content", func(m *Manifest) { m.ContentBounds = &Bounds{Min: [3]float64{0, 0, 1}} }, codeBounds, finding.Error, "/content_bounds", "along z"},
		{"inverted scene", func(m *Manifest) { m.SceneBounds = &Bounds{Min: [3]float64{0, 0, 1}} }, codeBounds, finding.Error, "/scene_bounds", "along z"},
		{"dry run with sizes", func(m *Manifest) { m.DryRun = true; m.Tiles[0].FileSizeBytes = 0 }, codeDryRun, finding.Warning, "/tiles/1/file_size_bytes", ""},
		{"lut size", func(m *Manifest) { m.ColorLUT = &ColorLUT{URI: "x", Size: 65, Gamma: 1, ShaperMaxStops: 1} }, codeColorLUT, finding.Error, "/colorLUT/lutSize", "65"},
		{"lut device", func(m *Manifest) {
			m.ColorLUT = &ColorLUT{URI: "x", Size: 2, Gamma: 1, ShaperMaxStops: 1, DisplayDevice: new("P3")}
		}, codeColorLUT, finding.Error, "/colorLUT/displayDevice", "P3"},
		{"lut gamma", func(m *Manifest) { m.ColorLUT = &ColorLUT{URI: "x", Size: 2, ShaperMaxStops: 1} }, codeColorLUT, finding.Error, "/colorLUT/gamma", ""},
		{"lut stops", func(m *Manifest) { m.ColorLUT = &ColorLUT{URI: "x", Size: 2, Gamma: 1} }, codeColorLUT, finding.Error, "/colorLUT/shaperMinStops", ""},
		{"lut path", func(m *Manifest) { m.ColorLUT = &ColorLUT{URI: "/x", Size: 2, Gamma: 1, ShaperMaxStops: 1} }, codePathEscapes, finding.Error, "/colorLUT/lutUri", "absolute"},
		{"grade size", func(m *Manifest) { m.ColorGradeLUT = &GradeLUT{URI: "x.cube", Size: 1} }, codeColorTable, finding.Error, "/colorGradeLUT/lutSize", "2 to 65536"},
		{"grade path", func(m *Manifest) { m.ColorGradeLUT = &GradeLUT{URI: "../x.cube", Size: 2} }, codePathEscapes, finding.Error, "/colorGradeLUT/lutUri", ".."},

		{"empty id", func(m *Manifest) { m.Tiles[1].ID = "" }, codeTileID, finding.Warning, "/tiles/1/tile_id", ""},
		{"repeated id", func(m *Manifest) { m.Tiles[1].ID = "a" }, codeDuplicateTile, finding.Error, "/tiles/1/tile_id", "/tiles/0"},
		{"inverted bounds", func(m *Manifest) { m.Tiles[0].Bounds.Min[1] = 11 }, codeBounds, finding.Error, "/tiles/0/bounds", "along y, min 11 is above max"},
		{"inverted cell", func(m *Manifest) { m.Tiles[0].CellBounds = &Bounds{Min: [3]float64{0, 1, 0}} }, codeBounds, finding.Error, "/tiles/0/cell_bounds", ""},
		{"center off the middle", func(m *Manifest) { m.Tiles[0].Center[0] = 13 }, codeCenter, finding.Warning, "/tiles/0/center", "not in the middle"},
		{"center outside", func(m *Manifest) { m.Tiles[0].Center[1] = 4998.99 }, codeCenter, finding.Warning, "/tiles/0/center", "outside"},
		{"negative size", func(m *Manifest) { m.Tiles[0].FileSizeBytes = -1 }, codeFileSize, finding.Error, "/tiles/0/file_size_bytes", ""},
		{"negative geometry of a level", func(m *Manifest) { m.Tiles[0].HLODLevels[0].GeometryBytes = -1 }, codeFileSize, finding.Error, "/tiles/0/hlod_levels/0/geometry_bytes", ""},
		{"zero size", func(m *Manifest) { m.Tiles[0].FileSizeBytes = 0 }, codeFileSize, finding.Warning, "/tiles/0/file_size_bytes", ""},
		{"no hash", func(m *Manifest) { m.Tiles[0].SHA256 = strings.Repeat("A", 64) }, codeFileHash, finding.Error, "/tiles/0/sha256", ""},
		{"escaping tile", func(m *Manifest) { m.Tiles[0].Path = "../a" }, codePathEscapes, finding.Error, "/tiles/0/path_relative_to_manifest", `".."`},
		{"escaping level", func(m *Manifest) { m.Tiles[0].LODLevels[0].Path = `c:\a` }, codePathEscapes, finding.Error, "/tiles/0/lod_levels/0/path", "backslash"},
		{"repeated path", func(m *Manifest) { m.Tiles[1].Path = "tiles/A.untold" }, codeDuplicatePath, finding.Warning, "/tiles/1/path_relative_to_manifest", "/tiles/0"},
		{"two hlods", func(m *Manifest) {
			m.Tiles[0].HLODLevels = append(m.Tiles[0].HLODLevels, Level{Path: "x", SwitchDistance: 73})
		}, codeLevels, finding.Warning, "/tiles/0/hlod_levels", ""},
		{"unsorted lods", func(m *Manifest) {
			m.Tiles[0].LODLevels = append(m.Tiles[0].LODLevels, Level{Path: "x", SwitchDistance: 51})
		}, codeLevels, finding.Warning, "/tiles/0/lod_levels", "ascending"},
		{"bucket radii", func(m *Manifest) {
			m.SharedBucket = &SharedBucket{Tile: Tile{ID: "s", Path: "s", FileSizeBytes: 1, StreamingRadius: new(9.0), UnloadRadius: new(8.0)}}
		}, codeRadii, finding.Error, "/shared_bucket", ""},
		{"bucket prefetch", func(m *Manifest) {
			m.StreamingDefaults.PrefetchRadius = new(60.0)
			m.SharedBucket = &SharedBucket{Tile: Tile{ID: "s", Path: "s", FileSizeBytes: 1}}
		}, codeSharedPrefetch, finding.Warning, "/shared_bucket", "60"},
		{"default radii", func(m *Manifest) {
			m.StreamingDefaults.UnloadRadius = 50
			for i := range m.Tiles {
				m.Tiles[i].UnloadRadius = new(75.0)
			}
		}, codeRadii, finding.Error, "/streaming_defaults", ""},
		{"tile radii", func(m *Manifest) {
			m.Tiles[1].UnloadRadius = new(10.0)
			m.Tiles[1].HLODLevels, m.Tiles[1].LODLevels = nil, nil
		}, codeRadii, finding.Error, "/tiles/1", "10 m"},
		{"bands", func(m *Manifest) {
			for i := range m.Tiles {
				m.Tiles[i].HLODLevels[0].SwitchDistance = 300
			}
		}, codeBands, finding.Warning, "/tiles/0", "hlod 300, lod 56.89) to (streaming 50, unload 75, hlod 74, lod 56.89), and for 1 more tile"},
		{"lod inside", func(m *Manifest) {
			for i := range m.Tiles {
				m.Tiles[i].LODLevels[0].SwitchDistance = 20
			}
		}, codeLODInside, finding.Warning, "/tiles/0/lod_levels", "20 m"},
		{"query ceiling", func(m *Manifest) { m.Tiles[1].UnloadRadius = &far }, codeQueryCeiling, finding.Warning, "/tiles/1/unload_radius", "501"},
		{"query ceiling of the defaults", func(m *Manifest) { m.StreamingDefaults.UnloadRadius = far }, codeQueryCeiling, finding.Warning, "/streaming_defaults/unload_radius", "2 unload radii"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := clean()
			c.change(m)
			found := Validate(m, "", ValidateOptions{})
			if len(found) != 1 {
				t.Fatalf("got %v", found)
			}
			f := found[0]
			if f.Code != c.code || f.Severity != c.severity || f.Pointer != c.pointer || !strings.Contains(f.Message, c.message) {
				t.Errorf("got %v", f)
			}
			if f.Offset != -1 || f.Hint == "" {
				t.Errorf("got %v", f)
			}
		})
	}
}

func TestValidateZeroSwitchDistance(t *testing.T) {
	m := clean()
	m.Tiles[0].LODLevels[0].SwitchDistance = 0
	for _, f := range Validate(m, "", ValidateOptions{}) {
		if f.Code == codeLevels && f.Pointer == "/tiles/0/lod_levels/0/switch_distance" {
			return
		}
	}
	t.Error("not reported")
}

// cooked writes a manifest with its files.
func cooked(t *testing.T) (dir, path string, m *Manifest) {
	t.Helper()
	dir = t.TempDir()
	m = clean()
	put := func(rel string, size *int64, sum *string) {
		file := testfile.Write(t, filepath.Join(dir, filepath.FromSlash(rel)), "data "+rel)
		var err error
		if *size, *sum, err = hashOf(file); err != nil {
			t.Fatal(err)
		}
	}
	for i := range m.Tiles {
		tile := &m.Tiles[i]
		put(tile.Path, &tile.FileSizeBytes, &tile.SHA256)
		for _, l := range []*Level{&tile.HLODLevels[0], &tile.LODLevels[0]} {
			put(l.Path, &l.FileSizeBytes, &l.SHA256)
		}
	}
	path = filepath.Join(dir, "scene.json")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	return dir, path, m
}

func TestValidateFiles(t *testing.T) {
	files := ValidateOptions{CheckFiles: true}
	dir, path, _ := cooked(t)
	if found, err := ValidateFile(path, files); err != nil || len(found) > 0 {
		t.Fatal(found, err)
	}
	expect := func(opts ValidateOptions, want ...string) {
		t.Helper()
		found, err := ValidateFile(path, opts)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := os.ReadFile(path)
		var got []string
		for _, f := range found {
			got = append(got, fmt.Sprint(f.Code, " ", f.Pointer))
			// The offset is that of the value.
			key := f.Pointer[strings.LastIndexByte(f.Pointer, '/')+1:]
			if before := string(text[:f.Offset]); !strings.HasSuffix(before, `"`+key+`": `) {
				t.Errorf("%v: the text before byte %d is %s", f.Pointer, f.Offset, before[max(0, len(before)-40):])
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	}
	testfile.Write(t, filepath.Join(dir, "tiles", "a.untold"), "Data tiles/a.untold")
	expect(files, "file-hash /tiles/0/sha256")
	expect(ValidateOptions{CheckFiles: true, SkipHashes: true})
	expect(ValidateOptions{})
	testfile.Write(t, filepath.Join(dir, "tiles", "a.untold"), "short")
	expect(files, "file-size /tiles/0/file_size_bytes")
	if err := os.Remove(filepath.Join(dir, "tiles", "b_lod1.untold")); err != nil {
		t.Fatal(err)
	}
	expect(files, "file-size /tiles/0/file_size_bytes", "file-missing /tiles/1/lod_levels/0/path")
	if err := os.Mkdir(filepath.Join(dir, "tiles", "b_lod1.untold"), 0o755); err != nil {
		t.Fatal(err)
	}
	expect(files, "file-size /tiles/0/file_size_bytes", "file-access /tiles/1/lod_levels/0/path")
	if runtime.GOOS != "windows" {
		outside := testfile.Write(t, filepath.Join(t.TempDir(), "x"), "x")
		if err := os.Remove(filepath.Join(dir, "tiles", "b_lod1.untold")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, filepath.Join(dir, "tiles", "b_lod1.untold")); err != nil {
			t.Fatal(err)
		}
		expect(files, "file-size /tiles/0/file_size_bytes", "path-escapes /tiles/1/lod_levels/0/path")
	}
}

// TestValidateGrade: the file of the colour table is there, is one, and has the size
// that the manifest says.
func TestValidateGrade(t *testing.T) {
	dir, path, m := cooked(t)
	m.ColorGradeLUT = &GradeLUT{URI: "tiles/look.cube", Size: 2}
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ text, code, pointer string }{
		{"", "file-missing", "/colorGradeLUT/lutUri"},
		{"LUT_1D_SIZE 2\n0 0 0\n1 1 1\n", "", ""},
		{"LUT_1D_SIZE 3\n0 0 0\n1 1 1\n1 1 1\n", "manifest-color-table", "/colorGradeLUT/lutSize"},
		{"LUT_1D_SIZE 3\n0 0 0\n", "manifest-color-table", "/colorGradeLUT/lutUri"},
	} {
		if tc.text != "" {
			testfile.Write(t, filepath.Join(dir, "tiles", "look.cube"), tc.text)
		}
		found, err := ValidateFile(path, ValidateOptions{CheckFiles: true})
		switch {
		case err != nil:
			t.Fatal(err)
		case tc.code == "" && len(found) > 0,
			tc.code != "" && (len(found) != 1 || string(found[0].Code) != tc.code || found[0].Pointer != tc.pointer):
			t.Errorf("%q: %v", tc.text, found)
		}
	}
}

func TestValidateDryRunHasNoFiles(t *testing.T) {
	m := clean()
	m.DryRun = true
	for i := range m.Tiles {
		m.Tiles[i].FileSizeBytes = 0
	}
	if found := Validate(m, t.TempDir(), ValidateOptions{}); len(found) > 0 {
		t.Error(found)
	}
	found := Validate(m, t.TempDir(), ValidateOptions{CheckFiles: true})
	if len(found) != 1 || found[0].Severity != finding.Info || found[0].Code != codeDryRun {
		t.Error(found)
	}
}

func TestValidateMissingFolder(t *testing.T) {
	found := Validate(clean(), filepath.Join(t.TempDir(), "none"), ValidateOptions{CheckFiles: true})
	if len(found) != 1 || found[0].Code != codeFileAccess {
		t.Error(found)
	}
	if _, err := ValidateFile(filepath.Join(t.TempDir(), "none.json"), ValidateOptions{}); !os.IsNotExist(err) && err == nil {
		t.Error(err)
	}
}

func TestValidateBytesGoesOnAfterErrors(t *testing.T) {
	data := edit(t, `[0, 1, 2]`, `[0, "1", 2]`)
	data = bytes.Replace(data, []byte(`"version": 1`), []byte(`"version": null`), 1)
	data = bytes.Replace(data, []byte(`"tile_id": "b", `), nil, 1)
	data = bytes.Replace(data, []byte(`"center": [1.5, 2.5, 3.5]}`), []byte(`"center": [1.5, 2.5, 3.5]`), 1)
	var got []string
	found := ValidateBytes(data, "", ValidateOptions{})
	for _, f := range found {
		got = append(got, fmt.Sprint(f.Code, " ", f.Pointer))
	}
	want := []string{"manifest-missing-key /version", "manifest-wrong-type /tiles/0/bounds/min/1", "manifest-syntax /tiles/0/center"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if !strings.Contains(found[1].Message, "line 9, column 28") || found[1].Offset != 391 {
		t.Error(found[1])
	}
}

func TestValidateBytesPointsIntoTheText(t *testing.T) {
	// The first tile is left out, so the second is tile 0 of the manifest.
	data := edit(t, `[0, 1, 2]`, `[]`)
	data = bytes.Replace(data, []byte(`"tile_id": "b"`), []byte(`"tile_id": ""`), 1)
	found := ValidateBytes(data, "", ValidateOptions{})
	if len(found) != 2 || found[0].Code != codeShortVector || found[0].Pointer != "/tiles/0" ||
		found[1].Code != codeTileID || found[1].Pointer != "/tiles/1/tile_id" {
		t.Fatal(found)
	}
	if at := bytes.Index(data, []byte(`"tile_id": ""`)) + len(`"tile_id": `); found[1].Offset != int64(at) {
		t.Errorf("offset %d, want %d", found[1].Offset, at)
	}
	if found[0].Offset != int64(bytes.Index(data, []byte(`{"tile_id": "a"`))) {
		t.Errorf("offset %d", found[0].Offset)
	}
}

func TestValidateOffsetOfAnAbsentKey(t *testing.T) {
	data := edit(t, `50`, `80`) // unload is 75.5
	found := ValidateBytes(append([]byte("\ufeff"), data...), "", ValidateOptions{})
	if len(found) == 0 || found[0].Code != codeRadii || found[0].Offset != int64(bytes.Index(data, []byte(`{"streaming_radius"`)))+3 {
		t.Error(found)
	}
	if found := ValidateBytes([]byte(`{"version": 4, "tiles": [], "streaming_defaults": {"streaming_radius": 1, "unload_radius": 9, "priority": 1}}`), "", ValidateOptions{}); len(found) != 2 || found[0].Offset != 0 || found[1].Offset != 24 {
		t.Error(found)
	}
}

func TestValidateMaxPerCode(t *testing.T) {
	m := clean()
	for range 10 {
		m.Tiles = append(m.Tiles, m.Tiles[0])
		m.Tiles[len(m.Tiles)-1].Path = fmt.Sprintf("p%d", len(m.Tiles))
		m.Tiles[len(m.Tiles)-1].HLODLevels, m.Tiles[len(m.Tiles)-1].LODLevels = nil, nil
	}
	found := Validate(m, "", ValidateOptions{MaxPerCode: 3})
	if len(found) != 4 || found[3].Code != codeTruncated || !strings.Contains(found[3].Message, "7 more findings of tile-duplicate-id") {
		t.Error(found)
	}
}

func TestFindingText(t *testing.T) {
	f := newFinding(codeBounds, "/tiles/0/bounds", 12, "a\nb")
	if got := f.String(); got != "error tile-bounds: /tiles/0/bounds at byte 12: a b (write min <= max on every axis)" {
		t.Error(got)
	}
	b, err := json.Marshal([]finding.Finding{f, newFinding(codeMode, "", -1, "m")})
	want := `[{"code":"tile-bounds","severity":"error","message":"a\nb","hint":"write min \u003c= max on every axis","chunk":null,"record":null,"offset":12,"pointer":"/tiles/0/bounds"},` +
		`{"code":"manifest-mode","severity":"warning","message":"m","hint":"` + rules[codeMode].hint + `","chunk":null,"record":null,"offset":null}]`
	if err != nil || string(b) != want {
		t.Errorf("%s %v", b, err)
	}
	if finding.Info.String() != "info" {
		t.Error(finding.Info)
	}
	for code, r := range rules {
		if code == "" || r.hint == "" {
			t.Errorf("%q has no hint", code)
		}
	}
}

// The golden manifests come from a planning run of the reference: their only
// defects are those of its distances.
func TestValidateGolden(t *testing.T) {
	for _, name := range goldenManifests {
		for _, f := range ValidateBytes(vector(t, name), "", ValidateOptions{}) {
			if f.Severity == finding.Error || f.Offset < 0 {
				t.Errorf("%s: %v", name, f)
			}
		}
	}
}

// hashOf returns the size and the SHA-256, in lower-case hexadecimal digits,
// of a payload file, as the manifest declares them. It reads the file in
// pieces.
func hashOf(path string) (size int64, sum string, err error) {
	f, _, err := plainfile.Open(path)
	if err != nil {
		return 0, "", fmt.Errorf("manifest: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if size, err = io.Copy(h, f); err != nil {
		return 0, "", fmt.Errorf("manifest: hash %s: %w", path, err)
	}
	return size, hex.EncodeToString(h.Sum(nil)), nil
}
