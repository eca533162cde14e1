package manifest

import (
	"encoding/json"
	"fmt"

	"github.com/untoldkit/untold/internal/human"
)

// Severity grades a finding.
type Severity uint8

// The severities. An error makes the manifest, or a part of it, unfit for use;
// a warning is legal but costs something or surprises; info is a remark.
const (
	SeverityError Severity = iota
	SeverityWarning
	SeverityInfo
)

// String returns error, warning or info.
func (s Severity) String() string { return [...]string{"error", "warning", "info"}[s] }

// MarshalText writes the severity's name.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Finding is one observation of Validate.
type Finding struct {
	Code     Code
	Severity Severity
	Message  string // what is wrong, with the numbers
	Hint     string // what to do about it
	Pointer  string // JSON pointer (RFC 6901) into the manifest, "" for all of it
	Offset   int64  // byte offset in the manifest's file, -1 when unknown
}

// String returns one line.
func (f Finding) String() string {
	place := f.Pointer
	if f.Offset >= 0 {
		place += fmt.Sprintf(" at byte %d", f.Offset)
	}
	return human.OneLine(fmt.Sprintf("%s %s %s: %s (%s)", f.Severity, f.Code, place, f.Message, f.Hint))
}

// MarshalJSON writes code, severity, message, hint, pointer and offset, which
// is null when unknown.
func (f Finding) MarshalJSON() ([]byte, error) {
	row := struct {
		Code     Code     `json:"code"`
		Severity Severity `json:"severity"`
		Message  string   `json:"message"`
		Hint     string   `json:"hint"`
		Pointer  string   `json:"pointer"`
		Offset   *int64   `json:"offset"`
	}{f.Code, f.Severity, f.Message, f.Hint, f.Pointer, nil}
	if f.Offset >= 0 {
		row.Offset = &f.Offset
	}
	return json.Marshal(row)
}

// Code identifies a rule. Codes are stable: scripts may depend on them.
type Code string

// The rules.
const (
	// About the text. The first five end Decode; ValidateFile goes on where
	// the text stays readable.
	CodeSyntax       Code = "manifest-syntax"
	CodeMissingKey   Code = "manifest-missing-key"
	CodeWrongType    Code = "manifest-wrong-type"
	CodeRange        Code = "manifest-number-range"
	CodeTooLarge     Code = "manifest-too-large"
	CodeIgnoredValue Code = "manifest-ignored-value"
	CodeDuplicateKey Code = "manifest-duplicate-key"
	CodeShortVector  Code = "manifest-short-vector"
	CodeTruncated    Code = "manifest-more-findings"

	// About the manifest as a whole.
	CodeMode           Code = "manifest-mode"
	CodeNoTiles        Code = "manifest-no-tiles"
	CodeInteriorZone   Code = "manifest-interior-zone"
	CodeColorLUT       Code = "manifest-color-lut"
	CodeTileSize       Code = "manifest-tile-size"
	CodeDryRun         Code = "manifest-dry-run"
	CodeQueryCeiling   Code = "manifest-query-ceiling"
	CodeSharedPrefetch Code = "manifest-shared-prefetch"

	// About tiles, the shared bucket and levels.
	CodeTileID        Code = "tile-id"
	CodeDuplicateTile Code = "tile-duplicate-id"
	CodeGridCoord     Code = "tile-grid-coord"
	CodeNodeID        Code = "tile-node-id"
	CodeFloor         Code = "tile-floor"
	CodeTier          Code = "tile-tier"
	CodeBounds        Code = "tile-bounds"
	CodeOrigin        Code = "origin-offset"
	CodeTexture       Code = "texture-scale"
	CodeCenter        Code = "tile-center"
	CodeRadii         Code = "tile-radii"
	CodeLevels        Code = "tile-levels"
	CodeBands         Code = "tile-bands"
	CodeEngineReach   Code = "beyond-engine-reach"
	CodeLODInside     Code = "tile-lod-inside"

	// About paths and files.
	CodePathEscapes   Code = "path-escapes"
	CodeDuplicatePath Code = "path-duplicate"
	CodeFileMissing   Code = "file-missing"
	CodeFileSize      Code = "file-size"
	CodeFileHash      Code = "file-hash"
	CodeFileAccess    Code = "file-access"
)

// rule is what all findings of one code share.
type rule struct {
	severity Severity
	hint     string
}

