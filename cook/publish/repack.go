package publish

import (
	"errors"
	"io"
	"os"

	"github.com/untoldkit/untold/format"
)

// repacked says of what file of the folder other bytes are published, and how they are made:
// a second time when they are sent, since all of them at once would not fit into memory.
type repacked struct {
	mode format.CompressMode
	size int64  // in the folder
	sha  string // SHA-256 there, hex
}

// largestRepacked is what a container may have, so that those that are repacked at a time
// fit into memory.
const largestRepacked = 256 << 20

// repack finds the size and the hash of what is published in the container's place.
func (c *container) repack(r *format.Reader, m *format.CompressMode) error {
	if m == nil || c.size > largestRepacked {
		return nil
	}
	data, err := r.Repack(*m)
	switch {
	case errors.Is(err, format.ErrPlain):
		return nil
	case err != nil:
		return c.wrong(err)
	}
	c.repacked = &repacked{*m, c.size, c.sha}
	c.size, c.sha = int64(len(data)), hashOf(data)
	return nil
}

// pack returns the bytes that are published of an open file.
func (f *file) pack(in *os.File) ([]byte, error) {
	was := f.repacked
	data, err := io.ReadAll(io.LimitReader(in, was.size+1))
	if err != nil {
		return nil, f.wrong(err)
	}
	if hashOf(data) != was.sha {
		return nil, f.changed()
	}
	r, err := format.NewBytesReader(data)
	if err != nil {
		return nil, f.wrong(err)
	}
	defer r.Close()
	out, err := r.Repack(was.mode)
	if err != nil {
		return nil, f.wrong(err)
	}
	if int64(len(out)) != f.size || hashOf(out) != f.sha {
		return nil, f.changed() // between the two readings of scan
	}
	return out, nil
}
