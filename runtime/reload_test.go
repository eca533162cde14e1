package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/payload"
)

// cooked is a scene on the disk whose HLODs have so many triangles as its
// version says, and its tiles twice as many.
type cooked struct {
	t    *testing.T
	dir  string
	path string
}

func newCooked(t *testing.T) *cooked {
	dir := t.TempDir()
	return &cooked{t, dir, filepath.Join(dir, "scene.json")}
}

// payload writes a payload of so many triangles and returns its size and hash.
func (c *cooked) payload(rel string, kind format.FileType, triangles int) (size int64, sum string) {
	c.t.Helper()
	data := fake.Container(c.t, kind, format.ModeAuto, 1, 3*triangles, func(_, k int) [3]float32 {
		return [3]float32{float32(k % 3 & 1), float32(k % 3 / 2), float32(k)}
	})
	c.put(rel, data)
	h := sha256.Sum256(data)
	return int64(len(data)), hex.EncodeToString(h[:])
}

// put replaces a file as a cook does, by renaming.
func (c *cooked) put(rel string, data []byte) {
	c.t.Helper()
	name := filepath.Join(c.dir, filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(name+".new", data, 0o644); err != nil {
		c.t.Fatal(err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		c.t.Fatal(err)
	}
}

// cook writes all payloads of a version, but not the manifest, which it returns.
func (c *cooked) cook(version int, ids ...string) *manifest.Manifest {
	c.t.Helper()
	m := sceneOf()
	for i, id := range ids {
		tile := tileAt(id, around(float64(10*i), 0, 0, 1), hlodAt(95))
		tile.FileSizeBytes, tile.SHA256 = c.payload(tile.Path, format.FileTile, 2*version)
		l := &tile.HLODLevels[0]
		l.FileSizeBytes, l.SHA256 = c.payload(l.Path, format.FileHLOD, version)
		m.Tiles = append(m.Tiles, tile)
	}
	return m
}

func (c *cooked) save(m *manifest.Manifest) {
	c.t.Helper()
	if err := m.Save(c.path); err != nil {
		c.t.Fatal(err)
	}
}

// triangleCounter is a Device that knows the version of what is on it.
type triangleCounter struct{ on map[payload.Key]int }

func (d *triangleCounter) Upload(k payload.Key, a *payload.Asset) error {
	defer a.Release()
	d.on[k] = len(a.Geometry.Indices) / 6
	if k.Rep == payload.RepFull {
		d.on[k] /= 2
	}
	return nil
}

func (d *triangleCounter) Release(k payload.Key) { delete(d.on, k) }

// reloadRig streams a cooked scene from the disk.
type reloadRig struct {
	*cooked
	s       *Streamer
	clock   *fake.Clock
	device  *triangleCounter
	camera  Camera
	bare    int // frames in which nothing is drawn
	events  []event.Event
	started bool
}

func (c *cooked) open(src Source, opts ...func(*config.Config)) *reloadRig {
	c.t.Helper()
	r := &reloadRig{cooked: c, clock: &fake.Clock{Time: fake.Epoch}, device: &triangleCounter{map[payload.Key]int{}}}
	cfg := scenarioConfig()
	for _, o := range opts {
		o(&cfg)
	}
	s, err := Open(context.Background(), src, cfg, Deps{Clock: r.clock, Device: r.device})
	if err != nil {
		c.t.Fatal(err)
	}
	r.s = s
	c.t.Cleanup(func() {
		if err := s.Close(); err != nil || len(r.device.on) > 0 || s.Stats().GeometryBytes != 0 {
			c.t.Errorf("after the end: %v, %v, %d bytes", err, r.device.on, s.Stats().GeometryBytes)
		}
	})
	return r
}

// run runs for some time; frames wait for what is loaded or read.
func (r *reloadRig) run(seconds float64, x float64) {
	r.t.Helper()
	r.camera.Position[0] = x
	for end := r.clock.Time + time.Duration(seconds*float64(time.Second)); r.clock.Time < end; r.clock.Time += 100 * time.Millisecond {
		for r.s.Stats().ActiveLoads > 0 || r.s.reloads.running > 0 {
			<-r.s.Ready()
			r.frame()
		}
		r.frame()
	}
}

func (r *reloadRig) frame() {
	r.s.Update(r.camera, 100*time.Millisecond)
	r.events = append(r.events, r.s.Events()...)
	drawn := r.s.AppendDrawn(nil)
	r.started = r.started || len(drawn) > 0
	if r.started && len(drawn) == 0 {
		r.bare++
	}
}

// versions lists what versions are drawn.
func (r *reloadRig) versions() []int {
	var out []int
	for _, d := range r.s.AppendDrawn(nil) {
		n, ok := r.device.on[d.Key]
		if !ok {
			r.t.Errorf("%+v is drawn and is not on the device", d)
		}
		out = append(out, n)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (r *reloadRig) count(k event.Kind) (n int) {
	for i := range r.events {
		if r.events[i].Kind == k {
			n++
		}
	}
	return n
}

// A scene that is cooked again while it is streamed: the first payload that is
// not the declared one is refused, the manifest is read again, and what was drawn
// stays until the new scene draws in its place.
func TestReloadAfterACook(t *testing.T) {
	c := newCooked(t)
	c.save(c.cook(1, "a", "b", "gone"))
	r := c.open(Source{Path: c.path})
	r.run(2, 20)
	if got := r.versions(); !slices.Equal(got, []int{1}) {
		t.Fatalf("versions %v drawn", got)
	}
	c.save(c.cook(2, "new", "b", "a"))
	first := r.s.Scenes()[0]
	r.run(20, 150) // the HLODs are new
	if got := r.versions(); !slices.Equal(got, []int{2}) {
		t.Errorf("versions %v drawn", got)
	}
	st := r.s.Stats()
	if r.bare > 0 || st.Undrawn > 0 || st.ManifestReloads != 1 || st.ManifestReloadFailures != 0 || r.count(event.SceneReload) != 1 || r.count(event.HLODFailed) == 0 {
		t.Errorf("%d frames bare, %+v, %d events", r.bare, st, r.count(event.SceneReload))
	}
	if len(r.s.succession.retired) != 0 || len(r.s.Scenes()) != 1 || r.s.Scenes()[0] == first {
		t.Errorf("%d retired, scenes %v", len(r.s.succession.retired), r.s.Scenes())
	}
	if _, ok := r.s.SceneTransform(first); !ok { // its id goes on
		t.Error("the first id is not known any more")
	}
	if err := r.s.RemoveScene(first); err != nil {
		t.Error(err)
	}
}

// What nothing of the new scene takes the place of goes too, and the old scene
// is drawn while the new one cannot load.
func TestReloadKeepsWhatIsDrawn(t *testing.T) {
	c := newCooked(t)
	c.save(c.cook(1, "a", "b"))
	r := c.open(Source{Path: c.path}, func(c *config.Config) { c.RetryBackoffBase = 1 })
	r.run(2, 20)
	m := c.cook(2, "a")
	good, err := os.ReadFile(filepath.Join(c.dir, "tiles/a_hlod.untold"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(c.dir, "tiles/a_hlod.untold")); err != nil {
		t.Fatal(err)
	}
	c.save(m)
	r.run(15, 150)
	if st := r.s.Stats(); st.ManifestReloads != 1 || !slices.Equal(r.versions(), []int{1}) || r.bare > 0 {
		t.Errorf("%v drawn, %d frames bare, %+v", r.versions(), r.bare, st)
	}
	c.put("tiles/a_hlod.untold", good)
	r.run(70, 150)
	if got := r.versions(); !slices.Equal(got, []int{2}) || len(r.s.succession.retired) > 0 || r.bare > 0 {
		t.Errorf("%v drawn, %d scenes retired, %d frames bare", got, len(r.s.succession.retired), r.bare)
	}
}

// A payload that is damaged, with the manifest as it was: it is never drawn, the
// manifest is read again ever more rarely, and the report says why.
func TestReloadIsNoLoop(t *testing.T) {
	c := newCooked(t)
	m := c.cook(1, "a")
	c.save(m)
	size, sum := c.payload("tiles/a.untold", format.FileTile, 4)
	m.Tiles[0].FileSizeBytes = size // so that only the hash differs
	c.save(m)
	reads := 0
	r := c.open(Source{Path: c.path, Reload: func(context.Context) (Source, error) {
		reads++
		return Source{Path: c.path}, nil
	}})
	r.run(300, 20)
	st := r.s.Stats()
	if got := r.versions(); len(got) > 0 || st.ManifestReloads != 0 || reads == 0 || reads > 9 || int(st.ManifestReloadFailures) != reads {
		t.Errorf("%v drawn, %d reads, %+v", got, reads, st)
	}
	warned := ""
	for _, e := range r.events {
		switch e.Kind {
		case event.TileFailed:
			if !errors.Is(e.Err, payload.ErrMismatch) || !errors.Is(e.Err, payload.ErrPayload) || !strings.Contains(e.Err.Error(), sum) {
				t.Fatalf("%v", e.Err)
			}
		case event.Warn:
			warned = e.Message
		}
	}
	if !strings.Contains(warned, "the manifest has not changed") {
		t.Errorf("the warning is %q", warned)
	}
	// When it is put right, it loads.
	m.Tiles[0].FileSizeBytes, m.Tiles[0].SHA256 = c.payload("tiles/a.untold", format.FileTile, 2)
	c.save(m)
	r.run(130, 20)
	if got := r.versions(); !slices.Equal(got, []int{1}) {
		t.Errorf("%v drawn", got)
	}
}

// A manifest that cannot be read is tried again later; one without hashes is
// never read again.
func TestReloadFails(t *testing.T) {
	for _, hashes := range []bool{true, false} {
		c := newCooked(t)
		m := c.cook(1, "a")
		if !hashes {
			m.Tiles[0].SHA256 = ""
		}
		c.payload("tiles/a.untold", format.FileTile, 4)
		reads := 0
		r := c.open(Source{Manifest: m, Base: c.dir, Reload: func(context.Context) (Source, error) {
			reads++
			return Source{}, fake.ErrFake
		}})
		r.run(30, 20)
		if st := r.s.Stats(); hashes != (reads > 0) || reads > 4 || int(st.ManifestReloadFailures) != reads || st.Failures == 0 {
			t.Errorf("hashes %v: %d reads, %+v", hashes, reads, st)
		}
	}
}

// A file that was found good is found bad when it has been replaced, whatever
// the manifest declares.
func TestReplacedFilesAreHashedAgain(t *testing.T) {
	c := newCooked(t)
	_, sum := c.payload("tiles/a.untold", format.FileTile, 1)
	l := payload.NewFileLoader(1)
	defer l.Close()
	req := payload.Request{Dir: c.dir, Path: "tiles/a.untold", SHA256: sum}
	for range 2 {
		if r := fake.Ask(t, l, req); r.Err != nil {
			t.Fatal(r.Err)
		} else {
			r.Asset.Release()
		}
	}
	data, err := os.ReadFile(filepath.Join(c.dir, "tiles/a.untold"))
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-1] ^= 1
	c.put("tiles/a.untold", data)
	if r := fake.Ask(t, l, req); !errors.Is(r.Err, payload.ErrMismatch) {
		t.Errorf("%v", r.Err)
	}
	req.SHA256 = ""
	if r := fake.Ask(t, l, req); !errors.Is(r.Err, finding.Code("hash-mismatch")) {
		t.Errorf("without a declared hash: %v", r.Err)
	}
}

// Short of memory, what is left of the old scene makes room for the new one.
func TestReloadShortOfMemory(t *testing.T) {
	c := newCooked(t)
	c.save(c.cook(40, "a", "b"))
	// Both tiles fit, and one HLOD beside them, but not two.
	budget := int64(4*40*(3*vertex.Size+6)) * 4 / 3
	r := c.open(Source{Path: c.path}, func(c *config.Config) { c.GeometryBudget, c.OutOfCorePolicy = budget, config.OutOfCoreImmediate })
	r.run(2, 20)
	c.save(c.cook(41, "a", "b"))
	r.run(30, 150)
	if got := r.versions(); !slices.Equal(got, []int{41}) || len(r.s.succession.retired) > 0 || r.s.Stats().ManifestReloads != 1 || r.s.Stats().PeakGeometryBytes > budget || r.bare > 0 {
		t.Errorf("%v drawn, %d retired, peak %d of %d, %d frames bare", got, len(r.s.succession.retired), r.s.Stats().PeakGeometryBytes, budget, r.bare)
	}
}
