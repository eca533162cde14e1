package format

import (
	"fmt"

	"github.com/untoldkit/untold/finding"
)

// Error is a finding that stopped a Reader or a Writer. errors.Is matches its
// code, and ErrUnsupported for files that are sound but of a kind that this
// package does not read.
type Error struct{ finding.Finding }

// Error returns one line: the place, what is wrong and what to do.
func (e *Error) Error() string {
	return fmt.Sprintf("untold: %s: %s (%s)", e.Place, e.Message, e.Hint)
}

// Is matches the finding's code and ErrUnsupported.
func (e *Error) Is(target error) bool {
	return target == e.Code || target == ErrUnsupported && rules[e.Code].unsupported
}

// ErrUnsupported is matched by errors about files that are well formed but of
// a version, type or compression that cannot be read.
const ErrUnsupported finding.Code = "unsupported"

// rule is what all findings of one code share.
type rule struct {
	severity    finding.Severity
	hint        string
	lenient     bool // a Reader accepts the file all the same
	unsupported bool
}

// place says where a finding is.
type place struct {
	chunk  ChunkType // 0: the header or the file as a whole
	record int       // -1 for none
	offset int64     // -1 when unknown
}

func inFile(offset int64) place            { return place{0, -1, offset} }
func inChunk(t ChunkType, off int64) place { return place{t, -1, off} }

// finding makes a finding of a code about the place.
func (at place) finding(code finding.Code, message string) finding.Finding {
	r := rules[code]
	f := finding.Finding{Code: code, Severity: r.severity, Message: message, Hint: r.hint, Record: at.record, Offset: at.offset, Place: "file"}
	if at.chunk != 0 {
		f.Chunk = at.chunk.String()
		if f.Place = f.Chunk; at.record >= 0 {
			f.Place += fmt.Sprintf("[%d]", at.record)
		}
	}
	if at.offset >= 0 {
		f.Place += fmt.Sprintf(" at byte 0x%x", at.offset)
	}
	return f
}
