package gltfscene

import (
	"image/color"
	"math"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
)

// plate is a square with corners at -1 and 3 in the image that has a texture of 8 x 4
// texels with a sampler; uv of a point is its place.
func plate(sampler, info object) *builder {
	b := newBuilder()
	texels := make([]color.NRGBA, 32)
	b.list("images", object{"uri": pngURI(8, texels...)})
	b.list("samplers", sampler)
	b.list("textures", object{"source": 0, "sampler": 0})
	info["index"] = 0
	material := b.list("materials", object{"pbrMetallicRoughness": object{"baseColorTexture": info}})
	b.mesh(object{
		"attributes": object{
			"POSITION":   b.floats("VEC3", 3, -1, -1, 0, 3, -1, 0, 3, 3, 0, -1, 3, 0),
			"TEXCOORD_0": b.floats("VEC2", 2, -1, -1, 3, -1, 3, 3, -1, 3),
			"TEXCOORD_1": b.floats("VEC2", 2, 0, 0, 1, 0, 1, 1, 0, 1),
			"COLOR_0":    b.floats("VEC3", 3, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0),
		},
		"indices":  b.accessor([]byte{0, 1, 2, 0, 2, 3}, u8, 6, "SCALAR", nil),
		"material": material,
	})
	return b
}

// area is that of all triangles of a primitive in the plane.
func area(p *Primitive) (sum float64) {
	for i := 0; i+2 < len(p.Indices); i += 3 {
		a, b, c := p.Positions[p.Indices[i]], p.Positions[p.Indices[i+1]], p.Positions[p.Indices[i+2]]
		sum += float64((b[0]-a[0])*(c[1]-a[1])-(c[0]-a[0])*(b[1]-a[1])) / 2
	}
	return sum
}

// TestWrapIsCut: every point of a surface has, with a texture that repeats, the texel that
// its sampler would find.
func TestWrapIsCut(t *testing.T) {
	const repeat, clamp, mirror = 10497, 33071, 33648
	want := func(mode int, at, half float64) float64 {
		switch mode {
		case clamp:
			return min(max(at, half), 1-half)
		case mirror:
			if at -= 2 * math.Floor(at/2); at > 1 {
				at = 2 - at
			}
			return min(max(at, half), 1-half)
		}
		return at
	}
	for _, modes := range [][2]int{{clamp, repeat}, {repeat, clamp}, {clamp, clamp}, {mirror, mirror}, {mirror, clamp}, {repeat, repeat}} {
		s := plate(object{"wrapS": modes[0], "wrapT": modes[1]}, object{}).load(t)
		checkScene(t, s)
		p := first(t, s)
		cut := note(s, "texture-wrap-cut").Count == 1
		if cut != (modes != [2]int{repeat, repeat}) || !cut && len(p.Indices) != 6 {
			t.Errorf("%v: %d triangles, notes %v", modes, len(p.Indices)/3, s.Notes)
		}
		if got := area(&p); math.Abs(got-16) > 1e-4 {
			t.Errorf("%v: the area is %v", modes, got)
		}
		for i := 0; i+2 < len(p.Indices); i += 3 {
			var at, uv [2]float64 // of the middle
			for _, v := range p.Indices[i : i+3] {
				for k := range at {
					at[k] += float64(p.Positions[v][k]) / 3
					uv[k] += float64(p.UV[0][v][k]) / 3
					if c := (float64(p.Positions[v][k]) + 1) / 4; math.Abs(float64(p.UV[1][v][k])-c) > 1e-5 || math.Abs(float64(p.Colors[v][k])-c) > 1e-5 {
						t.Fatalf("%v: at %v the second set is %v, the colour %v", modes, p.Positions[v], p.UV[1][v], p.Colors[v])
					}
				}
			}
			for k, half := range [2]float64{0.5 / 8, 0.5 / 4} {
				if w := want(modes[k], at[k], half); math.Abs(uv[k]-w) > 1e-5 {
					t.Errorf("%v: at %v axis %d is %v, want %v", modes, at, k, uv[k], w)
				}
			}
		}
	}
}

// TestWrapDirections: normals and tangents of vertices that cuts make have length 1, also
// between such vertices and where those of an edge's ends cancel out.
func TestWrapDirections(t *testing.T) {
	b := plate(object{"wrapS": 33648, "wrapT": 33071}, object{})
	of := b.doc["meshes"].([]any)[0].(object)["primitives"].([]any)[0].(object)["attributes"].(object)
	of["NORMAL"] = b.floats("VEC3", 3, 1, 0, 0, 0, 1, 0, -1, 0, 0, 0, -1, 0)
	of["TANGENT"] = b.floats("VEC4", 4, 0, 1, 0, -1, 0, 0, 1, -1, 0, 1, 0, 1, 0, 0, -1, 1)
	s := b.load(t)
	checkScene(t, s)
	p := first(t, s)
	if len(p.Positions) < 20 {
		t.Fatalf("%d vertices", len(p.Positions))
	}
	for i := range p.Positions {
		n, w := geom.FromF32(p.Normals[i]), p.Tangents[i]
		if l, k := n.Len(), geom.FromF32([3]float32(w[:3])).Len(); math.Abs(l-1) > 1e-6 || math.Abs(k-1) > 1e-6 || math.Abs(float64(w[3])) != 1 {
			t.Errorf("at %v the normal is %v, the tangent %v", p.Positions[i], n, w)
		}
	}
}

