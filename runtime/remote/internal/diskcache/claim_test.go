package diskcache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
	"github.com/untoldkit/untold/runtime/remote/internal/weburl"
)

// snapshot returns what lies in a folder: names, kinds and contents.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		all[rel] = d.Type().String()
		if err == nil && d.Type().IsRegular() {
			var text []byte
			text, err = os.ReadFile(p)
			all[rel] = string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func same(a, b map[string]string) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

var (
	aKey      = strings.Repeat("a", 64)
	aTemp     = aKey + ".12-1.tmp"
	aTexture  = texturesDir + "/" + aKey[:32] + "/sub/photo.png"
	foreigner = []string{"notes.txt", "thesis.tmp", aKey + ".dat", aKey, aTexture, aKey + ".meta", aKey + ".untold.part", aKey + ".untold.have", "index.log.tmp"}
)

// A folder that is no cache is refused, and nothing in it changes.
func TestForeignFolderIsRefused(t *testing.T) {
	for name, fill := range map[string][]string{
		"anybody's":        foreigner,
		"one file":         {"notes.txt"},
		"a name of ours":   {aKey + ".dat"},
		"a temporary file": {aTemp},
		"a texture":        {aTexture},
		"an index":         {indexName, aKey + ".dat"},
		"a file as mark":   {versionName},
		"a lock with text": {lockName},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, f := range fill {
				write(t, filepath.Join(dir, filepath.FromSlash(f)), "mine")
			}
			before := snapshot(t, dir)
			_, err := Open(dir, Options{})
			if !errors.Is(err, ErrForeign) || !errors.Is(err, ErrCache) || !strings.Contains(err.Error(), "--cache-dir") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v", err)
			}
			if after := snapshot(t, dir); !same(before, after) {
				t.Errorf("before %v\nafter %v", before, after)
			}
		})
	}
	later := t.TempDir()
	write(t, filepath.Join(later, versionName), "untold cache 3\n")
	if _, err := Open(later, Options{}); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), "later version") {
		t.Error(err)
	}
}

// An empty folder becomes a cache and says so to other programs. One that was not
// made to its end, or that systems have put their files into, is finished.
func TestMark(t *testing.T) {
	for _, begun := range []map[string]string{
		{},
		{versionName: ""},
		{versionName: "unt"},
		{versionName: "", lockName: "", usersName: ""},
		{tagName: tagText[:20]},
		{".DS_Store": "x"},
		{versionName: versionText},
	} {
		dir := t.TempDir()
		for name, text := range begun {
			write(t, filepath.Join(dir, name), text)
		}
		c := openCache(t, dir, newClock(), 0)
		put(t, c, 1, []byte("data"))
		if got := remotetest.Text(t, filepath.Join(dir, versionName)); got != versionText {
			t.Errorf("%v: the mark is %q", begun, got)
		}
		if got := remotetest.Text(t, filepath.Join(dir, tagName)); !strings.HasPrefix(got, "Signature: 8a477f597d28d172789f06886806bc55") {
			if _, ok := begun[tagName]; !ok {
				t.Errorf("%v: the tag is %q", begun, got)
			}
		}
	}
}

