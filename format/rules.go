package format

import "slices"

// The codes of all rules. docs/findings.md lists them with their severity.
const (
	CodeReadFailed          Code = "read-failed"
	CodeTruncated           Code = "truncated-file"
	CodeMagic               Code = "invalid-magic"
	CodeVersion             Code = "unsupported-version"
	CodeFileType            Code = "unsupported-file-type"
	CodeVertexLayout        Code = "unsupported-vertex-layout"
	CodeHeaderSize          Code = "header-size"
	CodeHeaderCount         Code = "header-count"
	CodeReserved            Code = "reserved-not-zero"
	CodeRootTransform       Code = "root-transform"
	CodeTableTruncated      Code = "chunk-table-truncated"
	CodeCompression         Code = "unsupported-compression"
	CodeMisaligned          Code = "misaligned-chunk"
	CodeChunkBounds         Code = "chunk-out-of-bounds"
	CodeMissingChunk        Code = "missing-chunk"
	CodeDuplicateChunk      Code = "duplicate-chunk"
	CodeUnknownChunk        Code = "unknown-chunk"
	CodeChunkOrder          Code = "chunk-order"
	CodeChunkSize           Code = "chunk-size-mismatch"
	CodeTableSize           Code = "table-size-mismatch"
	CodeElementCount        Code = "element-count"
	CodeChunkOverlap        Code = "overlapping-chunks"
	CodeTooLarge            Code = "chunk-too-large"
	CodeDecode              Code = "decode-failed"
	CodeDecodedSize         Code = "decoded-size-mismatch"
	CodeMetadataCompressed  Code = "compressed-metadata"
	CodeZstd                Code = "zstd-not-portable"
	CodePadding             Code = "padding-not-zero"
	CodeGap                 Code = "unreferenced-bytes"
	CodeTrailing            Code = "trailing-bytes"
	CodeHashZero            Code = "hash-not-computed"
	CodeHashMismatch        Code = "hash-mismatch"
	CodeNewerVersion        Code = "newer-version"
	CodeStringBounds        Code = "string-out-of-bounds"
	CodeStringUnterminated  Code = "string-unterminated"
	CodeStringUTF8          Code = "string-invalid-utf8"
	CodeStringUnused        Code = "string-unreferenced"
	CodeEntityDuplicate     Code = "duplicate-entity-id"
	CodeEntityParent        Code = "missing-parent"
	CodeEntityCycle         Code = "hierarchy-cycle"
	CodeEntityOrder         Code = "parent-after-child"
	CodeEntityMeshRange     Code = "entity-mesh-range"
	CodeEntityTransform     Code = "entity-transform"
	CodeNotFinite           Code = "not-finite"
	CodeBoundsInverted      Code = "bounds-inverted"
	CodeBoundsOutside       Code = "bounds-too-small"
	CodeBoundsLoose         Code = "bounds-not-tight"
	CodeMeshEntity          Code = "mesh-entity"
	CodeMeshOrphan          Code = "mesh-without-entity"
	CodeMeshMaterial        Code = "mesh-material"
	CodeMeshEmpty           Code = "empty-mesh"
	CodeVertexStride        Code = "vertex-stride"
	CodeIndexType           Code = "index-type"
	CodeIndexWide           Code = "index-type-wide"
	CodeVertexSize          Code = "vertex-size-mismatch"
	CodeIndexSize           Code = "index-size-mismatch"
	CodeVertexRange         Code = "vertex-range"
	CodeIndexRange          Code = "index-range"
	CodeIndexTriangles      Code = "index-count-not-triangles"
	CodeIndexValue          Code = "index-out-of-range"
	CodeGPUBytes            Code = "estimated-gpu-bytes"
	CodeRangeOverlap        Code = "mesh-range-overlap"
	CodeRangeUnused         Code = "geometry-unreferenced"
	CodeVertexUnused        Code = "unused-vertices"
	CodeDegenerate          Code = "degenerate-triangles"
	CodePosition            Code = "position-not-finite"
	CodeUV                  Code = "uv-not-finite"
	CodeNormal              Code = "normal-not-unit"
	CodeTangent             Code = "tangent-not-unit"
	CodeNormalBits          Code = "normal-bits"
	CodeTangentBits         Code = "tangent-bits"
	CodeMaterialTexture     Code = "material-texture"
	CodeMaterialRange       Code = "material-range"
	CodeMaterialFlags       Code = "material-flags"
	CodeMaterialChannels    Code = "material-channels"
	CodeMaterialBlack       Code = "material-drawn-white"
	CodeMaterialUnused      Code = "material-unreferenced"
	CodeTextureURI          Code = "texture-uri"
	CodeTextureEscape       Code = "texture-uri-escapes"
	CodeTextureMissing      Code = "texture-missing"
	CodeTextureFormat       Code = "texture-format"
	CodeTextureFlags        Code = "texture-flags"
	CodeTextureSize         Code = "texture-size"
	CodeTextureUnused       Code = "texture-unreferenced"
	CodeGroupBounds         Code = "group-bounds"
	CodeChecksCut           Code = "checks-cut"
	CodeEmptyCompressed     Code = "empty-chunk-compressed"
	CodeEdgeRange           Code = "edge-range"
	CodeHeightTexture       Code = "material-height-texture"
	CodeTextureFile         Code = "texture-file-type"
	CodeFindingsSuppressed  Code = "findings-suppressed"
	codeInternalUnspecified Code = ""
)

