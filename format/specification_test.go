package format

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/bytelayout"
	"github.com/untoldkit/untold/internal/testfile"
)

var updatePage = flag.Bool("update", false, "rewrite the tables of docs/container.md")

// page is where the byte layout is told, schema where it is told to Kaitai Struct.
var (
	page   = filepath.Join("..", "docs", "container.md")
	schema = filepath.Join("..", "docs", "untold.ksy")
)

const (
	noString = "in bytes from the start of the string table; 0xffffffff for none"
	noSlot   = "index of a texture record; 0xffffffff for none"
	box      = "metres; x, y, z"
)

var headerFields = []bytelayout.Field{
	{Name: "magic", Size: 8, Type: "8 bytes", Meaning: "`UNTOLD` and two zero bytes: 55 4e 54 4f 4c 44 00 00"},
	{Name: "formatVersion", Path: "FormatVersion", Meaning: "1 to 4"},
	{Name: "fileType", Path: "FileType", Meaning: "see [Values](#values)"},
	{Name: "flags", Path: "Flags", Meaning: "none defined: 0"},
	{Name: "headerSize", Path: "HeaderSize", Meaning: "204; readers need not look at it"},
	{Name: "chunkCount", Path: "ChunkCount", Meaning: "entries of the chunk table"},
	{Name: "meshCount", Path: "MeshCount", Meaning: "records of the mesh table; the table's own count decides"},
	{Name: "materialCount", Path: "MaterialCount", Meaning: "records of the material table, likewise"},
	{Name: "textureRefCount", Path: "TextureCount", Meaning: "records of the texture table, likewise"},
	{Name: "entityCount", Path: "EntityCount", Meaning: "records of the entity table, likewise"},
	{Name: "vertexLayout", Path: "VertexLayout", Meaning: "1, PBR_STATIC_V1"},
	{Name: "reserved0", Path: "Reserved0", Meaning: "0"},
	{Name: "worldBoundsMin", Path: "WorldBounds.Min", Meaning: box + ": the box around all entities that have meshes"},
	{Name: "worldBoundsMax", Path: "WorldBounds.Max", Meaning: box},
	{Name: "rootTransform", Path: "RootTransform", Meaning: "column-major matrix above all entities; the identity in all files known"},
	{Name: "contentHash", Path: "ContentHash", Meaning: "SHA-256, see [Hash](#hash); 32 zero bytes: not computed"},
	{Name: "reserved1", Path: "Reserved1", Meaning: "zeros"},
}

var chunkFields = []bytelayout.Field{
	{Name: "chunkType", Path: "Type", Meaning: "see [Chunks](#chunks)"},
	{Name: "compressionType", Path: "Compression", Meaning: "see [Compression](#compression)"},
	{Name: "fileOffset", Path: "Offset", Meaning: "bytes from the start of the file, a multiple of 16, not before the table's end"},
	{Name: "compressedSize", Path: "CompressedSize", Meaning: "bytes in the file"},
	{Name: "uncompressedSize", Path: "UncompressedSize", Meaning: "bytes when decoded; the same where nothing is compressed"},
	{Name: "elementCount", Path: "ElementCount", Meaning: "records of an entity, mesh, material or texture table; else 0"},
	{Name: "reserved0", Path: "Reserved0", Meaning: "0"},
}

var entityFields = []bytelayout.Field{
	{Name: "entityId", Path: "ID", Meaning: "unique in the file; 0, 1, 2, ... in the order of the table"},
	{Name: "parentEntityId", Path: "ParentID", Meaning: "`entityId` of the parent, before its children in the table; 0xffffffff for none"},
	{Name: "nameOffset", Path: "NameOffset", Meaning: noString},
	{Name: "firstMeshRecordIndex", Path: "FirstMesh", Meaning: "the entity's first record in the mesh table"},
	{Name: "meshRecordCount", Path: "MeshCount", Meaning: "how many follow each other; 0 for a group"},
	{Name: "flags", Path: "Flags", Meaning: "none defined: 0"},
	{Name: "localBoundsMin", Path: "LocalBounds.Min", Meaning: box + ", in the entity's own space"},
	{Name: "localBoundsMax", Path: "LocalBounds.Max", Meaning: box},
	{Name: "worldBoundsMin", Path: "WorldBounds.Min", Meaning: box + ", of the positions moved to the world"},
	{Name: "worldBoundsMax", Path: "WorldBounds.Max", Meaning: box},
	{Name: "localTransform", Path: "LocalTransform", Meaning: "column-major, to the parent's space; affine: elements 3, 7, 11 are 0 and 15 is 1"},
}

