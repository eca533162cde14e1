package manifest

import (
	"cmp"
	"fmt"

	"github.com/untoldkit/untold/finding"
)

// The rules.
const (
	// About the text. The first five end Decode; ValidateFile goes on where
	// the text stays readable.
	codeSyntax       finding.Code = "manifest-syntax"
	codeMissingKey   finding.Code = "manifest-missing-key"
	codeWrongType    finding.Code = "manifest-wrong-type"
	codeRange        finding.Code = "manifest-number-range"
	codeTooLarge     finding.Code = "manifest-too-large"
	codeIgnoredValue finding.Code = "manifest-ignored-value"
	codeDuplicateKey finding.Code = "manifest-duplicate-key"
	codeShortVector  finding.Code = "manifest-short-vector"
	codeTruncated    finding.Code = "manifest-more-findings"

	// About the manifest as a whole.
	codeMode           finding.Code = "manifest-mode"
	codeNoTiles        finding.Code = "manifest-no-tiles"
	codeInteriorZone   finding.Code = "manifest-interior-zone"
	codeColorLUT       finding.Code = "manifest-color-lut"
	codeColorTable     finding.Code = "manifest-color-table"
	codeTileSize       finding.Code = "manifest-tile-size"
	codeDryRun         finding.Code = "manifest-dry-run"
	codeQueryCeiling   finding.Code = "manifest-query-ceiling"
	codeSharedPrefetch finding.Code = "manifest-shared-prefetch"

	// About tiles, the shared bucket and levels.
	codeTileID        finding.Code = "tile-id"
	codeDuplicateTile finding.Code = "tile-duplicate-id"
	codeGridCoord     finding.Code = "tile-grid-coord"
	codeNodeID        finding.Code = "tile-node-id"
	codeFloor         finding.Code = "tile-floor"
	codeTier          finding.Code = "tile-tier"
	codeBounds        finding.Code = "tile-bounds"
	codeOrigin        finding.Code = "origin-offset"
	codeTexture       finding.Code = "texture-scale"
	codeCenter        finding.Code = "tile-center"
	codeRadii         finding.Code = "tile-radii"
	codeLevels        finding.Code = "tile-levels"
	codeBands         finding.Code = "tile-bands"
	codeEngineReach   finding.Code = "beyond-engine-reach"
	codeLODInside     finding.Code = "tile-lod-inside"
	codePyramid       finding.Code = "pyramid-node"

	// About paths and files.
	codePathEscapes   finding.Code = "path-escapes"
	codeDuplicatePath finding.Code = "path-duplicate"
	codeFileMissing   finding.Code = "file-missing"
	codeFileSize      finding.Code = "file-size"
	codeFileHash      finding.Code = "file-hash"
	codeFileAccess    finding.Code = "file-access"
)

// rule is what all findings of one code share.
type rule struct {
	severity finding.Severity
	hint     string
}

