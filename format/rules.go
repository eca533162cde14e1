package format

import (
	"slices"

	"github.com/untoldkit/untold/finding"
)

// The codes of all rules. docs/findings.md lists them with their severity; Rules
// returns them.
const (
	codeReadFailed          finding.Code = "read-failed"
	codeTruncated           finding.Code = "truncated-file"
	codeMagic               finding.Code = "invalid-magic"
	codeVersion             finding.Code = "unsupported-version"
	codeFileType            finding.Code = "unsupported-file-type"
	codeVertexLayout        finding.Code = "unsupported-vertex-layout"
	codeHeaderSize          finding.Code = "header-size"
	codeHeaderCount         finding.Code = "header-count"
	codeReserved            finding.Code = "reserved-not-zero"
	codeRootTransform       finding.Code = "root-transform"
	codeTableTruncated      finding.Code = "chunk-table-truncated"
	codeCompression         finding.Code = "unsupported-compression"
	codeMisaligned          finding.Code = "misaligned-chunk"
	codeChunkBounds         finding.Code = "chunk-out-of-bounds"
	codeMissingChunk        finding.Code = "missing-chunk"
	codeDuplicateChunk      finding.Code = "duplicate-chunk"
	codeUnknownChunk        finding.Code = "unknown-chunk"
	codeChunkOrder          finding.Code = "chunk-order"
	codeChunkSize           finding.Code = "chunk-size-mismatch"
	codeTableSize           finding.Code = "table-size-mismatch"
	codeElementCount        finding.Code = "element-count"
	codeChunkOverlap        finding.Code = "overlapping-chunks"
	codeTooLarge            finding.Code = "chunk-too-large"
	codeDecode              finding.Code = "decode-failed"
	codeDecodedSize         finding.Code = "decoded-size-mismatch"
	codeMetadataCompressed  finding.Code = "compressed-metadata"
	codeZstd                finding.Code = "zstd-not-portable"
	codeDelta               finding.Code = "delta-not-portable"
	codePadding             finding.Code = "padding-not-zero"
	codeGap                 finding.Code = "unreferenced-bytes"
	codeTrailing            finding.Code = "trailing-bytes"
	codeHashZero            finding.Code = "hash-not-computed"
	codeHashMismatch        finding.Code = "hash-mismatch"
	codeNewerVersion        finding.Code = "newer-version"
	codeStringBounds        finding.Code = "string-out-of-bounds"
	codeStringUnterminated  finding.Code = "string-unterminated"
	codeStringUTF8          finding.Code = "string-invalid-utf8"
	codeStringUnused        finding.Code = "string-unreferenced"
	codeEntityDuplicate     finding.Code = "duplicate-entity-id"
	codeEntityParent        finding.Code = "missing-parent"
	codeEntityCycle         finding.Code = "hierarchy-cycle"
	codeEntityOrder         finding.Code = "parent-after-child"
	codeEntityMeshRange     finding.Code = "entity-mesh-range"
	codeEntityTransform     finding.Code = "entity-transform"
	codeNotFinite           finding.Code = "not-finite"
	codeBoundsInverted      finding.Code = "bounds-inverted"
	codeBoundsOutside       finding.Code = "bounds-too-small"
	codeBoundsLoose         finding.Code = "bounds-not-tight"
	codeMeshEntity          finding.Code = "mesh-entity"
	codeMeshOrphan          finding.Code = "mesh-without-entity"
	codeMeshMaterial        finding.Code = "mesh-material"
	codeMeshEmpty           finding.Code = "empty-mesh"
	codeVertexStride        finding.Code = "vertex-stride"
	codeIndexType           finding.Code = "index-type"
	codeIndexWide           finding.Code = "index-type-wide"
	codeVertexSize          finding.Code = "vertex-size-mismatch"
	codeIndexSize           finding.Code = "index-size-mismatch"
	codeVertexRange         finding.Code = "vertex-range"
	codeIndexRange          finding.Code = "index-range"
	codeIndexTriangles      finding.Code = "index-count-not-triangles"
	codeIndexValue          finding.Code = "index-out-of-range"
	codeGPUBytes            finding.Code = "estimated-gpu-bytes"
	codeRangeOverlap        finding.Code = "mesh-range-overlap"
	codeRangeUnused         finding.Code = "geometry-unreferenced"
	codeVertexUnused        finding.Code = "unused-vertices"
	codeDegenerate          finding.Code = "degenerate-triangles"
	codePosition            finding.Code = "position-not-finite"
	codeUV                  finding.Code = "uv-not-finite"
	codeNormal              finding.Code = "normal-not-unit"
	codeTangent             finding.Code = "tangent-not-unit"
	codeNormalBits          finding.Code = "normal-bits"
	codeTangentBits         finding.Code = "tangent-bits"
	codeMaterialTexture     finding.Code = "material-texture"
	codeMaterialRange       finding.Code = "material-range"
	codeMaterialFlags       finding.Code = "material-flags"
	codeMaterialChannels    finding.Code = "material-channels"
	codeMaterialBlack       finding.Code = "material-drawn-white"
	codeMaterialUnused      finding.Code = "material-unreferenced"
	codeTextureURI          finding.Code = "texture-uri"
	codeTextureEscape       finding.Code = "texture-uri-escapes"
	codeTextureMissing      finding.Code = "texture-missing"
	codeTextureFormat       finding.Code = "texture-format"
	codeTextureFlags        finding.Code = "texture-flags"
	codeTextureSize         finding.Code = "texture-size"
	codeTextureUnused       finding.Code = "texture-unreferenced"
	codeGroupBounds         finding.Code = "group-bounds"
	codeChecksCut           finding.Code = "checks-cut"
	codeEmptyCompressed     finding.Code = "empty-chunk-compressed"
	codeEdgeRange           finding.Code = "edge-range"
	codeHeightTexture       finding.Code = "material-height-texture"
	codeTextureFile         finding.Code = "texture-file-type"
	codeFindingsSuppressed  finding.Code = "findings-suppressed"
	codeInternalUnspecified finding.Code = ""
)