// TestWrapOfTransforms: what leaves the image is told behind KHR_texture_transform, which
// leads from what is stored to what is meant.
func TestWrapOfTransforms(t *testing.T) {
	transform := object{"extensions": object{transformName: object{"scale": []float64{0.25, 0.5}, "offset": []float64{0.25, 0}, "rotation": math.Pi / 2}}}
	s := plate(object{"wrapS": 33071, "wrapT": 33071}, transform).load(t)
	p, m := first(t, s), &s.Materials[0].BaseColorTex
	to := geom.NewUVMap(m.Offset, m.Rot, m.Scale)
	for i := range p.Positions {
		uv := [2]float32{p.Positions[i][0], p.Positions[i][1]}
		meant, got := to.At(uv), to.At(p.UV[0][i])
		for k, half := range [2]float64{0.5 / 8, 0.5 / 4} {
			if want := min(max(meant[k], half), 1-half); math.Abs(got[k]-want) > 1e-5 {
				t.Errorf("at %v axis %d is %v, want %v", uv, k, got[k], want)
			}
		}
	}
	// Within the image nothing is cut.
	inside := object{"extensions": object{transformName: object{"scale": []float64{0.25, 0.25}, "offset": []float64{0.25, 0.25}}}}
	if s = plate(object{"wrapS": 33071, "wrapT": 33648}, inside).load(t); len(first(t, s).Indices) != 6 || len(s.Notes) > 1 {
		t.Errorf("%d indices, notes %v", len(first(t, s).Indices), s.Notes)
	}
}

// TestWrapBeyond: what lies beyond the border of an image that is clamped shows a texel
// that coarser levels do not mix with those of the other side.
func TestWrapBeyond(t *testing.T) {
	b := plate(object{"wrapS": 33071, "wrapT": 33071}, object{})
	b.doc["images"].([]any)[0].(object)["uri"] = pngURI(1024, make([]color.NRGBA, 1024*64)...)
	s := b.load(t)
	p := first(t, s)
	for i := 0; i+2 < len(p.Indices); i += 3 {
		for k, deep := range [2]float32{8.0 / 1024, 1.0 / 64} {
			lo, hi := float32(math.Inf(1)), float32(math.Inf(-1))
			for _, v := range p.Indices[i : i+3] {
				lo, hi = min(lo, p.Positions[v][k]), max(hi, p.Positions[v][k])
			}
			for _, v := range p.Indices[i : i+3] {
				if uv := p.UV[0][v][k]; hi < 0.5 && lo < 0 && uv != deep || lo > 0.5 && hi > 1 && uv != 1-deep {
					t.Errorf("axis %d from %v to %v has %v", k, lo, hi, uv)
				}
			}
		}
	}
}

// TestWrapFarAway: coordinates that are far from the image, or cannot be told once they are
// cut, stay as they are, with a word and in no time.
func TestWrapFarAway(t *testing.T) {
	for _, transform := range []object{
		{"offset": []float64{1e17, 0}},
		{"offset": []float64{0, -1e300}},
		{"scale": []float64{1e308, 1}},
		{"scale": []float64{1e-40, 1}, "offset": []float64{3, 3}},
		{"scale": []float64{0, 1}},
	} {
		for _, mode := range []int{33071, 33648} {
			s := plate(object{"wrapS": mode, "wrapT": mode}, object{"extensions": object{transformName: transform}}).load(t)
			if n := note(s, "texture-wrap-skipped"); n.Count != 1 || len(first(t, s).Indices) != 6 {
				t.Errorf("%v: %d indices, notes %v", transform, len(first(t, s).Indices), s.Notes)
			}
		}
	}
}

// TestWrapOfMany: what would take too many triangles repeats, with a word.
func TestWrapOfMany(t *testing.T) {
	for _, scale := range []float64{200, 1e9} {
		many := object{"extensions": object{transformName: object{"scale": []float64{scale, scale}}}}
		s := plate(object{"wrapS": 33648, "wrapT": 33648}, many).load(t)
		if n := note(s, "texture-wrap-skipped"); n.Count != 1 || !n.Warning || len(first(t, s).Indices) != 6 {
			t.Errorf("%d indices, notes %v", len(first(t, s).Indices), s.Notes)
		}
	}
}
