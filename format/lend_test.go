package format

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/internal/filemap"
	"github.com/untoldkit/untold/internal/testfile"
)

// lendingFile lends what a file has; shorten, if set, is called in between.
type lendingFile struct {
	*os.File
	err     error
	shorten func()
	lent    int
	back    int
}

func (l *lendingFile) LendAt(off, n int64) ([]byte, func(), error) {
	if l.err != nil {
		return nil, nil, l.err
	}
	b, release, err := filemap.Range(l.File, off, n)
	if err != nil {
		return nil, nil, err
	}
	l.lent++
	if l.shorten != nil {
		l.shorten()
	}
	return b, func() { l.back++; release() }, nil
}

func lend(t *testing.T, data []byte) *lendingFile {
	t.Helper()
	path := testfile.Write(t, filepath.Join(t.TempDir(), "tile.untold"), data)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if _, release, err := filemap.Range(f, 1, 1); err != nil {
		t.Skipf("no mapping here: %v", err)
	} else {
		release()
	}
	return &lendingFile{File: f}
}

// What is decoded from lent bytes is what is decoded from a copy.
func TestLentBytes(t *testing.T) {
	for _, mode := range []CompressMode{ModeLZ4, ModeZstd, ModeDelta, ModeNone} {
		data := mustEncode(t, bigFile(t, 4<<20), mode)
		plain, err := NewBytesReader(data)
		if err != nil {
			t.Fatal(err)
		}
		want, err := plain.ReadGeometry(Geometry{})
		if err != nil {
			t.Fatal(err)
		}
		for name, refuse := range map[string]error{"lent": nil, "refused": errors.ErrUnsupported} {
			src := lend(t, data)
			src.err = refuse
			r, err := NewReader(src, int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.ReadGeometry(Geometry{})
			if err != nil || !bytes.Equal(got.Vertices, want.Vertices) || !bytes.Equal(got.Indices, want.Indices) {
				t.Errorf("%v, %s: other geometry, %v", mode, name, err)
			}
			if lends := mode != ModeNone && refuse == nil; (src.lent > 0) != lends || src.back != src.lent {
				t.Errorf("%v, %s: lent %d times, given back %d times", mode, name, src.lent, src.back)
			}
		}
	}
}

// A file that is cut short while it is mapped is an error like any other; so is
// what the source says.
func TestLentBytesAreCutShort(t *testing.T) {
	data := mustEncode(t, bigFile(t, 4<<20), ModeLZ4)
	src := lend(t, data)
	r, err := NewReader(src, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	src.shorten = func() {
		if err := src.Truncate(4096); err != nil {
			t.Error(err)
		}
	}
	if _, err := r.p.payload(ChunkVertices, nil); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v, want %v", err, io.ErrUnexpectedEOF)
	}
	if src.back != src.lent {
		t.Errorf("lent %d times, given back %d times", src.lent, src.back)
	}
	src.err = os.ErrPermission
	if _, err := r.p.payload(ChunkVertices, nil); !errors.Is(err, os.ErrPermission) {
		t.Errorf("%v, want %v", err, os.ErrPermission)
	}
}

func TestLendRefuses(t *testing.T) {
	src := lend(t, []byte("hello"))
	for _, x := range [][2]int64{{-1, 4}, {0, 0}, {0, -1}, {1 << 62, 1 << 62}} {
		if _, _, err := filemap.Range(src.File, x[0], x[1]); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%v: %v", x, err)
		}
	}
}
