package gltfscene

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// corners are what the corners of triangles have, one behind the other.
func corners(p *Primitive, first, end int) (out [][]float32) {
	for _, v := range p.Indices[3*first : 3*end] {
		c := slices.Clone(p.Positions[v][:])
		if p.Normals != nil {
			c = append(c, p.Normals[v][:]...)
		}
		if p.Tangents != nil {
			c = append(c, p.Tangents[v][:]...)
		}
		for _, uv := range p.UV {
			if uv != nil {
				c = append(c, uv[v][:]...)
			}
		}
		if p.Colors != nil {
			c = append(c, p.Colors[v][:]...)
		}
		out = append(out, c)
	}
	return out
}

// TestGeometryOf: ranges of triangles are those of the primitive, whatever it is stored
// like, with the vertices that they use, once each.
func TestGeometryOf(t *testing.T) {
	var scenes []*Scene
	ranged, others := 0, 0
	opened := func(path string) {
		opts := DefaultOptions()
		opts.AllowMissingImages = true
		if s, err := Open(t.Context(), path, opts, 1<<20, nil); err == nil {
			t.Cleanup(func() { s.Close() })
			scenes = append(scenes, s)
		}
	}
	dir := t.TempDir()
	for i, b := range seeds() {
		path := filepath.Join(dir, string(rune('a'+i))+".glb")
		if err := os.WriteFile(path, b.glb(), 0o600); err != nil {
			t.Fatal(err)
		}
		opened(path)
	}
	for _, path := range planScenes(t) {
		opened(path)
	}
	for _, s := range scenes {
		for m := range s.Meshes {
			list, err := s.Geometry(m)
			if err != nil {
				t.Fatal(err)
			}
			for k := range list {
				whole, err := s.GeometryOf(m, k, nil)
				if err != nil || !slices.EqualFunc(corners(&whole, 0, len(whole.Indices)/3), corners(&list[k], 0, len(list[k].Indices)/3), slices.Equal) || whole.Material != list[k].Material {
					t.Fatalf("%s: mesh %d, part %d: %v", s.Source, m, k, err)
				}
				if !s.Ranged(m, k) {
					others++
					if _, err := s.GeometryOf(m, k, []Range{{0, 1}}); !errors.Is(err, ErrChanged) {
						t.Errorf("%s: mesh %d, part %d is read by ranges: %v", s.Source, m, k, err)
					}
					continue
				}
				ranged++
			}
		}
	}
	if ranged == 0 || others == 0 {
		t.Fatalf("%d parts can be read by ranges, %d cannot", ranged, others)
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.SampledFrom(scenes).Draw(rt, "scene")
		m := rapid.IntRange(0, max(0, len(s.Meshes)-1)).Draw(rt, "mesh")
		if m >= len(s.Meshes) || len(s.Meshes[m].Parts) == 0 {
			return
		}
		k := rapid.IntRange(0, len(s.Meshes[m].Parts)-1).Draw(rt, "part")
		if !s.Ranged(m, k) {
			return
		}
		list, err := s.Geometry(m)
		if err != nil {
			rt.Fatal(err)
		}
		var ranges []Range
		var want [][]float32
		n := len(list[k].Indices) / 3
		for at := 0; at < n; {
			first := at + rapid.IntRange(0, n/3).Draw(rt, "skipped")
			end := first + rapid.IntRange(1, n/3+1).Draw(rt, "taken")
			if end > n {
				break
			}
			ranges, want = append(ranges, Range{first, end}), append(want, corners(&list[k], first, end)...)
			at = end
		}
		if len(ranges) == 0 {
			return
		}
		p, err := s.GeometryOf(m, k, ranges)
		if err != nil {
			rt.Fatal(err)
		}
		if !slices.EqualFunc(corners(&p, 0, len(p.Indices)/3), want, slices.Equal) {
			rt.Errorf("%s: mesh %d, part %d, %v", s.Source, m, k, ranges)
		}
		used := slices.Clone(p.Indices)
		slices.Sort(used)
		if used = slices.Compact(used); len(used) != len(p.Positions) {
			rt.Errorf("%d vertices, %d are used", len(p.Positions), len(used))
		}
		for _, bad := range [][]Range{{{-1, 1}}, {{0, 0}}, {{0, n + 1}}, {{0, 1}, {0, 1}}} {
			if _, err := s.GeometryOf(m, k, bad); err == nil {
				rt.Errorf("%v is taken", bad)
			}
		}
	})
}
