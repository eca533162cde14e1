package runtime

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/mailbox"
	"github.com/untoldkit/untold/manifest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// writeTriangle writes a container with one triangle and returns its size.
func writeTriangle(t *testing.T, path string, kind format.FileType, mode format.CompressMode) int64 {
	t.Helper()
	b := format.NewBuilder(kind)
	corner := func(x, y float32) format.Vertex {
		return format.Vertex{Position: [3]float32{x, y, 0}, Normal: format.PackNormal([3]float32{0, 0, 1}), Tangent: format.PackTangent([4]float32{1, 0, 0, 1})}
	}
	err := b.AddObject(format.Object{
		Name: "Triangle", MeshName: "Mesh", Material: format.NoIndex, Indices: []uint32{0, 1, 2},
		Vertices: format.AppendVertices(nil, []format.Vertex{corner(0, 0), corner(1, 0), corner(0, 1)}),
	})
	if err != nil {
		t.Fatal(err)
	}
	data, err := b.File().Encode(format.WriteOptions{Compress: mode})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return int64(len(data))
}

// writeScene writes a scene of one tile with an HLOD.
func writeScene(t *testing.T) (path string, m *manifest.Manifest) {
	t.Helper()
	dir := t.TempDir()
	tile := tileAt("a", around(0, 0, 0, 1), hlodAt(95))
	tile.FileSizeBytes = writeTriangle(t, filepath.Join(dir, tile.Path), format.FileTile, format.ModeZstd)
	tile.HLODLevels[0].FileSizeBytes = writeTriangle(t, filepath.Join(dir, tile.HLODLevels[0].Path), format.FileHLOD, format.ModeNone)
	m = sceneOf(tile)
	path = filepath.Join(dir, "scene.json")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	return path, m
}

// recorder is a Device that notes what it gets.
type recorder struct {
	uploads  map[Key]int // vertex bytes
	releases int
}

func (d *recorder) Upload(k Key, a *Asset) error {
	defer a.Release()
	d.uploads[k] = len(a.Geometry.Vertices)
	if a.Meshes[0].VertexCount != 3 || a.Strings(a.Meshes[0].NameOffset) != "Mesh" || a.Entities[0].MeshCount != 1 {
		return errors.New("not the triangle")
	}
	return nil
}

func (d *recorder) Release(Key) { d.releases++ }

// settle updates until nothing is in flight, without a look at the wall clock.
func settle(t *testing.T, s *Streamer, clock *fakeClock, c Camera) {
	t.Helper()
	for range 50 {
		s.Update(c, 100*time.Millisecond)
		clock.now += 100 * time.Millisecond
		if s.Stats().ActiveLoads == 0 {
			continue
		}
		select { // wait for a worker; the fake clock stands still meanwhile
		case <-s.Ready():
		case <-t.Context().Done():
			t.Fatal("no answer")
		}
	}
}

func TestFileLoaderStreamsAScene(t *testing.T) {
	path, _ := writeScene(t)
	device := &recorder{uploads: map[Key]int{}}
	clock := &fakeClock{epoch}
	s, err := Open(context.Background(), Source{Path: path}, scenarioConfig(), Deps{Clock: clock, Device: device})
	if err != nil {
		t.Fatal(err)
	}
	settle(t, s, clock, Camera{Position: [3]float64{200, 0, 0}})
	settle(t, s, clock, Camera{Position: [3]float64{20, 0, 0}})
	want := map[Key]int{{Scene: 1, Rep: RepFull}: 3 * format.VertexSize, {Scene: 1, Rep: RepHLOD}: 3 * format.VertexSize}
	if !maps.Equal(device.uploads, want) {
		t.Errorf("uploads %v, want %v", device.uploads, want)
	}
	if st := s.Stats(); st.VisibleFull != 1 || st.GeometryBytes != 3*format.VertexSize+6 || st.Failures != 0 || st.Undrawn != 0 {
		t.Errorf("%+v", st)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if device.releases != 2 {
		t.Errorf("%d releases, want 2", device.releases)
	}
	s.Update(Camera{}, time.Second) // nothing happens
	if _, err := s.AddScene(Source{Path: path}); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed streamer took a scene: %v", err)
	}
}

// ask loads one request and returns the answer.
func ask(t *testing.T, l *FileLoader, req Request) Result {
	t.Helper()
	done := Completions{box: mailbox.New[completion]()}
	req.Done, req.Token = &done, 1
	if req.Context == nil {
		req.Context = context.Background()
	}
	l.Start(req)
	<-done.box.Ready()
	return done.box.Drain(nil)[0].result
}

