package mesh

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/testfile"
)

// goldenMesh is a case of testdata/mikktspace.json: a mesh and the tangents,
// one per corner, that the reference implementation (the WebAssembly package
// mikktspace 1.1.1) gives for its corners, signs negated for glTF.
type goldenMesh struct {
	Name      string    `json:"name"`
	Positions []float64 `json:"positions"`
	Normals   []float32 `json:"normals"`
	UV        []float32 `json:"uv"`
	Indices   []uint32  `json:"indices"`
	Tangents  []float32 `json:"tangents"`
}

func (g *goldenMesh) mesh() *Mesh {
	m := &Mesh{Indices: g.Indices}
	for i := range len(g.Positions) / 3 {
		m.Positions = append(m.Positions, geom.Vec3(g.Positions[3*i:]))
		m.Normals = append(m.Normals, [3]float32(g.Normals[3*i:]))
		m.UV[0] = append(m.UV[0], [2]float32(g.UV[2*i:]))
	}
	return m
}

// TestMikkTSpaceGolden compares with the reference corner by corner. Where the
// reference has no direction it answers +X, even along the normal.
func TestMikkTSpaceGolden(t *testing.T) {
	data := testfile.Read(t, filepath.Join("testdata", "mikktspace.json"))
	var cases []goldenMesh
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		for _, form := range []string{"indexed", "loose"} {
			t.Run(c.Name+"/"+form, func(t *testing.T) {
				m := c.mesh()
				if form == "loose" {
					m = looseCopy(m)
				}
				m.GenerateTangents()
				without := 0
				for k := range c.Indices {
					want, got := [4]float32(c.Tangents[4*k:]), m.Tangents[m.Indices[k]]
					if got[3] != want[3] {
						t.Errorf("corner %d: sign %v, want %v", k, got[3], want[3])
					}
					n := geom.FromF32(m.Normals[m.Indices[k]])
					if want == [4]float32{1, 0, 0, 1} && math.Abs(n[0]) > 1e-5 {
						without++
						continue
					}
					if d := vec(got).Sub(vec(want)).Len(); d > 2e-5 {
						t.Errorf("corner %d: %v, want %v", k, got, want)
					}
				}
				t.Logf("%d corners, %d without a direction, %d vertices of %d", len(c.Indices), without, len(m.Positions), len(c.Positions)/3)
			})
		}
	}
}

// TestShippedTangents strips the tangents that files ship and generates them
// anew. The bounds are what was measured, rounded up.
func TestShippedTangents(t *testing.T) {
	for _, c := range []struct {
		file        string
		median, p95 float64 // degrees at most
		sign        float64 // share of equal signs at least
	}{
		// From Blender, triangles: MikkTSpace to the last digits.
		{"models/armor/armor.gltf", 0.001, 0.001, 1},
		{"features/AnisotropyDiscTest/AnisotropyDiscTest.glb", 0.001, 0.001, 1},
		{"features/blender-io/01_alpha_blend/01_alpha_blend.gltf", 0.001, 0.001, 1},
		// From Blender, quads cut into triangles after MikkTSpace saw them:
		// corners that two halves of a quad share have one angle there.
		{"features/blender-io/02_node_hierarchy/02_node_hierarchy.gltf", 0.01, 4.2, 1},
		// From an exporter for 3ds Max with sums of its own; on this file the
		// reference itself is as far away.
		{"models/FlightHelmet/FlightHelmet.gltf", 0.36, 4.1, 0.9999},
		// From an unknown tool; the reference is as far away here too.
		{"models/AnisotropyBarnLamp/AnisotropyBarnLamp.gltf", 0.86, 54, 0.954},
	} {
		t.Run(filepath.Base(c.file), func(t *testing.T) {
			s := loadShared(t, c.file)
			var angles []float64
			same := 0
			for i := range s.Meshes {
				for k := range s.Meshes[i].Primitives {
					p := &s.Meshes[i].Primitives[k]
					if p.Tangents == nil || p.Normals == nil || p.UV[0] == nil {
						continue
					}
					m := meshFrom(p)
					m.GenerateTangents()
					for n, v := range p.Indices {
						if !hasDirection(p, n/3*3) {
							continue
						}
						a, b := p.Tangents[v], m.Tangents[m.Indices[n]]
						angles = append(angles, degrees(vec(a).Normalize(0, geom.Vec3{}), vec(b)))
						if a[3] == b[3] {
							same++
						}
					}
				}
			}
			if len(angles) == 0 {
				t.Fatal("nothing to compare")
			}
			slices.Sort(angles)
			median, p95 := angles[len(angles)/2], angles[len(angles)*95/100]
			sign := float64(same) / float64(len(angles))
			t.Logf("%d corners: median %.4f, 95%% %.4f, most %.2f degrees, signs agree %.3f%%",
				len(angles), median, p95, angles[len(angles)-1], sign*100)
			if median > c.median || p95 > c.p95 || sign < c.sign {
				t.Errorf("median %.4f (want <= %v), 95%% %.4f (want <= %v) degrees, signs agree %.4f (want >= %v)",
					median, c.median, p95, c.p95, sign, c.sign)
			}
		})
	}
}

