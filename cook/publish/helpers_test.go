package publish

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/blob"
	"github.com/untoldkit/untold/manifest"
)

// fataler is a test, or a check of rapid.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// model is a scene: tiles with a shape and textures, and the contents of textures.
type model struct {
	tiles    map[string]tileModel
	textures map[string]int
	bucket   bool
	lut      int // content of the colour table, 0 for none
}

type tileModel struct {
	shape    int
	textures []string
}

// city is a scene with what scenes have.
func city() model {
	return model{
		tiles: map[string]tileModel{
			"a": {1, []string{"brick", "glass"}}, "b": {2, []string{"brick"}}, "c": {3, []string{"glass", "grass"}}, "d": {4, nil}, "e": {5, []string{"grass"}},
		},
		textures: map[string]int{"brick": 1, "glass": 2, "grass": 3},
		bucket:   true,
	}
}

// clone copies a model.
func (m model) clone() model {
	out := m
	out.tiles, out.textures = map[string]tileModel{}, map[string]int{}
	for k, v := range m.tiles {
		out.tiles[k] = v
	}
	for k, v := range m.textures {
		out.textures[k] = v
	}
	return out
}

// built are containers that were made before: encoding takes the longest.
var built = map[string][]byte{}

// finelyDivided is from which shape on a container has many triangles, which compress.
const finelyDivided = 100

// container makes a file with one triangle, or with many.
func containerBytes(t fataler, kind format.FileType, shape int, textures []string) []byte {
	t.Helper()
	id := fmt.Sprint(kind, shape, textures)
	if built[id] != nil {
		return built[id]
	}
	b := format.NewBuilder(kind)
	var vs []vertex.Vertex
	indices := []uint32{0, 1, 2}
	for i := uint32(3); shape >= finelyDivided && i < 2000; i++ {
		indices = append(indices, i-2, i-1, i)
	}
	rows := indices[len(indices)-1] / 2
	for i := range indices[len(indices)-1] + 1 {
		vs = append(vs, vertex.Vertex{
			Position: [3]float32{float32(i%2) * float32(shape%finelyDivided) / 100, float32(i/2) / float32(rows), 0},
			Normal:   vertex.PackNormal([3]float32{0, 0, 1}), Tangent: vertex.PackTangent([4]float32{1, 0, 0, 1}),
		})
	}
	for _, name := range textures {
		b.AddTexture(name, "Textures/"+name+".png", records.Texture{Width: 1, Height: 1, MipCount: 1})
	}
	err := b.AddObject(format.Object{Name: "o", MeshName: "m", Material: records.NoIndex, Vertices: vertex.Append(nil, vs), Indices: indices})
	if err != nil {
		t.Fatal(err)
	}
	data, err := b.File().Encode(format.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	built[id] = data
	return data
}

func texture(t fataler, content int) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 1, 1))
	img.Set(0, 0, color.RGBA{uint8(content), uint8(content >> 8), 7, 255})
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// files returns what a cook would write, by paths.
func (m model) files(t fataler) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	box := manifest.Bounds{Max: [3]float64{1, 1, 0}}
	doc := &manifest.Manifest{
		Version: 3, PartitioningMode: manifest.ModeUniformGrid, PayloadDir: "tiles",
		StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 10, UnloadRadius: 20, Priority: 10},
	}
	entry := func(name string, kind format.FileType, tm tileModel) manifest.Tile {
		data := containerBytes(t, kind, tm.shape, tm.textures)
		p := "tiles/" + name + ".untold"
		out[p] = data
		sum := sha256.Sum256(data)
		return manifest.Tile{ID: name, Path: p, FileSizeBytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:]), Bounds: box, Center: box.Center()}
	}
	for i, name := range slices.Sorted(maps.Keys(m.tiles)) {
		e := entry(fmt.Sprintf("tile_%d_0_0", i), format.FileTile, m.tiles[name])
		e.ID = "tile_" + name
		doc.Tiles = append(doc.Tiles, e)
		for _, tex := range m.tiles[name].textures {
			out["tiles/Textures/"+tex+".png"] = texture(t, m.textures[tex])
		}
	}
	if m.bucket {
		e := entry("shared", format.FileShared, tileModel{shape: 90})
		e.ID = manifest.SharedTileID
		doc.SharedBucket = &manifest.SharedBucket{Tile: e}
	}
	if m.lut != 0 {
		out["look.cube"] = fmt.Appendf(nil, "table %d\n", m.lut)
		doc.ColorLUT = &manifest.ColorLUT{URI: "look.cube", Size: 2, Gamma: 1, ShaperMaxStops: 1}
	}
	var text bytes.Buffer
	if err := doc.Encode(&text); err != nil {
		t.Fatal(err)
	}
	out["city.json"] = text.Bytes()
	return out
}

