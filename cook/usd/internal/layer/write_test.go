package layer

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// crateWriter writes trees as crates of a version: it is the reader's other half, for tests.
type crateWriter struct {
	t       testing.TB
	minor   int
	out     []byte
	tokens  []string
	tokenAt map[string]uint32
	strings []uint32
	stringA map[string]uint32
	paths   []string
	pathAt  map[string]uint32
	fields  []field
	sets    []uint32
	specs   []spec
}

// writeCrate returns a layer as a crate of version 0.minor.0.
func writeCrate(t testing.TB, l *Layer, minor int) []byte {
	t.Helper()
	w := &crateWriter{t: t, minor: minor, tokenAt: map[string]uint32{}, stringA: map[string]uint32{}, pathAt: map[string]uint32{}}
	w.out = make([]byte, bootSize)
	copy(w.out, crateMagic)
	w.out[9] = byte(minor)
	w.token("") // whose number cannot be negative
	w.prim("/", l.Root, specPseudoRoot, l)
	var sections []byte
	count := 0
	section := func(name string, f func()) {
		from := len(w.out)
		f()
		var e [entrySize]byte
		copy(e[:], name)
		binary.LittleEndian.PutUint64(e[16:], uint64(from))
		binary.LittleEndian.PutUint64(e[24:], uint64(len(w.out)-from))
		sections = append(sections, e[:]...)
		count++
	}
	if minor < 4 {
		w.oldSections(section)
	} else {
		w.packedSections(section)
	}
	section("STRINGS", func() {
		w.u64(uint64(len(w.strings)))
		for _, s := range w.strings {
			w.out = binary.LittleEndian.AppendUint32(w.out, s)
		}
	})
	section("TOKENS", func() {
		if minor < 4 {
			w.oldTokens()
			return
		}
		text := []byte(strings.Join(w.tokens, "\x00") + "\x00")
		packed := pack(w.t, text)
		w.u64(uint64(len(w.tokens)))
		w.u64(uint64(len(text)))
		w.u64(uint64(len(packed)))
		w.out = append(w.out, packed...)
	})
	binary.LittleEndian.PutUint64(w.out[16:], uint64(len(w.out)))
	w.u64(uint64(count))
	return append(w.out, sections...)
}

func (w *crateWriter) packedSections(section func(name string, f func())) {
	section("FIELDS", func() {
		var names []int64
		var reps []byte
		for _, f := range w.fields {
			names = append(names, int64(f.token))
			reps = binary.LittleEndian.AppendUint64(reps, uint64(f.rep))
		}
		w.u64(uint64(len(names)))
		w.ints(names, 4)
		packed := pack(w.t, reps)
		w.u64(uint64(len(packed)))
		w.out = append(w.out, packed...)
	})
	list := func(name string, v []uint32) {
		section(name, func() {
			w.u64(uint64(len(v)))
			w.ints(wide(v), 4)
		})
	}
	list("FIELDSETS", w.sets)
	section("PATHS", w.pathTree)
	section("SPECS", func() {
		var lists [3][]int64
		for _, s := range w.specs {
			lists[0], lists[1], lists[2] = append(lists[0], int64(s.path)), append(lists[1], int64(s.fields)), append(lists[2], int64(s.kind))
		}
		w.u64(uint64(len(w.specs)))
		for _, l := range lists {
			w.ints(l, 4)
		}
	})
}

func wide(list []uint32) (out []int64) {
	for _, v := range list {
		out = append(out, int64(v))
	}
	return out
}

