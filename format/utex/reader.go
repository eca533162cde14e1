package utex

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/internal/plainfile"
)

// Reader gives access to one texture. Header and table are read and checked
// when it is opened, levels on demand. Its methods may be called concurrently
// when those of its source may.
type Reader struct {
	Info
	src   io.ReaderAt
	close func() error
}

// NewReader opens a texture of size bytes behind src: a file, a section of one,
// or a remote file that answers range requests. It reads the header and the
// table only. Errors of the content are of type *format.Error and match a Code
// of this package.
func NewReader(src io.ReaderAt, size int64) (*Reader, error) {
	if size < 0 {
		return nil, fmt.Errorf("utex: negative size %d", size)
	}
	p := parser{src: src, size: size}
	if err := p.parse(); err != nil {
		return nil, err
	}
	if err := p.failure(); err != nil {
		return nil, err
	}
	return &Reader{Info: p.info, src: src}, nil
}

// NewBytesReader opens a texture in memory.
func NewBytesReader(b []byte) (*Reader, error) {
	return NewReader(bytes.NewReader(b), int64(len(b)))
}

// Open opens the file at path. Close it when done.
func Open(path string) (*Reader, error) {
	f, size, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	r, err := NewReader(f, size)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r.close = f.Close
	return r, nil
}

// openRegular opens a plain file; to open a pipe would block.
func openRegular(path string) (*os.File, int64, error) {
	f, st, err := plainfile.Open(path)
	if errors.Is(err, plainfile.ErrNotPlain) {
		err = fmt.Errorf("utex: %w", err)
	}
	if err != nil {
		return nil, 0, err
	}
	return f, st.Size(), nil
}

// Close releases the file of Open. It does nothing to the source of NewReader.
func (r *Reader) Close() error {
	if r.close == nil {
		return nil
	}
	return r.close()
}

// ReadLevel returns the bytes of level i. They are put into buf when it is
// large enough.
func (r *Reader) ReadLevel(i int, buf []byte) ([]byte, error) {
	if i < 0 || i >= len(r.Levels) {
		return nil, fmt.Errorf("utex: level %d of %d", i, len(r.Levels))
	}
	l := r.Levels[i]
	if int64(cap(buf)) < l.Size {
		buf = make([]byte, l.Size)
	}
	buf = buf[:l.Size]
	return buf, readFull(r.src, buf, l.Offset)
}

// ReadLevels returns the bytes of the levels from first on, with a single read
// where they lie behind one another, in either order.
func (r *Reader) ReadLevels(first int) ([][]byte, error) {
	if first < 0 || first >= len(r.Levels) {
		return nil, fmt.Errorf("utex: level %d of %d", first, len(r.Levels))
	}
	levels := r.Levels[first:]
	out := make([][]byte, len(levels))
	inFile := slices.Clone(levels)
	slices.SortStableFunc(inFile, byOffset)
	from, to, gaps := inFile[0].Offset, inFile[0].Offset, int64(0)
	for _, l := range inFile {
		if l.Offset < to {
			return r.readApart(first, out)
		}
		gaps += l.Offset - to
		to = l.Offset + l.Size
	}
	if gaps > int64(len(levels))*Alignment {
		return r.readApart(first, out)
	}
	all := make([]byte, to-from)
	if err := readFull(r.src, all, from); err != nil {
		return nil, err
	}
	for i, l := range levels {
		out[i] = all[l.Offset-from:][:l.Size:l.Size]
	}
	return out, nil
}

// readApart reads level by level.
func (r *Reader) readApart(first int, out [][]byte) ([][]byte, error) {
	for i := range out {
		var err error
		if out[i], err = r.ReadLevel(first+i, nil); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Validate judges the header and the table of a texture of size bytes behind
// src. The error is one of reading; what is wrong is in the findings, errors
// and warnings alike.
func Validate(src io.ReaderAt, size int64) ([]finding.Finding, error) {
	if size < 0 {
		return nil, errors.New("utex: negative size")
	}
	p := parser{src: src, size: size}
	err := p.parse()
	return p.findings, err
}

// ValidateFile judges the file at path.
func ValidateFile(path string) ([]finding.Finding, error) {
	f, size, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	found, err := Validate(f, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return found, nil
}
