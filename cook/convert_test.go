package cook

import (
	"context"
	"errors"
	"image/color"
	"io"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/holding"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/internal/testfile"
)

func TestConvertSquare(t *testing.T) {
	d := &model{}
	p := d.square(0)
	attributes(p)["COLOR_0"] = d.floats(4, 1, .5, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1)
	n := d.node("Sign", p)
	n["translation"] = []float64{10, 0, 0}
	c := d.convert(t)
	if c.Objects != 1 || c.Meshes != 1 || c.Triangles != 2 || c.Vertices != 4 || c.Materials != 1 || c.Textures != 0 {
		t.Errorf("%+v", c.ConvertResult)
	}
	if st, err := os.Stat(c.Path); err != nil || st.Size() != c.Bytes {
		t.Errorf("%d bytes told, %v", c.Bytes, err)
	}
	if want := (records.Bounds{Min: [3]float32{10, 0, 0}, Max: [3]float32{11, 1, 0}}); c.Bounds != want {
		t.Errorf("bounds %v", c.Bounds)
	}
	if diff := cmp.Diff([]string{"Sign"}, c.names()); diff != "" {
		t.Error(diff)
	}
	if s := c.r.String(c.f.Meshes[0].NameOffset); s != "SignMesh" {
		t.Errorf("the mesh is called %q", s)
	}
	half := func(u, v float32) [2]uint16 { return [2]uint16{vertex.Half(u), vertex.Half(v)} }
	z, x := vertex.PackNormal([3]float32{0, 0, 1}), vertex.PackTangent([4]float32{1, 0, 0, 1})
	want := []vertex.Vertex{
		{Position: [3]float32{10, 0, 0}, Normal: z, Tangent: x, UV0: half(0, 0), Color: [4]uint8{255, 128, 0, 255}},
		{Position: [3]float32{11, 0, 0}, Normal: z, Tangent: x, UV0: half(1, 0), Color: [4]uint8{0, 0, 0, 0}},
		{Position: [3]float32{11, 1, 0}, Normal: z, Tangent: x, UV0: half(1, 1), Color: [4]uint8{255, 255, 255, 255}},
		{Position: [3]float32{10, 1, 0}, Normal: z, Tangent: x, UV0: half(0, 1), Color: [4]uint8{255, 255, 255, 255}},
	}
	if diff := cmp.Diff(want, c.vertices(0)); diff != "" {
		t.Error(diff)
	}
	if h := c.r.Header(); h.FileType != format.FileTile || h.FormatVersion != 1 {
		t.Errorf("%+v", h)
	}
}

// TestConvertMirrored: a node with a negative scale keeps its front faces.
func TestConvertMirrored(t *testing.T) {
	d := &model{}
	d.node("Left", d.square(0))["scale"] = []float64{-1, 1, 1}
	d.node("Back", d.square(0))["scale"] = []float64{1, 1, -1}
	c := d.convert(t)
	for mesh, want := range []struct {
		z    float32
		sign float32
	}{{1, -1}, {-1, -1}} {
		v, idx := c.vertices(mesh), c.indices(mesh)
		for i := 0; i < len(idx); i += 3 {
			a, b, q := v[idx[i]].Position, v[idx[i+1]].Position, v[idx[i+2]].Position
			if nz := (b[0]-a[0])*(q[1]-a[1]) - (b[1]-a[1])*(q[0]-a[0]); nz*want.z <= 0 {
				t.Errorf("mesh %d: triangle %d faces %v", mesh, i/3, nz)
			}
		}
		if n := vertex.UnpackNormal(v[0].Normal); n != [3]float32{0, 0, want.z} {
			t.Errorf("mesh %d: normal %v", mesh, n)
		}
		if tan := vertex.UnpackTangent(v[0].Tangent); tan[3] != want.sign {
			t.Errorf("mesh %d: tangent %v", mesh, tan)
		}
	}
}

