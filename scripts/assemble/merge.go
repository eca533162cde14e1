package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/glb"
	"github.com/untoldkit/untold/internal/glbwrite"
)

// merger writes parts into one file, each once, and nodes that place them.
// Whatever two parts share byte for byte is written once.
type merger struct {
	w     *glbwrite.Writer
	seen  map[string]int // content key -> index in the output
	nodes int
	tris  int
}

// tree is a part's node hierarchy over merged meshes.
type tree struct {
	name     string
	mesh     int // -1 for none
	node     docNode
	children []*tree
}

func newMerger(w *glbwrite.Writer) *merger {
	return &merger{w: w, seen: map[string]int{}}
}

// once returns the index of an object with this key, made on first use.
func (m *merger) once(key string, make func() (int, error)) (int, error) {
	if i, ok := m.seen[key]; ok {
		return i, nil
	}
	i, err := make()
	if err == nil {
		m.seen[key] = i
	}
	return i, err
}

func hash(b []byte) string { s := sha256.Sum256(b); return string(s[:]) }

// canonical returns JSON with sorted keys, without the name.
func canonical(v map[string]any) string {
	c := maps.Clone(v)
	delete(c, "name")
	b, err := json.Marshal(c)
	if err != nil {
		return fmt.Sprint(c) // numbers come from JSON and always marshal
	}
	return string(b)
}

// object writes v to a section unless an equal one is there.
func (m *merger) object(s glb.Section, v map[string]any) (int, error) {
	return m.once(fmt.Sprintf("object %d %s", s, canonical(v)), func() (int, error) {
		return m.w.Object(s, v), nil
	})
}

// tree merges a part on first use.
func (m *merger) tree(p *part) (*tree, error) {
	if p.mergedTree != nil {
		return p.mergedTree, nil
	}
	for _, e := range p.doc.Used {
		if passable(e) {
			m.w.Use(e, slices.Contains(p.doc.Required, e))
		}
	}
	top := &tree{name: p.name, mesh: -1}
	for _, r := range p.doc.roots() {
		t, err := m.node(p, r)
		if err != nil {
			return nil, fmt.Errorf("%w %s: %w", ErrPart, p.name, err)
		}
		top.children = append(top.children, t)
	}
	p.mergedTree = top
	return top, nil
}

func (m *merger) node(p *part, i int) (*tree, error) {
	n := p.doc.Nodes[i]
	t := &tree{name: n.Name, mesh: -1, node: n}
	if n.Mesh != nil {
		var err error
		if t.mesh, err = m.mesh(p, *n.Mesh); err != nil {
			return nil, err
		}
	}
	for _, c := range n.Children {
		k, err := m.node(p, c)
		if err != nil {
			return nil, err
		}
		t.children = append(t.children, k)
	}
	return t, nil
}

// mesh writes a mesh of a part.
func (m *merger) mesh(p *part, i int) (int, error) {
	src := p.doc.Meshes[i]
	var prims []map[string]any
	for _, q := range src.Primitives {
		attrs, err := m.accessors(p.doc, q.Attributes)
		if err != nil {
			return 0, err
		}
		out := map[string]any{"attributes": attrs}
		if q.Indices != nil {
			if out["indices"], err = m.accessor(p.doc, *q.Indices); err != nil {
				return 0, err
			}
		}
		if q.Material != nil {
			if out["material"], err = m.material(p.doc, *q.Material); err != nil {
				return 0, err
			}
		}
		if q.Mode != nil && *q.Mode != 4 {
			out["mode"] = *q.Mode
		}
		var targets []map[string]int
		for _, t := range q.Targets {
			a, err := m.accessors(p.doc, t)
			if err != nil {
				return 0, err
			}
			targets = append(targets, a)
		}
		if len(targets) > 0 {
			out["targets"] = targets
		}
		prims = append(prims, out)
	}
	name := p.name
	if len(p.doc.Meshes) > 1 {
		name = fmt.Sprintf("%s_%d", p.name, i)
	}
	v := map[string]any{"name": name, "primitives": prims}
	if len(src.Weights) > 0 {
		v["weights"] = src.Weights
	}
	return m.object(glb.Meshes, v)
}

func (m *merger) accessors(d *document, list map[string]int) (map[string]int, error) {
	out := map[string]int{}
	for _, k := range slices.Sorted(maps.Keys(list)) {
		i, err := m.accessor(d, list[k])
		if err != nil {
			return nil, err
		}
		out[k] = i
	}
	return out, nil
}

// accessor writes an accessor and the buffer views that it reads.
func (m *merger) accessor(d *document, i int) (int, error) {
	a := d.Accessors[i]
	if a.BufferView != nil {
		v := d.BufferViews[*a.BufferView]
		k, err := m.viewOf(d, *a.BufferView, v.ByteStride, v.Target)
		if err != nil {
			return 0, err
		}
		a.BufferView = &k
	}
	if len(a.Sparse) > 0 {
		return 0, fmt.Errorf("accessor %d: sparse accessors are not supported", i)
	}
	b, err := json.Marshal(a)
	if err != nil {
		return 0, fmt.Errorf("accessor %d: %w", i, err)
	}
	return m.once("accessor "+string(b), func() (int, error) { return m.w.Raw(glb.Accessors, b), nil })
}

func (m *merger) viewOf(d *document, i, stride, target int) (int, error) {
	data := d.view(i)
	key := fmt.Sprintf("view %d %d %s", stride, target, hash(data))
	return m.once(key, func() (int, error) { return m.w.View(data, stride, target), nil })
}

