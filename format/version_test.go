package format

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/format/records"
)

// TestWriteVersions: what a version has room for is read back from it, and nothing else
// differs.
func TestWriteVersions(t *testing.T) {
	f := triangleFile(t)
	m := &f.Materials[0]
	m.Emissive = [3]float32{4, 2, 1}
	m.HeightTexture, m.HeightScale, m.HeightMidlevel, m.HeightRemap = records.NoIndex, 0.25, 0.5, [2]float32{-1, 2}
	for version := range uint32(MaxVersion + 1) {
		data, err := f.Encode(WriteOptions{Version: version})
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatalf("version %d: %v", version, err)
		}
		if got := r.Header().FormatVersion; got != max(version, 1) {
			t.Errorf("version %d is %d", version, got)
		}
		if err := r.VerifyHash(); err != nil {
			t.Errorf("version %d: %v", version, err)
		}
		want := *m
		if version < 3 {
			want.HeightScale, want.HeightMidlevel = 0, 0
		}
		if version < 4 {
			want.HeightRemap = [2]float32{}
		}
		if d := cmp.Diff(want, r.Materials()[0]); d != "" {
			t.Errorf("version %d: %s", version, d)
		}
		if rep := validateBytes(data, ValidateOptions{}); !rep.OK() {
			t.Errorf("version %d: %+v", version, rep.Findings)
		}
	}
	if _, err := f.Encode(WriteOptions{Version: MaxVersion + 1}); err == nil {
		t.Error("a version that there is not was written")
	}
}
