package diff

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/internal/testfile"
)

// patch is an object of a test: a bumpy square of 1 m in a place, 2 k k triangles.
type patch struct {
	name, mesh, material string
	k                    int
	at                   [3]float32
	color                uint8
	uv                   float32
	turned               bool // clockwise
	reversed             bool // the triangles in the opposite order, each begun elsewhere
	transform            geom.Mat4
	bump                 float32
	like                 int // 1 and more: an instance of that object, counted from 1
}

func (p patch) vertices() []vertex.Vertex {
	var out []vertex.Vertex
	for i := range (p.k + 1) * (p.k + 1) {
		u, v := float32(i%(p.k+1))/float32(p.k), float32(i/(p.k+1))/float32(p.k)
		out = append(out, vertex.Vertex{
			Position: [3]float32{p.at[0] + u, p.at[1] + (0.1+p.bump)*float32(math.Sin(float64(5*u+3*v))), p.at[2] + v},
			Normal:   vertex.PackNormal([3]float32{u / 10, 1, v / 10}), Tangent: vertex.PackTangent([4]float32{1, 0, 0, 1}),
			UV0: [2]uint16{vertex.Half(u + p.uv), vertex.Half(v)}, Color: [4]uint8{255, p.color, 255, 255},
		})
	}
	return out
}

func (p patch) indices() []uint32 {
	var out []uint32
	for i := range p.k * p.k {
		a := uint32(i/p.k*(p.k+1) + i%p.k)
		w := uint32(p.k + 1)
		t := []uint32{a, a + w, a + 1, a + 1, a + w, a + w + 1}
		if p.turned {
			t[1], t[2], t[4], t[5] = t[2], t[1], t[5], t[4]
		}
		out = append(out, t...)
	}
	if p.reversed {
		slices.Reverse(out)
		for i := 0; i < len(out); i += 3 { // reversed twice: only begun elsewhere
			out[i], out[i+1] = out[i+1], out[i]
		}
	}
	return out
}

// look is what the materials of tests have.
type look struct {
	color   float32
	texture string
}

func blank(l look, b *format.Builder) records.Material {
	m := records.Material{
		BaseColor: [4]float32{l.color, 1, 1, 1}, NormalScale: 1, Roughness: 1, OcclusionStrength: 1, AlphaCutoff: 0.5,
		BaseColorTexture: records.NoIndex, NormalTexture: records.NoIndex, MetallicTexture: records.NoIndex,
		RoughnessTexture: records.NoIndex, EmissiveTexture: records.NoIndex, OcclusionTexture: records.NoIndex,
	}
	if l.texture != "" {
		m.BaseColorTexture = b.AddTexture(l.texture, l.texture, records.Texture{Width: 4, Height: 4, MipCount: 1})
	}
	return m
}

