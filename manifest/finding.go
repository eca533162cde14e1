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
	codeSyntax       Code = "manifest-syntax"
	codeMissingKey   Code = "manifest-missing-key"
	codeWrongType    Code = "manifest-wrong-type"
	codeRange        Code = "manifest-number-range"
	codeTooLarge     Code = "manifest-too-large"
	codeIgnoredValue Code = "manifest-ignored-value"
	codeDuplicateKey Code = "manifest-duplicate-key"
	codeShortVector  Code = "manifest-short-vector"
	codeTruncated    Code = "manifest-more-findings"

	// About the manifest as a whole.
	codeMode           Code = "manifest-mode"
	codeNoTiles        Code = "manifest-no-tiles"
	codeInteriorZone   Code = "manifest-interior-zone"
	codeColorLUT       Code = "manifest-color-lut"
	codeTileSize       Code = "manifest-tile-size"
	codeDryRun         Code = "manifest-dry-run"
	codeQueryCeiling   Code = "manifest-query-ceiling"
	codeSharedPrefetch Code = "manifest-shared-prefetch"

	// About tiles, the shared bucket and levels.
	codeTileID        Code = "tile-id"
	codeDuplicateTile Code = "tile-duplicate-id"
	codeGridCoord     Code = "tile-grid-coord"
	codeNodeID        Code = "tile-node-id"
	codeFloor         Code = "tile-floor"
	codeTier          Code = "tile-tier"
	codeBounds        Code = "tile-bounds"
	codeOrigin        Code = "origin-offset"
	codeTexture       Code = "texture-scale"
	codeCenter        Code = "tile-center"
	codeRadii         Code = "tile-radii"
	codeLevels        Code = "tile-levels"
	codeBands         Code = "tile-bands"
	codeEngineReach   Code = "beyond-engine-reach"
	codeLODInside     Code = "tile-lod-inside"

	// About paths and files.
	codePathEscapes   Code = "path-escapes"
	codeDuplicatePath Code = "path-duplicate"
	codeFileMissing   Code = "file-missing"
	codeFileSize      Code = "file-size"
	codeFileHash      Code = "file-hash"
	codeFileAccess    Code = "file-access"
)

// rule is what all findings of one code share.
type rule struct {
	severity Severity
	hint     string
}

var rules = map[Code]rule{
	codeSyntax:       {SeverityError, "no reader can load this: write the manifest again"},
	codeMissingKey:   {SeverityError, "the reference engine refuses the whole manifest: add the key"},
	codeWrongType:    {SeverityError, "the reference engine refuses the whole manifest: write the type that the key asks for"},
	codeRange:        {SeverityError, "the engine keeps numbers in single precision: write a smaller one"},
	codeTooLarge:     {SeverityError, "no real scene needs this: check where the file comes from"},
	codeIgnoredValue: {SeverityWarning, "readers that use this key will miss it: write the type that it asks for"},
	codeDuplicateKey: {SeverityWarning, "readers disagree about which one counts: remove one"},
	codeShortVector:  {SeverityError, "write three numbers"},
	codeTruncated:    {SeverityInfo, "fix the ones above first"},

	codeMode:           {SeverityWarning, "write uniform_grid, quadtree_floor or kdtree_floor: the engine goes by this string, not by the version"},
	codeNoTiles:        {SeverityWarning, "the scene will be empty: check what was cooked"},
	codeInteriorZone:   {SeverityWarning, "give the manifest an interior_zone with min <= max, or mark no tile as interior"},
	codeColorLUT:       {SeverityError, "the engine refuses the whole scene: correct the record or write null"},
	codeTileSize:       {SeverityError, "write positive sizes"},
	codeDryRun:         {SeverityWarning, "cook without --dry-run to get the files"},
	codeQueryCeiling:   {SeverityWarning, "reduce the radii, or raise the runtime's query radius; the reference engine tears down what is farther"},
	codeSharedPrefetch: {SeverityWarning, "give the shared bucket its own prefetch_radius"},

	codeTileID:        {SeverityWarning, "give every tile a name: tile_<tx>_<ty>_<tz> in grids, <node>_<tier code> with floors"},
	codeDuplicateTile: {SeverityError, "make tile ids unique: caches and tools tell tiles apart by them"},
	codeGridCoord:     {SeverityWarning, "write the three numbers of the tile id"},
	codeNodeID:        {SeverityWarning, "write the node's id, such as F01_Q_0_3, F01_K_1 or F02Q100: the engine finds parents by it"},
	codeFloor:         {SeverityWarning, "with floors give every tile a floor_id: 0 on the ground floor, whose nodes begin with F01"},
	codeTier:          {SeverityWarning, "write ExteriorShell, StructuralInterior, RoomContents or FineProps"},
	codeBounds:        {SeverityError, "write min <= max on every axis"},
	codeOrigin:        {SeverityWarning, "write the metres that were taken off the source's coordinates, at most 1e9 on each axis, or leave the key out"},
	codeTexture:       {SeverityWarning, "write 0 or more, or leave the entry out: the texture's size then goes by radii"},
	codeCenter:        {SeverityWarning, "write the middle of bounds: the floor gate compares its height with the camera's"},
	codeRadii:         {SeverityError, "write 0 <= streaming_radius < unload_radius: otherwise the tile loads and unloads in turn"},
	codeLevels:        {SeverityWarning, "write one hlod level, and lod levels in ascending order of switch_distance"},
	codeBands:         {SeverityWarning, "write distances that survive unchanged: `untold manifest normalize` does, `untold manifest bands` shows them"},
	codeEngineReach:   {SeverityInfo, "nothing is wrong where the runtime looks that far, as this one does by itself; for the reference engine cook with --view-distance 500"},
	codeLODInside:     {SeverityWarning, "let the first LOD begin at the streaming radius or beyond: the engine does not load the full tile farther away than that"},

	codePathEscapes:   {SeverityError, "write a relative path with forward slashes that stays in the manifest's folder"},
	codeDuplicatePath: {SeverityWarning, "give every tile and level its own file"},
	codeFileMissing:   {SeverityError, "cook the scene again, or copy the file"},
	codeFileSize:      {SeverityError, "cook the scene again: the file is damaged or from another run"},
	codeFileHash:      {SeverityError, "cook the scene again: the file is damaged or from another run"},
	codeFileAccess:    {SeverityError, "check the file and its permissions"},
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
