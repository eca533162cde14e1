package format

import (
	"encoding/json"
	"fmt"
)

// Severity grades a finding.
type Severity uint8

// The severities. An error makes a file unfit for use; a warning is legal but
// costs something or surprises a reader; info is a remark.
const (
	SeverityError Severity = iota
	SeverityWarning
	SeverityInfo
)

// String returns error, warning or info.
func (s Severity) String() string { return [...]string{"error", "warning", "info"}[s] }

// MarshalText writes the severity's name.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Finding is one observation of [Validate], or the reason why a [Reader]
// refuses a file (it then is the error's content).
type Finding struct {
	Code     Code
	Severity Severity
	Chunk    ChunkType // 0: the header or the file as a whole
	Record   int       // index in its table, -1 for none
	Offset   int64     // absolute byte offset in the file, -1 when unknown
	Message  string    // what is wrong, with the numbers
	Hint     string    // what to do about it
}

// Place returns where the finding is, such as "MESH_TABLE[3] at byte 0x2a0".
func (f *Finding) Place() string {
	s := "file"
	if f.Chunk != 0 {
		s = f.Chunk.String()
		if f.Record >= 0 {
			s += fmt.Sprintf("[%d]", f.Record)
		}
	}
	if f.Offset >= 0 {
		s += fmt.Sprintf(" at byte 0x%x", f.Offset)
	}
	return s
}

// MarshalJSON writes code, severity, message, hint, chunk, record and offset;
// the last three are null when they do not apply.
func (f Finding) MarshalJSON() ([]byte, error) {
	type row struct {
		Code     Code     `json:"code"`
		Severity Severity `json:"severity"`
		Message  string   `json:"message"`
		Hint     string   `json:"hint"`
		Chunk    *string  `json:"chunk"`
		Record   *int     `json:"record"`
		Offset   *int64   `json:"offset"`
	}
	r := row{Code: f.Code, Severity: f.Severity, Message: f.Message, Hint: f.Hint}
	if f.Chunk != 0 {
		s := f.Chunk.String()
		r.Chunk = &s
	}
	if f.Record >= 0 {
		r.Record = &f.Record
	}
	if f.Offset >= 0 {
		r.Offset = &f.Offset
	}
	return json.Marshal(r)
}

// Error is a Finding that stopped a Reader or a Writer. errors.Is matches its
// Code, and ErrUnsupported for files that are sound but of a kind that this
// package does not read.
type Error struct{ Finding }

// Error returns one line: the place, what is wrong and what to do.
func (e *Error) Error() string {
	return fmt.Sprintf("untold: %s: %s (%s)", e.Place(), e.Message, e.Hint)
}

// Is matches the finding's code and ErrUnsupported.
func (e *Error) Is(target error) bool {
	return target == e.Code || target == ErrUnsupported && rules[e.Code].unsupported
}

// Code identifies a rule. Codes are stable: scripts may depend on them. A Code
// is an error value, so that errors.Is(err, format.Code("hash-mismatch")) works.
type Code string

// Error returns the code.
func (c Code) Error() string { return string(c) }

// ErrUnsupported is matched by errors about files that are well formed but of
// a version, type or compression that cannot be read.
const ErrUnsupported Code = "unsupported"

// rule is what all findings of one code share.
type rule struct {
	severity    Severity
	hint        string
	lenient     bool // a Reader accepts the file all the same
	unsupported bool
}