// build makes a container of patches; looks are those of the materials, by name.
func build(t testing.TB, looks map[string]look, mode format.CompressMode, list ...patch) []byte {
	t.Helper()
	b := format.NewBuilder(format.FileTile)
	for _, p := range list {
		m := records.NoIndex
		if p.material != "" {
			m = b.AddMaterial(p.material, blank(looks[p.material], b))
		}
		if p.transform == (geom.Mat4{}) {
			p.transform = geom.Identity()
		}
		o := format.Object{Name: p.name, MeshName: p.mesh, Material: m}
		for i, v := range p.transform {
			o.Transform[i] = float32(v)
		}
		var err error
		if p.like > 0 {
			err = b.AddInstance(p.like-1, o)
		} else {
			o.Vertices, o.Indices = vertex.Append(nil, p.vertices()), p.indices()
			err = b.AddObject(o)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	out, err := b.File().Encode(format.WriteOptions{Compress: mode})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func save(t testing.TB, dir, name string, data []byte) string {
	t.Helper()
	return testfile.Write(t, filepath.Join(dir, name), data)
}

func compare(t testing.TB, a, b string, o Options) *Result {
	t.Helper()
	r, err := Compare(context.Background(), a, b, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// mirror swaps A and B in a result.
func mirror(r *Result) *Result {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		panic(err)
	}
	text, err = json.Marshal(mirrorValue(tree))
	if err != nil {
		panic(err)
	}
	out := &Result{}
	if err := json.Unmarshal(text, out); err != nil {
		panic(err)
	}
	sortMoves(reflect.ValueOf(out))
	return out
}

// sortMoves orders moves as they are in a result: vectors as long as each other may
// change places in a mirror.
func sortMoves(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			sortMoves(v.Elem())
		}
	case reflect.Slice:
		if list, ok := v.Interface().([]Move); ok {
			slices.SortFunc(list, compareMoves)
			return
		}
		for i := range v.Len() {
			sortMoves(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				sortMoves(v.Field(i))
			}
		}
	}
}

func mirrorValue(v any) any {
	switch x := v.(type) {
	case []any:
		for i := range x {
			x[i] = mirrorValue(x[i])
		}
	case map[string]any:
		out := map[string]any{}
		for k, e := range x {
			e = mirrorValue(e)
			switch k {
			case "a", "b":
				k = map[string]string{"a": "b", "b": "a"}[k]
			case "added", "removed":
				k = map[string]string{"added": "removed", "removed": "added"}[k]
			case "to_other_meshes", "from_other_meshes":
				k = map[string]string{"to_other_meshes": "from_other_meshes", "from_other_meshes": "to_other_meshes"}[k]
			case "change":
				if y, ok := map[string]string{"added": "removed", "removed": "added"}[e.(string)]; ok {
					e = y
				}
			case "side":
				e = map[string]string{"a": "b", "b": "a"}[e.(string)]
			case "by":
				if l, ok := e.([]any); ok {
					for i := range l {
						l[i] = 0 - l[i].(float64)
					}
				}
			}
			out[k] = e
		}
		return out
	}
	return v
}

// plain is a result as JSON reads it back, without what need not be mirrored: names
// of records are those of B.
func plain(r *Result) *Result {
	out := mirror(mirror(r))
	strip := func(p *Payload) {
		if p == nil {
			return
		}
		for _, list := range [][]Record{p.Entities, p.Meshes} {
			for i := range list {
				list[i].Name, list[i].Entity, list[i].Material = "", "", ""
			}
			slices.SortFunc(list, func(x, y Record) int {
				return 2*min(max(x.A-y.A, -1), 1) + min(max(x.B-y.B, -1), 1)
			})
		}
	}
	for _, list := range [][]Item{out.Items, out.NodeItems} {
		for i := range list {
			strip(list[i].Payload)
			for k := range list[i].Levels {
				strip(list[i].Levels[k].Payload)
			}
		}
	}
	return out
}

// checkSums holds the counts of a result against each other.
func checkSums(t interface{ Errorf(string, ...any) }, r *Result) {
	for i := range r.Items {
		p := r.Items[i].Payload
		if p == nil || p.Triangles == nil {
			continue
		}
		c := p.Triangles
		if both := c.Same + c.Changed + c.Moved; both+c.Removed != p.Counts.A || both+c.Added != p.Counts.B {
			t.Errorf("%s: %+v of %+v triangles", r.Items[i].ID, c, p.Counts)
		}
		var moved int64
		for _, v := range c.Moves {
			moved += v.Triangles
		}
		if moved != c.Moved {
			t.Errorf("%s: moves of %d triangles, %d moved", r.Items[i].ID, moved, c.Moved)
		}
	}
}

func shifted(x, y, z float64) geom.Mat4 {
	m := geom.Identity()
	m[12], m[13], m[14] = x, y, z
	return m
}

// TestTriangles compares two containers that differ in one way.
func TestTriangles(t *testing.T) {
	looks := map[string]look{"Wood": {color: 0.5}, "Stone": {color: 0.2}}
	floor := patch{name: "Floor", mesh: "floor", material: "Stone", k: 4, at: [3]float32{-1, 0, 5}}
	chair := patch{name: "Chair", mesh: "chair", material: "Wood", k: 3, at: [3]float32{2, 1, 0}, bump: 0.05}
	edit := func(p patch, f func(p *patch)) patch {
		f(&p)
		return p
	}
	n := int64(18)   // triangles of the chair
	all := int64(50) // with the floor
	for _, c := range []struct {
		name      string
		a, b      []patch
		tolerance float64
		want      Triangles
	}{
		{"reordered", []patch{floor, chair}, []patch{chair, edit(floor, func(p *patch) { p.reversed = true })}, 0, Triangles{Same: all}},
		{
			"moved",
			[]patch{floor, chair},
			[]patch{floor, edit(chair, func(p *patch) { p.at = [3]float32{7.25, 1, -3} })},
			0,
			Triangles{Same: all - n, Moved: n, Moves: []Move{{&[3]float64{5.25, 0, -3}, n}}},
		},
		{
			"moved by a matrix",
			[]patch{floor, chair},
			[]patch{floor, edit(chair, func(p *patch) { p.transform = shifted(1.5, 0, 0) })},
			0,
			Triangles{Same: all - n, Moved: n, Moves: []Move{{&[3]float64{1.5, 0, 0}, n}}},
		},
		{
			"turned",
			[]patch{floor, chair},
			[]patch{floor, edit(chair, func(p *patch) { p.transform = geom.TRS(geom.Vec3{}, [4]float64{0, 1, 0, 1}, geom.Vec3{1, 1, 1}) })},
			0,
			Triangles{Same: all - n, Moved: n, Moves: []Move{{nil, n}}},
		},
		{"removed", []patch{floor, chair}, []patch{floor}, 0, Triangles{Same: all - n, Removed: n}},
		{"added", []patch{floor}, []patch{floor, chair}, 0, Triangles{Same: all - n, Added: n}},
		{
			"other colours",
			[]patch{floor, chair},
			[]patch{floor, edit(chair, func(p *patch) { p.color = 9 })},
			0,
			Triangles{Same: all - n, Changed: n, Attributes: Attributes{Colors: n}},
		},
		{
			"other texture coordinates",
			[]patch{floor, chair},
			[]patch{floor, edit(chair, func(p *patch) { p.uv = 0.5 })},
			0,
			Triangles{Same: all - n, Changed: n, Attributes: Attributes{UV0: n}},
		},
		{
			"other material",
			[]patch{floor, chair},
			[]patch{floor, edit(chair, func(p *patch) { p.material = "Stone" })},
			0,
			Triangles{Same: all - n, Changed: n, Attributes: Attributes{Material: n}},
		},
		{
			"turned over",
			[]patch{floor, chair},
			[]patch{floor, edit(chair, func(p *patch) { p.turned = true })},
			0,
			Triangles{Same: all - n, Changed: n, Attributes: Attributes{Winding: n}},
		},
		{
			"another shape",
			[]patch{floor, chair},
			[]patch{floor, edit(chair, func(p *patch) { p.bump = 0.2 })},
			0,
			Triangles{Same: all - n, Added: n, Removed: n},
		},
		{
			"moved and repainted",
			[]patch{floor, chair},
			[]patch{floor, edit(chair, func(p *patch) { p.at[0], p.color = 9, 9 })},
			0,
			Triangles{Same: all - n, Added: n, Removed: n},
		},
		{"within the tolerance", []patch{floor, chair}, []patch{floor, edit(chair, func(p *patch) { p.at[0] += 0.0009 })}, 0.001, Triangles{Same: all}},
		{"within the tolerance, by a matrix", []patch{floor, chair}, []patch{floor, edit(chair, func(p *patch) { p.transform = shifted(0.0009, 0, 0) })}, 0.001, Triangles{Same: all}},
		{
			"beyond the tolerance",
			[]patch{floor, chair},
			[]patch{floor, edit(chair, func(p *patch) { p.at[0] += 0.25 })},
			0.001,
			Triangles{Same: all - n, Moved: n, Moves: []Move{{&[3]float64{0.25, 0, 0}, n}}},
		},
		{
			"within the tolerance and repainted",
			[]patch{floor, chair},
			[]patch{floor, edit(chair, func(p *patch) { p.at[0], p.color = 2.0009, 9 })},
			0.001,
			Triangles{Same: all - n, Changed: n, Attributes: Attributes{Colors: n}},
		},
		{
			"instances that change places",
			[]patch{floor, chair, edit(chair, func(p *patch) { p.like, p.name, p.transform = 2, "C2", shifted(5, 0, 0) })},
			[]patch{floor, edit(chair, func(p *patch) { p.transform = shifted(5, 0, 0) }), edit(chair, func(p *patch) { p.like, p.name = 2, "C2" })},
			0,
			Triangles{Same: all + n},
		},
		{
			"an instance more",
			[]patch{floor, chair},
			[]patch{floor, chair, edit(chair, func(p *patch) { p.like, p.transform = 2, shifted(5, 0, 0) })},
			0,
			Triangles{Same: all, Added: n},
		},
		{
			"baked",
			[]patch{floor, edit(chair, func(p *patch) { p.transform = shifted(5, 0, 0) })},
			[]patch{floor, edit(chair, func(p *patch) { p.at[0] += 5 })},
			1e-5,
			Triangles{Same: all},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			a := save(t, dir, "a.untold", build(t, looks, format.ModeNone, c.a...))
			b := save(t, dir, "b.untold", build(t, looks, format.ModeLZ4, c.b...))
			o := Options{Tolerance: c.tolerance}
			r := compare(t, a, b, o)
			if d := cmp.Diff(c.want, r.Triangles); d != "" {
				t.Error(d)
			}
			checkSums(t, r)
			if d := cmp.Diff(plain(mirror(r)), plain(compare(t, b, a, o))); d != "" {
				t.Error("not the mirror image:", d)
			}
			for _, x := range []string{a, b} {
				if r := compare(t, x, x, o); r.Differ || len(r.Items) > 0 {
					t.Errorf("%s differs from itself: %+v", x, r)
				}
			}
		})
	}
}

// TestRecords: what differs besides triangles has its name.
func TestRecords(t *testing.T) {
	dir := t.TempDir()
	chair := patch{name: "Chair", mesh: "chair", material: "Wood", k: 3}
	renamed := chair
	renamed.name, renamed.mesh = "Stool", "stool"
	a := save(t, dir, "a.untold", build(t, map[string]look{"Wood": {0.5, "wood.png"}}, format.ModeNone, chair))
	b := save(t, dir, "b.untold", build(t, map[string]look{"Wood": {0.25, "oak.png"}}, format.ModeNone, renamed))
	save(t, dir, "wood.png", []byte("wood"))
	r := compare(t, a, b, Options{})
	want := []Field{{Key: "base_color", A: []any{float32(0.5), float32(1), float32(1), float32(1)}, B: []any{float32(0.25), float32(1), float32(1), float32(1)}}, {Key: "base_color_texture", A: "wood.png", B: "oak.png"}}
	if d := cmp.Diff([]Material{{Name: "Wood", Change: Changed, Fields: want, Files: Pair{1, 1}}}, r.Materials); d != "" {
		t.Error(d)
	}
	textures := []Texture{
		{URI: "oak.png", Change: Added, Content: true, Bytes: Pair{-1, -1}},
		{URI: "wood.png", Change: Removed, Content: true, Bytes: Pair{4, -1}},
	}
	if d := cmp.Diff(textures, r.Textures); d != "" {
		t.Error(d)
	}
	p := r.Items[0].Payload
	if p.Triangles.differ() || p.Triangles.Same != 18 {
		t.Errorf("%+v", p.Triangles)
	}
	name := func(from, to string) []Field { return []Field{{Key: "name", A: from, B: to}} }
	if d := cmp.Diff([]Record{{Name: "stool", Change: Changed, Entity: "Stool", Material: "Wood", Fields: name("chair", "stool")}}, p.Meshes); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Record{{Name: "Stool", Change: Changed, Fields: name("Chair", "Stool")}}, p.Entities); d != "" {
		t.Error(d)
	}
	var chunks []string
	for _, c := range p.Chunks {
		chunks = append(chunks, c.Name)
	}
	if d := cmp.Diff([]string{"STRING_TABLE", "ENTITY_TABLE", "MESH_TABLE", "MATERIAL_TABLE"}, chunks); d != "" {
		t.Error(d)
	}
}

