package usd

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/untoldkit/untold/cook/usd/internal/layer"
	"github.com/untoldkit/untold/internal/geom"
)

// item is a node of the glTF scene. Several may have the same one below them.
type item struct {
	name   string
	local  geom.Mat4
	mesh   int // -1 for none
	camera int // 1 more than its number; 0 for none
	light  int // likewise
	extras []byte
	below  []*item
	count  int   // nodes, with those below
	size   int64 // bytes of names and extras, with those below
	alone  bool  // an Xform, which may be one with a mesh below it
}

// setting is what prims have of those above them.
type setting struct {
	purpose string
	depth   int
	proto   bool // within what an instancer shows
	any     bool // also what is no definition: a prototype
}

// walker collects what is drawn.
type walker struct {
	*reader
	top   []*item // of the whole scene: transforms that do not start from their parents
	prims int64
	texts int64 // bytes of names and extras, as often as they are written
	ids   map[*layer.Prim]int32
}

// walkAll makes the nodes of the scene.
func (r *reader) walkAll() ([]*item, error) {
	w := &walker{reader: r, ids: map[*layer.Prim]int32{}}
	names := r.stage.root.children()
	for i, name := range names {
		it, err := w.walk(r.stage.root, name, setting{})
		if err != nil {
			return nil, err
		}
		if it != nil {
			w.top = append(w.top, it)
		}
		if r.opts.Progress != nil {
			r.opts.Progress(100*(i+1)/len(names), 100)
		}
	}
	if len(w.top) > 1 { // else it is the whole scene, and no object
		for _, it := range w.top {
			it.merge()
		}
	}
	return w.top, nil
}

// skipped are types of prims that hold nothing to draw, with the code of a note where there
// would be something.
var skipped = map[string]string{
	"Material": "", "Shader": "", "NodeGraph": "", "GeomSubset": "", "RenderSettings": "", "RenderProduct": "", "RenderVar": "",
	"DomeLight": "usd-lights-skipped", "DomeLight_1": "usd-lights-skipped",
	"GeometryLight": "usd-lights-skipped", "PortalLight": "usd-lights-skipped", "PluginLight": "usd-lights-skipped",
	"BasisCurves": "usd-geometry-skipped", "NurbsCurves": "usd-geometry-skipped", "HermiteCurves": "usd-geometry-skipped", "Points": "usd-geometry-skipped",
	"NurbsPatch": "usd-geometry-skipped", "TetMesh": "usd-geometry-skipped", "Volume": "usd-geometry-skipped", "ParticleField": "usd-geometry-skipped",
	"Skeleton": "", "SkelAnimation": "", "BlendShape": "",
}

var skippedText = map[string]string{
	"usd-lights-skipped":   "skies, portals and lights of geometry are not cooked",
	"usd-geometry-skipped": "curves, points, patches and volumes are not cooked",
}

// walk makes the node of a child; nil where nothing is drawn there.
func (w *walker) walk(parent *prim, name string, s setting) (*item, error) {
	p, err := w.child(parent, name)
	if err != nil || p == nil {
		return nil, err
	}
	return w.visit(p, s)
}

func (w *walker) visit(p *prim, s setting) (*item, error) {
	if w.prims++; w.prims%1024 == 0 && w.ctx.Err() != nil {
		return nil, w.ctx.Err()
	}
	if w.prims > w.opts.memory()/primBytes {
		return nil, tooLarge("", "it has more than %d prims", w.opts.memory()/primBytes)
	}
	if s.depth++; s.depth > maxChain*2 {
		return nil, tooLarge(p.path, "nests more than %d prims", maxChain*2)
	}
	if active, ok := p.meta("active").(bool); ok && !active {
		return nil, nil
	}
	if p.specifier() != layer.Def && !s.any {
		return nil, nil
	}
	s.any = false
	kind := p.typeName()
	if code, ok := skipped[kind]; ok {
		if code != "" {
			w.note(code, false, p.path, skippedText[code])
		}
		return nil, nil
	}
	seen, err := w.word(p, "visibility", "inherited")
	if err != nil {
		return nil, err
	}
	if seen == "invisible" {
		w.note("usd-invisible-skipped", false, p.path, "what is invisible is not cooked")
		return nil, nil
	}
	if s.purpose, err = w.word(p, "purpose", s.purpose); err != nil {
		return nil, err
	}
	it := &item{name: p.name, mesh: -1, count: 1, size: int64(len(quoted(p.name)))}
	if err := w.spell(p, it.size); err != nil {
		return nil, err
	}
	var reset bool
	if it.local, reset, err = w.local(p); err != nil {
		return nil, err
	}
	shown := s.purpose == "" || s.purpose == "default" || s.purpose == "render"
	switch {
	case kind == "PointInstancer":
		if !shown {
			w.hidden(p)
			return nil, nil
		}
		if err := w.instances(p, it, s); err != nil {
			return nil, err
		}
	default:
		if kind == "Mesh" || shapes[kind] != nil {
			if !shown {
				w.hidden(p)
			} else if it.mesh, err = w.mesh(p, kind); err != nil {
				return nil, err
			}
		}
		if shown && !s.proto {
			if err := w.authored(p, kind, it); err != nil {
				return nil, err
			}
		}
		for _, name := range p.children() {
			below, err := w.walk(p, name, s)
			if err != nil {
				return nil, err
			}
			if below != nil {
				it.add(below)
			}
		}
	}
	if it.mesh < 0 && it.camera == 0 && it.light == 0 && len(it.below) == 0 {
		return nil, nil
	}
	if it.extras, err = w.extras(p); err != nil {
		return nil, err
	}
	it.size += int64(len(it.extras))
	if err := w.spell(p, int64(len(it.extras))); err != nil {
		return nil, err
	}
	if it.alone = kind == "Xform" && !s.proto; p.parent != w.stage.root {
		it.merge()
	}
	if reset && !s.proto && p.parent != w.stage.root {
		w.top = append(w.top, it)
		return nil, nil
	}
	return it, nil
}

