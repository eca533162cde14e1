package ktx2

import (
	"errors"
	"fmt"
	"io"
)

// span is a part of a file.
type span struct{ offset, size int64 }

// input is where a file's bytes are: in memory, or behind a reader.
type input struct {
	data []byte // or
	src  io.ReaderAt
	size int64
}

// locate returns a part that lies within the file; one without bytes lies anywhere.
func (in *input) locate(what string, offset, size uint64) (span, error) {
	if size == 0 {
		return span{}, nil
	}
	if n := uint64(max(in.size, 0)); offset > n || size > n-offset {
		return span{}, damaged("the %s (%d bytes at %d) lies beyond the end of the file at %d", what, size, offset, n)
	}
	return span{int64(offset), int64(size)}, nil
}

// read returns the bytes of a part, which are not to be changed.
func (in *input) read(what string, s span) ([]byte, error) {
	s, err := in.locate(what, uint64(s.offset), uint64(s.size))
	if err != nil || s.size == 0 {
		return nil, err
	}
	if in.src == nil {
		return in.data[s.offset:][:s.size:s.size], nil
	}
	b := make([]byte, s.size)
	n, err := in.src.ReadAt(b, s.offset)
	switch {
	case n == len(b):
		return b, nil
	case err == nil || errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return nil, fmt.Errorf("ktx2: reading the %s (%d bytes at %d): %w", what, s.size, s.offset, err)
}

// part returns a part of bytes.
func part(data []byte, what string, offset, size uint32) ([]byte, error) {
	in := input{data: data, size: int64(len(data))}
	return in.read(what, span{int64(offset), int64(size)})
}
