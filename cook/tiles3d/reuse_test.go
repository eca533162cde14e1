package tiles3d

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/internal/boxscene"
	"github.com/untoldkit/untold/internal/filestamp"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/internal/testfile"
)

// stamps lists how the files below a folder are seen, without the state.
func stamps(t testing.TB, dir string) map[string]filestamp.Stamp {
	t.Helper()
	out := map[string]filestamp.Stamp{}
	for name := range testfile.ReadTree(t, dir) {
		st, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = filestamp.Of(st)
	}
	return out
}

// spoil changes a byte of a file; kept says that neither size nor time tell.
func spoil(t testing.TB, name string, at int, kept bool) {
	t.Helper()
	st, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	data := testfile.Read(t, name)
	data[(at+len(data))%len(data)] ^= 1
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if kept {
		if err := os.Chtimes(name, st.ModTime(), st.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReuse: a tileset is made again when something that it shows has changed, and only then.
func TestReuse(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Dir(cookedTown(t)))); err != nil {
		t.Fatal(err)
	}
	scene, out := filepath.Join(dir, "town.json"), filepath.Join(t.TempDir(), "set")
	made := func(o Options, want bool) *Result {
		t.Helper()
		o.Reuse = true
		res, err := Export(context.Background(), scene, out, o)
		if err != nil {
			t.Fatal(err)
		}
		if res.Unchanged != want {
			t.Errorf("unchanged: %v, want %v", res.Unchanged, want)
		}
		return res
	}
	first := *made(Options{}, false)
	before, seen := testfile.ReadTree(t, out), stamps(t, out)
	for range 2 {
		second := *made(Options{}, true)
		if second.Kept != len(before) {
			t.Errorf("%d of %d files stayed", second.Kept, len(before))
		}
		second.Unchanged, second.Kept = false, 0
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("what is said of it differs: %s", diff)
		}
		if diff := cmp.Diff(seen, stamps(t, out)); diff != "" {
			t.Errorf("files were touched: %s", diff)
		}
	}
	// Other options, and back.
	made(Options{Plain: true}, false)
	made(Options{}, false)
	if diff := cmp.Diff(before, testfile.ReadTree(t, out)); diff != "" {
		t.Error("the same scene gives other bytes")
	}
	// A file that is gone, or of another size.
	for name := range before {
		if strings.HasSuffix(name, ".glb") {
			if err := os.Truncate(filepath.Join(out, filepath.FromSlash(name)), 1); err != nil {
				t.Fatal(err)
			}
			made(Options{}, false)
			if err := os.Remove(filepath.Join(out, filepath.FromSlash(name))); err != nil {
				t.Fatal(err)
			}
			made(Options{}, false)
			break
		}
	}
	// So it is with the files that say what the tileset consists of.
	split := Options{maxTiles: 4}
	if n := made(split, false).Tilesets; n < 2 {
		t.Fatalf("%d tilesets", n)
	}
	made(split, true)
	for _, name := range []string{tilesetName, "tileset_1.json"} {
		f, err := os.OpenFile(filepath.Join(out, name), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(" "); err != nil || f.Close() != nil {
			t.Fatal(err)
		}
		made(split, false)
		made(split, true)
	}
	made(Options{}, false)
	// A texture that looks otherwise.
	textures, err := filepath.Glob(filepath.Join(dir, "*", "Textures", "*.png"))
	if err != nil || len(textures) == 0 {
		t.Fatal(textures, err)
	}
	var picture bytes.Buffer
	img := image.NewGray(image.Rect(0, 0, 8, 8))
	img.Pix[9] = 77
	if err := png.Encode(&picture, img); err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, textures[0], picture.String())
	made(Options{}, false)
	made(Options{}, true)
}

