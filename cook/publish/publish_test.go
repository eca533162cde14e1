package publish

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/cook/internal/publication"
	"github.com/untoldkit/untold/cook/verify"
	"github.com/untoldkit/untold/internal/blob"
)

var (
	plainKey = regexp.MustCompile(`^payloads/[0-9a-f]{64}\.(untold|cube)$`)
	setKey   = regexp.MustCompile(`^payloads/[0-9a-f]{32}/([0-9a-f]{64}\.untold|Textures/[a-z]+\.png)$`)
)

// TestLayout: what lies where, with which headers, in which order; a second publish
// sends nothing, and the place is a cooked folder for those who read it.
func TestLayout(t *testing.T) {
	to, dir := place(t)
	m := city()
	m.lut = 1
	m.cook(t, dir)
	w := &watched{Place: to, see: func() {}}
	r := must2(t)(Run(t.Context(), dir, w, Options{}))
	if r.Version != 1 || r.Previous != 0 || len(r.Sent) != r.Files || r.SentBytes != r.Bytes || !r.Scenes[0].Changed {
		t.Errorf("%+v", r)
	}
	for _, key := range tree(t, to) {
		o := w.puts[key]
		wantType := map[string]string{".png": "image/png", ".json": "application/json", ".cube": "text/plain; charset=utf-8", ".untold": "application/octet-stream"}[filepath.Ext(key)]
		wantCache := PayloadCache
		switch {
		case key == "city.json":
			wantCache = ManifestCache
		case !plainKey.MatchString(key) && !setKey.MatchString(key):
			t.Errorf("a file %s", key)
		}
		if o.ContentType != wantType || o.CacheControl != wantCache {
			t.Errorf("%s: %+v", key, o)
		}
	}
	if n := len(w.list); w.list[n-1] != "city.json" || w.list[n-2] != ".untold/publish/v000001.json" || !w.puts[w.list[n-2]].IfAbsent {
		t.Error(w.list)
	}
	newReader(t, to, m, "city.json").load(t, to)
	folder, err := to.File("x")
	if err != nil {
		t.Fatal(err)
	}
	v, err := verify.Paths(t.Context(), []string{filepath.Dir(folder)}, verify.Options{})
	if err != nil || v.Errors+v.Warnings > 0 {
		t.Errorf("%v: %+v", err, v)
	}
	w.list = nil
	r = must2(t)(Run(t.Context(), dir, w, Options{Keep: 1, Now: later()}))
	if len(w.list) != 0 || len(r.Sent) != 0 || r.Version != 1 || r.Previous != 1 || r.Scenes[0].Changed || r.Removed != 0 {
		t.Errorf("%q, %+v", w.list, r)
	}
}

// must2 is must for the results of a call.
func must2(t fataler) func(*Report, error) *Report {
	return func(r *Report, err error) *Report {
		t.Helper()
		return must(t, r, err)
	}
}

