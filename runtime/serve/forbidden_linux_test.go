package serve

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// unprivileged runs f as a user who may read no more than anybody: root becomes
// one for the thread of f, which ends with it.
func unprivileged(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocks
		const nobody = 65534
		if err := unix.Setfsuid(nobody); err != nil {
			t.Log(err)
		}
		f()
	}()
	<-done
}

// TestForbiddenFolder: a folder that cannot be listed, entered or reached is
// refused before anything listens, with its name and what to do.
func TestForbiddenFolder(t *testing.T) {
	for mode, below := range map[fs.FileMode]string{0: "", 0o100: "", 0o444: "", 0o600: "inner"} {
		top := folder(t, map[string]string{"scene/inner/a.json": "{}"})
		dir := filepath.Join(top, "scene")
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
		named := filepath.Join(dir, below)
		var err error
		free := false
		unprivileged(t, func() {
			if _, e := os.Lstat(filepath.Join(dir, "inner", "a.json")); e == nil {
				free = true
				return
			}
			_, err = New(named, Options{})
		})
		if free {
			t.Skip("this user may read everything")
		}
		if !errors.Is(err, fs.ErrPermission) || !strings.HasPrefix(err.Error(), "serve: "+named+" cannot be read: permission denied: let the user who runs this") {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
}
