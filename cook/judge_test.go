package cook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/internal/testfile"
)

// plant puts a journal with a right checksum, and a stage with what it moves,
// into a folder.
func plant(t *testing.T, dir string, moves map[string]string, last string, removes ...string) {
	t.Helper()
	j := journal.Journal{Stage: "cook-1", Removes: removes}
	add := func(name string) {
		touch(t, dir, path.Join(".untold/cook-1", name))
		testfile.Write(t, filepath.Join(dir, ".untold", "cook-1", filepath.FromSlash(name)), moves[name])
		j.Files = append(j.Files, journal.Entry{Path: name})
	}
	for name := range moves {
		if name != last {
			add(name)
		}
	}
	if last != "" {
		add(last)
	}
	touch(t, dir, journal.Name)
	body := must(json.Marshal(&j))
	sum := sha256.Sum256(body)
	text := must(json.Marshal(map[string]any{"untold_commit": 1, "sha256": hex.EncodeToString(sum[:]), "body": json.RawMessage(body)}))
	testfile.Write(t, filepath.Join(dir, filepath.FromSlash(journal.Name)), text)
}

// TestForeignJournal: a journal that came with a folder from elsewhere removes
// and replaces nothing when the next cook finishes it but what a cook would.
func TestForeignJournal(t *testing.T) {
	town, other := runScene(t, "town.gltf", townBoxes()[:1]), runScene(t, "other.gltf", townBoxes()[:1])
	base := t.TempDir()
	mustRun(t, town, base, ClassicOptions())
	o := ClassicOptions()
	o.PayloadDir = "others"
	mustRun(t, other, base, o)
	cooked := testfile.ReadTree(t, base)
	manifest := cooked["town.json"]
	mine := map[string]string{"README.md": "mine", "src/main.go": "mine", "package.json": "{}", "tiles/Textures/photo.png": "mine", "chair.untold": "mine", "tiles/chair.untold": "mine"}
	var all []string
	for name := range mine {
		all = append(all, name)
	}
	for name := range cooked {
		if path.Dir(name) == "others" || name == "other.json" {
			all = append(all, name)
		}
	}
	for name, c := range map[string]struct {
		moves   map[string]string
		last    string
		removes []string
	}{
		"removes everything":          {map[string]string{"town.json": manifest}, "town.json", all},
		"replaces a text":             {map[string]string{"README.md": "theirs", "town.json": manifest}, "town.json", nil},
		"replaces a program":          {map[string]string{"src/main.go": "theirs", "town.json": manifest}, "town.json", nil},
		"replaces a JSON":             {map[string]string{"package.json": "theirs"}, "package.json", nil},
		"replaces a JSON on the way":  {map[string]string{"package.json": "theirs", "town.json": manifest}, "town.json", nil},
		"replaces another scene":      {map[string]string{"others/tile_0_0_0.untold": "theirs", "town.json": manifest}, "town.json", nil},
		"has no manifest":             {nil, "", all},
		"its manifest is a container": {map[string]string{"tiles/chair.untold": "theirs"}, "tiles/chair.untold", nil},
	} {
		dir := t.TempDir()
		for _, files := range []map[string]string{cooked, mine} {
			for n, text := range files {
				touch(t, dir, n)
				testfile.Write(t, filepath.Join(dir, filepath.FromSlash(n)), text)
			}
		}
		plant(t, dir, c.moves, c.last, c.removes...)
		mustRun(t, town, dir, ClassicOptions())
		mustRun(t, town, dir, ClassicOptions()) // clears the stage of a damaged journal away
		want := map[string]string{}
		for _, files := range []map[string]string{cooked, mine} {
			for n, text := range files {
				want[n] = text
			}
		}
		if diff := cmp.Diff(want, testfile.ReadTree(t, dir)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// TestOwnJournal: what a cook has committed before it was stopped is brought to
// its end, removals with it.
func TestOwnJournal(t *testing.T) {
	dir := t.TempDir()
	mustRun(t, runScene(t, "town.gltf", townBoxes()[:1]), dir, ClassicOptions())
	old := testfile.ReadTree(t, dir)
	var tiles []string
	for name := range old {
		if path.Dir(name) == "tiles" {
			tiles = append(tiles, name)
		}
	}
	plant(t, dir, map[string]string{"town.json": old["town.json"], "tiles/new.untold": "new"}, "town.json", tiles[0])
	out, err := newOutput(dir, outputOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := out.claim(); err != nil {
		t.Fatal(err)
	}
	out.discard()
	delete(old, tiles[0])
	old["tiles/new.untold"] = "new"
	if diff := cmp.Diff(old, testfile.ReadTree(t, dir)); diff != "" {
		t.Error(diff)
	}
}
