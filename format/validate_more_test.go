package format

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/format/records"
)

// finds fails unless a report has a finding of a code, at an offset.
func finds(t *testing.T, what string, r *Report, code finding.Code, severity finding.Severity, offset int64) {
	t.Helper()
	for _, f := range r.Findings {
		if f.Code == code && f.Severity == severity && f.Offset == offset {
			if f.Hint == "" || f.Message == "" {
				t.Errorf("%s: no message or hint: %+v", what, f)
			}
			return
		}
	}
	t.Errorf("%s: no %v %s at 0x%x: %+v", what, severity, code, offset, r.Findings)
}

// The boxes of an entity are those of its meshes' stored positions, in its own
// space and in the world.
func TestValidateEntityBoxes(t *testing.T) {
	const ent = 0x210 // in the triangle's file
	good := mustEncode(t, triangleFile(t), ModeNone)
	for _, c := range []struct {
		name     string
		at       int
		v        float32
		code     finding.Code
		severity finding.Severity
		offset   int64
	}{
		{"local box small", ent + 36, .5, codeBoundsOutside, finding.Error, ent + 24},
		{"local box loose", ent + 36, 5, codeBoundsLoose, finding.Warning, ent + 24},
		{"world box small", ent + 60, .5, codeBoundsOutside, finding.Error, ent + 48},
		{"world box loose", ent + 60, 5, codeBoundsLoose, finding.Warning, ent + 48},
		{"scaled out of single precision", ent + 72, math.MaxFloat32, codeNotFinite, finding.Error, ent + 72},
		{"moved far away", ent + 72 + 48, math.MaxFloat32, codeBoundsOutside, finding.Error, ent + 48},
	} {
		data := patch(good, c.at, math.Float32bits(c.v))
		if c.name == "scaled out of single precision" {
			data = patch(data, 0x370+32, f32(2)) // a vertex at x = 2
		}
		finds(t, c.name, validateBytes(data, ValidateOptions{}), c.code, c.severity, c.offset)
	}
	// A box that another writer rounded its own way is no finding.
	r := validateBytes(patch(good, ent+36, math.Float32bits(math.Nextafter32(1, 2))), ValidateOptions{})
	if codes := append(codes(r, finding.Error), codes(r, finding.Warning)...); slices.Contains(codes, codeBoundsLoose) || slices.Contains(codes, codeBoundsOutside) {
		t.Errorf("a last place: %v", codes)
	}
}

// An entity of several meshes has the box of all of them, and it is compared
// with all of them at once.
func TestValidateBoxesOfSeveralMeshes(t *testing.T) {
	merged := func() *File {
		f := gridFile(t, 2, 4)
		f.Entities[0].MeshCount = 2
		f.Entities[0].LocalBounds = f.Entities[0].LocalBounds.Union(f.Entities[1].LocalBounds)
		f.Entities[0].WorldBounds = f.Entities[0].LocalBounds
		f.Meshes[1].EntityID = 0
		f.Entities = f.Entities[:1]
		return f
	}
	r := validateBytes(mustEncode(t, merged(), ModeNone), ValidateOptions{})
	if n := r.Errors + r.Warnings; n != 0 {
		t.Errorf("faultless: %+v", r.Findings)
	}
	for name, change := range map[string]func(e *records.Entity){
		"local": func(e *records.Entity) { e.LocalBounds.Max[1] += 9 },
		"world": func(e *records.Entity) { e.WorldBounds.Max[1] += 9 },
	} {
		f := merged()
		change(&f.Entities[0])
		r := validateBytes(mustEncode(t, f, ModeNone), ValidateOptions{})
		if !slices.Contains(codes(r, finding.Warning), codeBoundsLoose) {
			t.Errorf("%s: %+v", name, r.Findings)
		}
	}
}

// Numbers whose product is out of range do not switch checks off.
func TestValidateTransformsOutOfRange(t *testing.T) {
	const depth = 12
	f := gridFile(t, depth, 3)
	for i := range f.Entities {
		for k := range 3 {
			f.Entities[i].LocalTransform[5*k] = math.MaxFloat32
		}
		if i > 0 {
			f.Entities[i].ParentID = f.Entities[i-1].ID
		}
	}
	r := validateBytes(mustEncode(t, f, ModeNone), ValidateOptions{MaxPerCode: -1})
	far := map[int]bool{}
	for _, x := range r.Findings {
		if x.Code == codeNotFinite || x.Code == codeBoundsOutside {
			far[x.Record] = true
		}
	}
	if len(far) != depth {
		t.Errorf("%d of %d entities are found: %+v", len(far), depth, r.Findings)
	}
}

// Instances are all looked at, however many share a mesh.
func TestValidateManyInstances(t *testing.T) {
	data := instances(t, 20000)
	if r := validateBytes(data, ValidateOptions{}); r.Errors+r.Warnings != 0 {
		t.Fatalf("faultless: %+v", r.Findings)
	}
	le := binary.LittleEndian
	entities := int(le.Uint64(data[records.HeaderSize+records.ChunkSize+8:]))
	last := entities + 19999*records.EntitySize
	r := validateBytes(patch(data, last+60, f32(-1e6)), ValidateOptions{})
	if !slices.Contains(codes(r, finding.Error), codeBoundsInverted) {
		t.Errorf("%+v", r.Findings)
	}
	r = validateBytes(patch(data, last+48, f32(2e4+.5)), ValidateOptions{})
	finds(t, "the last of many", r, codeBoundsOutside, finding.Error, int64(last+48))
}

