package publish

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/untoldkit/untold/internal/jsonscan"
	"github.com/untoldkit/untold/manifest"
)

// edit replaces a value of a text.
type edit struct {
	jsonscan.Span
	value string
}

// rewrite puts the published paths into the manifest's text and leaves the rest of it
// as it is, keys that this program does not know included. It panics for a bug alone:
// the text was decoded before.
func (s *scene) rewrite() {
	to := map[string]string{}
	for rel, c := range s.containers {
		to[rel] = strings.TrimPrefix(c.key, s.base())
	}
	for _, t := range s.tables {
		to[t.rel] = strings.TrimPrefix(t.key, s.base())
	}
	e := &editor{text: s.text, to: to}
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

// check compares what a reader of the rewritten text finds with what it should.
func (s *scene) check() error {
	m, err := manifest.Decode(s.text)
	if err != nil {
		return contentError(s, "the paths could not be rewritten: %v", err)
	}
	old, found := s.doc.Payloads(), m.Payloads()
	for i, rel := range old {
		if want := strings.TrimPrefix(s.containers[rel].key, s.base()); i >= len(found) || found[i] != want {
			return contentError(s, "the path %q could not be rewritten: write the manifest anew with untold manifest normalize", rel)
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

// editor gathers the edits of a manifest.
type editor struct {
	text  []byte
	to    map[string]string // paths
	edits []edit
}

func (e *editor) top() {
	at := 0
	if bytes.HasPrefix(e.text, []byte("\xef\xbb\xbf")) {
		at = 3
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
					e.members(n, "path_relative_to_manifest", e.path)
				}
			})
		case "colorLUT", "colorGradeLUT":
			e.members(v, "lutUri", e.path)
		}
	}
}

func (e *editor) tile(t jsonscan.Span) {
	e.members(t, "path_relative_to_manifest", e.path)
	for _, levels := range [...]string{"hlod_levels", "lod_levels"} {
		e.members(t, levels, func(list jsonscan.Span) {
			for _, l := range jsonscan.Elements(e.text, list.Start) {
				e.members(l, "path", e.path)
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

// path replaces a path that is published.
func (e *editor) path(v jsonscan.Span) {
	var rel string
	if json.Unmarshal(v.Of(e.text), &rel) != nil {
		return
	}
	if to, ok := e.to[rel]; ok {
		e.set(v, to)
	}
}

func (e *editor) set(v jsonscan.Span, value string) {
	if v.Start >= len(e.text) || e.text[v.Start] != '"' {
		return // no text; the decoder says what that means
	}
	quoted, _ := json.Marshal(value) // of text that is UTF-8 always possible
	e.edits = append(e.edits, edit{v, string(quoted)})
}
