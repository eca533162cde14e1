package cook

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/boxscene"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
)

// runScene writes a glTF of unit boxes with a light and a camera.
func runScene(t *testing.T, name string, boxes []boxscene.Box) string {
	t.Helper()
	type m = boxscene.Object
	s := boxscene.New(boxes...)
	s.AddNode(m{"name": "Sun", "rotation": []float64{-math.Sqrt2 / 2, 0, 0, math.Sqrt2 / 2}, "extensions": m{"KHR_lights_punctual": m{"light": 0}}})
	s.AddNode(m{"name": "Eye", "translation": []float64{0, 2, 10}, "camera": 0})
	s.Root["extensionsUsed"] = []string{"KHR_lights_punctual"}
	s.Root["extensions"] = m{"KHR_lights_punctual": m{"lights": []m{{"type": "directional", "intensity": 3.0, "name": "Sun"}}}}
	s.Root["cameras"] = []m{{"type": "perspective", "perspective": m{"yfov": math.Pi / 3, "znear": 0.1}}}
	return s.Save(t, name)
}

func townBoxes() []boxscene.Box {
	return []boxscene.Box{
		{Name: "Lamp", At: [3]float64{5, 0.5, -5}},
		{Name: "Lamp", At: [3]float64{30, 0.5, -5}},
		{Name: "Bench", At: [3]float64{25, 0.5, -30}}, // on a cell border
		{Name: "Ground", At: [3]float64{75, -0.5, -75}, Scale: [3]float64{400, 1, 400}},
		{Name: "Wall", At: [3]float64{75, 2, -10}, Scale: [3]float64{140, 4, 0.3}, Extras: map[string]any{"untold_tile_policy": "force_local"}},
		{Name: "Kiosk", At: [3]float64{5, 1, -80}, Extras: map[string]any{"untold_tile_policy": "force_shared"}},
	}
}

func mustRun(t *testing.T, scene, dir string, opts Options) *Result {
	t.Helper()
	res, err := Run(context.Background(), scene, dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestRunWritesAScene(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "town")
	opts := ClassicOptions()
	opts.Clip, opts.Merge = false, false
	res := mustRun(t, runScene(t, "my town!.gltf", townBoxes()), dir, opts)
	if want := filepath.Join(dir, "my_town.json"); res.ManifestPath != want {
		t.Errorf("manifest at %s, want %s", res.ManifestPath, want)
	}
	if f, err := manifest.ValidateFile(res.ManifestPath, manifest.ValidateOptions{CheckFiles: true}); err != nil || hasErrors(f) {
		t.Errorf("%v %v", err, f)
	}
	m, err := manifest.Load(res.ManifestPath)
	if err != nil {
		t.Fatal(err)
	}
	if m.SharedBucket == nil || m.SharedBucket.Path != "tiles/my_town_shared.untold" {
		t.Fatalf("bucket: %+v", m.SharedBucket)
	}
	var shared []string
	for _, o := range m.SharedBucket.Members {
		shared = append(shared, o.Name)
	}
	if d := cmp.Diff([]string{"Ground", "Kiosk"}, shared); d != "" {
		t.Errorf("shared objects: %s", d)
	}
	places := map[string]int{}
	for i := range m.Tiles {
		checkTile(t, dir, m, &m.Tiles[i])
		for _, o := range m.Tiles[i].Objects {
			places[o]++
		}
	}
	if places["Lamp"] != 1 || places["Lamp.001"] != 1 || places["Bench"] != 2 || places["Wall"] != 6 {
		t.Errorf("tiles by object: %v", places)
	}
	if l := m.SceneLights; len(l) != 1 || l[0].Kind != "directional" || l[0].RadiometricUnit || math.Abs(l[0].Direction[1]+1) > 1e-9 {
		t.Errorf("lights: %+v", l)
	}
	if c := m.SceneCameras; len(c) != 1 || math.Abs(c[0].FovYDegrees-60) > 1e-9 || c[0].Forward != [3]float64{0, 0, -1} || c[0].FarClip != 1000 {
		t.Errorf("cameras: %+v", c)
	}
	if res.Triangles != 6*12 || res.Objects != 6 || res.SharedObjects != 2 {
		t.Errorf("result: %+v", res)
	}
}

func hasErrors(list []finding.Finding) bool {
	return slices.ContainsFunc(list, func(f finding.Finding) bool { return f.Severity == finding.Error })
}

// checkTile compares a manifest entry with its file.
func checkTile(t *testing.T, dir string, m *manifest.Manifest, e *manifest.Tile) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(e.Path))
	if r, err := format.ValidateFile(path, format.ValidateOptions{}); err != nil || len(r.Findings) > 0 {
		t.Errorf("%s: %v %+v", e.ID, err, r)
	}
	r, err := format.Open(path, format.VerifyOnOpen())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if b := boundsOf(r.Header().WorldBounds); b != e.Bounds || e.Center != b.Center() {
		t.Errorf("%s: bounds %v, the file has %v", e.ID, e.Bounds, b)
	}
	if r.Header().FileType != format.FileTile || len(r.Entities()) != *e.ObjectCount || e.TriangleCount != 12**e.ObjectCount {
		t.Errorf("%s: %d entities, %d triangles", e.ID, len(r.Entities()), e.TriangleCount)
	}
	cell, content := e.CellBounds.Box(), e.Bounds.Box()
	if cell.Size()[0] != m.TileSize.X || cell.Size()[2] != m.TileSize.Z {
		t.Errorf("%s: cell of %v", e.ID, cell.Size())
	}
	for i := range 3 {
		if content.Max[i] < cell.Min[i] || content.Min[i] > cell.Max[i] {
			t.Errorf("%s: content %v lies outside its cell %v", e.ID, content, cell)
		}
	}
}