// cook writes the scene into a folder from which all else goes.
func (m model) cook(t fataler, dir string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for name, data := range m.files(t) {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// place returns an empty folder to publish to, and a folder to cook to.
func place(t *testing.T) (to *blob.Folder, dir string) {
	t.Helper()
	base := t.TempDir()
	to, err := blob.OpenFolder(filepath.Join(base, "place"))
	if err != nil {
		t.Fatal(err)
	}
	to.NoSync = true
	return to, filepath.Join(base, "cooked")
}

func must(t fataler, r *Report, err error) *Report {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// reader is somebody who has read a manifest.
type reader struct {
	doc  *manifest.Manifest
	base string
	want map[string][]byte // by tile ids: containers; by tile id and URI: textures
}

// newReader reads the manifest that a place has now, which must be that of a model.
func newReader(t fataler, p Place, m model, key string) *reader {
	t.Helper()
	text := get(t, p, key)
	doc, err := manifest.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{doc: doc, base: path.Dir(key), want: map[string][]byte{}}
	for name, tm := range m.tiles {
		r.want["tile_"+name] = containerBytes(t, format.FileTile, tm.shape, tm.textures)
		for _, tex := range tm.textures {
			r.want["tile_"+name+" Textures/"+tex+".png"] = texture(t, m.textures[tex])
		}
	}
	if m.bucket {
		r.want[manifest.SharedTileID] = containerBytes(t, format.FileShared, 90, nil)
	}
	if len(doc.Tiles) != len(m.tiles) {
		t.Fatalf("%d tiles, want %d", len(doc.Tiles), len(m.tiles))
	}
	return r
}

// load loads every tile with its textures as a reader does: the container at its
// path, textures relative to it.
func (r *reader) load(t fataler, p Place) {
	t.Helper()
	seen := 0
	tiles := slices.Clone(r.doc.Tiles)
	if r.doc.SharedBucket != nil {
		tiles = append(tiles, r.doc.SharedBucket.Tile)
	}
	for i := range tiles {
		key := path.Join(r.base, tiles[i].Path)
		data := get(t, p, key)
		if !bytes.Equal(data, r.want[tiles[i].ID]) {
			t.Fatalf("%s is not the container of %s", key, tiles[i].ID)
		}
		seen++
		c, err := format.NewBytesReader(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, tex := range c.Textures() {
			uri := c.String(tex.URIOffset)
			if at := path.Join(path.Dir(key), uri); !bytes.Equal(get(t, p, at), r.want[tiles[i].ID+" "+uri]) {
				t.Fatalf("%s is another texture than %s has", at, tiles[i].ID)
			}
			seen++
		}
	}
	if seen != len(r.want) {
		t.Fatalf("%d of %d files", seen, len(r.want))
	}
}

func get(t fataler, p Place, key string) []byte {
	t.Helper()
	data, err := blob.Read(context.Background(), p, key, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// tree lists what a place has, but for records.
func tree(t *testing.T, p Place) []string {
	t.Helper()
	var out []string
	for o, err := range p.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if o.Key[0] != '.' {
			out = append(out, o.Key)
		}
	}
	return out
}

// watched calls a function before and after everything that changes a place, and
// remembers what was put.
type watched struct {
	Place
	see  func()
	mu   sync.Mutex
	puts map[string]PutOptions
	list []string
}

func (w *watched) Put(ctx context.Context, key string, content io.ReaderAt, size int64, o PutOptions) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.see()
	if w.puts == nil {
		w.puts = map[string]PutOptions{}
	}
	w.puts[key] = o
	w.list = append(w.list, key)
	err := w.Place.Put(ctx, key, content, size, o)
	w.see()
	return err
}

// copying is a watched place that copies by itself.
type copying struct{ *watched }

func (c copying) Copy(ctx context.Context, from, to string, o PutOptions) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.see()
	c.list = append(c.list, to)
	err := c.Place.(blob.Copier).Copy(ctx, from, to, o)
	c.see()
	return err
}

func (w *watched) Delete(ctx context.Context, key string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.see()
	err := w.Place.Delete(ctx, key)
	w.see()
	return err
}

// faulty fails at an operation that changes something.
type faulty struct {
	Place
	mu    sync.Mutex
	after int // operations that succeed; the next fails, as do all after it
}

func (f *faulty) fails() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.after--
	return f.after < 0
}

var errFault = errors.New("the cable was pulled")

func (f *faulty) Put(ctx context.Context, key string, content io.ReaderAt, size int64, o PutOptions) error {
	if f.fails() {
		return errFault
	}
	return f.Place.Put(ctx, key, content, size, o)
}

func (f *faulty) Delete(ctx context.Context, key string) error {
	if f.fails() {
		return errFault
	}
	return f.Place.Delete(ctx, key)
}

// later is so late that all that is there is older than a grace of an hour.
func later() time.Time { return time.Now().Add(2 * time.Hour) }
