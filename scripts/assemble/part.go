package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/untoldkit/untold/internal/geom"
)

// part is one kit file with what placing it needs to know.
type part struct {
	name string
	doc  *document
	role role
	kind string // finer than the role: straight, corner, tsplit, doorway ...
	why  string // the token that decided the role

	box  geom.Box       // of all vertices in the part's frame
	tris [][3]geom.Vec3 // all triangles in the part's frame
	open uint8          // roads: bit d is set when the street leaves through side d

	visited    map[int]bool // nodes met by measure
	mergedTree *tree        // set once by the merger
}

// Sides of a cell. Turning a part by a quarter counter-clockwise (seen from
// above) takes side d to d+1.
const (
	sideS = iota // +Z
	sideE        // +X
	sideN        // -Z
	sideW        // -X
)

// sideStep is the neighbour in columns and rows beyond each side.
var sideStep = [4][2]int{{0, 1}, {1, 0}, {0, -1}, {-1, 0}}

// Limits of a part: the depth of its node tree, and its triangles, which
// nodes that share a mesh could multiply.
const (
	maxDepth     = 64
	maxTriangles = 10_000_000
)

// loadParts reads all parts of a folder, in the order of their names.
func loadParts(dir string) ([]*part, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("assemble: kit folder: %w", err)
	}
	var parts []*part
	for _, e := range entries {
		ext := strings.ToLower(filepath.Ext(e.Name()))
		if e.IsDir() || ext != ".gltf" && ext != ".glb" {
			continue
		}
		d, err := readDocument(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		p := &part{name: strings.TrimSuffix(e.Name(), filepath.Ext(e.Name())), doc: d, box: geom.EmptyBox()}
		if err := p.measure(); err != nil {
			return nil, fmt.Errorf("%w %s: %w", ErrPart, filepath.Join(dir, e.Name()), err)
		}
		if !p.box.IsEmpty() {
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("assemble: %s holds no .gltf or .glb part with triangles; give the folder that holds the part files", dir)
	}
	slices.SortFunc(parts, func(a, b *part) int { return strings.Compare(a.name, b.name) })
	return parts, nil
}

// measure collects triangles and bounds.
func (p *part) measure() error {
	p.visited = map[int]bool{}
	for _, r := range p.doc.roots() {
		if r < 0 || r >= len(p.doc.Nodes) {
			return fmt.Errorf("scene root %d of %d nodes", r, len(p.doc.Nodes))
		}
		if err := p.walk(r, geom.Identity(), 0); err != nil {
			return err
		}
	}
	return nil
}

func (p *part) walk(i int, world geom.Mat4, depth int) error {
	if depth > maxDepth || p.visited[i] {
		return fmt.Errorf("node %d is nested deeper than %d levels or has several parents", i, maxDepth)
	}
	p.visited[i] = true
	n := p.doc.Nodes[i]
	local, err := n.local()
	if err != nil {
		return fmt.Errorf("node %d: %w", i, err)
	}
	world = world.Mul(local)
	if n.Mesh != nil {
		for _, prim := range p.doc.Meshes[*n.Mesh].Primitives {
			if err := p.addTriangles(prim, world); err != nil {
				return fmt.Errorf("mesh %d: %w", *n.Mesh, err)
			}
		}
	}
	for _, c := range n.Children {
		if err := p.walk(c, world, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// local returns the node's own transform.
func (n *docNode) local() (geom.Mat4, error) {
	for _, l := range []struct {
		v    []float64
		want int
	}{{n.Translation, 3}, {n.Rotation, 4}, {n.Scale, 3}, {n.Matrix, 16}} {
		if len(l.v) != 0 && len(l.v) != l.want {
			return geom.Mat4{}, fmt.Errorf("a transform has %d numbers instead of %d", len(l.v), l.want)
		}
	}
	if len(n.Matrix) == 16 {
		return geom.Mat4(n.Matrix), nil
	}
	t, q, s := geom.Vec3{}, [4]float64{0, 0, 0, 1}, geom.Vec3{1, 1, 1}
	copy(t[:], n.Translation)
	copy(q[:], n.Rotation)
	copy(s[:], n.Scale)
	return geom.TRS(t, q, s), nil
}

func (p *part) addTriangles(prim docPrimitive, world geom.Mat4) error {
	a, ok := prim.Attributes["POSITION"]
	if !ok || prim.Mode != nil && *prim.Mode != 4 {
		return nil
	}
	pos, err := p.doc.positions(a)
	if err != nil {
		return err
	}
	idx, err := p.doc.indices(prim.Indices, len(pos))
	if err != nil {
		return err
	}
	for i, v := range pos {
		pos[i] = world.Point(v)
		if !pos[i].IsFinite() {
			return fmt.Errorf("position %d is not finite", i)
		}
		p.box = p.box.Extend(pos[i])
	}
	if len(p.tris)+len(idx)/3 > maxTriangles {
		return fmt.Errorf("more than %d triangles", maxTriangles)
	}
	for t := 0; t+2 < len(idx); t += 3 {
		p.tris = append(p.tris, [3]geom.Vec3{pos[idx[t]], pos[idx[t+1]], pos[idx[t+2]]})
	}
	return nil
}

// elements checks that an accessor of the given element size lies inside its
// buffer view, and returns the bytes from its start and the stride.
func (d *document) elements(i, size int) ([]byte, int, error) {
	a := d.Accessors[i]
	if a.BufferView == nil || len(a.Sparse) > 0 {
		return nil, 0, fmt.Errorf("accessor %d: sparse or empty accessors are not supported", i)
	}
	v, b := d.BufferViews[*a.BufferView], d.view(*a.BufferView)
	stride := v.ByteStride
	if stride == 0 {
		stride = size
	}
	if a.Count < 1 || a.ByteOffset < 0 || a.ByteOffset > len(b) || len(b)-a.ByteOffset < size ||
		(a.Count-1) > (len(b)-a.ByteOffset-size)/stride {
		return nil, 0, fmt.Errorf("accessor %d: %d elements do not fit its buffer view", i, a.Count)
	}
	return b[a.ByteOffset:], stride, nil
}

// positions reads a POSITION accessor, float or quantized.
func (d *document) positions(i int) ([]geom.Vec3, error) {
	a := d.Accessors[i]
	size := map[int]int{5120: 1, 5121: 1, 5122: 2, 5123: 2, 5126: 4}[a.ComponentType]
	if a.Type != "VEC3" || size == 0 {
		return nil, fmt.Errorf("accessor %d: positions of type %s and component %d", i, a.Type, a.ComponentType)
	}
	b, stride, err := d.elements(i, 3*size)
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	out := make([]geom.Vec3, a.Count)
	for k := range out {
		for c := range 3 {
			e, x, full := b[k*stride+c*size:], 0.0, 1.0
			switch a.ComponentType {
			case 5120:
				x, full = float64(int8(e[0])), 127
			case 5121:
				x, full = float64(e[0]), 255
			case 5122:
				x, full = float64(int16(le.Uint16(e))), 32767
			case 5123:
				x, full = float64(le.Uint16(e)), 65535
			default:
				x = float64(math.Float32frombits(le.Uint32(e)))
			}
			if a.Normalized {
				x = max(x/full, -1)
			}
			out[k][c] = x
		}
	}
	return out, nil
}

// indices reads an index accessor, or counts up when there is none.
func (d *document) indices(acc *int, vertices int) ([]int, error) {
	if acc == nil {
		out := make([]int, vertices)
		for i := range out {
			out[i] = i
		}
		return out, nil
	}
	a := d.Accessors[*acc]
	size := map[int]int{5121: 1, 5123: 2, 5125: 4}[a.ComponentType]
	if a.Type != "SCALAR" || size == 0 {
		return nil, fmt.Errorf("accessor %d: indices of type %s and component %d", *acc, a.Type, a.ComponentType)
	}
	b, stride, err := d.elements(*acc, size)
	if err != nil {
		return nil, err
	}
	out := make([]int, a.Count)
	for k := range out {
		e := b[k*stride:]
		switch size {
		case 1:
			out[k] = int(e[0])
		case 2:
			out[k] = int(binary.LittleEndian.Uint16(e))
		default:
			out[k] = int(binary.LittleEndian.Uint32(e))
		}
		if out[k] >= vertices {
			return nil, fmt.Errorf("accessor %d: index %d of %d vertices", *acc, out[k], vertices)
		}
	}
	return out, nil
}

// top returns the height of the part's surface at (x, z), seen from above.
func (p *part) top(x, z float64) (float64, bool) {
	best, found := 0.0, false
	for _, t := range p.tris {
		a, b, c := t[0], t[1], t[2]
		det := float64((b[0]-a[0])*(c[2]-a[2])) - float64((c[0]-a[0])*(b[2]-a[2]))
		if math.Abs(det) < 1e-12 {
			continue
		}
		u := (float64((x-a[0])*(c[2]-a[2])) - float64((c[0]-a[0])*(z-a[2]))) / det
		v := (float64((b[0]-a[0])*(z-a[2])) - float64((x-a[0])*(b[2]-a[2]))) / det
		if u < -1e-6 || v < -1e-6 || u+v > 1+1e-6 {
			continue
		}
		y := a[1] + float64(u*(b[1]-a[1])) + float64(v*(c[1]-a[1]))
		if !found || y > best {
			best, found = y, true
		}
	}
	return best, found
}
