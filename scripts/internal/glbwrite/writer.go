// Package glbwrite writes large glTF 2.0 scenes as a stream: geometry and the
// JSON of each object leave memory as soon as they are added, so the size of
// a scene is bounded by the disk and not by memory. It serves the programs
// under scripts; the cooker does not use it.
//
// Objects are numbered in the order in which they are added. A node must be
// added after its children, because its JSON names them.
package glbwrite

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/untoldkit/untold/internal/glb"
)

// ErrTooLarge reports a binary glTF beyond the 4 GiB that its header can say.
var ErrTooLarge = errors.New("glbwrite: the scene is larger than 4 GiB, which .glb cannot hold; write .gltf or a smaller scene")

// Section names a top-level array of the glTF JSON.
type Section int

// The sections, in the order in which they are written.
const (
	Nodes Section = iota
	Meshes
	Materials
	Textures
	Images
	Samplers
	Cameras
	Accessors
	BufferViews
	sectionCount
)

var sectionNames = [sectionCount]string{
	"nodes", "meshes", "materials", "textures", "images", "samplers", "cameras", "accessors", "bufferViews",
}

// Targets of a buffer view.
const (
	ArrayBuffer        = 34962
	ElementArrayBuffer = 34963
)

// Writer collects a scene and writes it when closed. Its methods are not safe
// for concurrent use. Errors stick: after the first one the methods do
// nothing and Close returns it.
type Writer struct {
	path      string
	glb       bool
	generator string
	text      [sectionCount]spool
	counts    [sectionCount]int
	bin       spool
	used      []string
	required  []string
	root      map[string]json.RawMessage // root extensions by name
	external  []string                   // image files written so far, for Abort
	err       error
	scratch   []byte
}

// Create prepares a writer for path, which ends in .glb or .gltf. Nothing
// appears under that name before Close; a .gltf gets a .bin of the same name
// and image files beside it.
func Create(path, generator string) (*Writer, error) {
	w := &Writer{path: path, generator: generator, root: map[string]json.RawMessage{}}
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".glb":
		w.glb = true
	case ".gltf":
	default:
		return nil, fmt.Errorf("glbwrite: %s: unknown file type %q; use .glb or .gltf", path, ext)
	}
	dir := filepath.Dir(path)
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, fmt.Errorf("glbwrite: output folder: %w", err)
		}
	}
	w.bin.dir = dir
	for i := range w.text {
		w.text[i].dir = dir
	}
	return w, nil
}

// Count returns how many objects the section holds.
func (w *Writer) Count(s Section) int { return w.counts[s] }

// Raw appends one JSON object to a section and returns its index.
func (w *Writer) Raw(s Section, obj []byte) int {
	if w.err == nil {
		if w.counts[s] > 0 {
			_, w.err = w.text[s].Write([]byte{',', '\n'})
		}
		if w.err == nil {
			_, w.err = w.text[s].Write(obj)
		}
	}
	w.counts[s]++
	return w.counts[s] - 1
}

// Object appends v, marshalled as JSON, to a section and returns its index.
func (w *Writer) Object(s Section, v any) int {
	b, err := json.Marshal(v)
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("glbwrite: %s %d: %w", sectionNames[s], w.counts[s], err)
	}
	return w.Raw(s, b)
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
	for w.bin.n%4 != 0 && w.err == nil {
		_, w.err = w.bin.Write(make([]byte, 4-w.bin.n%4))
	}
	off := w.bin.n
	if w.err == nil {
		_, w.err = w.bin.Write(data)
	}
	b := append(w.scratch[:0], `{"buffer":0,"byteOffset":`...)
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
	return w.Raw(BufferViews, w.scratch)
}

// Image adds an encoded picture and returns its index: inside the buffer of
// a .glb, a file of its own beside a .gltf. mime is image/png or image/jpeg.
func (w *Writer) Image(name, mime string, data []byte) int {
	if w.glb {
		return w.Object(Images, map[string]any{"name": name, "mimeType": mime, "bufferView": w.View(data, 0, 0)})
	}
	ext := map[string]string{"image/png": ".png", "image/jpeg": ".jpg"}[mime]
	rel := stem(w.path) + "_images/" + fileName(name) + ext
	file := filepath.Join(filepath.Dir(w.path), filepath.FromSlash(rel))
	if w.err == nil {
		w.err = os.MkdirAll(filepath.Dir(file), 0o777)
	}
	if w.err == nil {
		w.external = append(w.external, file)
		w.err = os.WriteFile(file, data, 0o666)
	}
	return w.Object(Images, map[string]any{"name": name, "mimeType": mime, "uri": uriEscape(rel)})
}

