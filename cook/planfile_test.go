package cook

import (
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/cook/internal/planfile"
	"github.com/untoldkit/untold/cook/store"
	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/internal/testfile"
)

// writePlan writes a plan of a scene and returns its path.
func writePlan(t *testing.T, scene string, o Options) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "scene"+PlanExt)
	res, err := WritePlan(t.Context(), scene, path, o)
	if err != nil {
		t.Fatal(err)
	}
	if res.Bytes == 0 || res.Payloads == 0 || res.Read == 0 {
		t.Errorf("%+v", res)
	}
	return path
}

// TestPlan: shards that follow a plan, and the last cook, give the bytes of one machine,
// and all of them look for results under the keys of cooks without one.
func TestPlan(t *testing.T) {
	scene := filepath.Join(t.TempDir(), "yard.gltf")
	newYard().write(t, scene)
	o := yardOptions()
	fresh := t.TempDir()
	one, err := Run(t.Context(), scene, fresh, o)
	if err != nil {
		t.Fatal(err)
	}
	want := testfile.ReadTree(t, fresh)
	plan := writePlan(t, scene, o)
	for _, n := range []int{1, 2, 7, 64} {
		p, _ := place(t)
		o := o
		o.Store = store.New(p, nil)
		for i := range n {
			if o.Plan = plan; i == 1 {
				o.Plan = "" // also among those that follow one
			}
			if res, err := RunShard(t.Context(), scene, Shard{i, n}, o); err != nil || res.Payloads != one.Tiles || res.Reused != 0 {
				t.Fatalf("%+v, %v", res, err)
			}
		}
		o.RequireStore = true
		for _, o.Plan = range []string{plan, ""} {
			out := t.TempDir()
			res, err := Run(t.Context(), scene, out, o)
			if err != nil || res.Reused != one.Tiles {
				t.Fatalf("%d shards: %+v, %v", n, res, err)
			}
			if d := cmp.Diff(want, testfile.ReadTree(t, out)); d != "" {
				t.Errorf("%d shards: %.500s", n, d)
			}
			if d := cmp.Diff(one.Notes, res.Notes); d != "" {
				t.Error(d)
			}
			again, err := Run(t.Context(), scene, out, o)
			if err != nil || !again.Unchanged {
				t.Errorf("%+v, %v", again, err)
			}
		}
	}
}

// TestPlanOfCutObjects: a plan holds how many pieces cutting makes, where they have been
// counted, and shards that follow it let pieces wait in a file as a cook without one does.
func TestPlanOfCutObjects(t *testing.T) {
	scene := sheets(120, 16, 3).save(t)
	o := ClassicOptions()
	o.NoSync = true
	fresh := t.TempDir()
	mustRun(t, scene, fresh, o)
	o.Memory, o.Jobs = 120_000, 3
	plan := writePlan(t, scene, o)
	head, err := readPlan(plan, &o)
	if err != nil {
		t.Fatal(err)
	}
	h := head.head
	if len(h.pieces) != 3 || h.pieces[0] <= 16 || h.held < 1 {
		t.Errorf("%d pieces, which take %d bytes", h.pieces, h.held)
	}
	p, _ := place(t)
	o.Store, o.Plan = store.New(p, nil), plan
	for i := range 2 {
		if _, err := RunShard(t.Context(), scene, Shard{i, 2}, o); err != nil {
			t.Fatal(err)
		}
	}
	o.RequireStore = true
	out := t.TempDir()
	mustRun(t, scene, out, o)
	if d := cmp.Diff(testfile.ReadTree(t, fresh), testfile.ReadTree(t, out)); d != "" {
		t.Errorf("%.500s", d)
	}

	// Numbers of other objects, and those that none has.
	for _, edit := range []func(h *planHead){
		func(h *planHead) { h.pieces = h.pieces[:2] },
		func(h *planHead) { h.pieces[1] = -1 },
		func(h *planHead) { h.held = math.MaxInt64 },
	} {
		h := h
		h.pieces = slices.Clone(h.pieces)
		edit(&h)
		head.head = h
		err := head.rewrite()
		if err == nil {
			_, err = Run(t.Context(), scene, t.TempDir(), o)
		}
		if !errors.Is(err, ErrDamagedPlan) {
			t.Errorf("%d pieces, which take %d bytes: %v", h.pieces, h.held, err)
		}
	}
}

