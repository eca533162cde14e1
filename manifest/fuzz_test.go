package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/untoldkit/untold/internal/bom"
	"github.com/untoldkit/untold/manifest/payloadpath"
)

func FuzzDecode(f *testing.F) {
	f.Add([]byte(small))
	f.Add(encodeBytes(f, full()))
	m := full()
	m.PartitioningMode = ModeQuadtreeFloor
	f.Add(encodeBytes(f, m))
	f.Add([]byte(`{"version": 1e0, "streaming_defaults": {"streaming_radius": 1, "unload_radius": 2, "priority": 3}, "tiles": [null, {"\u0061": "\ud800"}]}`))
	f.Add([]byte("\ufeff{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, notes, err := decodeReport(data)
		found := ValidateBytes(data, "", ValidateOptions{MaxPerCode: 10})
		for _, n := range append(notes, found...) {
			if n.Offset < -1 || n.Offset > int64(len(data)) {
				t.Fatalf("%v is outside the text", n)
			}
		}
		if err != nil {
			var e *DecodeError
			if !errors.As(err, &e) || e.Error() == "" || e.Offset < 0 || e.Offset > int64(len(data)) {
				t.Fatalf("bad error %v", err)
			}
			if errors.Is(err, ErrSyntax) && json.Valid(bom.Trim(data)) && utf8.Valid(data) {
				t.Fatalf("valid JSON, but: %v", err)
			}
			if len(found) == 0 {
				t.Fatalf("Decode fails (%v), Validate finds nothing", err)
			}
			return
		}
		if !json.Valid(bom.Trim(data)) {
			t.Fatal("not JSON, but accepted")
		}
		var text bytes.Buffer
		if err := m.Encode(&text); err != nil {
			if !errors.Is(err, payloadpath.ErrEscapes) {
				t.Fatalf("cannot be written again: %v", err)
			}
			return
		}
		again, notes, err := decodeReport(text.Bytes())
		if err != nil || len(notes) > 0 {
			t.Fatalf("cannot be read again: %v %v\n%s", err, notes, text.Bytes())
		}
		var second bytes.Buffer
		if err := again.Encode(&second); err != nil || !bytes.Equal(text.Bytes(), second.Bytes()) {
			t.Fatalf("not stable: %v\n%s\n%s", err, text.Bytes(), second.Bytes())
		}
		// Repeated names and the bucket's levels are not written.
		m.ObjectClassification, again.ObjectClassification = nil, nil
		m.StreamingProfile, again.StreamingProfile = nil, nil
		if m.SharedBucket != nil {
			m.SharedBucket.HLODLevels, m.SharedBucket.LODLevels, m.SharedBucket.Interior = nil, nil, false
			m.SharedBucket.GridCoord, m.SharedBucket.FloorID = nil, nil
			m.SharedBucket.QuadtreeNodeID, m.SharedBucket.SemanticTier = "", ""
		}
		if d := cmp.Diff(m, again, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("changed:\n%s", d)
		}
	})
}
