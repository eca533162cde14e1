package utex

import (
	"fmt"

	"github.com/untoldkit/untold/format"
)

// The codes of what can be wrong with a file. An error of a Reader matches its
// code with errors.Is.
const (
	// CodeTruncated: the file is shorter than its header and table. Typically an
	// unfinished download.
	CodeTruncated format.Code = "utex-truncated"
	// CodeMagic: the file does not begin with UTEX. Typically an image under
	// another name.
	CodeMagic format.Code = "utex-magic"
	// CodeVersion: the file is of another version of the format.
	CodeVersion format.Code = "utex-version"
	// CodeSize: width or height is 0 or beyond MaxEdge.
	CodeSize format.Code = "utex-size"
	// CodeLevelCount: there is no level, or more than the size has.
	CodeLevelCount format.Code = "utex-level-count"
	// CodeBlock: the block's size is not the pixel format's.
	CodeBlock format.Code = "utex-block"
	// CodePixelFormat: the pixel format is none that a .utex file can hold.
	CodePixelFormat format.Code = "utex-pixel-format"
	// CodeLayout: the payload begins inside the table or ends beyond the file.
	CodeLayout format.Code = "utex-layout"
	// CodeLevelSize: a level has not the width, height or bytes that follow from
	// the first level and the format.
	CodeLevelSize format.Code = "utex-level-size"
	// CodeLevelBounds: a level lies outside the payload.
	CodeLevelBounds format.Code = "utex-level-bounds"

	CodeAlignment format.Code = "utex-alignment"    // warning: a level is not at a multiple of 16 bytes
	CodeOverlap   format.Code = "utex-overlap"      // warning: two levels share bytes
	CodeChain     format.Code = "utex-short-chain"  // warning: the chain ends before 1 x 1
	CodeFlags     format.Code = "utex-flags"        // warning: unknown flags
	CodeReserved  format.Code = "utex-reserved"     // warning: reserved bytes are not 0
	CodeTrailing  format.Code = "utex-trailing"     // warning: bytes behind the payload
	CodeEngine    format.Code = "utex-engine-reads" // info: the reference engine does not load the format
)

type rule struct {
	severity format.Severity
	hint     string
}

var rules = map[format.Code]rule{
	CodeTruncated:   {hint: "fetch or cook the file again"},
	CodeMagic:       {hint: "name a .utex file"},
	CodeVersion:     {hint: "use a tool of the file's version"},
	CodeSize:        {hint: "cook the texture again"},
	CodeLevelCount:  {hint: "write between 1 and floor(log2(longer edge)) + 1 levels"},
	CodeBlock:       {hint: "write the block size of the pixel format, 1 x 1 for uncompressed ones"},
	CodePixelFormat: {hint: "use ASTC, BC7, BC5, RGBA16Float or R16Unorm"},
	CodeLayout:      {hint: "fetch or cook the file again"},
	CodeLevelSize:   {hint: "cook the texture again"},
	CodeLevelBounds: {hint: "fetch or cook the file again"},

	CodeAlignment: {format.SeverityWarning, "begin each level at a multiple of 16 bytes"},
	CodeOverlap:   {format.SeverityWarning, "give every level bytes of its own"},
	CodeChain:     {format.SeverityWarning, "write the chain down to 1 x 1; only lookup tables do without"},
	CodeFlags:     {format.SeverityWarning, "use the documented bits only"},
	CodeReserved:  {format.SeverityWarning, "write zeros"},
	CodeTrailing:  {format.SeverityWarning, "end the file with the last level"},
	CodeEngine:    {format.SeverityInfo, "for the reference engine cook with --textures copy"},
}

// finding fills in what all findings of a code share.
func finding(code format.Code, offset int64, msg string, args ...any) format.Finding {
	r := rules[code]
	return format.Finding{Code: code, Severity: r.severity, Record: -1, Offset: offset, Message: fmt.Sprintf(msg, args...), Hint: r.hint}
}