// Size and content hash are checked, and no path leads out of the folder.
// Paths of a manifest that lead out of its folder are refused, also through
// links, before anything is opened.
func TestPathsStayInTheFolder(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "a.untold")
	size := writeTriangle(t, outside, format.FileTile, format.ModeNone)
	if err := os.Symlink(outside, filepath.Join(dir, "link.untold")); err != nil {
		t.Skipf("no links: %v", err)
	}
	l := NewFileLoader(1)
	for _, path := range []string{"../a.untold", "/etc/passwd", "tiles/../../a.untold", `..\a.untold`, "C:/a.untold", "file:///a.untold", "https://example.com/a.untold", "link.untold"} {
		r := ask(t, l, Request{Dir: dir, Path: path, Size: size})
		if !errors.Is(r.Err, manifest.ErrEscapes) {
			t.Errorf("%s: %v", path, r.Err)
		}
	}
	l.Close()
}

func TestFileLoaderRefuses(t *testing.T) {
	dir := t.TempDir()
	size := writeTriangle(t, filepath.Join(dir, "tiles/a.untold"), format.FileTile, format.ModeNone)
	data, err := os.ReadFile(filepath.Join(dir, "tiles/a.untold"))
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(data)
	damaged[len(damaged)-1] ^= 1
	for name, content := range map[string][]byte{"damaged": damaged, "short": data[:100], "empty": nil} {
		if err := os.WriteFile(filepath.Join(dir, "tiles", name+".untold"), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	l := NewFileLoader(2)
	for _, c := range []struct {
		name string
		req  Request
		want error // nil: any error
	}{
		{"size", Request{Path: "tiles/a.untold", Size: size + 1}, ErrPayload},
		{"hash", Request{Path: "tiles/damaged.untold"}, format.Code("hash-mismatch")},
		{"short", Request{Path: "tiles/short.untold"}, nil},
		{"empty", Request{Path: "tiles/empty.untold"}, nil},
		{"missing", Request{Path: "tiles/none.untold"}, fs.ErrNotExist},
		{"outside", Request{Path: "../a.untold"}, manifest.ErrEscapes},
		{"cancelled", Request{Path: "tiles/a.untold", Context: cancelled}, context.Canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.req.Dir = dir
			r := ask(t, l, c.req)
			if r.Err == nil || c.want != nil && !errors.Is(r.Err, c.want) {
				t.Errorf("%v, want %v", r.Err, c.want)
			}
		})
	}
	good := ask(t, l, Request{Dir: dir, Path: "tiles/a.untold", Size: size})
	if good.Err != nil || good.Nodes != 1 || good.GeometryBytes == 0 {
		t.Fatalf("%+v", good)
	}
	good.Asset.Release()
	good.Asset.Release()
	local := ask(t, l, Request{Local: Fetched{File: filepath.Join(dir, "tiles/a.untold")}})
	if local.Err != nil {
		t.Fatal(local.Err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if r := ask(t, l, Request{Dir: dir, Path: "tiles/a.untold"}); !errors.Is(r.Err, ErrClosed) {
		t.Errorf("a closed loader answered %v", r.Err)
	}
}

func TestFileLoaderReusesBuffers(t *testing.T) {
	dir := t.TempDir()
	writeTriangle(t, filepath.Join(dir, "a.untold"), format.FileTile, format.ModeNone)
	l := NewFileLoader(1)
	defer l.Close()
	for range 20 {
		r := ask(t, l, Request{Dir: dir, Path: "a.untold"})
		if r.Err != nil || len(r.Asset.Geometry.Vertices) != 3*format.VertexSize {
			t.Fatal(r.Err)
		}
		r.Asset.Release()
		if r.Asset.Geometry.Vertices != nil {
			t.Fatal("a released asset still has its buffers")
		}
	}
}

func TestCompletionsAfterClose(t *testing.T) {
	var c Completions
	released := 0
	asset := func() *Asset { return NewAsset(func() { released++ }) }
	c.Loaded(1, Result{Asset: asset()})
	c.close()
	c.Loaded(2, Result{Asset: asset()})
	if released != 2 {
		t.Errorf("%d assets released, want 2", released)
	}
}

func TestSystemMemory(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "meminfo")
	if err := os.WriteFile(file, []byte("MemTotal: 9 kB\nMemAvailable:   2048 kB\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if v, ok := meminfo(file, "MemAvailable:"); !ok || v != 2048<<10 {
		t.Errorf("%v %v", v, ok)
	}
	if _, ok := meminfo(filepath.Join(dir, "none"), "x"); ok {
		t.Error("a missing file has a value")
	}
	if err := os.WriteFile(file, []byte("max\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, ok := readBytes(file); ok {
		t.Error("max is no number")
	}
	m := systemMemory(&Config{}).Memory()
	if total := m.GeometryBudget + m.TextureBudget; total < probeMin || total > probeMax {
		t.Errorf("budget %d", total)
	}
	if m := systemMemory(&Config{GeometryBudget: 5}).Memory(); m.GeometryBudget != 0 {
		t.Error("the probe overrides the configuration")
	}
}
