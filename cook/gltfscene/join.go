package gltfscene

import (
	"errors"
	"fmt"
	"slices"
	"sort"
)

// Cache keeps decoded geometry of several scenes.
type Cache struct{ c *cache }

// NewCache keeps up to so many bytes.
func NewCache(limit int64) *Cache { return &Cache{newCache(limit)} }

// cache is the caller's, or a new one.
func (o *Options) cache(limit int64) *cache {
	if o.Cache != nil {
		return o.Cache.c
	}
	return newCache(limit)
}

// joined is what a scene of Join consists of.
type joined struct {
	parts     []*Scene
	meshes    []int // by parts: the first of Scene.Meshes
	materials []int // the first of Scene.Materials
	nodes     []int // the first of Scene.Nodes
}

// Join makes one scene of several open ones, which it takes over: they are closed with it
// and must not be used any more. Nodes, meshes, materials, images, lights and cameras
// follow each other in the order of the parts; notes of one kind are counted together.
func Join(name, source string, parts []*Scene) *Scene {
	s := &Scene{Name: name, Source: source, joined: &joined{parts: parts}}
	notes := notebook{}
	for _, p := range parts {
		j := s.joined
		nodes, meshes, materials, images, groups := len(s.Nodes), len(s.Meshes), len(s.Materials), len(s.Images), len(s.LODs)
		j.nodes, j.meshes, j.materials = append(j.nodes, nodes), append(j.meshes, meshes), append(j.materials, materials)
		for _, n := range p.Nodes {
			if n.Parent >= 0 {
				n.Parent += nodes
			}
			if n.Mesh >= 0 {
				n.Mesh += meshes
			}
			if n.LOD.Group > 0 {
				n.LOD.Group += groups
				if n.LOD.Mesh >= 0 {
					n.LOD.Mesh += meshes
				}
			}
			s.Nodes = append(s.Nodes, n)
		}
		for _, g := range p.LODs {
			for l := range g.Levels {
				for i := range g.Levels[l].Nodes {
					g.Levels[l].Nodes[i] += nodes
				}
			}
			s.LODs = append(s.LODs, g)
		}
		for _, m := range p.Meshes {
			m.Parts = slices.Clone(m.Parts)
			for i := range m.Parts {
				if m.Parts[i].Material >= 0 {
					m.Parts[i].Material += materials
				}
			}
			s.Meshes = append(s.Meshes, m)
		}
		for _, m := range p.Materials {
			for _, slot := range m.slots() {
				if slot.ref.Image >= 0 {
					slot.ref.Image += images
				}
			}
			s.Materials = append(s.Materials, m)
		}
		for _, im := range p.Images {
			im.Place = p.Source + ": " + im.Place
			s.Images = append(s.Images, im)
		}
		s.Lights, s.Cameras = append(s.Lights, p.Lights...), append(s.Cameras, p.Cameras...)
		for _, n := range p.Notes {
			where := p.Source
			if n.Where != "" {
				where += ": " + n.Where
			}
			notes.add(n.Count, n.Warning, n.Code, where, n.Message)
		}
		s.Files = append(s.Files, p.Files...)
		p.Nodes, p.LODs, p.Lights, p.Cameras, p.Files = nil, nil, nil, nil, nil
	}
	s.Notes = notes.list
	s.listFiles("")
	return s
}

// part finds the last of ascending starts that is not behind i.
func part(starts []int, i int) int {
	return sort.Search(len(starts), func(k int) bool { return starts[k] > i }) - 1
}

// mesh is Geometry.
func (j *joined) mesh(i int) ([]Primitive, error) {
	k := part(j.meshes, i)
	list, err := j.parts[k].Geometry(i - j.meshes[k])
	if err != nil {
		return nil, err
	}
	for n := range list {
		if list[n].Material >= 0 {
			list[n].Material += j.materials[k]
		}
	}
	return list, nil
}

func (j *joined) close() error {
	var all error
	for _, p := range j.parts {
		all = errors.Join(all, p.Close())
	}
	return all
}

func (j *joined) unchanged() error {
	for _, p := range j.parts {
		if err := p.Unchanged(); err != nil {
			return err
		}
	}
	return nil
}

// NodePlace names a node of Nodes with its file, such as "town.glb: nodes[3]".
func (s *Scene) NodePlace(node int) string {
	source := s.Source
	if s.joined != nil {
		source = s.joined.parts[part(s.joined.nodes, node)].Source
	}
	if s.Nodes[node].Index < 0 {
		return source // of a placement
	}
	return fmt.Sprintf("%s: nodes[%d]", source, s.Nodes[node].Index)
}