// TestShippedTangentsWithoutDirection has files whose triangles all lie at one
// point of a palette: Blender writes a direction in the plane and a positive
// sign there, and so do we.
func TestShippedTangentsWithoutDirection(t *testing.T) {
	for _, name := range []string{"building-garage", "building-small-a", "grass-trees", "pavement-fountain", "road-corner"} {
		t.Run(name, func(t *testing.T) {
			p := &loadShared(t, "kits/kenney-city/"+name+".glb").Meshes[0].Primitives[0]
			m := meshFrom(p)
			m.GenerateTangents()
			if len(m.Positions) != len(p.Positions) {
				t.Errorf("%d vertices became %d", len(p.Positions), len(m.Positions))
			}
			for c, v := range p.Indices {
				got := m.Tangents[m.Indices[c]]
				if math.Abs(vec(got).Dot(geom.FromF32(p.Normals[v]))) > 1e-5 || got[3] != p.Tangents[v][3] {
					t.Fatalf("corner %d: %v, shipped %v, normal %v", c, got, p.Tangents[v], p.Normals[v])
				}
			}
		})
	}
}

// degrees returns the angle between unit vectors, exact for small ones.
func degrees(a, b geom.Vec3) float64 {
	return 2 * math.Asin(min(1, a.Sub(b).Len()/2)) * 180 / math.Pi
}

// tangentSoup draws a mesh of few, coarse values, so that vertices coincide and
// triangles have no area, in space or in UV.
func tangentSoup(t *rapid.T) *Mesh {
	m := &Mesh{}
	coordinate := rapid.IntRange(-2, 2)
	for range rapid.IntRange(3, 14).Draw(t, "vertices") {
		var p geom.Vec3
		for a := range p {
			p[a] = float64(coordinate.Draw(t, "position"))
		}
		n := [3]float32{}
		n[rapid.IntRange(0, 2).Draw(t, "axis")] = float32(rapid.SampledFrom([]int{-1, 1}).Draw(t, "side"))
		m.Positions = append(m.Positions, p)
		m.Normals = append(m.Normals, n)
		m.UV[0] = append(m.UV[0], [2]float32{float32(coordinate.Draw(t, "u")) / 4, float32(coordinate.Draw(t, "v")) / 4})
		m.Colors = append(m.Colors, [4]float32{float32(len(m.Colors)), 0, 0, 1})
	}
	last := uint32(len(m.Positions) - 1)
	m.Indices = rapid.SliceOfN(rapid.Uint32Range(0, last), 3, 90).Draw(t, "indices")
	return m
}

