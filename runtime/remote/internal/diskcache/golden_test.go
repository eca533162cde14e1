package diskcache

import (
	"bytes"
	"os"
	"testing"

	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
)

// A folder that an earlier version has written is read as it was meant: a whole file
// that is old, a texture, and a partial file with its first and last blocks. The
// folder may only be replaced by one of a new form, with a new mark.
func TestGoldenCache(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/cache")); err != nil {
		t.Fatal(err)
	}
	clock := newClock()
	c := openCache(t, dir, clock, 0)
	texture := TextureFolder(mustParse(t, "https://h/tiles/")) + "/sub/a.png"
	if e, ok := c.Lookup(name(1)); !ok || !e.Old || e.URL != address(1) || e.ETag != remotetest.ETagOf([]byte("data")) || remotetest.Text(t, c.Path(e.Name)) != "data" {
		t.Errorf("%+v, %v", e, ok)
	}
	if e, ok := c.Lookup(texture); !ok || e.Old || e.LastModified == "" || e.SHA256 != remotetest.HashOf([]byte("texture")) || remotetest.Text(t, c.Path(e.Name)) != "texture" {
		t.Errorf("%+v, %v", e, ok)
	}
	data := remotetest.Body(3*BlockSize + 5)
	p := openPartial(t, c, 3)
	if !p.Has(0) || p.Has(1) || p.Has(2) || !p.Has(3) || p.Stored() != BlockSize+5 || p.Size() != int64(len(data)) {
		t.Errorf("%+v", p.Entry())
	}
	got := make([]byte, 5)
	if _, err := p.ReadAt(got, 3*BlockSize); err != nil || !bytes.Equal(got, data[3*BlockSize:]) {
		t.Error(err)
	}
	if s := c.Stat(); s.Files != 3 || s.Textures != 1 || s.Partial != 1 {
		t.Errorf("%+v", s)
	}
	if bad, err := c.Verify(t.Context(), true); err != nil || len(bad) != 0 {
		t.Error(bad, err)
	}
}