var rules = map[finding.Code]rule{
	codeSyntax:       {finding.Error, "no reader can load this: write the manifest again"},
	codeMissingKey:   {finding.Error, "the reference engine refuses the whole manifest: add the key"},
	codeWrongType:    {finding.Error, "the reference engine refuses the whole manifest: write the type that the key asks for"},
	codeRange:        {finding.Error, "the engine keeps numbers in single precision: write a smaller one"},
	codeTooLarge:     {finding.Error, "no real scene needs this: check where the file comes from"},
	codeIgnoredValue: {finding.Warning, "readers that use this key will miss it: write the type that it asks for"},
	codeDuplicateKey: {finding.Warning, "readers disagree about which one counts: remove one"},
	codeShortVector:  {finding.Error, "write three numbers"},
	codeTruncated:    {finding.Info, "fix the ones above first"},

	codeMode:           {finding.Warning, "write uniform_grid, quadtree_floor or kdtree_floor: the engine goes by this string, not by the version"},
	codeNoTiles:        {finding.Warning, "the scene will be empty: check what was cooked"},
	codeInteriorZone:   {finding.Warning, "give the manifest an interior_zone with min <= max, or mark no tile as interior"},
	codeColorLUT:       {finding.Error, "the engine refuses the whole scene: correct the record or write null"},
	codeColorTable:     {finding.Error, "pictures are not graded: cook again with --grade and a .cube file as grading programs write it"},
	codeTileSize:       {finding.Error, "write positive sizes"},
	codeDryRun:         {finding.Warning, "cook without --dry-run to get the files"},
	codeQueryCeiling:   {finding.Warning, "reduce the radii, or raise the runtime's query radius; the reference engine tears down what is farther"},
	codeSharedPrefetch: {finding.Warning, "give the shared bucket its own prefetch_radius"},

	codeTileID:        {finding.Warning, "give every tile a name: tile_<tx>_<ty>_<tz> in grids, <node>_<tier code> with floors"},
	codeDuplicateTile: {finding.Error, "make tile ids unique: caches and tools tell tiles apart by them"},
	codeGridCoord:     {finding.Warning, "write the three numbers of the tile id"},
	codeNodeID:        {finding.Warning, "write the node's id, such as F01_Q_0_3, F01_K_1 or F02Q100: the engine finds parents by it"},
	codeFloor:         {finding.Warning, "with floors give every tile a floor_id: 0 on the ground floor, whose nodes begin with F01"},
	codeTier:          {finding.Warning, "write ExteriorShell, StructuralInterior, RoomContents or FineProps"},
	codeBounds:        {finding.Error, "write min <= max on every axis"},
	codeOrigin:        {finding.Warning, "write the metres that were taken off the source's coordinates, at most 1e9 on each axis, or leave the key out"},
	codeTexture:       {finding.Warning, "write 0 or more, or leave the entry out: the texture's size then goes by radii"},
	codeCenter:        {finding.Warning, "write the middle of bounds: the floor gate compares its height with the camera's"},
	codeRadii:         {finding.Error, "write 0 <= streaming_radius < unload_radius: otherwise the tile loads and unloads in turn"},
	codeLevels:        {finding.Warning, "write one hlod level, and lod levels in ascending order of switch_distance"},
	codeBands:         {finding.Warning, "write distances that survive unchanged: `untold manifest normalize` does, `untold manifest bands` shows them"},
	codeEngineReach:   {finding.Info, "nothing is wrong where the runtime looks that far, as this one does by itself; for the reference engine cook with --view-distance 500"},
	codeLODInside:     {finding.Warning, "let the first LOD begin at the streaming radius or beyond: the engine does not load the full tile farther away than that"},
	codePyramid:       {finding.Error, "cook the scene again, or leave out pyramid: every tile can be shown without it"},

	codePathEscapes:   {finding.Error, "write a relative path with forward slashes that stays in the manifest's folder"},
	codeDuplicatePath: {finding.Warning, "give every tile and level its own file"},
	codeFileMissing:   {finding.Error, "cook the scene again, or copy the file"},
	codeFileSize:      {finding.Error, "cook the scene again: the file is damaged or from another run"},
	codeFileHash:      {finding.Error, "cook the scene again: the file is damaged or from another run"},
	codeFileAccess:    {finding.Error, "check the file and its permissions"},
}

// newFinding makes a finding with the severity and the hint of the rule.
func newFinding(code finding.Code, pointer string, offset int64, message string) finding.Finding {
	r := rules[code]
	f := finding.Finding{Code: code, Severity: r.severity, Message: message, Hint: r.hint, Record: -1}
	place(&f, pointer, offset)
	return f
}

// place says where a finding is.
func place(f *finding.Finding, pointer string, offset int64) {
	f.Pointer, f.Offset, f.Place = pointer, offset, cmp.Or(pointer, "manifest")
	if offset >= 0 {
		f.Place += fmt.Sprintf(" at byte %d", offset)
	}
}

// codeOf returns the code of a decoding error.
func codeOf(e *DecodeError) finding.Code {
	switch e.Kind {
	case ErrMissingKey:
		return codeMissingKey
	case ErrWrongType:
		return codeWrongType
	case ErrRange:
		return codeRange
	case ErrTooLarge:
		return codeTooLarge
	}
	return codeSyntax
}
