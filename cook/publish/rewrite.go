package publish

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/internal/bom"
	"github.com/untoldkit/untold/internal/jsonscan"
	"github.com/untoldkit/untold/manifest"
)

// edit replaces a value of a text.
type edit struct {
	jsonscan.Span
	value string
}

// rewrite puts the published paths into the manifest's text, with the sizes and hashes of
// repacked containers, and leaves the rest of it as it is, keys that this program does not
// know included. It panics for a bug alone: the text was decoded before.
func (s *scene) rewrite() {
	to, repacked := map[string]string{}, map[string]*file{}
	for rel, c := range s.containers {
		to[rel] = strings.TrimPrefix(c.key, s.base())
		if c.repacked != nil {
			repacked[rel] = &c.file
		}
	}
	for _, t := range s.tables {
		to[t.rel] = strings.TrimPrefix(t.key, s.base())
	}
	e := &editor{text: s.text, to: to, repacked: repacked}
	e.top()
	var out bytes.Buffer
	at := 0
	slices.SortFunc(e.edits, func(a, b edit) int { return a.Start - b.Start })
	for _, x := range e.edits {
		out.Write(s.text[at:x.Start])
		out.WriteString(x.value)
		at = x.End
	}
	out.Write(s.text[at:])
	s.text = out.Bytes()
}

// check compares what a reader of the rewritten text finds with what is published: the paths
// of all payloads, and the sizes and hashes that entries promise.
func (s *scene) check() error {
	m, err := manifest.Decode(s.text)
	if err != nil {
		return contentError(s, "the paths could not be rewritten: %v", err)
	}
	const anew = "write the manifest anew with untold manifest normalize"
	old, found := promises(s.doc), promises(m)
	for i := range old {
		c := s.containers[old[i].path]
		if want := strings.TrimPrefix(c.key, s.base()); i >= len(found) || found[i].path != want {
			return contentError(s, "the path %q could not be rewritten: %s", old[i].path, anew)
		}
		if n := found[i].size; n != 0 && n != c.size {
			return contentError(s, "the entry of %q promises %d bytes, and %d are published: %s", old[i].path, n, c.size, anew)
		}
		if sum := found[i].sha; sum != "" && !strings.EqualFold(sum, c.sha) {
			return contentError(s, "the entry of %q promises the SHA-256 %q, and that of what is published is %s: %s", old[i].path, sum, c.sha, anew)
		}
	}
	tables := m.ColorTables()
	for i, t := range s.tables {
		if i >= len(tables) || tables[i] != strings.TrimPrefix(t.key, s.base()) {
			return contentError(s, "the path of the colour table %q could not be rewritten", t.rel)
		}
	}
	return nil
}

// promise is what an entry says of its file; 0 and "" are unknown.
type promise struct {
	path string
	size int64
	sha  string
}

// promises lists what a manifest says of its containers, in the order of Manifest.Payloads.
func promises(m *manifest.Manifest) (out []promise) {
	tile := func(t *manifest.Tile) {
		out = append(out, promise{t.Path, t.FileSizeBytes, t.SHA256})
		for _, levels := range [][]manifest.Level{t.HLODLevels, t.LODLevels} {
			for i := range levels {
				l := &levels[i]
				out = append(out, promise{l.Path, l.FileSizeBytes, l.SHA256})
			}
		}
	}
	for i := range m.Tiles {
		tile(&m.Tiles[i])
	}
	if m.SharedBucket != nil {
		tile(&m.SharedBucket.Tile)
	}
	if m.Pyramid != nil {
		for i := range m.Pyramid.Nodes {
			n := &m.Pyramid.Nodes[i]
			out = append(out, promise{n.Path, n.FileSizeBytes, n.SHA256})
		}
	}
	return out
}

// editor gathers the edits of a manifest.
type editor struct {
	text     []byte
	to       map[string]string // paths
	repacked map[string]*file  // by the paths that the manifest has
	edits    []edit
}

func (e *editor) top() {
	at := 0
	if _, marked := bom.Cut(e.text); marked {
		at = len(bom.UTF8)
	}
	for key, v := range jsonscan.Members(e.text, at) {
		switch string(key.Text) {
		case "payload_dir_relative_to_manifest":
			e.set(v, "payloads")
		case "tiles":
			for _, t := range jsonscan.Elements(e.text, v.Start) {
				e.tile(t)
			}
		case "shared_bucket":
			e.tile(v)
		case "pyramid":
			e.members(v, "nodes", func(nodes jsonscan.Span) {
				for _, n := range jsonscan.Elements(e.text, nodes.Start) {
					e.payload(n, "path_relative_to_manifest")
				}
			})
		case "colorLUT", "colorGradeLUT":
			e.members(v, "lutUri", e.path)
		}
	}
}

func (e *editor) tile(t jsonscan.Span) {
	e.payload(t, "path_relative_to_manifest")
	for _, levels := range [...]string{"hlod_levels", "lod_levels"} {
		e.members(t, levels, func(list jsonscan.Span) {
			for _, l := range jsonscan.Elements(e.text, list.Start) {
				e.payload(l, "path")
			}
		})
	}
}

// members calls do for the members of an object that have a key.
func (e *editor) members(object jsonscan.Span, key string, do func(jsonscan.Span)) {
	for k, v := range jsonscan.Members(e.text, object.Start) {
		if string(k.Text) == key {
			do(v)
		}
	}
}

// payload replaces the path of a container that is published, which the object has by a
// key, and what the object says of its bytes where these are other ones.
func (e *editor) payload(object jsonscan.Span, key string) {
	var is *file
	e.members(object, key, func(v jsonscan.Span) {
		e.path(v)
		is = e.repacked[e.textOf(v)]
	})
	if is == nil {
		return
	}
	e.members(object, "file_size_bytes", func(v jsonscan.Span) {
		e.edits = append(e.edits, edit{v, strconv.FormatInt(is.size, 10)})
	})
	e.members(object, "sha256", func(v jsonscan.Span) { e.set(v, is.sha) })
}

// path replaces a path that is published.
func (e *editor) path(v jsonscan.Span) {
	if to, ok := e.to[e.textOf(v)]; ok {
		e.set(v, to)
	}
}

// textOf returns a value that is text, else "".
func (e *editor) textOf(v jsonscan.Span) (s string) {
	if json.Unmarshal(v.Of(e.text), &s) != nil {
		return ""
	}
	return s
}

func (e *editor) set(v jsonscan.Span, value string) {
	if v.Start >= len(e.text) || e.text[v.Start] != '"' {
		return // no text; the decoder says what that means
	}
	quoted, _ := json.Marshal(value) // of text that is UTF-8 always possible
	e.edits = append(e.edits, edit{v, string(quoted)})
}