// material writes a material with its texture references renumbered.
func (m *merger) material(d *document, i int) (int, error) {
	var v map[string]any
	if err := json.Unmarshal(d.Materials[i], &v); err != nil {
		return 0, fmt.Errorf("material %d: %w", i, err)
	}
	if err := m.renumber(d, v, 0); err != nil {
		return 0, fmt.Errorf("material %d: %w", i, err)
	}
	return m.object(glb.Materials, v)
}

// renumber follows every texture info of a material: an object under a key
// that ends in Texture, also inside extensions.
func (m *merger) renumber(d *document, v map[string]any, depth int) error {
	if depth > 16 {
		return fmt.Errorf("nested too deeply")
	}
	for _, k := range slices.Sorted(maps.Keys(v)) {
		o, ok := v[k].(map[string]any)
		if !ok {
			continue
		}
		if f, isIndex := o["index"].(float64); isIndex && strings.HasSuffix(k, "Texture") {
			if !(f >= 0 && f < float64(len(d.Textures))) || f != math.Trunc(f) {
				return fmt.Errorf("%s: texture %v does not exist, there are %d", k, f, len(d.Textures))
			}
			t, err := m.texture(d, int(f))
			if err != nil {
				return err
			}
			o["index"] = t
		}
		if err := m.renumber(d, o, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (m *merger) texture(d *document, i int) (int, error) {
	var v map[string]any
	if err := json.Unmarshal(d.Textures[i], &v); err != nil {
		return 0, fmt.Errorf("texture %d: %w", i, err)
	}
	sources := []map[string]any{v}
	if exts, ok := v["extensions"].(map[string]any); ok {
		for _, k := range slices.Sorted(maps.Keys(exts)) {
			if e, ok := exts[k].(map[string]any); ok {
				sources = append(sources, e)
			}
		}
	}
	for _, o := range sources {
		if f, ok := o["source"].(float64); ok {
			if !(f >= 0 && f < float64(len(d.Images))) {
				return 0, fmt.Errorf("texture %d: image %v does not exist, there are %d", i, f, len(d.Images))
			}
			k, err := m.image(d, int(f))
			if err != nil {
				return 0, fmt.Errorf("texture %d: %w", i, err)
			}
			o["source"] = k
		}
	}
	if f, ok := v["sampler"].(float64); ok {
		if !(f >= 0 && f < float64(len(d.Samplers))) {
			return 0, fmt.Errorf("texture %d: sampler %v does not exist, there are %d", i, f, len(d.Samplers))
		}
		var s map[string]any
		if err := json.Unmarshal(d.Samplers[int(f)], &s); err != nil {
			return 0, fmt.Errorf("sampler %v: %w", f, err)
		}
		k, err := m.object(glb.Samplers, s)
		if err != nil {
			return 0, err
		}
		v["sampler"] = k
	}
	return m.object(glb.Textures, v)
}

// image writes the bytes of an image.
func (m *merger) image(d *document, i int) (int, error) {
	img := d.Images[i]
	var data []byte
	var err error
	if img.BufferView != nil {
		data = d.view(*img.BufferView)
	} else if data, err = d.fetch(img.URI); err != nil {
		return 0, fmt.Errorf("image %d: %w", i, err)
	}
	mime := img.MimeType
	if mime == "" {
		mime = http.DetectContentType(data)
	}
	return m.once("image "+mime+hash(data), func() (int, error) { return m.w.Image(img.Name, mime, data), nil })
}

// place adds nodes that draw a part: turned by quarter turns, its anchor at
// pos.
func (m *merger) place(name string, p *part, pos geom.Vec3, yaw float64) (int, error) {
	t, err := m.tree(p)
	if err != nil {
		return 0, err
	}
	a := turn(p.anchor(), yaw)
	n := glbwrite.Node{
		Name: name, Mesh: -1, Camera: -1, Light: -1,
		Translation: pos.Sub(geom.Vec3{a[0], 0, a[2]}).F32(), Rotation: yawQuat(yaw),
	}
	m.tris += len(p.tris)
	if len(t.children) == 1 && t.children[0].plain() {
		n.Mesh = t.children[0].mesh
		n.Children = m.emit(name, t.children[0].children)
	} else {
		n.Children = m.emit(name, t.children)
	}
	m.nodes++
	return m.w.Node(&n), nil
}

// plain reports whether the node has no transform of its own.
func (t *tree) plain() bool {
	return len(t.node.Translation)+len(t.node.Rotation)+len(t.node.Scale)+len(t.node.Matrix) == 0
}

func (m *merger) emit(parent string, list []*tree) []int {
	var out []int
	for _, t := range list {
		n := glbwrite.Node{Name: parent + "/" + t.name, Mesh: t.mesh, Camera: -1, Light: -1}
		for k := range min(3, len(t.node.Translation)) {
			n.Translation[k] = float32(t.node.Translation[k])
		}
		for k := range min(4, len(t.node.Rotation)) {
			n.Rotation[k] = float32(t.node.Rotation[k])
		}
		for k := range min(3, len(t.node.Scale)) {
			n.Scale[k] = float32(t.node.Scale[k])
		}
		if len(t.node.Matrix) == 16 {
			n.Matrix = new([16]float32)
			for k, v := range t.node.Matrix {
				n.Matrix[k] = float32(v)
			}
		}
		n.Children = m.emit(parent, t.children)
		m.nodes++
		out = append(out, m.w.Node(&n))
	}
	return out
}

// group adds a node over children.
func (m *merger) group(name string, children []int) int {
	m.nodes++
	return m.w.Node(&glbwrite.Node{Name: name, Mesh: -1, Camera: -1, Light: -1, Children: children})
}
