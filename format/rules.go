package format

import "slices"

// The codes of all rules. docs/findings.md lists them with their severity; Rules
// returns them.
const (
	codeReadFailed          Code = "read-failed"
	codeTruncated           Code = "truncated-file"
	codeMagic               Code = "invalid-magic"
	codeVersion             Code = "unsupported-version"
	codeFileType            Code = "unsupported-file-type"
	codeVertexLayout        Code = "unsupported-vertex-layout"
	codeHeaderSize          Code = "header-size"
	codeHeaderCount         Code = "header-count"
	codeReserved            Code = "reserved-not-zero"
	codeRootTransform       Code = "root-transform"
	codeTableTruncated      Code = "chunk-table-truncated"
	codeCompression         Code = "unsupported-compression"
	codeMisaligned          Code = "misaligned-chunk"
	codeChunkBounds         Code = "chunk-out-of-bounds"
	codeMissingChunk        Code = "missing-chunk"
	codeDuplicateChunk      Code = "duplicate-chunk"
	codeUnknownChunk        Code = "unknown-chunk"
	codeChunkOrder          Code = "chunk-order"
	codeChunkSize           Code = "chunk-size-mismatch"
	codeTableSize           Code = "table-size-mismatch"
	codeElementCount        Code = "element-count"
	codeChunkOverlap        Code = "overlapping-chunks"
	codeTooLarge            Code = "chunk-too-large"
	codeDecode              Code = "decode-failed"
	codeDecodedSize         Code = "decoded-size-mismatch"
	codeMetadataCompressed  Code = "compressed-metadata"
	codeZstd                Code = "zstd-not-portable"
	codePadding             Code = "padding-not-zero"
	codeGap                 Code = "unreferenced-bytes"
	codeTrailing            Code = "trailing-bytes"
	codeHashZero            Code = "hash-not-computed"
	codeHashMismatch        Code = "hash-mismatch"
	codeNewerVersion        Code = "newer-version"
	codeStringBounds        Code = "string-out-of-bounds"
	codeStringUnterminated  Code = "string-unterminated"
	codeStringUTF8          Code = "string-invalid-utf8"
	codeStringUnused        Code = "string-unreferenced"
	codeEntityDuplicate     Code = "duplicate-entity-id"
	codeEntityParent        Code = "missing-parent"
	codeEntityCycle         Code = "hierarchy-cycle"
	codeEntityOrder         Code = "parent-after-child"
	codeEntityMeshRange     Code = "entity-mesh-range"
	codeEntityTransform     Code = "entity-transform"
	codeNotFinite           Code = "not-finite"
	codeBoundsInverted      Code = "bounds-inverted"
	codeBoundsOutside       Code = "bounds-too-small"
	codeBoundsLoose         Code = "bounds-not-tight"
	codeMeshEntity          Code = "mesh-entity"
	codeMeshOrphan          Code = "mesh-without-entity"
	codeMeshMaterial        Code = "mesh-material"
	codeMeshEmpty           Code = "empty-mesh"
	codeVertexStride        Code = "vertex-stride"
	codeIndexType           Code = "index-type"
	codeIndexWide           Code = "index-type-wide"
	codeVertexSize          Code = "vertex-size-mismatch"
	codeIndexSize           Code = "index-size-mismatch"
	codeVertexRange         Code = "vertex-range"
	codeIndexRange          Code = "index-range"
	codeIndexTriangles      Code = "index-count-not-triangles"
	codeIndexValue          Code = "index-out-of-range"
	codeGPUBytes            Code = "estimated-gpu-bytes"
	codeRangeOverlap        Code = "mesh-range-overlap"
	codeRangeUnused         Code = "geometry-unreferenced"
	codeVertexUnused        Code = "unused-vertices"
	codeDegenerate          Code = "degenerate-triangles"
	codePosition            Code = "position-not-finite"
	codeUV                  Code = "uv-not-finite"
	codeNormal              Code = "normal-not-unit"
	codeTangent             Code = "tangent-not-unit"
	codeNormalBits          Code = "normal-bits"
	codeTangentBits         Code = "tangent-bits"
	codeMaterialTexture     Code = "material-texture"
	codeMaterialRange       Code = "material-range"
	codeMaterialFlags       Code = "material-flags"
	codeMaterialChannels    Code = "material-channels"
	codeMaterialBlack       Code = "material-drawn-white"
	codeMaterialUnused      Code = "material-unreferenced"
	codeTextureURI          Code = "texture-uri"
	codeTextureEscape       Code = "texture-uri-escapes"
	codeTextureMissing      Code = "texture-missing"
	codeTextureFormat       Code = "texture-format"
	codeTextureFlags        Code = "texture-flags"
	codeTextureSize         Code = "texture-size"
	codeTextureUnused       Code = "texture-unreferenced"
	codeGroupBounds         Code = "group-bounds"
	codeChecksCut           Code = "checks-cut"
	codeEmptyCompressed     Code = "empty-chunk-compressed"
	codeEdgeRange           Code = "edge-range"
	codeHeightTexture       Code = "material-height-texture"
	codeTextureFile         Code = "texture-file-type"
	codeFindingsSuppressed  Code = "findings-suppressed"
	codeInternalUnspecified Code = ""
)