func TestConvertMultiMaterialNames(t *testing.T) {
	d := &model{}
	var prims []obj
	for i := range 3 {
		p := d.square(float32(2 * i))
		p["material"] = add(&d.materials, obj{"name": string(rune('A' + i))})
		prims = append(prims, p)
	}
	prims[1]["mode"] = 1 // lines are left out, the slots stay
	d.node("Car", prims...)
	d.node("Car", d.square(9))
	c := d.convert(t)
	if diff := cmp.Diff([]string{"Car_mat0", "Car_mat2", "Car"}, c.names()); diff != "" {
		t.Error(diff)
	}
	if c.note("renamed-objects") != 1 || c.Objects != 2 || c.Materials != 3 {
		t.Errorf("%+v", c.ConvertResult)
	}
}

// TestConvertSharedMesh: two nodes with one mesh, one mirrored, do not disturb
// each other.
func TestConvertSharedMesh(t *testing.T) {
	d := &model{}
	p := d.square(0)
	delete(attributes(p), "NORMAL")
	d.node("A", p)
	add(&d.nodes, obj{"name": "B", "mesh": 0, "scale": []float64{-2, 1, 1}})
	add(&d.nodes, obj{"name": "C", "mesh": 0})
	c := d.convert(t)
	if diff := cmp.Diff(c.vertices(0), c.vertices(2)); diff != "" {
		t.Errorf("A and C differ:\n%s", diff)
	}
	if b := c.f.Meshes[1].LocalBounds; b.Min != [3]float32{-2, 0, 0} || b.Max != [3]float32{0, 1, 0} {
		t.Errorf("bounds of B: %v", b)
	}
}

func TestConvertNothing(t *testing.T) {
	d := &model{}
	p := d.square(0)
	p["mode"] = 1
	d.node("Lines", p)
	d.node("Points", obj{"mode": 0, "attributes": obj{"POSITION": d.floats(3, 0, 0, 0)}})
	flat := &model{}
	q := flat.square(0)
	q["indices"] = flat.indices(0, 0, 1, 1, 2, 2)
	flat.node("Flat", q)
	for name, c := range map[string]*model{"lines and points": d, "degenerate": flat} {
		out := filepath.Join(t.TempDir(), "a", "b", "out.untold")
		_, err := Convert(context.Background(), c.save(t), out, ClassicOptions())
		var n *NothingError
		if !errors.Is(err, ErrNothing) || !errors.As(err, &n) || len(n.Notes) == 0 {
			t.Fatalf("%s: %v", name, err)
		}
		if s := err.Error(); strings.ContainsAny(s, "\n\r") || !strings.Contains(s, "nothing to cook") || !strings.Contains(s, " x ") {
			t.Errorf("%s: %q", name, s)
		}
		if _, err := os.Stat(filepath.Dir(filepath.Dir(out))); err == nil {
			t.Errorf("%s: folders were left behind", name)
		}
	}
	if s := (&NothingError{Path: "x.glb"}).Error(); s != "x.glb: nothing to cook: the scene has no triangles" {
		t.Error(s)
	}
}

// textured is a square with two textures.
func textured(base, glow obj) *model {
	d := &model{}
	p := d.square(0)
	p["material"] = add(&d.materials, obj{
		"pbrMetallicRoughness": obj{"baseColorTexture": obj{"index": d.texture(base)}},
		"emissiveTexture":      obj{"index": d.texture(glow)},
	})
	d.node("Box", p)
	return d
}

var red, green, blue = color.NRGBA{255, 0, 0, 255}, color.NRGBA{0, 255, 0, 255}, color.NRGBA{0, 0, 255, 255}

