package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/untoldkit/untold/internal/bom"
	"github.com/untoldkit/untold/internal/plainfile"
)

// planKind and planVersion are what a plan says of itself.
const (
	planKind    = "untold-plan"
	planVersion = 1
)

// ErrPlan: a file is the plan of a dry run, where a manifest with payloads is
// needed. It comes as a *DecodeError.
var ErrPlan = errors.New("manifest: this is a plan")

// EncodePlan writes the plan of a dry run: a manifest whose payloads were never
// made, in an envelope that no engine takes for a manifest.
func (m *Manifest) EncodePlan(w io.Writer) error {
	var text bytes.Buffer
	if err := m.Encode(&text); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "{\n\"kind\": %q,\n\"version\": %d,\n\"manifest\": %s\n}\n", planKind, planVersion, bytes.TrimSpace(text.Bytes()))
	return err
}

// IsPlan reports whether a text is that of a plan: its kind stands among its
// first bytes.
func IsPlan(data []byte) bool {
	const far = 256
	head := bom.Trim(data[:min(len(data), far)])
	return bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) && bytes.Contains(head, []byte(`"`+planKind+`"`))
}

// DecodePlan reads the manifest in a plan; DryRun is set. Keys of the plan that it
// does not know are passed over.
func DecodePlan(data []byte) (*Manifest, error) {
	inner, _, err := openPlan(data)
	if err != nil {
		return nil, err
	}
	m, err := Decode(inner)
	if err != nil {
		return nil, fmt.Errorf("the plan's manifest: %w", err)
	}
	m.DryRun = true // whatever it says: there are no payloads
	return m, nil
}

// openPlan returns the text of the manifest in a plan and where it begins.
func openPlan(data []byte) (inner []byte, at int64, err error) {
	bad := func(kind error, expected, found, hint string) error {
		return &DecodeError{Kind: kind, Expected: expected, Found: found, Hint: hint}
	}
	if len(data) > MaxBytes {
		return nil, 0, tooLong()
	}
	text, hadBOM := bom.Cut(data)
	d := json.NewDecoder(bytes.NewReader(text))
	var kind string
	version := 0
	for token, e := d.Token(); ; token, e = d.Token() {
		if e != nil {
			return nil, 0, bad(ErrSyntax, "a plan", e.Error(), "")
		}
		if token == json.Delim('}') {
			break
		}
		if token == json.Delim('{') {
			continue
		}
		var value json.RawMessage
		if e := d.Decode(&value); e != nil {
			return nil, 0, bad(ErrSyntax, "a plan", e.Error(), "")
		}
		e = nil
		switch token {
		case "kind":
			e = json.Unmarshal(value, &kind)
		case "version":
			e = json.Unmarshal(value, &version)
		case "manifest":
			inner, at = value, d.InputOffset()-int64(len(value))
		}
		if e != nil {
			return nil, 0, bad(ErrWrongType, "a plan", e.Error(), "")
		}
	}
	switch {
	case kind != planKind || version < 1:
		return nil, 0, bad(ErrMissingKey, `"kind" and "version" of a plan`, fmt.Sprintf("%q and %d", kind, version), "")
	case version > planVersion:
		return nil, 0, bad(ErrRange, fmt.Sprintf("a plan of version %d", planVersion), fmt.Sprint("version ", version), "a later untold wrote it; update this one")
	case inner == nil:
		return nil, 0, bad(ErrMissingKey, `the key "manifest"`, "no such key", "")
	}
	if hadBOM {
		at += int64(len(bom.UTF8))
	}
	return inner, at, nil
}

// LoadPlanned reads the manifest in a file, or the one in the plan of a dry
// run.
func LoadPlanned(path string) (*Manifest, error) {
	data, err := plainfile.Read(path, MaxBytes)
	if err != nil || !IsPlan(data) {
		return Load(path)
	}
	m, err := DecodePlan(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// errIsPlan is the error of those who need the payloads.
func errIsPlan() *DecodeError {
	return &DecodeError{
		Kind: ErrPlan, Expected: "a manifest", Found: "the plan of a dry run, which has no payload files",
		Hint: "cook the scene without --dry-run; untold inspect, validate, simulate and manifest bands read plans",
	}
}
