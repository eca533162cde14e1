package meshfile

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/gltfdoc"
	"github.com/untoldkit/untold/cook/internal/triangulate"
	"github.com/untoldkit/untold/internal/scratch"
)

// pieceTriangles is how many triangles an object may have to stay whole, and twice what
// its pieces have.
const pieceTriangles = 1 << 17

func (o *Options) pieceLimit() int64 {
	if o.piece > 0 {
		return int64(o.piece)
	}
	return pieceTriangles
}

// triangle is a face of three corners.
type triangle struct {
	corners [3]corner
	faceState
}

// builder makes a glTF scene of a soup.
type builder struct {
	*soup
	file      *os.File
	out       *bufio.Writer
	n         int64 // bytes written
	done, all int64 // triangles
	ears      triangulate.Cutter

	nodes, meshes, accessors []byte // elements of the sections, with commas between them
	nodeCount, accessorCount int
	materialAt               map[uint32]int // by numbers of materials, as they are first used

	sums   *column // normals of vertices, of a large object
	doc    *document
	points [][3]float32
	verts  gltfdoc.Table[vertex]
	tris   []triangle
	order  []int32
	near   map[nearKey]nearSum
}

// build makes the scene.
func (s *soup) build() (*gltfscene.Made, error) {
	if err := s.seal(); err != nil {
		return nil, err
	}
	b := &builder{soup: s, materialAt: map[uint32]int{}, doc: newDocument()}
	var err error
	if b.file, err = scratch.File(scratchPrefix); err != nil {
		return nil, gltfdoc.Working(err)
	}
	b.out = bufio.NewWriterSize(b.file, 256<<10)
	made, err := b.make()
	if err != nil {
		scratch.Close(b.file)
		return nil, err
	}
	return made, nil
}

func (b *builder) make() (*gltfscene.Made, error) {
	limit := b.opts.pieceLimit()
	for i := range b.objects {
		b.all += b.objects[i].triangles
	}
	for i := range b.objects {
		o := &b.objects[i]
		var err error
		switch {
		case o.triangles == 0:
		case o.triangles <= limit:
			err = b.whole(o)
		default:
			err = b.split(o, limit)
		}
		if err != nil {
			return nil, err
		}
		o.runs = nil
	}
	if err := b.out.Flush(); err != nil {
		return nil, gltfdoc.Working(err)
	}
	made := &gltfscene.Made{JSON: b.json(), Buffer: b.file, Size: b.n, Files: b.sources, Images: b.doc.places, Notes: b.notes}
	if b.n == 0 {
		made.Close()
	}
	return made, nil
}

// whole makes one piece of an object.
func (b *builder) whole(o *object) error {
	b.tris = b.tris[:0]
	if err := b.triangles(o, func(t *triangle) error {
		b.tris = append(b.tris, *t)
		return nil
	}); err != nil {
		return err
	}
	return b.piece(b.nameOf(o, 0))
}

// nameOf names an object, or a piece from 1 on.
func (b *builder) nameOf(o *object, piece int) string {
	name := o.name
	if name == "" {
		name = strings.TrimSuffix(b.base, filepath.Ext(b.base))
	}
	if piece > 0 {
		name += fmt.Sprintf("_piece%d", piece)
	}
	return name
}

// triangles cuts the faces of an object.
func (b *builder) triangles(o *object, f func(t *triangle) error) error {
	var t triangle
	return b.walk(o, func(p *polygon) error {
		t.faceState = p.faceState
		if len(p.corners) == 3 {
			t.corners = [3]corner(p.corners)
			return f(&t)
		}
		b.points = b.points[:0]
		for _, c := range p.corners {
			at, err := b.position(c.v)
			if err != nil {
				return err
			}
			b.points = append(b.points, at)
		}
		for _, cut := range b.ears.Cut(b.points) {
			for k, i := range cut {
				t.corners[k] = p.corners[i]
			}
			if err := f(&t); err != nil {
				return err
			}
		}
		return nil
	})
}

// piece writes a mesh of b.tris and a node that shows it.
func (b *builder) piece(name string) error {
	if b.ctx.Err() != nil {
		return b.ctx.Err()
	}
	if b.sums == nil {
		if err := b.gatherNear(); err != nil {
			return err
		}
	}
	// The materials in the order of their first faces, and the faces of each in theirs.
	var used []uint32
	count := map[uint32]int{}
	for i := range b.tris {
		m := b.tris[i].material
		if count[m] == 0 {
			used = append(used, m)
		}
		count[m]++
	}
	start, at := map[uint32]int{}, 0
	for _, m := range used {
		start[m] = at
		at += count[m]
	}
	if cap(b.order) < len(b.tris) {
		b.order = make([]int32, len(b.tris))
	}
	b.order = b.order[:len(b.tris)]
	next := map[uint32]int{}
	for i := range b.tris {
		m := b.tris[i].material
		b.order[start[m]+next[m]] = int32(i)
		next[m]++
	}
	var primitives []byte
	for _, m := range used {
		p, err := b.primitive(m, b.order[start[m]:][:count[m]])
		if err != nil {
			return err
		}
		primitives = gltfdoc.AppendElement(primitives, p)
	}
	b.nodes = gltfdoc.AppendElement(b.nodes, b.node(name))
	b.meshes = gltfdoc.AppendElement(b.meshes, append(append(append(append([]byte(`{"name":`), quoted(name)...), `,"primitives":[`...), primitives...), `]}`...))
	b.nodeCount++
	if b.done += int64(len(b.tris)); b.opts.Progress != nil && b.all > 0 {
		b.opts.Progress(100+int(b.done*100/b.all), 200)
	}
	return nil
}

