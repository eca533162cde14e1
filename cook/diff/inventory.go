package diff

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/untoldkit/untold/format"
)

// inventory gathers the materials and textures of one side over all its payloads.
// What it holds does not depend on their order.
type inventory struct {
	mu        sync.Mutex
	materials map[string]map[string]*seenMaterial // by name, by content
	payloads  map[string]int64                    // that have a material, by its name
	textures  map[string]*seenTexture             // by uri
}

type seenMaterial struct {
	key    string
	values []value
}

type seenTexture struct {
	key    string // of the first content in the order of keys
	values []value
	file   string // from the folder of the scene
}

func newInventory() *inventory {
	return &inventory{materials: map[string]map[string]*seenMaterial{}, payloads: map[string]int64{}, textures: map[string]*seenTexture{}}
}

// add notes what a payload has; rel is its path from the folder of the scene.
func (v *inventory) add(r *format.Reader, rel string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	here := map[string]bool{}
	for i := range r.Materials() {
		m := &r.Materials()[i]
		name, key := r.String(m.NameOffset), materialKey(r, m)
		if v.materials[name] == nil {
			v.materials[name] = map[string]*seenMaterial{}
		}
		if v.materials[name][key] == nil {
			v.materials[name][key] = &seenMaterial{key, materialValues(r, m)}
		}
		if !here[name] {
			here[name] = true
			v.payloads[name]++
		}
	}
	for i := range r.Textures() {
		t := &r.Textures()[i]
		uri, key := r.String(t.URIOffset), textureKey(r, t)
		file := path.Join(path.Dir(rel), uri)
		s := v.textures[uri]
		if s == nil {
			s = &seenTexture{key: key, values: textureValues(r, t), file: file}
			v.textures[uri] = s
		}
		if key < s.key {
			s.key, s.values = key, textureValues(r, t)
		}
		s.file = min(s.file, file)
	}
}

// union returns the keys of both maps, sorted.
func union[T any](a, b map[string]T) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}

// compareMaterials lists the materials that one side alone has, and those whose
// contents differ.
func compareMaterials(a, b *inventory) []Material {
	out := []Material{}
	for _, name := range union(a.materials, b.materials) {
		x, y := a.materials[name], b.materials[name]
		files := Pair{a.payloads[name], b.payloads[name]}
		switch {
		case len(x) == 0:
			out = append(out, Material{Name: name, Change: Added, Files: files})
		case len(y) == 0:
			out = append(out, Material{Name: name, Change: Removed, Files: files})
		default:
			for _, f := range pairMaterials(x, y) {
				out = append(out, Material{Name: name, Change: Changed, Fields: f, Files: files})
			}
		}
	}
	return out
}

// mostNamesakes is how many contents of one name are paired by likeness.
const mostNamesakes = 16

// pairMaterials returns the fields in which contents of one name differ, those
// that are most alike paired; a change that many share is listed once.
func pairMaterials(a, b map[string]*seenMaterial) (out [][]Field) {
	only := func(x, y map[string]*seenMaterial) (list []*seenMaterial) {
		for _, k := range slices.Sorted(maps.Keys(x)) {
			if y[k] == nil {
				list = append(list, x[k])
			}
		}
		return list
	}
	p, q := only(a, b), only(b, a)
	type pair struct {
		fields   []Field
		i, j     int
		low, top string
	}
	var pairs []pair
	for i := range p[:min(len(p), mostNamesakes)] {
		for j := range q[:min(len(q), mostNamesakes)] {
			low, top := min(p[i].key, q[j].key), max(p[i].key, q[j].key)
			pairs = append(pairs, pair{compareValues(p[i].values, q[j].values, 0), i, j, low, top})
		}
	}
	slices.SortFunc(pairs, func(x, y pair) int {
		return cmp.Or(cmp.Compare(len(x.fields), len(y.fields)), strings.Compare(x.low, y.low), strings.Compare(x.top, y.top))
	})
	usedA, usedB, known := map[int]bool{}, map[int]bool{}, map[string]bool{}
	for _, x := range pairs {
		if usedA[x.i] || usedB[x.j] || len(x.fields) == 0 {
			continue
		}
		usedA[x.i], usedB[x.j] = true, true
		if text := fmt.Sprint(x.fields); !known[text] {
			known[text] = true
			out = append(out, x.fields)
		}
	}
	if len(a) != len(b) {
		out = append(out, []Field{{Key: "variants", A: len(a), B: len(b)}})
	}
	return out
}
