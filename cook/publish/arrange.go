package publish

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/untoldkit/untold/cook/internal/publication"
)

// setDigits is how many hex digits of its hash name a set of textures.
const setDigits = 32

// scattered is how many times the bytes of its textures a scene may store before its
// containers move together.
const scattered = 2

// set is a folder of containers and their textures: URIs to SHA-256.
type set struct {
	key        string // with a slash at the end
	textures   map[string]string
	containers map[string]bool // of the last version, by SHA-256
}

// has reports whether a container finds its textures in the set.
func (s *set) has(c *container) bool {
	for uri, f := range c.textures {
		if s.textures[uri] != f.sha {
			return false
		}
	}
	return true
}

// setName names a set of textures by what is in it.
func setName(textures map[string]string) string {
	h := sha256.New()
	for _, uri := range slices.Sorted(maps.Keys(textures)) {
		// A hash never fails; neither a URI nor a hash holds a line break.
		_, _ = io.WriteString(h, uri+"\n"+textures[uri]+"\n")
	}
	return hex.EncodeToString(h.Sum(nil))[:setDigits]
}

// arrange gives every file its key, writes the manifests' texts, for a page compressed ones,
// too, and returns the version that comes of it.
func arrange(scenes []*scene, last *publication.Version, page bool) *publication.Version {
	groups := map[string][]*container{} // by the prefix of their payloads
	for _, s := range scenes {
		for _, rel := range slices.Sorted(maps.Keys(s.containers)) {
			groups[s.payloads()] = append(groups[s.payloads()], s.containers[rel])
		}
	}
	for _, at := range slices.Sorted(maps.Keys(groups)) {
		settle(at, groups[at], setsOf(last, at))
	}
	next := &publication.Version{}
	for _, s := range scenes {
		for _, t := range s.tables {
			t.key = s.payloads() + t.sha + strings.ToLower(path.Ext(t.rel))
		}
		s.rewrite()
		if page {
			s.pack()
		}
		next.Scenes = append(next.Scenes, s.record())
	}
	return next
}

// settle finds the folders of containers, which share a prefix.
func settle(at string, all []*container, sets []*set) {
	slices.SortStableFunc(sets, func(a, b *set) int {
		return cmp.Or(cmp.Compare(len(b.containers), len(a.containers)), strings.Compare(a.key, b.key))
	})
	used := map[string]bool{}
	fresh := map[string][]*container{} // by their folders, in which a name is one file
	for _, c := range all {
		if len(c.textures) == 0 {
			c.key = at + c.sha + ".untold"
			continue
		}
		i := slices.IndexFunc(sets, func(s *set) bool { return s.containers[c.sha] && s.has(c) })
		if i < 0 {
			i = slices.IndexFunc(sets, func(s *set) bool { return s.has(c) })
		}
		if i < 0 {
			fresh[path.Dir(c.source)] = append(fresh[path.Dir(c.source)], c)
			continue
		}
		c.place(sets[i].key)
		used[sets[i].key] = true
	}
	for _, from := range slices.Sorted(maps.Keys(fresh)) {
		textures := map[string]string{}
		for _, c := range fresh[from] {
			for uri, f := range c.textures {
				textures[uri] = f.sha
			}
		}
		key := at + setName(textures) + "/"
		for _, c := range fresh[from] {
			c.place(key)
		}
		used[key] = true
	}
	if len(sets) > 0 && len(used) > 1 && tooScattered(all) {
		settle(at, all, nil)
	}
}

// place puts a container into a folder.
func (c *container) place(folder string) { c.key = folder + c.sha + ".untold" }

// tooScattered compares what textures take in all folders with what they would in
// those that they were cooked in.
func tooScattered(all []*container) bool {
	stored, cooked := map[string]int64{}, map[string]int64{}
	for _, c := range all {
		for uri, f := range c.textures {
			stored[path.Dir(c.key)+"/"+uri] = f.size
			cooked[f.source] = f.size
		}
	}
	sum := func(m map[string]int64) (n int64) {
		for _, v := range m {
			n += v
		}
		return n
	}
	return sum(stored) > scattered*sum(cooked)
}

// filesOf lists the payloads of scenes, each key once, sorted.
func filesOf(scenes []*scene) []*file {
	known := map[string]*file{}
	add := func(key string, f *file) {
		if known[key] == nil {
			one := *f
			one.key = key
			known[key] = &one
		}
	}
	for _, s := range scenes {
		for _, rel := range slices.Sorted(maps.Keys(s.containers)) {
			c := s.containers[rel]
			add(c.key, &c.file)
			for _, uri := range slices.Sorted(maps.Keys(c.textures)) {
				add(path.Dir(c.key)+"/"+uri, c.textures[uri])
			}
		}
		for _, t := range s.tables {
			add(t.key, t)
		}
		if s.packed != nil {
			add(s.packed.key, s.packed)
		}
	}
	out := make([]*file, 0, len(known))
	for _, key := range slices.Sorted(maps.Keys(known)) {
		out = append(out, known[key])
	}
	return out
}

// record says what the scene consists of.
func (s *scene) record() publication.Scene {
	sum := sha256.Sum256(s.text)
	out := publication.Scene{Manifest: s.manifest, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(s.text))}
	for _, f := range filesOf([]*scene{s}) {
		out.Files = append(out.Files, publication.File{Key: f.key, Size: f.size, SHA256: f.sha})
	}
	return out
}

// setsOf lists the folders of textures below a prefix that a version has.
func setsOf(v *publication.Version, at string) []*set {
	if v == nil {
		return nil
	}
	known := map[string]*set{}
	var out []*set
	for i := range v.Scenes {
		for _, f := range v.Scenes[i].Files {
			rest, ok := strings.CutPrefix(f.Key, at)
			name, uri, below := strings.Cut(rest, "/")
			if !ok || !below || len(name) != setDigits {
				continue
			}
			s := known[name]
			if s == nil {
				s = &set{key: at + name + "/", textures: map[string]string{}, containers: map[string]bool{}}
				known[name] = s
				out = append(out, s)
			}
			if path.Base(uri) == uri && strings.HasSuffix(uri, ".untold") {
				s.containers[f.SHA256] = true
			} else {
				s.textures[uri] = f.SHA256
			}
		}
	}
	return out
}

// contentError is about a manifest that could not be rewritten.
func contentError(s *scene, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", ErrScene, s.manifest, fmt.Sprintf(format, args...))
}
