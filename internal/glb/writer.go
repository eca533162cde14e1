package glb

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/internal/atomicfile"
)

// Section names a top-level array of the JSON.
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

// The numbers of glTF 2.0 that its writers use (sections 5.1, 5.11 and 5.26).
const (
	ComponentI8   = 5120
	ComponentU8   = 5121
	ComponentU16  = 5123
	ComponentU32  = 5125
	ComponentF32  = 5126
	TargetVertex  = 34962
	TargetIndex   = 34963
	WrapRepeat    = 10497
	FilterLinear  = 9729
	FilterMipmaps = 9987
)

// Options say how a Writer writes.
type Options struct {
	// Separator stands between the elements of a section.
	Separator string
	// Limit bounds the buffer and a .glb as a whole; what would exceed it is
	// refused with TooLarge.
	Limit    int64
	TooLarge error
	// Split is how many bytes a buffer of a .gltf holds before the next view goes to
	// another file; 0 for one buffer of any size.
	Split int64
	// Files says how the files are written.
	Files atomicfile.Options
}

// Buffer is a buffer of a finished scene.
type Buffer struct {
	Size int64
	URI  string // empty in a .glb
}

// Writer writes a scene of any size to a .glb, or to a .gltf with .bin files beside
// it. Geometry and the JSON of each element leave memory as they are added; they
// wait in temporary files beside the output until Close. An error of a file
// sticks: Close returns it.
type Writer struct {
	path   string
	binary bool
	opts   Options
	text   [sectionCount]spool
	counts [sectionCount]int
	spool  spool              // the buffer of a .glb, behind whose JSON it stands
	files  []*atomicfile.File // those of a .gltf
	sizes  []int64            // of all files but the last
	bin    io.Writer          // into the last buffer
	n      int64              // bytes of it
	err    error
}

// Create begins a scene. Nothing appears under the name before Close.
func Create(path string, opts Options) (*Writer, error) {
	w := &Writer{path: path, binary: strings.EqualFold(filepath.Ext(path), ".glb"), opts: opts}
	dir := filepath.Dir(path)
	for i := range w.text {
		w.text[i].dir = dir
	}
	w.spool.dir, w.bin = dir, &w.spool
	if !w.binary {
		if err := w.open(); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// open begins another file of a .gltf.
func (w *Writer) open() error {
	f, err := atomicfile.Create(w.binName(len(w.files)), w.opts.Files)
	if err != nil {
		return err
	}
	w.files = append(w.files, f)
	w.bin, w.n = bufio.NewWriterSize(f, spoolBuffer), 0
	return nil
}

// binName names the file of a buffer: a.bin, then a_1.bin.
func (w *Writer) binName(i int) string {
	if i == 0 {
		return w.Stem() + ".bin"
	}
	return fmt.Sprintf("%s_%d.bin", w.Stem(), i)
}

// Buffer returns the number of the buffer that Write appends to, after Align.
func (w *Writer) Buffer() int { return max(0, len(w.files)-1) }

// Path returns the path of the output, Stem the same without extension.
func (w *Writer) Path() string { return w.path }

// Stem returns the output's path without its extension.
func (w *Writer) Stem() string { return strings.TrimSuffix(w.path, filepath.Ext(w.path)) }

// Binary reports whether the output is a .glb.
func (w *Writer) Binary() bool { return w.binary }

// Count returns how many elements a section has.
func (w *Writer) Count(s Section) int { return w.counts[s] }

// Add appends v, encoded as JSON, to a section and returns its index. What cannot
// be encoded is not added.
func (w *Writer) Add(s Section, v any) (int, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return 0, fmt.Errorf("encode %s %d: %w", sectionNames[s], w.counts[s], err)
	}
	return w.Raw(s, b), w.err
}

// Raw appends an encoded element to a section and returns its index.
func (w *Writer) Raw(s Section, element []byte) int {
	if w.err == nil && w.counts[s] > 0 {
		_, w.err = io.WriteString(&w.text[s], w.opts.Separator)
	}
	if w.err == nil {
		_, w.err = w.text[s].Write(element)
	}
	w.counts[s]++
	return w.counts[s] - 1
}

// Write appends to the buffer.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err == nil && int64(len(p)) > w.opts.Limit-w.n {
		w.err = w.opts.TooLarge
	}
	if w.err != nil {
		return 0, w.err
	}
	var n int
	n, w.err = w.bin.Write(p)
	w.n += int64(n)
	return n, w.err
}