// TestGenerateTangentsOnSoup checks what holds for any mesh: corners keep
// their other attributes, the source its contents, and tangents are of unit
// length, at right angles to the normals and the same however the corners
// share vertices.
func TestGenerateTangentsOnSoup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := tangentSoup(t)
		before := copyOf(src)
		m := *src
		m.GenerateTangents()
		if diff := cmp.Diff(before, src); diff != "" {
			t.Fatalf("the source was written into:\n%s", diff)
		}
		n := len(m.Positions)
		if len(m.Normals) != n || len(m.Tangents) != n || len(m.UV[0]) != n || len(m.Colors) != n || m.UV[1] != nil {
			t.Fatalf("lengths differ: %d positions", n)
		}
		for i, tan := range m.Tangents {
			if math.Abs(vec(tan).Len()-1) > 1e-5 || math.Abs(vec(tan).Dot(geom.FromF32(m.Normals[i]))) > 1e-4 || tan[3] != 1 && tan[3] != -1 {
				t.Fatalf("vertex %d: tangent %v, normal %v", i, tan, m.Normals[i])
			}
		}
		whole := *src
		whole.Indices = src.Indices[:len(src.Indices)/3*3]
		loose := looseCopy(&whole)
		loose.GenerateTangents()
		for c, v := range src.Indices {
			w := m.Indices[c]
			if m.Positions[w] != src.Positions[v] || m.Normals[w] != src.Normals[v] || m.UV[0][w] != src.UV[0][v] || m.Colors[w] != src.Colors[v] {
				t.Fatalf("corner %d has other attributes", c)
			}
			if c < len(whole.Indices) && loose.Tangents[c] != m.Tangents[w] {
				t.Fatalf("corner %d: %v, as a loose triangle %v", c, m.Tangents[w], loose.Tangents[c])
			}
		}
	})
}

// TestTangentSplitsAreNeeded checks that copies of a vertex differ.
func TestTangentSplitsAreNeeded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := tangentSoup(t)
		m := *src
		m.GenerateTangents()
		type key struct {
			color   float32 // the number of the vertex in the source
			tangent [4]float32
		}
		seen := map[key]bool{}
		for i, tan := range m.Tangents {
			k := key{m.Colors[i][0], tan}
			if seen[k] {
				t.Fatalf("two copies of vertex %v with the tangent %v", k.color, tan)
			}
			seen[k] = true
		}
	})
}

// TestLinkNonManifold has edges with more than two triangles: the first of
// each direction pair up.
func TestLinkNonManifold(t *testing.T) {
	m := &Mesh{Indices: []uint32{
		0, 1, 2, // half-edge 0: 0 -> 1
		0, 1, 3, // 3: 0 -> 1
		1, 0, 4, // 6: 1 -> 0
		1, 0, 5, // 9: 1 -> 0
		1, 0, 6, // 12: 1 -> 0, too many
		1, 1, 0, // flat
	}}
	for i := range 7 {
		m.Positions = append(m.Positions, geom.Vec3{float64(i), float64(i * i), 1})
		m.Normals = append(m.Normals, [3]float32{0, 0, 1})
		m.UV[0] = append(m.UV[0], [2]float32{float32(i), float32(i * i)})
	}
	g := newTangentSpace(m)
	want := make([]uint32, len(m.Indices))
	want[0], want[6], want[3], want[9] = 7, 1, 10, 4
	if diff := cmp.Diff(want, g.twin); diff != "" {
		t.Errorf("twins, plus one (-want +got):\n%s", diff)
	}
}

func TestSortEdges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(rapid.Uint64Range(0, 50), 0, 60).Draw(t, "edges")
		want := slices.Sorted(slices.Values(a))
		if sortEdges(a); !slices.Equal(a, want) {
			t.Fatalf("%v", a)
		}
	})
}