// Files that others have put into a cache stay, whatever their names and whatever is
// done to the cache.
func TestForeignFilesInACacheStay(t *testing.T) {
	dir, clock := t.TempDir(), newClock()
	c := openCache(t, dir, clock, 1000)
	u, _ := weburl.Parse(address(1))
	folder := TextureFolder(weburl.Folder(u))
	put(t, c, 1, []byte("data"))
	store(t, c, Entry{Name: folder + "/sub/ours.png", URL: "https://h/tiles/sub/ours.png"}, []byte("texture"))
	for _, f := range append(slices.Clone(foreigner), folder+"/sub/theirs.png", folder+"/theirs/ours.png") {
		write(t, filepath.Join(dir, filepath.FromSlash(f)), "mine")
	}
	if err := os.MkdirAll(filepath.Join(dir, texturesDir, aKey[:31]+"b", "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	for f := range snapshot(t, dir) { // old enough to be a dead process's
		os.Chtimes(filepath.Join(dir, f), time.Unix(1, 0), time.Unix(1, 0))
	}
	kept := func(step string) {
		t.Helper()
		for _, f := range append(slices.Clone(foreigner), folder+"/sub/theirs.png", folder+"/theirs/ours.png") {
			if got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f))); string(got) != "mine" {
				t.Errorf("%s: %s: %q, %v", step, f, got, err)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, texturesDir, aKey[:31]+"b", "empty")); err != nil {
			t.Errorf("%s: %v", step, err)
		}
	}
	again := func() {
		c.Close()
		c = openCache(t, dir, clock, 1000)
	}
	again()
	kept("opened again")
	for i := range 5 { // evictions
		clock.Advance(time.Minute)
		put(t, c, i, make([]byte, 400))
	}
	kept("evicted")
	if _, err := c.Verify(t.Context(), false); err != nil {
		t.Error(err)
	}
	kept("verified")
	if err := os.Remove(filepath.Join(dir, indexName)); err != nil {
		t.Fatal(err)
	}
	again()
	kept("without an index")
	put(t, c, 1, []byte("data"))
	if _, err := c.Clear(); err != nil {
		t.Error(err)
	}
	kept("cleared")
	if _, err := os.Stat(c.Path(name(1))); !missing(err) {
		t.Error("what is the cache's stays", err)
	}
}

// Links are not followed, also none that stay within the folder.
func TestLinksInACacheAreNotFollowed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	dir := t.TempDir()
	c := openCache(t, dir, newClock(), 0)
	folder := TextureFolder(weburl.Folder(mustParse(t, address(1))))
	ours := store(t, c, Entry{Name: folder + "/sub/a.png"}, []byte("texture"))
	write(t, filepath.Join(dir, "theirs", "a.png"), "mine")
	sub := c.Path(folder + "/sub")
	if err := os.RemoveAll(sub); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "theirs"), sub); err != nil {
		t.Skip(err)
	}
	if _, ok := c.Lookup(ours.Name); ok {
		t.Error("a hit behind a link")
	}
	st, err := c.Create(ours.Name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Commit(Entry{Name: ours.Name}); err == nil {
		t.Error("stored behind a link")
	}
	st.Abort()
	if _, err := c.Clear(); err != nil {
		t.Error(err)
	}
	if got := remotetest.Text(t, filepath.Join(dir, "theirs", "a.png")); got != "mine" {
		t.Errorf("%q", got)
	}
}

// unmark makes a cache one of a version that set no mark.
func unmark(t *testing.T, dir string) {
	t.Helper()
	for _, f := range []string{versionName, tagName} {
		if err := os.Remove(filepath.Join(dir, f)); err != nil {
			t.Fatal(err)
		}
	}
}

// A cache of an earlier version goes on; its textures, which lay elsewhere, go. With
// anything else in its folder it is refused.
func TestCacheOfAnEarlierVersion(t *testing.T) {
	dir := t.TempDir()
	c := openCache(t, dir, newClock(), 0)
	put(t, c, 1, []byte("data"))
	texture := store(t, c, Entry{Name: texturesDir + "/" + aKey[:32] + "/tiles/Textures/a.png", URL: "https://h/tiles/Textures/a.png"}, []byte("texture"))
	secret := store(t, c, Entry{Name: name(2), URL: "https://user:secret@h/tiles/2.untold", ETag: "e"}, []byte("data"))
	storePartial(t, c, 3, remotetest.Body(100*BlockSize), 0, 4)
	c.Close()
	unmark(t, dir)
	write(t, filepath.Join(dir, aTemp), "half")
	write(t, filepath.Join(dir, "notes.txt"), "mine")
	before := snapshot(t, dir)
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), "notes.txt") {
		t.Errorf("%v", err)
	}
	if after := snapshot(t, dir); !same(before, after) {
		t.Errorf("before %v\nafter %v", before, after)
	}
	if err := os.Remove(filepath.Join(dir, "notes.txt")); err != nil {
		t.Fatal(err)
	}
	c = openCache(t, dir, newClock(), 0)
	if _, ok := c.Lookup(name(1)); !ok {
		t.Error("a file is lost")
	}
	if _, ok := c.Peek(partialName(name(3))); !ok {
		t.Error("parts are lost")
	}
	for _, e := range []Entry{texture, secret} {
		if _, err := os.Stat(c.Path(e.Name)); !missing(err) {
			t.Errorf("%s: %v", e.URL, err)
		}
	}
	for f, content := range snapshot(t, dir) {
		if strings.Contains(content, "secret") {
			t.Errorf("%s has a password", f)
		}
	}
	if remotetest.Text(t, filepath.Join(dir, versionName)) != versionText {
		t.Error("no mark")
	}
}