// TestPlanSide: a plan holds the sides of tiles that the scene decides about, and who follows
// it does not look for them again.
func TestPlanSide(t *testing.T) {
	scene := filepath.Join(t.TempDir(), "yard.gltf")
	newYard().write(t, scene)
	fitted, given, auto := yardOptions(), yardOptions(), yardOptions()
	fitted.TileSize, fitted.TileTriangles = geom.Vec3{0, 1000, 0}, 40
	given.TileSize = geom.Vec3{9, 1000, 9}
	auto.TileSize, auto.AutoTileSize = geom.Vec3{0, 1000, 0}, true
	for name, o := range map[string]Options{"fitted": fitted, "given": given, "auto": auto} {
		fresh := t.TempDir()
		one := mustRun(t, scene, fresh, o)
		o.Plan = writePlan(t, scene, o)
		p, err := readPlan(o.Plan, checked(t, o))
		if err != nil {
			t.Fatal(err)
		}
		side := p.head.side
		if (side > 0) != (name != "given") || side > 0 && side != one.Manifest.TileSize.X {
			t.Errorf("%s: a side of %v m for tiles of %v", name, side, *one.Manifest.TileSize)
		}
		followed := t.TempDir()
		mustRun(t, scene, followed, o)
		if d := cmp.Diff(testfile.ReadTree(t, fresh), testfile.ReadTree(t, followed)); d != "" {
			t.Errorf("%s: %.500s", name, d)
		}
		wrong := []float64{-1, 0}
		if name == "given" {
			wrong = []float64{-1, 9}
		} else {
			p.head.side = 2 * side
			must0(t, p.rewrite())
			if got := mustRun(t, scene, t.TempDir(), o).Manifest.TileSize.X; got != 2*side {
				t.Errorf("%s: tiles of %v m, and %v by the plan", name, got, 2*side)
			}
		}
		for _, p.head.side = range wrong {
			must0(t, p.rewrite())
			if _, err := Run(t.Context(), scene, t.TempDir(), o); !errors.Is(err, ErrDamagedPlan) {
				t.Errorf("%s: a side of %v m: %v", name, p.head.side, err)
			}
		}
	}
}

// checked are options as a cook has them.
func checked(t *testing.T, o Options) *Options {
	t.Helper()
	if err := o.check(); err != nil {
		t.Fatal(err)
	}
	return &o
}

// rewrite writes a plan that was read with another head.
func (p *plannedScene) rewrite() error {
	c := planfile.NewWriter()
	p.head.code(c)
	first, err := c.Section()
	if err == nil {
		err = atomicfile.Write(p.path, func(to io.Writer) error {
			return planfile.Write(to, append(append([][]byte{first}, p.parts...), p.cut, p.images))
		})
	}
	return err
}

// planReads are how many times the bytes of a scene shards together read without a plan,
// if that is asked for, and with one, and the last cook with one.
func planReads(t *testing.T, scene string, n int, o Options, both bool) (without, with, last float64) {
	t.Helper()
	st, err := os.Stat(scene)
	if err != nil {
		t.Fatal(err)
	}
	plan := writePlan(t, scene, o)
	for _, to := range []*float64{&without, &with} {
		if to == &without && !both {
			continue
		}
		p, _ := place(t)
		o := o
		o.Store = store.New(p, nil)
		if o.Plan = ""; to == &with {
			o.Plan = plan
		}
		sum := int64(0)
		for i := range n {
			res, err := RunShard(t.Context(), scene, Shard{i, n}, o)
			if err != nil {
				t.Fatal(err)
			}
			sum += res.Read
		}
		*to = float64(sum) / float64(st.Size())
		if to == &with {
			o.RequireStore, o.read = true, &atomic.Int64{}
			if _, err := Run(t.Context(), scene, t.TempDir(), o); err != nil {
				t.Fatal(err)
			}
			last = float64(o.read.Load()) / float64(st.Size())
		}
	}
	return without, with, last
}

// TestPlanReads: all shards together read little more of a scene than there is, and the
// last cook its images alone.
func TestPlanReads(t *testing.T) {
	scene := generated(t, "city", "-blocks", "2", "-unique", "-detail", "0", "-texture-size", "64")
	past := time.Now().Add(-time.Hour)
	must0(t, os.Chtimes(scene, past, past)) // its time is to be trusted
	o := ClassicOptions()
	o.TileSize[0], o.TileSize[2], o.NoSync = 40, 40, true
	for _, c := range []struct {
		shards int
		both   bool
		most   float64
	}{
		{7, true, 1.3},
		{64, false, 1.3}, // four tiles a shard, each of which needs some of the ground
	} {
		if race.Enabled && c.shards == 64 {
			continue // make test cooks so many without the detector
		}
		without, with, last := planReads(t, scene, c.shards, o, c.both)
		t.Logf("%d shards: %.2f times the file without a plan, %.2f with one, the last cook %.3f", c.shards, without, with, last)
		if with > c.most || c.both && without < float64(c.shards) || last > 0.1 {
			t.Errorf("%d shards: %.2f times the file with a plan, %.2f without, the last cook %.3f", c.shards, with, without, last)
		}
	}
}