// pack is the opposite of unpack.
func pack(t testing.TB, data []byte) []byte {
	out := make([]byte, lz4.CompressBlockBound(len(data)))
	n, err := lz4.CompressBlock(data, out, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n == 0 { // not smaller: a block of literals alone
		n = len(literals(data))
		out = literals(data)
	}
	return append([]byte{0}, out[:n]...)
}

// literals is a block of LZ4 that packs nothing.
func literals(data []byte) []byte {
	n := len(data)
	if n < 15 {
		return append([]byte{byte(n << 4)}, data...)
	}
	out := []byte{0xF0}
	for n -= 15; n >= 255; n -= 255 {
		out = append(out, 255)
	}
	return append(append(out, byte(n)), data...)
}

func (w *crateWriter) u64(v uint64) { w.out = binary.LittleEndian.AppendUint64(w.out, v) }

// ints is the opposite of packedInts.
func (w *crateWriter) ints(list []int64, width int) {
	if len(list) == 0 {
		w.u64(0)
		return
	}
	uses := map[int64]int{}
	last := int64(0)
	deltas := make([]int64, len(list))
	for i, v := range list {
		d := v - last
		if width == 4 {
			d = int64(int32(d))
		}
		deltas[i], last = d, v
		uses[d]++
	}
	common := deltas[0]
	for _, d := range slices.Sorted(maps.Keys(uses)) {
		if uses[d] > uses[common] {
			common = d
		}
	}
	number := func(b []byte, v int64, size int) []byte {
		var s [8]byte
		binary.LittleEndian.PutUint64(s[:], uint64(v))
		return append(b, s[:size]...)
	}
	data := number(nil, common, width)
	codes := make([]byte, (len(list)+3)/4)
	var rest []byte
	sizes := []int{0, width / 4, width / 2, width}
	for i, d := range deltas {
		if d == common {
			continue
		}
		code := 3
		for k := 2; k > 0; k-- {
			if shift := 64 - 8*sizes[k]; d<<shift>>shift == d {
				code = k
			}
		}
		codes[i/4] |= byte(code << (2 * (i % 4)))
		rest = number(rest, d, sizes[code])
	}
	packed := pack(w.t, append(append(data, codes...), rest...))
	w.u64(uint64(len(packed)))
	w.out = append(w.out, packed...)
}

func number[K comparable](list *[]K, at map[K]uint32, v K) uint32 {
	i, ok := at[v]
	if !ok {
		i = uint32(len(*list))
		at[v] = i
		*list = append(*list, v)
	}
	return i
}

func (w *crateWriter) token(s string) uint32 { return number(&w.tokens, w.tokenAt, s) }
func (w *crateWriter) path(p string) uint32  { return number(&w.paths, w.pathAt, p) }

func (w *crateWriter) text(s string) uint32 {
	i, ok := w.stringA[s]
	if !ok {
		i = uint32(len(w.strings))
		w.stringA[s] = i
		w.strings = append(w.strings, w.token(s))
	}
	return i
}

// below lists the paths below each path, and numbers those that no spec has.
func (w *crateWriter) below() map[string][]string {
	below := map[string][]string{}
	seen := map[string]bool{}
	var add func(p string)
	add = func(p string) {
		if seen[p] || p == "/" {
			return
		}
		seen[p] = true
		up := upper(p)
		add(up)
		w.path(p)
		below[up] = append(below[up], p)
	}
	for _, p := range slices.Clone(w.paths) {
		add(p)
	}
	return below
}

// element is the last part of a path.
func (w *crateWriter) element(p string) (name string, property bool) {
	if p == "/" {
		return "", false
	}
	return strings.CutPrefix(strings.TrimPrefix(strings.TrimPrefix(p, upper(p)), "/"), ".")
}

// pathTree writes the paths: each behind its parent, with the distance to its sibling.
func (w *crateWriter) pathTree() {
	below := w.below()
	var at, elements, jumps []int64
	var visit func(p string, sibling bool)
	visit = func(p string, sibling bool) {
		i := len(at)
		at, jumps = append(at, int64(w.path(p))), append(jumps, 0)
		token := int64(0)
		if name, property := w.element(p); property {
			token = -int64(w.token(name))
		} else if p != "/" {
			token = int64(w.token(name))
		}
		elements = append(elements, token)
		list := below[p]
		for k, c := range list {
			visit(c, k+1 < len(list))
		}
		switch {
		case len(list) > 0 && sibling:
			jumps[i] = int64(len(at) - i)
		case len(list) > 0:
			jumps[i] = -1
		case !sibling:
			jumps[i] = -2
		}
	}
	visit("/", false)
	w.u64(uint64(len(w.paths)))
	w.u64(uint64(len(at)))
	w.ints(at, 4)
	w.ints(elements, 4)
	w.ints(jumps, 4)
}

// upper is the path above another one.
func upper(p string) string {
	if i := strings.LastIndexByte(p, '.'); i > strings.LastIndexAny(p, "/}") {
		return p[:i]
	}
	if strings.HasSuffix(p, "}") {
		return p[:strings.LastIndexByte(p, '{')]
	}
	i := strings.LastIndexAny(p, "/}")
	if p[i] == '}' {
		return p[:i+1]
	}
	return p[:max(i, 1)]
}

// prim writes the specs of a prim or a variant and what is below it.
func (w *crateWriter) prim(path string, p *Prim, kind uint32, l *Layer) {
	fields := map[string]Value{}
	if kind == specPseudoRoot {
		maps.Copy(fields, l.Meta)
		delete(fields, "subLayers")
		if len(l.SubLayers) > 0 {
			fields["subLayers"] = stringVector(l.SubLayers)
		}
	} else {
		maps.Copy(fields, p.Meta)
		if kind == specPrim {
			fields["specifier"] = p.Specifier
		}
	}
	if p.Type != "" {
		fields["typeName"] = Token(p.Type)
	}
	for _, f := range []struct {
		name string
		list ListOp[string]
	}{{"inheritPaths", p.Inherits}, {"specializes", p.Specializes}} {
		if !f.list.Empty() {
			fields[f.name] = pathList(f.list)
		}
	}
	if !p.SetNames.Empty() {
		fields["variantSetNames"] = p.SetNames
	}
	if !p.References.Empty() {
		fields["references"] = p.References
	}
	if !p.Payloads.Empty() {
		fields["payload"] = payloadList(p.Payloads)
	}
	if p.Selections != nil {
		fields["variantSelection"] = p.Selections
	}
	var names tokenVector
	for _, c := range p.Children {
		names = append(names, c.Name)
	}
	if len(names) > 0 {
		fields["primChildren"] = names
	}
	w.spec(path, kind, fields)
	for _, s := range p.Sets {
		w.spec(path+"{"+s.Name+"=}", 11, nil)
		for _, v := range s.Variants {
			w.prim(path+"{"+s.Name+"="+v.Name+"}", v, specVariant, l)
		}
	}
	for _, a := range p.Properties {
		w.property(path, a)
	}
	for _, c := range p.Children {
		at := path + "/" + c.Name
		if path == "/" || strings.HasSuffix(path, "}") {
			at = path + c.Name
		}
		w.prim(at, c, specPrim, l)
	}
}

func (w *crateWriter) property(path string, a *Property) {
	fields := map[string]Value{}
	if a.Type != "" {
		fields["typeName"] = Token(a.Type)
	}
	if a.Has {
		v, err := a.Get()
		if err != nil {
			w.t.Fatal(err)
		}
		if a.Sampled {
			fields["timeSamples"] = sampleOf{typedValue{v, a.Type}}
		} else {
			fields["default"] = typedValue{v, a.Type}
		}
	}
	for name, s := range map[string]string{"interpolation": a.Interpolation, "colorSpace": a.ColorSpace, "bindMaterialAs": a.BindStrength} {
		if s != "" {
			fields[name] = Token(s)
		}
	}
	if a.ElementSize > 0 {
		fields["elementSize"] = int64(a.ElementSize)
	}
	kind := uint32(specAttribute)
	if a.Type == "" {
		kind = specRelationship
	}
	if !a.Targets.Empty() {
		fields["targetPaths"] = pathList(a.Targets)
	}
	if !a.Connections.Empty() {
		fields["connectionPaths"] = pathList(a.Connections)
	}
	w.spec(path+"."+a.Name, kind, fields)
}

// Types that values of Go do not tell.
type (
	stringVector []string
	tokenVector  []string
	pathList     ListOp[string]
	payloadList  ListOp[Reference]
	typedValue   struct {
		v   Value
		typ string
	}
	sampleOf struct{ typedValue }
)

func (w *crateWriter) spec(path string, kind uint32, fields map[string]Value) {
	s := spec{path: w.path(path), fields: uint32(len(w.sets)), kind: kind}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		w.sets = append(w.sets, uint32(len(w.fields)))
		w.fields = append(w.fields, field{w.token(name), w.value(fields[name])})
	}
	w.sets = append(w.sets, noIndex)
	w.specs = append(w.specs, s)
}