var meshFields = []bytelayout.Field{
	{Name: "entityId", Path: "EntityID", Meaning: "of the entity whose range has this record"},
	{Name: "meshNameOffset", Path: "NameOffset", Meaning: noString},
	{Name: "materialIndex", Path: "Material", Meaning: "index of a material record; 0xffffffff for none"},
	{Name: "indexType", Path: "IndexType", Meaning: "see [Values](#values)"},
	{Name: "vertexCount", Path: "VertexCount", Meaning: "vertices"},
	{Name: "indexCount", Path: "IndexCount", Meaning: "indices: three a triangle"},
	{Name: "vertexStrideBytes", Path: "VertexStride", Meaning: "32"},
	{Name: "flags", Path: "Flags", Meaning: "none defined: 0"},
	{Name: "vertexDataOffset", Path: "VertexOffset", Meaning: "bytes from the start of the decoded VERTEX_DATA"},
	{Name: "indexDataOffset", Path: "IndexOffset", Meaning: "bytes from the start of the decoded INDEX_DATA; even, not always a multiple of 4"},
	{Name: "vertexDataSizeBytes", Path: "VertexSize", Meaning: "`vertexCount` x 32"},
	{Name: "indexDataSizeBytes", Path: "IndexSize", Meaning: "`indexCount` x 2 or 4"},
	{Name: "estimatedGPUBytes", Path: "EstimatedGPUBytes", Meaning: "bytes of vertices and indices, and of edge indices where there are any"},
	{Name: "reserved0", Path: "Reserved0", Meaning: "0; by later writers: low 32 bits the offset in EDGE_INDEX_DATA in bytes, high 32 bits the number of edge indices"},
	{Name: "localBoundsMin", Path: "LocalBounds.Min", Meaning: box + ": least of the stored positions"},
	{Name: "localBoundsMax", Path: "LocalBounds.Max", Meaning: box + ": greatest"},
}

var materialFields = []bytelayout.Field{
	{Name: "nameOffset", Path: "NameOffset", Meaning: noString},
	{Name: "flags", Path: "Flags", Meaning: "see [Values](#values)"},
	{Name: "baseColorFactor", Path: "BaseColor", Meaning: "0 to 1, linear; red, green, blue, alpha"},
	{Name: "emissiveFactor", Path: "Emissive", Meaning: "0 and more, linear; red, green, blue"},
	{Name: "normalScale", Path: "NormalScale", Meaning: "factor on x and y of the normal map"},
	{Name: "metallicFactor", Path: "Metallic", Meaning: "0 to 1"},
	{Name: "roughnessFactor", Path: "Roughness", Meaning: "0 to 1"},
	{Name: "occlusionStrength", Path: "OcclusionStrength", Meaning: "0 to 1"},
	{Name: "alphaCutoff", Path: "AlphaCutoff", Meaning: "0 and more; mode mask draws nothing below it"},
	{Name: "baseColorTextureIndex", Path: "BaseColorTexture", Meaning: noSlot},
	{Name: "normalTextureIndex", Path: "NormalTexture", Meaning: noSlot},
	{Name: "metallicTextureIndex", Path: "MetallicTexture", Meaning: noSlot},
	{Name: "roughnessTextureIndex", Path: "RoughnessTexture", Meaning: noSlot},
	{Name: "emissiveTextureIndex", Path: "EmissiveTexture", Meaning: noSlot},
	{Name: "occlusionTextureIndex", Path: "OcclusionTexture", Meaning: noSlot + "; red is read"},
	{Name: "heightTextureIndex", Path: "HeightTexture", Since: 3, Meaning: noSlot},
	{Name: "heightScale", Path: "HeightScale", Since: 3, Meaning: "scale of the height"},
	{Name: "heightMidlevel", Path: "HeightMidlevel", Since: 3, Meaning: "value of the height texture at which nothing is moved"},
	{Name: "heightRemapMin", Path: "HeightRemap[0]", Since: 4, Meaning: "range of the height texture: its lower end"},
	{Name: "heightRemapMax", Path: "HeightRemap[1]", Since: 4, Meaning: "its upper end"},
	{Name: "channels", Path: "Reserved[0]", Meaning: "bits 0 and 1: channel of the roughness texture, bits 2 and 3: of the metallic one (0 red, 1 green, 2 blue, 3 alpha); 9 for glTF's combined texture; else 0"},
	{Name: "reserved1", Path: "Reserved[1]", Meaning: "0"},
}

var textureFields = []bytelayout.Field{
	{Name: "nameOffset", Path: "NameOffset", Meaning: noString},
	{Name: "uriOffset", Path: "URIOffset", Meaning: noString + "; see [Textures](#textures)"},
	{Name: "textureFormat", Path: "Format", Meaning: "see [Values](#values)"},
	{Name: "flags", Path: "Flags", Meaning: "see [Values](#values)"},
	{Name: "width", Path: "Width", Meaning: "texels of the largest level"},
	{Name: "height", Path: "Height", Meaning: "texels of the largest level"},
	{Name: "mipCount", Path: "MipCount", Meaning: "levels in the file: 1 for PNG and JPEG"},
	{Name: "reserved0", Path: "Reserved0", Meaning: "0"},
}

