package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"slices"
	"time"
)

// entry is a file of an archive.
type entry struct {
	name    string // with slashes, below the archive's folder
	data    []byte
	program bool // may be run
}

func (e *entry) mode() fs.FileMode {
	if e.program {
		return 0o755
	}
	return 0o644
}

// sorted returns the entries in the order of archives.
func sorted(files []entry) []entry {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	return files
}

// packTar returns a .tar.gz of files below one folder, all of one time.
func packTar(folder string, files []entry, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	for _, f := range sorted(files) {
		head := &tar.Header{Typeflag: tar.TypeReg, Name: folder + "/" + f.name, Size: int64(len(f.data)), Mode: int64(f.mode()), ModTime: at, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(head); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// packZip is packTar for Windows.
func packZip(folder string, files []entry, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestCompression) })
	for _, f := range sorted(files) {
		head := &zip.FileHeader{Name: folder + "/" + f.name, Method: zip.Deflate, Modified: at}
		head.SetMode(f.mode())
		part, err := w.CreateHeader(head)
		if err != nil {
			return nil, err
		}
		if _, err := part.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