// node returns a node that shows the mesh of its number.
func (b *builder) node(name string) []byte {
	out := append(append([]byte(`{"name":`), quoted(name)...), `,"mesh":`...)
	out = strconv.AppendInt(out, int64(b.nodeCount), 10)
	if b.origin != [3]float64{} {
		out = append(out, `,"translation":[`...)
		for i, v := range b.origin {
			if i > 0 {
				out = append(out, ',')
			}
			out = strconv.AppendFloat(out, v, 'g', -1, 64)
		}
		out = append(out, ']')
	}
	return append(out, '}')
}

func quoted(s string) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic("meshfile: " + err.Error()) // a string always can be
	}
	return text
}

// materialIndex returns where a material stands in the document.
func (b *builder) materialIndex(m uint32) int {
	if i, ok := b.materialAt[m]; ok {
		return i
	}
	def := newMaterial("default")
	if m > 0 {
		if def = b.library[b.materials[m-1]]; def == nil {
			def = newMaterial(b.materials[m-1])
		}
	}
	b.materialAt[m] = len(b.doc.materials)
	b.doc.add(def, &b.images)
	return b.materialAt[m]
}

// json returns the document.
func (b *builder) json() []byte {
	out := []byte(`{"asset":{"version":"2.0"}`)
	if len(b.doc.extension) > 0 {
		out = append(out, `,"extensionsUsed":[`...)
		var list []byte
		for _, name := range []string{"KHR_materials_emissive_strength", "KHR_texture_transform"} {
			if b.doc.extension[name] {
				list = gltfdoc.AppendElement(list, quoted(name))
			}
		}
		out = append(append(out, list...), ']')
	}
	out = append(out, `,"scene":0,"scenes":[{`...)
	matrix := b.matrix()
	var roots []byte
	for i := range b.nodeCount {
		roots = gltfdoc.AppendElement(roots, strconv.AppendInt(nil, int64(i), 10))
	}
	switch {
	case b.nodeCount == 0:
		return append(out, "}]}"...)
	case matrix != nil:
		out = strconv.AppendInt(append(out, `"nodes":[`...), int64(b.nodeCount), 10)
		top := append(append([]byte(`{"name":`), quoted(b.nameOf(&object{}, 0))...), `,"matrix":[`...)
		top = append(append(append(append(top, matrix...), `],"children":[`...), roots...), `]}`...)
		b.nodes = gltfdoc.AppendElement(b.nodes, top)
	default:
		out = append(append(out, `"nodes":[`...), roots...)
	}
	out = append(out, `]}]`...)
	for _, s := range []struct {
		name string
		text []byte
	}{{"nodes", b.nodes}, {"meshes", b.meshes}, {"accessors", b.accessors}} {
		out = append(append(append(append(append(out, `,"`...), s.name...), `":[`...), s.text...), "]\n"...)
	}
	out = gltfdoc.AppendViews(out, b.n, viewStrides[:])
	out = append(out, ']')
	out = section(out, "materials", b.doc.materials)
	out = section(out, "textures", b.doc.textures)
	out = section(out, "samplers", b.doc.samplers)
	out = section(out, "images", b.doc.images)
	return append(out, '}')
}

// matrix returns the elements of what leads from the file's axes and units to glTF's; nil
// where they are the same.
func (b *builder) matrix() []byte {
	m := b.opts.metres()
	x, y, z := [3]float64{m, 0, 0}, [3]float64{0, m, 0}, [3]float64{0, 0, m}
	if b.opts.up(b.format) == "z" { // a quarter turn about x
		y, z = [3]float64{0, 0, -m}, [3]float64{0, m, 0}
	} else if m == 1 {
		return nil
	}
	var out []byte
	for _, v := range []float64{x[0], x[1], x[2], 0, y[0], y[1], y[2], 0, z[0], z[1], z[2], 0, 0, 0, 0, 1} {
		out = gltfdoc.AppendElement(out, strconv.AppendFloat(nil, v, 'g', -1, 64))
	}
	return out
}
