package format

import (
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// look reads everything that a Salvaged has.
func look(s *Salvaged) (n int) {
	n = len(s.Header().FileType.String())
	for i, c := range s.Chunks() {
		s.Sound(i)
		n += len(c.Type.String())
	}
	for _, e := range s.Entities() {
		n += len(s.String(e.NameOffset))
	}
	for _, m := range s.Meshes() {
		n += len(s.String(m.NameOffset))
	}
	for _, m := range s.Materials() {
		n += len(s.String(m.NameOffset))
	}
	for _, x := range s.Textures() {
		n += len(s.String(x.URIOffset))
	}
	return n
}

// TestSalvage: of a file that ends too soon, or with a byte that is another one, what
// is whole is there and the rest is marked.
func TestSalvage(t *testing.T) {
	data := vector(t, "triangle_none.untold")
	path := filepath.Join(t.TempDir(), "a.untold")
	salvage := func(b []byte) *Salvaged {
		s, err := Salvage(testfile.Write(t, path, b), ValidateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		look(s)
		return s
	}
	whole := salvage(data)
	if !whole.Report().OK() || len(whole.Meshes()) != 1 || whole.Size() != int64(len(data)) {
		t.Fatalf("%+v", whole.Report())
	}
	for i := range whole.Chunks() {
		if !whole.Sound(i) {
			t.Errorf("%s is marked", whole.Chunks()[i].Type)
		}
	}
	for n := range data {
		s := salvage(data[:n])
		if s.Report().OK() {
			t.Errorf("%d of %d bytes are fine", n, len(data))
		}
		for i, c := range s.Chunks() {
			if inside := c.Offset+c.CompressedSize <= uint64(n); s.Sound(i) && !inside {
				t.Errorf("%d bytes: %s, which is not whole, is not marked", n, c.Type)
			}
		}
	}
	broken := func(t ChunkType) []byte { // its place is outside of the file
		b := append([]byte{}, data...)
		for i, c := range whole.Chunks() {
			if c.Type == t {
				b[int(whole.Header().HeaderSize)+40*i+13] = 0x7f
			}
		}
		return b
	}
	for _, c := range []ChunkType{ChunkStrings, ChunkEntities, ChunkMeshes, ChunkMaterials, ChunkTextures, ChunkVertices} {
		s := salvage(broken(c))
		for i, x := range s.Chunks() {
			if s.Sound(i) == (x.Type == c) {
				t.Errorf("%s is broken, and %s is sound: %t", c, x.Type, s.Sound(i))
			}
		}
		if n := len(s.Meshes()); n != map[bool]int{true: 0, false: 1}[c == ChunkMeshes] {
			t.Errorf("%s is broken: %d meshes", c, n)
		}
		if name := s.String(0); c == ChunkStrings && name != "" {
			t.Errorf("a string %q of a broken table", name)
		}
	}
	for i := range data {
		b := append([]byte{}, data...)
		b[i] ^= 0xff
		salvage(b)
	}
	if _, err := Salvage(filepath.Join(t.TempDir(), "none"), ValidateOptions{}); err == nil {
		t.Error("a file that is not there")
	}
}