// row is a scene of boxes in a row, one to a tile, of which one is moved.
func row(t testing.TB, dir string, n int, moved float64) string {
	t.Helper()
	boxes := make([]boxscene.Box, n)
	for i := range boxes {
		boxes[i] = boxscene.Box{Name: "Box", At: [3]float64{float64(i)*25 + 12, 0, -5}}
	}
	boxes[1].At[1] = moved
	o := cook.ClassicOptions()
	res, err := cook.Run(context.Background(), boxscene.New(boxes...).Save(t, "row.gltf"), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return res.ManifestPath
}

// TestReuseAfterEdit: what an edit does not concern stays as it is, and the whole is byte
// for byte what a first Export makes of it.
func TestReuseAfterEdit(t *testing.T) {
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "set")
	export := func(scene, to string, o Options) *Result {
		t.Helper()
		res, err := Export(context.Background(), scene, to, o)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	scene := row(t, dir, 6, 0)
	export(scene, out, Options{Reuse: true})
	for _, c := range []struct {
		name   string
		n      int
		moved  float64
		made   int // GLB files
		verify bool
	}{
		{"moved", 6, 0.5, 1, false},
		{"as it was, all read", 6, 0, 1, true},
		{"one more", 7, 0, 1, false},
		{"two less", 5, 0, 0, false},
	} {
		before := stamps(t, out)
		scene = row(t, dir, c.n, c.moved)
		res := export(scene, out, Options{Reuse: true, Verify: c.verify})
		fresh := filepath.Join(t.TempDir(), "fresh")
		full := export(scene, fresh, Options{})
		if diff := cmp.Diff(testfile.ReadTree(t, fresh), testfile.ReadTree(t, out)); diff != "" {
			t.Errorf("%s: other bytes than from nothing: %s", c.name, diff)
		}
		kept := 0
		for name, now := range stamps(t, out) {
			if before[name] == now {
				kept++
			}
		}
		if res.Unchanged || res.Contents != full.Contents || res.Contents-c.made != kept || res.Kept != kept {
			t.Errorf("%s: %+v, of which %d stayed", c.name, res, kept)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(out)); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestReuseDistrusts: what somebody else did to a tileset, or to its state, is noticed, and
// what belongs to somebody else stays.
func TestReuseDistrusts(t *testing.T) {
	scene, out := cookedTown(t), filepath.Join(t.TempDir(), "set")
	export := func(o Options) (*Result, error) {
		o.Reuse = true
		return Export(context.Background(), scene, out, o)
	}
	first, err := export(Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := testfile.ReadTree(t, out)
	file := func(ext string) string {
		for name := range want {
			if strings.HasSuffix(name, ext) {
				return filepath.Join(out, filepath.FromSlash(name))
			}
		}
		t.Fatal("there is no " + ext)
		return ""
	}
	state := filepath.Join(out, filepath.FromSlash(stateName))
	remove := func(name string) {
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
	}
	all := first.Tilesets + first.Contents + first.Textures
	for _, c := range []struct {
		name string
		do   func()
		o    Options
		kept int
	}{
		{"a byte of a GLB", func() { spoil(t, file(".glb"), -1, false) }, Options{}, all - 1},
		{"a byte of a texture", func() { spoil(t, file(".png"), -1, false) }, Options{}, -1},
		{"a byte that the time does not tell", func() { spoil(t, file(".glb"), -1, true) }, Options{Verify: true}, all - 1},
		{"tileset.json", func() { spoil(t, file(tilesetName), 0, false) }, Options{}, all - 1},
		{"no tileset.json", func() { remove(file(tilesetName)) }, Options{}, all - 1},
		{"no textures", func() { remove(filepath.Join(out, textureFolder)) }, Options{}, -1},
		{"a state that is cut off", func() { testfile.Write(t, state, "{}") }, Options{}, 0},
		{"a byte of the state", func() { spoil(t, state, -5, false) }, Options{}, 0},
		{"no state", func() { remove(filepath.Dir(state)) }, Options{}, 0},
	} {
		c.do()
		res, err := export(c.o)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(want, testfile.ReadTree(t, out)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if res.Unchanged || c.kept >= 0 && res.Kept != c.kept {
			t.Errorf("%s: %+v; of %d files %d should have stayed", c.name, res, all, c.kept)
		}
		if res, err := export(Options{}); err != nil || !res.Unchanged {
			t.Errorf("%s, then again: %v, %+v", c.name, err, res)
		}
	}
	// A copy is as good: its files are other ones, with the same content.
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(out)); err != nil {
		t.Fatal(err)
	}
	old := out
	out = copied
	for range 2 {
		if res, err := export(Options{}); err != nil || !res.Unchanged {
			t.Errorf("a copy: %v, %+v", err, res)
		}
	}
	out = old
	// Files of others, in the state's folder too.
	for _, name := range []string{"mine.txt", journal.Folder + "/mine.txt", textureFolder + "/mine.png"} {
		mine := testfile.Write(t, filepath.Join(out, filepath.FromSlash(name)), "mine")
		if _, err := export(Options{}); !errors.Is(err, ErrOccupied) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if string(testfile.Read(t, mine)) != "mine" {
			t.Errorf("%s was touched", name)
		}
		remove(mine)
	}
}

// TestReuseAhead: files from a clock that runs ahead make the same tileset, and are not made
// twice.
func TestReuseAhead(t *testing.T) {
	scene := row(t, t.TempDir(), 3, 0)
	ahead := filepath.Join(t.TempDir(), "scene")
	if err := os.CopyFS(ahead, os.DirFS(filepath.Dir(scene))); err != nil {
		t.Fatal(err)
	}
	tomorrow := time.Now().Add(24 * time.Hour)
	for name := range testfile.ReadTree(t, ahead) {
		if err := os.Chtimes(filepath.Join(ahead, filepath.FromSlash(name)), tomorrow, tomorrow); err != nil {
			t.Fatal(err)
		}
	}
	want, out := filepath.Join(t.TempDir(), "want"), filepath.Join(t.TempDir(), "set")
	for i, c := range []struct{ scene, out string }{{scene, want}, {filepath.Join(ahead, filepath.Base(scene)), out}, {filepath.Join(ahead, filepath.Base(scene)), out}} {
		res, err := Export(context.Background(), c.scene, c.out, Options{Reuse: true})
		if err != nil || res.Unchanged != (i == 2) {
			t.Errorf("%s: %v, %+v", c.out, err, res)
		}
	}
	if diff := cmp.Diff(testfile.ReadTree(t, want), testfile.ReadTree(t, out)); diff != "" {
		t.Error(diff)
	}
}

// TestReuseOlderProgram: textures that older code has made are made again, although their
// names are the same.
func TestReuseOlderProgram(t *testing.T) {
	scene, out := cookedTown(t), filepath.Join(t.TempDir(), "set")
	export := func(o Options) {
		t.Helper()
		if _, err := Export(context.Background(), scene, out, o); err != nil {
			t.Fatal(err)
		}
	}
	export(Options{})
	want := testfile.ReadTree(t, out)
	for name := range want {
		if strings.HasPrefix(name, textureFolder) {
			spoil(t, filepath.Join(out, filepath.FromSlash(name)), -1, false)
		}
	}
	s := loadState(out)
	files, err := outputs(out, openEarlier("", false), nil)
	if s == nil || err != nil {
		t.Fatal(s, err)
	}
	s.Stages, s.Source, s.Outputs = "older", "older", files
	for name, c := range s.Contents {
		c.Key = "older"
		s.Contents[name] = c
	}
	s.save(out)
	export(Options{Reuse: true})
	if diff := cmp.Diff(want, testfile.ReadTree(t, out)); diff != "" {
		t.Error("what older code has made is still there")
	}
}

// TestReuseArchive: an archive that is up to date stays, one that is damaged or of other
// options is written again.
func TestReuseArchive(t *testing.T) {
	scene, out := cookedTown(t), filepath.Join(t.TempDir(), "town.3tz")
	export := func(o Options, unchanged bool) {
		t.Helper()
		o.Reuse = true
		res, err := Export(context.Background(), scene, out, o)
		if err != nil || res.Unchanged != unchanged || res.Path != out {
			t.Fatalf("%v, %+v", err, res)
		}
		if st, err := os.Stat(out); err != nil || st.Size() != res.Bytes {
			t.Errorf("%v, %d bytes said", err, res.Bytes)
		}
	}
	export(Options{}, false)
	want := testfile.Read(t, out)
	before := stamps(t, filepath.Dir(out))
	export(Options{}, true)
	if diff := cmp.Diff(before, stamps(t, filepath.Dir(out))); diff != "" {
		t.Error(diff)
	}
	for _, at := range []int{4, 10, 100, len(want) / 2, -40, -4} {
		spoil(t, out, at, true)
		export(Options{}, false)
		if !slices.Equal(want, testfile.Read(t, out)) {
			t.Errorf("byte %d: other bytes", at)
		}
	}
	testfile.Write(t, out, want[:len(want)-1])
	export(Options{}, false)
	testfile.Write(t, out, slices.Concat(want, []byte("x")))
	export(Options{}, false)
	export(Options{Plain: true}, false)
	export(Options{Plain: true}, true)
	if _, err := os.Stat(filepath.Join(filepath.Dir(out), journal.Folder)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an archive has no state: %v", err)
	}
}

// FuzzState: no state leads out of its folder, and what is read can be written again.
func FuzzState(f *testing.F) {
	for _, name := range []string{"tileset.json", "../x.glb", "/etc/passwd", "tiles/a.glb", "textures/../a.glb"} {
		text, err := (&state{Version: stateVersion, Source: "s", Outputs: []outputFile{{Name: name, SHA256: "h"}}}).encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		_, body, _ := bytes.Cut(text, []byte("\n"))
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, text := range [][]byte{body, append([]byte(hashOf(body)+"\n"), body...)} {
			s := decodeState(text)
			if s == nil {
				continue
			}
			for _, o := range s.Outputs {
				if !filepath.IsLocal(filepath.FromSlash(o.Name)) || path.Clean(o.Name) != o.Name {
					t.Errorf("the output %q", o.Name)
				}
			}
			again, err := s.encode()
			if err != nil || decodeState(again) == nil {
				t.Errorf("%v: it cannot be written again", err)
			}
		}
	})
}