func rep(kind byte, payload uint64) valueRep { return valueRep(uint64(kind)<<48 | payload) }

const (
	isArray  = valueRep(1) << 63
	isInline = valueRep(1) << 62
	isPacked = valueRep(1) << 61
)

// value writes a value where it does not fit into its rep.
func (w *crateWriter) value(v Value) valueRep {
	here := uint64(len(w.out))
	vector := func(list []string, of func(string) uint32) {
		w.u64(uint64(len(list)))
		for _, s := range list {
			w.out = binary.LittleEndian.AppendUint32(w.out, of(s))
		}
	}
	switch v := v.(type) {
	case nil:
		return rep(typeBlock, 0) | isInline
	case bool:
		n := uint64(0)
		if v {
			n = 1
		}
		return rep(typeBool, n) | isInline
	case Specifier:
		return rep(typeSpecifier, uint64(v)) | isInline
	case int64:
		if int64(int32(v)) == v {
			return rep(typeInt, uint64(uint32(v))) | isInline
		}
		w.u64(uint64(v))
		return rep(typeInt64, here)
	case float64:
		if float64(float32(v)) == v {
			return rep(typeDouble, uint64(math.Float32bits(float32(v)))) | isInline
		}
		w.u64(math.Float64bits(v))
		return rep(typeDouble, here)
	case string:
		return rep(typeString, uint64(w.text(v))) | isInline
	case Token:
		return rep(typeToken, uint64(w.token(string(v)))) | isInline
	case Asset:
		return rep(typeAsset, uint64(w.token(string(v)))) | isInline
	case stringVector:
		vector(v, w.text)
		return rep(typeStrings, here)
	case tokenVector:
		vector(v, w.token)
		return rep(typeTokenVector, here)
	case []string: // as the metadata of tokens have it
		w.list(ListOp[string]{Explicit: true, Items: v}, w.token)
		return rep(typeTokenList, here)
	case ListOp[string]:
		w.list(v, w.text)
		return rep(typeStringList, here)
	case pathList:
		w.list(ListOp[string](v), w.path)
		return rep(typePathList, here)
	case ListOp[int64]:
		bits := byte(0)
		if v.Explicit {
			bits = 1
		}
		parts := []struct {
			bit  byte
			list []int64
		}{{2, v.Items}, {32, v.Prepended}, {64, v.Appended}, {8, v.Deleted}}
		for _, p := range parts {
			if len(p.list) > 0 {
				bits |= p.bit
			}
		}
		w.out = append(w.out, bits)
		for _, p := range parts {
			if len(p.list) == 0 {
				continue
			}
			w.u64(uint64(len(p.list)))
			for _, x := range p.list {
				w.u64(uint64(x))
			}
		}
		return rep(typeIntList+1, here)
	case ListOp[Reference]:
		w.references(v, true)
		return rep(typeRefList, here)
	case payloadList:
		w.references(ListOp[Reference](v), false)
		return rep(typePayloadList, here)
	case map[string]string:
		w.u64(uint64(len(v)))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			w.out = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(w.out, w.text(k)), w.text(v[k]))
		}
		return rep(typeSelections, here)
	case Dict:
		if len(v) == 0 {
			return rep(typeDict, 0) | isInline
		}
		w.u64(uint64(len(v)))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			w.out = binary.LittleEndian.AppendUint32(w.out, w.text(k))
			w.away(v[k])
		}
		return rep(typeDict, here)
	case *Numbers:
		return w.value(typedValue{v, ""})
	case sharing:
		return w.shared(v)
	case sampleOf:
		w.away(doubles{3, 1})
		from := len(w.out)
		w.u64(0)
		later := w.value(typedValue{v.v, v.typ})
		binary.LittleEndian.PutUint64(w.out[from:], uint64(len(w.out)-from))
		w.u64(2)
		w.u64(uint64(rep(typeBlock, 0) | isInline)) // at 3
		w.u64(uint64(later))                        // at 1
		return rep(typeSamples, here)
	case doubles:
		w.u64(uint64(len(v)))
		for _, x := range v {
			w.u64(math.Float64bits(x))
		}
		return rep(typeDoubles, here)
	case typedValue:
		return w.typed(v)
	}
	w.t.Fatalf("no value of type %T", v)
	return 0
}