// TestWhatIsSent: what edits of the city send, in containers and textures.
func TestWhatIsSent(t *testing.T) {
	for _, c := range []struct {
		name                 string
		edit                 func(m *model)
		containers, textures int
		copied               int
	}{
		{"nothing", func(*model) {}, 0, 0, 0},
		{"a shape", func(m *model) { m.tiles["b"] = tileModel{20, []string{"brick"}} }, 1, 0, 0},
		{"a shape without textures", func(m *model) { m.tiles["d"] = tileModel{20, nil} }, 1, 0, 0},
		{"a tile goes", func(m *model) { delete(m.tiles, "a") }, 0, 0, 0},
		{"a tile comes", func(m *model) { m.tiles["f"] = tileModel{20, []string{"grass", "brick"}} }, 1, 0, 0},
		{"tiles swap", func(m *model) { m.tiles["a"], m.tiles["b"] = m.tiles["b"], m.tiles["a"] }, 0, 0, 0},
		// Its users are c and e, which need glass as well.
		{"a texture", func(m *model) { m.textures["grass"] = 30 }, 0, 1, 3},
		{"a texture of one", func(m *model) { m.textures["sand"] = 4; m.tiles["e"] = tileModel{5, []string{"sand"}} }, 1, 1, 0},
		{"a colour table", func(m *model) { m.lut = 5 }, 0, 1, 0},
		{"all textures", func(m *model) { m.textures = map[string]int{"brick": 10, "glass": 20, "grass": 30} }, 0, 3, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			to, dir := place(t)
			m := city()
			m.cook(t, dir)
			must2(t)(Run(t.Context(), dir, to, Options{}))
			old := newReader(t, to, m, "city.json")
			m = m.clone()
			c.edit(&m)
			m.cook(t, dir)
			dry := must2(t)(Run(t.Context(), dir, to, Options{DryRun: true}))
			r := must2(t)(Run(t.Context(), dir, to, Options{}))
			containers := 0
			for _, s := range r.Sent {
				if strings.HasSuffix(s.Key, ".untold") {
					containers++
				}
			}
			if containers != c.containers || len(r.Sent)-containers != c.textures || len(r.Copied) != c.copied {
				t.Errorf("%d containers and %d others were sent, %d copied, want %d, %d and %d: %+v", containers, len(r.Sent)-containers, len(r.Copied), c.containers, c.textures, c.copied, r)
			}
			if dry.DryRun = false; cmp.Diff(r, dry) != "" {
				t.Errorf("the dry run said otherwise: %s", cmp.Diff(r, dry))
			}
			newReader(t, to, m, "city.json").load(t, to)
			old.load(t, to)
		})
	}
}