const (
	hintRecook  = "cook the file again"
	hintCorrupt = "the file is damaged: fetch or cook it again"
	hintNewer   = "use a newer version of this tool, or export for version 1"
)

// rules holds one row per code.
var rules = map[Code]rule{
	codeReadFailed:          {hint: "check the disk or the connection"},
	codeTruncated:           {hint: "the file is cut off: fetch or cook it again"},
	codeMagic:               {hint: "this is not an .untold file"},
	codeVersion:             {hint: hintNewer, unsupported: true},
	codeFileType:            {hint: "only tile, lod, hlod and shared files are supported", unsupported: true},
	codeVertexLayout:        {hint: "only PBR_STATIC_V1 (1) is supported", unsupported: true},
	codeHeaderSize:          {lenient: true, hint: "write 204"},
	codeHeaderCount:         {lenient: true, hint: "write the number of records of the table"},
	codeReserved:            {severity: SeverityWarning, hint: "write 0"},
	codeRootTransform:       {severity: SeverityWarning, hint: "write the identity; bake the transform into the vertices"},
	codeTableTruncated:      {hint: hintCorrupt},
	codeCompression:         {hint: "use none, lz4 or zstd", unsupported: true},
	codeMisaligned:          {hint: "start every payload at a multiple of 16"},
	codeChunkBounds:         {hint: hintCorrupt},
	codeMissingChunk:        {hint: "write all seven chunks, also when empty"},
	codeDuplicateChunk:      {hint: "write each chunk type once"},
	codeUnknownChunk:        {severity: SeverityInfo, hint: "it is skipped, but covered by the hash"},
	codeChunkOrder:          {severity: SeverityWarning, hint: "store payloads in ascending chunk type, so that metadata comes first"},
	codeChunkSize:           {hint: "an uncompressed chunk's two sizes are equal"},
	codeTableSize:           {hint: "a table's size is its element count times the record size"},
	codeElementCount:        {severity: SeverityWarning, hint: "write 0 for string, vertex and index chunks"},
	codeChunkOverlap:        {lenient: true, hint: "give every payload bytes of its own"},
	codeTooLarge:            {hint: "raise the limit if the file is trusted"},
	codeDecode:              {hint: hintCorrupt},
	codeDecodedSize:         {hint: hintCorrupt},
	codeMetadataCompressed:  {severity: SeverityWarning, hint: "store metadata uncompressed: the reference engine expects it"},
	codeZstd:                {severity: SeverityInfo, hint: "the reference engine refuses zstd; cook with --compress auto for it"},
	codePadding:             {severity: SeverityWarning, hint: "fill padding with zero bytes"},
	codeGap:                 {severity: SeverityWarning, hint: "leave no more than 15 bytes between payloads"},
	codeTrailing:            {hint: "end the file with the last payload; up to 15 zero bytes are accepted"},
	codeHashZero:            {severity: SeverityWarning, hint: "write the SHA-256 of the stored payloads"},
	codeHashMismatch:        {hint: hintCorrupt},
	codeNewerVersion:        {severity: SeverityInfo, hint: "fields of later versions are kept but not used"},
	codeStringBounds:        {hint: "point into the string table or write 0xffffffff"},
	codeStringUnterminated:  {hint: "end every string with a zero byte"},
	codeStringUTF8:          {hint: "write strings as UTF-8"},
	codeStringUnused:        {severity: SeverityInfo, hint: "drop strings that no record names"},
	codeEntityDuplicate:     {hint: "give every entity an id of its own; the reference engine crashes on duplicates"},
	codeEntityParent:        {hint: "name an existing entity or 0xffffffff"},
	codeEntityCycle:         {hint: "break the cycle of parents"},
	codeEntityOrder:         {severity: SeverityWarning, hint: "write parents before their children"},
	codeEntityMeshRange:     {hint: "first + count must stay within the mesh table"},
	codeEntityTransform:     {severity: SeverityWarning, hint: "write an affine transform with a non-zero determinant"},
	codeNotFinite:           {lenient: true, hint: "write finite numbers"},
	codeBoundsInverted:      {lenient: true, hint: "write min <= max on every axis"},
	codeBoundsOutside:       {lenient: true, hint: "recompute the box: culling would drop what sticks out"},
	codeBoundsLoose:         {severity: SeverityWarning, hint: "recompute the box from the stored positions"},
	codeMeshEntity:          {lenient: true, hint: "name the entity that owns the mesh"},
	codeMeshOrphan:          {severity: SeverityWarning, hint: "list the mesh in exactly one entity's range"},
	codeMeshMaterial:        {hint: "name an existing material or 0xffffffff"},
	codeMeshEmpty:           {severity: SeverityWarning, hint: "leave meshes without triangles out"},
	codeVertexStride:        {hint: "write 32"},
	codeIndexType:           {hint: "write 1 (uint16) or 2 (uint32)"},
	codeIndexWide:           {severity: SeverityInfo, hint: "16 bits suffice up to 65535 vertices"},
	codeVertexSize:          {hint: "write vertexCount * 32"},
	codeIndexSize:           {hint: "write indexCount * 2 or 4"},
	codeVertexRange:         {hint: "keep the range inside VERTEX_DATA"},
	codeIndexRange:          {hint: "keep the range inside INDEX_DATA"},
	codeIndexTriangles:      {lenient: true, hint: "write three indices per triangle"},
	codeIndexValue:          {hint: "every index is below the mesh's vertex count"},
	codeGPUBytes:            {severity: SeverityWarning, hint: "write vertex bytes + index bytes: memory budgets rely on it"},
	codeRangeOverlap:        {severity: SeverityWarning, hint: "share a whole range or none of it"},
	codeRangeUnused:         {severity: SeverityWarning, hint: "drop geometry that no mesh names"},
	codeVertexUnused:        {severity: SeverityInfo, hint: "drop vertices that no index names"},
	codeDegenerate:          {severity: SeverityInfo, hint: "drop triangles with repeated indices"},
	codePosition:            {lenient: true, hint: "write finite positions"},
	codeUV:                  {lenient: true, hint: "keep texture coordinates within +-65504; move them by whole repeats"},
	codeNormal:              {severity: SeverityWarning, hint: "normalise before packing"},
	codeTangent:             {severity: SeverityWarning, hint: "normalise before packing"},
	codeNormalBits:          {severity: SeverityWarning, hint: "write 0 in the top bits and components of -511..511"},
	codeTangentBits:         {severity: SeverityWarning, hint: "write 1 (+1) or 3 (-1) in the top bits and components of -511..511"},
	codeMaterialTexture:     {hint: "name an existing texture or 0xffffffff"},
	codeMaterialRange:       {severity: SeverityWarning, hint: "keep factors in [0, 1]"},
	codeMaterialFlags:       {severity: SeverityWarning, hint: "use alpha mode 0..2 and the documented bits only"},
	codeMaterialChannels:    {severity: SeverityWarning, hint: "write the channels in bits 0-3 and 0 elsewhere"},
	codeMaterialBlack:       {severity: SeverityWarning, hint: "the reference engine draws it white; write 0.002 instead of 0"},
	codeMaterialUnused:      {severity: SeverityInfo, hint: "drop materials that no mesh names"},
	codeTextureURI:          {hint: "name the texture file, relative to the .untold file, with forward slashes", lenient: true},
	codeTextureEscape:       {hint: "name a file below the folder of the .untold file", lenient: true},
	codeTextureMissing:      {severity: SeverityWarning, hint: "cook again, or copy the texture to its place"},
	codeTextureFormat:       {hint: "use a documented texture format", unsupported: true},
	codeTextureFlags:        {severity: SeverityWarning, hint: "use the documented bits only"},
	codeTextureSize:         {severity: SeverityWarning, hint: "write the size and mip count of the file, 1 mip for PNG and JPEG"},
	codeTextureUnused:       {severity: SeverityInfo, hint: "drop textures that no material names"},
	codeGroupBounds:         {severity: SeverityInfo, hint: "write the box around what lies below the entity; nothing is culled by it"},
	codeChecksCut:           {severity: SeverityWarning, hint: "nothing needs that many copies of a range: write fewer meshes, or give them their own geometry"},
	codeEmptyCompressed:     {severity: SeverityWarning, hint: "store empty chunks uncompressed: the reference engine ends when it decodes one"},
	codeEdgeRange:           {severity: SeverityWarning, hint: "keep the edges' range inside the chunk of edge indices, or write 0"},
	codeHeightTexture:       {severity: SeverityWarning, hint: "name an existing texture or 0xffffffff"},
	codeTextureFile:         {severity: SeverityWarning, hint: "name .utex files with block formats and pictures without: the reference engine chooses its reader by the format"},
	codeFindingsSuppressed:  {severity: SeverityInfo, hint: "raise the limit to see all"},
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