var vertexFields = []bytelayout.Field{
	{Name: "position", Path: "Position", Meaning: "metres; x, y, z, in the entity's own space"},
	{Name: "normalPacked", Path: "Normal", Meaning: "see [Directions](#directions)"},
	{Name: "tangentPacked", Path: "Tangent", Meaning: "see [Directions](#directions)"},
	{Name: "uv0", Path: "UV0", Type: "2 x f16", Meaning: "u, v; in repeats of the texture, v from below: 1 - v of glTF"},
	{Name: "uv1", Path: "UV1", Type: "2 x f16", Meaning: "a second pair; 0 where there is none"},
	{Name: "color", Path: "Color", Meaning: "red, green, blue, alpha; linear, 255 is 1; all 255 where there is none"},
}

// versionFields are the fields of a material record in a version.
func versionFields(version int) (out []bytelayout.Field) {
	for _, f := range materialFields {
		if version >= f.Since {
			out = append(out, f)
		}
	}
	return out
}

func putVertex(v *vertex.Vertex) []byte {
	b := make([]byte, vertex.Size)
	vertex.Put(b, v)
	return b
}

// TestLayout: docs/container.md and docs/untold.ksy have the fields that the code
// writes, where it writes them.
func TestLayout(t *testing.T) {
	ksy := bytelayout.ReadSchema(t, schema)
	hold := func(name, typ string, size int, fields []bytelayout.Field) {
		t.Helper()
		if last := fields[len(fields)-1]; last.Offset+last.Size != size {
			t.Errorf("%s has %d bytes, its fields %d", typ, size, last.Offset+last.Size)
		}
		bytelayout.Hold(t, page, name, bytelayout.Table(fields), *updatePage)
		ksy.Compare(t, typ, Version, fields)
	}
	hold("header", "header", records.HeaderSize, bytelayout.Probe(t, func(h *Header) []byte { return appendHeader(nil, h) }, headerFields))
	hold("chunk entry", "chunk_entry", records.ChunkSize, bytelayout.Probe(t, func(c *Chunk) []byte { return appendChunk(nil, c) }, chunkFields))
	hold("entity", "entity", records.EntitySize, bytelayout.Probe(t, func(e *records.Entity) []byte { return records.AppendEntity(nil, e) }, entityFields))
	hold("mesh", "mesh", records.MeshSize, bytelayout.Probe(t, func(m *records.Mesh) []byte { return records.AppendMesh(nil, m) }, meshFields))
	hold("texture", "texture", records.TextureSize, bytelayout.Probe(t, func(r *records.Texture) []byte { return records.AppendTexture(nil, r) }, textureFields))
	hold("vertex", "vertex", vertex.Size, bytelayout.Probe(t, putVertex, vertexFields))

	byVersion := map[int][]bytelayout.Field{}
	for v := 1; v <= MaxVersion; v++ {
		fields := bytelayout.Probe(t, func(m *records.Material) []byte { return records.AppendMaterial(nil, m, uint32(v)) }, versionFields(v))
		if last := fields[len(fields)-1]; last.Offset+last.Size != records.MaterialSize(uint32(v)) {
			t.Errorf("a material of version %d has %d bytes", v, last.Offset+last.Size)
		}
		ksy.Compare(t, "material", v, fields)
		byVersion[v] = fields
	}
	bytelayout.Hold(t, page, "material", materialTable(byVersion), *updatePage)
	bytelayout.Hold(t, page, "chunks", chunkTable(), *updatePage)
	bytelayout.Hold(t, page, "values", valueTable(), *updatePage)
	compareEnums(t, ksy)
}

// materialTable has a column of offsets for every size of record.
func materialTable(byVersion map[int][]bytelayout.Field) string {
	at := func(version int, name string) string {
		for _, f := range byVersion[version] {
			if f.Name == name {
				return fmt.Sprint(f.Offset)
			}
		}
		return ""
	}
	var b strings.Builder
	b.WriteString("| offset in 1, 2 | in 3 | in 4 | field | type | meaning |\n|---|---|---|---|---|---|\n")
	for _, f := range byVersion[MaxVersion] {
		fmt.Fprintf(&b, "| %s | %s | %s | `%s` | %s | %s |\n", at(1, f.Name), at(3, f.Name), at(4, f.Name), f.Name, f.Type, f.Meaning)
	}
	fmt.Fprintf(&b, "| %d | %d | %d | | | the record's size in bytes |\n", records.MaterialSize(1), records.MaterialSize(3), records.MaterialSize(4))
	return b.String()
}