// TestTextureContent: containers with the same bytes whose textures are others.
func TestTextureContent(t *testing.T) {
	data := build(t, map[string]look{"Wood": {0.5, "wood.png"}}, format.ModeNone, patch{name: "Chair", material: "Wood", k: 1})
	x, y := t.TempDir(), t.TempDir()
	a, b := save(t, x, "a.untold", data), save(t, y, "a.untold", data)
	save(t, x, "wood.png", []byte("wood"))
	r := compare(t, a, b, Options{})
	if d := cmp.Diff([]Texture{{URI: "wood.png", Change: Changed, Content: true, Bytes: Pair{4, -1}}}, r.Textures); d != "" || !r.Differ {
		t.Error(d)
	}
	save(t, y, "wood.png", []byte("oaks"))
	r = compare(t, a, b, Options{})
	if d := cmp.Diff([]Texture{{URI: "wood.png", Change: Changed, Content: true, Bytes: Pair{4, 4}}}, r.Textures); d != "" || !r.Differ {
		t.Error(d)
	}
	if r := compare(t, a, b, Options{Only: []string{PartTiles, PartMaterials}}); r.Differ {
		t.Errorf("textures were not asked for: %+v", r)
	}
	save(t, y, "wood.png", []byte("wood"))
	if r = compare(t, a, b, Options{}); r.Differ || r.A.Textures != 1 || r.A.TextureBytes != 4 {
		t.Errorf("%+v", r)
	}
}