// Close writes the file with one scene of the given roots and returns the
// number of bytes written, all files together without images beside a .gltf.
func (w *Writer) Close(scene string, roots []int) (int64, error) {
	defer w.drop()
	if w.err != nil {
		return 0, w.err
	}
	for w.bin.n%4 != 0 && w.err == nil {
		w.bin.Write(make([]byte, 4-w.bin.n%4))
	}
	head, tail, err := w.frame(scene, roots)
	if err != nil {
		return 0, err
	}
	if w.glb {
		return w.closeGLB(head, tail)
	}
	bin := stem(w.path) + ".bin"
	err = replace(filepath.Join(filepath.Dir(w.path), bin), w.bin.copyTo)
	if err != nil {
		return 0, err
	}
	n := w.bin.n + w.jsonSize(head, tail)
	return n, replace(w.path, func(o io.Writer) error { return w.copyJSON(o, head, tail) })
}

// Abort drops what was collected and removes the files written so far.
func (w *Writer) Abort() {
	for _, f := range w.external {
		os.Remove(f)
	}
	if len(w.external) > 0 {
		os.Remove(filepath.Dir(w.external[0]))
	}
	w.drop()
}

func (w *Writer) drop() {
	w.bin.drop()
	for i := range w.text {
		w.text[i].drop()
	}
}

// frame returns the JSON before and after the sections.
func (w *Writer) frame(scene string, roots []int) (head, tail []byte, err error) {
	b := []byte(`{"asset":{"version":"2.0","generator":`)
	b = appendString(b, w.generator)
	b = append(b, '}')
	for _, l := range []struct {
		key  string
		list []string
	}{{"extensionsUsed", w.used}, {"extensionsRequired", w.required}} {
		if len(l.list) == 0 {
			continue
		}
		list := slices.Sorted(slices.Values(l.list))
		j, err := json.Marshal(list)
		if err != nil {
			return nil, nil, err
		}
		b = append(b, `,"`+l.key+`":`...)
		b = append(b, j...)
	}
	if len(w.root) > 0 {
		j, err := json.Marshal(w.root) // keys come out sorted
		if err != nil {
			return nil, nil, err
		}
		b = append(append(b, `,"extensions":`...), j...)
	}
	b = append(b, `,"scene":0,"scenes":[{"name":`...)
	b = appendString(b, scene)
	if len(roots) > 0 {
		b = append(b, `,"nodes":`...)
		b = appendInts(b, roots)
	}
	b = append(b, `}]`...)
	if w.bin.n > 0 {
		t := []byte(`,"buffers":[{"byteLength":`)
		t = appendInt(t, w.bin.n)
		if !w.glb {
			t = append(t, `,"uri":`...)
			t = appendString(t, uriEscape(stem(w.path)+".bin"))
		}
		return b, append(t, `}]}`...), nil
	}
	return b, []byte(`}`), nil
}

func (w *Writer) jsonSize(head, tail []byte) int64 {
	n := int64(len(head) + len(tail))
	for s := range sectionCount {
		if w.counts[s] > 0 {
			n += int64(len(sectionNames[s])) + 6 + w.text[s].n
		}
	}
	return n
}

func (w *Writer) copyJSON(o io.Writer, head, tail []byte) error {
	if _, err := o.Write(head); err != nil {
		return err
	}
	for s := range sectionCount {
		if w.counts[s] == 0 {
			continue
		}
		if _, err := io.WriteString(o, `,"`+sectionNames[s]+`":[`); err != nil {
			return err
		}
		if err := w.text[s].copyTo(o); err != nil {
			return err
		}
		if _, err := o.Write([]byte{']'}); err != nil {
			return err
		}
	}
	_, err := o.Write(tail)
	return err
}

func (w *Writer) closeGLB(head, tail []byte) (int64, error) {
	text := glb.Part{Size: w.jsonSize(head, tail), Write: func(o io.Writer) error { return w.copyJSON(o, head, tail) }}
	bin := glb.Part{Size: w.bin.n, Write: w.bin.copyTo}
	total := glb.Size(text, bin)
	if total > math.MaxUint32 {
		return 0, fmt.Errorf("%w (%d bytes)", ErrTooLarge, total)
	}
	return total, replace(w.path, func(o io.Writer) error { return glb.Write(o, text, bin) })
}
