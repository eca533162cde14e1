// Package finding is what the validators of containers, textures and manifests
// report: one observation with its code, severity, place and remedy.
package finding

import (
	"encoding/json"
	"fmt"

	"github.com/untoldkit/untold/internal/human"
)

// Severity grades a finding.
type Severity uint8

// The severities. An error makes a file, or a part of it, unfit for use; a warning
// is legal but costs something or surprises a reader; info is a remark.
const (
	Error Severity = iota
	Warning
	Info
)

// String returns error, warning or info.
func (s Severity) String() string { return [...]string{"error", "warning", "info"}[s] }

// MarshalText writes the severity's name.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Code identifies a rule. Codes are stable: scripts may depend on them;
// docs/findings.md lists them. A Code is an error value, so that
// errors.Is(err, finding.Code("hash-mismatch")) works.
type Code string

// Error returns the code.
func (c Code) Error() string { return string(c) }

// Finding is one observation. Of a container it has the chunk and record that it is
// about, of a manifest the pointer.
type Finding struct {
	Code     Code
	Severity Severity
	Message  string // what is wrong, with the numbers
	Hint     string // what to do about it
	Chunk    string // name of a container's chunk, "" for none
	Record   int    // index in the chunk's table, -1 for none
	Pointer  string // JSON pointer (RFC 6901) into a manifest, "" for all of it
	Offset   int64  // in the file, in bytes; -1 when unknown
	Place    string // all of that for people, such as "MESH_TABLE[3] at byte 0x2a0"
}

// String returns one line.
func (f Finding) String() string {
	return human.OneLine(fmt.Sprintf("%s %s: %s: %s (%s)", f.Severity, f.Code, f.Place, f.Message, f.Hint))
}

// MarshalJSON writes null for a chunk, record or offset that does not apply, and
// the pointer where there is one.
func (f Finding) MarshalJSON() ([]byte, error) {
	row := struct {
		Code     Code     `json:"code"`
		Severity Severity `json:"severity"`
		Message  string   `json:"message"`
		Hint     string   `json:"hint"`
		Chunk    *string  `json:"chunk"`
		Record   *int     `json:"record"`
		Offset   *int64   `json:"offset"`
		Pointer  string   `json:"pointer,omitempty"`
	}{Code: f.Code, Severity: f.Severity, Message: f.Message, Hint: f.Hint, Pointer: f.Pointer}
	if f.Chunk != "" {
		row.Chunk = &f.Chunk
	}
	if f.Record >= 0 {
		row.Record = &f.Record
	}
	if f.Offset >= 0 {
		row.Offset = &f.Offset
	}
	return json.Marshal(row)
}
