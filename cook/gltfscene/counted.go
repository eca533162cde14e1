package gltfscene

import (
	"io"
	"io/fs"
	"sync/atomic"
)

// countedSource counts what is read of the files that it opens.
type countedSource struct {
	source
	n *atomic.Int64
}

func (s countedSource) open(name string) (file, fs.FileInfo, error) {
	f, info, err := s.source.open(name)
	if err != nil {
		return nil, nil, err
	}
	return countedFile{f, s.n}, info, nil
}

type countedFile struct {
	file
	n *atomic.Int64
}

func (c countedFile) ReadAt(b []byte, off int64) (int, error) {
	n, err := c.file.ReadAt(b, off)
	c.n.Add(int64(n))
	return n, err
}

// counted counts what is read of a file in n, which may be nil.
func counted(f file, n *atomic.Int64) io.ReaderAt {
	if n == nil {
		return f
	}
	return countedFile{f, n}
}
