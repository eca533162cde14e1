package utex

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// Writer writes a texture. It takes the levels in the order in which they are made, the
// largest first, and keeps them until Close, as the smallest one comes first in the file.
type Writer struct {
	info   Info
	w      io.Writer
	levels [][]byte
	at     int64 // bytes written
	err    error
}

// NewWriter writes the header and the table of a texture as NewInfo lays it
// out: w x h texels with a full mip chain.
func NewWriter(out io.Writer, w, h int, f PixelFormat, flags Flags) (*Writer, error) {
	return newWriter(out, w, h, f, flags, FullChain(w, h))
}

func newWriter(out io.Writer, w, h int, f PixelFormat, flags Flags, levels int) (*Writer, error) {
	if _, ok := f.Block(); !ok {
		return nil, fmt.Errorf("utex: %v cannot be stored", f)
	}
	if w <= 0 || h <= 0 || w > MaxEdge || h > MaxEdge {
		return nil, fmt.Errorf("utex: %d x %d texels; edges are 1 to %d", w, h, MaxEdge)
	}
	if flags&^knownFlags != 0 {
		return nil, fmt.Errorf("utex: flags 0x%x are unknown", uint32(flags&^knownFlags))
	}
	t := &Writer{info: layout(w, h, f, flags, levels), w: out}
	if t.info.end() > math.MaxUint32 {
		return nil, fmt.Errorf("utex: %d x %d texels of %v do not fit into 4 GiB", w, h, f)
	}
	t.write(t.info.appendHeader(nil))
	return t, t.err
}

// WriteLevel adds the next level. data has Block.Size bytes, which must stay as they are
// until Close.
func (t *Writer) WriteLevel(data []byte) error {
	if t.err != nil {
		return t.err
	}
	k := len(t.levels)
	if k >= len(t.info.Levels) {
		return errors.New("utex: all levels are written")
	}
	l := t.info.Levels[k]
	if int64(len(data)) != l.Size {
		return fmt.Errorf("utex: level %d has %d bytes, %d x %d texels of %v have %d", k, len(data), l.Width, l.Height, t.info.Format, l.Size)
	}
	t.levels = append(t.levels, data)
	return nil
}

// Close writes the levels; it is an error when some are missing. It does not close the
// underlying writer.
func (t *Writer) Close() error {
	if n := len(t.levels); t.err == nil && n < len(t.info.Levels) {
		t.err = fmt.Errorf("utex: %d of %d levels are written", n, len(t.info.Levels))
	}
	if t.err != nil {
		return t.err
	}
	for k, data := range slices.Backward(t.levels) {
		t.write(make([]byte, t.info.Levels[k].Offset-t.at))
		t.write(data)
	}
	return t.err
}

// Info describes the texture.
func (t *Writer) Info() *Info { return &t.info }

// Size returns the length of the complete file.
func (t *Writer) Size() int64 { return t.info.end() }

func (t *Writer) write(b []byte) {
	if t.err != nil || len(b) == 0 {
		return
	}
	n, err := t.w.Write(b)
	t.at += int64(n)
	t.err = err
}
