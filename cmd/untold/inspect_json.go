package main

import (
	"encoding/hex"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
)

// The JSON views of a container. Indices that name nothing are null.

type jsonObject = map[string]any

func nullable(i uint32) any {
	if i == records.NoIndex {
		return nil
	}
	return i
}

func containerJSON(path string, r *format.Reader) jsonObject {
	h := r.Header()
	chunks := []jsonObject{}
	for _, c := range r.Chunks() {
		chunks = append(chunks, chunkEntryJSON(c))
	}
	return jsonObject{
		"path": path, "bytes": r.Size(),
		"header": jsonObject{
			"format_version": h.FormatVersion, "file_type": h.FileType.String(), "flags": h.Flags, "header_size": h.HeaderSize,
			"chunk_count": h.ChunkCount, "mesh_count": h.MeshCount, "material_count": h.MaterialCount,
			"texture_count": h.TextureCount, "entity_count": h.EntityCount, "vertex_layout": h.VertexLayout.String(),
			"world_bounds": boxJSON(h.WorldBounds), "root_transform": h.RootTransform, "content_hash": hex.EncodeToString(h.ContentHash[:]),
		},
		"chunks": chunks, "entities": entitiesJSON(r), "meshes": meshesJSON(r), "materials": materialsJSON(r), "textures": texturesJSON(r),
	}
}

func boxJSON(b records.Bounds) jsonObject { return jsonObject{"min": b.Min, "max": b.Max} }

func chunkEntryJSON(c format.Chunk) jsonObject {
	return jsonObject{
		"name": c.Type.String(), "type": uint32(c.Type), "compression": c.Compression.String(), "offset": c.Offset,
		"stored_size": c.CompressedSize, "size": c.UncompressedSize, "element_count": c.ElementCount,
	}
}

// chunkJSON is a table entry with the chunk's records.
func chunkJSON(r *format.Reader, c format.Chunk) jsonObject {
	o := chunkEntryJSON(c)
	switch c.Type {
	case format.ChunkEntities:
		o["records"] = entitiesJSON(r)
	case format.ChunkMeshes:
		o["records"] = meshesJSON(r)
	case format.ChunkMaterials:
		o["records"] = materialsJSON(r)
	case format.ChunkTextures:
		o["records"] = texturesJSON(r)
	}
	return o
}

func entitiesJSON(r *format.Reader) []jsonObject {
	out := []jsonObject{}
	for _, e := range r.Entities() {
		out = append(out, jsonObject{
			"id": e.ID, "parent": nullable(e.ParentID), "name": r.String(e.NameOffset), "first_mesh": e.FirstMesh, "mesh_count": e.MeshCount,
			"flags": e.Flags, "local_bounds": boxJSON(e.LocalBounds), "world_bounds": boxJSON(e.WorldBounds), "local_transform": e.LocalTransform,
		})
	}
	return out
}

func meshesJSON(r *format.Reader) []jsonObject {
	out := []jsonObject{}
	for _, m := range r.Meshes() {
		out = append(out, jsonObject{
			"entity": m.EntityID, "name": r.String(m.NameOffset), "material": nullable(m.Material), "index_type": m.IndexType.String(),
			"vertex_count": m.VertexCount, "index_count": m.IndexCount, "vertex_stride": m.VertexStride, "flags": m.Flags,
			"vertex_offset": m.VertexOffset, "index_offset": m.IndexOffset, "vertex_size": m.VertexSize, "index_size": m.IndexSize,
			"estimated_gpu_bytes": m.EstimatedGPUBytes, "bounds": boxJSON(m.LocalBounds),
		})
	}
	return out
}

func materialsJSON(r *format.Reader) []jsonObject {
	out := []jsonObject{}
	for _, m := range r.Materials() {
		out = append(out, jsonObject{
			"name": r.String(m.NameOffset), "flags": m.Flags, "alpha_mode": alphaMode(m.Flags),
			"double_sided": m.Flags&records.MaterialDoubleSided != 0, "unlit": m.Flags&records.MaterialUnlit != 0,
			"base_color": m.BaseColor, "emissive": m.Emissive, "normal_scale": m.NormalScale, "metallic": m.Metallic, "roughness": m.Roughness,
			"occlusion_strength": m.OcclusionStrength, "alpha_cutoff": m.AlphaCutoff,
			"base_color_texture": nullable(m.BaseColorTexture), "normal_texture": nullable(m.NormalTexture), "metallic_texture": nullable(m.MetallicTexture),
			"roughness_texture": nullable(m.RoughnessTexture), "emissive_texture": nullable(m.EmissiveTexture), "occlusion_texture": nullable(m.OcclusionTexture),
			"channels": m.Reserved[0],
		})
	}
	return out
}

func texturesJSON(r *format.Reader) []jsonObject {
	out := []jsonObject{}
	for _, t := range r.Textures() {
		out = append(out, jsonObject{
			"name": r.String(t.NameOffset), "uri": r.String(t.URIOffset), "format": t.Format.String(), "flags": t.Flags,
			"width": t.Width, "height": t.Height, "mip_count": t.MipCount,
		})
	}
	return out
}
