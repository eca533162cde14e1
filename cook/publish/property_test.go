package publish

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/blob"
	"github.com/untoldkit/untold/internal/race"
)

// edited draws an edit of a scene.
func edited(t *rapid.T, m model) model {
	m = m.clone()
	names := []string{"a", "b", "c", "d", "e", "f"}
	textures := []string{"brick", "glass", "grass", "sand"}
	name := rapid.SampledFrom(names).Draw(t, "tile")
	one := tileModel{rapid.IntRange(1, 40).Draw(t, "shape"), nil}
	for _, tex := range textures {
		if rapid.IntRange(0, 2).Draw(t, tex) == 0 {
			one.textures = append(one.textures, tex)
		}
	}
	switch rapid.SampledFrom([]string{"tile", "tile", "texture", "texture", "swap", "delete", "bucket", "lut"}).Draw(t, "edit") {
	case "tile":
		m.tiles[name] = one
	case "texture":
		m.textures[rapid.SampledFrom(textures).Draw(t, "which")] = rapid.IntRange(1, 6).Draw(t, "content")
	case "swap":
		if other := rapid.SampledFrom(names).Draw(t, "other"); len(m.tiles) > 1 && m.tiles[name].shape > 0 && m.tiles[other].shape > 0 {
			m.tiles[name], m.tiles[other] = m.tiles[other], m.tiles[name]
		}
	case "delete":
		if len(m.tiles) > 1 {
			delete(m.tiles, name)
		}
	case "bucket":
		m.bucket = !m.bucket
	case "lut":
		m.lut = rapid.IntRange(0, 3).Draw(t, "table")
	}
	return m
}

// look tells what of a tile decides its address: its bytes and its textures'.
func (m model) look(name string) string {
	tm := m.tiles[name]
	out := fmt.Sprint(tm.shape)
	for _, tex := range tm.textures {
		out += fmt.Sprint(" ", tex, m.textures[tex])
	}
	return out
}

// TestEdits: whatever is edited between publishes, that alone is sent which the place
// does not have; tiles that did not change keep their addresses; who has read one of
// the versions that are kept reads all of it, before and after every operation.
func TestEdits(t *testing.T) {
	base := t.TempDir()
	n := 0
	race.Checks(t, 10) // make test does all of them without the detector
	rapid.Check(t, func(rt *rapid.T) {
		n++
		dir := filepath.Join(base, fmt.Sprint(n), "cooked")
		folder, err := blob.OpenFolder(filepath.Join(base, fmt.Sprint(n), "place"))
		if err != nil {
			rt.Fatal(err)
		}
		folder.NoSync = true
		m := city()
		m.textures["sand"] = 4
		var old *reader
		var before model
		for step := range rapid.IntRange(2, 5).Draw(rt, "publishes") {
			if step > 0 {
				before = m
				for range rapid.IntRange(0, 2).Draw(rt, "edits") {
					m = edited(rt, m)
				}
			}
			m.cook(rt, dir)
			had := map[string]bool{}
			for o, err := range folder.List(t.Context(), "payloads/") {
				if err != nil {
					rt.Fatal(err)
				}
				had[o.Key] = true
			}
			w := &watched{Place: folder, see: func() {
				if old != nil {
					old.load(rt, folder)
				}
			}}
			o := Options{Jobs: rapid.IntRange(1, 4).Draw(rt, "jobs"), Keep: 2, Now: later()}
			var to Place = w
			if rapid.Bool().Draw(rt, "copies") {
				to = copying{w}
			}
			r, err := Run(t.Context(), dir, to, o)
			if err != nil {
				rt.Fatal(err)
			}
			now := newReader(rt, folder, m, "city.json")
			now.load(rt, folder)
			if old != nil {
				old.load(rt, folder)
			}
			var sent []string
			for _, key := range w.list {
				if strings.HasPrefix(key, "payloads/") {
					if had[key] {
						rt.Fatalf("%s was sent and is there", key)
					}
					sent = append(sent, key)
				}
			}
			var said []string
			for _, s := range slices.Concat(r.Sent, r.Copied) {
				said = append(said, s.Key)
			}
			slices.Sort(said)
			if slices.Sort(sent); !slices.Equal(sent, said) {
				rt.Fatalf("%q were sent, the report says %q", sent, said)
			}
			if old != nil {
				keptAddresses(rt, before, m, old, now)
			}
			if again, err := Run(t.Context(), dir, folder, Options{DryRun: true}); err != nil || len(again.Sent) != 0 || again.Version != r.Version || again.Scenes[0].Changed {
				rt.Fatalf("a second publish: %+v, %v", again, err)
			}
			old = now
		}
	})
}

// keptAddresses: tiles that look as before lie where they did, unless all with
// textures have moved into one folder.
func keptAddresses(t *rapid.T, before, after model, old, now *reader) {
	at := map[string]string{}
	for i := range old.doc.Tiles {
		at[old.doc.Tiles[i].ID] = old.doc.Tiles[i].Path
	}
	folders, moved := map[string]bool{}, ""
	for i := range now.doc.Tiles {
		tile := &now.doc.Tiles[i]
		name := strings.TrimPrefix(tile.ID, "tile_")
		if len(after.tiles[name].textures) > 0 {
			folders[strings.Split(tile.Path, "/")[1]] = true
		}
		if was, ok := at[tile.ID]; ok && before.look(name) == after.look(name) && was != tile.Path {
			moved = tile.ID
		}
	}
	if moved != "" && len(folders) != 1 {
		t.Fatalf("%s has not changed and has moved; there are %d folders", moved, len(folders))
	}
}