var rules = map[Code]rule{
	CodeSyntax:       {SeverityError, "no reader can load this: write the manifest again"},
	CodeMissingKey:   {SeverityError, "the reference engine refuses the whole manifest: add the key"},
	CodeWrongType:    {SeverityError, "the reference engine refuses the whole manifest: write the type that the key asks for"},
	CodeRange:        {SeverityError, "the engine keeps numbers in single precision: write a smaller one"},
	CodeTooLarge:     {SeverityError, "no real scene needs this: check where the file comes from"},
	CodeIgnoredValue: {SeverityWarning, "readers that use this key will miss it: write the type that it asks for"},
	CodeDuplicateKey: {SeverityWarning, "readers disagree about which one counts: remove one"},
	CodeShortVector:  {SeverityError, "write three numbers"},
	CodeTruncated:    {SeverityInfo, "fix the ones above first"},

	CodeMode:           {SeverityWarning, "write uniform_grid, quadtree_floor or kdtree_floor: the engine goes by this string, not by the version"},
	CodeNoTiles:        {SeverityWarning, "the scene will be empty: check what was cooked"},
	CodeInteriorZone:   {SeverityWarning, "give the manifest an interior_zone with min <= max, or mark no tile as interior"},
	CodeColorLUT:       {SeverityError, "the engine refuses the whole scene: correct the record or write null"},
	CodeTileSize:       {SeverityError, "write positive sizes"},
	CodeDryRun:         {SeverityWarning, "cook without --dry-run to get the files"},
	CodeQueryCeiling:   {SeverityWarning, "reduce the radii, or raise the runtime's query radius; the reference engine tears down what is farther"},
	CodeSharedPrefetch: {SeverityWarning, "give the shared bucket its own prefetch_radius"},

	CodeTileID:        {SeverityWarning, "give every tile a name: tile_<tx>_<ty>_<tz> in grids, <node>_<tier code> with floors"},
	CodeDuplicateTile: {SeverityError, "make tile ids unique: caches and tools tell tiles apart by them"},
	CodeGridCoord:     {SeverityWarning, "write the three numbers of the tile id"},
	CodeNodeID:        {SeverityWarning, "write the node's id, such as F01_Q_0_3, F01_K_1 or F02Q100: the engine finds parents by it"},
	CodeFloor:         {SeverityWarning, "with floors give every tile a floor_id: 0 on the ground floor, whose nodes begin with F01"},
	CodeTier:          {SeverityWarning, "write ExteriorShell, StructuralInterior, RoomContents or FineProps"},
	CodeBounds:        {SeverityError, "write min <= max on every axis"},
	CodeOrigin:        {SeverityWarning, "write the metres that were taken off the source's coordinates, at most 1e9 on each axis, or leave the key out"},
	CodeTexture:       {SeverityWarning, "write 0 or more, or leave the entry out: the texture's size then goes by radii"},
	CodeCenter:        {SeverityWarning, "write the middle of bounds: the floor gate compares its height with the camera's"},
	CodeRadii:         {SeverityError, "write 0 <= streaming_radius < unload_radius: otherwise the tile loads and unloads in turn"},
	CodeLevels:        {SeverityWarning, "write one hlod level, and lod levels in ascending order of switch_distance"},
	CodeBands:         {SeverityWarning, "write distances that survive unchanged: `untold manifest normalize` does, `untold manifest bands` shows them"},
	CodeEngineReach:   {SeverityInfo, "nothing is wrong where the runtime looks that far, as this one does by itself; for the reference engine cook with --view-distance 500"},
	CodeLODInside:     {SeverityWarning, "let the first LOD begin at the streaming radius or beyond: the engine does not load the full tile farther away than that"},

	CodePathEscapes:   {SeverityError, "write a relative path with forward slashes that stays in the manifest's folder"},
	CodeDuplicatePath: {SeverityWarning, "give every tile and level its own file"},
	CodeFileMissing:   {SeverityError, "cook the scene again, or copy the file"},
	CodeFileSize:      {SeverityError, "cook the scene again: the file is damaged or from another run"},
	CodeFileHash:      {SeverityError, "cook the scene again: the file is damaged or from another run"},
	CodeFileAccess:    {SeverityError, "check the file and its permissions"},
}

// finding makes a finding with the severity and the hint of the rule.
func (c Code) finding(pointer string, offset int64, message string) Finding {
	r := rules[c]
	return Finding{Code: c, Severity: r.severity, Message: message, Hint: r.hint, Pointer: pointer, Offset: offset}
}

// codeOf returns the code of a decoding error.
func codeOf(e *DecodeError) Code {
	switch e.Kind {
	case ErrMissingKey:
		return CodeMissingKey
	case ErrWrongType:
		return CodeWrongType
	case ErrRange:
		return CodeRange
	case ErrTooLarge:
		return CodeTooLarge
	}
	return CodeSyntax
}
