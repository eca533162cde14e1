package cook

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/manifest"
)

// quad returns the vertices of a rectangle of metres with texture coordinates
// from 0 to u and v.
func quad(width, height float32, u, v float32) []vertex.Vertex {
	var out []vertex.Vertex
	for i := range 4 {
		x, y := float32(i&1), float32(i>>1)
		out = append(out, vertex.Vertex{
			Position: [3]float32{x * width, y * height, 3}, UV0: [2]uint16{vertex.Half(x * u), vertex.Half(y * v)},
		})
	}
	return out
}

// A texture is as large as the mesh that stretches it most shows it, along its
// longest edge and with what a transform makes of the mesh.
func TestTextureScales(t *testing.T) {
	type shape struct {
		vertices []vertex.Vertex
		scale    float32 // of the transform; 0: none
	}
	for name, c := range map[string]struct {
		w, h   uint32
		shapes []shape
		want   float64
	}{
		"a wall":                {256, 256, []shape{{quad(4, 4, 1, 1), 0}}, 0.25},
		"a wall of two":         {256, 256, []shape{{quad(4, 4, 1, 1), 0}, {quad(8, 8, 1, 1), 0}}, 0.125},
		"repeated":              {256, 256, []shape{{quad(4, 4, 8, 8), 0}}, 2},
		"a palette":             {256, 256, []shape{{quad(4, 4, 0, 0), 0}}, 0},
		"a strip of a palette":  {256, 256, []shape{{quad(4, 4, 0, 1), 0}}, 0.25 / scaleAnisotropy},
		"stretched":             {256, 256, []shape{{quad(8, 4, 1, 1), 0}}, 0.125},
		"a trim sheet":          {512, 64, []shape{{quad(8, 1, 1, 1), 0}}, 0.125},
		"a trim sheet, upright": {64, 512, []shape{{quad(1, 8, 1, 1), 0}}, 0.125},
		"grown by a transform":  {256, 256, []shape{{quad(4, 4, 1, 1), 2}}, 0.125},
		"with a sliver":         {256, 256, []shape{{append(quad(4, 4, 1, 1), quad(0.2, 0.2, 0, 0)...), 0}}, 0.25},
		"with a patch":          {256, 256, []shape{{append(quad(4, 4, 1, 1), quad(1, 1, 0, 0)...), 0}}, 0},
	} {
		b := format.NewBuilder(format.FileTile)
		tex := b.AddTexture("a.png", "Textures/a.png", records.Texture{Width: c.w, Height: c.h})
		unused := b.AddMaterial("unused", records.Material{
			BaseColorTexture: records.NoIndex, NormalTexture: records.NoIndex, MetallicTexture: records.NoIndex,
			RoughnessTexture: records.NoIndex, EmissiveTexture: records.NoIndex, OcclusionTexture: records.NoIndex,
		})
		m := b.AddMaterial("wall", records.Material{
			BaseColorTexture: tex, NormalTexture: records.NoIndex, MetallicTexture: records.NoIndex,
			RoughnessTexture: records.NoIndex, EmissiveTexture: tex, OcclusionTexture: records.NoIndex,
		})
		add := func(material uint32, s shape) {
			o := format.Object{Name: "o", MeshName: "m", Material: material, Vertices: vertex.Append(nil, s.vertices)}
			for k := uint32(0); k < uint32(len(s.vertices)); k += 4 {
				o.Indices = append(o.Indices, k, k+1, k+2, k+2, k+1, k+3)
			}
			if s.scale > 0 {
				o.Transform = [16]float32{s.scale, 0, 0, 0, 0, 0, s.scale, 0, 0, s.scale, 0, 0, 9, 9, 9, 1}
			}
			if err := b.AddObject(o); err != nil {
				t.Fatal(err)
			}
		}
		add(unused, shape{quad(400, 400, 1, 1), 0})
		add(records.NoIndex, shape{quad(400, 400, 1, 1), 0})
		for _, s := range c.shapes {
			add(m, s)
		}
		if d := cmp.Diff(map[string]float64{"a.png": c.want}, textureScales(b.File())); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
}

// The greater and the lesser singular value of a map between planes are those of
// any of its triangles, however they are turned.
func TestTriangleScale(t *testing.T) {
	for turn := range 12 {
		s, c := math.Sincos(float64(turn) * math.Pi / 6)
		uv := func(x, y float64) [2]float64 { return [2]float64{0.5 * (c*x - s*y), 0.2 * (s*x + c*y)} }
		area, scale := triangleScale([3]float64{2, 0, 0}, [3]float64{1, 0, 3}, uv(2, 0), uv(1, 3))
		if math.Abs(area-6) > 1e-12 || math.Abs(scale-0.2) > 1e-12 {
			t.Errorf("turned %d times: area %v, scale %v", turn, area, scale)
		}
	}
	for name, ends := range map[string][2][3]float64{"a line": {{1, 0, 0}, {2, 0, 0}}, "a point": {}} {
		if area, scale := triangleScale(ends[0], ends[1], [2]float64{1, 0}, [2]float64{0, 1}); area != 0 || scale != 0 {
			t.Errorf("%s: area %v, scale %v", name, area, scale)
		}
	}
}

// The manifest lists the textures that payloads name, in order; that of the
// preset none.
func TestManifestSaysHowLargeTexturesAre(t *testing.T) {
	scene := texturedHills(t, hillImages()...)
	for _, dry := range []bool{false, true} {
		opts := DefaultOptions()
		opts.DryRun = dry
		var uris []string
		res := mustRun(t, scene, t.TempDir(), opts)
		m := res.Manifest
		for _, x := range m.Textures {
			if !(x.UVPerMetre >= 0) || math.IsInf(x.UVPerMetre, 1) {
				t.Errorf("%+v", x)
			}
			uris = append(uris, x.URI)
		}
		if d := cmp.Diff([]string{"Textures/bumps.png", "Textures/leaf.png", "Textures/stone.png"}, uris); d != "" {
			t.Errorf("dry run %v:\n%s", dry, d)
		}
		if dry {
			continue
		}
		if read, err := manifest.Load(res.ManifestPath); err != nil || !cmp.Equal(read.Textures, m.Textures) {
			t.Errorf("%+v, %v", read, err)
		}
	}
	if m := mustRun(t, scene, t.TempDir(), EngineOptions()).Manifest; m.Textures != nil {
		t.Errorf("the preset has %v", m.Textures)
	}
}
