package verify

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/untoldkit/untold/cook/internal/publication"
	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/internal/plainfile"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/payloadpath"
)

// The codes of findings about files below a folder that are part of no scene.
const (
	CodePayloadUnnamed = "payload-unnamed"     // warning: no manifest names the container
	CodeTextureUnnamed = "texture-unnamed"     // warning: no container names the texture
	CodeTableUnnamed   = "color-table-unnamed" // warning: no manifest names the colour table of a cook
	CodeUnfinished     = "cook-unfinished"     // warning: a stopped cook has moved a part of its files
	CodeLeftover       = "leftover"            // info: what a stopped program has left
)

// folderCode says what is wrong with a file, and what to do.
type folderCode struct {
	code          finding.Code
	severity      finding.Severity
	message, hint string
}

var (
	payloadUnnamed = folderCode{
		CodePayloadUnnamed, finding.Warning, "no manifest names this file, so that nothing ever loads it",
		"cook the scene again if its manifest is lost; remove the file if it is of an older scene",
	}
	textureUnnamed = folderCode{
		CodeTextureUnnamed, finding.Warning, "no container beside it names this texture, so that nothing ever loads it",
		"remove it if it is of an older scene",
	}
	tableUnnamed = folderCode{
		CodeTableUnnamed, finding.Warning, "no manifest names this colour table, so that no picture is graded by it",
		"cook the scene again with --grade if its pictures are to be graded; else remove the file",
	}
	unfinished = folderCode{
		CodeUnfinished, finding.Warning, "a cook was stopped, or is at work, between the commit of its scene and the last rename: the new scene is what is read and judged here, other programs see a mixture",
		"cook again into the folder: that finishes it first",
	}
	leftover = folderCode{
		CodeLeftover, finding.Info, "a program that was stopped has left this, or one is at work",
		"the next cook removes its own kind; remove a temporary file by hand",
	}
)

func (c *folderCode) finding() finding.Finding {
	return finding.Finding{Code: c.code, Severity: c.severity, Message: c.message, Hint: c.hint, Record: -1, Offset: -1, Place: "file"}
}

// tileName matches what a cook calls tiles, levels and buckets.
var tileName = regexp.MustCompile(`^(tile(_-?[0-9]+){3}|F[0-9]{2}[_A-Z].*|.+_(shared|hlod|lod[0-9]+))(_hlod|_lod[0-9]+)?\.untold$`)

// scenes is what the manifests in sight name.
type scenes struct {
	read    map[string]bool // manifests
	named   map[string]bool // containers and colour tables, by real paths
	folders map[string]bool // of payloads, by real paths
}

func realPath(p string) string {
	if real, err := filepath.EvalSymlinks(p); err == nil {
		p = real
	}
	if abs, err := filepath.Abs(p); err == nil {
		p = abs
	}
	return p
}

func (s *scenes) init() {
	if s.read == nil {
		s.read, s.named, s.folders = map[string]bool{}, map[string]bool{}, map[string]bool{}
	}
}

// add notes what a manifest names.
func (s *scenes) add(file string, m *manifest.Manifest) {
	s.init()
	key := realPath(file)
	if s.read[key] {
		return
	}
	s.read[key] = true
	dir := filepath.Dir(file)
	if m.PayloadDir != "" && payloadpath.Check(m.PayloadDir) == nil {
		s.folders[realPath(filepath.Join(dir, filepath.FromSlash(m.PayloadDir)))] = true
	}
	for _, rel := range slices.Concat(m.Payloads(), m.ColorTables()) {
		if p, err := payloadpath.Resolve(dir, rel); err == nil {
			s.named[realPath(p)] = true
		}
	}
}

// addPublished notes what the versions name that a folder has as a place of published
// scenes: older ones have no manifest outside of their records.
func (s *scenes) addPublished(dir string) {
	s.init()
	at := filepath.Join(dir, filepath.FromSlash(publication.Folder))
	entries, _ := os.ReadDir(at) // most folders have none
	for _, e := range entries {
		n, ok := publication.Number(publication.Folder + e.Name())
		if !ok {
			continue
		}
		data, err := plainfile.Read(filepath.Join(at, e.Name()), manifest.MaxBytes)
		if err != nil {
			continue // names nothing
		}
		v, err := publication.Parse(data, n)
		if err != nil {
			continue
		}
		for i := range v.Scenes {
			for _, f := range v.Scenes[i].Files {
				s.named[realPath(filepath.Join(dir, filepath.FromSlash(f.Key)))] = true
			}
		}
	}
}

// addAround reads the manifests in the folders above one, where those of its
// tiles usually lie.
func (s *scenes) addAround(dir string, seen map[string]bool) {
	const up = 3
	dir = realPath(dir)
	for range up + 1 {
		if seen[dir] {
			return
		}
		seen[dir] = true
		names, _ := journal.Names(dir) // what cannot be read names nothing
		for _, n := range names {
			file := filepath.Join(dir, n)
			if strings.EqualFold(filepath.Ext(n), ".json") && !s.read[file] && IsManifest(file) {
				if m, err := manifest.Load(file); err == nil {
					s.add(file, m)
				}
			}
		}
		dir = filepath.Dir(dir)
	}
}

