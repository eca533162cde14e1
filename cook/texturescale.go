package cook

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
)

// A picture shows as many texels of a texture as lie on what a pixel covers, so
// that the size to which a texture has to be loaded follows from a distance and
// from how large the texture is in the world. textureScales measures the latter.

// scaleIgnores is the part of a mesh's area that may be stretched more than the
// scale of its textures says, so that slivers do not decide.
const scaleIgnores = 0.02

// scaleAnisotropy is how much longer than wide a pixel's footprint in a texture
// may be before renderers take a coarser level for it.
const scaleAnisotropy = 16

// textureScales returns for each texture of a container, by its name inside the
// folder of textures, which part of its longest edge lies on a metre: of the mesh
// that stretches it most, where that does, but for scaleIgnores.
func textureScales(f *format.File) map[string]float64 {
	names := texturesOf(f)
	out := map[string]float64{}
	for i := range f.Entities {
		e := &f.Entities[i]
		for k := range e.MeshCount {
			m := &f.Meshes[e.FirstMesh+k]
			if m.Material == records.NoIndex {
				continue
			}
			have := map[[2]uint32]float64{} // by the size of the texture
			for _, t := range materialTextures(&f.Materials[m.Material]) {
				size := [2]uint32{f.Textures[t].Width, f.Textures[t].Height}
				scale, ok := have[size]
				if !ok {
					scale = meshScales(f, m, &e.LocalTransform, size).least(scaleIgnores)
					have[size] = scale
				}
				if old, ok := out[names[t]]; !ok || scale < old {
					out[names[t]] = scale
				}
			}
		}
	}
	return out
}

// materialTextures returns the textures of a material, each once.
func materialTextures(m *records.Material) []uint32 {
	list := []uint32{m.BaseColorTexture, m.NormalTexture, m.MetallicTexture, m.RoughnessTexture, m.EmissiveTexture, m.OcclusionTexture}
	slices.Sort(list)
	list = slices.Compact(list)
	return slices.DeleteFunc(list, func(t uint32) bool { return t == records.NoIndex })
}

// scaleBins sorts areas by scale: eight bins to an octave.
type scaleBins struct {
	area  map[uint16]float64 // by scaleBin
	total float64
}

// scaleBin returns the bin of a scale, and lowest the least scale in one.
func scaleBin(scale float64) uint16     { return uint16(math.Float64bits(scale) >> 49) }
func lowest(bin uint16) (scale float64) { return math.Float64frombits(uint64(bin) << 49) }

// least returns the scale that all but a part of the area reaches.
func (b *scaleBins) least(but float64) float64 {
	sum := 0.0
	for _, bin := range slices.Sorted(maps.Keys(b.area)) {
		if sum += b.area[bin]; sum > but*b.total {
			return lowest(bin)
		}
	}
	return 0
}

// meshScales returns at which scales a mesh shows a texture of a size.
func meshScales(f *format.File, m *records.Mesh, world *[16]float32, size [2]uint32) *scaleBins {
	edge := float64(max(size[0], size[1], 1))
	across := [2]float64{float64(max(size[0], 1)) / edge, float64(max(size[1], 1)) / edge}
	vertices := f.Vertices[m.VertexOffset:][:m.VertexSize]
	indices := f.Indices[m.IndexOffset:][:m.IndexSize]
	bins := &scaleBins{area: map[uint16]float64{}}
	corner := func(i int) (p geom.Vec3, uv [2]float64) {
		k := uint32(0)
		if m.IndexType == vertex.Index16 {
			k = uint32(binary.LittleEndian.Uint16(indices[2*i:]))
		} else {
			k = binary.LittleEndian.Uint32(indices[4*i:])
		}
		v := vertex.Get(vertices[int(k)*vertex.Size:])
		for r := range p {
			for c := range 3 {
				p[r] += float64(float64(world[4*c+r]) * float64(v.Position[c]))
			}
		}
		for a := range uv {
			uv[a] = float64(vertex.FromHalf(v.UV0[a])) * across[a]
		}
		return p, uv
	}
	for t := range int(m.IndexCount) / 3 {
		p0, t0 := corner(3 * t)
		p1, t1 := corner(3*t + 1)
		p2, t2 := corner(3*t + 2)
		area, scale := triangleScale(p1.Sub(p0), p2.Sub(p0), [2]float64{t1[0] - t0[0], t1[1] - t0[1]}, [2]float64{t2[0] - t0[0], t2[1] - t0[1]})
		bins.area[scaleBin(scale)] += area
		bins.total += area
	}
	return bins
}

// triangleScale returns the area that two edges of a triangle span, times two,
// and how much texture lies on a metre of it across the direction in which there
// is most: the lesser singular value of the map from metres to texture
// coordinates, as far as anisotropic filtering goes by it.
func triangleScale(a, b geom.Vec3, ta, tb [2]float64) (area, scale float64) {
	aa, ab, bb := a.Dot(a), a.Dot(b), b.Dot(b)
	det := float64(aa*bb) - float64(ab*ab)
	if !(det > 0) {
		return 0, 0
	}
	square := 0.0 // of the greater one, plus that of the lesser one
	for k := range 2 {
		square += (float64(bb*ta[k]*ta[k]) - float64(2*ab*ta[k]*tb[k]) + float64(aa*tb[k]*tb[k])) / det
	}
	product := math.Abs(float64(ta[0]*tb[1])-float64(ta[1]*tb[0])) / math.Sqrt(det)
	most := math.Sqrt((square + math.Sqrt(max(0, float64(square*square)-float64(4*product*product)))) / 2)
	if !(most > 0) || math.IsInf(most, 1) {
		return math.Sqrt(det), 0
	}
	return math.Sqrt(det), max(product/most, most/scaleAnisotropy)
}

// describeTextures says how large the textures are in the world, by which a
// viewer finds what size of them it shows.
func (c *scenePlan) describeTextures(m *manifest.Manifest, payloads []payload, nodes []node) {
	if c.opts.Compat {
		return
	}
	all := map[string]float64{}
	add := func(scales map[string]float64) {
		for name, scale := range scales {
			if old, ok := all[name]; !ok || scale < old {
				all[name] = scale
			}
		}
	}
	for i := range payloads {
		add(payloads[i].scales)
		for k := range payloads[i].levels {
			if l := &payloads[i].levels[k]; l.made {
				add(l.scales)
			}
		}
	}
	for i := range nodes {
		add(nodes[i].scales)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m.Textures = append(m.Textures, manifest.Texture{URI: texture.Folder + "/" + name, UVPerMetre: all[name]})
	}
}
