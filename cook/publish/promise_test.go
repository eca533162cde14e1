package publish

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/verify"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
)

// damaged writes other bytes of the same size to a payload of a place, and returns its key.
func damaged(t *testing.T, to Place, ending string) string {
	t.Helper()
	for _, key := range tree(t, to) {
		if strings.Contains(key, "payloads/") && strings.HasSuffix(key, ending) {
			p := filepath.Join(to.String(), filepath.FromSlash(key))
			data := testfile.Read(t, p)
			data[len(data)/2] ^= 0xff
			testfile.Write(t, p, data)
			return key
		}
	}
	t.Fatalf("no %s", ending)
	return ""
}

// TestDamagedThere: what lies in a folder under the right name and with the right size, but
// has other bytes, is sent again, is not what another is copied from, and is no version to go
// back to.
func TestDamagedThere(t *testing.T) {
	for _, ending := range []string{".untold", ".png", ".json.gz"} {
		to, dir := place(t)
		m := city()
		m.cook(t, dir)
		o := Options{Viewer: testPage("1")}
		must2(t)(Run(t.Context(), dir, to, o))
		key := damaged(t, to, ending)
		if _, err := Rollback(t.Context(), to, 1, Options{}); !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: gone back to: %v", key, err)
		}
		for _, dry := range []bool{true, false} {
			o.DryRun = dry
			r := must2(t)(Run(t.Context(), dir, to, o))
			if len(r.Sent)+len(r.Copied) != 1 || r.Version != 1 || append(r.Sent, r.Copied...)[0].Key != key || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], key) {
				t.Errorf("%s: %+v", key, r)
			}
		}
		newReader(t, to, m, "city.json").load(t, to)
		if r := must2(t)(Run(t.Context(), dir, to, o)); len(r.Sent) != 0 || len(r.Notes) != 0 {
			t.Errorf("%s: %+v", key, r)
		}
		// A texture under another address is copied from where it was, but for one that is damaged.
		damaged(t, to, ending)
		m.textures["brick"] = 9
		m.cook(t, dir)
		must2(t)(Run(t.Context(), dir, to, o))
		newReader(t, to, m, "city.json").load(t, to)
	}
}

// TestPromises: a rewritten manifest has to tell the sizes and the hashes of what is
// published, whatever its entries are like.
func TestPromises(t *testing.T) {
	_, dir := place(t)
	m := city()
	m.tiles["d"] = tileModel{finelyDivided, nil}
	m.cook(t, dir)
	delta := format.ModeDelta
	o := Options{Jobs: 1, Compress: &delta}
	r := &run{o: o, report: &Report{}, memory: newWorkshop(&o)}
	scenes, err := r.read(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	arrange(scenes, nil, false)
	s := scenes[0]
	if err := s.check(); err != nil {
		t.Fatal(err)
	}
	doc, err := manifest.Decode(s.text)
	if err != nil {
		t.Fatal(err)
	}
	entries := []*manifest.Tile{&doc.SharedBucket.Tile}
	for i := range doc.Tiles {
		entries = append(entries, &doc.Tiles[i])
	}
	for _, e := range entries {
		was := *e
		for what, change := range map[string]func(){
			"size": func() { e.FileSizeBytes++ }, "hash": func() { e.SHA256 = strings.Repeat("0", 64) }, "path": func() { e.Path += "x" },
			"none": func() {}, "no hash": func() { e.SHA256 = "" },
		} {
			change()
			var text bytes.Buffer
			if err := doc.Encode(&text); err != nil {
				t.Fatal(err)
			}
			s.text = text.Bytes()
			if err := s.check(); (err == nil) != strings.HasPrefix(what, "no") || err != nil && !errors.Is(err, ErrScene) {
				t.Errorf("%s of %s: %v", what, e.ID, err)
			}
			*e = was
		}
	}
}

// TestPromisesInOddKeys: what a manifest says by keys that are written otherwise is read as
// what it means, or refused.
func TestPromisesInOddKeys(t *testing.T) {
	to, dir := place(t)
	m := city()
	m.tiles["d"] = tileModel{finelyDivided, nil}
	m.cook(t, dir)
	p := filepath.Join(dir, "city.json")
	text := testfile.Read(t, p)
	delta := format.ModeDelta
	for _, change := range [][2]string{{`"sha256"`, `"SHA256"`}, {`"file_size_bytes"`, `"File_Size_Bytes"`}} {
		testfile.Write(t, p, bytes.ReplaceAll(text, []byte(change[0]), []byte(change[1])))
		if _, err := Run(t.Context(), dir, to, Options{Compress: &delta}); err != nil {
			if !errors.Is(err, ErrScene) {
				t.Error(err)
			}
			continue
		}
		if rep, err := verify.Paths(t.Context(), []string{to.String()}, verify.Options{}); err != nil || rep.Errors > 0 {
			t.Errorf("%s: %v, %+v", change[1], err, rep)
		}
	}
}