type doubles []float64

// away writes a value behind the distance of its rep.
func (w *crateWriter) away(v Value) {
	from := len(w.out)
	w.u64(0)
	r := w.value(v)
	binary.LittleEndian.PutUint64(w.out[from:], uint64(len(w.out)-from))
	w.u64(uint64(r))
}

func (w *crateWriter) list(l ListOp[string], of func(string) uint32) {
	bits := byte(0)
	if l.Explicit {
		bits |= 1
	}
	parts := []struct {
		bit  byte
		list []string
	}{{2, l.Items}, {4, l.Added}, {32, l.Prepended}, {64, l.Appended}, {8, l.Deleted}}
	for _, p := range parts {
		if len(p.list) > 0 {
			bits |= p.bit
		}
	}
	w.out = append(w.out, bits)
	for _, p := range parts {
		if len(p.list) == 0 {
			continue
		}
		w.u64(uint64(len(p.list)))
		for _, s := range p.list {
			w.out = binary.LittleEndian.AppendUint32(w.out, of(s))
		}
	}
}

func (w *crateWriter) references(l ListOp[Reference], data bool) {
	list := l.Items
	bits := byte(3)
	if !l.Explicit {
		bits, list = 32, l.Prepended
	}
	w.out = append(w.out, bits)
	w.u64(uint64(len(list)))
	for _, r := range list {
		w.out = binary.LittleEndian.AppendUint32(w.out, w.text(r.Asset))
		at := uint32(noIndex)
		if r.Prim != "" {
			at = w.path(r.Prim)
		}
		w.out = binary.LittleEndian.AppendUint32(w.out, at)
		if data || w.minor >= 8 {
			w.u64(0)
			w.u64(math.Float64bits(1))
		}
		if data {
			w.u64(0)
		}
	}
}

