// Package model provides the meshes that simplifiers are compared on: models
// of the shared assets and scenes that other commands make, with all primitives
// joined in world space, and generated ones of the kinds that cities and
// landscapes are made of.
package model

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/palette"
	"github.com/untoldkit/untold/internal/geom"
)

// Mesh is one model. All positions are exact in single precision, so that
// every tool sees the same points.
type Mesh struct {
	Name      string
	Positions []geom.Vec3
	Normals   [][3]float32 // unit length
	UV        [][2]float32 // of the base colour; nil if no part has any
	Colors    [][4]float32 // linear; nil if no part has any
	Indices   []uint32     // three per triangle
	Groups    []int32      // one per triangle: its material

	Materials []appearance.Material // by group
	Palettes  []palette.Look        // the same as far as they may be palettes; nil for generated ones
}

// Triangles returns the number of triangles.
func (m *Mesh) Triangles() int { return len(m.Indices) / 3 }

// Names lists the models in the order of tables.
var Names = []string{"FlightHelmet", "Mountains", "dutch_ship", "kit", "city", "rock360", "terrain1k", "city24"}

// assets are the models to be loaded, as paths below the folder of models.
var assets = map[string]string{
	"FlightHelmet": "FlightHelmet/FlightHelmet.gltf",
	"Mountains":    "Mountains/Mountains.gltf",
	"dutch_ship":   "dutch_ship_medium_1k/dutch_ship_medium_1k.gltf",
}

// Generated tells whether a model of Names is made, here or by another command,
// and has a small variant.
func Generated(name string) bool { return assets[name] == "" }

// Get returns a model of Names, or any glTF file by its path. Those of Names
// that are not generated are read from below the folder of models, beside which
// the parts of kits lie; small selects lesser variants of the others.
func Get(name, folder string, small bool) (*Mesh, error) {
	switch name {
	case "rock360":
		return rock(pick(small, 60, 360)), nil
	case "terrain1k":
		return terrain(pick(small, 128, 1024)), nil
	case "city24":
		return city(pick(small, 4, 24)), nil
	}
	if _, ok := made[name]; ok {
		return makeModel(name, folder, small)
	}
	if ext := filepath.Ext(name); ext == ".gltf" || ext == ".glb" {
		return load(strings.TrimSuffix(filepath.Base(name), ext), name)
	}
	path, ok := assets[name]
	if !ok {
		return nil, fmt.Errorf("there is no model %q, only %v and glTF files", name, Names)
	}
	return load(name, filepath.Join(folder, filepath.FromSlash(path)))
}

func pick[T any](small bool, a, b T) T {
	if small {
		return a
	}
	return b
}

// load joins all primitives of a glTF file in world space.
func load(name, path string) (*Mesh, error) {
	scene, err := gltfscene.Load(context.Background(), path, gltfscene.Options{AllowMissingImages: true})
	if err != nil {
		return nil, err
	}
	m, looks := &Mesh{Name: name}, newPainter(scene)
	for i := range scene.Nodes {
		n := &scene.Nodes[i]
		if n.Mesh < 0 {
			continue
		}
		for j := range scene.Meshes[n.Mesh].Primitives {
			if err := m.add(&scene.Meshes[n.Mesh].Primitives[j], n.World, looks); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	if m.Triangles() == 0 {
		return nil, fmt.Errorf("%s: no triangles", path)
	}
	m.Materials, m.Palettes = looks.looks, looks.palettes
	return m, nil
}

// add appends a primitive.
func (m *Mesh) add(p *gltfscene.Primitive, world geom.Mat4, looks *painter) error {
	group, err := looks.group(p.Material)
	if err != nil {
		return err
	}
	first := len(m.Positions)
	for _, v := range p.Positions {
		w := world.Point(geom.FromF32(v))
		m.Positions = append(m.Positions, geom.FromF32(w.F32()))
	}
	cofactor := world.Cofactor()
	normals := p.Normals
	if normals == nil {
		normals = smooth(p)
	}
	for _, v := range normals {
		n := cofactor.Dir(geom.FromF32(v)).Normalize(1e-20, geom.Vec3{0, 1, 0})
		m.Normals = append(m.Normals, n.F32())
	}
	if uv := looks.uv(p); uv != nil || m.UV != nil {
		m.UV = append(m.UV, make([][2]float32, len(m.Positions)-len(m.UV))...)
		copy(m.UV[first:], uv)
	}
	if p.Colors != nil || m.Colors != nil {
		for len(m.Colors) < len(m.Positions) {
			m.Colors = append(m.Colors, [4]float32{1, 1, 1, 1})
		}
		copy(m.Colors[first:], p.Colors)
	}
	flip := world.Det3() < 0
	for t := 0; t+2 < len(p.Indices); t += 3 {
		a, b, c := uint32(first)+p.Indices[t], uint32(first)+p.Indices[t+1], uint32(first)+p.Indices[t+2]
		if flip {
			b, c = c, b
		}
		m.Indices = append(m.Indices, a, b, c)
		m.Groups = append(m.Groups, group)
	}
	return nil
}

// smooth returns area weighted vertex normals for a primitive without normals.
func smooth(p *gltfscene.Primitive) [][3]float32 {
	positions := make([]geom.Vec3, len(p.Positions))
	for i, v := range p.Positions {
		positions[i] = geom.FromF32(v)
	}
	return smoothNormals(positions, p.Indices)
}

// smoothNormals returns area weighted vertex normals.
func smoothNormals(positions []geom.Vec3, indices []uint32) [][3]float32 {
	sums := make([]geom.Vec3, len(positions))
	for t := 0; t+2 < len(indices); t += 3 {
		a, b, c := indices[t], indices[t+1], indices[t+2]
		n := positions[b].Sub(positions[a]).Cross(positions[c].Sub(positions[a]))
		for _, v := range [3]uint32{a, b, c} {
			sums[v] = sums[v].Add(n)
		}
	}
	normals := make([][3]float32, len(positions))
	for i, n := range sums {
		normals[i] = n.Normalize(1e-30, geom.Vec3{0, 1, 0}).F32()
	}
	return normals
}
