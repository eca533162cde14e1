package utex

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/bytelayout"
)

var updatePage = flag.Bool("update", false, "rewrite the tables of docs/container.md")

var (
	page   = filepath.Join("..", "..", "docs", "container.md")
	schema = filepath.Join("..", "..", "docs", "utex.ksy")
)

var headerFields = []bytelayout.Field{
	{Name: "magic", Size: 8, Type: "8 bytes", Meaning: "`UTEX` and four zero bytes: 55 54 45 58 00 00 00 00"},
	{Name: "version", Size: 4, Type: "u32", Meaning: "1"},
	{Name: "flags", Size: 4, Type: "u32", Meaning: "1 some texel is not opaque, 2 colours are multiplied by alpha, 4 a normal map with X in red, green and blue, Y in alpha"},
	{Name: "width", Size: 4, Type: "u32", Meaning: "texels of the largest level, 1 to 65,536"},
	{Name: "height", Size: 4, Type: "u32", Meaning: "texels of the largest level, 1 to 65,536"},
	{Name: "mipCount", Size: 4, Type: "u32", Meaning: "levels, 1 to floor(log2(longer edge)) + 1"},
	{Name: "pixelFormat", Size: 4, Type: "u32", Meaning: "a number of Metal's MTLPixelFormat, see below"},
	{Name: "blockWidth", Size: 1, Type: "u8", Meaning: "texels of a block; 1 for formats without blocks"},
	{Name: "blockHeight", Size: 1, Type: "u8", Meaning: "likewise"},
	{Name: "reserved0", Size: 2, Type: "2 x u8", Meaning: "zeros"},
	{Name: "payloadOffset", Size: 4, Type: "u32", Meaning: "bytes from the start of the file to where offsets of levels count from: 64 + 16 x `mipCount`"},
	{Name: "totalPayloadSize", Size: 4, Type: "u32", Meaning: "bytes from there to the end of the last level, which is the end of the file"},
	{Name: "reserved1", Size: 20, Type: "5 x u32", Meaning: "zeros"},
}

var entryFields = []bytelayout.Field{
	{Name: "byteOffset", Size: 4, Type: "u32", Meaning: "from `payloadOffset`; `payloadOffset` + `byteOffset` is a multiple of 16"},
	{Name: "byteSize", Size: 4, Type: "u32", Meaning: "bytes: blocks across x blocks down x bytes of a block"},
	{Name: "width", Size: 4, Type: "u32", Meaning: "texels: max(1, width >> level)"},
	{Name: "height", Size: 4, Type: "u32", Meaning: "texels: max(1, height >> level)"},
}

// place gives the fields their offsets: each begins where the one before it ends.
func place(fields []bytelayout.Field) []bytelayout.Field {
	out, at := append([]bytelayout.Field(nil), fields...), 0
	for i := range out {
		out[i].Offset = at
		at += out[i].Size
	}
	return out
}

// value reads a field of a number from the bytes of its record.
func value(b []byte, fields []bytelayout.Field, name string) int64 {
	for _, f := range fields {
		if f.Name == name {
			var n [8]byte
			copy(n[:], b[f.Offset:][:f.Size])
			return int64(binary.LittleEndian.Uint64(n[:]))
		}
	}
	return -1
}

// TestLayout: docs/container.md and docs/utex.ksy have the fields where the writer puts
// them.
func TestLayout(t *testing.T) {
	header, entry := place(headerFields), place(entryFields)
	if h, e := header[len(header)-1], entry[len(entry)-1]; h.Offset+h.Size != HeaderSize || e.Offset+e.Size != EntrySize {
		t.Errorf("the header has %d bytes, an entry %d", h.Offset+h.Size, e.Offset+e.Size)
	}
	for _, c := range []struct {
		w, h  int
		f     PixelFormat
		flags Flags
	}{{300, 20, ASTC6x6, HasAlpha}, {7, 1025, BC7SRGB, NormalPacked}, {64, 31, RGBA16Float, Premultiplied}, {1, 1, R16Unorm, 0}} {
		b := encoded(t, c.w, c.h, c.f, c.flags)
		info := NewInfo(c.w, c.h, c.f, c.flags)
		block, _ := c.f.Block()
		start := int64(HeaderSize + EntrySize*len(info.Levels))
		for name, want := range map[string]int64{
			"version": Version, "flags": int64(c.flags), "width": int64(c.w), "height": int64(c.h), "mipCount": int64(len(info.Levels)),
			"pixelFormat": int64(c.f), "blockWidth": int64(block.Width), "blockHeight": int64(block.Height), "reserved0": 0,
			"payloadOffset": start, "totalPayloadSize": int64(len(b)) - start,
		} {
			if got := value(b, header, name); got != want {
				t.Errorf("%v of %d x %d texels: %s is %d, not %d", c.f, c.w, c.h, name, got, want)
			}
		}
		if !strings.HasPrefix(string(b), Magic) || !bytes.Equal(b[44:64], make([]byte, 20)) {
			t.Errorf("the header is % x", b[:HeaderSize])
		}
		for k, l := range info.Levels {
			e := b[HeaderSize+EntrySize*k:][:EntrySize]
			for name, want := range map[string]int64{"byteOffset": l.Offset - start, "byteSize": l.Size, "width": int64(l.Width), "height": int64(l.Height)} {
				if got := value(e, entry, name); got != want {
					t.Errorf("level %d of %d x %d texels: %s is %d, not %d", k, c.w, c.h, name, got, want)
				}
			}
		}
	}
	bytelayout.Hold(t, page, "utex header", bytelayout.Table(header), *updatePage)
	bytelayout.Hold(t, page, "utex level", bytelayout.Table(entry), *updatePage)
	bytelayout.Hold(t, page, "utex formats", formatTable(), *updatePage)
	ksy := bytelayout.ReadSchema(t, schema)
	ksy.Compare(t, "header", Version, header)
	ksy.Compare(t, "level", Version, entry)
	for v := range PixelFormat(1 << 10) {
		_, known := v.Block()
		if _, named := ksy.Enums["pixel_format"][int(v)]; named != known {
			t.Errorf("pixel format %d (%v): in the code %v, in the schema %v", v, v, known, named)
		}
	}
}

// encoded is a texture of zero texels.
func encoded(t *testing.T, w, h int, f PixelFormat, flags Flags) []byte {
	t.Helper()
	var b bytes.Buffer
	out, err := NewWriter(&b, w, h, f, flags)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range out.Info().Levels {
		if err := out.WriteLevel(make([]byte, l.Size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// formatTable lists the formats; ASTC's sRGB and linear numbers share rows.
func formatTable() string {
	var b strings.Builder
	b.WriteString("| pixel format | name | block, texels | bytes of a block | the reference engine reads it |\n|---|---|---|---|---|\n")
	engine := map[bool]string{true: "yes", false: "no"}
	for f := range PixelFormat(1 << 10) {
		block, ok := f.Block()
		number, name := fmt.Sprint(uint32(f)), f.String()
		switch {
		case !ok || f.ASTC() && f >= ASTC4x4:
			continue
		case f.ASTC():
			linear, _ := ASTCFormat(block.Width, block.Height, false)
			number, name = fmt.Sprintf("%d, %d", f, linear), name+", "+linear.String()
		}
		fmt.Fprintf(&b, "| %s | %s | %d x %d | %d | %s |\n", number, name, block.Width, block.Height, block.Bytes, engine[f.EngineReads()])
	}
	return b.String()
}
