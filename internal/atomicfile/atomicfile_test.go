package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/testfile"
)

var errDiskFull = errors.New("no space left on device")

// fullDisk accepts a number of bytes, then fails.
type fullDisk struct {
	w    io.Writer
	room int
}

func (d *fullDisk) Write(p []byte) (int, error) {
	n := min(len(p), d.room)
	d.room -= n
	n, err := d.w.Write(p[:n])
	if err == nil && n < len(p) {
		err = errDiskFull
	}
	return n, err
}

// names lists a folder.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.untold")
	for _, s := range []string{"first", "", "second, longer than the first", strings.Repeat("x", 1<<20)} {
		if err := Write(path, text(s)); err != nil {
			t.Fatal(err)
		}
		if got := string(testfile.Read(t, path)); got != s {
			t.Errorf("%d bytes, want %d", len(got), len(s))
		}
	}
	if n := names(t, dir); len(n) != 1 {
		t.Error(n)
	}
}

func TestWriteUsesTheUmask(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permission bits on Windows")
	}
	dir := t.TempDir()
	if err := Write(filepath.Join(dir, "a"), text("a")); err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, filepath.Join(dir, "b"), "")
	a, _ := os.Stat(filepath.Join(dir, "a"))
	b, _ := os.Stat(filepath.Join(dir, "b"))
	if a.Mode() != b.Mode() {
		t.Errorf("%v, an ordinary file has %v", a.Mode(), b.Mode())
	}
}

// At whatever byte the disk fills up, the old file survives and nothing is
// left beside it.
func TestWriteOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := Write(path, text("old")); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("new", 50_000)
	for _, room := range []int{0, 1, 65535, 65536, 65537, len(long) - 1} {
		opts := Options{Wrap: func(w io.Writer) io.Writer { return &fullDisk{w, room} }}
		if err := WriteWith(path, opts, text(long)); !errors.Is(err, errDiskFull) || !strings.Contains(err.Error(), path) {
			t.Errorf("room for %d: %v", room, err)
		}
		if string(testfile.Read(t, path)) != "old" || len(names(t, dir)) != 1 {
			t.Errorf("room for %d: %v", room, names(t, dir))
		}
	}
	opts := Options{NoSync: true, Wrap: func(w io.Writer) io.Writer { return &fullDisk{w, len(long)} }}
	if err := WriteWith(path, opts, text(long)); err != nil || string(testfile.Read(t, path)) != long {
		t.Error(err)
	}
}

// A writer that hides its failure must not pass either.
func TestWriteWhenTheCallerIgnoresTheError(t *testing.T) {
	dir := t.TempDir()
	opts := Options{Wrap: func(w io.Writer) io.Writer { return &fullDisk{w, 10} }}
	err := WriteWith(filepath.Join(dir, "a"), opts, func(w io.Writer) error {
		w.Write(bytes.Repeat([]byte("x"), 200_000))
		return nil
	})
	if !errors.Is(err, errDiskFull) || len(names(t, dir)) != 0 {
		t.Error(err, names(t, dir))
	}
}

func TestWriteWhenTheCallerFails(t *testing.T) {
	dir := t.TempDir()
	mine := errors.New("mine")
	if err := Write(filepath.Join(dir, "a"), func(w io.Writer) error {
		io.WriteString(w, "half")
		return mine
	}); !errors.Is(err, mine) {
		t.Error(err)
	}
	if n := names(t, dir); len(n) != 0 {
		t.Error(n)
	}
}

func TestWriteWhenTheCallerPanics(t *testing.T) {
	dir := t.TempDir()
	func() {
		defer func() { recover() }()
		Write(filepath.Join(dir, "a"), func(io.Writer) error { panic("oops") })
	}()
	if n := names(t, dir); len(n) != 0 {
		t.Error(n)
	}
}

