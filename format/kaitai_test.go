package format

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/bytelayout"
	"github.com/untoldkit/untold/internal/testfile"
)

type (
	kaitaiVec  struct{ X, Y, Z float32 }
	kaitaiFile struct {
		Header struct {
			FormatVersion, FileType, HeaderSize, ChunkCount, MeshCount, MaterialCount uint32
			TextureRefCount, EntityCount, VertexLayout                                uint32
			WorldBoundsMin, WorldBoundsMax                                            kaitaiVec
			RootTransform                                                             [16]float32
			ContentHash                                                               string
		}
		Chunks []struct {
			ChunkType, CompressionType, ElementCount     uint32
			FileOffset, CompressedSize, UncompressedSize uint64
			Stored                                       string
			Body                                         *struct{ Records []kaitaiRecord }
		}
	}
	// kaitaiRecord has the fields of every record that are compared.
	kaitaiRecord struct {
		Name, URI                                         string
		EntityID, ParentEntityID, FirstMeshRecordIndex    uint32
		MaterialIndex, IndexType, VertexCount, IndexCount uint32
		VertexDataOffset, IndexDataOffset                 uint64
		LocalBoundsMin, LocalBoundsMax, Position          kaitaiVec
		LocalTransform, BaseColorFactor                   []float32
		RoughnessFactor, HeightScale, HeightRemapMax      float32
		BaseColorTextureIndex, OcclusionTextureIndex      uint32
		Channels, TextureFormat, Width, MipCount          uint32
		NormalPacked, TangentPacked                       uint32
		UV0                                               []uint16 `json:"uv0"`
		Color                                             []uint8
	}
)

// TestKaitai: what Kaitai Struct's compiler makes of docs/untold.ksy reads what the
// Reader reads.
func TestKaitai(t *testing.T) {
	dir := t.TempDir()
	files := []string{
		filepath.Join("..", "testdata", "vectors", "triangle_none.untold"),
		filepath.Join("..", "testdata", "vectors", "triangle_lz4.untold"),
	}
	for v := 1; v <= MaxVersion; v++ {
		for name, f := range map[string]*File{"triangle": triangleFile(t), "grid": gridFile(t, 3, 9)} {
			for i := range f.Materials {
				f.Materials[i].HeightScale, f.Materials[i].HeightRemap = 0.25, [2]float32{-1, 2}
			}
			for m := ModeAuto; m <= ModeDelta; m++ {
				data, err := f.Encode(WriteOptions{Version: uint32(v), Compress: m})
				if err != nil {
					t.Fatal(err)
				}
				files = append(files, testfile.Write(t, filepath.Join(dir, fmt.Sprintf("%s-%d-%v.untold", name, v, m)), data))
			}
		}
	}
	for i, got := range bytelayout.Compiled[kaitaiFile](t, schema, files) {
		data := testfile.Read(t, files[i])
		r, err := NewBytesReader(data, VerifyOnOpen())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(expected(t, r, data), got); d != "" {
			t.Errorf("%s (-reader +kaitai):\n%s", files[i], d)
		}
	}
}

// expected is a file as the Reader reads it.
func expected(t *testing.T, r *Reader, data []byte) (k kaitaiFile) {
	t.Helper()
	h := r.Header()
	k.Header.FormatVersion, k.Header.FileType, k.Header.HeaderSize, k.Header.ChunkCount = h.FormatVersion, uint32(h.FileType), h.HeaderSize, h.ChunkCount
	k.Header.MeshCount, k.Header.MaterialCount, k.Header.TextureRefCount, k.Header.EntityCount = h.MeshCount, h.MaterialCount, h.TextureCount, h.EntityCount
	k.Header.VertexLayout, k.Header.RootTransform, k.Header.ContentHash = uint32(h.VertexLayout), h.RootTransform, hex.EncodeToString(h.ContentHash[:])
	k.Header.WorldBoundsMin, k.Header.WorldBoundsMax = vec(h.WorldBounds.Min), vec(h.WorldBounds.Max)
	for _, c := range r.Chunks() {
		k.Chunks = append(k.Chunks, struct {
			ChunkType, CompressionType, ElementCount     uint32
			FileOffset, CompressedSize, UncompressedSize uint64
			Stored                                       string
			Body                                         *struct{ Records []kaitaiRecord }
		}{
			uint32(c.Type), uint32(c.Compression), c.ElementCount, c.Offset, c.CompressedSize, c.UncompressedSize,
			hex.EncodeToString(data[c.Offset:][:c.CompressedSize]), nil,
		})
		if c.Compression == CompressNone {
			k.Chunks[len(k.Chunks)-1].Body = &struct{ Records []kaitaiRecord }{expectedRecords(t, r, c)}
		}
	}
	return k
}

func vec(v [3]float32) kaitaiVec { return kaitaiVec{v[0], v[1], v[2]} }

func expectedRecords(t *testing.T, r *Reader, c Chunk) (out []kaitaiRecord) {
	t.Helper()
	switch c.Type {
	case ChunkEntities:
		for _, e := range r.Entities() {
			out = append(out, kaitaiRecord{
				Name: r.String(e.NameOffset), EntityID: e.ID, ParentEntityID: e.ParentID, FirstMeshRecordIndex: e.FirstMesh,
				LocalBoundsMin: vec(e.LocalBounds.Min), LocalBoundsMax: vec(e.LocalBounds.Max), LocalTransform: e.LocalTransform[:],
			})
		}
	case ChunkMeshes:
		for _, m := range r.Meshes() {
			out = append(out, kaitaiRecord{
				Name: r.String(m.NameOffset), EntityID: m.EntityID, MaterialIndex: m.Material, IndexType: uint32(m.IndexType),
				VertexCount: m.VertexCount, IndexCount: m.IndexCount, VertexDataOffset: m.VertexOffset, IndexDataOffset: m.IndexOffset,
				LocalBoundsMin: vec(m.LocalBounds.Min), LocalBoundsMax: vec(m.LocalBounds.Max),
			})
		}
	case ChunkMaterials:
		for _, m := range r.Materials() {
			out = append(out, kaitaiRecord{
				Name: r.String(m.NameOffset), BaseColorFactor: m.BaseColor[:], RoughnessFactor: m.Roughness, HeightScale: m.HeightScale,
				HeightRemapMax: m.HeightRemap[1], BaseColorTextureIndex: m.BaseColorTexture, OcclusionTextureIndex: m.OcclusionTexture, Channels: m.Reserved[0],
			})
		}
	case ChunkTextures:
		for _, x := range r.Textures() {
			out = append(out, kaitaiRecord{
				Name: r.String(x.NameOffset), URI: r.String(x.URIOffset), TextureFormat: uint32(x.Format), Width: x.Width, MipCount: x.MipCount,
			})
		}
		if out == nil {
			out = []kaitaiRecord{}
		}
	case ChunkVertices:
		b, err := r.ChunkData(c, nil)
		if err != nil {
			t.Fatal(err)
		}
		for ; len(b) >= vertex.Size; b = b[vertex.Size:] {
			v := vertex.Get(b)
			out = append(out, kaitaiRecord{
				Position: vec(v.Position), NormalPacked: v.Normal, TangentPacked: v.Tangent, UV0: v.UV0[:], Color: v.Color[:],
			})
		}
	}
	return out
}
