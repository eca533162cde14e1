package utex

import "github.com/untoldkit/untold/finding"

// The codes of what can be wrong with a file. An error of a Reader matches its
// code with errors.Is.
const (
	// CodeTruncated: the file is shorter than its header and table. Typically an
	// unfinished download.
	CodeTruncated finding.Code = "utex-truncated"
	// CodeMagic: the file does not begin with UTEX. Typically an image under
	// another name.
	CodeMagic finding.Code = "utex-magic"
	// CodeVersion: the file is of another version of the format.
	CodeVersion finding.Code = "utex-version"
	// CodeSize: width or height is 0 or beyond MaxEdge.
	CodeSize finding.Code = "utex-size"
	// CodeLevelCount: there is no level, or more than the size has.
	CodeLevelCount finding.Code = "utex-level-count"
	// CodeBlock: the block's size is not the pixel format's.
	CodeBlock finding.Code = "utex-block"
	// CodePixelFormat: the pixel format is none that a .utex file can hold.
	CodePixelFormat finding.Code = "utex-pixel-format"
	// CodeLayout: the payload begins inside the table or ends beyond the file.
	CodeLayout finding.Code = "utex-layout"
	// CodeLevelSize: a level has not the width, height or bytes that follow from
	// the first level and the format.
	CodeLevelSize finding.Code = "utex-level-size"
	// CodeLevelBounds: a level lies outside the payload.
	CodeLevelBounds finding.Code = "utex-level-bounds"

	CodeAlignment finding.Code = "utex-alignment"    // warning: a level is not at a multiple of 16 bytes
	CodeOverlap   finding.Code = "utex-overlap"      // warning: two levels share bytes
	CodeChain     finding.Code = "utex-short-chain"  // warning: the chain ends before 1 x 1
	CodeFlags     finding.Code = "utex-flags"        // warning: unknown flags
	CodeReserved  finding.Code = "utex-reserved"     // warning: reserved bytes are not 0
	CodeTrailing  finding.Code = "utex-trailing"     // warning: bytes behind the payload
	CodeEngine    finding.Code = "utex-engine-reads" // info: the reference engine does not load the format
)

type rule struct {
	severity finding.Severity
	hint     string
}

var rules = map[finding.Code]rule{
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

	CodeAlignment: {finding.Warning, "begin each level at a multiple of 16 bytes"},
	CodeOverlap:   {finding.Warning, "give every level bytes of its own"},
	CodeChain:     {finding.Warning, "write the chain down to 1 x 1; only lookup tables do without"},
	CodeFlags:     {finding.Warning, "use the documented bits only"},
	CodeReserved:  {finding.Warning, "write zeros"},
	CodeTrailing:  {finding.Warning, "end the file with the last level"},
	CodeEngine:    {finding.Info, "for the reference engine cook with --textures astc or copy"},
}
