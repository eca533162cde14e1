// Package usd reads scenes of Universal Scene Description (.usda, .usdc, .usd and packages
// .usdz) and makes glTF scenes of them, which package gltfscene opens like any other.
//
// Layers are composed as far as scenes that stand still need: sublayers, references,
// payloads, inherits, specializes and the variants that are selected. What is drawn are
// meshes, the simple shapes and point instancers, with UsdPreviewSurface materials. What is
// left out is counted in notes.
package usd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/beside"
	"github.com/untoldkit/untold/cook/internal/gltfdoc"
	"github.com/untoldkit/untold/cook/internal/triangulate"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/internal/scratch"
)

// scratchPrefix begins the names of temporary files.
const scratchPrefix = "untold-usd-"

// Bounds of a scene.
const (
	maxLayers   = 1 << 16
	maxArcs     = 1 << 12 // what a prim may be composed of
	maxSets     = 1 << 12 // variant sets of a prim
	primBytes   = 1024    // of the memory, for a prim that is drawn
	maxChain    = 64      // references through references
	maxSubDepth = 64      // sublayers through sublayers
)

// IsName reports whether a file's name ends like one of USD.
func IsName(name string) bool { return isLayer(filepath.Base(name)) || isPackage(filepath.Base(name)) }

// Options say how a scene is read.
type Options struct {
	// Memory is the main memory, in bytes, of which reading takes a part; 0 stands for
	// 1 GiB. The result does not depend on it.
	Memory int64
	// AllowParentPaths permits names of layers and images that leave the scene's folder.
	AllowParentPaths bool
	// AllowMissing makes layers and images that are missing a warning.
	AllowMissing bool
	// Progress, when set, is called with hundredths as they are done.
	Progress func(done, total int)
}

func (o *Options) memory() int64 {
	if o.Memory > 0 {
		return o.Memory
	}
	return 1 << 30
}

// reader reads one scene.
type reader struct {
	ctx      context.Context
	opts     *Options
	beside   folder
	main     source
	mainFile opened
	mainSize int64

	archives map[string]*archive
	layers   map[string]*loaded
	stacks   map[string]*stack
	keep     []opened // files that are read until the scene is made
	inMemory int64    // bytes of layers that are
	parsed   int64    // bytes of what was made of layers
	sources  []string
	listed   map[string]bool
	notes    []gltfscene.Note
	noteAt   map[string]int

	stage *stage
	builder
}

// builder makes the glTF scene.
type builder struct {
	file *os.File
	out  *bufio.Writer
	n    int64 // bytes written

	nodes, meshes, accessors          []byte // elements of the sections, with commas between them
	nodeCount, meshCount, accessCount int
	images                            []imageView
	doc                               *document
	cutter                            triangulate.Cutter
	table                             gltfdoc.Table[vertex]
	meshOf                            map[string]int
	materialOf                        map[string]int
}

// Read makes a scene of an open file. name is its path; other layers and images are looked
// for in its folder. The error is a *gltfscene.Error that names the file, or ctx's. Whoever
// gets the scene closes it, or hands it to gltfscene.OpenMade.
func Read(ctx context.Context, name string, f *os.File, opts Options) (*gltfscene.Made, error) {
	fail := func(reason string, err error) (*gltfscene.Made, error) {
		return nil, &gltfscene.Error{File: name, Reason: reason + err.Error(), Err: errors.Join(gltfscene.ErrMissingFile, err)}
	}
	st, err := f.Stat()
	if err != nil {
		return fail("cannot be read: ", err)
	}
	dir, err := beside.NewFolder(filepath.Dir(name), opts.AllowParentPaths)
	if err != nil {
		return fail("its folder cannot be read: ", err)
	}
	defer dir.Close()
	made, err := read(ctx, filepath.Base(name), f, st.Size(), disk{dir}, opts)
	if err == nil {
		return made, nil
	}
	return nil, gltfdoc.Named(ctx, name, err)
}

// read makes a scene of size bytes.
func read(ctx context.Context, base string, f opened, size int64, dir folder, opts Options) (*gltfscene.Made, error) {
	r := &reader{
		ctx: ctx, opts: &opts, beside: dir, main: source{name: base}, mainFile: f, mainSize: size,
		archives: map[string]*archive{}, layers: map[string]*loaded{}, stacks: map[string]*stack{},
		listed: map[string]bool{}, noteAt: map[string]int{},
	}
	r.meshOf, r.materialOf, r.doc = map[string]int{}, map[string]int{}, newDocument()
	defer func() {
		for _, f := range r.keep {
			f.Close()
		}
	}()
	if size == 0 {
		return nil, malformed("", "the file is empty")
	}
	head := make([]byte, min(size, 4))
	if _, err := f.ReadAt(head, 0); err != nil {
		return nil, err
	}
	first := r.main
	var err error
	if isPackage(base) || string(head) == "PK\x03\x04" {
		a, err := openArchive(base, f, size)
		if err != nil {
			return nil, err
		}
		r.archives[first.String()] = a
		if first, err = r.into(source{a, a.first}, "", false, base, 1); err != nil {
			return nil, err
		}
	}
	if r.file, err = scratch.File(scratchPrefix); err != nil {
		return nil, gltfdoc.Working(err)
	}
	r.out = bufio.NewWriterSize(r.file, 256<<10)
	made, err := r.make(first)
	if err != nil {
		scratch.Close(r.file)
		return nil, err
	}
	return made, nil
}

func (r *reader) make(first source) (*gltfscene.Made, error) {
	if err := r.openStage(first); err != nil {
		return nil, err
	}
	roots, err := r.walkAll()
	if err != nil {
		return nil, err
	}
	text, err := r.json(roots)
	if err != nil {
		return nil, err
	}
	if err := r.out.Flush(); err != nil {
		return nil, gltfdoc.Working(err)
	}
	made := &gltfscene.Made{JSON: text, Buffer: r.file, Size: r.n, Files: r.sources, Images: r.doc.places, Notes: r.notes}
	if r.n == 0 {
		made.Close()
	}
	return made, nil
}

// note counts an occurrence.
func (r *reader) note(code string, warning bool, where, message string) {
	if i, ok := r.noteAt[code]; ok {
		r.notes[i].Count++
		return
	}
	r.noteAt[code] = len(r.notes)
	r.notes = append(r.notes, gltfscene.Note{Code: code, Count: 1, Message: human.OneLine(message), Where: human.OneLine(where), Warning: warning})
}

// optional reports whether an error is about a file that may be missing.
func (r *reader) optional(err error) bool {
	return r.opts.AllowMissing && (errors.Is(err, gltfscene.ErrMissingFile) || errors.Is(err, fs.ErrNotExist))
}

// malformed returns an error about what breaks a rule of the format.
func malformed(place, format string, args ...any) *gltfscene.Error {
	return &gltfscene.Error{Place: place, Reason: fmt.Sprintf(format, args...), Err: gltfscene.ErrMalformed}
}

// tooLarge returns an error about what does not fit.
func tooLarge(place, format string, args ...any) *gltfscene.Error {
	return &gltfscene.Error{Place: place, Reason: fmt.Sprintf(format, args...), Hint: "divide the scene, or cook where there is more memory", Err: gltfscene.ErrTooLarge}
}

// clip shortens text of a file.
func clip(s string) string { return human.Clip(s, 80) }

// stem is a file's name without its ending.
func stem(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }
