package format

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/format/records"

	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/testfile"
)

func TestValidateCleanFiles(t *testing.T) {
	for _, mode := range []CompressMode{ModeNone, ModeAuto, ModeLZ4} {
		data := mustEncode(t, gridFile(t, 4, 20), mode)
		if r := validateBytes(data, ValidateOptions{}); len(r.Findings) != 0 {
			t.Errorf("%v: %+v", mode, r.Findings)
		}
	}
	r := validateBytes(mustEncode(t, gridFile(t, 4, 60), ModeZstd), ValidateOptions{})
	if !r.OK() || !slices.Contains(codes(r, finding.Info), codeZstd) {
		t.Errorf("zstd: %+v", r.Findings)
	}
	if r := validateBytes(mustEncode(t, NewBuilder(FileShared).File(), ModeAuto), ValidateOptions{}); len(r.Findings) != 0 {
		t.Errorf("empty file: %+v", r.Findings)
	}
}

// f32 is the bit pattern of a float.
func f32(v float64) uint32 { return math.Float32bits(float32(v)) }

// TestValidateFinds has one row per rule that a Reader does not enforce; the
// reader's rows are in TestReaderRefuses.
func TestValidateFinds(t *testing.T) {
	good := mustEncode(t, triangleFile(t), ModeNone)
	const ent, mesh, mat, vtx, idx = 0x210, 0x2a0, 0x310, 0x370, 0x3d0
	entry := func(i, field int) int { return records.HeaderSize + i*records.ChunkSize + field }
	put16 := func(b []byte, off int, v uint16) []byte {
		c := bytes.Clone(b)
		binary.LittleEndian.PutUint16(c[off:], v)
		return c
	}
	for _, c := range []struct {
		name string
		data []byte
		want finding.Code
		sev  finding.Severity
		off  int64
	}{
		{"header size", patch(good, 20, 208), codeHeaderSize, finding.Error, 20},
		{"mesh count", patch(good, 28, 2), codeHeaderCount, finding.Error, 28},
		{"entity count", patch(good, 40, 2), codeHeaderCount, finding.Error, 40},
		{"header flags", patch(good, 16, 1), codeReserved, finding.Warning, 16},
		{"root transform", patch(good, 76, f32(2)), codeRootTransform, finding.Warning, 76},
		{"root NaN", patch(good, 76, f32(math.NaN())), codeNotFinite, finding.Error, 76},
		{"header box NaN", patch(good, 52, f32(math.NaN())), codeNotFinite, finding.Error, 52},
		{"header box small", patch(good, 64, f32(0.5)), codeBoundsOutside, finding.Error, 52},
		{"header box large", patch(good, 64, f32(5)), codeBoundsLoose, finding.Warning, 52},
		{"entry reserved", patch(good, entry(2, 36), 5), codeReserved, finding.Warning, int64(entry(2, 36))},
		{"blob elements", patch(good, entry(5, 32), 3), codeElementCount, finding.Warning, int64(entry(5, 32))},
		{"overlap", patch(good, entry(5, 8), 0x310), codeChunkOverlap, finding.Error, 0x310},
		{"padding", patch(good, 0x1e8, 7), codePadding, finding.Warning, 0x1e4},
		{"hash", patch(good, hashOffset, 1), codeHashMismatch, finding.Error, hashOffset},
		{"no hash", zeroHash(good), codeHashZero, finding.Warning, hashOffset},
		{"entity flags", patch(good, ent+20, 1), codeReserved, finding.Warning, ent + 20},
		{"world box inverted", patch(good, ent+48, f32(9)), codeBoundsInverted, finding.Error, ent + 48},
		{"world box small", patch(good, ent+60, f32(0.5)), codeBoundsOutside, finding.Error, ent + 48},
		{"singular transform", patch(good, ent+72, 0), codeEntityTransform, finding.Warning, ent + 72},
		{"transform NaN", patch(good, ent+72, f32(math.NaN())), codeNotFinite, finding.Error, ent + 72},
		{"moved entity", patch(good, ent+72+48, f32(10)), codeBoundsOutside, finding.Error, ent + 48},
		{"mesh entity", patch(good, mesh, 4), codeMeshEntity, finding.Error, mesh},
		{"orphan", patch(good, ent+16, 0), codeMeshOrphan, finding.Warning, mesh},
		{"gpu bytes", patch(good, mesh+64, 1), codeGPUBytes, finding.Warning, mesh + 64},
		{"mesh flags", patch(good, mesh+28, 1), codeReserved, finding.Warning, mesh + 28},
		{"mesh box loose", patch(good, mesh+92, f32(2)), codeBoundsLoose, finding.Warning, mesh + 80},
		{"index value", put16(good, idx+2, 9), codeIndexValue, finding.Error, idx + 2},
		{"degenerate", put16(good, idx+2, 0), codeDegenerate, finding.Info, mesh + 40},
		{"unused vertex", put16(good, idx+4, 1), codeVertexUnused, finding.Info, mesh + 16},
		{"position NaN", patch(good, vtx+32, f32(math.NaN())), codePosition, finding.Error, vtx + 32},
		{"position Inf", patch(good, vtx+64+8, f32(math.Inf(1))), codePosition, finding.Error, vtx + 64},
		{"uv Inf", put16(good, vtx+22, 0x7c00), codeUV, finding.Error, vtx + 20},
		{"normal zero", patch(good, vtx+12, 0), codeNormal, finding.Warning, vtx + 12},
		{"normal bits", patch(good, vtx+12, 0x5FF00000), codeNormalBits, finding.Warning, vtx + 12},
		{"normal -512", patch(good, vtx+12, 0x20000000), codeNormalBits, finding.Warning, vtx + 12},
		{"tangent zero", patch(good, vtx+16, 1<<30), codeTangent, finding.Warning, vtx + 16},
		{"tangent sign 0", patch(good, vtx+16, 0x1FF), codeTangentBits, finding.Warning, vtx + 16},
		{"factor NaN", patch(good, mat+8, f32(math.NaN())), codeNotFinite, finding.Error, mat + 8},
		{"factor 2", patch(good, mat+8, f32(2)), codeMaterialRange, finding.Warning, mat + 8},
		{"roughness -1", patch(good, mat+44, f32(-1)), codeMaterialRange, finding.Warning, mat + 44},
		{"black", patch(good, mat+8, 0), codeMaterialBlack, finding.Warning, mat + 8},
		{"alpha mode 3", patch(good, mat+4, 3), codeMaterialFlags, finding.Warning, mat + 4},
		{"channel bits", patch(good, mat+80, 16), codeMaterialChannels, finding.Warning, mat + 80},
		{"material unused", patch(good, mesh+8, records.NoIndex), codeMaterialUnused, finding.Info, mat},
		{"string unused", patch(good, ent+8, 4), codeStringUnused, finding.Info, 0x1f0 + 17},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := validateBytes(c.data, ValidateOptions{})
			for _, f := range r.Findings {
				if f.Code == c.want && f.Severity == c.sev && f.Offset == c.off {
					if f.Hint == "" || f.Message == "" {
						t.Errorf("no message or hint: %+v", f)
					}
					return
				}
			}
			t.Errorf("want %v %s at 0x%x, got %+v", c.sev, c.want, c.off, r.Findings)
		})
	}
}

func zeroHash(b []byte) []byte {
	c := bytes.Clone(b)
	clear(c[hashOffset : hashOffset+hashSize])
	return c
}

func TestValidateTextures(t *testing.T) {
	for uri, want := range map[string]finding.Code{
		"Textures/ok file.png":    "",
		"../up.png":               codeTextureEscape,
		"a/../../up.png":          codeTextureEscape,
		"/abs.png":                codeTextureEscape,
		`Textures\win.png`:        codeTextureEscape,
		"C:/x.png":                codeTextureEscape,
		"https://example/x.png":   codeTextureEscape,
		"Textures/\x01.png":       codeTextureEscape,
		".":                       codeTextureEscape,
		"Textures/../fine.png":    "",
		"Textures/percent%20.png": "",
		"":                        codeTextureURI,
	} {
		b := NewBuilder(FileTile)
		m := gridFile(t, 1, 3).Materials[1]
		m.BaseColorTexture = b.AddTexture("x", uri, records.Texture{Width: 1, Height: 1, MipCount: 1})
		i := b.AddMaterial("m", m)
		vs := vertex.Append(nil, make([]vertex.Vertex, 3))
		if err := b.AddObject(Object{Name: "o", MeshName: "o", Material: i, Vertices: vs, Indices: []uint32{0, 1, 2}}); err != nil {
			t.Fatal(err)
		}
		data := mustEncode(t, b.File(), ModeNone)
		got := codes(validateBytes(data, ValidateOptions{}), finding.Error)
		if want == "" && len(got) > 0 || want != "" && !slices.Contains(got, want) {
			t.Errorf("uri %q: %v, want %q", uri, got, want)
		}
	}
}