// covers reports whether a folder is that of a scene's payloads or below one.
func (s *scenes) covers(dir string) bool {
	for {
		if s.folders[dir] {
			return true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}

// findUnnamed adds findings to the files found below folders that are part of
// no scene.
func (l *fileList) findUnnamed() {
	seen := map[string]bool{}
	for _, j := range l.files {
		if j.found && isContainer(j.path) && !l.scenes.named[realPath(j.path)] {
			l.scenes.addAround(filepath.Dir(j.path), seen)
		}
	}
	folders := map[string]bool{} // of payloads
	for i := range l.files {
		j := &l.files[i]
		if !j.found || !isContainer(j.path) {
			continue
		}
		real := realPath(j.path)
		named := l.scenes.named[real]
		lost := !named && (l.scenes.covers(filepath.Dir(real)) || tileName.MatchString(filepath.Base(real)))
		if lost {
			j.preset = append(j.preset, payloadUnnamed.finding())
		}
		if named || lost {
			folders[filepath.Dir(j.path)] = true
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		l.findUnnamedTextures(dir)
		l.findUnnamedTables(dir)
	}
}

// tableEnd ends the names that a cook gives colour tables. Others beside tiles may be
// anybody's.
const tableEnd = "_grade.cube"

// findUnnamedTables adds findings about what is left of the colour tables that a cook
// has put beside the containers of one folder.
func (l *fileList) findUnnamedTables(dir string) {
	names, _ := journal.Names(dir) // what cannot be read has been told of
	for _, n := range names {
		if file := filepath.Join(dir, n); strings.HasSuffix(n, tableEnd) && !l.scenes.named[realPath(file)] {
			l.note(file, &tableUnnamed)
		}
	}
}

func isContainer(p string) bool { return strings.EqualFold(filepath.Ext(p), ".untold") }

// findUnnamedTextures adds findings about the textures beside the containers of
// one folder.
func (l *fileList) findUnnamedTextures(dir string) {
	names, err := journal.Names(filepath.Join(dir, texture.Folder))
	if err != nil || len(names) == 0 {
		return
	}
	named, ok := texturesOf(dir)
	if !ok {
		return // nobody can tell what a damaged container names
	}
	for _, n := range names {
		if named[journal.Fold(n)] || !slices.Contains(textureExts, strings.ToLower(filepath.Ext(n))) {
			continue
		}
		file := filepath.Join(dir, texture.Folder, n)
		l.note(file, &textureUnnamed)
	}
}

// textureExts end the names of textures.
var textureExts = []string{".png", ".jpg", ".jpeg", ".utex", ".ktx2", ".webp"}

// texturesOf lists, folded, the files in the folder of textures that the
// containers of a folder name. ok is false when one cannot be read.
func texturesOf(dir string) (named map[string]bool, ok bool) {
	named = map[string]bool{}
	names, err := journal.Names(dir)
	if err != nil {
		return nil, false
	}
	for _, n := range names {
		if !isContainer(n) || atomicfile.IsTemp(n) {
			continue
		}
		r, err := format.Open(filepath.Join(dir, n))
		if err != nil {
			return nil, false
		}
		for _, t := range r.Textures() {
			// Readers also take the last element beside the container, and
			// ignore case.
			named[journal.Fold(path.Base(r.String(t.URIOffset)))] = true
		}
		r.Close()
	}
	return named, true
}

// note adds a finding to a file that is listed, or lists it for the finding
// alone.
func (l *fileList) note(file string, c *folderCode) {
	if _, there := l.index[file]; !there {
		l.index[file] = len(l.files)
		l.files = append(l.files, job{path: file, noted: true})
	}
	j := &l.files[l.index[file]]
	j.preset = append(j.preset, c.finding())
}

// findLeftovers lists what stopped programs have left below a folder.
func (l *fileList) findLeftovers(dir string) error {
	return journal.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		name := ""
		if d != nil {
			name = d.Name()
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // gone meanwhile: a program is at work
		case err != nil:
			return err
		case !d.IsDir():
			if atomicfile.IsTemp(name) {
				l.note(p, &leftover)
			}
		case name == journal.Folder:
			l.findStages(filepath.Dir(p))
			return fs.SkipDir
		case strings.HasPrefix(name, journal.Folder+"-cook-"): // of earlier versions
			l.note(p, &leftover)
			return fs.SkipDir
		case strings.HasPrefix(name, ".") && p != dir:
			return fs.SkipDir
		}
		return nil
	})
}

// findStages looks into the state folder of a scene.
func (l *fileList) findStages(dir string) {
	pending, err := journal.Pending(dir)
	if pending || err != nil {
		c := unfinished
		if err != nil {
			c.severity, c.message = finding.Error, err.Error()
		}
		l.note(filepath.Join(dir, filepath.FromSlash(journal.Name)), &c)
		return // the stage belongs to it
	}
	list, err := os.ReadDir(filepath.Join(dir, journal.Folder))
	if err != nil {
		return
	}
	for _, e := range list {
		if e.IsDir() && journal.IsStage(e.Name()) {
			l.note(filepath.Join(dir, journal.Folder, e.Name()), &leftover)
		}
	}
}
