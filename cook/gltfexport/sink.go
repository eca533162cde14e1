package gltfexport

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/glb"
)

const (
	maxGLB       = 1<<32 - 1
	sinkBuffer   = 256 << 10
	viewBoundary = 4
)

// sink takes the bytes of the buffer as they are made. Those of a .glb, whose
// JSON has to come first, wait in a spool file beside the output; those of a
// .gltf go to the .bin.
type sink struct {
	out   string // the output
	glb   bool
	spool *os.File         // .glb
	bin   *atomicfile.File // .gltf
	w     *bufio.Writer
	n     int64 // bytes so far
	limit int64
	files atomicfile.Options
}

func newSink(out string, opts *Options) (*sink, error) {
	s := &sink{out: out, glb: strings.EqualFold(filepath.Ext(out), ".glb"), limit: maxGLB, files: opts.files}
	if opts.maxBytes > 0 {
		s.limit = opts.maxBytes
	}
	var err error
	if s.glb {
		// Not in the system's temporary folder, which may be small.
		s.spool, err = os.CreateTemp(filepath.Dir(out), ".export-*"+atomicfile.TempSuffix)
		if err == nil {
			s.w = bufio.NewWriterSize(s.spool, sinkBuffer)
		}
	} else {
		s.bin, err = atomicfile.Create(s.stem()+".bin", s.files)
		if err == nil {
			s.w = bufio.NewWriterSize(s.bin, sinkBuffer)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("gltfexport: %w", err)
	}
	return s, nil
}

// stem is the output's path without its extension.
func (s *sink) stem() string { return strings.TrimSuffix(s.out, filepath.Ext(s.out)) }

// Write appends to the buffer. It refuses what would exceed the size limit.
func (s *sink) Write(p []byte) (int, error) {
	if int64(len(p)) > s.limit-s.n {
		return 0, fmt.Errorf("%w: export single containers, or --levels lod1 or hlod", ErrTooLarge)
	}
	n, err := s.w.Write(p)
	s.n += int64(n)
	return n, err
}

// align pads the buffer, so that the next view may hold any component type.
func (s *sink) align() error {
	if over := s.n % viewBoundary; over > 0 {
		_, err := s.Write(make([]byte, viewBoundary-over))
		return err
	}
	return nil
}

// discard removes what is not finished. After finish it does nothing.
func (s *sink) discard() {
	if s.spool != nil {
		s.spool.Close()
		os.Remove(s.spool.Name())
		s.spool = nil
	}
	if s.bin != nil {
		s.bin.Abort()
	}
}

// finish writes the document and puts the output into place; it returns the
// bytes of all files but the textures.
func (s *sink) finish(d *document, generator string) (int64, error) {
	if err := s.align(); err != nil {
		return 0, err
	}
	if err := s.w.Flush(); err != nil {
		return 0, fmt.Errorf("gltfexport: write the geometry: %w", err)
	}
	d.bufferBytes = s.n
	if s.glb {
		return s.finishGLB(d, generator)
	}
	if s.n > 0 {
		d.bufferURI = escape(filepath.Base(s.stem()) + ".bin")
		if err := s.bin.Commit(); err != nil {
			return 0, fmt.Errorf("gltfexport: %w", err)
		}
	}
	var n int64
	err := atomicfile.WriteWith(s.out, s.files, func(w io.Writer) (err error) {
		n, err = d.encode(w, generator)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("gltfexport: %w", err)
	}
	return n + s.n, nil
}

func (s *sink) finishGLB(d *document, generator string) (int64, error) {
	n, err := d.encode(io.Discard, generator)
	if err != nil {
		return 0, fmt.Errorf("gltfexport: encode the document: %w", err)
	}
	text := glb.Part{Size: n, Write: func(w io.Writer) error {
		_, err := d.encode(w, generator)
		return err
	}}
	bin := glb.Part{Size: s.n, Write: func(w io.Writer) error {
		k, err := io.Copy(w, s.spool)
		if err == nil && k != s.n {
			err = fmt.Errorf("%d bytes instead of %d: %w", k, s.n, io.ErrUnexpectedEOF)
		}
		return err
	}}
	total := glb.Size(text, bin)
	if total > s.limit {
		return 0, fmt.Errorf("%w: export single containers, or --levels lod1 or hlod", ErrTooLarge)
	}
	if _, err := s.spool.Seek(0, io.SeekStart); err != nil {
		return 0, fmt.Errorf("gltfexport: %w", err)
	}
	if err := atomicfile.WriteWith(s.out, s.files, func(w io.Writer) error { return glb.Write(w, text, bin) }); err != nil {
		return 0, fmt.Errorf("gltfexport: %w", err)
	}
	return total, nil
}
