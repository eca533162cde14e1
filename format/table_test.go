package format

import (
	"bytes"
	"slices"
	"testing"

	"github.com/untoldkit/untold/format/records"
)

// ReadTable sees what a Reader sees, from the first bytes of the file alone, and
// refuses every shorter beginning.
func TestReadTable(t *testing.T) {
	data := mustEncode(t, gridFile(t, 5, 20), ModeLZ4)
	r, err := NewBytesReader(data)
	if err != nil {
		t.Fatal(err)
	}
	end := records.HeaderSize + len(r.Chunks())*records.ChunkSize
	h, chunks, err := ReadTable(bytes.NewReader(data[:end]), int64(len(data)))
	if err != nil || h != r.Header() || !slices.Equal(chunks, r.Chunks()) {
		t.Errorf("%+v, %+v, %v", h, chunks, err)
	}
	for n := range end {
		if _, _, err := ReadTable(bytes.NewReader(data[:n]), int64(len(data))); err == nil {
			t.Fatalf("%d bytes are enough", n)
		}
		if _, _, err := ReadTable(bytes.NewReader(data[:n]), int64(n)); err == nil {
			t.Fatalf("a file of %d bytes is enough", n)
		}
	}
}
