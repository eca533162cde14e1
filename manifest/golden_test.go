package manifest

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/untoldkit/untold/internal/testfile"
)

// vector reads a file of the golden data.
func vector(t testing.TB, name string) []byte {
	t.Helper()
	data := testfile.Read(t, filepath.Join("..", "testdata", "vectors", name))
	return data
}

var goldenManifests = []string{
	"manifest_v3_uniform_grid.json", "manifest_v4_quadtree_floor.json", "manifest_v4_kdtree_floor.json",
}

func encodeBytes(t testing.TB, m *Manifest) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// keyOrder lists the keys of every object in text order, each with its path.
func keyOrder(t *testing.T, data []byte) []string {
	t.Helper()
	var out []string
	s := &scanner{data: data}
	var walk func()
	walk = func() {
		switch s.space() {
		case '{':
			s.object("", "")
			for first := true; s.key(&first); {
				out = append(out, s.pointer())
				walk()
			}
		case '[':
			s.array("", "")
			for i := -1; s.elem(&i); {
				walk()
			}
		default:
			s.skip()
		}
	}
	walk()
	if s.err != nil {
		t.Fatal(s.err)
	}
	return out
}

func TestGoldenManifestsSurviveDecodeAndEncode(t *testing.T) {
	for _, name := range goldenManifests {
		t.Run(name, func(t *testing.T) {
			golden := vector(t, name)
			m, notes, err := decodeReport(golden)
			if err != nil || len(notes) > 0 {
				t.Fatal(err, notes)
			}
			got := encodeBytes(t, m)
			var a, b any
			if err := json.Unmarshal(golden, &a); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(got, &b); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(a, b); d != "" {
				t.Errorf("values differ:\n%s", d)
			}
			if d := cmp.Diff(keyOrder(t, golden), keyOrder(t, got)); d != "" {
				t.Errorf("key order differs:\n%s", d)
			}
			again, err := Decode(got)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(m, again); d != "" {
				t.Errorf("second decode differs:\n%s", d)
			}
			if !bytes.Equal(got, encodeBytes(t, again)) {
				t.Error("encoding is not stable")
			}
		})
	}
}

func TestGoldenManifestsEqualEncodingJSON(t *testing.T) {
	for _, name := range goldenManifests {
		golden := vector(t, name)
		ours, err := Decode(golden)
		if err != nil {
			t.Fatal(err)
		}
		theirs := new(Manifest)
		if err := json.Unmarshal(golden, theirs); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(theirs, ours); d != "" {
			t.Errorf("%s: encoding/json reads something else:\n%s", name, d)
		}
	}
}