func TestValidateFileLooksForTextures(t *testing.T) {
	dir := t.TempDir()
	path := testfile.Write(t, filepath.Join(dir, "grid.untold"), mustEncode(t, gridFile(t, 2, 4), ModeNone))
	missing := func() int {
		r, err := ValidateFile(path, ValidateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return len(codes(r, finding.Warning))
	}
	if n := missing(); n != 2 {
		t.Errorf("%d textures are reported missing, want 2", n)
	}
	if err := os.MkdirAll(filepath.Join(dir, "Textures"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"brick.png", "brick_n.png"} {
		testfile.Write(t, filepath.Join(dir, "Textures", f), "")
	}
	if n := missing(); n != 0 {
		t.Errorf("%d textures are reported missing, all are there", n)
	}
}

// TestValidateCollectsAll makes several faults at once.
func TestValidateCollectsAll(t *testing.T) {
	data := mustEncode(t, triangleFile(t), ModeNone)
	data = patch(data, 28, 7)                  // header count
	data = patch(data, 0x2a0+8, 99)            // material
	data = patch(data, 0x210+8, 5000)          // string
	data = patch(data, 0x370, f32(math.NaN())) // position
	data = append(data, 1, 2, 3)
	got := codes(validateBytes(data, ValidateOptions{}), finding.Error)
	for _, want := range []finding.Code{codeHeaderCount, codeMeshMaterial, codeStringBounds, codePosition, codeTrailing, codeHashMismatch} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing in %v", want, got)
		}
	}
}

func TestValidateRanges(t *testing.T) {
	f := gridFile(t, 3, 10)
	f.Meshes[1].VertexOffset -= 32
	f.Meshes[1].IndexOffset = f.Meshes[0].IndexOffset // shared whole: fine
	r := validateBytes(mustEncode(t, f, ModeNone), ValidateOptions{})
	got := codes(r, finding.Warning)
	if !slices.Contains(got, codeRangeOverlap) || !slices.Contains(got, codeRangeUnused) {
		t.Errorf("partial overlap and unused geometry: %+v", r.Findings)
	}
	for _, x := range r.Findings {
		if x.Code == codeRangeOverlap && strings.Contains(x.Message, "INDEX_DATA") {
			t.Errorf("a shared range is no overlap: %+v", x)
		}
	}
}

func TestValidateHierarchy(t *testing.T) {
	f := gridFile(t, 4, 4)
	f.Entities[0].ParentID = 1
	f.Entities[1].ParentID = 2
	f.Entities[2].ParentID = 0
	f.Entities[3].ParentID = 3
	r := validateBytes(mustEncode(t, f, ModeNone), ValidateOptions{})
	n := 0
	for _, c := range codes(r, finding.Error) {
		if c == codeEntityCycle {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d cycles found, want 2: %+v", n, r.Findings)
	}

	// A chain of transforms moves the mesh; its world box has to follow.
	f = gridFile(t, 2, 4)
	f.Entities[0].MeshCount, f.Entities[0].FirstMesh = 0, 0
	f.Entities[0].LocalTransform[12] = 100
	f.Meshes = f.Meshes[1:]
	f.Meshes[0].EntityID = 1
	f.Entities[1].FirstMesh, f.Entities[1].ParentID = 0, 0
	f.Entities[1].LocalTransform[13] = 7
	for i, d := range []float32{100, 7, 0} {
		f.Entities[1].WorldBounds.Min[i] += d
		f.Entities[1].WorldBounds.Max[i] += d
	}
	r = validateBytes(mustEncode(t, f, ModeNone), ValidateOptions{})
	for _, x := range r.Findings {
		if x.Code == codeBoundsOutside || x.Code == codeBoundsLoose {
			t.Errorf("the moved box is right, but: %+v", x)
		}
	}
}

func TestFindingsAreCapped(t *testing.T) {
	f := gridFile(t, 26, 3)
	for i := range f.Meshes {
		f.Meshes[i].Flags = 1
	}
	data := mustEncode(t, f, ModeNone)
	r := validateBytes(data, ValidateOptions{MaxPerCode: 5})
	if len(r.Findings) != 6 || r.Warnings != 26 {
		t.Errorf("%d findings, %d warnings", len(r.Findings), r.Warnings)
	}
	if r := validateBytes(data, ValidateOptions{MaxPerCode: -1}); len(r.Findings) != 26 {
		t.Errorf("%d findings without a limit", len(r.Findings))
	}
}

func TestEveryCodeHasARule(t *testing.T) {
	if len(Rules()) < 60 {
		t.Errorf("only %d rules", len(Rules()))
	}
	for _, r := range Rules() {
		if r.Hint == "" {
			t.Errorf("%s has no hint", r.Code)
		}
	}
	doc := testfile.Read(t, filepath.Join("..", "docs", "findings.md"))
	for _, r := range Rules() {
		if !bytes.Contains(doc, []byte("| `"+string(r.Code)+"` | "+r.Severity.String()+" |")) {
			t.Errorf("docs/findings.md lacks the row of %s (%s)", r.Code, r.Severity)
		}
	}
}

func TestFindingJSON(t *testing.T) {
	b, err := json.Marshal(finding.Finding{Code: codeMagic, Record: -1, Offset: 0, Message: "m", Hint: "h"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"code":"invalid-magic","severity":"error","message":"m","hint":"h","chunk":null,"record":null,"offset":0}`
	if string(b) != want {
		t.Errorf("got %s", b)
	}
}
