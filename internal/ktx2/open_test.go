package ktx2

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// TestOpen: a file behind a reader gives the levels that the same bytes in memory do.
func TestOpen(t *testing.T) {
	for _, p := range vectors(t) {
		data := testfile.Read(t, p)
		a, err := Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for level := range a.Levels() {
			x, err := a.Decode(level)
			y, err2 := b.Decode(level)
			if err != nil || err2 != nil || !bytes.Equal(x.Pix, y.Pix) {
				t.Errorf("%s, level %d: %v, %v", p, level, err, err2)
			}
			if err := b.Verify(level); err != nil {
				t.Errorf("%s, level %d: %v", p, level, err)
			}
		}
	}
}

// failing is a reader that fails behind some bytes.
type failing struct{ data []byte }

var errNetwork = errors.New("the network is down")

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > int64(len(f.data)) {
		return 0, errNetwork
	}
	return copy(p, f.data[off:]), nil
}

// TestOpenErrors: what cannot be read is told from what is damaged.
func TestOpenErrors(t *testing.T) {
	data := testfile.Read(t, vectors(t)[0])
	for n := range 400 {
		if _, err := Open(failing{data[:min(n, len(data))]}, int64(len(data))); err != nil && !errors.Is(err, errNetwork) {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	if _, err := Open(bytes.NewReader(data[:100]), int64(len(data))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a file that is shorter than said: %v", err)
	}
	if _, err := Open(bytes.NewReader(data), -1); !errors.Is(err, ErrDamaged) {
		t.Errorf("a negative size: %v", err)
	}
}

// TestBomb: bytes of Zstandard that cannot hold a level take no memory.
func TestBomb(t *testing.T) {
	const edge = 4096
	f := &File{
		Width: edge, Height: edge, Scheme: Zstandard, Descriptor: Descriptor{Model: ModelUASTC, Channels: []Channel{UASTCRGB}},
		in: input{data: make([]byte, 64), size: 64}, levels: []level{{span{0, 64}, edge * edge}},
	}
	if _, err := f.Transcode(0, ToBC7); !errors.Is(err, ErrDamaged) {
		t.Errorf("%v", err)
	}
}
