// Package glbwrite writes large glTF 2.0 scenes as a stream: geometry and the
// JSON of each object leave memory as soon as they are added, so the size of
// a scene is bounded by the disk and not by memory. It serves what makes scenes;
// the cooker does not use it.
//
// Objects are numbered in the order in which they are added. A node must be
// added after its children, because its JSON names them.
package glbwrite

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/glb"
)

// ErrTooLarge reports a binary glTF beyond the 4 GiB that its header can say.
var ErrTooLarge = errors.New("glbwrite: the scene is larger than 4 GiB, which .glb cannot hold; write .gltf or a smaller scene")

// Writer collects a scene and writes it when closed. Its methods are not safe
// for concurrent use. Errors stick: after the first one the methods do
// nothing and Close returns it.
type Writer struct {
	*glb.Writer
	generator string
	used      []string
	required  []string
	root      map[string]json.RawMessage // root extensions by name
	external  []string                   // image files written so far, for Abort
	err       error
	scratch   []byte
}

// binBytes is how much a .bin file beside a .gltf holds, about.
const binBytes = 2 << 30

// Create prepares a writer for path, which ends in .glb or .gltf. Nothing
// appears under that name before Close; a .gltf gets a .bin of the same name, one more
// for every 2 GiB, and image files beside it.
func Create(path, generator string) (*Writer, error) {
	o := glb.Options{Separator: ",\n", Limit: math.MaxInt64, TooLarge: ErrTooLarge, Files: atomicfile.Options{NoSync: true}}
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".glb":
		o.Limit = math.MaxUint32
	case ".gltf":
		o.Split = binBytes
	default:
		return nil, fmt.Errorf("glbwrite: %s: unknown file type %q; use .glb or .gltf", path, ext)
	}
	dir := filepath.Dir(path)
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, fmt.Errorf("glbwrite: output folder: %w", err)
		}
	}
	w, err := glb.Create(path, o)
	if err != nil {
		return nil, fmt.Errorf("glbwrite: %w", err)
	}
	return &Writer{Writer: w, generator: generator, root: map[string]json.RawMessage{}}, nil
}

// Object appends v, marshalled as JSON, to a section and returns its index.
func (w *Writer) Object(s glb.Section, v any) int {
	i, err := w.Add(s, v)
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("glbwrite: %w", err)
	}
	return i
}

// Use lists an extension as used, and as required when required is true.
func (w *Writer) Use(ext string, required bool) {
	if !slices.Contains(w.used, ext) {
		w.used = append(w.used, ext)
	}
	if required && !slices.Contains(w.required, ext) {
		w.required = append(w.required, ext)
	}
}

// RootExtension sets an extension object of the document's root and lists it
// as used.
func (w *Writer) RootExtension(name string, v any) {
	b, err := json.Marshal(v)
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("glbwrite: extension %s: %w", name, err)
	}
	w.root[name] = b
	w.Use(name, false)
}

// View appends data to the binary buffer at a multiple of four bytes and
// returns the index of a new buffer view over it. stride is 0 for tightly
// packed data, target 0 for data that is no vertex or index data.
func (w *Writer) View(data []byte, stride, target int) int {
	off, err := w.Align()
	if err == nil {
		_, err = w.Write(data)
	}
	if w.err == nil {
		w.err = err
	}
	b := append(w.scratch[:0], `{"buffer":`...)
	b = appendInt(b, int64(w.Buffer()))
	b = append(b, `,"byteOffset":`...)
	b = appendInt(b, off)
	b = append(b, `,"byteLength":`...)
	b = appendInt(b, int64(len(data)))
	if stride > 0 {
		b = append(b, `,"byteStride":`...)
		b = appendInt(b, int64(stride))
	}
	if target > 0 {
		b = append(b, `,"target":`...)
		b = appendInt(b, int64(target))
	}
	w.scratch = append(b, '}')
	return w.Raw(glb.BufferViews, w.scratch)
}

// Image adds an encoded picture and returns its index: inside the buffer of
// a .glb, a file of its own beside a .gltf. mime is image/png or image/jpeg.
func (w *Writer) Image(name, mime string, data []byte) int {
	if w.Binary() {
		return w.Object(glb.Images, map[string]any{"name": name, "mimeType": mime, "bufferView": w.View(data, 0, 0)})
	}
	ext := map[string]string{"image/png": ".png", "image/jpeg": ".jpg"}[mime]
	rel := filepath.Base(w.Stem()) + "_images/" + fileName(name) + ext
	file := filepath.Join(filepath.Dir(w.Path()), filepath.FromSlash(rel))
	if w.err == nil {
		w.err = os.MkdirAll(filepath.Dir(file), 0o777)
	}
	if w.err == nil {
		w.external = append(w.external, file)
		w.err = os.WriteFile(file, data, 0o666)
	}
	return w.Object(glb.Images, map[string]any{"name": name, "mimeType": mime, "uri": glb.EscapeURI(rel)})
}

// Close writes the file with one scene of the given roots and returns the
// number of bytes written, all files together without images beside a .gltf.
func (w *Writer) Close(scene string, roots []int) (int64, error) {
	if w.err != nil {
		w.Drop()
		return 0, w.err
	}
	n, err := w.Writer.Close(func(buffers []glb.Buffer) (head, tail []byte) { return w.frame(scene, roots, buffers) })
	if err != nil && !errors.Is(err, ErrTooLarge) {
		err = fmt.Errorf("glbwrite: %w", err)
	}
	return n, err
}

// Abort drops what was collected and removes the files written so far.
func (w *Writer) Abort() {
	for _, f := range w.external {
		os.Remove(f)
	}
	if len(w.external) > 0 {
		os.Remove(filepath.Dir(w.external[0]))
	}
	w.Drop()
}

// frame returns the JSON before and after the sections.
func (w *Writer) frame(scene string, roots []int, buffers []glb.Buffer) (head, tail []byte) {
	b := []byte(`{"asset":{"version":"2.0","generator":`)
	b = append(appendString(b, w.generator), '}')
	list := func(key string, names []string) {
		if len(names) > 0 {
			b = append(append(b, `,"`+key+`":`...), encoded(slices.Sorted(slices.Values(names)))...)
		}
	}
	list("extensionsUsed", w.used)
	list("extensionsRequired", w.required)
	if len(w.root) > 0 {
		b = append(append(b, `,"extensions":`...), encoded(w.root)...) // keys come out sorted
	}
	b = append(b, `,"scene":0,"scenes":[{"name":`...)
	b = appendString(b, scene)
	if len(roots) > 0 {
		b = appendInts(append(b, `,"nodes":`...), roots)
	}
	b = append(b, `}]`...)
	if len(buffers) == 0 {
		return b, []byte(`}`)
	}
	t := []byte(`,"buffers":[`)
	for i, f := range buffers {
		if i > 0 {
			t = append(t, ',')
		}
		t = appendInt(append(t, `{"byteLength":`...), f.Size)
		if f.URI != "" {
			t = appendString(append(t, `,"uri":`...), f.URI)
		}
		t = append(t, '}')
	}
	return b, append(t, `]}`...)
}

// encoded returns the JSON of what always has one: texts, and JSON itself.
func encoded(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
