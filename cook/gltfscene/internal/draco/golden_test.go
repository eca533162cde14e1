package draco

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// vector is a stream of testdata with what the reference decoder makes of it.
type vector struct {
	name                      string
	src                       []byte
	faces, points, attributes int
	sum                       string
}

// wide are limits that no golden stream reaches.
var wide = Limits{Faces: 1 << 16, Points: 1 << 16}

func golden(t testing.TB) (list []vector) {
	t.Helper()
	data := testfile.Read(t, filepath.Join("testdata", "golden.tsv"))
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n")[1:] {
		f := strings.Split(line, "\t")
		v := vector{name: f[0], sum: f[4]}
		for i, to := range []*int{&v.faces, &v.points, &v.attributes} {
			n, err := strconv.Atoi(f[i+1])
			if err != nil {
				t.Fatal(err)
			}
			*to = n
		}
		v.src = testfile.Read(t, filepath.Join("testdata", v.name))
		list = append(list, v)
	}
	return list
}

// load returns one golden stream.
func load(t testing.TB, name string) []byte {
	t.Helper()
	src := testfile.Read(t, filepath.Join("testdata", name+".drc"))
	return src
}

// dump writes a mesh as testdata/README.md says.
func dump(m *Mesh) (out []byte) {
	put := func(list ...uint32) {
		for _, v := range list {
			out = binary.LittleEndian.AppendUint32(out, v)
		}
	}
	put(uint32(len(m.Indices)/3), uint32(m.Points), uint32(len(m.Attributes)))
	put(m.Indices...)
	for _, a := range m.Attributes {
		normalized := uint32(0)
		if a.Normalized {
			normalized = 1
		}
		put(a.ID, uint32(a.Kind), uint32(a.Type), uint32(a.Components), normalized)
		out = append(out, a.Data...)
	}
	return out
}

// TestGolden verifies that meshes are, bit by bit, those of the reference.
func TestGolden(t *testing.T) {
	list := golden(t)
	if len(list) < 30 {
		t.Fatalf("only %d streams", len(list))
	}
	for _, v := range list {
		t.Run(v.name, func(t *testing.T) {
			m, err := Decode(v.src, wide)
			if err != nil {
				t.Fatal(err)
			}
			if len(m.Indices) != 3*v.faces || m.Points != v.points || len(m.Attributes) != v.attributes {
				t.Errorf("%d indices, %d points, %d attributes, want %+v", len(m.Indices), m.Points, len(m.Attributes), v)
			}
			if sum := sha256.Sum256(dump(m)); hex.EncodeToString(sum[:]) != v.sum {
				t.Error("the content differs from the reference")
			}
			checkMesh(t, m)
			exact := Limits{Faces: v.faces, Points: v.points}
			if _, err := Decode(v.src, exact); err != nil {
				t.Errorf("with exact limits: %v", err)
			}
		})
	}
}

// checkMesh verifies what the package promises of every mesh.
func checkMesh(t testing.TB, m *Mesh) {
	t.Helper()
	if len(m.Indices)%3 != 0 {
		t.Fatalf("%d indices", len(m.Indices))
	}
	for _, i := range m.Indices {
		if int64(i) >= int64(m.Points) {
			t.Fatalf("index %d of %d points", i, m.Points)
		}
	}
	for _, a := range m.Attributes {
		if want := m.Points * a.Components * a.Type.Size(); len(a.Data) != want || a.Type.Size() == 0 || a.Kind > Generic {
			t.Fatalf("attribute %d: %d bytes, want %d", a.ID, len(a.Data), want)
		}
	}
}
