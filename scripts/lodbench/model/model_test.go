package model

import (
	"bytes"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/internal/geom"
)

// small returns the small variants of the models that are generated here.
func small(t *testing.T) []*Mesh {
	t.Helper()
	var list []*Mesh
	for _, name := range Names {
		if _, ok := made[name]; ok || !Generated(name) {
			continue
		}
		m, err := Get(name, "", true)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	return list
}

func TestGenerated(t *testing.T) {
	for _, m := range small(t) {
		t.Run(m.Name, func(t *testing.T) {
			if len(m.Normals) != len(m.Positions) || len(m.UV) != len(m.Positions) || len(m.Groups) != m.Triangles() {
				t.Fatalf("%d positions, %d normals, %d texture coordinates, %d triangles, %d groups",
					len(m.Positions), len(m.Normals), len(m.UV), m.Triangles(), len(m.Groups))
			}
			for i, p := range m.Positions {
				if !p.IsFinite() || geom.FromF32(p.F32()) != p {
					t.Fatalf("position %d is %v", i, p)
				}
			}
			against := 0
			for c := 0; c < len(m.Indices); c += 3 {
				a, b, d := m.Positions[m.Indices[c]], m.Positions[m.Indices[c+1]], m.Positions[m.Indices[c+2]]
				n := b.Sub(a).Cross(d.Sub(a))
				if n.Len() == 0 {
					t.Fatalf("triangle %d has no area", c/3)
				}
				if n.Dot(geom.FromF32(m.Normals[m.Indices[c]])) < 0 {
					against++
				}
			}
			if against > m.Triangles()/1000 {
				t.Errorf("%d of %d triangles face against their normals", against, m.Triangles())
			}
		})
	}
}

// TestGeneratedGolden pins the models: figures of different versions are only
// comparable on the same ones.
func TestGeneratedGolden(t *testing.T) {
	want := map[string]uint32{"rock360": 0x824e6979, "terrain1k": 0x9f10b639, "city24": 0x11e87dd9}
	for _, m := range small(t) {
		var b bytes.Buffer
		if err := Write(&b, m); err != nil {
			t.Fatal(err)
		}
		if got := crc32.ChecksumIEEE(b.Bytes()); got != want[m.Name] {
			t.Errorf("%s has checksum %#08x, want %#08x", m.Name, got, want[m.Name])
		}
	}
}

// TestClosed asserts that rock and city have no open edge between positions.
func TestClosed(t *testing.T) {
	for _, m := range small(t) {
		if m.Name == "terrain1k" {
			continue
		}
		sides := map[[2]geom.Vec3]int{}
		for c := 0; c < len(m.Indices); c += 3 {
			for k := range 3 {
				a, b := m.Positions[m.Indices[c+k]], m.Positions[m.Indices[c+(k+1)%3]]
				sides[[2]geom.Vec3{a, b}]++
			}
		}
		for e, n := range sides {
			if sides[[2]geom.Vec3{e[1], e[0]}] != n {
				t.Fatalf("%s: the edge %v is open", m.Name, e)
			}
		}
	}
}

// TestSizes asserts the numbers of triangles that the documentation names; the
// terrain's is 2 x 1024 x 1024.
func TestSizes(t *testing.T) {
	if testing.Short() {
		t.Skip("makes large models")
	}
	for name, want := range map[string]int{"rock360": 516_960, "city24": 2_294_232} {
		m, err := Get(name, "", false)
		if err != nil {
			t.Fatal(err)
		}
		if m.Triangles() != want {
			t.Errorf("%s has %d triangles, want %d", name, m.Triangles(), want)
		}
	}
}

func TestAssets(t *testing.T) {
	folder := filepath.Join("..", "..", "..", "..", "shared", "assets", "models")
	if _, err := os.Stat(folder); err != nil {
		t.Skip("the shared assets are absent: ", err)
	}
	for name, want := range map[string]int{"FlightHelmet": 94_722, "Mountains": 25_600, "dutch_ship": 69_162} {
		m, err := Get(name, folder, false)
		if err != nil {
			t.Fatal(err)
		}
		if byPath, err := Get(filepath.Join(folder, filepath.FromSlash(assets[name])), "", false); err != nil || byPath.Triangles() != want {
			t.Errorf("%s by its path: %v", name, err)
		}
		if m.Triangles() != want || len(m.Normals) != len(m.Positions) || len(m.Groups) != want {
			t.Errorf("%s has %d triangles with %d groups, want %d; %d positions, %d normals", name, m.Triangles(), len(m.Groups), want, len(m.Positions), len(m.Normals))
		}
	}
}

// TestMade runs the commands that make models.
func TestMade(t *testing.T) {
	folder := filepath.Join("..", "..", "..", "..", "shared", "assets", "models")
	if _, err := os.Stat(folder); err != nil {
		t.Skip("the shared assets are absent: ", err)
	}
	for name, c := range map[string]struct {
		triangles int
		materials int
		colors    bool
	}{"kit": {3134, 1, false}, "city": {19008, 31, true}} {
		m, err := Get(name, folder, true)
		if err != nil {
			t.Fatal(err)
		}
		textures := 0
		for _, look := range m.Materials {
			if look.Texture != nil {
				textures++
			}
		}
		if m.Triangles() != c.triangles || len(m.Materials) != c.materials || textures == 0 || (m.Colors != nil) != c.colors || len(m.UV) != len(m.Positions) {
			t.Errorf("%s has %d triangles, %d materials, %d of them with textures, colours: %t", name, m.Triangles(), len(m.Materials), textures, m.Colors != nil)
		}
		for _, p := range m.Positions {
			if name == "city" && !(p[0] >= 0 && p[0] <= 128 && p[2] >= 0 && p[2] <= 128) {
				t.Fatalf("%s: %v is outside of the tile", name, p)
			}
		}
	}
}

func TestGetErrors(t *testing.T) {
	if _, err := Get("teapot", "", false); err == nil || !strings.Contains(err.Error(), "FlightHelmet") {
		t.Errorf("an unknown model: %v", err)
	}
	if _, err := Get("Mountains", t.TempDir(), false); err == nil {
		t.Error("a missing file is no error")
	}
}

func TestExchange(t *testing.T) {
	list := small(t)
	bare, painted := *list[0], *list[0]
	bare.Normals, bare.UV, bare.Groups = nil, nil, nil
	painted.Colors = make([][4]float32, len(painted.Positions))
	painted.Colors[1] = [4]float32{1, 2, 3, 4}
	for _, m := range append(list, &bare, &painted) {
		var b bytes.Buffer
		if err := Write(&b, m); err != nil {
			t.Fatal(err)
		}
		got, err := Read(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		got.Name, got.Materials = m.Name, m.Materials
		if d := cmp.Diff(m, got); d != "" {
			t.Errorf("%s changed (-want +got):\n%.2000s", m.Name, d)
		}
		if _, err := Read(bytes.NewReader(b.Bytes()[:b.Len()-1])); err == nil {
			t.Errorf("%s: a truncated file is no error", m.Name)
		}
	}
	if _, err := Read(strings.NewReader("LODM")); err == nil {
		t.Error("a file without header is no error")
	}
	bad := append([]byte(magic), 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0)
	bad = append(bad, make([]byte, 12+8)...)
	bad = append(bad, 1, 0, 0, 0)
	if _, err := Read(bytes.NewReader(bad)); err == nil {
		t.Error("an index out of range is no error")
	}
}
