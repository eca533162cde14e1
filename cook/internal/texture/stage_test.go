package texture

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/untoldkit/untold/internal/testfile"
)

func source(i int, name string, data []byte) Source {
	return Source{Index: i, URI: name, Bytes: func() ([]byte, error) { return data, nil }}
}

func TestStage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), Folder)
	a, b, photo := pngOf(t, small(1)), pngOf(t, small(2)), jpegOf(t, small(3))
	got, err := Stage(context.Background(), dir, []Source{
		source(0, "x/wood.png", a),
		source(1, "y/wood.png", b),          // same name, other content
		source(2, "y/again.png", a),         // same content: the first name
		source(3, "z/WOOD.jpeg", photo),     // another extension
		source(4, "a.dds", []byte("DDS |")), // left out
		source(5, "deep.png", pngOf(t, deep())),
		{Index: 9, Bytes: func() ([]byte, error) { return pngOf(t, small(4)), nil }},
	}, Limits{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	want := []Staged{
		{File: "wood.png", Width: 4, Height: 3, Size: int64(len(a))},
		{File: "wood_61b790db.png", Width: 4, Height: 3, Size: int64(len(b))},
		{File: "wood.png", Width: 4, Height: 3, Size: int64(len(a))},
		{File: "WOOD.jpg", Width: 4, Height: 3, Size: int64(len(photo))},
		{Err: ErrFormat},
		{File: "deep.png", Width: 3, Height: 2, Change: "16-bit PNG reduced to 8 bits"},
		{File: "image_9.png", Width: 4, Height: 3},
	}
	ignore := cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Size" }, cmp.Comparer(func(a, b int64) bool { return a == 0 || b == 0 || a == b }))
	if diff := cmp.Diff(want, got, cmpopts.EquateErrors(), ignore); diff != "" {
		t.Error(diff)
	}
	disk := testfile.ReadTree(t, dir)
	if len(disk) != 5 || disk["wood.png"] != string(a) || disk["WOOD.jpg"] != string(photo) || disk[want[1].File] != string(b) {
		t.Errorf("files: %q", keys(disk))
	}
	for _, s := range got {
		if s.Err == nil && len(disk[s.File]) != int(s.Size) {
			t.Errorf("%s has %d bytes, told %d", s.File, len(disk[s.File]), s.Size)
		}
	}
}

func keys(m map[string]string) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// TestStageIgnoresJobs stages many images, most of them twice, with different
// numbers of workers.
func TestStageIgnoresJobs(t *testing.T) {
	var sources []Source
	for i := range 60 {
		sources = append(sources, source(i, fmt.Sprintf("%d/tex.png", i), pngOf(t, small(uint8(i%20)))))
	}
	var want map[string]string
	var results []Staged
	for _, jobs := range []int{0, 1, 2, 7, 100} {
		dir := t.TempDir()
		got, err := Stage(context.Background(), dir, sources, Limits{}, jobs)
		if err != nil {
			t.Fatal(err)
		}
		disk := testfile.ReadTree(t, dir)
		if want == nil {
			want, results = disk, got
		}
		if diff := cmp.Diff(want, disk); diff != "" || len(disk) != 20 {
			t.Errorf("%d jobs: %d files\n%s", jobs, len(disk), diff)
		}
		if diff := cmp.Diff(results, got); diff != "" {
			t.Errorf("%d jobs:\n%s", jobs, diff)
		}
	}
}

// TestStageHostileNames: nothing lands outside the folder.
func TestStageHostileNames(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "a", "b", Folder)
	var sources []Source
	for i, name := range []string{"../../../evil.png", "/etc/evil.png", `..\..\evil.png`, "..", "con", strings.Repeat("x", 5000) + ".png", "a\x00b.png"} {
		sources = append(sources, source(i, name, pngOf(t, small(uint8(i)))))
		sources = append(sources, Source{Index: 100 + i, Name: name, Bytes: sources[len(sources)-1].Bytes})
	}
	got, err := Stage(context.Background(), dir, sources, Limits{}, 3)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(testfile.ReadTree(t, dir)); n != 7 {
		t.Errorf("%d files", n)
	}
	for _, s := range got {
		if filepath.Base(s.File) != s.File {
			t.Errorf("%q is not a plain name", s.File)
		}
	}
	if list, _ := os.ReadDir(base); len(list) != 1 {
		t.Errorf("files outside the folder: %v", list)
	}
}

func TestStageNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), Folder)
	if got, err := Stage(context.Background(), dir, nil, Limits{}, 1); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("an empty folder was made")
	}
}

// TestStageErrors: the first failure in the order of the sources is told,
// whatever finishes first, and names the image.
func TestStageErrors(t *testing.T) {
	broken := errors.New("disk on fire")
	good := pngOf(t, small(1))
	for _, jobs := range []int{1, 4} {
		_, err := Stage(context.Background(), t.TempDir(), []Source{
			source(3, "fine.png", good),
			source(5, "bad.png", good[:20]),
			{Index: 6, Bytes: func() ([]byte, error) { return nil, broken }},
		}, Limits{}, jobs)
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "images[5] (bad.png)") {
			t.Errorf("%d jobs: %v", jobs, err)
		}
		_, err = Stage(context.Background(), t.TempDir(), []Source{
			{Index: 6, Bytes: func() ([]byte, error) { return nil, broken }}, source(5, "bad.png", nil),
		}, Limits{}, jobs)
		if !errors.Is(err, broken) {
			t.Errorf("%d jobs: %v", jobs, err)
		}
	}
	for want, s := range map[string]Source{"(embedded)": {}, "(called so)": {Name: "called so"}} {
		s.Bytes = func() ([]byte, error) { return nil, nil }
		if _, err := Stage(context.Background(), t.TempDir(), []Source{s}, Limits{}, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestStageOptional: images that may be missing may be damaged, too.
func TestStageOptional(t *testing.T) {
	good := pngOf(t, small(1))
	bad := source(1, "bad.png", good[:30])
	bad.Optional = true
	got, err := Stage(context.Background(), t.TempDir(), []Source{source(0, "good.png", good), bad}, Limits{}, 2)
	if err != nil || got[0].Err != nil || !errors.Is(got[1].Err, ErrDamaged) || got[1].File != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestStageUnwritable(t *testing.T) {
	base := t.TempDir()
	file := testfile.Write(t, filepath.Join(base, "file"), "")
	if _, err := Stage(context.Background(), filepath.Join(file, Folder), []Source{source(0, "a.png", pngOf(t, small(1)))}, Limits{}, 1); err == nil {
		t.Error("staging below a file worked")
	}
	// A folder in the way of a texture.
	dir := filepath.Join(base, "dir")
	if err := os.MkdirAll(filepath.Join(dir, "a.png", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Stage(context.Background(), dir, []Source{source(0, "a.png", pngOf(t, small(1)))}, Limits{}, 1); err == nil {
		t.Error("a folder was replaced")
	}
}

// TestStageCancelled cancels from within: later images are not even read.
func TestStageCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var read atomic.Int32
	var sources []Source
	for i := range 50 {
		data := pngOf(t, small(uint8(i)))
		sources = append(sources, Source{Index: i, Bytes: func() ([]byte, error) {
			if read.Add(1) == 3 {
				cancel()
			}
			return data, nil
		}})
	}
	dir := t.TempDir()
	if _, err := Stage(ctx, dir, sources, Limits{}, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if n := read.Load(); n != 3 {
		t.Errorf("%d images were read after the end", n-3)
	}
	for name := range testfile.ReadTree(t, dir) {
		if !strings.HasPrefix(name, ".sha-") {
			t.Errorf("%s has its final name already", name)
		}
	}
	done, stop := context.WithCancel(context.Background())
	stop()
	if _, err := Stage(done, dir, sources, Limits{}, 4); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func ExampleStage() {
	dir, err := os.MkdirTemp("", "textures")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	grey := pngOf(nil, image.NewGray(image.Rect(0, 0, 8, 8)))
	staged, err := Stage(context.Background(), dir, []Source{
		{Index: 0, URI: "stone.png", Bytes: func() ([]byte, error) { return grey, nil }},
		{Index: 1, URI: "copy of stone.png", Bytes: func() ([]byte, error) { return grey, nil }},
	}, Limits{}, 0)
	if err != nil {
		panic(err)
	}
	fmt.Println(staged[0].File, staged[1].File, staged[0].Width, staged[0].Height)
	// Output: stone.png stone.png 8 8
}