// TestPlanOfAnotherScene: a plan of something else is an error that says what differs.
func TestPlanOfAnotherScene(t *testing.T) {
	yard := newYard()
	dir := t.TempDir()
	scene := filepath.Join(dir, "yard.gltf")
	yard.write(t, scene)
	past := time.Now().Add(-time.Hour).Truncate(time.Second)
	still := func() {
		t.Helper()
		must0(t, os.Chtimes(scene, past, past))
	}
	still()
	o := yardOptions()
	plan := writePlan(t, scene, o)
	p, _ := place(t)
	o.Store, o.Plan = store.New(p, nil), plan
	try := func(o Options) error {
		t.Helper()
		_, err := RunShard(t.Context(), scene, Shard{0, 2}, o)
		_, err2 := Run(t.Context(), scene, t.TempDir(), o)
		if (err == nil) != (err2 == nil) {
			t.Errorf("a shard: %v, the last cook: %v", err, err2)
		}
		return err
	}
	refused := func(o Options, says string) {
		t.Helper()
		if err := try(o); !errors.Is(err, ErrStalePlan) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", says, err)
		}
	}
	if err := try(o); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		edit func(o *Options)
		says string
	}{
		{func(o *Options) { o.TileSize[0] = 9 }, "other settings: TileSize"},
		{func(o *Options) { o.Clip, o.LODMinTriangles = false, 99 }, "other settings: Clip, LODMinTriangles"},
		{func(o *Options) { o.Generator = "untold 9" }, "another version"},
		{func(o *Options) { o.Items = []Item{{File: scene}} }, "other files"},
		{func(o *Options) { o.Grade = []byte("LUT_3D_SIZE 2\n" + strings.Repeat("0 0 0\n", 8)) }, "other settings: Grade"},
	} {
		o := o
		c.edit(&o)
		refused(o, c.says)
	}

	text := string(testfile.Read(t, scene))
	// Touched, or copied: the content decides.
	now := time.Now().Add(-time.Minute)
	must0(t, os.Chtimes(scene, now, now))
	if err := try(o); err != nil {
		t.Errorf("a touched file: %v", err)
	}
	testfile.Write(t, scene, text+" ")
	refused(o, "bytes, and had")
	yard.things[3].x++
	yard.write(t, scene)
	if len(testfile.Read(t, scene)) != len(text) {
		t.Fatal("the edited scene is of another size")
	}
	refused(o, "another content")
	os.Remove(scene)
	if err := try(o); err == nil {
		t.Error("a scene that has gone")
	}

	// Damage, wherever it is.
	testfile.Write(t, scene, text)
	still()
	good := string(testfile.Read(t, plan))
	for at := 0; at < len(good); at += 1 + len(good)/97 {
		testfile.Write(t, plan, good[:at]+string(good[at]^0x20)+good[at+1:])
		if _, err := readPlan(plan, &o); !errors.Is(err, ErrDamagedPlan) {
			t.Fatalf("byte %d: %v", at, err)
		}
		testfile.Write(t, plan, good[:at])
		if _, err := readPlan(plan, &o); !errors.Is(err, ErrDamagedPlan) {
			t.Fatalf("%d bytes: %v", at, err)
		}
	}
	o.Plan = filepath.Join(dir, "none"+PlanExt)
	if err := try(o); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestPlanOfLongSettings: what no plan can hold is said where it is to be written.
func TestPlanOfLongSettings(t *testing.T) {
	o := ClassicOptions()
	o.Generator = strings.Repeat("x", mostSettings)
	_, err := WritePlan(t.Context(), sheets(4, 1, 1).save(t), filepath.Join(t.TempDir(), "a.plan"), o)
	if err == nil || errors.Is(err, ErrDamagedPlan) || !strings.Contains(err.Error(), "shorten Generator, or cook without a plan") {
		t.Errorf("%.300v", err)
	}
}

// TestPlanOfRenamedScene: what is cooked is called after the file that is cooked, and not
// after the one that was planned.
func TestPlanOfRenamedScene(t *testing.T) {
	dir := t.TempDir()
	scene, other := filepath.Join(dir, "yard.gltf"), filepath.Join(dir, "copy.gltf")
	newYard().write(t, scene)
	newYard().write(t, other)
	o := yardOptions()
	want, got := t.TempDir(), t.TempDir()
	if _, err := Run(t.Context(), other, want, o); err != nil {
		t.Fatal(err)
	}
	o.Plan = writePlan(t, scene, o)
	if _, err := Run(t.Context(), other, got, o); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(testfile.ReadTree(t, want), testfile.ReadTree(t, got)); d != "" {
		t.Errorf("%.500s", d)
	}
}

// TestPlanPieces: how many pieces a plan can promise does not overflow what is weighed
// with it.
func TestPlanPieces(t *testing.T) {
	for _, c := range []struct {
		pieces int64
		fine   bool
	}{{7, true}, {maxPolygons, true}, {maxPolygons + 1, false}, {1 << 62, false}, {-1, false}} {
		w := planfile.NewWriter()
		settings, one, held := []byte("{}"), int64(1), int64(100)
		w.Bytes(&settings)
		w.Sum(&[32]byte{})
		w.Floats([]float64{0})
		for _, v := range []*int64{&one, &c.pieces, &held} {
			w.Int64(v)
		}
		section, err := w.Section()
		if err != nil {
			t.Fatal(err)
		}
		r, err := planfile.Open(section)
		if err != nil {
			t.Fatal(err)
		}
		var h planHead
		if h.code(r); (r.End() == nil) != c.fine || c.fine && h.pieces[0] != c.pieces {
			t.Errorf("%d pieces: %v, %v", c.pieces, h.pieces, r.Err())
		}
		r.Close()
	}
}
