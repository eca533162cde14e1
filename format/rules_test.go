package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/format/records"

	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/testfile"
)

// producers make the findings that no single changed word of a small file
// brings about.
func producers(t *testing.T) map[finding.Code][]byte {
	t.Helper()
	encode := func(change func(f *File), mode CompressMode) []byte {
		f := gridFile(t, 3, 20)
		change(f)
		return mustEncode(t, f, mode)
	}
	good := mustEncode(t, triangleFile(t), ModeNone)
	le := binary.LittleEndian

	// Two swapped payload offsets: the tables of meshes and of materials.
	order := bytes.Clone(good)
	e := func(i int) []byte { return order[records.HeaderSize+i*records.ChunkSize:][:records.ChunkSize] }
	first, second := bytes.Clone(e(2)), bytes.Clone(e(3))
	copy(order[0x2a0:], good[0x310:0x310+88])
	copy(order[0x310:], good[0x2a0:0x2a0+104])
	le.PutUint64(e(2)[8:], le.Uint64(second[8:]))
	le.PutUint64(e(3)[8:], le.Uint64(first[8:]))

	// A stored string table of zero bytes that calls itself lz4.
	packed := bytes.Clone(good)
	le.PutUint32(packed[records.HeaderSize+4:], uint32(CompressLZ4))
	gap := append(bytes.Clone(good), make([]byte, 64)...)
	le.PutUint64(gap[records.HeaderSize+6*records.ChunkSize+8:], 0x3f0)

	unsized := encode(func(f *File) {}, ModeZstd)
	le.PutUint64(unsized[records.HeaderSize+5*records.ChunkSize+24:], 1<<60)
	decoded := encode(func(f *File) {}, ModeZstd)
	le.PutUint64(decoded[records.HeaderSize+5*records.ChunkSize+24:], le.Uint64(decoded[records.HeaderSize+5*records.ChunkSize+24:])+vertex.Size)

	// A material record of version 3 behind the other payloads.
	height := append(bytes.Clone(good), make([]byte, 0x3e0+100-len(good))...)
	copy(height[0x3e0:], good[0x310:0x310+80])
	le.PutUint32(height[0x3e0+80:], 7)
	le.PutUint32(height[8:], 3)
	entry := height[records.HeaderSize+3*records.ChunkSize:]
	le.PutUint64(entry[8:], 0x3e0)
	le.PutUint64(entry[16:], 100)
	le.PutUint64(entry[24:], 100)

	return map[finding.Code][]byte{
		codeHeightTexture: height,
		codeGroupBounds: encode(func(f *File) {
			f.Entities[0].MeshCount, f.Entities[1].ParentID = 0, 0
		}, ModeNone),
		codeChunkOrder:         order,
		codeMetadataCompressed: packed,
		codeHashZero:           zeroHash(good),
		codeGap:                gap,
		codeTooLarge:           unsized,
		codeDecodedSize:        decoded,
		codeZstd:               encode(func(f *File) {}, ModeZstd),
		codeDelta:              encode(func(f *File) {}, ModeDelta),
		codeTrailing:           append(bytes.Clone(good), 1),
		codeEntityDuplicate:    encode(func(f *File) { f.Entities[1].ID = f.Entities[0].ID }, ModeNone),
		codeEntityOrder:        encode(func(f *File) { f.Entities[0].ParentID = 1 }, ModeNone),
		codeEntityCycle:        encode(func(f *File) { f.Entities[0].ParentID = 0 }, ModeNone),
		codeRangeOverlap:       encode(func(f *File) { f.Meshes[1].VertexOffset -= vertex.Size }, ModeNone),
		codeFindingsSuppressed: encode(func(f *File) {
			for i := range f.Meshes {
				f.Meshes[i].Flags = 1
			}
		}, ModeNone),
		codeTextureUnused: encode(func(f *File) { f.Materials[0].BaseColorTexture = records.NoIndex }, ModeNone),
		codeTextureEscape: bytes.Replace(encode(func(*File) {}, ModeNone), []byte("Textures/brick.png"), []byte("../tures/brick.png"), 1),
	}
}

// instances is a file in which so many entities move one mesh.
func instances(t *testing.T, n int) []byte {
	t.Helper()
	b := NewBuilder(FileTile)
	vertices, indices := bytes.Clone(triangleFile(t).Vertices), []uint32{0, 1, 2}
	for i := range n {
		o := Object{Name: "o", MeshName: "m", Material: records.NoIndex, Vertices: vertices, Indices: indices, Transform: identity}
		o.Transform[12] = float32(i + 1)
		var err error
		if i == 0 {
			err = b.AddObject(o)
		} else {
			err = b.AddInstance(0, o)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return mustEncode(t, b.File(), ModeNone)
}

type failingReader struct{}

func (failingReader) ReadAt([]byte, int64) (int, error) { return 0, errors.New("unplugged") }

// TestEveryCodeIsProduced changes every word of two small files, and what
// producers lists: no rule may be out of reach.
func TestEveryCodeIsProduced(t *testing.T) {
	seen := map[finding.Code]bool{}
	note := func(r *Report) {
		for _, f := range r.Findings {
			seen[f.Code] = true
			if f.Hint == "" || f.Message == "" {
				t.Fatalf("no message or hint: %+v", f)
			}
		}
	}
	values := []uint32{0, 1, 2, 3, 4, 7, 9, 99, 0x200, f32(-1), f32(5), f32(100), 0x7c007c00, 0x7fc00000, 0x7fffffff, 0x80000000, records.NoIndex - 1, records.NoIndex}
	for _, data := range [][]byte{mustEncode(t, triangleFile(t), ModeNone), mustEncode(t, gridFile(t, 1, 2), ModeNone)} {
		for off := 0; off+4 <= len(data); off += 2 {
			for _, v := range values {
				note(validateBytes(patch(data, off, v), ValidateOptions{}))
			}
		}
		for n := range data {
			note(validateBytes(data[:n], ValidateOptions{}))
		}
	}
	for code, data := range producers(t) {
		r := validateBytes(data, ValidateOptions{MaxPerCode: 2})
		if !slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Code == code }) {
			t.Errorf("%s: %+v", code, r.Findings)
		}
		note(r)
	}
	note(validateBytes(instances(t, 1000), ValidateOptions{leastWork: 1}))
	note(Validate(failingReader{}, 4096, ValidateOptions{}))
	path := testfile.Write(t, filepath.Join(t.TempDir(), "grid.untold"), mustEncode(t, gridFile(t, 1, 2), ModeNone))
	r, err := ValidateFile(path, ValidateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	note(r)
	for _, r := range Rules() {
		if !seen[r.Code] {
			t.Errorf("nothing produces %q", r.Code)
		}
	}
}
