package main

import (
	"image"
	"path/filepath"

	"github.com/untoldkit/untold/cook/texture"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/geom"
)

// shape is a mesh in world space with its material.
type shape struct {
	pos, normal []geom.Vec3
	uv          [][2]float64
	color       [][3]float64
	indices     []uint32
	base        [3]float64 // linear
	tex         *image.NRGBA
	mips        []*image.NRGBA // tex, halved again and again
	mask        float64        // alpha below this is not drawn; 0: all is
	twoSided    bool
}

type scene struct {
	meshes    []shape
	bounds    geom.Box
	files     int
	triangles int
}

// load reads the payloads of a level.
func load(path, level, filter string) (*scene, error) {
	files, err := payloads(path, level, filter)
	if err != nil {
		return nil, err
	}
	s := &scene{bounds: geom.EmptyBox()}
	textures := map[string][]*image.NRGBA{}
	for _, f := range files {
		if err := s.add(f, textures); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *scene) add(path string, textures map[string][]*image.NRGBA) error {
	r, err := format.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	f, err := r.ToFile()
	if err != nil {
		return err
	}
	s.files++
	worlds := map[uint32]geom.Mat4{}
	for i, m := range r.WorldTransforms() {
		worlds[f.Entities[i].ID] = m
	}
	for i := range f.Meshes {
		m := &f.Meshes[i]
		o := shape{base: [3]float64{1, 1, 1}}
		if m.Material != format.NoIndex {
			mat := &f.Materials[m.Material]
			for k := range o.base {
				o.base[k] = float64(mat.BaseColor[k])
			}
			if mat.Flags&3 == 1 {
				o.mask = float64(mat.AlphaCutoff)
			}
			o.twoSided = mat.Flags&format.MaterialDoubleSided != 0
			if t := mat.BaseColorTexture; t != format.NoIndex {
				if o.mips, err = mips(filepath.Join(filepath.Dir(path), filepath.FromSlash(r.String(f.Textures[t].URIOffset))), textures); err != nil {
					return err
				}
				o.tex = o.mips[0]
			}
		}
		world, ok := worlds[m.EntityID]
		if !ok {
			world = geom.Identity()
		}
		s.fill(&o, f.Vertices[m.VertexOffset:][:m.VertexSize], &world)
		o.indices = format.Indices(f.Indices[m.IndexOffset:][:m.IndexSize], m.IndexType)
		s.triangles += len(o.indices) / 3
		s.meshes = append(s.meshes, o)
	}
	return nil
}

func (s *scene) fill(o *shape, vertices []byte, world *geom.Mat4) {
	for at := 0; at < len(vertices); at += format.VertexSize {
		v := format.GetVertex(vertices[at:])
		p := world.Point(geom.FromF32(v.Position))
		s.bounds = s.bounds.Extend(p)
		n := format.UnpackNormal(v.Normal)
		o.pos = append(o.pos, p)
		o.normal = append(o.normal, geom.FromF32(n))
		o.uv = append(o.uv, [2]float64{float64(format.FromHalf(v.UV0[0])), 1 - float64(format.FromHalf(v.UV0[1]))})
		o.color = append(o.color, [3]float64{float64(v.Color[0]) / 255, float64(v.Color[1]) / 255, float64(v.Color[2]) / 255})
	}
}

// mips loads a texture with its chain of halves.
func mips(path string, cache map[string][]*image.NRGBA) ([]*image.NRGBA, error) {
	if m, ok := cache[path]; ok {
		return m, nil
	}
	img, err := texture.Load(path)
	if err != nil {
		return nil, err
	}
	chain := []*image.NRGBA{img}
	for img.Rect.Dx() > 1 || img.Rect.Dy() > 1 {
		img = texture.Resize(img, max(1, img.Rect.Dx()/2), max(1, img.Rect.Dy()/2), texture.Color)
		chain = append(chain, img)
	}
	cache[path] = chain
	return chain, nil
}
