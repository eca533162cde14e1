package main

import (
	"encoding/hex"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
)

// The JSON views of a container. Indices that name nothing are null.

// nullable is an index of a record.
func nullable(i uint32) *uint32 {
	if i == records.NoIndex {
		return nil
	}
	return &i
}

// containerView is what inspect --json prints of a container.
type containerView struct {
	Path      string         `json:"path"`
	Bytes     int64          `json:"bytes"`
	Header    headerView     `json:"header"`
	Chunks    []chunkView    `json:"chunks"`
	Entities  []entityView   `json:"entities"`
	Meshes    []meshView     `json:"meshes"`
	Materials []materialView `json:"materials"`
	Textures  []textureView  `json:"textures"`
}

// headerView is the header of a container.
type headerView struct {
	FormatVersion uint32      `json:"format_version"`
	FileType      string      `json:"file_type"` // tile, lod, hlod or shared
	Flags         uint32      `json:"flags"`
	HeaderSize    uint32      `json:"header_size"` // bytes
	ChunkCount    uint32      `json:"chunk_count"`
	MeshCount     uint32      `json:"mesh_count"`
	MaterialCount uint32      `json:"material_count"`
	TextureCount  uint32      `json:"texture_count"`
	EntityCount   uint32      `json:"entity_count"`
	VertexLayout  string      `json:"vertex_layout"`
	WorldBounds   boxView     `json:"world_bounds"`
	RootTransform [16]float32 `json:"root_transform"` // by columns
	ContentHash   string      `json:"content_hash"`   // SHA-256, 64 hexadecimal digits
}

// boxView is a box along the axes, in metres.
type boxView struct {
	Min [3]float32 `json:"min"`
	Max [3]float32 `json:"max"`
}

// chunkView is an entry of the chunk table.
type chunkView struct {
	Name string `json:"name"` // such as MESH_TABLE
	Type uint32 `json:"type"` // its number
	chunkPlace
}

// chunkPlace is where a chunk lies, and how.
type chunkPlace struct {
	Compression  string `json:"compression"` // none, lz4, zstd or delta
	Offset       uint64 `json:"offset"`      // bytes
	StoredSize   uint64 `json:"stored_size"` // bytes in the file
	Size         uint64 `json:"size"`        // bytes when decoded
	ElementCount uint32 `json:"element_count"`
}

// What inspect --chunk --json prints, by the kind of the chunk: a table has its records,
// as they are listed for a whole container; what is no table has none.
type (
	entityChunk struct {
		Name string `json:"name"`
		Type uint32 `json:"type"`
		chunkPlace
		Records []entityView `json:"records"`
	}
	meshChunk struct {
		Name string `json:"name"`
		Type uint32 `json:"type"`
		chunkPlace
		Records []meshView `json:"records"`
	}
	materialChunk struct {
		Name string `json:"name"`
		Type uint32 `json:"type"`
		chunkPlace
		Records []materialView `json:"records"`
	}
	textureChunk struct {
		Name string `json:"name"`
		Type uint32 `json:"type"`
		chunkPlace
		Records []textureView `json:"records"`
	}
	plainChunk struct {
		Name string `json:"name"`
		Type uint32 `json:"type"` // its number
		chunkPlace
	}
)

// entityView is an entity.
type entityView struct {
	ID             uint32      `json:"id"`
	Parent         *uint32     `json:"parent"` // an id; null: none
	Name           string      `json:"name"`
	FirstMesh      uint32      `json:"first_mesh"`
	MeshCount      uint32      `json:"mesh_count"`
	Flags          uint32      `json:"flags"`
	LocalBounds    boxView     `json:"local_bounds"`
	WorldBounds    boxView     `json:"world_bounds"`
	LocalTransform [16]float32 `json:"local_transform"` // by columns
}

// meshView is a mesh record.
type meshView struct {
	Entity            uint32  `json:"entity"` // id
	Name              string  `json:"name"`
	Material          *uint32 `json:"material"`   // index; null: none
	IndexType         string  `json:"index_type"` // uint16 or uint32
	VertexCount       uint32  `json:"vertex_count"`
	IndexCount        uint32  `json:"index_count"`
	VertexStride      uint32  `json:"vertex_stride"` // bytes
	Flags             uint32  `json:"flags"`
	VertexOffset      uint64  `json:"vertex_offset"` // bytes in VERTEX_DATA
	IndexOffset       uint64  `json:"index_offset"`  // bytes in INDEX_DATA
	VertexSize        uint64  `json:"vertex_size"`   // bytes
	IndexSize         uint64  `json:"index_size"`    // bytes
	EstimatedGPUBytes uint64  `json:"estimated_gpu_bytes"`
	Bounds            boxView `json:"bounds"`
}

// materialView is a material; textures are indices, null for none.
type materialView struct {
	Name              string     `json:"name"`
	Flags             uint32     `json:"flags"`
	AlphaMode         string     `json:"alpha_mode"` // opaque, mask or blend
	DoubleSided       bool       `json:"double_sided"`
	Unlit             bool       `json:"unlit"`
	BaseColor         [4]float32 `json:"base_color"`
	Emissive          [3]float32 `json:"emissive"`
	NormalScale       float32    `json:"normal_scale"`
	Metallic          float32    `json:"metallic"`
	Roughness         float32    `json:"roughness"`
	OcclusionStrength float32    `json:"occlusion_strength"`
	AlphaCutoff       float32    `json:"alpha_cutoff"`
	BaseColorTexture  *uint32    `json:"base_color_texture"`
	NormalTexture     *uint32    `json:"normal_texture"`
	MetallicTexture   *uint32    `json:"metallic_texture"`
	RoughnessTexture  *uint32    `json:"roughness_texture"`
	EmissiveTexture   *uint32    `json:"emissive_texture"`
	OcclusionTexture  *uint32    `json:"occlusion_texture"`
	Channels          uint32     `json:"channels"` // bits 0-1 of metallic, 2-3 of roughness
}