// TestTextureEscapes: names of textures that lead elsewhere are not opened.
func TestTextureEscapes(t *testing.T) {
	dir := t.TempDir()
	save(t, dir, "secret.png", []byte("secret"))
	in := filepath.Join(dir, "in")
	data := func(color float32) []byte {
		return build(t, map[string]look{"Wood": {color, "../secret.png"}}, format.ModeNone, patch{name: "Chair", material: "Wood", k: 1})
	}
	testfile.WriteTree(t, in, map[string]string{"a.untold": string(data(0.5)), "b.untold": string(data(0.25))})
	r := compare(t, filepath.Join(in, "a.untold"), filepath.Join(in, "b.untold"), Options{})
	if len(r.Textures) != 0 || r.A.TextureBytes != 0 || len(r.Materials) != 1 {
		t.Errorf("%+v", r)
	}
}

// TestOverlap: records that name the same bytes many times over cost no more than
// the file is worth.
func TestOverlap(t *testing.T) {
	dir := t.TempDir()
	hostile := func(shift uint64, n int) []byte {
		r, err := format.NewBytesReader(build(t, nil, format.ModeNone, patch{name: "Big", k: 150}))
		if err != nil {
			t.Fatal(err)
		}
		f, err := r.ToFile()
		if err != nil {
			t.Fatal(err)
		}
		m := f.Meshes[0]
		f.Meshes = nil
		for i := range n {
			c := m
			if c.VertexCount -= uint32(i); shift > 0 {
				c.VertexSize -= uint64(i) * vertex.Size
			} else {
				c.VertexCount = m.VertexCount
			}
			c.IndexCount, c.IndexSize = 3, 6
			if shift == 0 {
				c.IndexCount, c.IndexSize = m.IndexCount, m.IndexSize
			}
			f.Meshes = append(f.Meshes, c)
		}
		f.Entities[0].MeshCount = uint32(n)
		out, err := f.Encode(format.WriteOptions{Compress: format.ModeNone})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	chair := save(t, dir, "chair.untold", build(t, nil, format.ModeNone, patch{name: "Chair", k: 2}))
	a := save(t, dir, "a.untold", hostile(1, 200))
	if _, err := Compare(context.Background(), a, chair, Options{}); !errors.Is(err, ErrOverlap) {
		t.Errorf("shifted ranges: %v", err)
	}
	n := 20_000 // 900 million triangles in 4 MB
	if race.Enabled {
		n = 2000 // make test has all of them without the detector
	}
	many := save(t, dir, "many.untold", hostile(0, n))
	r := compare(t, many, chair, Options{})
	if p := r.Items[0].Payload.Triangles; !p.Unmatched || p.Removed != int64(n)*45_000 || p.Added != 8 {
		t.Errorf("%+v", p)
	}
	checkSums(t, r)
}

// TestGeometryIsLetGo: what is told of a payload does not keep its geometry.
func TestGeometryIsLetGo(t *testing.T) {
	big := patch{name: "Big", k: 150}
	other := big
	other.color = 7
	a, b := build(t, nil, format.ModeLZ4, big), build(t, nil, format.ModeLZ4, other)
	live := func() int64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&s)
		return int64(s.HeapAlloc)
	}
	n := int64(6)
	if race.Enabled {
		n = 2 // make test compares all without the detector
	}
	var kept []*Payload
	before := live()
	for range n {
		x, err := format.NewBytesReader(a)
		if err != nil {
			t.Fatal(err)
		}
		y, err := format.NewBytesReader(b)
		if err != nil {
			t.Fatal(err)
		}
		p, err := compareReaders(x, y, &Options{})
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, p)
	}
	if each := (live() - before) / n; each > 100<<10 { // the geometry takes 2 MB
		t.Errorf("%d bytes are kept of each payload", each)
	}
	runtime.KeepAlive(kept)
}