const (
	hintRecook  = "cook the file again"
	hintCorrupt = "the file is damaged: fetch or cook it again"
	hintNewer   = "use a newer version of this tool, or export for version 1"
)

// rules holds one row per code.
var rules = map[finding.Code]rule{
	codeReadFailed:          {hint: "check the disk or the connection"},
	codeTruncated:           {hint: "the file is cut off: fetch or cook it again"},
	codeMagic:               {hint: "this is not an .untold file"},
	codeVersion:             {hint: hintNewer, unsupported: true},
	codeFileType:            {hint: "only tile, lod, hlod and shared files are supported", unsupported: true},
	codeVertexLayout:        {hint: "only PBR_STATIC_V1 (1) is supported", unsupported: true},
	codeHeaderSize:          {lenient: true, hint: "write 204"},
	codeHeaderCount:         {lenient: true, hint: "write the number of records of the table"},
	codeReserved:            {severity: finding.Warning, hint: "write 0"},
	codeRootTransform:       {severity: finding.Warning, hint: "write the identity; bake the transform into the vertices"},
	codeTableTruncated:      {hint: hintCorrupt},
	codeCompression:         {hint: "use none, lz4, zstd or delta", unsupported: true},
	codeMisaligned:          {hint: "start every payload at a multiple of 16"},
	codeChunkBounds:         {hint: hintCorrupt},
	codeMissingChunk:        {hint: "write all seven chunks, also when empty"},
	codeDuplicateChunk:      {hint: "write each chunk type once"},
	codeUnknownChunk:        {severity: finding.Info, hint: "it is skipped, but covered by the hash"},
	codeChunkOrder:          {severity: finding.Warning, hint: "store payloads in ascending chunk type, so that metadata comes first"},
	codeChunkSize:           {hint: "an uncompressed chunk's two sizes are equal"},
	codeTableSize:           {hint: "a table's size is its element count times the record size"},
	codeElementCount:        {severity: finding.Warning, hint: "write 0 for string, vertex and index chunks"},
	codeChunkOverlap:        {lenient: true, hint: "give every payload bytes of its own"},
	codeTooLarge:            {hint: "raise the limit if the file is trusted"},
	codeDecode:              {hint: hintCorrupt},
	codeDecodedSize:         {hint: hintCorrupt},
	codeMetadataCompressed:  {severity: finding.Warning, hint: "store metadata uncompressed: the reference engine expects it"},
	codeZstd:                {severity: finding.Info, hint: "the reference engine refuses zstd; cook with --compress auto for it"},
	codeDelta:               {severity: finding.Info, hint: "untold alone reads delta; cook with --compress auto for other readers"},
	codePadding:             {severity: finding.Warning, hint: "fill padding with zero bytes"},
	codeGap:                 {severity: finding.Warning, hint: "leave no more than 15 bytes between payloads"},
	codeTrailing:            {hint: "end the file with the last payload; up to 15 zero bytes are accepted"},
	codeHashZero:            {severity: finding.Warning, hint: "write the SHA-256 of the stored payloads"},
	codeHashMismatch:        {hint: hintCorrupt},
	codeNewerVersion:        {severity: finding.Info, hint: "fields of later versions are kept but not used"},
	codeStringBounds:        {hint: "point into the string table or write 0xffffffff"},
	codeStringUnterminated:  {hint: "end every string with a zero byte"},
	codeStringUTF8:          {hint: "write strings as UTF-8"},
	codeStringUnused:        {severity: finding.Info, hint: "drop strings that no record names"},
	codeEntityDuplicate:     {hint: "give every entity an id of its own; the reference engine crashes on duplicates"},
	codeEntityParent:        {hint: "name an existing entity or 0xffffffff"},
	codeEntityCycle:         {hint: "break the cycle of parents"},
	codeEntityOrder:         {severity: finding.Warning, hint: "write parents before their children"},
	codeEntityMeshRange:     {hint: "first + count must stay within the mesh table"},
	codeEntityTransform:     {severity: finding.Warning, hint: "write an affine transform with a non-zero determinant"},
	codeNotFinite:           {lenient: true, hint: "write finite numbers"},
	codeBoundsInverted:      {lenient: true, hint: "write min <= max on every axis"},
	codeBoundsOutside:       {lenient: true, hint: "recompute the box: culling would drop what sticks out"},
	codeBoundsLoose:         {severity: finding.Warning, hint: "recompute the box from the stored positions"},
	codeMeshEntity:          {lenient: true, hint: "name the entity that owns the mesh"},
	codeMeshOrphan:          {severity: finding.Warning, hint: "list the mesh in exactly one entity's range"},
	codeMeshMaterial:        {hint: "name an existing material or 0xffffffff"},
	codeMeshEmpty:           {severity: finding.Warning, hint: "leave meshes without triangles out"},
	codeVertexStride:        {hint: "write 32"},
	codeIndexType:           {hint: "write 1 (uint16) or 2 (uint32)"},
	codeIndexWide:           {severity: finding.Info, hint: "16 bits suffice up to 65535 vertices"},
	codeVertexSize:          {hint: "write vertexCount * 32"},
	codeIndexSize:           {hint: "write indexCount * 2 or 4"},
	codeVertexRange:         {hint: "keep the range inside VERTEX_DATA"},
	codeIndexRange:          {hint: "keep the range inside INDEX_DATA"},
	codeIndexTriangles:      {lenient: true, hint: "write three indices per triangle"},
	codeIndexValue:          {hint: "every index is below the mesh's vertex count"},
	codeGPUBytes:            {severity: finding.Warning, hint: "write vertex bytes + index bytes: memory budgets rely on it"},
	codeRangeOverlap:        {severity: finding.Warning, hint: "share a whole range or none of it"},
	codeRangeUnused:         {severity: finding.Warning, hint: "drop geometry that no mesh names"},
	codeVertexUnused:        {severity: finding.Info, hint: "drop vertices that no index names"},
	codeDegenerate:          {severity: finding.Info, hint: "drop triangles with repeated indices"},
	codePosition:            {lenient: true, hint: "write finite positions"},
	codeUV:                  {lenient: true, hint: "keep texture coordinates within +-65504; move them by whole repeats"},
	codeNormal:              {severity: finding.Warning, hint: "normalise before packing"},
	codeTangent:             {severity: finding.Warning, hint: "normalise before packing"},
	codeNormalBits:          {severity: finding.Warning, hint: "write 0 in the top bits and components of -511..511"},
	codeTangentBits:         {severity: finding.Warning, hint: "write 1 (+1) or 3 (-1) in the top bits and components of -511..511"},
	codeMaterialTexture:     {hint: "name an existing texture or 0xffffffff"},
	codeMaterialRange:       {severity: finding.Warning, hint: "keep factors in [0, 1]"},
	codeMaterialFlags:       {severity: finding.Warning, hint: "use alpha mode 0..2 and the documented bits only"},
	codeMaterialChannels:    {severity: finding.Warning, hint: "write the channels in bits 0-3 and 0 elsewhere"},
	codeMaterialBlack:       {severity: finding.Warning, hint: "the reference engine draws it white; write 0.002 instead of 0"},
	codeMaterialUnused:      {severity: finding.Info, hint: "drop materials that no mesh names"},
	codeTextureURI:          {hint: "name the texture file, relative to the .untold file, with forward slashes", lenient: true},
	codeTextureEscape:       {hint: "name a file below the folder of the .untold file", lenient: true},
	codeTextureMissing:      {severity: finding.Warning, hint: "cook again, or copy the texture to its place"},
	codeTextureFormat:       {hint: "use a documented texture format", unsupported: true},
	codeTextureFlags:        {severity: finding.Warning, hint: "use the documented bits only"},
	codeTextureSize:         {severity: finding.Warning, hint: "write the size and mip count of the file, 1 mip for PNG and JPEG"},
	codeTextureUnused:       {severity: finding.Info, hint: "drop textures that no material names"},
	codeGroupBounds:         {severity: finding.Info, hint: "write the box around what lies below the entity; nothing is culled by it"},
	codeChecksCut:           {severity: finding.Warning, hint: "nothing needs that many copies of a range: write fewer meshes, or give them their own geometry"},
	codeEmptyCompressed:     {severity: finding.Warning, hint: "store empty chunks uncompressed: the reference engine ends when it decodes one"},
	codeEdgeRange:           {severity: finding.Warning, hint: "keep the edges' range inside the chunk of edge indices, or write 0"},
	codeHeightTexture:       {severity: finding.Warning, hint: "name an existing texture or 0xffffffff"},
	codeTextureFile:         {severity: finding.Warning, hint: "name .utex files with block formats and pictures without: the reference engine chooses its reader by the format"},
	codeFindingsSuppressed:  {severity: finding.Info, hint: "raise the limit to see all"},
	codeInternalUnspecified: {hint: hintRecook},
}

// Rule describes a code for documentation and machine-readable reports.
type Rule struct {
	Code     finding.Code
	Severity finding.Severity
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
