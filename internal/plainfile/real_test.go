package plainfile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRealPath(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	t.Chdir(dir)
	for in, want := range map[string]string{
		".": "", "link": "real", "link/a/b": "real/a/b", "none/a": "none/a", filepath.Join(dir, "link", ".."): "",
	} {
		if got := RealPath(in); got != filepath.Join(dir, want) {
			t.Errorf("%s is %s", in, got)
		}
	}
	for _, c := range []struct {
		path, above string
		want        bool
	}{{"/a/b", "/a", true}, {"/a", "/a", true}, {"/ab", "/a", false}, {"/a", "/a/b", false}} {
		if Within(c.path, c.above) != c.want {
			t.Errorf("%+v", c)
		}
	}
}
