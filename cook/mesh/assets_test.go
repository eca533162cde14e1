package mesh

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/internal/geom"
)

// loadShared loads a file of the shared assets, or skips the test.
func loadShared(t *testing.T, name string) *gltfscene.Scene {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "assets", filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skip("the shared assets are absent: ", err)
	}
	s, err := gltfscene.Load(context.Background(), path, gltfscene.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// meshFrom makes a mesh of a primitive, which keeps its slices.
func meshFrom(p *gltfscene.Primitive) *Mesh {
	m := &Mesh{Normals: p.Normals, Tangents: p.Tangents, UV: p.UV, Colors: p.Colors, Indices: p.Indices}
	for _, v := range p.Positions {
		m.Positions = append(m.Positions, geom.FromF32(v))
	}
	return m
}

// TestTangentsMatchShipped strips the tangents that files ship, generates them
// anew and compares corner by corner: the convention for the sign must be the
// files', and the directions nearly theirs.
func TestTangentsMatchShipped(t *testing.T) {
	for _, c := range []struct {
		file         string
		median, sign float64 // degrees at most, share of equal signs at least
	}{
		{"models/FlightHelmet/FlightHelmet.gltf", 0.5, 0.999},
		// This exporter did not derive all of its tangents from the UVs.
		{"models/AnisotropyBarnLamp/AnisotropyBarnLamp.gltf", 1, 0.95},
		{"features/AnisotropyDiscTest/AnisotropyDiscTest.glb", 0.1, 0.999},
		{"features/blender-io/01_alpha_blend/01_alpha_blend.gltf", 0.1, 0.999},
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
						want, got := p.Tangents[v], m.Tangents[m.Indices[n]]
						a := geom.Vec3{float64(want[0]), float64(want[1]), float64(want[2])}.Normalize(0, geom.Vec3{})
						b := geom.Vec3{float64(got[0]), float64(got[1]), float64(got[2])}
						angles = append(angles, math.Acos(max(-1, min(1, a.Dot(b))))*180/math.Pi)
						if want[3] == got[3] {
							same++
						}
					}
				}
			}
			if len(angles) == 0 {
				t.Fatal("nothing to compare")
			}
			slices.Sort(angles)
			median, p90 := angles[len(angles)/2], angles[len(angles)*9/10]
			sign := float64(same) / float64(len(angles))
			t.Logf("%d corners: median %.3f, 90%% %.3f degrees, signs agree %.2f%%", len(angles), median, p90, sign*100)
			if median > c.median || sign < c.sign {
				t.Errorf("median angle %.3f degrees (want <= %v), signs agree %.4f (want >= %v)", median, c.median, sign, c.sign)
			}
		})
	}
}

// hasDirection reports whether a triangle's UVs have an area.
func hasDirection(p *gltfscene.Primitive, i int) bool {
	a, b, c := p.UV[0][p.Indices[i]], p.UV[0][p.Indices[i+1]], p.UV[0][p.Indices[i+2]]
	det := (float64(b[0])-float64(a[0]))*(float64(c[1])-float64(a[1])) - (float64(c[0])-float64(a[0]))*(float64(b[1])-float64(a[1]))
	return math.Abs(det) > 1e-12
}