// typed writes the value of an attribute of a type.
func (w *crateWriter) typed(v typedValue) valueRep {
	base, array := strings.CutSuffix(v.typ, "[]")
	n, ok := v.v.(*Numbers)
	if words, isWords := v.v.([]string); isWords {
		here := uint64(len(w.out))
		w.length(len(words))
		for _, s := range words {
			at := w.text
			if base == "token" {
				at = w.token
			}
			w.out = binary.LittleEndian.AppendUint32(w.out, at(s))
		}
		if base == "token" {
			return rep(typeToken, here) | isArray
		}
		return rep(typeString, here) | isArray
	}
	if !ok {
		if x, isFloat := v.v.(float64); isFloat && kinds[base].base == 'f' {
			return rep(typeFloat, uint64(math.Float32bits(float32(x)))) | isInline
		}
		return w.value(v.v)
	}
	k := kinds[base]
	kind := map[string]byte{
		"i1": typeInt, "f1": typeFloat, "d1": typeDouble, "f2": typeVec2d + 1, "f3": typeVec2d + 5, "f4": typeVec2d + 9,
		"d2": typeVec2d, "d3": typeVec2d + 4, "d4": typeVec2d + 8, "i2": typeVec2d + 3, "i3": typeVec2d + 7, "i4": typeVec2d + 11, "d16": typeMatrix4, "b1": typeBool,
	}[fmt.Sprintf("%c%d", k.base, n.Width)]
	quat := strings.HasPrefix(base, "quat")
	if quat {
		kind = map[byte]byte{'f': typeQuatf, 'd': typeQuatd}[k.base]
	}
	if kind == 0 {
		w.t.Fatalf("no type for %s", v.typ)
	}
	order := func(i int) int {
		if quat {
			return i - i%4 + (i+1)%4
		}
		return i
	}
	if array && n.Flat() == 0 {
		return rep(kind, 0) | isArray
	}
	here := uint64(len(w.out))
	if array {
		w.length(n.Len())
	}
	if array && w.minor >= 6 && n.Width == 1 && n.Len() >= leastPacked && k.base != 'b' {
		return w.packedNumbers(n, kind, here)
	}
	for i := range n.Flat() {
		switch x := n.At(order(i)); k.base {
		case 'f':
			w.out = binary.LittleEndian.AppendUint32(w.out, math.Float32bits(float32(x)))
		case 'd':
			w.u64(math.Float64bits(x))
		case 'b':
			w.out = append(w.out, byte(n.Int[i]))
		default:
			w.out = binary.LittleEndian.AppendUint32(w.out, uint32(int32(n.Int[i])))
		}
	}
	if array {
		return rep(kind, here) | isArray
	}
	return rep(kind, here)
}

// packedNumbers writes whole numbers as differences, others by a table.
func (w *crateWriter) packedNumbers(n *Numbers, kind byte, here uint64) valueRep {
	r := rep(kind, here) | isArray | isPacked
	if n.Int != nil {
		w.ints(n.Int, 4)
		return r
	}
	whole := true
	for i := range n.Flat() {
		whole = whole && n.IntAt(i) != -1
	}
	var list []int64
	if whole {
		w.out = append(w.out, 'i')
		for i := range n.Flat() {
			list = append(list, n.IntAt(i))
		}
		w.ints(list, 4)
		return r
	}
	at := map[float64]uint32{}
	var table []float64
	for i := range n.Flat() {
		list = append(list, int64(number(&table, at, n.At(i))))
	}
	w.out = binary.LittleEndian.AppendUint32(append(w.out, 't'), uint32(len(table)))
	for _, x := range table {
		if n.F32 != nil {
			w.out = binary.LittleEndian.AppendUint32(w.out, math.Float32bits(float32(x)))
		} else {
			w.u64(math.Float64bits(x))
		}
	}
	w.ints(list, 4)
	return r
}
