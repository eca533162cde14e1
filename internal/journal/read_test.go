package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// seal makes the text of a journal with a right checksum.
func sealed(t *testing.T, body string) string {
	t.Helper()
	text, err := json.Marshal(envelope{version, sumOf([]byte(body)), json.RawMessage(body)})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// pendingScene is a folder in the middle of a commit: b has moved, a, the
// manifest and a texture have not, gone has to go.
func pendingScene(t *testing.T) string {
	dir := t.TempDir()
	testfile.WriteTree(t, dir, map[string]string{
		"s.json": "old", "tiles/a.untold": "old", "tiles/b.untold": "new", "tiles/gone.untold": "old", "notes.txt": "mine",
		".untold/cook-1/s.json": "new", ".untold/cook-1/tiles/a.untold": "new", ".untold/cook-1/tiles/Textures/t.png": "new",
		Name: sealed(t, `{"stage":"cook-1","files":[{"path":"tiles/a.untold"},{"path":"tiles/b.untold"},{"path":"tiles/Textures/t.png"},{"path":"s.json"}],"removes":["tiles/gone.untold"]}`),
	})
	return dir
}

func text(t *testing.T, f *os.File, err error) string {
	t.Helper()
	if errors.Is(err, fs.ErrNotExist) {
		return "missing"
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestReadersFollow(t *testing.T) {
	dir := pendingScene(t)
	want := map[string]string{
		"s.json": "new", "tiles/a.untold": "new", "tiles/b.untold": "new", "tiles/gone.untold": "missing",
		"tiles/Textures/t.png": "new", "notes.txt": "mine", "tiles/none": "missing", "none/none": "missing",
	}
	check := func() {
		t.Helper()
		for name, w := range want {
			p := filepath.Join(dir, filepath.FromSlash(name))
			f, err := Open(p)
			if got := text(t, f, err); got != w {
				t.Errorf("%s: %q, want %q", name, got, w)
			}
			f, err = Follow(dir, p, func() (*os.File, error) { return os.Open(p) })
			if got := text(t, f, err); got != w {
				t.Errorf("%s within: %q, want %q", name, got, w)
			}
			if st, err := Stat(p); (err == nil) != (w != "missing") || err == nil && st.Size() != int64(len(w)) {
				t.Errorf("%s: %v %v", name, st, err)
			}
		}
		for folder, w := range map[string]string{".": "notes.txt s.json", "tiles": "a.untold b.untold", "tiles/Textures": "t.png"} {
			if got, err := Names(filepath.Join(dir, folder)); err != nil || strings.Join(got, " ") != w {
				t.Errorf("%s: %v %v", folder, got, err)
			}
		}
		for folder, w := range map[string]int{".": 5, "tiles": 3} {
			if got, err := Files(filepath.Join(dir, folder)); err != nil || len(got) != w {
				t.Errorf("%s: %v %v", folder, got, err)
			}
		}
		if got, err := Files(filepath.Dir(dir)); err != nil || len(got) != 5 {
			t.Errorf("from above: %v %v", got, err)
		}
	}
	check()
	if before, err := Pending(dir); !before || err != nil {
		t.Error(before, err)
	}
	d, err := OpenDir(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if done, err := Recover(d, nil); !done || err != nil {
		t.Fatal(done, err)
	}
	check()
	if _, err := os.Lstat(filepath.Join(dir, Folder)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the state is still there")
	}
}

// TestReadersDoNotWrite: a folder that may only be read shows the new scene.
func TestReadersDoNotWrite(t *testing.T) {
	dir := pendingScene(t)
	before, _ := filepath.Glob(filepath.Join(dir, ".untold", "*", "*"))
	for _, n := range []string{".untold", ".untold/cook-1", "tiles", "."} {
		if err := os.Chmod(filepath.Join(dir, n), 0o555); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(filepath.Join(dir, n), 0o755)
	}
	f, err := Open(filepath.Join(dir, "tiles", "a.untold"))
	if got := text(t, f, err); got != "new" {
		t.Error(got)
	}
	if after, _ := filepath.Glob(filepath.Join(dir, ".untold", "*", "*")); !slices.Equal(before, after) {
		t.Error(after)
	}
}

// TestLinksLeadToNoJournal: a name below a folder does not reach files outside
// by a link to another scene.
func TestLinksLeadToNoJournal(t *testing.T) {
	other, dir := pendingScene(t), t.TempDir()
	if err := os.Symlink(filepath.Join(other, "tiles"), filepath.Join(dir, "tiles")); err != nil {
		t.Skip(err)
	}
	refused := errors.New("refused")
	if _, err := Follow(dir, filepath.Join(dir, "tiles", "a.untold"), func() (*os.File, error) { return nil, refused }); !errors.Is(err, refused) {
		t.Error(err)
	}
	// A link that the user has made and names is the user's.
	f, err := Open(filepath.Join(dir, "tiles", "a.untold"))
	if got := text(t, f, err); got != "new" {
		t.Error(got)
	}
}

func TestHostileJournals(t *testing.T) {
	many := make([]string, 0, maxFiles+1)
	for i := range maxFiles + 1 {
		many = append(many, fmt.Sprintf(`"%d"`, i))
	}
	bodies := map[string]string{
		"not JSON":     `{`,
		"stage up":     `{"stage":"..","files":[]}`,
		"stage abs":    `{"stage":"/tmp","files":[]}`,
		"stage deep":   `{"stage":"cook-1/../..","files":[]}`,
		"up":           `{"stage":"cook-1","files":[{"path":"../x"}]}`,
		"up inside":    `{"stage":"cook-1","files":[{"path":"tiles/../../x"}]}`,
		"absolute":     `{"stage":"cook-1","files":[{"path":"/etc/passwd"}]}`,
		"backslash":    `{"stage":"cook-1","files":[{"path":"a\\b"}]}`,
		"drive":        `{"stage":"cook-1","files":[{"path":"c:x"}]}`,
		"control":      `{"stage":"cook-1","files":[{"path":"a\u0000"}]}`,
		"own state":    `{"stage":"cook-1","files":[{"path":".untold/commit.json"}]}`,
		"own state II": `{"stage":"cook-1","files":[{"path":".UNTOLD/x"}]}`,
		"twice":        `{"stage":"cook-1","files":[{"path":"a"},{"path":"a"}]}`,
		"case":         `{"stage":"cook-1","files":[{"path":"a"},{"path":"A"}]}`,
		"both":         `{"stage":"cook-1","files":[{"path":"a"}],"removes":["a"]}`,
		"removes up":   `{"stage":"cook-1","files":[],"removes":["../a"]}`,
		"folder":       `{"stage":"cook-1","files":[{"path":"."}]}`,
		"deep":         `{"stage":"cook-1","files":[{"path":"` + strings.Repeat("a/", maxDepth) + `a"}]}`,
		"long":         `{"stage":"cook-1","files":[{"path":"` + strings.Repeat("a", maxPath+1) + `"}]}`,
		"many":         `{"stage":"cook-1","removes":[` + strings.Join(many, ",") + `]}`,
		"types":        `{"stage":1}`,
	}
	texts := map[string]string{
		"empty": "", "null": "null", "array": "[]", "other version": `{"untold_commit":0,"body":{}}`,
		"wrong sum": strings.Replace(sealed(t, `{"stage":"cook-1"}`), `"sha256":"`, `"sha256":"0`, 1),
		"cut":       sealed(t, `{"stage":"cook-1"}`)[:40],
		"deep JSON": strings.Repeat("[", 100_000),
	}
	for name, b := range bodies {
		if json.Valid([]byte(b)) {
			texts[name] = sealed(t, b)
		} else {
			texts[name] = b
		}
	}
	for name, content := range texts {
		dir := t.TempDir()
		testfile.WriteTree(t, dir, map[string]string{Name: content, "s.json": "old", ".untold/cook-1/s.json": "new"})
		if _, err := Open(filepath.Join(dir, "s.json")); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		d, err := OpenDir(dir, true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Recover(d, nil); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: recovery: %v", name, err)
		}
		d.Close()
	}
	dir := t.TempDir()
	testfile.WriteTree(t, dir, map[string]string{Name: `{"untold_commit":2,"body":{}}`, "s.json": "old"})
	if _, err := Open(filepath.Join(dir, "s.json")); !errors.Is(err, ErrVersion) {
		t.Error(err)
	}
}

// TestJournalsAndLinks: a journal moves nothing through a link and removes
// nothing behind one.
func TestJournalsAndLinks(t *testing.T) {
	outside := t.TempDir()
	testfile.WriteTree(t, outside, map[string]string{"a.untold": "theirs", "b.untold": "theirs", "deep/c.untold": "theirs"})
	for name, c := range map[string]struct {
		links  map[string]string
		staged map[string]string
		body   string
		fails  bool
	}{
		"moves through a link": {
			map[string]string{"tiles": outside},
			map[string]string{"tiles/a.untold": "new"},
			`{"stage":"cook-1","files":[{"path":"tiles/a.untold"}]}`, true,
		},
		"removes behind a link": {map[string]string{"tiles": outside}, nil, `{"stage":"cook-1","files":[],"removes":["tiles/a.untold","tiles/deep/c.untold"]}`, false},
		"removes behind a deep link": {
			map[string]string{"x/tiles": outside},
			nil,
			`{"stage":"cook-1","files":[],"removes":["x/tiles/deep/c.untold","x/tiles/b.untold"]}`, false,
		},
		"replaces a link": {
			map[string]string{"a.untold": filepath.Join(outside, "a.untold")},
			map[string]string{"a.untold": "new"},
			`{"stage":"cook-1","files":[{"path":"a.untold"}]}`, false,
		},
		"removes a link":      {map[string]string{"b.untold": filepath.Join(outside, "b.untold")}, nil, `{"stage":"cook-1","files":[],"removes":["b.untold"]}`, false},
		"the stage is a link": {map[string]string{".untold/cook-1": outside}, nil, `{"stage":"cook-1","files":[{"path":"a.untold"}]}`, true},
	} {
		dir := t.TempDir()
		for n, to := range c.links {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, n)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(to, filepath.Join(dir, n)); err != nil {
				t.Skip(err)
			}
		}
		files := map[string]string{Name: sealed(t, c.body)}
		for n, s := range c.staged {
			files[".untold/cook-1/"+n] = s
		}
		testfile.WriteTree(t, dir, files)
		d, err := OpenDir(dir, true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Recover(d, nil); (err != nil) != c.fails {
			t.Errorf("%s: %v", name, err)
		}
		d.Close()
		got := map[string]string{}
		for _, n := range []string{"a.untold", "b.untold", "deep/c.untold"} {
			b, _ := os.ReadFile(filepath.Join(outside, n))
			got[n] = string(b)
		}
		if want := map[string]string{"a.untold": "theirs", "b.untold": "theirs", "deep/c.untold": "theirs"}; !maps.Equal(got, want) {
			t.Errorf("%s: outside there is %v", name, got)
		}
	}
}

func FuzzJournal(f *testing.F) {
	f.Add([]byte(`{"stage":"cook-1","files":[{"path":"tiles/a.untold"}],"removes":["b"]}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if j, err := decode(body); err == nil {
			t.Fatalf("without a checksum: %+v", j)
		}
		text, err := json.Marshal(envelope{version, sumOf(body), body})
		if err != nil {
			return
		}
		j, err := decode(text)
		if err != nil {
			return
		}
		for _, e := range j.Files {
			if !filepath.IsLocal(filepath.FromSlash(e.Path)) || strings.HasPrefix(Fold(e.Path), Folder) {
				t.Errorf("%q", e.Path)
			}
		}
		for _, n := range j.Removes {
			if !filepath.IsLocal(filepath.FromSlash(n)) || n == "." {
				t.Errorf("%q", n)
			}
		}
	})
}

// A folder may be named by a link; links below it stay what they are.
func TestFilesThroughALink(t *testing.T) {
	dir := t.TempDir()
	testfile.WriteTree(t, dir, map[string]string{"scene/a.json": "a", "scene/tiles/b.untold": "b", "else/c.untold": "c"})
	for link, to := range map[string]string{"link": "scene", "scene/out": "../else"} {
		if err := os.Symlink(filepath.FromSlash(to), filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	got, err := Files(filepath.Join(dir, "link"))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range []string{"a.json", "out", "tiles/b.untold"} {
		want = append(want, filepath.Join(dir, "link", filepath.FromSlash(name)))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
