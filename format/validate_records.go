package format

import (
	"math"
	"math/bits"
	"path"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/format/records"

	"github.com/untoldkit/untold/internal/journal"
)

// checkBox judges a box's own numbers. It reports whether the box can be
// compared with others.
func (p *parser) checkBox(b records.Bounds, what string, at place) bool {
	if !finite(b.Min[:]...) || !finite(b.Max[:]...) {
		p.report(codeNotFinite, at, "%s holds a number that is not finite", what)
		return false
	}
	for i := range 3 {
		if b.Min[i] > b.Max[i] {
			p.report(codeBoundsInverted, at, "%s: min %v is above max %v on axis %c", what, b.Min[i], b.Max[i], "xyz"[i])
			return false
		}
	}
	return true
}

// boundsTolerance is how far a stored box may miss the exact one: a few units
// in the last place of the largest coordinate, for files whose writer computed
// in another order.
func boundsTolerance(b records.Bounds) float32 {
	var m float32
	for i := range 3 {
		m = max(m, abs32(b.Min[i]), abs32(b.Max[i]))
	}
	return float32(m*1e-6) + 1e-6
}

func abs32(v float32) float32 { return float32(math.Abs(float64(v))) }

// compareBox reports a stored box that is smaller or larger than what it has
// to hold. Too large is only worth a warning when tight is asked for.
func (p *parser) compareBox(stored, exact records.Bounds, what string, at place, tight bool, slack float32) {
	tol := float32(slack * max(boundsTolerance(stored), boundsTolerance(exact)))
	outside, loose := false, false
	for i := range 3 {
		outside = outside || exact.Min[i] < stored.Min[i]-tol || exact.Max[i] > stored.Max[i]+tol
		loose = loose || exact.Min[i] > stored.Min[i]+tol || exact.Max[i] < stored.Max[i]-tol
	}
	switch {
	case outside:
		p.report(codeBoundsOutside, at, "%s %v..%v does not hold %v..%v", what, stored.Min, stored.Max, exact.Min, exact.Max)
	case loose && tight:
		p.report(codeBoundsLoose, at, "%s %v..%v, the content needs %v..%v", what, stored.Min, stored.Max, exact.Min, exact.Max)
	}
}

// checkEntityValues judges boxes, transforms and flags of the entities, and
// the header's box against theirs.
func (p *parser) checkEntityValues() {
	var union records.Bounds
	some, all := false, true
	for i := range p.entities {
		e := &p.entities[i]
		at := func(f int) place { return p.recordAt(ChunkEntities, i, f) }
		if e.Flags != 0 {
			p.report(codeReserved, at(20), "entity flags are 0x%x", e.Flags)
		}
		p.checkBox(e.LocalBounds, "local bounds", at(24))
		ok := p.checkBox(e.WorldBounds, "world bounds", at(48))
		if !finite(e.LocalTransform[:]...) {
			p.report(codeNotFinite, at(72), "the local transform is not finite")
		} else if det := det3(&e.LocalTransform); det == 0 || !affine(&e.LocalTransform) {
			p.report(codeEntityTransform, at(72), "the local transform has determinant %g or a last row other than 0 0 0 1", det)
		}
		if e.MeshCount == 0 {
			continue
		}
		switch {
		case !ok:
			all = false
		case some:
			union = union.Union(e.WorldBounds)
		default:
			union, some = e.WorldBounds, true
		}
	}
	if p.checkBox(p.header.WorldBounds, "the header's world bounds", inFile(52)) && some && all {
		// Writers that take entities without geometry into account pull in
		// the origin; that is loose, not wrong.
		p.compareBox(p.header.WorldBounds, union, "the header's world bounds", inFile(52), true, 1)
	}
}

func det3(m *[16]float32) float64 {
	f := func(i int) float64 { return float64(m[i]) }
	// The inner products are exact, the outer ones must not be fused.
	return float64(f(0)*(float64(f(5)*f(10))-float64(f(6)*f(9)))) - float64(f(4)*(float64(f(1)*f(10))-float64(f(2)*f(9)))) + float64(f(8)*(float64(f(1)*f(6))-float64(f(2)*f(5))))
}

