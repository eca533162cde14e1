package manifest

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/internal/testfile"
)

// planText is the plan of a small scene.
func planText(t *testing.T) (*Manifest, []byte) {
	t.Helper()
	m := clean()
	m.DryRun = true
	for i := range m.Tiles {
		m.Tiles[i].FileSizeBytes, m.Tiles[i].SHA256 = 0, ""
	}
	var b bytes.Buffer
	if err := m.EncodePlan(&b); err != nil {
		t.Fatal(err)
	}
	return m, b.Bytes()
}

func TestPlan(t *testing.T) {
	m, text := planText(t)
	if !IsPlan(text) {
		t.Fatalf("%.200s", text)
	}
	decoded, err := DecodePlan(text)
	if err != nil {
		t.Fatal(err)
	}
	var want, got bytes.Buffer
	if err := errors.Join(m.Encode(&want), decoded.Encode(&got)); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want.String(), got.String()); d != "" {
		t.Error(d)
	}
	// Keys may follow, and what was edited to be none is a plan all the same.
	more := strings.Replace(string(text), `"dry_run": true`, `"dry_run": false`, 1)
	more = strings.TrimSuffix(strings.TrimSpace(more), "}") + `, "shards": [{"manifest": {}}]}`
	if m, err := DecodePlan([]byte("\xef\xbb\xbf" + more)); err != nil || !m.DryRun {
		t.Error(err)
	}
	// Who needs payloads says what the file is.
	var e *DecodeError
	if _, err := Decode(text); !errors.Is(err, ErrPlan) || !errors.As(err, &e) || !strings.Contains(err.Error(), "without --dry-run") {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		text string
		kind error
	}{
		"later":       {strings.Replace(string(text), `"version": 1`, `"version": 2`, 1), ErrRange},
		"no version":  {`{"kind": "untold-plan", "manifest": {}}`, ErrMissingKey},
		"no manifest": {`{"kind": "untold-plan", "version": 1}`, ErrMissingKey},
		"null":        {`{"kind": "untold-plan", "version": 1, "manifest": null}`, nil},
		"text":        {`{"kind": "untold-plan", "version": "1"}`, ErrWrongType},
		"cut off":     {string(text[:len(text)/2]), ErrSyntax},
		"array":       {`["untold-plan"]`, ErrSyntax},
	} {
		if _, err := DecodePlan([]byte(c.text)); err == nil || !errors.As(err, &e) || c.kind != nil && !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPlanFile(t *testing.T) {
	_, text := planText(t)
	path := filepath.Join(t.TempDir(), "plan.json")
	write := func(b []byte) {
		t.Helper()
		testfile.Write(t, path, b)
	}
	write(text)
	if m, err := LoadPlanned(path); err != nil || !m.DryRun {
		t.Error(err)
	}
	if _, err := Load(path); !errors.Is(err, ErrPlan) {
		t.Error(err)
	}
	found, err := ValidateFile(path, ValidateOptions{CheckFiles: true})
	if err != nil || len(found) != 1 || found[0].Code != codeDryRun || found[0].Severity != finding.Info || found[0].Pointer != "/manifest/dry_run" {
		t.Errorf("%v %+v", err, found)
	}
	// Places of findings are those of the plan's text.
	broken := bytes.Replace(text, []byte(`"tile_id": "`), []byte(`"tile_id": 7, "x": "`), 1)
	write(broken)
	found, err = ValidateFile(path, ValidateOptions{})
	if err != nil || len(found) == 0 || !strings.HasPrefix(found[0].Pointer, "/manifest/tiles/0") || !bytes.HasPrefix(broken[found[0].Offset:], []byte("7,")) {
		t.Errorf("%v %+v", err, found)
	}
}
