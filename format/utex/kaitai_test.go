package utex

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/internal/bytelayout"
	"github.com/untoldkit/untold/internal/testfile"
)

type kaitaiLevel struct {
	ByteOffset, ByteSize, Width, Height int64
	Blocks                              string
}

type kaitaiFile struct {
	Header struct{ Version, Flags, Width, Height, MipCount, PixelFormat, BlockWidth, BlockHeight, PayloadOffset, TotalPayloadSize int64 }
	Levels []kaitaiLevel
}

// TestKaitai: what Kaitai Struct's compiler makes of docs/utex.ksy reads what was
// written.
func TestKaitai(t *testing.T) {
	dir := t.TempDir()
	var files []string
	var want []kaitaiFile
	for _, f := range []PixelFormat{ASTC4x4SRGB, ASTC6x6, BC7SRGB, BC5, R16Unorm, RGBA16Float} {
		data := encoded(t, 70, 33, f, HasAlpha)
		files = append(files, testfile.Write(t, filepath.Join(dir, fmt.Sprintf("%d.utex", f)), data))
		info := NewInfo(70, 33, f, HasAlpha)
		block, _ := f.Block()
		start := int64(HeaderSize + EntrySize*len(info.Levels))
		var k kaitaiFile
		k.Header.Version, k.Header.Flags, k.Header.Width, k.Header.Height = Version, int64(HasAlpha), 70, 33
		k.Header.MipCount, k.Header.PixelFormat, k.Header.BlockWidth, k.Header.BlockHeight = int64(len(info.Levels)), int64(f), int64(block.Width), int64(block.Height)
		k.Header.PayloadOffset, k.Header.TotalPayloadSize = start, int64(len(data))-start
		for _, l := range info.Levels {
			k.Levels = append(k.Levels, kaitaiLevel{l.Offset - start, l.Size, int64(l.Width), int64(l.Height), hex.EncodeToString(data[l.Offset:][:l.Size])})
		}
		want = append(want, k)
	}
	if d := cmp.Diff(want, bytelayout.Compiled[kaitaiFile](t, schema, files)); d != "" {
		t.Errorf("(-writer +kaitai):\n%s", d)
	}
}