// textureView is a texture record.
type textureView struct {
	Name     string `json:"name"`
	URI      string `json:"uri"` // from the container's folder
	Format   string `json:"format"`
	Flags    uint32 `json:"flags"`
	Width    uint32 `json:"width"`
	Height   uint32 `json:"height"`
	MipCount uint32 `json:"mip_count"`
}

func containerJSON(path string, r *format.Reader) containerView {
	h := r.Header()
	chunks := []chunkView{}
	for _, c := range r.Chunks() {
		chunks = append(chunks, chunkEntryJSON(c))
	}
	return containerView{
		Path: path, Bytes: r.Size(),
		Header: headerView{
			FormatVersion: h.FormatVersion, FileType: h.FileType.String(), Flags: h.Flags, HeaderSize: h.HeaderSize,
			ChunkCount: h.ChunkCount, MeshCount: h.MeshCount, MaterialCount: h.MaterialCount,
			TextureCount: h.TextureCount, EntityCount: h.EntityCount, VertexLayout: h.VertexLayout.String(),
			WorldBounds: boxJSON(h.WorldBounds), RootTransform: h.RootTransform, ContentHash: hex.EncodeToString(h.ContentHash[:]),
		},
		Chunks: chunks, Entities: entitiesJSON(r), Meshes: meshesJSON(r), Materials: materialsJSON(r), Textures: texturesJSON(r),
	}
}

func boxJSON(b records.Bounds) boxView { return boxView{b.Min, b.Max} }

func chunkEntryJSON(c format.Chunk) chunkView {
	return chunkView{c.Type.String(), uint32(c.Type), chunkPlace{
		Compression: c.Compression.String(), Offset: c.Offset,
		StoredSize: c.CompressedSize, Size: c.UncompressedSize, ElementCount: c.ElementCount,
	}}
}

// chunkJSON is a table entry, of a table with its records.
func chunkJSON(r *format.Reader, c format.Chunk) any {
	o := chunkEntryJSON(c)
	switch c.Type {
	case format.ChunkEntities:
		return entityChunk{o.Name, o.Type, o.chunkPlace, entitiesJSON(r)}
	case format.ChunkMeshes:
		return meshChunk{o.Name, o.Type, o.chunkPlace, meshesJSON(r)}
	case format.ChunkMaterials:
		return materialChunk{o.Name, o.Type, o.chunkPlace, materialsJSON(r)}
	case format.ChunkTextures:
		return textureChunk{o.Name, o.Type, o.chunkPlace, texturesJSON(r)}
	}
	return plainChunk(o)
}

func entitiesJSON(r *format.Reader) []entityView {
	out := []entityView{}
	for _, e := range r.Entities() {
		out = append(out, entityView{
			ID: e.ID, Parent: nullable(e.ParentID), Name: r.String(e.NameOffset), FirstMesh: e.FirstMesh, MeshCount: e.MeshCount,
			Flags: e.Flags, LocalBounds: boxJSON(e.LocalBounds), WorldBounds: boxJSON(e.WorldBounds), LocalTransform: e.LocalTransform,
		})
	}
	return out
}

func meshesJSON(r *format.Reader) []meshView {
	out := []meshView{}
	for _, m := range r.Meshes() {
		out = append(out, meshView{
			Entity: m.EntityID, Name: r.String(m.NameOffset), Material: nullable(m.Material), IndexType: m.IndexType.String(),
			VertexCount: m.VertexCount, IndexCount: m.IndexCount, VertexStride: m.VertexStride, Flags: m.Flags,
			VertexOffset: m.VertexOffset, IndexOffset: m.IndexOffset, VertexSize: m.VertexSize, IndexSize: m.IndexSize,
			EstimatedGPUBytes: m.EstimatedGPUBytes, Bounds: boxJSON(m.LocalBounds),
		})
	}
	return out
}

func materialsJSON(r *format.Reader) []materialView {
	out := []materialView{}
	for _, m := range r.Materials() {
		out = append(out, materialView{
			Name: r.String(m.NameOffset), Flags: m.Flags, AlphaMode: alphaMode(m.Flags),
			DoubleSided: m.Flags&records.MaterialDoubleSided != 0, Unlit: m.Flags&records.MaterialUnlit != 0,
			BaseColor: m.BaseColor, Emissive: m.Emissive, NormalScale: m.NormalScale, Metallic: m.Metallic, Roughness: m.Roughness,
			OcclusionStrength: m.OcclusionStrength, AlphaCutoff: m.AlphaCutoff,
			BaseColorTexture: nullable(m.BaseColorTexture), NormalTexture: nullable(m.NormalTexture), MetallicTexture: nullable(m.MetallicTexture),
			RoughnessTexture: nullable(m.RoughnessTexture), EmissiveTexture: nullable(m.EmissiveTexture), OcclusionTexture: nullable(m.OcclusionTexture),
			Channels: m.Reserved[0],
		})
	}
	return out
}

func texturesJSON(r *format.Reader) []textureView {
	out := []textureView{}
	for _, t := range r.Textures() {
		out = append(out, textureView{
			Name: r.String(t.NameOffset), URI: r.String(t.URIOffset), Format: t.Format.String(), Flags: t.Flags,
			Width: t.Width, Height: t.Height, MipCount: t.MipCount,
		})
	}
	return out
}