// TestConvertNamesTextures: models in one folder share its Textures, a file of other content
// is never overwritten, and what a container says does not depend on what lies there.
func TestConvertNamesTextures(t *testing.T) {
	alone, dir := t.TempDir(), t.TempDir()
	opts := ClassicOptions()
	models := map[string]string{}
	for name, base := range map[string]color.NRGBA{"a": red, "b": blue} {
		models[name] = textured(dataImage("wood", base), dataImage("glow", green)).save(t)
	}
	testfile.Write(t, filepath.Join(dir, texture.Folder, "wood.png"), "of somebody else")
	for _, name := range []string{"a", "b", "b"} { // the last one finds its own
		convertFile(t, models[name], filepath.Join(alone, name, name+".untold"), opts)
		convertFile(t, models[name], filepath.Join(dir, name+".untold"), opts)
	}
	want := map[string]string{"Textures/wood.png": "of somebody else"}
	for name := range models {
		for file, data := range testfile.ReadTree(t, filepath.Join(alone, name)) {
			want[file] = data
		}
	}
	if len(want) != 6 { // two containers, wood three times, glow once
		t.Errorf("%d files", len(want))
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(testfile.ReadTree(t, dir)))); diff != "" {
		t.Error(diff)
	}
	for name, data := range testfile.ReadTree(t, dir) {
		if want[name] != data {
			t.Errorf("%s differs from that of a folder of its own", name)
		}
	}
	if name := named("wood.png", red); want[name] != string(onePNG(red)) {
		t.Errorf("%s is not there, or another texture", name)
	}
	// Something else has the name.
	for _, put := range []func(path string) error{
		func(path string) error { return os.Mkdir(path, 0o755) },
		func(path string) error { return os.WriteFile(path, []byte("cut off"), 0o644) },
	} {
		dir := t.TempDir()
		there := filepath.Join(dir, named("wood.png", red))
		if err := errors.Join(os.Mkdir(filepath.Dir(there), 0o755), put(there)); err != nil {
			t.Fatal(err)
		}
		_, err := Convert(t.Context(), models["a"], filepath.Join(dir, "a.untold"), opts)
		if err == nil || !strings.Contains(err.Error(), there+" is there") {
			t.Errorf("%v", err)
		}
		if list, _ := os.ReadDir(dir); len(list) != 1 {
			t.Errorf("left behind: %v", list)
		}
	}
}

// named returns the uri of a picture of one colour.
func named(name string, c color.NRGBA) string {
	return texture.Folder + "/" + texture.ContentName(name, onePNG(c))
}

