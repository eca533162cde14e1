package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/testfile"
	"pgregory.net/rapid"
)

var allModes = []CompressMode{ModeAuto, ModeNone, ModeLZ4, ModeZstd, ModeDelta}

// open variants: every way to reach the same bytes.
func openers(t *testing.T, data []byte) map[string]func() (*Reader, error) {
	path := testfile.Write(t, filepath.Join(t.TempDir(), "tile.untold"), data)
	return map[string]func() (*Reader, error){
		"bytes":    func() (*Reader, error) { return NewBytesReader(data) },
		"readerAt": func() (*Reader, error) { return NewReader(newReaderAt(data), int64(len(data))) },
		"file":     func() (*Reader, error) { return Open(path) },
		"mapped":   func() (*Reader, error) { return Open(path, WithMapping(), VerifyOnOpen()) },
	}
}

func TestRoundTrip(t *testing.T) {
	want := gridFile(t, 5, 20)
	for _, mode := range allModes {
		data := mustEncode(t, want, mode)
		for name, open := range openers(t, data) {
			t.Run(mode.String()+"/"+name, func(t *testing.T) {
				r, err := open()
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				checkSameFile(t, r, want)
				if err := r.VerifyHash(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func checkSameFile(t *testing.T, r *Reader, want *File) {
	t.Helper()
	g, err := r.ReadGeometry(Geometry{})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(g.Vertices, want.Vertices) || !bytes.Equal(g.Indices, want.Indices) {
		t.Error("geometry differs")
	}
	if d := cmp.Diff(want.Meshes, r.Meshes()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want.Entities, r.Entities()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want.Textures, r.Textures()); d != "" {
		t.Error(d)
	}
	for i, m := range r.Meshes() {
		v, err := r.MeshVertices(i, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(v, want.Vertices[m.VertexOffset:][:m.VertexSize]) {
			t.Errorf("vertices of mesh %d differ", i)
		}
		x, err := r.MeshIndices(i, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(x, want.Indices[m.IndexOffset:][:m.IndexSize]) {
			t.Errorf("indices of mesh %d differ", i)
		}
	}
	if got := r.String(r.Entities()[1].NameOffset); got != "Grid_B" {
		t.Errorf("name of entity 1 is %q", got)
	}
	if got := r.String(records.NoIndex); got != "" {
		t.Errorf("string at NoIndex is %q", got)
	}
}

func TestEncodeIsDeterministic(t *testing.T) {
	for _, mode := range allModes {
		first := mustEncode(t, gridFile(t, 4, 30), mode)
		mustEncode(t, gridFile(t, 2, 40), mode) // dirty the pooled codecs
		var buf bytes.Buffer
		n, err := gridFile(t, 4, 30).WriteTo(&buf, WriteOptions{Compress: mode})
		if err != nil || n != int64(len(first)) || !bytes.Equal(first, buf.Bytes()) {
			t.Errorf("%v: second encoding differs (n = %d, %v)", mode, n, err)
		}
	}
}

func TestAutoCompression(t *testing.T) {
	r, err := NewBytesReader(mustEncode(t, gridFile(t, 3, 60), ModeAuto))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Chunks() {
		switch {
		case !c.Type.isGeometry() && c.Compression != CompressNone:
			t.Errorf("%v is compressed", c.Type)
		case c.Compression == CompressLZ4 && float64(c.CompressedSize) >= 0.97*float64(c.UncompressedSize):
			t.Errorf("%v is stored as lz4 for a gain below 3 %%", c.Type)
		case c.Compression == CompressZstd, c.Compression == CompressDelta:
			t.Errorf("%v is stored as %v by mode auto", c.Type, c.Compression)
		}
	}
	empty := NewBuilder(FileShared).File()
	for _, mode := range allModes {
		r, err := NewBytesReader(mustEncode(t, empty, mode))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Chunks() {
			if c.Compression != CompressNone {
				t.Errorf("%v: empty %v is compressed", mode, c.Type)
			}
		}
	}
}

func TestReadGeometryReusesBuffers(t *testing.T) {
	data := mustEncode(t, gridFile(t, 3, 40), ModeLZ4)
	r, err := NewReader(newReaderAt(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	g, err := r.ReadGeometry(Geometry{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.ReadGeometry(g)
	if err != nil {
		t.Fatal(err)
	}
	if &again.Vertices[0] != &g.Vertices[0] || &again.Indices[0] != &g.Indices[0] {
		t.Error("buffers of sufficient size were not reused")
	}
}

func TestConcurrentReads(t *testing.T) {
	want := gridFile(t, 8, 20)
	for _, mode := range []CompressMode{ModeNone, ModeZstd} {
		data := mustEncode(t, want, mode)
		r, err := NewReader(newReaderAt(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for w := range 8 {
			wg.Go(func() {
				for k := range 40 {
					i := (w + k) % len(want.Meshes)
					m := &want.Meshes[i]
					b, err := r.MeshVertices(i, nil)
					if err != nil || !bytes.Equal(b, want.Vertices[m.VertexOffset:][:m.VertexSize]) {
						t.Errorf("mesh %d: %v", i, err)
					}
					if k%10 == 9 {
						r.dropGeometry()
					}
				}
			})
		}
		wg.Wait()
	}
}

// patch returns a copy of the triangle tile with one 32-bit word replaced.
func patch(b []byte, off int, v uint32) []byte {
	c := bytes.Clone(b)
	binary.LittleEndian.PutUint32(c[off:], v)
	return c
}

// TestReaderRefuses walks through the seed's Validation Rules and what the
// reference engine's own tests assert.
func TestReaderRefuses(t *testing.T) {
	good := mustEncode(t, triangleFile(t), ModeNone)
	lz4Tile := mustEncode(t, gridFile(t, 1, 60), ModeLZ4)
	entry := func(i, field int) int { return records.HeaderSize + i*records.ChunkSize + field }
	dropChunk := func(i int) []byte {
		return patch(good, entry(i, 0), 99)
	}
	for _, c := range []struct {
		name string
		data []byte
		want finding.Code
	}{
		{"empty", nil, codeTruncated},
		{"short", good[:100], codeTruncated},
		{"other file", []byte("glTF and so on, not one of ours"), codeMagic},
		{"magic", patch(good, 0, 0), codeMagic},
		{"magic before enums", patch(patch(good, 0, 0), 12, 77), codeMagic},
		{"version 999", patch(good, 8, 999), codeVersion},
		{"version 0", patch(good, 8, 0), codeVersion},
		{"animation file", patch(good, 12, 5), codeFileType},
		{"vertex layout", patch(good, 44, 2), codeVertexLayout},
		{"chunk count", patch(good, 24, 1<<31), codeTableTruncated},
		{"table cut", good[:entry(3, 0)], codeTableTruncated},
		{"no texture table", dropChunk(4), codeMissingChunk},
		{"duplicate", patch(good, entry(4, 0), 1), codeDuplicateChunk},
		{"compression", patch(good, entry(5, 4), 4), codeCompression},
		{"offset + 1", patch(good, entry(5, 8), 0x371), codeMisaligned},
		{"offset beyond", patch(good, entry(5, 8), 0x7fff0000), codeChunkBounds},
		{"offset 2^63", patch(good, entry(5, 12), 1<<31), codeChunkBounds},
		{"size overflows", patch(good, entry(5, 20), ^uint32(0)), codeChunkBounds},
		{"offset in header", patch(good, entry(0, 8), 16), codeChunkBounds},
		{"cut payload", good[:len(good)-1], codeChunkBounds},
		{"raw size", patch(good, entry(5, 24), 97), codeChunkSize},
		{"element count", patch(good, entry(2, 32), 2), codeTableSize},
		{"string at 10000", patch(good, 0x2a0+4, 10000), codeStringBounds},
		{"unterminated string", patch(good, 0x1f0+22, 0x41656c67), codeStringUnterminated},
		{"invalid utf-8", patch(good, 0x1f0, 0xff), codeStringUTF8},
		{"material 99", patch(good, 0x2a0+8, 99), codeMeshMaterial},
		{"material texture", patch(good, 0x310+56, 3), codeMaterialTexture},
		{"index bytes", patch(good, 0x2a0+56, 4), codeIndexSize},
		{"vertex bytes", patch(good, 0x2a0+48, 64), codeVertexSize},
		{"stride", patch(good, 0x2a0+24, 36), codeVertexStride},
		{"index type 0", patch(good, 0x2a0+12, 0), codeIndexType},
		{"vertex offset", patch(good, 0x2a0+32, 32), codeVertexRange},
		{"vertex offset overflows", patch(good, 0x2a0+36, ^uint32(0)), codeVertexRange},
		{"index offset", patch(good, 0x2a0+40, 2), codeIndexRange},
		{"entity range", patch(good, 0x210+12, 1), codeEntityMeshRange},
		{"entity range overflows", patch(good, 0x210+12, ^uint32(0)), codeEntityMeshRange},
		{"missing parent", patch(good, 0x210+4, 7), codeEntityParent},
		{"own parent", patch(good, 0x210+4, 0), codeEntityCycle},
		{"trailing", append(bytes.Clone(good), 1), codeTrailing},
		{"16 trailing zeros", append(bytes.Clone(good), make([]byte, 16)...), codeTrailing},
		{"bomb", patch(lz4Tile, entry(5, 28), 1), codeTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			for how, open := range openers(t, c.data) {
				r, err := open()
				if err == nil {
					r.Close()
				}
				if !errors.Is(err, c.want) {
					t.Errorf("%s: got %v, want %s", how, err, c.want)
				}
			}
			// The validator reports the same fault, whatever else it finds.
			found := false
			for _, f := range validateBytes(c.data, ValidateOptions{}).Findings {
				found = found || f.Code == c.want && f.Severity == finding.Error
			}
			if !found {
				t.Errorf("Validate does not report %s", c.want)
			}
		})
	}
}

func TestReaderAccepts(t *testing.T) {
	good := mustEncode(t, triangleFile(t), ModeNone)
	noHash := bytes.Clone(good)
	clear(noHash[hashOffset : hashOffset+hashSize])
	for name, data := range map[string][]byte{
		"15 trailing zeros": append(bytes.Clone(good), make([]byte, 15)...),
		"zero hash":         noHash,
		"header counts":     patch(good, 28, 9),
		"header size":       patch(good, 20, 208),
	} {
		r, err := NewBytesReader(data, VerifyOnOpen())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r.Close()
	}
}

func TestHashMismatch(t *testing.T) {
	data := mustEncode(t, triangleFile(t), ModeNone)
	data[0x370+5] ^= 1
	for how, open := range openers(t, data) {
		r, err := open()
		if how == "mapped" {
			if !errors.Is(err, codeHashMismatch) {
				t.Errorf("%s: %v", how, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := r.VerifyHash(); !errors.Is(err, codeHashMismatch) {
			t.Errorf("%s: %v", how, err)
		}
		r.Close()
	}
}

func TestIndexOutOfRange(t *testing.T) {
	data := mustEncode(t, triangleFile(t), ModeNone)
	data[0x3d2] = 3
	r, err := NewBytesReader(data)
	if err != nil {
		t.Fatal(err)
	}
	var e *Error
	if _, err := r.ReadGeometry(Geometry{}); !errors.As(err, &e) || e.Code != codeIndexValue || e.Offset != 0x3d2 {
		t.Errorf("ReadGeometry: %v", err)
	}
	if _, err := r.MeshIndices(0, nil); !errors.Is(err, codeIndexValue) {
		t.Errorf("MeshIndices: %v", err)
	}
}

func TestIndicesExceed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom([]vertex.IndexType{vertex.Index16, vertex.Index32}).Draw(t, "type")
		top := uint32(70000)
		if typ == vertex.Index16 {
			top = 65535
		}
		vs := rapid.SliceOfN(rapid.Uint32Range(0, top), 0, 40).Draw(t, "indices")
		n := rapid.Uint32Range(0, top+2).Draw(t, "n")
		want := false
		for _, v := range vs {
			want = want || v >= n
		}
		if got := indicesExceed(vertex.AppendIndices(nil, typ, vs), typ, n); got != want {
			t.Fatalf("%v: %v below %d: %v", typ, vs, n, got)
		}
	})
}

// Lanes are compared side by side: each alone is at the limit, among neighbours
// that are just below it.
func TestIndicesExceedAtTheLimit(t *testing.T) {
	for _, n := range []uint32{1, 2, 255, 256, 32767, 32768, 32769, 40000, 65534, 65535} {
		vs := make([]uint32, 33)
		for i := range vs {
			vs[i] = n - 1
		}
		if indicesExceed(vertex.AppendIndices(nil, vertex.Index16, vs), vertex.Index16, n) {
			t.Errorf("%d is too large among %d vertices", n-1, n)
		}
		for i := range vs {
			for _, v := range []uint32{n, n + 1, 32768, 65535} {
				vs[i] = v
				if got := v <= 65535 && indicesExceed(vertex.AppendIndices(nil, vertex.Index16, vs), vertex.Index16, n); v <= 65535 && got != (v >= n) {
					t.Errorf("index %d is %d, among %d vertices: %v", i, v, n, got)
				}
			}
			vs[i] = n - 1
		}
	}
}

// TestBombsAreBounded: a chunk that declares far more than its stored bytes can hold is
// refused before anything is allocated, and one that lies is caught while decoding.
func TestBombsAreBounded(t *testing.T) {
	for _, mode := range []CompressMode{ModeZstd, ModeDelta} {
		t.Run(mode.String(), func(t *testing.T) { testBombIsBounded(t, mode) })
	}
}

func testBombIsBounded(t *testing.T, mode CompressMode) {
	f := gridFile(t, 1, 60)
	data := mustEncode(t, f, mode)
	at := records.HeaderSize + 5*records.ChunkSize + 24
	for _, size := range []uint32{1 << 30, uint32(len(f.Vertices)) + 32, uint32(len(f.Vertices)) - 32} {
		bad := patch(data, at, size)
		binary.LittleEndian.PutUint64(bad[0x210:], 0) // irrelevant metadata
		r, err := NewBytesReader(bad)
		if err == nil {
			_, err = r.ReadGeometry(Geometry{})
		}
		if !errors.Is(err, codeTooLarge) && !errors.Is(err, codeDecode) && !errors.Is(err, codeDecodedSize) &&
			!errors.Is(err, codeVertexRange) {
			t.Errorf("declared size %d: %v", size, err)
		}
	}
}

// TestEmptyCompressedChunk: a chunk that declares no decoded bytes may be
// stored as anything; it must not reach the decoders without a buffer.
func TestEmptyCompressedChunk(t *testing.T) {
	for _, c := range []struct {
		name string
		mode Compression
		src  []byte
		ok   bool
	}{
		{"lz4, empty block", CompressLZ4, []byte{0}, true},
		{"lz4, no block", CompressLZ4, nil, true},
		{"lz4, literals", CompressLZ4, []byte{0x30, 'a', 'b', 'c'}, false},
		{"lz4, one literal", CompressLZ4, []byte{0x10, 'a'}, false},
		{"lz4, garbage", CompressLZ4, bytes.Repeat([]byte{0xff}, 58), false},
		{"zstd, garbage", CompressZstd, bytes.Repeat([]byte{0xff}, 58), false},
		{"delta, nothing", CompressDelta, nil, false},
		{"delta, no frame", CompressDelta, []byte{byte(deltaVertices)}, true},
		{"delta, of nothing known", CompressDelta, []byte{byte(deltaKinds)}, false},
		{"delta, garbage", CompressDelta, bytes.Repeat([]byte{1}, 58), false},
	} {
		got, err := decode(nil, c.src, c.mode, 0)
		if (err == nil) != c.ok || len(got) != 0 {
			t.Errorf("%s: %d bytes, %v", c.name, len(got), err)
		}
	}
}

func TestLaterVersions(t *testing.T) {
	for version, size := range map[uint32]int{2: 88, 3: 100, 4: 108} {
		data := withVersion(t, version, size)
		r, err := NewBytesReader(data, VerifyOnOpen())
		if err != nil {
			t.Fatalf("version %d: %v", version, err)
		}
		m := r.Materials()[0]
		if r.String(m.NameOffset) != "Red" || m.Roughness != 0.5 || m.Reserved[0] != records.ChannelsMetalRough {
			t.Errorf("version %d: material is %+v", version, m)
		}
		if version >= 3 && (m.HeightTexture != records.NoIndex || m.HeightScale != 0.25) {
			t.Errorf("version %d: height fields are %+v", version, m)
		}
		if rep := validateBytes(data, ValidateOptions{}); !rep.OK() {
			t.Errorf("version %d: %+v", version, rep.Findings)
		}
	}
}

// withVersion builds a triangle tile as a later exporter writes it: material
// records of another size, an unknown chunk, another order of payloads.
func withVersion(t *testing.T, version uint32, size int) []byte {
	f := triangleFile(t)
	f.Materials[0].Reserved[0] = records.ChannelsMetalRough
	rec := records.AppendMaterial(nil, &f.Materials[0], 1)
	tail := bytes.Clone(rec[80:])
	rec = rec[:80]
	if version >= 3 {
		rec = binary.LittleEndian.AppendUint32(rec, records.NoIndex)
		rec = records.AppendFloats(rec, []float32{0.25, 0.5})
	}
	if version >= 4 {
		rec = records.AppendFloats(rec, []float32{0, 1})
	}
	rec = append(rec, tail...)
	if len(rec) != size {
		t.Fatalf("record has %d bytes", len(rec))
	}
	chunks, payloads, err := f.chunks(WriteOptions{Compress: ModeNone})
	if err != nil {
		t.Fatal(err)
	}
	payloads[3] = rec
	chunks[3].CompressedSize, chunks[3].UncompressedSize = uint64(size), uint64(size)
	chunks = append(chunks, Chunk{Type: 18, CompressedSize: 4, UncompressedSize: 4})
	payloads = append(payloads, []byte{1, 2, 3, 4})
	chunks[5], chunks[6] = chunks[6], chunks[5]
	payloads[5], payloads[6] = payloads[6], payloads[5]
	return assemble(f, version, chunks, payloads)
}

// assemble lays chunks out as given, with padding behind every payload.
func assemble(f *File, version uint32, chunks []Chunk, payloads [][]byte) []byte {
	pos := align16(uint64(records.HeaderSize + len(chunks)*records.ChunkSize))
	var body []byte
	base := pos
	for i := range chunks {
		chunks[i].Offset = pos
		body = append(body, payloads[i]...)
		for len(body)%16 != 0 {
			body = append(body, 0)
		}
		pos = base + uint64(len(body))
	}
	h := f.header(uint32(len(chunks)), version)
	out := appendHeader(nil, &h)
	for i := range chunks {
		out = appendChunk(out, &chunks[i])
	}
	for uint64(len(out)) < base {
		out = append(out, 0)
	}
	out = append(out, body...)
	p := parser{mem: out, size: uint64(len(out)), chunks: chunks}
	sum, _ := p.contentHash()
	copy(out[hashOffset:], sum[:])
	return out
}

// ReadTable sees what a Reader sees, from the first bytes of the file alone, and
// refuses every shorter beginning.
func TestReadTable(t *testing.T) {
	data := mustEncode(t, gridFile(t, 5, 20), ModeLZ4)
	r, err := NewBytesReader(data)
	if err != nil {
		t.Fatal(err)
	}
	end := records.HeaderSize + len(r.Chunks())*records.ChunkSize
	h, chunks, err := ReadTable(bytes.NewReader(data[:end]), int64(len(data)))
	if err != nil || h != r.Header() || !slices.Equal(chunks, r.Chunks()) {
		t.Errorf("%+v, %+v, %v", h, chunks, err)
	}
	for n := range end {
		if _, _, err := ReadTable(bytes.NewReader(data[:n]), int64(len(data))); err == nil {
			t.Fatalf("%d bytes are enough", n)
		}
		if _, _, err := ReadTable(bytes.NewReader(data[:n]), int64(n)); err == nil {
			t.Fatalf("a file of %d bytes is enough", n)
		}
	}
}