func TestWriteErrors(t *testing.T) {
	dir := t.TempDir()
	if err := Write(filepath.Join(dir, "none", "a"), text("a")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	for _, path := range []string{"", dir + string(filepath.Separator), "."} {
		if err := Write(path, text("a")); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%q: %v", path, err)
		}
	}
	// A folder is in the way.
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "d"), text("a")); err == nil {
		t.Error("a folder was replaced")
	}
	if n := names(t, dir); len(n) != 1 {
		t.Error(n)
	}
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	f, err := Create(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Path() != path {
		t.Error(f.Path())
	}
	if _, err := io.WriteString(f, "text"); err != nil {
		t.Fatal(err)
	}
	n := names(t, dir)
	if len(n) != 1 || !IsTemp(filepath.Join(dir, n[0])) {
		t.Error(n)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	f.Abort()
	if string(testfile.Read(t, path)) != "text" || len(names(t, dir)) != 1 {
		t.Error(names(t, dir))
	}
	if err := f.Commit(); !errors.Is(err, ErrDone) {
		t.Error(err)
	}
	if _, err := f.Write(nil); !errors.Is(err, ErrDone) {
		t.Error(err)
	}
	for _, name := range []string{"a", ".a", "a" + TempSuffix, path} {
		if IsTemp(name) {
			t.Error(name)
		}
	}
}

func TestFileAbort(t *testing.T) {
	dir := t.TempDir()
	f, err := Create(filepath.Join(dir, "a"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	f.Abort()
	f.Abort()
	if err := f.Commit(); !errors.Is(err, ErrDone) {
		t.Error(err)
	}
	if n := names(t, dir); len(n) != 0 {
		t.Error(n)
	}
}

// shortWriter accepts less than it is given and reports no error.
type shortWriter struct{ w io.Writer }

func (s shortWriter) Write(p []byte) (int, error) { return s.w.Write(p[:len(p)/2]) }

func TestShortWrite(t *testing.T) {
	dir := t.TempDir()
	f, err := Create(filepath.Join(dir, "a"), Options{Wrap: func(w io.Writer) io.Writer { return shortWriter{w} }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("abcd")); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
	if err := f.Commit(); !errors.Is(err, io.ErrShortWrite) || len(names(t, dir)) != 0 {
		t.Error(err, names(t, dir))
	}
}

func TestLongAndOddNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{strings.Repeat("n", 250), strings.Repeat("é", 124), ".hidden", "sp ace", "日本"} {
		if err := Write(filepath.Join(dir, name), text(name)); err != nil {
			t.Error(err)
		}
	}
	if n := names(t, dir); len(n) != 5 {
		t.Error(n)
	}
}

func TestAbandonedTemporaryFilesAreNoObstacle(t *testing.T) {
	dir := t.TempDir()
	next := temps.Load()
	for i := range uint64(3) {
		name := fmt.Sprintf(".a.%d-%d%s", os.Getpid(), next+1+i, TempSuffix)
		testfile.Write(t, filepath.Join(dir, name), "stale")
	}
	if err := Write(filepath.Join(dir, "a"), text("new")); err != nil || string(testfile.Read(t, filepath.Join(dir, "a"))) != "new" {
		t.Error(err)
	}
}

// pretend replaces the system's rename for one test.
func pretend(t *testing.T, f func(from, to string) error) (pauses *int) {
	t.Helper()
	oldRename, oldSleep, oldInUse := osRename, sleep, inUse
	t.Cleanup(func() { osRename, sleep, inUse = oldRename, oldSleep, oldInUse })
	pauses = new(int)
	osRename, sleep = f, func(time.Duration) { *pauses++ }
	inUse = func(err error) bool { return errors.Is(err, errInUse) }
	return pauses
}

var errInUse = errors.New("sharing violation")

func TestRenameWaitsForOtherPrograms(t *testing.T) {
	dir := t.TempDir()
	tries := 0
	pauses := pretend(t, func(from, to string) error {
		if tries++; tries < 4 {
			return errInUse
		}
		return os.Rename(from, to)
	})
	if err := Write(filepath.Join(dir, "a"), text("a")); err != nil || tries != 4 || *pauses != 3 {
		t.Error(err, tries, *pauses)
	}
}

func TestRenameGivesUp(t *testing.T) {
	dir := t.TempDir()
	tries := 0
	pretend(t, func(string, string) error { tries++; return errInUse })
	err := Write(filepath.Join(dir, "a"), text("a"))
	if !errors.Is(err, errInUse) || !strings.Contains(err.Error(), "another program") || tries != renameTries {
		t.Error(err, tries)
	}
	if n := names(t, dir); len(n) != 0 {
		t.Error(n)
	}
}

func TestRenameDoesNotRetryOtherErrors(t *testing.T) {
	tries := 0
	pretend(t, func(string, string) error { tries++; return fs.ErrPermission })
	if err := Write(filepath.Join(t.TempDir(), "a"), text("a")); !errors.Is(err, fs.ErrPermission) || tries != 1 {
		t.Error(err, tries)
	}
}

// TestIfAbsent: a file that is there stays, whichever way the name is taken, and no
// temporary file is left.
func TestIfAbsent(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) error {
		return WriteWith(filepath.Join(dir, name), Options{IfAbsent: true}, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
	}
	if err := write("a", "first"); err != nil {
		t.Fatal(err)
	}
	if err := write("a", "second"); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	// As on file systems without hard links.
	from := filepath.Join(dir, "from")
	for _, c := range []struct {
		to   string
		fail bool
	}{{"a", true}, {"b", false}} {
		if err := os.WriteFile(from, []byte("third"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := renameNew(from, filepath.Join(dir, c.to)); errors.Is(err, fs.ErrExist) != c.fail {
			t.Error(c.to, err)
		}
	}
	for name, want := range map[string]string{"a": "first", "b": "third"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Error(entries, err)
	}
}
