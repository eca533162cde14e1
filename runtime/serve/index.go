package serve

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/manifest"
)

// Bounds of the search for manifests.
const (
	maxScenes  = 100
	maxVisited = 20_000 // files and folders
	indexDepth = 1      // folders below the served one that are looked into
)

// Scene is a manifest below the served folder.
type Scene struct {
	Path  string // from the folder, with slashes
	Tiles int
	Bytes int64 // of all payloads, as declared
}

// URL returns the scene's address below that of the server, which ends with a
// slash.
func (s *Scene) URL(base string) string {
	u := url.URL{Path: s.Path}
	return base + u.EscapedPath()
}

// Scenes lists the manifests in the folder and in the folders right below it,
// by their paths: at most 100.
func (h *Handler) Scenes(ctx context.Context) []Scene {
	dir, err := filepath.EvalSymlinks(h.tree.dir)
	if err != nil {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	// One search at a time: a page that many ask for at once is not worth the
	// memory of as many manifests.
	select {
	case h.search <- struct{}{}:
		defer func() { <-h.search }()
	case <-ctx.Done():
		return nil
	}
	var list []Scene
	visited, pending := 0, false
	add := func(name string) {
		if s, ok := h.scene(name); ok && len(list) < maxScenes {
			list = append(list, s)
		}
	}
	// What cannot be read is not listed.
	_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		visited++
		if err == nil && d.IsDir() && (name == "." || !hidden(name) && strings.Count(name, "/") < indexDepth) {
			for _, n := range coming(dir, name) {
				pending = true
				add(n)
			}
		}
		switch {
		case ctx.Err() != nil || visited > maxVisited || len(list) == maxScenes:
			return fs.SkipAll
		case err != nil || name == ".":
			return nil
		case d.IsDir() && (hidden(name) || strings.Count(name, "/") >= indexDepth):
			return fs.SkipDir
		case d.IsDir() || hidden(name) || !strings.EqualFold(filepath.Ext(name), ".json"):
			return nil
		}
		add(name)
		return nil
	})
	if pending {
		slices.SortFunc(list, func(a, b Scene) int { return strings.Compare(a.Path, b.Path) })
	}
	return list
}

// coming lists the manifests of a folder below dir that a cook has committed and not
// brought to their places yet, where there is none of that name: those of first
// cooks.
func coming(dir, folder string) (list []string) {
	at := filepath.Join(dir, filepath.FromSlash(folder))
	if pending, err := journal.Pending(at); !pending || err != nil {
		return nil
	}
	names, err := journal.Names(at)
	if err != nil {
		return nil
	}
	for _, n := range names {
		if hidden(n) || !strings.EqualFold(filepath.Ext(n), ".json") {
			continue
		}
		if _, err := os.Lstat(filepath.Join(at, n)); errors.Is(err, fs.ErrNotExist) {
			list = append(list, path.Join(folder, n))
		}
	}
	return list
}

// maxKnown bounds the memory for what files were found to be.
const maxKnown = 4 * maxScenes

// known is what a file of some size and time was found to be.
type known struct {
	size  int64
	mod   time.Time
	scene Scene
	is    bool // a manifest
}

// scene says what a file is, and reads it when it has changed. It belongs to
// the one search at a time.
func (h *Handler) scene(name string) (Scene, bool) {
	f, st, err := h.tree.open(name)
	if err != nil {
		return Scene{}, false
	}
	defer f.Close()
	if k, ok := h.known[name]; ok && k.size == st.Size() && k.mod.Equal(st.ModTime()) {
		return k.scene, k.is
	}
	h.parsed++
	k := known{size: st.Size(), mod: st.ModTime()}
	k.scene, k.is = readScene(f, name, st.Size())
	if h.opts.Clock.Now().Sub(k.mod).Abs() > racy {
		if len(h.known) >= maxKnown {
			clear(h.known)
		}
		h.known[name] = k
	}
	return k.scene, k.is
}

// manifestKeys are some of those that stand near the beginning of a manifest,
// in the order that cook writes and in that of the alphabet.
var manifestKeys = []string{`"version"`, `"partitioning_mode"`, `"streaming_defaults"`, `"tiles"`, `"axis_convention"`, `"dry_run"`, `"colorLUT"`}

// readScene reads a manifest, if a file is one. Large files are not read for a
// page unless they begin like one.
func readScene(f io.Reader, name string, size int64) (Scene, bool) {
	if size > manifest.MaxBytes {
		return Scene{}, false
	}
	b := bufio.NewReaderSize(f, 4<<10)
	head, _ := b.Peek(4 << 10) // what there is of it, also before an error
	if !slices.ContainsFunc(manifestKeys, func(key string) bool { return bytes.Contains(head, []byte(key)) }) {
		return Scene{}, false
	}
	m, err := manifest.Read(io.LimitReader(b, manifest.MaxBytes))
	if err != nil {
		return Scene{}, false
	}
	s := Scene{Path: name, Tiles: len(m.Tiles)}
	add := func(t *manifest.Tile) {
		s.Bytes += t.FileSizeBytes
		for _, levels := range [][]manifest.Level{t.HLODLevels, t.LODLevels} {
			for i := range levels {
				s.Bytes += levels[i].FileSizeBytes
			}
		}
	}
	for i := range m.Tiles {
		add(&m.Tiles[i])
	}
	if m.SharedBucket != nil {
		add(&m.SharedBucket.Tile)
	}
	if m.Pyramid != nil {
		for i := range m.Pyramid.Nodes {
			s.Bytes += m.Pyramid.Nodes[i].FileSizeBytes
		}
	}
	return s, true
}

var indexPage = template.Must(template.New("index").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Scenes</title>
<style>body{font:16px system-ui,sans-serif;margin:2em}td,th{padding:.2em 1.2em .2em 0;text-align:right}td:first-child,th:first-child{text-align:left}</style></head>
<body><h1>Scenes</h1>
{{if .}}<table><tr><th>manifest</th><th>tiles</th><th>MB</th></tr>
{{range .}}<tr><td><a href="{{.Link}}">{{.Path}}</a></td><td>{{.Tiles}}</td><td>{{printf "%.1f" .MB}}</td></tr>
{{end}}</table>{{else}}<p>This folder has no manifest.</p>{{end}}
</body></html>
`))

// index sends the page of "/".
func (h *Handler) index(w *response, r *http.Request) {
	type row struct {
		Link, Path string
		Tiles      int
		MB         float64
	}
	var rows []row
	for _, s := range h.Scenes(r.Context()) {
		rows = append(rows, row{s.URL("./"), s.Path, s.Tiles, float64(s.Bytes) / 1e6})
	}
	var page bytes.Buffer
	if err := indexPage.Execute(&page, rows); err != nil { // not with these rows
		w.fail(http.StatusInternalServerError, "no index")
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(page.Bytes()))
}