func TestRunIsDeterministic(t *testing.T) {
	scene := runScene(t, "town.gltf", townBoxes())
	var first map[string]string
	for _, jobs := range []int{1, 2, 7} {
		dir := t.TempDir()
		opts := ClassicOptions()
		opts.Jobs = jobs
		mustRun(t, scene, dir, opts)
		got := testfile.ReadTree(t, dir)
		if first == nil {
			first = got
		} else if d := cmp.Diff(first, got); d != "" {
			t.Errorf("jobs %d: %s", jobs, d)
		}
	}
	// Cooking again over the old output gives the same files.
	dir := t.TempDir()
	mustRun(t, scene, dir, ClassicOptions())
	mustRun(t, scene, dir, ClassicOptions())
	if d := cmp.Diff(first, testfile.ReadTree(t, dir)); d != "" {
		t.Errorf("second cook in place: %s", d)
	}
}

// fullDisk fails after n bytes.
type fullDisk struct {
	w    io.Writer
	left *int
}

var errFull = errors.New("no space left on device")

func (f *fullDisk) Write(b []byte) (int, error) {
	if *f.left -= len(b); *f.left < 0 {
		return 0, errFull
	}
	return f.w.Write(b)
}

func TestRunOnAFullDisk(t *testing.T) {
	scene := runScene(t, "town.gltf", townBoxes())
	base := t.TempDir()
	opts := ClassicOptions()
	opts.Jobs = 1
	res := mustRun(t, scene, filepath.Join(base, "good"), opts)
	before := testfile.ReadTree(t, filepath.Join(base, "good"))
	total := int(res.PayloadBytes) + len(before["town.json"])
	changed := townBoxes()
	changed[0].At[1] = 9
	other := runScene(t, "town.gltf", changed)
	for _, room := range []int{0, 1, 700, total / 2, total - 500} {
		left := room
		opts.wrap = func(w io.Writer) io.Writer { return &fullDisk{w, &left} }
		fresh := filepath.Join(base, "fresh", "deep")
		if _, err := Run(context.Background(), scene, fresh, opts); !errors.Is(err, errFull) {
			t.Errorf("room for %d of %d bytes: %v", room, total, err)
		}
		if _, err := os.Stat(filepath.Join(base, "fresh")); err == nil {
			t.Errorf("room for %d bytes: folders were left behind", room)
		}
		left = room
		opts.Full = true // else most of the older cook would serve
		if _, err := Run(context.Background(), other, filepath.Join(base, "good"), opts); !errors.Is(err, errFull) {
			t.Errorf("over an older cook: %v", err)
		}
		if d := cmp.Diff(before, testfile.ReadTree(t, filepath.Join(base, "good"))); d != "" {
			t.Errorf("room for %d bytes: the older cook changed: %s", room, d)
		}
	}
}