// TestContainerProperties: whatever two containers hold, the counts add up, and the
// other way round gives the mirror image.
func TestContainerProperties(t *testing.T) {
	dir := t.TempDir()
	draw := rapid.Custom(func(t *rapid.T) patch {
		at := func() float32 { return float32(rapid.IntRange(0, 3).Draw(t, "at")) * 2.3 }
		p := patch{
			name: rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "name"), mesh: rapid.SampledFrom([]string{"m", "n"}).Draw(t, "mesh"),
			material: rapid.SampledFrom([]string{"", "Wood", "Stone"}).Draw(t, "material"), k: rapid.IntRange(1, 2).Draw(t, "k"),
			at: [3]float32{at(), at(), 0}, color: uint8(rapid.IntRange(0, 1).Draw(t, "color")), turned: rapid.Bool().Draw(t, "turned"),
		}
		if rapid.IntRange(0, 3).Draw(t, "matrix") == 0 {
			p.transform = shifted(2.3, 0, 0)
		}
		return p
	})
	rapid.Check(t, func(rt *rapid.T) {
		file := func(name string) string {
			looks := map[string]look{"Wood": {color: float32(rapid.IntRange(0, 1).Draw(rt, "wood"))}}
			return save(t, dir, name, build(t, looks, format.ModeNone, rapid.SliceOfN(draw, 0, 6).Draw(rt, name)...))
		}
		a, b := file("a.untold"), file("b.untold")
		o := Options{Tolerance: rapid.SampledFrom([]float64{0, 0.01}).Draw(rt, "tolerance")}
		r, back := compare(t, a, b, o), compare(t, b, a, o)
		checkSums(rt, r)
		if d := cmp.Diff(mirror(r).Triangles, back.Triangles); d != "" {
			rt.Errorf("not the mirror image: %s", d)
		}
		if d := cmp.Diff(mirror(r).Materials, plain(back).Materials); d != "" {
			rt.Errorf("not the mirror image: %s", d)
		}
		if r.Differ != back.Differ {
			rt.Errorf("%v, the other way round %v", r.Differ, back.Differ)
		}
	})
}