// authored adds the camera or the light that a prim is.
func (w *walker) authored(p *prim, kind string, it *item) error {
	switch {
	case kind == "Camera":
		n, err := w.camera(p)
		it.camera = n + 1
		return err
	case lamps[kind]:
		n, err := w.light(p, kind)
		it.light = n + 1
		return err
	}
	return nil
}

// merge makes one of a node that only places a mesh, and the mesh: programs write both for
// each of their objects, and it is the upper one that has the name.
func (it *item) merge() {
	if !it.alone || it.mesh >= 0 || len(it.below) != 1 {
		return
	}
	b := it.below[0]
	if b.mesh < 0 || len(b.below) > 0 || len(it.extras) > 0 && len(b.extras) > 0 {
		return
	}
	local := it.local.Mul(b.local)
	if !local.IsFinite() {
		return
	}
	it.mesh, it.local, it.below, it.count = b.mesh, local, nil, 1
	if len(b.extras) > 0 {
		it.extras = b.extras
	}
}

// spell counts bytes of names and extras, which instances have again and again.
func (w *walker) spell(p *prim, n int64) error {
	if w.texts += n; w.texts > w.opts.memory()/4 {
		return tooLarge(p.path, "names and extras of nodes take more than %d bytes", w.opts.memory()/4)
	}
	return nil
}

func (it *item) add(below *item) {
	it.size += below.size
	it.below = append(it.below, below)
	it.count += below.count
}

func (w *walker) hidden(p *prim) {
	w.note("usd-purposes-skipped", false, p.path, "guides and proxies are not cooked")
}