func TestRunCancelled(t *testing.T) {
	scene := runScene(t, "town.gltf", townBoxes())
	dir := filepath.Join(t.TempDir(), "out")
	ctx, cancel := context.WithCancel(context.Background())
	opts := ClassicOptions()
	opts.Jobs = 1
	opts.Progress = func(stage string, done, _ int) {
		if stage == "cook" && done == 2 {
			cancel()
		}
	}
	if _, err := Run(ctx, scene, dir, opts); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	// What was finished is there for the next cook, and nothing else.
	if list := fileNames(testfile.ReadTree(t, dir)); slices.ContainsFunc(list, func(name string) bool { return !strings.HasPrefix(name, ".untold/cook-") }) {
		t.Errorf("%q", list)
	}
}

func TestRunDryRun(t *testing.T) {
	scene := runScene(t, "town.gltf", townBoxes())
	dir := t.TempDir()
	opts := ClassicOptions()
	opts.DryRun = true
	res := mustRun(t, scene, dir, opts)
	if files := testfile.ReadTree(t, dir); len(files) != 0 {
		t.Errorf("a dry run wrote %d files", len(files))
	}
	plan := res.Manifest
	if !plan.DryRun {
		t.Fatal("the manifest does not say that it is a plan")
	}
	real := mustRun(t, scene, t.TempDir(), ClassicOptions()).Manifest
	if len(plan.Tiles) != len(real.Tiles) {
		t.Fatalf("%d and %d tiles", len(plan.Tiles), len(real.Tiles))
	}
	for i := range plan.Tiles {
		p, r := plan.Tiles[i], real.Tiles[i]
		if p.FileSizeBytes != 0 || p.SHA256 != "" {
			t.Errorf("%s: size %d, hash %q", p.ID, p.FileSizeBytes, p.SHA256)
		}
		r.FileSizeBytes, r.SHA256 = 0, ""
		if d := cmp.Diff(r, p); d != "" {
			t.Errorf("%s differs from the real run: %s", p.ID, d)
		}
	}
}

// TestDryRunLeavesACookedSceneAlone: not a byte changes in the folder, whatever
// the plan is of, and no folder appears.
func TestDryRunLeavesACookedSceneAlone(t *testing.T) {
	scene, dir := runScene(t, "town.gltf", townBoxes()), t.TempDir()
	mustRun(t, scene, dir, ClassicOptions())
	before := testfile.ReadTree(t, dir)
	opts := ClassicOptions()
	opts.DryRun, opts.TileSize[0] = true, 7
	mustRun(t, scene, dir, opts)
	if d := cmp.Diff(before, testfile.ReadTree(t, dir)); d != "" {
		t.Errorf("a dry run changed the folder: %s", d)
	}
	none := filepath.Join(dir, "none", "deeper")
	for _, dir := range []string{none, ""} {
		mustRun(t, scene, dir, opts)
	}
	if _, err := os.Stat(filepath.Dir(none)); err == nil {
		t.Error("a dry run made a folder")
	}
}

func TestRunReplacesStaleTiles(t *testing.T) {
	boxes := townBoxes()
	dir := t.TempDir()
	mustRun(t, runScene(t, "town.gltf", boxes), dir, ClassicOptions())
	testfile.Write(t, filepath.Join(dir, "tiles", "mine.untold"), "")
	m := mustRun(t, runScene(t, "town.gltf", boxes[:1]), dir, ClassicOptions()).Manifest
	found, _ := filepath.Glob(filepath.Join(dir, "tiles", "*.untold"))
	if len(m.Tiles) != 1 || len(found) != 2 {
		t.Errorf("%d tiles, files %v", len(m.Tiles), found)
	}
}

func TestRunRefusesAnotherScenesFolder(t *testing.T) {
	dir := t.TempDir()
	mustRun(t, runScene(t, "a.gltf", townBoxes()), dir, ClassicOptions())
	before := testfile.ReadTree(t, dir)
	_, err := Run(context.Background(), runScene(t, "b.gltf", townBoxes()), dir, ClassicOptions())
	if err == nil || !strings.Contains(err.Error(), "a.json") {
		t.Errorf("got %v", err)
	}
	if d := cmp.Diff(before, testfile.ReadTree(t, dir)); d != "" {
		t.Error(d)
	}
	opts := ClassicOptions()
	opts.PayloadDir = "b/tiles"
	if m := mustRun(t, runScene(t, "b.gltf", townBoxes()), dir, opts).Manifest; m.Tiles[0].Path[:8] != "b/tiles/" {
		t.Errorf("path %s", m.Tiles[0].Path)
	}
}