// Align pads the buffer, so that the next view may hold any component type, and
// returns where that begins; a full buffer gives way to the next one.
func (w *Writer) Align() (int64, error) {
	if over := w.n % 4; over > 0 {
		w.Write(make([]byte, 4-over))
	}
	if w.err == nil && !w.binary && w.opts.Split > 0 && w.n >= w.opts.Split {
		if w.err = w.bin.(*bufio.Writer).Flush(); w.err == nil {
			w.sizes = append(w.sizes, w.n)
			w.err = w.open()
		}
	}
	return w.n, w.err
}

// Close writes the files and returns their bytes. frame makes the JSON before and
// behind the sections from the buffers. A buffer without bytes has no file.
func (w *Writer) Close(frame func([]Buffer) (head, tail []byte)) (int64, error) {
	defer w.Drop()
	if _, err := w.Align(); err != nil {
		return 0, err
	}
	buffers, all := []Buffer(nil), int64(0)
	for i, n := range append(w.sizes, w.n) {
		if n == 0 {
			continue
		}
		b := Buffer{Size: n}
		if !w.binary {
			if i == len(w.sizes) {
				if err := w.bin.(*bufio.Writer).Flush(); err != nil {
					return 0, err
				}
			}
			if err := w.files[i].Commit(); err != nil {
				return 0, err
			}
			b.URI = EscapeURI(filepath.Base(w.binName(i)))
		}
		buffers, all = append(buffers, b), all+n
	}
	head, tail := frame(buffers)
	text := part{w.jsonSize(head, tail), func(o io.Writer) error { return w.copyJSON(o, head, tail) }}
	if !w.binary {
		return all + text.size, atomicfile.WriteWith(w.path, w.opts.Files, text.write)
	}
	bin := part{w.n, w.spool.copyTo}
	total := size(text, bin)
	if total > min(w.opts.Limit, math.MaxUint32) {
		return 0, w.opts.TooLarge
	}
	return total, atomicfile.WriteWith(w.path, w.opts.Files, func(o io.Writer) error { return write(o, text, bin) })
}

// Drop removes what is not finished. After Close it does nothing.
func (w *Writer) Drop() {
	w.spool.drop()
	for i := range w.text {
		w.text[i].drop()
	}
	for _, f := range w.files {
		f.Abort()
	}
}

func (w *Writer) jsonSize(head, tail []byte) int64 {
	n := int64(len(head) + len(tail))
	for s, count := range w.counts {
		if count > 0 { // glTF forbids empty arrays
			n += int64(len(sectionNames[s])+len(`,"":[]`)) + w.text[s].n
		}
	}
	return n
}

func (w *Writer) copyJSON(o io.Writer, head, tail []byte) error {
	if _, err := o.Write(head); err != nil {
		return err
	}
	for s, count := range w.counts {
		if count == 0 {
			continue
		}
		if _, err := io.WriteString(o, `,"`+sectionNames[s]+`":[`); err != nil {
			return err
		}
		if err := w.text[s].copyTo(o); err != nil {
			return err
		}
		if _, err := io.WriteString(o, "]"); err != nil {
			return err
		}
	}
	_, err := o.Write(tail)
	return err
}

// EscapeURI percent-encodes the segments of a path; colons too, so that none is
// taken for the end of a scheme.
func EscapeURI(p string) string {
	parts := strings.Split(p, "/")
	for i := range parts {
		parts[i] = strings.ReplaceAll(url.PathEscape(parts[i]), ":", "%3A")
	}
	return strings.Join(parts, "/")
}