func TestWeldVertices(t *testing.T) {
	negative, nan := math.Copysign(0, -1), math.NaN()
	m := &Mesh{
		Positions: []geom.Vec3{{0, 1, 2}, {0, 1, 2}, {negative, 1, 2}, {0, 1, 3}, {0, 1, 2}, {0, 1, 2}, {nan, 0, 0}, {nan, 0, 0}},
		Normals:   [][3]float32{{0, 0, 1}, {0, 0, 1}, {float32(negative), 0, 1}, {0, 0, 1}, {0, 1, 0}, {0, 0, 1}, {}, {}},
		Colors:    make([][4]float32, 8),
	}
	m.UV[0] = [][2]float32{{0, 0}, {0, 0}, {0, float32(negative)}, {0, 0}, {0, 0}, {0, 1}, {}, {}}
	m.Colors[1] = [4]float32{1} // no reason to keep them apart
	if diff := cmp.Diff([]uint32{0, 0, 0, 3, 4, 5, 6, 6}, weldVertices(m)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTangentsOfHostileMeshes has values and shapes that break naive
// arithmetic or take quadratic time.
func TestTangentsOfHostileMeshes(t *testing.T) {
	const n = 20_000
	hub := &Mesh{} // n triangles around one vertex, none sharing an edge
	fan := &Mesh{} // n triangles around one vertex, their directions all around
	same := &Mesh{}
	add := func(m *Mesh, p geom.Vec3, u, v float64) {
		m.Positions = append(m.Positions, p)
		m.Normals = append(m.Normals, [3]float32{0, 0, 1})
		m.UV[0] = append(m.UV[0], [2]float32{float32(u), float32(v)})
	}
	for _, m := range []*Mesh{hub, fan, same} {
		add(m, geom.Vec3{}, 0.5, 0)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range uint32(n) {
		a := float64(i) / n * 2 * math.Pi
		add(hub, geom.Vec3{math.Cos(a), math.Sin(a), 1}, random.Float64(), random.Float64())
		add(hub, geom.Vec3{math.Cos(a), math.Sin(a), 2}, random.Float64(), random.Float64())
		hub.Indices = append(hub.Indices, 0, 2*i+1, 2*i+2)
		add(fan, geom.Vec3{math.Cos(a), math.Sin(a), 0}, float64(i)/n, 1)
		fan.Indices = append(fan.Indices, 0, i+1, (i+1)%n+1)
		add(same, geom.Vec3{1, float64(i % 2), 0}, float64(i%2), 1)
		same.Indices = append(same.Indices, 0, i+1, (i+1)%n+1)
	}
	huge := cube()
	huge.Tangents = nil
	huge.Positions = slices.Clone(huge.Positions)
	for i := range huge.Positions {
		huge.Positions[i] = huge.Positions[i].Scale(1e200)
	}
	broken := cube()
	broken.Tangents = nil
	broken.Positions, broken.Normals = slices.Clone(broken.Positions), slices.Clone(broken.Normals)
	broken.Positions[0], broken.Positions[5] = geom.Vec3{math.NaN(), 0, 0}, geom.Vec3{math.Inf(1), math.Inf(-1), 0}
	broken.Normals[3], broken.Normals[7] = [3]float32{}, [3]float32{float32(math.NaN()), 0, 0}
	for name, m := range map[string]*Mesh{"hub": hub, "fan": fan, "same": same, "huge": huge, "broken": broken} {
		m.GenerateTangents()
		for i, tan := range m.Tangents {
			if l := vec(tan).Len(); !(math.Abs(l-1) < 1e-5) {
				t.Fatalf("%s: vertex %d has the tangent %v", name, i, tan)
			}
		}
	}
}

// TestWideGroupsLeaveOppositesOut turns a fan's directions all around a pole:
// each corner's mean is over all triangles but the opposite one, which for
// evenly spread directions is its own direction.
func TestWideGroupsLeaveOppositesOut(t *testing.T) {
	for _, n := range []int{4, 8, 16} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			m := &Mesh{Positions: []geom.Vec3{{}}, Normals: [][3]float32{{0, 0, 1}}}
			m.UV[0] = [][2]float32{{0.5, 0}}
			for i := range n + 1 {
				a := float64(i%n) / float64(n) * 2 * math.Pi
				m.Positions = append(m.Positions, geom.Vec3{math.Cos(a), math.Sin(a), 0})
				m.Normals = append(m.Normals, [3]float32{0, 0, 1})
				m.UV[0] = append(m.UV[0], [2]float32{float32(i) / float32(n), 1})
				if i > 0 {
					m.Indices = append(m.Indices, 0, uint32(i), uint32(i+1))
				}
			}
			src := *m
			m.GenerateTangents()
			opposites := 0
			for c := 0; c < len(m.Indices); c += 3 {
				a, b := src.Positions[src.Indices[c+1]], src.Positions[src.Indices[c+2]]
				along := b.Sub(a).Normalize(0, geom.Vec3{})
				if d := vec(m.Tangents[m.Indices[c]]).Dot(along); d > 0.99 {
					opposites++
				}
			}
			// Rounding decides which pairs count as opposite, as in the reference.
			if opposites == 0 {
				t.Error("no corner at the pole follows its own triangle")
			}
		})
	}
}