// TestManifestsDifferByCase: where case is ignored the second scene's manifest
// would replace the first one's, and nothing would name its tiles any more.
func TestManifestsDifferByCase(t *testing.T) {
	dir := t.TempDir()
	mustRun(t, runScene(t, "town.gltf", townBoxes()), dir, ClassicOptions())
	before := testfile.ReadTree(t, dir)
	opts := ClassicOptions()
	opts.PayloadDir = "others"
	_, err := Run(context.Background(), runScene(t, "Town.gltf", townBoxes()), dir, opts)
	if err == nil || !strings.Contains(err.Error(), "by case alone") {
		t.Errorf("got %v", err)
	}
	if d := cmp.Diff(before, testfile.ReadTree(t, dir)); d != "" {
		t.Error(d)
	}
}

func TestRunBadInput(t *testing.T) {
	bad := townBoxes()
	bad[0].Extras = map[string]any{"untold_tile_policy": "sideways"}
	huge := townBoxes()
	huge[0].Scale = [3]float64{1e39, 1, 1}
	flat := []boxscene.Box{{Name: "Dot", Scale: [3]float64{1e-30, 1e-30, 1e-30}, At: [3]float64{1, 1, 1}}}
	for _, c := range []struct {
		name  string
		boxes []boxscene.Box
		want  error
		text  string
	}{
		{"policy", bad, ErrBadInput, `"sideways"`},
		{"out of range", huge, nil, "beyond single precision"},
		{"no area", flat, ErrNothing, "nothing to cook"},
		{"no boxes", nil, ErrNothing, "nothing to cook"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			_, err := Run(context.Background(), runScene(t, "s.gltf", c.boxes), dir, ClassicOptions())
			if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %v", err)
			}
			if _, err := os.Stat(dir); err == nil {
				t.Error("the output folder exists")
			}
		})
	}
}

func TestOptionsCheck(t *testing.T) {
	for _, p := range []string{"", ".", "..", "../x", "/abs", "a/../b", `a\b`, "c:x", "a//b", "x/", "a\x1bb", ".untold-cook-1", ".untold-cook-1/x", ".untold", ".Untold/x", "tiles ", "tiles./x", "a\xff", strings.Repeat("d/", 30) + "d"} {
		o := ClassicOptions()
		if o.PayloadDir = p; o.check() == nil {
			t.Errorf("payload folder %q passes", p)
		}
	}
	for _, v := range []float64{-1, math.NaN(), math.Inf(1), 1e-9} {
		o := ClassicOptions()
		if o.TileSize[0] = v; o.check() == nil {
			t.Errorf("tile size %v passes", v)
		}
	}
}

// sceneArea sums the surface of all containers of a cooked scene.
func sceneArea(t *testing.T, dir string, m *manifest.Manifest) float64 {
	t.Helper()
	sum := 0.0
	for _, p := range m.Payloads() {
		r, err := format.Open(filepath.Join(dir, filepath.FromSlash(p)))
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Meshes() {
			vb, err := r.MeshVertices(i, nil)
			if err != nil {
				t.Fatal(err)
			}
			ib, err := r.MeshIndices(i, nil)
			if err != nil {
				t.Fatal(err)
			}
			at := func(v uint32) geom.Vec3 {
				return geom.FromF32(vertex.Get(vb[int(v)*vertex.Size:]).Position)
			}
			idx := vertex.Indices(ib, r.Meshes()[i].IndexType)
			for k := 0; k+2 < len(idx); k += 3 {
				a := at(idx[k])
				sum += at(idx[k+1]).Sub(a).Cross(at(idx[k+2]).Sub(a)).Len() / 2
			}
		}
		r.Close()
	}
	return sum
}

