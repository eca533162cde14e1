package tiles3d

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/md5"
	"encoding/binary"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// indexName is the last file of an archive, by which readers find the others without
// reading the directory.
const indexName = "@3dtilesIndex1@"

// indexEntry is 24 bytes of it: the MD5 of the path and the offset of its local header.
type indexEntry struct {
	hash   [md5.Size]byte
	offset uint64
}

// compareHash orders the index: by the hash as two little-endian numbers of 64 bits.
func compareHash(a, b indexEntry) int {
	for _, at := range []int{0, 8} {
		x, y := binary.LittleEndian.Uint64(a.hash[at:]), binary.LittleEndian.Uint64(b.hash[at:])
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
	}
	return 0
}

// packed are the files of an archive, in its order, without the index.
type packed struct {
	names []string
	open  func(name string) (io.ReadCloser, error)
}

// packedIn lists the files below a folder as an archive has them: tileset.json first, the
// others by name.
func packedIn(dir string) (*packed, error) {
	p := &packed{open: func(name string) (io.ReadCloser, error) { return os.Open(filepath.Join(dir, filepath.FromSlash(name))) }}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		p.names = append(p.names, filepath.ToSlash(rel))
		return err
	})
	slices.Sort(p.names)
	if i := slices.Index(p.names, tilesetName); i > 0 {
		p.names = slices.Insert(slices.Delete(p.names, i, i+1), 0, tilesetName)
	}
	return p, err
}

// write writes the files as a ZIP without compression (3D Tiles Archive Format 1.3), the
// index last. Sizes stand in the local headers, which readers of the format go by. There
// are no times.
func (p *packed) write(ctx context.Context, w io.Writer) (int64, error) {
	c := &counter{w: w}
	z := zip.NewWriter(c)
	var index []indexEntry
	for _, name := range p.names {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		// Writer holds back what it writes; where the next header begins is known after.
		if err := z.Flush(); err != nil {
			return 0, err
		}
		index = append(index, indexEntry{md5.Sum([]byte(name)), uint64(c.n)})
		if err := store(z, name, p.open); err != nil {
			return 0, err
		}
	}
	slices.SortFunc(index, compareHash)
	var data []byte
	for _, e := range index {
		data = binary.LittleEndian.AppendUint64(append(data, e.hash[:]...), e.offset)
	}
	err := store(z, indexName, func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil })
	if err != nil {
		return 0, err
	}
	if err := z.Close(); err != nil {
		return 0, err
	}
	return c.n, nil
}

// store adds a file without compression. It is read twice: the header has its checksum.
func store(z *zip.Writer, name string, open func(name string) (io.ReadCloser, error)) error {
	sum := crc32.NewIEEE()
	n, err := copyFrom(sum, name, open)
	if err != nil {
		return err
	}
	const utf8, version2, firstDay = 0x800, 20, 1<<5 | 1 // of January 1980, when the calendar of ZIP begins
	h := &zip.FileHeader{
		Name: name, Method: zip.Store, CRC32: sum.Sum32(), Flags: utf8, ReaderVersion: version2,
		CompressedSize64: uint64(n), UncompressedSize64: uint64(n),
	}
	h.ModifiedDate = firstDay //lint:ignore SA1019 CreateRaw takes the date from nowhere else
	w, err := z.CreateRaw(h)
	if err != nil {
		return err
	}
	_, err = copyFrom(w, name, open)
	return err
}

func copyFrom(w io.Writer, name string, open func(name string) (io.ReadCloser, error)) (int64, error) {
	r, err := open(name)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	return io.Copy(w, r)
}

// counter counts what goes through it.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
