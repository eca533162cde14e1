package cook

import (
	"image/color"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
)

func TestMaterialMapping(t *testing.T) {
	d := &model{}
	p := d.square(0)
	base := d.texture(dataImage("base", color.NRGBA{255, 0, 0, 255}))
	orm := d.texture(dataImage("orm", color.NRGBA{255, 128, 64, 255}))
	normal := d.texture(dataImage("normal", color.NRGBA{128, 128, 255, 255}))
	glow := d.texture(dataImage("glow", color.NRGBA{9, 9, 9, 255}))
	p["material"] = add(&d.materials, obj{
		"name": "Paint", "doubleSided": true, "alphaMode": "MASK", "alphaCutoff": 0.25,
		"pbrMetallicRoughness": obj{
			"baseColorFactor": []float64{1, .5, .25, .75}, "metallicFactor": .5, "roughnessFactor": .125,
			"baseColorTexture": obj{"index": base}, "metallicRoughnessTexture": obj{"index": orm},
		},
		"normalTexture":    obj{"index": normal, "scale": 2},
		"occlusionTexture": obj{"index": orm, "strength": .5}, "emissiveTexture": obj{"index": glow},
		"emissiveFactor": []float64{.5, 1, 0}, "extensions": obj{"KHR_materials_emissive_strength": obj{"emissiveStrength": 4}},
	})
	d.node("Box", p)
	c := d.convert(t)
	if len(c.f.Materials) != 1 || len(c.f.Textures) != 4 {
		t.Fatalf("%d materials, %d textures", len(c.f.Materials), len(c.f.Textures))
	}
	m := c.f.Materials[0]
	if c.r.String(m.NameOffset) != "Paint" {
		t.Errorf("named %q", c.r.String(m.NameOffset))
	}
	want := records.Material{
		NameOffset: m.NameOffset, Flags: records.MaterialCutout | records.MaterialDoubleSided,
		BaseColor: [4]float32{1, .5, .25, .75}, Emissive: [3]float32{2, 4, 0}, NormalScale: 2,
		Metallic: .5, Roughness: .125, OcclusionStrength: .5, AlphaCutoff: .25,
		BaseColorTexture: 0, NormalTexture: 1, MetallicTexture: 2, RoughnessTexture: 2, EmissiveTexture: 3, OcclusionTexture: 2,
		Reserved: [2]uint32{9, 0},
	}
	want.HeightTexture, want.HeightRemap = m.HeightTexture, m.HeightRemap
	want.HeightScale, want.HeightMidlevel = m.HeightScale, m.HeightMidlevel
	// The order of the texture records is free; the slots are compared by uri.
	for i, slot := range []struct {
		got   uint32
		uri   string
		flags uint32
	}{
		{m.BaseColorTexture, named("base.png", color.NRGBA{255, 0, 0, 255}), records.TextureSRGB},
		{m.NormalTexture, named("normal.png", color.NRGBA{128, 128, 255, 255}), records.TextureNormalMap},
		{m.MetallicTexture, named("orm.png", color.NRGBA{255, 128, 64, 255}), records.TextureOcclusion},
		{m.RoughnessTexture, named("orm.png", color.NRGBA{255, 128, 64, 255}), records.TextureOcclusion},
		{m.EmissiveTexture, named("glow.png", color.NRGBA{9, 9, 9, 255}), records.TextureSRGB | records.TextureEmissive},
		{m.OcclusionTexture, named("orm.png", color.NRGBA{255, 128, 64, 255}), records.TextureOcclusion},
	} {
		tex := c.f.Textures[slot.got]
		if c.uri(slot.got) != slot.uri || c.r.String(tex.NameOffset) != filepath.Base(slot.uri) {
			t.Errorf("slot %d: %s, want %s", i, c.uri(slot.got), slot.uri)
		}
		if tex.Flags != slot.flags || tex.Format != records.TextureUnknown || tex.Width != 2 || tex.Height != 1 || tex.MipCount != 1 {
			t.Errorf("%s: %+v, want flags %x", slot.uri, tex, slot.flags)
		}
	}
	want.BaseColorTexture, want.NormalTexture, want.MetallicTexture = m.BaseColorTexture, m.NormalTexture, m.MetallicTexture
	want.RoughnessTexture, want.EmissiveTexture, want.OcclusionTexture = m.MetallicTexture, m.EmissiveTexture, m.MetallicTexture
	if diff := cmp.Diff(want, m); diff != "" {
		t.Error(diff)
	}
}