// TestRunClips: every triangle's area is in exactly one tile, inside its cell.
func TestRunClips(t *testing.T) {
	boxes := townBoxes()
	for i := range 40 {
		f := float64(i)
		boxes = append(boxes, boxscene.Box{
			Name: "Prop", At: [3]float64{f*3.7 - 20, f / 7, 11 - f*5.3}, Scale: [3]float64{0.3 + f/5, 1, 0.3 + f/9},
		})
	}
	want := 0.0
	for _, b := range boxes {
		s := b.Scale
		if s == [3]float64{} {
			s = [3]float64{1, 1, 1}
		}
		want += 2 * (s[0]*s[1] + s[1]*s[2] + s[2]*s[0])
	}
	scene := runScene(t, "town.gltf", boxes)
	for _, mergeToo := range []bool{false, true} {
		dir := t.TempDir()
		opts := ClassicOptions()
		opts.Merge = mergeToo
		m := mustRun(t, scene, dir, opts).Manifest
		if got := sceneArea(t, dir, m); math.Abs(got-want) > 1e-5*want {
			t.Errorf("merge %v: area %v, want %v", mergeToo, got, want)
		}
		if m.SharedBucket == nil || len(m.SharedBucket.Members) != 1 || m.SharedBucket.Members[0].Name != "Kiosk" {
			t.Errorf("merge %v: the bucket is for what was forced there: %+v", mergeToo, m.SharedBucket)
		}
		for i := range m.Tiles {
			e := &m.Tiles[i]
			if cell := e.CellBounds.Box(); !cell.Contains(e.Bounds.Box(), 1e-4) {
				t.Errorf("%s: %v sticks out of its cell %v", e.ID, e.Bounds, cell)
			}
		}
		if f, err := manifest.ValidateFile(filepath.Join(dir, "town.json"), manifest.ValidateOptions{CheckFiles: true}); err != nil || hasErrors(f) {
			t.Errorf("%v %v", err, f)
		}
	}
}

// TestRunClippedNeighboursMeet: what two tiles have at their common plane is
// the same, bit for bit.
func TestRunClippedNeighboursMeet(t *testing.T) {
	dir := t.TempDir()
	m := mustRun(t, runScene(t, "plane.gltf", []boxscene.Box{{Name: "Ground", At: [3]float64{13, 0, -7}, Scale: [3]float64{97, 1, 83}}}), dir, ClassicOptions()).Manifest
	border := map[[3]float32]int{}
	for i := range m.Tiles {
		r, err := format.Open(filepath.Join(dir, filepath.FromSlash(m.Tiles[i].Path)))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[[3]float32]bool{}
		vb, _ := r.MeshVertices(0, nil)
		for ; len(vb) > 0; vb = vb[vertex.Size:] {
			p := vertex.Get(vb).Position
			if x := float64(p[0]); math.Mod(x, 25) == 0 && !seen[p] {
				seen[p] = true
				border[p]++
			}
		}
		r.Close()
	}
	if len(border) < 8 {
		t.Fatalf("only %d vertices on planes", len(border))
	}
	for p, n := range border {
		if n < 2 {
			t.Errorf("%v is in one tile only", p)
		}
	}
}

func TestRunMerges(t *testing.T) {
	boxes := []boxscene.Box{
		{Name: "Lamp", At: [3]float64{1, 1, -1}},
		{Name: "Bin", At: [3]float64{5, 1, -1}},
		{Name: "NM_Door", At: [3]float64{9, 1, -1}},
		{Name: "Lever", At: [3]float64{12, 1, -1}, Extras: map[string]any{"untold_no_merge": true}},
		{Name: "Post", At: [3]float64{15, 1, -1}},
	}
	names := func(merge bool) []string {
		dir := t.TempDir()
		opts := ClassicOptions()
		opts.Merge = merge
		m := mustRun(t, runScene(t, "yard.gltf", boxes), dir, opts).Manifest
		if *m.Tiles[0].ObjectCount != 5 {
			t.Errorf("object count %d", *m.Tiles[0].ObjectCount)
		}
		r, err := format.Open(filepath.Join(dir, filepath.FromSlash(m.Tiles[0].Path)))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var out []string
		for _, e := range r.Entities() {
			out = append(out, r.String(e.NameOffset))
		}
		return out
	}
	if d := cmp.Diff([]string{"Lamp", "NM_Door", "Lever"}, names(true)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"Lamp", "Bin", "NM_Door", "Lever", "Post"}, names(false)); d != "" {
		t.Error(d)
	}
}

// A box beyond single precision is a fault of the scene.
func TestRunFarAway(t *testing.T) {
	model := filepath.Join(t.TempDir(), "far.gltf")
	scene := strings.Replace(triangleScene, `{"mesh":0}`, `{"mesh":0,"translation":[1e38,0,0],"scale":[1e38,1,1]}`, 1)
	testfile.Write(t, model, scene)
	if _, err := Run(context.Background(), model, filepath.Join(t.TempDir(), "out"), ClassicOptions()); !errors.Is(err, ErrBadInput) {
		t.Error(err)
	}
}

// triangleScene is one triangle in the tile 0 0 0.
const triangleScene = `{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],
"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,0,1]}],
"bufferViews":[{"buffer":0,"byteLength":36}],
"buffers":[{"byteLength":36,"uri":"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAIA/AACAPwAAAAAAAAAA"}]}`
