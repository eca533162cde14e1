//go:build unix

package diskcache

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// special puts what is no file under a name.
var special = map[string]func(path string) error{
	"pipe":   func(path string) error { return unix.Mkfifo(path, 0o600) },
	"link":   func(path string) error { return os.Symlink("/dev/zero", path) },
	"folder": func(path string) error { return os.Mkdir(path, 0o700) },
}

// TestFilesOfTheCacheThatAreNone: a pipe, a link to a device or a folder in the
// place of a file that the cache keeps for itself is refused at once, by its name,
// with what to do; nothing waits for the other end of a pipe.
func TestFilesOfTheCacheThatAreNone(t *testing.T) {
	for kind, put := range special {
		for _, name := range []string{indexName, lockName, usersName} {
			dir := t.TempDir()
			write(t, filepath.Join(dir, versionName), versionText)
			if err := put(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			c, err := Open(dir, Options{NoSync: true})
			if err == nil {
				c.Close()
			}
			want := "remote: cache: open " + dir + ": " + name + " is a " + kind + ", not a regular file; remove it, or name another folder with --cache-dir (Options.CacheDir)"
			if !errors.Is(err, ErrCache) || err.Error() != want {
				t.Errorf("%s as %s: %v", kind, name, err)
			}
		}
		dir := t.TempDir()
		if err := put(filepath.Join(dir, versionName)); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, Options{}); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), versionName+" is a "+kind+", not a regular file") {
			t.Errorf("%s as the mark: %v", kind, err)
		}
	}
}

// TestSpecialFilesAreNotOpened: whatever the name, what is no file is neither read
// nor written, and a pipe keeps nobody waiting.
func TestSpecialFilesAreNotOpened(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := rootDisk{root}
	defer d.Close()
	for kind, put := range special {
		if err := put(filepath.Join(dir, kind)); err != nil {
			t.Fatal(err)
		}
		for _, flag := range []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND, os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_CREATE | os.O_TRUNC} {
			var wrong *kindError
			if f, err := d.OpenFile(kind, flag, 0o600); f != nil || !errors.As(err, &wrong) {
				t.Errorf("%s, flags %x: %v, %v", kind, flag, f, err)
			}
			if kind == "pipe" { // that has come since it was looked at
				if f, err := openRegular(root, kind, flag, 0o600); err == nil {
					f.Close()
					t.Errorf("%s, flags %x: opened", kind, flag)
				}
			}
		}
	}
}
