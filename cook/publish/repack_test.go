package publish

import (
	"bytes"
	"errors"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/cook/verify"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
)

// TestRepacked: an export whose geometry is compressed anew has the same meshes in fewer
// bytes, and a manifest that tells their sizes and hashes; a second one writes nothing, and
// one as it was cooked takes the place of the other.
func TestRepacked(t *testing.T) {
	base := t.TempDir()
	dir, out := filepath.Join(base, "cooked"), filepath.Join(base, "site")
	m := city()
	m.tiles["a"], m.tiles["d"] = tileModel{finelyDivided, []string{"brick", "glass"}}, tileModel{finelyDivided + 1, nil}
	m.cook(t, dir)
	delta := format.ModeDelta
	o := Options{Viewer: testPage("1"), Compress: &delta}
	first := must2(t)(Export(t.Context(), dir, out, o))
	doc, err := manifest.Decode(testfile.Read(t, filepath.Join(out, "city.json")))
	if err != nil {
		t.Fatal(err)
	}
	cooked := m.files(t)
	for i := range doc.Tiles {
		x := &doc.Tiles[i]
		data := testfile.Read(t, filepath.Join(out, filepath.FromSlash(x.Path)))
		if int64(len(data)) != x.FileSizeBytes || hashOf(data) != x.SHA256 || path.Base(x.Path) != x.SHA256+".untold" {
			t.Errorf("%s has %d bytes and the hash %s, its entry %d and %s", x.ID, len(data), hashOf(data), x.FileSizeBytes, x.SHA256)
		}
		was := cooked[path.Join("tiles", "tile_"+string(rune('0'+i))+"_0_0.untold")]
		if many := m.tiles[x.ID[len("tile_"):]].shape >= finelyDivided; len(data) > len(was) || many && 2*len(data) > len(was) {
			t.Errorf("%s: %d bytes of %d", x.ID, len(data), len(was))
		}
		if d, w := geometryOf(t, data), geometryOf(t, was); !bytes.Equal(d.Vertices, w.Vertices) || !bytes.Equal(d.Indices, w.Indices) {
			t.Errorf("%s has other meshes", x.ID)
		}
	}
	rep, err := verify.Paths(t.Context(), []string{out}, verify.Options{})
	if err != nil || rep.Errors > 0 || rep.Warnings > 0 {
		t.Errorf("%v: %+v", err, rep)
	}
	if r := must2(t)(Export(t.Context(), dir, out, o)); len(r.Sent) != 0 || r.Removed != 0 || r.Bytes != first.Bytes {
		t.Errorf("%+v", r)
	}
	o.Compress = nil
	if r := must2(t)(Export(t.Context(), dir, out, o)); r.Removed == 0 || r.Bytes <= first.Bytes {
		t.Errorf("%+v", r)
	}
}

func geometryOf(t *testing.T, data []byte) format.Geometry {
	t.Helper()
	r, err := format.NewBytesReader(data)
	if err != nil {
		t.Fatal(err)
	}
	g, err := r.ReadGeometry(format.Geometry{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestRepackedChange: a container that is another one when it is sent stops the publish.
func TestRepackedChange(t *testing.T) {
	_, dir := place(t)
	m := city()
	m.tiles["d"] = tileModel{finelyDivided, nil}
	m.cook(t, dir)
	delta := format.ModeDelta
	c := &container{file: file{source: "tiles/tile_3_0_0.untold", dir: dir, rel: "tiles/tile_3_0_0.untold"}}
	if err := c.scan(t.Context(), newWorkshop(&Options{Compress: &delta})); err != nil || c.repacked == nil {
		t.Fatalf("%v, %+v", err, c)
	}
	testfile.Write(t, filepath.Join(dir, "tiles", "tile_3_0_0.untold"), containerBytes(t, format.FileTile, finelyDivided+1, nil))
	in, err := os.Open(filepath.Join(dir, "tiles", "tile_3_0_0.untold"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, err := c.pack(in); !errors.Is(err, ErrScene) {
		t.Errorf("%v", err)
	}
}