// Strings are well-formed whether a record names them or not.
func TestValidateStringsThatNothingNames(t *testing.T) {
	for _, c := range []struct {
		name   string
		tail   string
		code   finding.Code
		offset int // in the table; -1: no such finding
	}{
		{"plain", "spare\x00", codeStringUnused, 0},
		{"empty", "\x00", codeStringUnused, 0},
		{"unterminated", "spare", codeStringUnterminated, 0},
		{"not UTF-8", "sp\xffare\x00", codeStringUTF8, 0},
		{"cut in a rune", "x\x00caf\xc3\x00", codeStringUTF8, 2},
		{"both", "a\xffb", codeStringUTF8, 0},
	} {
		f := triangleFile(t)
		at := len(f.Strings)
		f.Strings = append(f.Strings, c.tail...)
		data := mustEncode(t, f, ModeNone)
		severity := finding.Error
		if c.code == codeStringUnused {
			severity = finding.Info
		}
		strings := int64(binary.LittleEndian.Uint64(data[records.HeaderSize+8:]))
		finds(t, c.name, validateBytes(data, ValidateOptions{}), c.code, severity, strings+int64(at+c.offset))
	}
	// What a record names has one finding, at the record.
	f := triangleFile(t)
	f.Strings[0] = 0xff
	r := validateBytes(mustEncode(t, f, ModeNone), ValidateOptions{})
	if n := codes(r, finding.Error); !slices.Equal(n, []finding.Code{codeStringUTF8}) {
		t.Errorf("%v", r.Findings)
	}
	// Where other tables cannot be read it is judged all the same.
	f = triangleFile(t)
	f.Strings = append(f.Strings, 0xff, 0)
	data := mustEncode(t, f, ModeNone)
	binary.LittleEndian.PutUint32(data[records.HeaderSize+2*records.ChunkSize+32:], 9)
	if r := validateBytes(data, ValidateOptions{}); !slices.Contains(codes(r, finding.Error), codeStringUTF8) {
		t.Errorf("%v", r.Findings)
	}
}

// What is left of a payload that is cut off is not taken for bytes that nobody
// owns: to cut those off would lose the rest.
func TestValidateCutOff(t *testing.T) {
	good := mustEncode(t, gridFile(t, 2, 4), ModeNone)
	for n := 1; n < 40; n++ {
		r := validateBytes(good[:len(good)-n], ValidateOptions{})
		errors := codes(r, finding.Error)
		if !slices.Contains(errors, codeChunkBounds) || slices.Contains(errors, codeTrailing) {
			t.Errorf("%d bytes are missing: %v", n, r.Findings)
		}
	}
	// A size that reaches beyond the file, with payloads behind.
	huge := patch(bytes.Clone(good), records.HeaderSize+2*records.ChunkSize+16, 1<<30)
	for _, f := range validateBytes(huge, ValidateOptions{}).Findings {
		if f.Code == codeGap || f.Code == codeTrailing || f.Code == codePadding {
			t.Errorf("%+v", f)
		}
	}
}

// Later generations' words are judged where they name something.
func TestValidateLaterWords(t *testing.T) {
	f := gridFile(t, 1, 3)
	f.Meshes[0].Reserved0 = 12 | 6<<32
	f.Meshes[0].EstimatedGPUBytes += 12
	data := mustEncode(t, f, ModeNone)
	at := int64(binary.LittleEndian.Uint64(data[records.HeaderSize+2*records.ChunkSize+8:])) + 72
	finds(t, "edges without a chunk", validateBytes(data, ValidateOptions{}), codeEdgeRange, finding.Warning, at)
	f.Meshes[0].Reserved0, f.Meshes[0].EstimatedGPUBytes = 12, f.Meshes[0].EstimatedGPUBytes-12
	if r := validateBytes(mustEncode(t, f, ModeNone), ValidateOptions{}); r.Errors+r.Warnings != 0 {
		t.Errorf("a running offset of no edges: %+v", r.Findings)
	}
	for _, c := range []struct {
		format records.TextureFormat
		mips   uint32
		want   []finding.Code
	}{
		{records.TextureUnknown, 1, nil},
		{records.TextureRGBA8, 7, nil},
		{records.TextureRGBA8, 8, []finding.Code{codeTextureSize}},
		{records.TextureBC7, 1, []finding.Code{codeTextureFile}},
		{records.TextureASTC4x4, 1, []finding.Code{codeTextureFile}},
	} {
		f := gridFile(t, 1, 3) // brick.png, 64 x 32
		f.Textures[0].Format, f.Textures[0].MipCount = c.format, c.mips
		if got := codes(validateBytes(mustEncode(t, f, ModeNone), ValidateOptions{}), finding.Warning); !slices.Equal(got, c.want) {
			t.Errorf("format %v, %d mips: %v, want %v", c.format, c.mips, got, c.want)
		}
	}
}

func TestHalfNotFinite(t *testing.T) {
	for lane := range 4 {
		for h := range 1 << 16 {
			want := h&0x7c00 == 0x7c00
			if got := halfNotFinite(uint64(h) << (16 * lane)); got != want {
				t.Fatalf("lane %d, half %04x: %v", lane, h, got)
			}
		}
	}
	if halfNotFinite(0x7bff_7bff_fbff_fbff) {
		t.Error("four largest halves count as infinite")
	}
}