// TestDryRunSendsNothing also where there is no place yet.
func TestDryRunSendsNothing(t *testing.T) {
	to, dir := place(t)
	city().cook(t, dir)
	r := must2(t)(Run(t.Context(), dir, to, Options{DryRun: true}))
	if len(r.Sent) != r.Files || r.Files == 0 || r.Version != 1 || !r.Scenes[0].Changed {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(to.String()); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestResume: a run that fails after any number of operations leaves the old version
// whole, and the next one sends the rest.
func TestResume(t *testing.T) {
	m2 := city()
	m2.tiles["b"], m2.tiles["d"] = tileModel{20, []string{"brick"}}, tileModel{21, nil}
	m2.textures["grass"] = 9
	for after := range 100 {
		to, dir := place(t)
		city().cook(t, dir)
		must2(t)(Run(t.Context(), dir, to, Options{}))
		old := newReader(t, to, city(), "city.json")
		m2.cook(t, dir)
		f := &faulty{Place: to, after: after}
		o := Options{Jobs: 1, Keep: 1, Now: later(), Grace: time.Hour}
		all := must2(t)(Run(t.Context(), dir, f, Options{DryRun: true}))
		_, err := Run(t.Context(), dir, f, o)
		if err == nil {
			if after < 5 {
				t.Fatalf("only %d operations", after)
			}
			return
		}
		if !errors.Is(err, errFault) {
			t.Fatal(err)
		}
		// Whatever manifest is there names whole files; removal has not begun before
		// the new one was there.
		if bytes.Equal(get(t, to, "city.json"), mustText(t, to, 1)) {
			old.load(t, to)
		} else {
			newReader(t, to, m2, "city.json").load(t, to)
		}
		r := must2(t)(Run(t.Context(), dir, to, o))
		if got, want := len(r.Sent)+len(r.Copied), max(len(all.Sent)-after, 0); got != want {
			t.Errorf("after %d operations %d were sent, want %d", after, got, want)
		}
		newReader(t, to, m2, "city.json").load(t, to)
		for _, key := range tree(t, to) {
			if i := slices.IndexFunc(all.Sent, func(s Transfer) bool { return s.Key == key }); i < 0 && key != "city.json" && !strings.Contains(string(mustRecord(t, to, 2)), key) {
				t.Errorf("%s is left", key)
			}
		}
	}
	t.Fatal("100 operations are not enough")
}

// mustRecord returns the text of a version's record.
func mustRecord(t *testing.T, p Place, number int) []byte {
	t.Helper()
	return get(t, p, publication.Key(number))
}

// mustText returns the manifest of a version, nil when its record is gone.
func mustText(t *testing.T, p Place, number int) []byte {
	t.Helper()
	v, err := (&run{to: p}).load(t.Context(), number)
	if err != nil {
		return nil
	}
	return get(t, p, publication.ManifestKey(v.Scenes[0].SHA256))
}

// TestRace: of two publishes at once one says that it has lost, and the manifest is
// that of the other.
func TestRace(t *testing.T) {
	to, dir := place(t)
	models := edits(3)
	models[0].cook(t, dir)
	must2(t)(Run(t.Context(), dir, to, Options{}))
	other := filepath.Join(t.TempDir(), "other")
	models[1].cook(t, dir)
	models[2].cook(t, other)
	once := false
	w := &watched{Place: to}
	w.see = func() {
		if !once {
			once = true
			must2(t)(Run(t.Context(), other, to, Options{}))
		}
	}
	if _, err := Run(t.Context(), dir, w, Options{}); !errors.Is(err, ErrRace) {
		t.Error(err)
	}
	newReader(t, to, models[2], "city.json").load(t, to)
	must2(t)(Run(t.Context(), dir, to, Options{}))
	newReader(t, to, models[1], "city.json").load(t, to)
}

// TestDamage: what is missing in the place, or has another size, is sent again; a
// record that cannot be read is passed over and said.
func TestDamage(t *testing.T) {
	to, dir := place(t)
	m := city()
	m.cook(t, dir)
	must2(t)(Run(t.Context(), dir, to, Options{}))
	r := newReader(t, to, m, "city.json")
	cut := list(t, to, "payloads/")
	for _, key := range cut[:2] {
		p, err := to.File(key)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(p, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := to.Delete(t.Context(), cut[2]); err != nil {
		t.Fatal(err)
	}
	if got := must2(t)(Run(t.Context(), dir, to, Options{})); len(got.Sent) != 3 || got.Version != 1 {
		t.Errorf("%+v", got)
	}
	r.load(t, to)
	for _, text := range []string{"", "{", `{"kind":"untold-publication","format":1,"version":1,"scenes":[{"manifest":"../x","sha256":"","files":[]}]}`, `{"kind":"untold-publication","format":2,"version":1}`} {
		if err := to.Put(t.Context(), publication.Key(1), strings.NewReader(text), int64(len(text)), PutOptions{}); err != nil {
			t.Fatal(err)
		}
		got := must2(t)(Run(t.Context(), dir, to, Options{DryRun: true}))
		if len(got.Notes) != 1 || len(got.Sent) != 0 || got.Version != 2 {
			t.Errorf("%q: %+v", text, got)
		}
	}
	got := must2(t)(Run(t.Context(), dir, to, Options{Keep: 2, Now: later()}))
	if got.Version != 2 || got.Removed != 0 || len(got.Notes) != 2 {
		t.Errorf("%+v", got)
	}
	newReader(t, to, m, "city.json").load(t, to)
}

// TestRefused: folders that cannot be published; the place stays as it was.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		break_ func(t *testing.T, dir string)
		says   string
	}{
		{"a container is missing", func(t *testing.T, dir string) { remove(t, dir, "tiles/tile_0_0_0.untold") }, "file-missing"},
		{"a container is damaged", func(t *testing.T, dir string) {
			flip(t, dir, "tiles/tile_0_0_0.untold")
		}, "errors"},
		{"a texture is missing", func(t *testing.T, dir string) { remove(t, dir, "tiles/Textures/glass.png") }, "Textures/glass.png is named and not there"},
		{"a texture is none", func(t *testing.T, dir string) { write(t, dir, "tiles/Textures/glass.png", "<html>") }, "no image"},
		{"a texture is empty", func(t *testing.T, dir string) { write(t, dir, "tiles/Textures/glass.png", "") }, "no image"},
		{"the manifest is cut", func(t *testing.T, dir string) {
			data, _ := os.ReadFile(filepath.Join(dir, "city.json"))
			write(t, dir, "city.json", string(data[:len(data)-10]))
		}, "city.json"},
		{"it is a plan", func(t *testing.T, dir string) {
			data, _ := os.ReadFile(filepath.Join(dir, "city.json"))
			write(t, dir, "city.json", strings.Replace(string(data), `"dry_run": false`, `"dry_run": true`, 1))
		}, "plan"},
		{"there is none", func(t *testing.T, dir string) { remove(t, dir, "city.json") }, "no manifest"},
		{"a path leads out", func(t *testing.T, dir string) {
			data, _ := os.ReadFile(filepath.Join(dir, "city.json"))
			write(t, dir, "city.json", strings.Replace(string(data), "tiles/tile_0", "../tiles/tile_0", 1))
		}, "path-escapes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			to, dir := place(t)
			city().cook(t, dir)
			must2(t)(Run(t.Context(), dir, to, Options{}))
			before := list(t, to, "")
			m := edits(1)[0]
			m.cook(t, dir)
			c.break_(t, dir)
			_, err := Run(t.Context(), dir, to, Options{Keep: 1, Now: later()})
			if !errors.Is(err, ErrScene) || !strings.Contains(err.Error(), c.says) {
				t.Error(err)
			}
			if d := cmp.Diff(before, list(t, to, "")); d != "" {
				t.Error(d)
			}
		})
	}
	to, dir := place(t)
	city().cook(t, dir)
	for _, at := range []string{dir, filepath.Join(dir, "out"), filepath.Dir(dir)} {
		inside, err := blob.OpenFolder(at)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), dir, inside, Options{}); !errors.Is(err, ErrScene) || !strings.Contains(err.Error(), "one another") {
			t.Errorf("%s: %v", at, err)
		}
	}
	if _, err := Run(t.Context(), dir, to, Options{Keep: 1}); err == nil {
		t.Error("Keep without a time")
	}
	if _, err := Run(t.Context(), dir+"none", to, Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func flip(t *testing.T, dir, name string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.Clone(data)
	data[len(data)-1] ^= 1
	write(t, dir, name, string(data))
}

// TestChangedMeanwhile: a file that is not what was judged is not sent under its hash.
func TestChangedMeanwhile(t *testing.T) {
	to, dir := place(t)
	city().cook(t, dir)
	w := &watched{Place: to}
	w.see = func() {
		if len(w.list) == 0 {
			for _, name := range []string{"tile_0_0_0", "tile_1_0_0", "tile_2_0_0", "tile_3_0_0", "shared"} {
				flip(t, dir, "tiles/"+name+".untold")
			}
		}
	}
	_, err := Run(t.Context(), dir, w, Options{Jobs: 1})
	if !errors.Is(err, ErrScene) || !strings.Contains(err.Error(), "has changed while") {
		t.Error(err)
	}
	if _, err := to.Stat(t.Context(), "city.json"); !errors.Is(err, blob.ErrNotFound) {
		t.Error(err)
	}
}

// TestLargeFileChanges: a file that is too large to be hashed again when it is sent, and
// changes meanwhile, does not stay in the place.
func TestLargeFileChanges(t *testing.T) {
	to, dir := place(t)
	m := city()
	m.lut = 1
	m.cook(t, dir)
	write(t, dir, "look.cube", strings.Repeat("0 0 0\n", inMemory/6+1))
	w := &watched{Place: to}
	w.see = func() {
		if n := len(w.list); n > 0 && strings.HasSuffix(w.list[n-1], ".cube") {
			f, err := os.OpenFile(filepath.Join(dir, "look.cube"), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.WriteString("1")
			if err := errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := Run(t.Context(), dir, w, Options{Jobs: 1}); !errors.Is(err, ErrScene) || !strings.Contains(err.Error(), "look.cube has changed while") {
		t.Error(err)
	}
	for _, key := range list(t, to, "") {
		if strings.HasSuffix(key, ".cube") || key == "city.json" {
			t.Errorf("%s is there", key)
		}
	}
	w.see = func() {}
	if r := must2(t)(Run(t.Context(), dir, w, Options{})); r.Bytes <= inMemory || len(w.puts) == 0 {
		t.Errorf("%+v", r)
	}
}

// TestScattered: containers move together when their textures lie in many folders.
func TestScattered(t *testing.T) {
	to, dir := place(t)
	m := model{tiles: map[string]tileModel{}, textures: map[string]int{"brick": 1, "glass": 2, "grass": 3}}
	for i := range 6 {
		own := fmt.Sprintf("own%c", 'a'+i)
		m.textures[own] = 100 + i
		m.tiles[string(rune('a'+i))] = tileModel{i + 1, []string{"brick", "glass", "grass", own}}
	}
	most, moved := 0, false
	for i := range 6 {
		m = m.clone()
		m.textures[fmt.Sprintf("own%c", 'a'+i)] = 200 + i
		m.cook(t, dir)
		r := must2(t)(Run(t.Context(), dir, to, Options{}))
		newReader(t, to, m, "city.json").load(t, to)
		sets := map[string]bool{}
		for _, tile := range newReader(t, to, m, "city.json").doc.Tiles {
			sets[strings.Split(tile.Path, "/")[1]] = true
		}
		most = max(most, len(sets))
		moved = moved || i > 0 && len(sets) == 1 && len(r.Sent)+len(r.Copied) == 15
	}
	if most < 2 || most > 5 || !moved {
		t.Errorf("at most %d folders; moved together: %v", most, moved)
	}
}

// TestSeveralScenes: scenes of one folder, in folders, and of another publish.
func TestSeveralScenes(t *testing.T) {
	to, dir := place(t)
	m, other := city(), edits(1)[0]
	m.cook(t, filepath.Join(dir, "east"))
	other.cook(t, filepath.Join(dir, "west"))
	r := must2(t)(Run(t.Context(), dir, to, Options{}))
	if len(r.Scenes) != 2 || r.Scenes[0].Manifest != "east/city.json" {
		t.Errorf("%+v", r)
	}
	newReader(t, to, m, "east/city.json").load(t, to)
	newReader(t, to, other, "west/city.json").load(t, to)
	// Another folder does not take away what is there.
	third := filepath.Join(t.TempDir(), "third")
	city().cook(t, third)
	for range 3 {
		r = must2(t)(Run(t.Context(), filepath.Join(third, "city.json"), to, Options{Keep: 1, Now: later()}))
	}
	if r.Version != 2 || r.Removed != 0 {
		t.Errorf("%+v", r)
	}
	newReader(t, to, m, "east/city.json").load(t, to)
	newReader(t, to, other, "west/city.json").load(t, to)
	newReader(t, to, city(), "city.json").load(t, to)
}

// TestKeysStay: keys of other programs stay in the manifest as they are.
func TestKeysStay(t *testing.T) {
	to, dir := place(t)
	city().cook(t, dir)
	data, err := os.ReadFile(filepath.Join(dir, "city.json"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(data), "{", `{ "ours": {"path": "tiles/tile_0_0_0.untold", "n": 1e400},`, 1)
	text = strings.Replace(text, "tiles/tile_0_0_0.untold\",\n", `tiles\/tile_0_0_0.untold",`+"\n", 2)
	write(t, dir, "city.json", text)
	must2(t)(Run(t.Context(), dir, to, Options{}))
	got := string(get(t, to, "city.json"))
	if !strings.HasPrefix(got, `{ "ours": {"path": "tiles/tile_0_0_0.untold", "n": 1e400},`) {
		t.Error(got[:200])
	}
	newReader(t, to, city(), "city.json").load(t, to)
}
