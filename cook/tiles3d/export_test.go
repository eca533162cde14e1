package tiles3d

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"image"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/cook/gltfexport"
	"github.com/untoldkit/untold/cook/measure"
	"github.com/untoldkit/untold/internal/boxscene"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
)

// town is a glTF of textured boxes, four to a tile.
func town(t testing.TB, n int) string {
	t.Helper()
	boxes := make([]boxscene.Box, n)
	for i := range boxes {
		boxes[i] = boxscene.Box{Name: "Box", At: [3]float64{float64(i%6)*12 + 6, float64(i % 5), -float64(i/6)*12 - 6}}
	}
	s := boxscene.New(boxes...)
	s.AddTexCoords()
	s.Primitive["material"] = 0
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	s.Root["materials"] = []boxscene.Object{{"pbrMetallicRoughness": boxscene.Object{"baseColorTexture": boxscene.Object{"index": 0}}}}
	s.Root["textures"] = []boxscene.Object{{"source": 0}}
	s.Root["images"] = []boxscene.Object{{"uri": "data:image/png;base64," + base64.StdEncoding.EncodeToString(picture.Bytes())}}
	return s.Save(t, "town.gltf")
}

// sharedFolder holds what tests cook once for all of them.
var sharedFolder string

func TestMain(m *testing.M) {
	var err error
	if sharedFolder, err = os.MkdirTemp("", "tiles3d-*"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(sharedFolder)
	os.Exit(code)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// cookedTown is the manifest of a town of 24 boxes with a pyramid, which no test changes.
func cookedTown(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(sharedFolder, "town")
	if path := filepath.Join(dir, "town.json"); exists(path) {
		return path
	}
	o := cook.ClassicOptions()
	o.Pyramid = true
	res, err := cook.Run(context.Background(), town(t, 24), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return res.ManifestPath
}

// cooked is the manifest of a scene, cooked with a pyramid.
func cooked(t testing.TB, scene string, change func(*cook.Options)) string {
	t.Helper()
	dir := t.TempDir()
	o := cook.ClassicOptions()
	o.Pyramid = true
	if change != nil {
		change(&o)
	}
	res, err := cook.Run(context.Background(), scene, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return res.ManifestPath
}

func TestExport(t *testing.T) {
	m := cookedTown(t)
	dir := t.TempDir()
	var calls []int
	out := filepath.Join(dir, "set")
	res, err := Export(t.Context(), m, out, Options{Jobs: 1, Progress: func(_ string, done, _ int) { calls = append(calls, done) }})
	if err != nil {
		t.Fatal(err)
	}
	s, j := judgeTileset(t, out, nil)
	if res.Tiles != j.tiles || res.Contents != len(j.contents) || res.Error != s.GeometricError || res.Textures == 0 || len(res.Notes) != 0 {
		t.Errorf("%+v, found %d tiles, %d contents", res, j.tiles, len(j.contents))
	}
	if len(calls) < 2 || calls[0] != 0 || !slices.IsSorted(calls) {
		t.Errorf("progress %v", calls)
	}
	size := int64(0)
	files := testfile.ReadTree(t, out)
	for _, data := range files {
		size += int64(len(data))
	}
	if size != res.Bytes {
		t.Errorf("%d bytes, the result says %d", size, res.Bytes)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("left behind: %v", list)
	}
	// The same by several jobs, in place of what was there.
	if _, err := Export(t.Context(), m, out, Options{Jobs: 4}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(files, testfile.ReadTree(t, out)); d != "" {
		t.Errorf("the second time: %s", d)
	}
	// Nothing of others is taken away.
	testfile.Write(t, filepath.Join(out, "tiles", "mine.glb"), []byte("mine"))
	if _, err := Export(t.Context(), m, out, Options{}); !errors.Is(err, ErrOccupied) || !strings.Contains(err.Error(), "tiles/mine.glb") {
		t.Errorf("a file of others: %v", err)
	}
	// Plain contents draw the same.
	plain, err := Export(t.Context(), m, filepath.Join(dir, "plain"), Options{Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, k := judgeTileset(t, filepath.Join(dir, "plain"), nil); plain.Triangles != res.Triangles || k.tiles != j.tiles {
		t.Errorf("plain %+v, compressed %+v", plain, res)
	}
}

// TestSplitExport: trees that are too large go to several files.
func TestSplitExport(t *testing.T) {
	m := cooked(t, town(t, 36), func(o *cook.Options) { o.Pyramid = false })
	out := filepath.Join(t.TempDir(), "set")
	res, err := Export(t.Context(), m, out, Options{maxTiles: 4})
	if err != nil {
		t.Fatal(err)
	}
	_, j := judgeTileset(t, out, nil)
	if res.Tilesets < 2 || j.tiles != res.Tiles {
		t.Errorf("%+v, found %d tiles", res, j.tiles)
	}
}

// TestRootTransform: an offset that was taken off is put back, unless the scene gets
// another place.
func TestRootTransform(t *testing.T) {
	boxes := []boxscene.Box{{Name: "Far", At: [3]float64{5e5, 100, -5.4e6}}}
	m := cooked(t, boxscene.New(boxes...).Save(t, "far.gltf"), func(o *cook.Options) { *o = cook.DefaultOptions() })
	loaded, err := manifest.Load(m)
	if err != nil || loaded.OriginOffset == nil {
		t.Fatalf("%v, offset %v", err, loaded.OriginOffset)
	}
	o := *loaded.OriginOffset
	out := filepath.Join(t.TempDir(), "set")
	for _, c := range []struct {
		place *Place
		want  [3]float64
	}{{nil, [3]float64{o[0], -o[2], o[1]}}, {&Place{}, [3]float64{equator, 0, 0}}} {
		if _, err := Export(t.Context(), m, out, Options{Place: c.place}); err != nil {
			t.Fatal(err)
		}
		s, _ := judgeTileset(t, out, nil)
		if got := s.Root.Transform; len(got) != 16 || [3]float64(got[12:15]) != c.want {
			t.Errorf("%+v: transform %v, want %v", c.place, got, c.want)
		}
	}
}

// TestArchive reads an archive as its format says: by the index, whose hashes are sorted.
func TestArchive(t *testing.T) {
	m := cookedTown(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "town.3tz")
	res, err := Export(t.Context(), m, file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Export(t.Context(), m, filepath.Join(dir, "set"), Options{}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil || int64(len(data)) != res.Bytes || res.Path != file {
		t.Fatalf("%v, %d bytes, %+v", err, len(data), res)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if first, last := z.File[0].Name, z.File[len(z.File)-1].Name; first != tilesetName || last != indexName {
		t.Errorf("from %s to %s", first, last)
	}
	want := testfile.ReadTree(t, filepath.Join(dir, "set"))
	got := map[string]string{}
	var index []byte
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil || f.Method != zip.Store || f.Flags&8 != 0 {
			t.Fatalf("%s: %v, method %d, flags %x", f.Name, err, f.Method, f.Flags)
		}
		if f.Name == indexName {
			index = content
			continue
		}
		got[f.Name] = string(content)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	half := func(i, at int) uint64 { return binary.LittleEndian.Uint64(index[24*i+at:]) }
	n := len(index) / 24
	if n != len(want) || len(index)%24 != 0 || !sort.SliceIsSorted(make([]struct{}, n), func(a, b int) bool {
		return half(a, 0) < half(b, 0) || half(a, 0) == half(b, 0) && half(a, 8) < half(b, 8)
	}) {
		t.Fatalf("an index of %d bytes for %d files, or not sorted", len(index), len(want))
	}
	for i := range n {
		at := half(i, 16)
		if string(data[at:at+4]) != "PK\x03\x04" {
			t.Fatalf("entry %d: no local header at %d", i, at)
		}
		size, name := binary.LittleEndian.Uint32(data[at+18:]), binary.LittleEndian.Uint16(data[at+26:])
		extra := binary.LittleEndian.Uint16(data[at+28:])
		path := string(data[at+30:][:name])
		if [16]byte(index[24*i:]) != md5.Sum([]byte(path)) || want[path] != string(data[int(at)+30+int(name)+int(extra):][:size]) {
			t.Errorf("entry %d names %s", i, path)
		}
	}
}

// TestDeclaredErrors: no level lies farther from the full geometry than its geometricError
// says, in the contents as they decode.
func TestDeclaredErrors(t *testing.T) {
	terrain := filepath.Join("..", "..", "..", "shared", "assets", "models", "Mountains")
	list, _ := filepath.Glob(filepath.Join(terrain, "*.gl*"))
	if len(list) == 0 {
		t.Skip("the shared asset models/Mountains is absent")
	}
	m := cooked(t, list[0], func(o *cook.Options) {
		*o = cook.DefaultOptions()
		o.WholeLimit, o.AutoPyramid = 0, false
	})
	out := filepath.Join(t.TempDir(), "set")
	if _, err := Export(t.Context(), m, out, Options{}); err != nil {
		t.Fatal(err)
	}
	levels := 0
	worst := 0.0
	next := map[string]string{}
	declared := map[string]float64{}
	_, j := judgeTileset(t, out, func(_, coarse, fine string, err float64, _ surfaces) { next[coarse], declared[coarse] = fine, err })
	for coarse, err := range declared {
		full := next[coarse]
		for next[full] != "" {
			full = next[full]
		}
		a := measure.NewIndex(j.surfaces.load(t, filepath.Join(out, coarse)))
		b := measure.NewIndex(j.surfaces.load(t, filepath.Join(out, full)))
		d := measure.Farthest(a, b)
		levels++
		worst = max(worst, d/err)
		if d > err {
			t.Errorf("%s declares %v and lies %v away", coarse, err, d)
		}
	}
	t.Logf("%d levels, the distance is at most %.2f of what is declared", levels, worst)
	if levels == 0 {
		t.Error("there are no levels")
	}
}

func TestRefuses(t *testing.T) {
	m := cookedTown(t)
	dir := t.TempDir()
	full := filepath.Join(dir, "full")
	if err := os.Mkdir(full, 0o777); err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, filepath.Join(full, "mine.txt"), []byte("x"))
	file := testfile.Write(t, filepath.Join(dir, "file"), []byte("x"))
	change := func(f func(*manifest.Manifest)) string {
		loaded, err := manifest.Load(m)
		if err != nil {
			t.Fatal(err)
		}
		f(loaded)
		var text bytes.Buffer
		if err := loaded.Encode(&text); err != nil {
			t.Fatal(err)
		}
		return testfile.Write(t, filepath.Join(t.TempDir(), "changed.json"), text.Bytes())
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		m    string
		out  string
		o    Options
		want error
		text string
	}{
		"occupied": {m: m, out: full, want: ErrOccupied},
		"a file":   {m: m, out: file, text: ".3tz"},
		"no place": {m: m, out: filepath.Join(dir, "a"), o: Options{Place: &Place{Latitude: 100}}, text: "latitude"},
		"absent":   {m: filepath.Join(dir, "x.json"), out: filepath.Join(dir, "a"), want: fs.ErrNotExist},
		"canceled": {ctx: canceled, m: m, out: filepath.Join(dir, "a"), want: context.Canceled},
		"missing":  {m: change(func(m *manifest.Manifest) { m.Tiles[0].Path = "tiles/gone.untold" }), out: filepath.Join(dir, "a"), want: fs.ErrNotExist},
	} {
		if c.ctx == nil {
			c.ctx = t.Context()
		}
		_, err := Export(c.ctx, c.m, c.out, c.o)
		if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
	scene := filepath.Dir(m)
	before := testfile.ReadTree(t, scene)
	foreign := filepath.Join(dir, "foreign")
	if err := os.Mkdir(foreign, 0o777); err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, filepath.Join(foreign, tilesetName), []byte(`{"asset":{"version":"1.0","extras":{"generator":"Other"}},"root":{}}`))
	for _, out := range []string{scene, filepath.Dir(scene), filepath.Join(scene, "tiles"), filepath.Join(scene, "tiles", "tile_0_0_0.untold"), m, foreign, "", "."} {
		if _, err := Export(t.Context(), m, out, Options{}); err == nil {
			t.Errorf("%s was replaced", out)
		}
	}
	if d := cmp.Diff(before, testfile.ReadTree(t, scene)); d != "" {
		t.Errorf("the scene has changed: %s", d)
	}
	for name, f := range map[string]func(*manifest.Manifest){
		"a tile twice":          func(m *manifest.Manifest) { m.Tiles = append(m.Tiles, m.Tiles[0]) },
		"a node like a tile":    func(m *manifest.Manifest) { m.Pyramid.Nodes[0].ID = m.Tiles[0].ID },
		"parents before others": func(m *manifest.Manifest) { m.Pyramid.Nodes[0].Children = []string{m.Pyramid.Nodes[0].ID} },
	} {
		if _, err := Export(t.Context(), change(f), filepath.Join(dir, "a"), Options{}); !errors.Is(err, ErrIDs) {
			t.Errorf("%s: %v", name, err)
		}
	}
	dry := change(func(m *manifest.Manifest) { m.DryRun = true })
	if _, err := Export(t.Context(), dry, filepath.Join(dir, "a"), Options{}); !errors.Is(err, gltfexport.ErrNoPayload) {
		t.Errorf("a dry run: %v", err)
	}
	empty := change(func(m *manifest.Manifest) { m.Tiles, m.Pyramid, m.SharedBucket = nil, nil, nil })
	if _, err := Export(t.Context(), empty, filepath.Join(dir, "a"), Options{}); !errors.Is(err, ErrNothing) {
		t.Errorf("an empty scene: %v", err)
	}
	list, _ := os.ReadDir(dir)
	for _, e := range list {
		if strings.HasPrefix(e.Name(), ".") {
			t.Errorf("left behind: %s", e.Name())
		}
	}
}

// TestNames: payloads that would become one file, or a folder's name, get names of their
// own; those that are one file in two spellings become one content.
func TestNames(t *testing.T) {
	root := &node{}
	for _, p := range []string{"tiles/a.untold", "tiles/a.bin", "tiles/A.untold", "./tiles//a.untold", "tiles/x.glb/b.untold", "tiles/x.untold"} {
		root.children = append(root.children, &node{payload: p})
	}
	var got []string
	for _, c := range list(root) {
		got = append(got, c.uri)
	}
	want := []string{"tiles/a.glb", "tiles/a_2.glb", "tiles/A_3.glb", "tiles/x.glb/b.glb", "tiles/x_2.glb"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestLargeGround: one large tile makes the positions of no others coarse.
func TestLargeGround(t *testing.T) {
	m := manifest.Manifest{Tiles: []manifest.Tile{tile("ground", 0), tile("prop", 5)}}
	m.Tiles[0].Bounds.Max = [3]float64{20_000, 1, 20_000}
	if step := gltfexport.StepFor(&m); step > 1.0/256 {
		t.Errorf("steps of %v m", step)
	}
}

// TestLinkedOutput: what a link leads to is written, and the link stays.
func TestLinkedOutput(t *testing.T) {
	m := cookedTown(t)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o777); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("real", link); err != nil {
		t.Skip(err)
	}
	if _, err := Export(t.Context(), m, link, Options{}); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Lstat(link); err != nil || st.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", st, err)
	}
	judgeTileset(t, filepath.Join(dir, "real"), nil)
	if err := os.RemoveAll(filepath.Join(dir, "real")); err != nil {
		t.Fatal(err)
	}
	if _, err := Export(t.Context(), m, link, Options{}); err == nil {
		t.Error("a link that leads nowhere was taken")
	}
}