const (
	hintRecook  = "cook the file again"
	hintCorrupt = "the file is damaged: fetch or cook it again"
	hintNewer   = "use a newer version of this tool, or export for version 1"
)

// rules holds one row per code.
var rules = map[Code]rule{
	CodeReadFailed:          {hint: "check the disk or the connection"},
	CodeTruncated:           {hint: "the file is cut off: fetch or cook it again"},
	CodeMagic:               {hint: "this is not an .untold file"},
	CodeVersion:             {hint: hintNewer, unsupported: true},
	CodeFileType:            {hint: "only tile, lod, hlod and shared files are supported", unsupported: true},
	CodeVertexLayout:        {hint: "only PBR_STATIC_V1 (1) is supported", unsupported: true},
	CodeHeaderSize:          {lenient: true, hint: "write 204"},
	CodeHeaderCount:         {lenient: true, hint: "write the number of records of the table"},
	CodeReserved:            {severity: SeverityWarning, hint: "write 0"},
	CodeRootTransform:       {severity: SeverityWarning, hint: "write the identity; bake the transform into the vertices"},
	CodeTableTruncated:      {hint: hintCorrupt},
	CodeCompression:         {hint: "use none, lz4 or zstd", unsupported: true},
	CodeMisaligned:          {hint: "start every payload at a multiple of 16"},
	CodeChunkBounds:         {hint: hintCorrupt},
	CodeMissingChunk:        {hint: "write all seven chunks, also when empty"},
	CodeDuplicateChunk:      {hint: "write each chunk type once"},
	CodeUnknownChunk:        {severity: SeverityInfo, hint: "it is skipped, but covered by the hash"},
	CodeChunkOrder:          {severity: SeverityWarning, hint: "store payloads in ascending chunk type, so that metadata comes first"},
	CodeChunkSize:           {hint: "an uncompressed chunk's two sizes are equal"},
	CodeTableSize:           {hint: "a table's size is its element count times the record size"},
	CodeElementCount:        {severity: SeverityWarning, hint: "write 0 for string, vertex and index chunks"},
	CodeChunkOverlap:        {lenient: true, hint: "give every payload bytes of its own"},
	CodeTooLarge:            {hint: "raise the limit if the file is trusted"},
	CodeDecode:              {hint: hintCorrupt},
	CodeDecodedSize:         {hint: hintCorrupt},
	CodeMetadataCompressed:  {severity: SeverityWarning, hint: "store metadata uncompressed: the reference engine expects it"},
	CodeZstd:                {severity: SeverityInfo, hint: "the reference engine refuses zstd; cook with --compress auto for it"},
	CodePadding:             {severity: SeverityWarning, hint: "fill padding with zero bytes"},
	CodeGap:                 {severity: SeverityWarning, hint: "leave no more than 15 bytes between payloads"},
	CodeTrailing:            {hint: "end the file with the last payload; up to 15 zero bytes are accepted"},
	CodeHashZero:            {severity: SeverityWarning, hint: "write the SHA-256 of the stored payloads"},
	CodeHashMismatch:        {hint: hintCorrupt},
	CodeNewerVersion:        {severity: SeverityInfo, hint: "fields of later versions are kept but not used"},
	CodeStringBounds:        {hint: "point into the string table or write 0xffffffff"},
	CodeStringUnterminated:  {hint: "end every string with a zero byte"},
	CodeStringUTF8:          {hint: "write strings as UTF-8"},
	CodeStringUnused:        {severity: SeverityInfo, hint: "drop strings that no record names"},
	CodeEntityDuplicate:     {hint: "give every entity an id of its own; the reference engine crashes on duplicates"},
	CodeEntityParent:        {hint: "name an existing entity or 0xffffffff"},
	CodeEntityCycle:         {hint: "break the cycle of parents"},
	CodeEntityOrder:         {severity: SeverityWarning, hint: "write parents before their children"},
	CodeEntityMeshRange:     {hint: "first + count must stay within the mesh table"},
	CodeEntityTransform:     {severity: SeverityWarning, hint: "write an affine transform with a non-zero determinant"},
	CodeNotFinite:           {lenient: true, hint: "write finite numbers"},
	CodeBoundsInverted:      {lenient: true, hint: "write min <= max on every axis"},
	CodeBoundsOutside:       {lenient: true, hint: "recompute the box: culling would drop what sticks out"},
	CodeBoundsLoose:         {severity: SeverityWarning, hint: "recompute the box from the stored positions"},
	CodeMeshEntity:          {lenient: true, hint: "name the entity that owns the mesh"},
	CodeMeshOrphan:          {severity: SeverityWarning, hint: "list the mesh in exactly one entity's range"},
	CodeMeshMaterial:        {hint: "name an existing material or 0xffffffff"},
	CodeMeshEmpty:           {severity: SeverityWarning, hint: "leave meshes without triangles out"},
	CodeVertexStride:        {hint: "write 32"},
	CodeIndexType:           {hint: "write 1 (uint16) or 2 (uint32)"},
	CodeIndexWide:           {severity: SeverityInfo, hint: "16 bits suffice up to 65535 vertices"},
	CodeVertexSize:          {hint: "write vertexCount * 32"},
	CodeIndexSize:           {hint: "write indexCount * 2 or 4"},
	CodeVertexRange:         {hint: "keep the range inside VERTEX_DATA"},
	CodeIndexRange:          {hint: "keep the range inside INDEX_DATA"},
	CodeIndexTriangles:      {lenient: true, hint: "write three indices per triangle"},
	CodeIndexValue:          {hint: "every index is below the mesh's vertex count"},
	CodeGPUBytes:            {severity: SeverityWarning, hint: "write vertex bytes + index bytes: memory budgets rely on it"},
	CodeRangeOverlap:        {severity: SeverityWarning, hint: "share a whole range or none of it"},
	CodeRangeUnused:         {severity: SeverityWarning, hint: "drop geometry that no mesh names"},
	CodeVertexUnused:        {severity: SeverityInfo, hint: "drop vertices that no index names"},
	CodeDegenerate:          {severity: SeverityInfo, hint: "drop triangles with repeated indices"},
	CodePosition:            {lenient: true, hint: "write finite positions"},
	CodeUV:                  {lenient: true, hint: "keep texture coordinates within +-65504; move them by whole repeats"},
	CodeNormal:              {severity: SeverityWarning, hint: "normalise before packing"},
	CodeTangent:             {severity: SeverityWarning, hint: "normalise before packing"},
	CodeNormalBits:          {severity: SeverityWarning, hint: "write 0 in the top bits and components of -511..511"},
	CodeTangentBits:         {severity: SeverityWarning, hint: "write 1 (+1) or 3 (-1) in the top bits and components of -511..511"},
	CodeMaterialTexture:     {hint: "name an existing texture or 0xffffffff"},
	CodeMaterialRange:       {severity: SeverityWarning, hint: "keep factors in [0, 1]"},
	CodeMaterialFlags:       {severity: SeverityWarning, hint: "use alpha mode 0..2 and the documented bits only"},
	CodeMaterialChannels:    {severity: SeverityWarning, hint: "write the channels in bits 0-3 and 0 elsewhere"},
	CodeMaterialBlack:       {severity: SeverityWarning, hint: "the reference engine draws it white; write 0.002 instead of 0"},
	CodeMaterialUnused:      {severity: SeverityInfo, hint: "drop materials that no mesh names"},
	CodeTextureURI:          {hint: "name the texture file, relative to the .untold file, with forward slashes", lenient: true},
	CodeTextureEscape:       {hint: "name a file below the folder of the .untold file", lenient: true},
	CodeTextureMissing:      {severity: SeverityWarning, hint: "cook again, or copy the texture to its place"},
	CodeTextureFormat:       {hint: "use a documented texture format", unsupported: true},
	CodeTextureFlags:        {severity: SeverityWarning, hint: "use the documented bits only"},
	CodeTextureSize:         {severity: SeverityWarning, hint: "write the size and mip count of the file, 1 mip for PNG and JPEG"},
	CodeTextureUnused:       {severity: SeverityInfo, hint: "drop textures that no material names"},
	CodeGroupBounds:         {severity: SeverityInfo, hint: "write the box around what lies below the entity; nothing is culled by it"},
	CodeChecksCut:           {severity: SeverityWarning, hint: "nothing needs that many copies of a range: write fewer meshes, or give them their own geometry"},
	CodeEmptyCompressed:     {severity: SeverityWarning, hint: "store empty chunks uncompressed: the reference engine ends when it decodes one"},
	CodeEdgeRange:           {severity: SeverityWarning, hint: "keep the edges' range inside the chunk of edge indices, or write 0"},
	CodeHeightTexture:       {severity: SeverityWarning, hint: "name an existing texture or 0xffffffff"},
	CodeTextureFile:         {severity: SeverityWarning, hint: "name .utex files with block formats and pictures without: the reference engine chooses its reader by the format"},
	CodeFindingsSuppressed:  {severity: SeverityInfo, hint: "raise the limit to see all"},
	codeInternalUnspecified: {hint: hintRecook},
}

// Rule describes a code for documentation and machine-readable reports.
type Rule struct {
	Code     Code
	Severity Severity
	Hint     string
}

// Rules returns all rules, sorted by code.
func Rules() []Rule {
	var out []Rule
	for c, r := range rules {
		if c != codeInternalUnspecified {
			out = append(out, Rule{c, r.severity, r.hint})
		}
	}
	slices.SortFunc(out, func(a, b Rule) int {
		if a.Code < b.Code {
			return -1
		}
		return 1
	})
	return out
}