func affine(m *[16]float32) bool { return m[3] == 0 && m[7] == 0 && m[11] == 0 && m[15] == 1 }

// checkMeshOwners compares the entities' mesh ranges with the meshes' entity
// ids. Owner counts are taken by differences, so that hostile ranges cost
// nothing.
func (p *parser) checkMeshOwners() {
	if !p.usable[ChunkEntities] || !p.usable[ChunkMeshes] {
		return
	}
	delta := make([]int, len(p.meshes)+1)
	for i := range p.entities {
		e := &p.entities[i]
		if end := uint64(e.FirstMesh) + uint64(e.MeshCount); end <= uint64(len(p.meshes)) {
			delta[e.FirstMesh]++
			delta[end]--
		}
	}
	owners := 0
	for i := range p.meshes {
		m := &p.meshes[i]
		owners += delta[i]
		at := p.recordAt(ChunkMeshes, i, 0)
		j, ok := p.byID[m.EntityID]
		switch e := uint64(i); {
		case !ok:
			p.report(codeMeshEntity, at, "entity id %d does not exist", m.EntityID)
		case owners != 1:
			p.report(codeMeshOrphan, at, "the mesh is in the ranges of %d entities", owners)
		case e < uint64(p.entities[j].FirstMesh) || e >= uint64(p.entities[j].FirstMesh)+uint64(p.entities[j].MeshCount):
			p.report(codeMeshEntity, at, "entity id %d does not list this mesh", m.EntityID)
		}
	}
}

// checkMaterialValues judges numbers and bits that the format leaves open but
// a renderer stumbles over.
func (p *parser) checkMaterialValues() {
	used := make([]bool, len(p.materials))
	for i := range p.meshes {
		if m := p.meshes[i].Material; uint64(m) < uint64(len(used)) {
			used[m] = true
		}
	}
	for i := range p.materials {
		m := &p.materials[i]
		at := func(f int) place { return p.recordAt(ChunkMaterials, i, f) }
		if !finite(m.BaseColor[:]...) || !finite(m.Emissive[:]...) ||
			!finite(m.NormalScale, m.Metallic, m.Roughness, m.OcclusionStrength, m.AlphaCutoff, m.HeightScale, m.HeightMidlevel, m.HeightRemap[0], m.HeightRemap[1]) {
			p.report(codeNotFinite, at(8), "a factor is not finite")
			continue
		}
		p.checkFactors(m, at)
		known := records.MaterialAlphaMask | records.MaterialDoubleSided | records.MaterialUnlit
		if mode := m.Flags & records.MaterialAlphaMask; mode == 3 || m.Flags&^known != 0 {
			p.report(codeMaterialFlags, at(4), "flags 0x%x", m.Flags)
		}
		if reserved := records.MaterialSize(p.header.FormatVersion) - 8; m.Reserved[0]&^15 != 0 || m.Reserved[1] != 0 {
			p.report(codeMaterialChannels, at(reserved), "channel words 0x%x 0x%x", m.Reserved[0], m.Reserved[1])
		}
		if h := m.HeightTexture; h != records.NoIndex && p.header.FormatVersion >= 3 && p.usable[ChunkTextures] && uint64(h) >= uint64(len(p.textures)) {
			p.report(codeHeightTexture, at(80), "height texture %d of %d", h, len(p.textures))
		}
		if !used[i] && p.usable[ChunkMeshes] {
			p.report(codeMaterialUnused, at(0), "no mesh uses the material")
		}
	}
}