func TestMaterialFlags(t *testing.T) {
	for want, material := range map[uint32]obj{
		records.MaterialOpaque:                              {},
		records.MaterialCutout:                              {"alphaMode": "MASK"},
		records.MaterialBlend:                               {"alphaMode": "BLEND"},
		records.MaterialDoubleSided:                         {"doubleSided": true},
		records.MaterialUnlit:                               {"extensions": obj{"KHR_materials_unlit": obj{}}},
		records.MaterialBlend | records.MaterialDoubleSided: {"alphaMode": "BLEND", "doubleSided": true},
	} {
		d := &model{}
		p := d.square(0)
		p["material"] = add(&d.materials, material)
		d.node("Box", p)
		if got := d.convert(t).f.Materials[0]; got.Flags != want || got.Reserved != [2]uint32{} {
			t.Errorf("%v: flags %x, channels %x", material, got.Flags, got.Reserved)
		}
	}
}

func TestMaterialDefault(t *testing.T) {
	d := &model{}
	d.node("Plain", d.square(0))
	p := d.square(2)
	p["material"] = add(&d.materials, obj{})
	d.node("Other", p)
	c := d.convert(t)
	if len(c.f.Materials) != 2 {
		t.Fatalf("%d materials", len(c.f.Materials))
	}
	for i, name := range []string{"default_material", "material_0"} {
		m := &c.f.Materials[i]
		if c.r.String(m.NameOffset) != name || m.BaseColor != [4]float32{1, 1, 1, 1} || m.Metallic != 1 || m.Roughness != 1 ||
			m.NormalScale != 1 || m.OcclusionStrength != 1 || m.AlphaCutoff != .5 || m.BaseColorTexture != records.NoIndex || m.OcclusionTexture != records.NoIndex {
			t.Errorf("%s: %+v", c.r.String(m.NameOffset), m)
		}
	}
}

// TestMaterialBlack: the reference engine draws black as white.
func TestMaterialBlack(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want [4]float32
		note int
	}{
		{[]float64{0, 0, 0, .5}, [4]float32{blackLift, blackLift, blackLift, .5}, 1},
		{[]float64{.0009, 0, .0009, 1}, [4]float32{blackLift, blackLift, blackLift, 1}, 1},
		{[]float64{0, .002, 0, 1}, [4]float32{0, .002, 0, 1}, 0},
		{[]float64{0, 0, .001, 1}, [4]float32{0, 0, .001, 1}, 0},
	} {
		d := &model{}
		p := d.square(0)
		p["material"] = add(&d.materials, obj{"pbrMetallicRoughness": obj{"baseColorFactor": c.in}})
		d.node("Box", p)
		got := d.convert(t)
		if m := got.f.Materials[0]; m.BaseColor != c.want || got.note("black-lifted") != c.note {
			t.Errorf("%v became %v, %d noted", c.in, m.BaseColor, got.note("black-lifted"))
		}
	}
}

// TestMaterialUVSets: the container's first UV set is the one that the base
// colour uses, the other becomes the second.
func TestMaterialUVSets(t *testing.T) {
	for _, c := range []struct {
		name     string
		base     int
		emissive int
		mismatch int
		first    [2]float32 // of the vertex at the origin, v top-down
	}{
		{"both on 0", 0, 0, 0, [2]float32{0, 1}},
		{"both on 1", 1, 1, 0, [2]float32{.25, .5}},
		{"base on 1", 1, 0, 1, [2]float32{.25, .5}},
		{"base on 0", 0, 1, 1, [2]float32{0, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &model{}
			p := d.square(0)
			attributes(p)["TEXCOORD_1"] = d.floats(2, .25, .5, .5, .5, .5, .25, .25, .25)
			tex := d.texture(dataImage("a", color.NRGBA{1, 2, 3, 255}))
			p["material"] = add(&d.materials, obj{
				"pbrMetallicRoughness": obj{"baseColorTexture": obj{"index": tex, "texCoord": c.base}},
				"emissiveTexture":      obj{"index": tex, "texCoord": c.emissive},
			})
			d.node("Box", p)
			got := d.convert(t)
			if n := got.note("uv-set-mismatch"); n != c.mismatch {
				t.Errorf("%d mismatches", n)
			}
			v := got.vertices(0)[0]
			second := [2]float32{.25, .5}
			if c.first == second {
				second = [2]float32{0, 1}
			}
			half := func(uv [2]float32) [2]uint16 { return [2]uint16{vertex.Half(uv[0]), vertex.Half(1 - uv[1])} }
			if v.Position != [3]float32{0, 0, 0} || v.UV0 != half(c.first) || v.UV1 != half(second) {
				t.Errorf("%+v", v)
			}
		})
	}
}