// instances makes what a point instancer shows.
func (w *walker) instances(p *prim, it *item, s setting) error {
	targets := p.targets("prototypes")
	s.proto, s.any = true, true
	protos := make([]*item, len(targets))
	for i, t := range targets {
		at, err := w.prim(t, p)
		if err != nil {
			return err
		}
		if at == nil {
			w.note("usd-prims-missing", true, p.path, "prototypes of instancers are not there: "+clip(t))
			continue
		}
		if protos[i], err = w.visit(at, s); err != nil {
			return err
		}
	}
	indices, err := w.numbers(p, "protoIndices", 1)
	if err != nil || indices == nil {
		return err
	}
	n := indices.Len()
	if len(protos) == 0 {
		w.note("usd-prims-missing", true, p.path, "prototypes of instancers are not there")
		return nil
	}
	list := func(name string, width int) (*layer.Numbers, error) {
		v, err := w.numbers(p, name, width)
		if err != nil || v == nil {
			return nil, err
		}
		if v.Len() < n {
			return nil, malformed(p.path+"."+name, "has %d elements for %d instances", v.Len(), n)
		}
		return v, nil
	}
	positions, err := list("positions", 3)
	if err != nil {
		return err
	}
	turns, err := list("orientations", 4)
	if err != nil {
		return err
	}
	if fine, err := list("orientationsf", 4); err != nil {
		return err
	} else if fine != nil {
		turns = fine
	}
	scales, err := list("scales", 3)
	if err != nil {
		return err
	}
	ids, err := list("ids", 1)
	if err != nil {
		return err
	}
	gone := map[int64]bool{}
	if v, err := w.numbers(p, "invisibleIds", 1); err != nil {
		return err
	} else if v != nil {
		for i := range v.Len() {
			gone[v.IntAt(i)] = true
		}
	}
	var inactive []int64
	for i := len(p.opinions) - 1; i >= 0; i-- {
		if l, ok := p.opinions[i].Meta["inactiveIds"].(layer.ListOp[int64]); ok {
			inactive = l.Apply(inactive)
		}
	}
	for _, id := range inactive {
		gone[id] = true
	}
	for i := range n {
		id := int64(i)
		if ids != nil {
			id = ids.IntAt(i)
		}
		k := indices.IntAt(i)
		if k < 0 || k >= int64(len(protos)) {
			return malformed(p.path+".protoIndices", "instance %d shows prototype %d of %d", i, k, len(protos))
		}
		if gone[id] || protos[k] == nil {
			continue
		}
		t, q, scale := geom.Vec3{}, [4]float64{0, 0, 0, 1}, geom.Vec3{1, 1, 1}
		if positions != nil {
			t = geom.Vec3{positions.At(3 * i), positions.At(3*i + 1), positions.At(3*i + 2)}
		}
		if turns != nil {
			q = [4]float64{turns.At(4*i + 1), turns.At(4*i + 2), turns.At(4*i + 3), turns.At(4 * i)}
		}
		if scales != nil {
			scale = geom.Vec3{scales.At(3 * i), scales.At(3*i + 1), scales.At(3*i + 2)}
		}
		m := geom.TRS(t, q, scale)
		one := *protos[k]
		if one.local = m.Mul(one.local); !m.IsFinite() || !one.local.IsFinite() {
			return malformed(p.path, "the place of instance %d is not finite", i)
		}
		it.add(&one)
		if err := w.spell(p, one.size); err != nil {
			return err
		}
		if w.prims += int64(one.count); w.prims > w.opts.memory()/primBytes {
			return tooLarge(p.path, "the scene has more than %d prims and instances", w.opts.memory()/primBytes)
		}
	}
	return nil
}

// userPrefix begins the names of attributes that exporters make of their users' properties.
const userPrefix = "userProperties:"

// extras returns the extras of a node: the data and properties of the user's.
func (w *walker) extras(p *prim) ([]byte, error) {
	out := members{}
	for i := len(p.opinions) - 1; i >= 0; i-- {
		if d, ok := p.opinions[i].Meta["customData"].(layer.Dict); ok {
			for k, v := range d {
				if x, ok := plain(v, 0); ok {
					out[k] = x
				}
			}
		}
	}
	for _, name := range p.names() {
		key, ok := strings.CutPrefix(name, userPrefix)
		if !ok || key == "" {
			continue
		}
		v, err := w.value(p, name)
		if err != nil {
			return nil, err
		}
		if x, ok := plain(v, 0); ok {
			out[key] = x
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	return w.fitting(p, out)
}

// fitting writes extras: where all take too much, the smallest ones.
func (w *walker) fitting(p *prim, all members) ([]byte, error) {
	text, err := marshal(all)
	if err != nil || len(text) <= mostExtras {
		return text, err
	}
	w.note("usd-extras-skipped", true, p.path, "data of users beyond 64 KiB for each prim were left out")
	size := map[string]int{}
	for k, v := range all {
		text, err := marshal(v)
		if err != nil {
			return nil, err
		}
		size[k] = len(text) + len(quoted(k)) + 2
	}
	kept, total := members{}, 0
	for _, k := range slices.SortedFunc(maps.Keys(size), func(a, b string) int { return cmp.Or(size[a]-size[b], cmp.Compare(a, b)) }) {
		if total += size[k]; total > mostExtras {
			break
		}
		kept[k] = all[k]
	}
	if len(kept) == 0 {
		return nil, nil
	}
	return marshal(kept)
}

// mostExtras is how many bytes the extras of a node may have.
const mostExtras = 64 << 10

// mostPlain is how many elements a list in extras may have.
const mostPlain = 4096

// plain turns a value into what JSON can have.
func plain(v layer.Value, depth int) (any, bool) {
	switch v := v.(type) {
	case bool, string, int64:
		return v, true
	case float64:
		return v, v-v == 0
	case layer.Token:
		return string(v), true
	case layer.Asset:
		return string(v), true
	case []string:
		return v, len(v) <= mostPlain
	case *layer.Numbers:
		if v.Flat() > mostPlain {
			return nil, false
		}
		list := make([]float64, v.Flat())
		for i := range list {
			if list[i] = v.At(i); list[i]-list[i] != 0 {
				return nil, false
			}
		}
		return list, true
	case layer.Dict:
		out := members{}
		for k, x := range v {
			if y, ok := plain(x, depth+1); ok && depth < 16 {
				out[k] = y
			}
		}
		return out, true
	}
	return nil, false
}