func (p *parser) checkFactors(m *records.Material, at func(int) place) {
	inUnit := func(v float32) bool { return v >= 0 && v <= 1 }
	for k, v := range m.BaseColor {
		if !inUnit(v) {
			p.report(codeMaterialRange, at(8+4*k), "base colour component %d is %v", k, v)
		}
	}
	for k, v := range m.Emissive {
		if v < 0 {
			p.report(codeMaterialRange, at(24+4*k), "emissive component %d is %v", k, v)
		}
	}
	for _, f := range []struct {
		name string
		v    float32
		off  int
	}{
		{"metallic", m.Metallic, 40},
		{"roughness", m.Roughness, 44},
		{"occlusion strength", m.OcclusionStrength, 48},
	} {
		if !inUnit(f.v) {
			p.report(codeMaterialRange, at(f.off), "%s is %v", f.name, f.v)
		}
	}
	if m.AlphaCutoff < 0 {
		p.report(codeMaterialRange, at(52), "alpha cutoff is %v", m.AlphaCutoff)
	}
	if c := m.BaseColor; c[0] < 0.001 && c[1] < 0.001 && c[2] < 0.001 {
		p.report(codeMaterialBlack, at(8), "base colour %v is below 0.001 in all of red, green and blue", c[:3])
	}
}

// checkTextureValues judges uris, flags and sizes, and with a folder whether
// the files are there.
func (p *parser) checkTextureValues(dir string) {
	used := make([]bool, len(p.textures))
	mark := func(t uint32) {
		if uint64(t) < uint64(len(used)) {
			used[t] = true
		}
	}
	for i := range p.materials {
		for _, t := range p.materials[i].TextureSlots() {
			mark(t)
		}
		mark(p.materials[i].HeightTexture)
	}
	known := records.TextureSRGB | records.TextureNormalMap | records.TextureColorLUT | records.TextureHeight | records.TextureEmissive | records.TextureOcclusion
	for i := range p.textures {
		t := &p.textures[i]
		at := func(f int) place { return p.recordAt(ChunkTextures, i, f) }
		p.checkURI(t.URIOffset, dir, at(4))
		if t.Flags&^known != 0 {
			p.report(codeTextureFlags, at(12), "flags 0x%x", t.Flags)
		}
		if t.Width == 0 || t.Height == 0 || t.MipCount == 0 || int(min(t.MipCount, 99)) > bits.Len32(max(t.Width, t.Height)) {
			p.report(codeTextureSize, at(16), "%d x %d pixels, %d mips", t.Width, t.Height, t.MipCount)
		}
		if t.Reserved0 != 0 {
			p.report(codeReserved, at(28), "reserved word is 0x%x", t.Reserved0)
		}
		p.checkTextureFile(i, t)
		if !used[i] && p.usable[ChunkMaterials] {
			p.report(codeTextureUnused, at(0), "no material uses the texture")
		}
	}
}

// checkTextureFile compares a texture's format with its file's name: block
// formats and the later ones are .utex files, and only these are.
func (p *parser) checkTextureFile(i int, t *records.Texture) {
	if !p.usable[ChunkStrings] || t.URIOffset == records.NoIndex || p.strings.check(t.URIOffset) != "" || t.Format > records.TextureR16Unorm {
		return
	}
	uri := p.strings.get(t.URIOffset)
	if blocks := t.Format > records.TextureRGBA8; blocks != strings.EqualFold(path.Ext(uri), ".utex") {
		p.report(codeTextureFile, p.recordAt(ChunkTextures, i, 8), "%.200q with the format %s", uri, t.Format)
	}
}

// checkURI demands a relative path that stays below the file's folder.
func (p *parser) checkURI(off uint32, dir string, at place) {
	if !p.usable[ChunkStrings] {
		return
	}
	if off == records.NoIndex {
		p.report(codeTextureURI, at, "the texture has no uri")
		return
	}
	if p.strings.check(off) != "" {
		return
	}
	uri := p.strings.get(off)
	if reason := records.URIEscape(uri); reason != "" {
		p.report(codeTextureEscape, at, "uri %.200q: %s", uri, reason)
		return
	}
	if dir == "" {
		return
	}
	if _, err := journal.Stat(filepath.Join(dir, filepath.FromSlash(uri))); err != nil {
		p.report(codeTextureMissing, at, "the file of uri %.200q is not there", uri)
	}
}