func TestMaterialTextureTransform(t *testing.T) {
	transform := func(o obj) obj { return obj{"KHR_texture_transform": o} }
	for _, c := range []struct {
		name string
		ext  obj
		want [2]float32 // of the vertex with u = 1, v = 1 (top-down), stored
		keep bool       // the file's tangents
	}{
		{"none", nil, [2]float32{1, 0}, true},
		{"offset", obj{"offset": []float64{.25, .5}}, [2]float32{.25, .5}, true}, // moved by whole repeats
		{"scale", obj{"scale": []float64{.5, .25}}, [2]float32{.5, .75}, true},
		{"mirror", obj{"scale": []float64{-1, 1}}, [2]float32{-1, 0}, false},
		{"rotation", obj{"rotation": 1.5707963267948966}, [2]float32{1, 2}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &model{}
			p := d.square(0)
			// Tangents that no UVs would give.
			attributes(p)["TANGENT"] = d.floats(4, .6, .8, 0, -1, .6, .8, 0, -1, .6, .8, 0, -1, .6, .8, 0, -1)
			info := obj{"index": d.texture(dataImage("a", color.NRGBA{1, 2, 3, 255}))}
			if c.ext != nil {
				info["extensions"] = transform(c.ext)
			}
			p["material"] = add(&d.materials, obj{"pbrMetallicRoughness": obj{"baseColorTexture": info}})
			d.node("Box", p)
			got := d.convert(t)
			for _, v := range got.vertices(0) {
				if kept := v.Tangent == vertex.PackTangent([4]float32{.6, .8, 0, -1}); kept != c.keep {
					t.Errorf("tangents kept: %v", kept)
				}
				if v.Position != [3]float32{1, 0, 0} {
					continue
				}
				for k := range 2 {
					d := float64(vertex.FromHalf(v.UV0[k]) - c.want[k])
					if d != float64(int(d)) { // whole repeats apart
						t.Errorf("stored at %v, %v", vertex.FromHalf(v.UV0[0]), vertex.FromHalf(v.UV0[1]))
					}
				}
			}
		})
	}
	// Two textures of one material with different transforms.
	d := &model{}
	p := d.square(0)
	tex := d.texture(dataImage("a", color.NRGBA{1, 2, 3, 255}))
	p["material"] = add(&d.materials, obj{
		"pbrMetallicRoughness": obj{"baseColorTexture": obj{"index": tex}},
		"emissiveTexture":      obj{"index": tex, "extensions": transform(obj{"offset": []float64{.5, 0}})},
	})
	d.node("Box", p)
	if n := d.convert(t).note("texture-transform-mismatch"); n != 1 {
		t.Errorf("%d mismatches", n)
	}
}

// TestMaterialWrap: repeating textures move coordinates near to the origin, clamped and
// mirrored ones, of two texels here, lead to half a texel within the image.
func TestMaterialWrap(t *testing.T) {
	for _, c := range []struct {
		wrap int
		want float32 // of u = 101
	}{{10497, 0}, {33071, 0.75}, {33648, 0.75}} {
		d := &model{}
		p := d.square(0)
		attributes(p)["TEXCOORD_0"] = d.floats(2, 101, 1, 101.5, 1, 101.5, 0, 101, 0)
		tex := d.texture(dataImage("a", color.NRGBA{1, 2, 3, 255}))
		d.textures[tex]["sampler"] = add(&d.samplers, obj{"wrapS": c.wrap})
		p["material"] = add(&d.materials, obj{"pbrMetallicRoughness": obj{"baseColorTexture": obj{"index": tex}}})
		d.node("Box", p)
		if got := vertex.FromHalf(d.convert(t).vertices(0)[0].UV0[0]); got != c.want {
			t.Errorf("wrap %d: u is stored as %v, want %v", c.wrap, got, c.want)
		}
	}
}
