package glb

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/untoldkit/untold/internal/atomicfile"
)

const spoolBuffer = 256 << 10

// spillAt is how many bytes a spool keeps in memory before it moves to a
// temporary file.
const spillAt = 8 << 20

// spool is an append-only byte store: small ones stay in memory, large ones
// go to a temporary file beside the output, so that a scene of many gigabytes
// needs little memory.
type spool struct {
	dir  string
	mem  bytes.Buffer
	file *os.File
	buf  *bufio.Writer
	n    int64
}

// Write appends p.
func (s *spool) Write(p []byte) (int, error) {
	s.n += int64(len(p))
	if s.file != nil {
		return s.buf.Write(p)
	}
	s.mem.Write(p)
	if s.mem.Len() <= spillAt {
		return len(p), nil
	}
	f, err := os.CreateTemp(s.dir, ".gltf-*"+atomicfile.TempSuffix)
	if err != nil {
		return 0, fmt.Errorf("temporary file: %w", err)
	}
	s.file, s.buf = f, bufio.NewWriterSize(f, spoolBuffer)
	if _, err := s.buf.Write(s.mem.Bytes()); err != nil {
		return 0, fmt.Errorf("%s: %w", f.Name(), err)
	}
	s.mem = bytes.Buffer{}
	return len(p), nil
}

// copyTo writes everything to w, in order.
func (s *spool) copyTo(w io.Writer) error {
	if s.file == nil {
		_, err := w.Write(s.mem.Bytes())
		return err
	}
	if err := s.buf.Flush(); err != nil {
		return fmt.Errorf("%s: %w", s.file.Name(), err)
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("%s: %w", s.file.Name(), err)
	}
	_, err := io.Copy(w, s.file)
	return err
}

// drop frees the spool and removes its file.
func (s *spool) drop() {
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name())
	}
	*s = spool{dir: s.dir}
}