// TestConvertReplacesTextures: what the container named before and nobody names any more goes,
// and all else stays.
func TestConvertReplacesTextures(t *testing.T) {
	dir := t.TempDir()
	opts := ClassicOptions()
	a, b := filepath.Join(dir, "a.untold"), filepath.Join(dir, "b.untold")
	convertFile(t, textured(dataImage("wood", red), dataImage("glow", green)).save(t), a, opts)
	convertFile(t, textured(dataImage("stone", blue), dataImage("glow", green)).save(t), b, opts)
	testfile.Write(t, filepath.Join(dir, texture.Folder, "mine.png"), "of somebody else")
	names := func() string {
		var out []string
		for name := range testfile.ReadTree(t, filepath.Join(dir, texture.Folder)) {
			out = append(out, name)
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	list := func(names ...string) string {
		colors := map[string]color.NRGBA{"brick": red, "slate": red, "stone": blue, "dim": green, "glow": green}
		for i, name := range names {
			if c, ok := colors[name]; ok {
				names[i] = path.Base(named(name+".png", c))
			}
		}
		return strings.Join(names, " ")
	}
	convertFile(t, textured(dataImage("brick", red), dataImage("dim", green)).save(t), a, opts)
	if got, want := names(), list("brick", "dim", "glow", "mine.png", "stone"); got != want {
		t.Errorf("textures %s, want %s", got, want)
	}
	convertFile(t, textured(dataImage("brick", red), dataImage("dim", green)).save(t), b, opts)
	if got, want := names(), list("brick", "dim", "mine.png"); got != want {
		t.Errorf("textures %s, want %s", got, want)
	}
	// One that is at work may be about to name them.
	stage := filepath.Join(dir, journal.Folder, journal.StagePrefix+"1000001")
	if err := os.MkdirAll(stage, 0o755); err != nil {
		t.Fatal(err)
	}
	release, _, err := holding.Folder(stage)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	convertFile(t, textured(dataImage("slate", red), dataImage("dim", green)).save(t), b, opts)
	convertFile(t, textured(dataImage("slate", red), dataImage("dim", green)).save(t), a, opts)
	if got, want := names(), list("brick", "dim", "mine.png", "slate"); got != want {
		t.Errorf("textures %s, want %s", got, want)
	}
}

// TestConvertKeepsTexturesOfModels: a model may lie in the folder of its container, and its
// textures in Textures.
func TestConvertKeepsTexturesOfModels(t *testing.T) {
	textures := func(dir string) string {
		var out []string
		for name := range testfile.ReadTree(t, filepath.Join(dir, texture.Folder)) {
			out = append(out, name)
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	opts := ClassicOptions()
	// The names that a conversion gives, too.
	wood, glow := path.Base(named("wood.png", red)), path.Base(named("glow.png", green))
	again := textured(dataImage("brick", green), dataImage("dim", blue))
	file := func(name string) obj { return obj{"uri": texture.Folder + "/" + name} }
	for name, prepare := range map[string]func(dir string) (model string){
		"its own": func(dir string) string {
			return textured(file(wood), file(glow)).saveAs(t, filepath.Join(dir, "a.gltf"))
		},
		"another": func(dir string) string {
			testfile.Write(t, filepath.Join(dir, "b.USDA"), "#usda 1.0\n")
			return again.save(t)
		},
		"a damaged container": func(dir string) string {
			testfile.Write(t, filepath.Join(dir, "b.untold"), "UNTO")
			return again.save(t)
		},
	} {
		dir := t.TempDir()
		testfile.Write(t, filepath.Join(dir, texture.Folder, wood), string(onePNG(red)))
		testfile.Write(t, filepath.Join(dir, texture.Folder, glow), string(onePNG(green)))
		out := filepath.Join(dir, "a.untold")
		convertFile(t, textured(dataImage("wood", red), dataImage("glow", green)).save(t), out, opts)
		model := prepare(dir)
		compressed := opts
		compressed.Textures = texture.ModeBC
		convertFile(t, model, out, compressed)
		if got := textures(dir); !strings.Contains(got, wood) || !strings.Contains(got, glow) {
			t.Errorf("%s: only %s is left", name, got)
		}
	}
	// The images of a model elsewhere.
	dir := t.TempDir()
	in := filepath.Join(dir, "a.gltf")
	testfile.Write(t, filepath.Join(dir, "out", texture.Folder, wood), string(onePNG(red)))
	testfile.Write(t, filepath.Join(dir, "out", texture.Folder, glow), string(onePNG(green)))
	below := func(name string) obj { return obj{"uri": "out/" + texture.Folder + "/" + name} }
	textured(below(wood), below(glow)).saveAs(t, in)
	out := filepath.Join(dir, "out", "a.untold")
	convertFile(t, in, out, opts)
	opts.Textures = texture.ModeBC
	convertFile(t, in, out, opts)
	if got := textures(filepath.Join(dir, "out")); !strings.Contains(got, wood) || !strings.Contains(got, glow) {
		t.Errorf("only %s is left", got)
	}
}

// TestConvertNameIsTaken: what a texture becomes may be what another one of the same model
// is called.
func TestConvertNameIsTaken(t *testing.T) {
	for _, first := range []bool{true, false} {
		dir := t.TempDir()
		images := []obj{dataImage("wood", blue), dataImage(path.Base(named("wood.png", blue)), red)}
		if !first {
			slices.Reverse(images)
		}
		c := convertFile(t, textured(images[0], images[1]).save(t), filepath.Join(dir, "a.untold"), ClassicOptions())
		m, disk := c.f.Materials[0], testfile.ReadTree(t, dir)
		base, glow := c.uri(m.BaseColorTexture), c.uri(m.EmissiveTexture)
		if !first {
			base, glow = glow, base
		}
		if disk[base] != string(onePNG(blue)) || disk[glow] != string(onePNG(red)) || base != named("wood.png", blue) || len(disk) != 3 {
			t.Errorf("%s and %s were mixed up", base, glow)
		}
	}
}

func TestConvertTextureFailures(t *testing.T) {
	good := dataImage("good", green)
	dds := obj{"name": "dds", "uri": "data:image/vnd-ms.dds;base64,RERTIHw="}
	c := textured(dds, good).convert(t)
	if m := c.f.Materials[0]; m.BaseColorTexture != records.NoIndex || c.uri(m.EmissiveTexture) != named("good.png", green) || c.note("texture-format-skipped") != 1 {
		t.Errorf("a format that cannot be staged: %+v", m)
	}
	dir := t.TempDir()
	damaged := obj{"name": "bad", "uri": "data:image/png;base64,iVBORw0KGgoAAAAN"}
	_, err := Convert(context.Background(), textured(good, damaged).save(t), filepath.Join(dir, "new", "a.untold"), ClassicOptions())
	if !errors.Is(err, texture.ErrDamaged) || !strings.Contains(err.Error(), "model.gltf: images[1] (bad)") {
		t.Errorf("%v", err)
	}
	if list := testfile.ReadTree(t, dir); len(list) != 0 {
		t.Errorf("left behind: %v", list)
	}
}

// TestConvertFailuresLeaveNothing breaks the writing at many points, into a
// new folder and over an older conversion.
func TestConvertFailuresLeaveNothing(t *testing.T) {
	in := textured(dataImage("wood", red), dataImage("glow", green)).save(t)
	base := t.TempDir()
	opts := ClassicOptions()
	good := convertFile(t, in, filepath.Join(base, "good", "a.untold"), opts)
	before := testfile.ReadTree(t, filepath.Join(base, "good"))
	other := textured(dataImage("wood", blue), dataImage("other", green)).save(t)
	for _, room := range []int{0, 1, 203, 204, 1000, int(good.Bytes) - 1} {
		left := room
		opts.wrap = func(w io.Writer) io.Writer { return &fullDisk{w, &left} }
		if _, err := Convert(context.Background(), in, filepath.Join(base, "new", "deep", "a.untold"), opts); !errors.Is(err, errFull) {
			t.Errorf("room for %d bytes: %v", room, err)
		}
		if _, err := os.Stat(filepath.Join(base, "new")); err == nil {
			t.Errorf("room for %d bytes: folders were left behind", room)
		}
		left = room
		if _, err := Convert(context.Background(), other, filepath.Join(base, "good", "a.untold"), opts); !errors.Is(err, errFull) {
			t.Errorf("over an older file: %v", err)
		}
		if diff := cmp.Diff(before, testfile.ReadTree(t, filepath.Join(base, "good"))); diff != "" {
			t.Errorf("room for %d bytes: the older file changed", room)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Convert(ctx, in, filepath.Join(base, "new", "a.untold"), ClassicOptions()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	// Cancelled while textures are staged: the container's writer comes later.
	ctx, cancel = context.WithCancel(context.Background())
	opts.wrap = func(w io.Writer) io.Writer { cancel(); return w }
	if _, err := Convert(ctx, in, filepath.Join(base, "new", "a.untold"), opts); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled late: %v", err)
	}
	for _, e := range must(os.ReadDir(filepath.Join(base, "good"))) {
		if strings.HasPrefix(e.Name(), ".untold") {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestConvertBadOutput(t *testing.T) {
	in := textured(dataImage("wood", red), dataImage("glow", green)).save(t)
	dir := t.TempDir()
	blocked := filepath.Join(dir, "blocked")
	if err := os.MkdirAll(blocked, 0o755); err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, filepath.Join(blocked, "Textures"), "a file")
	before := testfile.ReadTree(t, dir)
	source := must(os.ReadFile(in))
	sep := string(filepath.Separator)
	for _, out := range []string{
		"", ".", "..", dir, dir + sep, filepath.Join(dir, "x") + sep, dir + sep + "x" + sep + "..", in,
		filepath.Join(in, "x.untold"),                   // below a file
		filepath.Join(blocked, "a.untold"),              // a file where Textures should be
		filepath.Join(dir, "new", texture.Folder),       // the folder's own name
		filepath.Join(dir, "deep", "a\x00", "a.untold"), // no such name can exist
	} {
		if _, err := Convert(context.Background(), in, out, ClassicOptions()); err == nil {
			t.Errorf("output %q was accepted", out)
		}
	}
	if diff := cmp.Diff(before, testfile.ReadTree(t, dir)); diff != "" {
		t.Error(diff)
	}
	for _, e := range must(os.ReadDir(dir)) {
		if e.Name() != "blocked" {
			t.Errorf("%s was left behind", e.Name())
		}
	}
	if string(must(os.ReadFile(in))) != string(source) {
		t.Error("the model was changed")
	}
}

func TestConvertOutOfRange(t *testing.T) {
	d := &model{}
	d.node("Far", d.square(0))["scale"] = []float64{1e39, 1, 1}
	_, err := Convert(context.Background(), d.save(t), filepath.Join(t.TempDir(), "a.untold"), ClassicOptions())
	if !errors.Is(err, ErrBadInput) || !strings.Contains(err.Error(), "nodes[0] (Far)") {
		t.Errorf("%v", err)
	}
	far := &model{}
	p := far.square(0)
	attributes(p)["TEXCOORD_0"] = far.floats(2, 0, 0, 1e6, 0, 1e6, math.MaxFloat32, 0, 0)
	far.node("Wide", p)
	if n := far.convert(t).note("uv-clamped"); n != 2 {
		t.Errorf("%d coordinates were clamped, want 2", n)
	}
}

// TestConvertTextureTransformPicture draws the sample that was made to find
// wrong transforms: each arrow's tip must be at its green marker.
func TestConvertTextureTransformPicture(t *testing.T) {
	path := filepath.Join("..", "..", "shared", "assets", "features", "TextureTransformTest", "TextureTransformTest.gltf")
	if _, err := os.Stat(path); err != nil {
		t.Skip("the shared assets are absent: ", err)
	}
	c := convertFile(t, path, filepath.Join(t.TempDir(), "x.untold"), unmerged())
	// The tiles that show a tick in the right colour.
	for name, want := range map[string]color.NRGBA{"Offset U": {0, 192, 0, 255}, "Offset V": {0, 0, 192, 255}, "Offset UV": {0, 192, 192, 255}} {
		b := entityBox(c, name)
		img := picture(t, c.Path, b[0], b[1], 32, func(n string) bool { return n == name })
		if got := img.NRGBAAt(4, 27); !near(got, want) {
			t.Errorf("%s: the corner is %v, want %v", name, got, want)
		}
	}
	for name, marker := range map[string]string{"Rotation": "Rotation - Correct", "Scale": "Scale - Correct", "All": "All - Correct"} {
		const size = 128
		b, m := entityBox(c, name), entityBox(c, marker)
		img := picture(t, c.Path, b[0], b[1], size, func(n string) bool { return n == name })
		// From the marker inwards there is nothing; just before it, the tip.
		cx, cy := (m[0][0]+m[1][0])/2, (m[0][1]+m[1][1])/2
		best := math.Inf(1)
		for y := range size {
			for x := range size {
				if img.NRGBAAt(x, y).R < 64 && img.NRGBAAt(x, y).A > 0 {
					wx := b[0][0] + (b[1][0]-b[0][0])*(float64(x)+.5)/size
					wy := b[1][1] - (b[1][1]-b[0][1])*(float64(y)+.5)/size
					best = min(best, math.Hypot(wx-cx, wy-cy))
				}
			}
		}
		if best > 0.15 || best < 0.01 {
			t.Errorf("%s: the arrow ends %v from its marker", name, best)
		}
	}
}

func near(a, b color.NRGBA) bool {
	d := func(x, y uint8) bool { return max(x, y)-min(x, y) < 24 }
	return d(a.R, b.R) && d(a.G, b.G) && d(a.B, b.B)
}

// entityBox returns the x-y box of the first entity with a name.
func entityBox(c *cooked, name string) [2][2]float64 {
	b := c.f.Entities[slices.Index(c.names(), name)].WorldBounds
	return [2][2]float64{{float64(b.Min[0]), float64(b.Min[1])}, {float64(b.Max[0]), float64(b.Max[1])}}
}
