package publish

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/cook/internal/publication"
	"github.com/untoldkit/untold/internal/blob"
)

// edits returns versions of the city, each with another tile b.
func edits(n int) []model {
	var out []model
	for i := range n {
		m := city()
		m.tiles["b"] = tileModel{30 + i, []string{"brick"}}
		out = append(out, m)
	}
	return out
}

func TestKeep(t *testing.T) {
	to, dir := place(t)
	var readers []*reader
	models := edits(5)
	for i, m := range models {
		m.cook(t, dir)
		r := must2(t)(Run(t.Context(), dir, to, Options{Keep: 2, Now: later(), Grace: time.Hour}))
		readers = append(readers, newReader(t, to, m, "city.json"))
		for _, old := range readers[max(0, i-1):] {
			old.load(t, to)
		}
		if want := min(max(i-1, 0), 1); r.Removed != want || r.Version != i+1 {
			t.Errorf("version %d: %d were removed, want %d", r.Version, r.Removed, want)
		}
	}
	if v, err := Versions(t.Context(), to); err != nil || !slices.Equal(v, []int{4, 5}) {
		t.Error(v, err)
	}
	if _, err := to.Stat(t.Context(), "payloads/"+readers[0].doc.Tiles[1].Path[len("payloads/"):]); !errors.Is(err, blob.ErrNotFound) {
		t.Error("the first version's tile is still there:", err)
	}
	// Two records, and two copies of manifests.
	if n := len(list(t, to, publication.Folder)); n != 4 {
		t.Error(list(t, to, publication.Folder))
	}
}

func list(t *testing.T, p Place, prefix string) []string {
	t.Helper()
	var out []string
	for o, err := range p.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, o.Key)
	}
	return out
}

// TestGrace: nothing goes that was sent, or was the newest, within the grace, whatever
// Keep says; and a clock that is behind removes nothing.
func TestGrace(t *testing.T) {
	for _, now := range []time.Time{time.Now(), time.Now().Add(-48 * time.Hour), time.Now().Add(50 * time.Minute)} {
		to, dir := place(t)
		var readers []*reader
		for _, m := range edits(4) {
			m.cook(t, dir)
			r := must2(t)(Run(t.Context(), dir, to, Options{Keep: 1, Now: now, Grace: time.Hour}))
			if readers = append(readers, newReader(t, to, m, "city.json")); r.Removed != 0 {
				t.Errorf("%d were removed", r.Removed)
			}
		}
		for _, r := range readers {
			r.load(t, to)
		}
	}
}

// TestGraceOfReplaced: a version that was published long ago and replaced just now is
// not removed: readers have its manifest.
func TestGraceOfReplaced(t *testing.T) {
	to, dir := place(t)
	models := edits(3)
	models[0].cook(t, dir)
	must2(t)(Run(t.Context(), dir, to, Options{}))
	first := newReader(t, to, models[0], "city.json")
	past := time.Now().Add(-100 * time.Hour)
	for _, key := range list(t, to, "") {
		p, err := to.File(key)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(p, past, past); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{Keep: 1, Now: time.Now().Add(time.Minute), Grace: time.Hour}
	models[1].cook(t, dir)
	must2(t)(Run(t.Context(), dir, to, o))
	first.load(t, to)
	models[2].cook(t, dir)
	if r := must2(t)(Run(t.Context(), dir, to, o)); r.Removed != 0 {
		t.Errorf("%d were removed", r.Removed)
	}
	first.load(t, to)
	o.Now = later()
	if r := must2(t)(Run(t.Context(), dir, to, o)); r.Removed != 2 {
		t.Errorf("%d were removed, want the tiles of two versions", r.Removed)
	}
}

func TestRollback(t *testing.T) {
	to, dir := place(t)
	models := edits(3)
	for _, m := range models {
		m.cook(t, dir)
		must2(t)(Run(t.Context(), dir, to, Options{}))
	}
	w := &watched{Place: to, see: func() {}}
	dry := must2(t)(Rollback(t.Context(), w, 1, Options{DryRun: true}))
	if len(w.list) != 0 || dry.Version != 4 || !dry.Scenes[0].Changed {
		t.Errorf("%q, %+v", w.list, dry)
	}
	r := must2(t)(Rollback(t.Context(), w, 1, Options{}))
	if r.Version != 4 || r.Previous != 3 || r.Files == 0 || w.puts["city.json"].CacheControl != ManifestCache {
		t.Errorf("%+v", r)
	}
	newReader(t, to, models[0], "city.json").load(t, to)
	if r := must2(t)(Rollback(t.Context(), to, 1, Options{})); r.Version != 4 || r.Scenes[0].Changed {
		t.Errorf("%+v", r)
	}
	// The next publish goes on from there.
	models[2].cook(t, dir)
	if r := must2(t)(Run(t.Context(), dir, to, Options{Keep: 2, Now: later()})); r.Version != 5 || len(r.Sent) != 0 || r.Removed != 1 {
		t.Errorf("%+v", r)
	}
	newReader(t, to, models[2], "city.json").load(t, to)
	_, err := Rollback(t.Context(), to, 2, Options{})
	if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "it has 4, 5") {
		t.Error(err)
	}
	if err := to.Delete(t.Context(), newReader(t, to, models[2], "city.json").doc.Tiles[1].Path); err != nil {
		t.Fatal(err)
	}
	if _, err = Rollback(t.Context(), to, 5, Options{}); !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "1 of") {
		t.Error(err)
	}
}