func chunkTable() string {
	var b strings.Builder
	b.WriteString("| type | name | holds | bytes of a record |\n|---|---|---|---|\n")
	holds := map[ChunkType]string{
		ChunkStrings: "text", ChunkEntities: "entities", ChunkMeshes: "meshes", ChunkMaterials: "materials",
		ChunkTextures: "references to textures", ChunkVertices: "vertices", ChunkIndices: "indices",
	}
	for c := ChunkType(1); int(c) < len(chunkNames); c++ {
		size := "-"
		switch first, last := c.recordSize(1), c.recordSize(MaxVersion); {
		case first != last:
			size = fmt.Sprintf("%d to %d, by version", first, last)
		case first > 0:
			size = fmt.Sprint(first)
		case c == ChunkVertices:
			size = fmt.Sprint(vertex.Size)
		case c == ChunkIndices:
			size = "2 or 4, by mesh"
		}
		what := holds[c]
		if what == "" {
			what = "of later writers: skipped, hashed"
			if c == chunkEdges {
				what = "of later writers: skipped, hashed; edges to draw, by `reserved0` of meshes"
			}
		}
		if c.required() {
			what += "; required"
		}
		fmt.Fprintf(&b, "| %d | %s | %s | %s |\n", uint32(c), c, what, size)
	}
	fmt.Fprintf(&b, "| 0x8000 and above | | of plugins: skipped, hashed | - |\n")
	return b.String()
}

// named lists the values of an enum that have a name.
func named[T interface {
	~uint32
	String() string
}](first, last T) string {
	var parts []string
	for v := first; v <= last; v++ {
		parts = append(parts, fmt.Sprintf("%d %s", uint32(v), v))
	}
	return strings.Join(parts, ", ")
}

func valueTable() string {
	rows := [][2]string{
		{"`fileType`", named(FileTile, FileShared)},
		{"`compressionType`", named(CompressNone, CompressDelta)},
		{"`vertexLayout`", named(vertex.LayoutPBRStatic, vertex.LayoutPBRStatic)},
		{"`indexType`", named(vertex.Index16, vertex.Index32)},
		{"`textureFormat`", named(records.TextureUnknown, records.TextureR16Unorm)},
		{"`flags` of a material", fmt.Sprintf("bits 0 and 1: %d opaque, %d mask, %d blend; %d double-sided and %d unlit, which the reference engine ignores",
			records.MaterialOpaque, records.MaterialCutout, records.MaterialBlend, records.MaterialDoubleSided, records.MaterialUnlit)},
		{"`flags` of a texture", fmt.Sprintf("%d sRGB, %d normal map, %d colour lookup table, %d height, %d emissive, %d occlusion; added where a texture has several uses",
			records.TextureSRGB, records.TextureNormalMap, records.TextureColorLUT, records.TextureHeight, records.TextureEmissive, records.TextureOcclusion)},
	}
	var b strings.Builder
	b.WriteString("| field | values |\n|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s |\n", r[0], r[1])
	}
	return b.String()
}

// compareEnums holds the names of values in the Kaitai Struct file to the code.
func compareEnums(t *testing.T, s *bytelayout.Schema) {
	t.Helper()
	compare := func(enum string, first, last int, name func(uint32) string) {
		if got := len(s.Enums[enum]); got != last-first+1 {
			t.Errorf("%s has %d values, the code %d", enum, got, last-first+1)
		}
		for v := first; v <= last; v++ {
			got := strings.ReplaceAll(fmt.Sprint(s.Enums[enum][v]), "_", "")
			if want := strings.ReplaceAll(strings.ToLower(name(uint32(v))), "_", ""); got != want {
				t.Errorf("%s: %d is %s, in the code %s", enum, v, got, want)
			}
		}
	}
	compare("file_type", 1, 4, func(v uint32) string { return FileType(v).String() })
	compare("chunk_type", 1, len(chunkNames)-1, func(v uint32) string { return ChunkType(v).String() })
	compare("compression", 0, int(CompressDelta), func(v uint32) string { return Compression(v).String() })
	compare("vertex_layout", 1, 1, func(v uint32) string { return vertex.Layout(v).String() })
	compare("index_type", 1, 2, func(v uint32) string { return vertex.IndexType(v).String() })
	compare("texture_format", 0, 9, func(v uint32) string { return records.TextureFormat(v).String() })
}

// TestLimitsOnPage: the limits that the page tells are the code's.
func TestLimitsOnPage(t *testing.T) {
	text := strings.Join(strings.Fields(string(testfile.Read(t, page))), " ")
	for _, want := range []string{
		fmt.Sprintf("%d GiB decoded", defaultMaxChunk>>30), fmt.Sprintf("1 to %d", defaultMaxRatio),
		fmt.Sprintf("%d MiB", ratioFreeBytes>>20), fmt.Sprintf("a multiple of %d", alignment),
		fmt.Sprintf("at least %.0f %% smaller", 100*minLZ4Gain),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
