package memory

import (
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	mib = int64(1 << 20)
	gib = int64(1 << 30)
)

// copyOf returns a copy of a tree of testdata that may be written to.
func copyOf(t testing.TB, name string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", name))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// put writes a file of a tree.
func put(t testing.TB, root, name, content string) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestSample(t *testing.T) {
	own := 16384 * int64(os.Getpagesize())
	for _, c := range []struct {
		tree  string
		want  Sample
		room  int64
		share float64
	}{
		{"bare", Sample{Total: 16 * gib, Available: 12 * gib, Own: own, Some: 1.25, Full: 0.75}, 12 * gib, 0.75},
		// memory.high of the parent is the smallest limit; a quarter of what it
		// uses are files.
		{
			"v2",
			Sample{
				Total: 16 * gib, Available: 12 * gib, Own: own, Limit: 1536 * mib, Used: 896 * mib,
				Some: 4, Full: 2, Reclaims: 4,
			},
			640 * mib, 640.0 / 1536,
		},
		{"broken", Sample{}, 0, 1},
		{"absent", Sample{}, 0, 1},
	} {
		t.Run(c.tree, func(t *testing.T) {
			s := newReader(filepath.Join("testdata", c.tree)).sample()
			if d := cmp.Diff(c.want, s); d != "" {
				t.Error(d)
			}
			if s.Room() != c.room || s.Share() != c.share {
				t.Errorf("room %d, share %v, want %d, %v", s.Room(), s.Share(), c.room, c.share)
			}
		})
	}
}

// TestGroupsStayInside: a membership that climbs out of the mount names its
// root.
func TestGroupsStayInside(t *testing.T) {
	root := copyOf(t, "v2")
	put(t, root, "/proc/self/cgroup", "0::/../../../app.slice\n")
	got := newReader(root).groups
	want := []string{"/sys/fs/cgroup/app.slice"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestSystem reads this machine, whatever it is.
func TestSystem(t *testing.T) {
	s := newReader("").sample()
	t.Logf("%+v, room %d MiB, share %.2f", s, s.Room()/mib, s.Share())
	if s.Room() < 0 || s.Share() < 0 || s.Share() > 1 {
		t.Errorf("%+v", s)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("some avg10=1.25 avg60=0.50\n", "0::/a\n4:memory:/b\n", "35 31 0:32 / /sys/fs/cgroup rw - cgroup2 a b\n")
	f.Add("full avg10=", "::", `1 2 3 \057 \04 - cgroup x memory`)
	f.Fuzz(func(t *testing.T, pressure, membership, mounts string) {
		root := t.TempDir()
		put(t, root, "/proc/pressure/memory", pressure)
		put(t, root, "/proc/self/cgroup", membership)
		put(t, root, "/proc/self/mountinfo", mounts)
		put(t, root, "/proc/meminfo", mounts)
		for _, m := range files(root).mounts() {
			if !path.IsAbs(m.point) || m.point != path.Clean(m.point) {
				t.Fatalf("mount %q", m.point)
			}
		}
		s := newReader(root).sample()
		if s.Room() < 0 || !(s.Share() >= 0 && s.Share() <= 1) || !(s.Some >= 0 && s.Some <= 100) {
			t.Fatalf("%+v", s)
		}
	})
}