// A name that was written to the index before a crash is the cache's, a name that
// an index has lost its beginning with too.
func TestFilesWithoutAnEntryGo(t *testing.T) {
	for _, how := range []string{"crash", "damaged index"} {
		dir := t.TempDir()
		c := openCache(t, dir, newClock(), 0)
		put(t, c, 1, []byte("data"))
		orphan := TextureFolder(weburl.Folder(mustParse(t, address(1)))) + "/sub/a.png"
		if how == "crash" {
			if err := c.announce(orphan); err != nil {
				t.Fatal(err)
			}
			write(t, c.Path(orphan), "texture")
		} else {
			store(t, c, Entry{Name: orphan}, []byte("texture"))
		}
		c.Close()
		if how != "crash" {
			log := []byte(remotetest.Text(t, filepath.Join(dir, indexName)))
			log[0] ^= 1
			write(t, filepath.Join(dir, indexName), string(log))
		}
		c = openCache(t, dir, newClock(), 0)
		if _, err := os.Stat(c.Path(orphan)); !missing(err) {
			t.Errorf("%s: %v", how, err)
		}
		if list, _ := os.ReadDir(filepath.Join(dir, texturesDir)); len(list) != 0 {
			t.Errorf("%s: %v", how, list)
		}
	}
}

// counting counts what is done to a disk.
type counting struct {
	Disk
	n int
}

func (d *counting) ReadDir(name string) ([]fs.DirEntry, error) { d.n++; return d.Disk.ReadDir(name) }
func (d *counting) Lstat(name string) (fs.FileInfo, error)     { d.n++; return d.Disk.Lstat(name) }
func (d *counting) Remove(name string) error                   { d.n++; return d.Disk.Remove(name) }

// To open a cache and to clear it cost what the cache has, not what others have
// put beside that, and not more than in proportion.
func TestOpeningAndClearingAreLinear(t *testing.T) {
	const n = 40
	dir := t.TempDir()
	c := openCache(t, dir, newClock(), 0)
	folder := TextureFolder(weburl.Folder(mustParse(t, address(1))))
	for i := range n {
		store(t, c, Entry{Name: fmt.Sprintf("%s/%s%d.png", folder, strings.Repeat("d/", 25), i)}, []byte("texture"))
	}
	c.Close()
	for i := range 300 {
		write(t, filepath.Join(dir, texturesDir, aKey[:32], fmt.Sprint(i), "x.png"), "mine")
	}
	var d *counting
	c, err := Open(dir, Options{Now: newClock().Now, NoSync: true, Disk: func(real Disk) Disk { d = &counting{Disk: real}; return d }})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if d.n > n+30 {
		t.Errorf("opening took %d looks for %d files", d.n, n)
	}
	d.n = 0
	if _, err := c.Clear(); err != nil {
		t.Fatal(err)
	}
	if d.n > 4*n+100 {
		t.Errorf("clearing took %d operations for %d files", d.n, n)
	}
}
