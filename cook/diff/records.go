package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
)

// orNil returns a record's name where an index names one.
func orNil(i uint32, name func(uint32) string) any {
	if i == records.NoIndex {
		return nil
	}
	return name(i)
}

// headerValues are the fields of a header that are not counts of other tables.
func headerValues(h format.Header) []value {
	return []value{
		{"format_version", h.FormatVersion},
		{"file_type", h.FileType.String()},
		{"flags", h.Flags},
		{"vertex_layout", h.VertexLayout.String()},
		{"world_bounds.min", numbers(h.WorldBounds.Min[:])},
		{"world_bounds.max", numbers(h.WorldBounds.Max[:])},
		{"root_transform", numbers(h.RootTransform[:])},
	}
}

// materialValues are the fields of a material, named as inspect does. Textures are
// named by their uris.
func materialValues(r *format.Reader, m *records.Material) []value {
	uri := func(i uint32) any { return orNil(i, func(i uint32) string { return textureURI(r, i) }) }
	return []value{
		{"alpha_mode", [...]string{"opaque", "mask", "blend", "opaque (3)"}[m.Flags&records.MaterialAlphaMask]},
		{"double_sided", m.Flags&records.MaterialDoubleSided != 0},
		{"unlit", m.Flags&records.MaterialUnlit != 0},
		{"other_flags", m.Flags &^ (records.MaterialAlphaMask | records.MaterialDoubleSided | records.MaterialUnlit)},
		{"base_color", numbers(m.BaseColor[:])},
		{"emissive", numbers(m.Emissive[:])},
		{"normal_scale", number(m.NormalScale)},
		{"metallic", number(m.Metallic)},
		{"roughness", number(m.Roughness)},
		{"occlusion_strength", number(m.OcclusionStrength)},
		{"alpha_cutoff", number(m.AlphaCutoff)},
		{"base_color_texture", uri(m.BaseColorTexture)},
		{"normal_texture", uri(m.NormalTexture)},
		{"metallic_texture", uri(m.MetallicTexture)},
		{"roughness_texture", uri(m.RoughnessTexture)},
		{"emissive_texture", uri(m.EmissiveTexture)},
		{"occlusion_texture", uri(m.OcclusionTexture)},
		{"height_texture", uri(m.HeightTexture)},
		{"height_scale", number(m.HeightScale)},
		{"height_midlevel", number(m.HeightMidlevel)},
		{"height_remap", numbers(m.HeightRemap[:])},
		{"channels", m.Reserved[0]},
		{"reserved", m.Reserved[1]},
	}
}

// textureURI names a texture of a container; foreign files may have numbers that
// name none.
func textureURI(r *format.Reader, i uint32) string {
	if int64(i) >= int64(len(r.Textures())) {
		return ""
	}
	return r.String(r.Textures()[i].URIOffset)
}

func materialName(r *format.Reader, i uint32) string {
	if int64(i) >= int64(len(r.Materials())) {
		return ""
	}
	return r.String(r.Materials()[i].NameOffset)
}

// textureValues are the fields of a texture's record.
func textureValues(r *format.Reader, t *records.Texture) []value {
	return []value{
		{"name", r.String(t.NameOffset)},
		{"format", t.Format.String()},
		{"flags", t.Flags},
		{"width", t.Width},
		{"height", t.Height},
		{"mip_count", t.MipCount},
	}
}

// row is a record that can be matched by its name.
type row struct {
	number int
	name   string
	key    string // the content; the same key is the same record
	values []value
}

// matchRows compares two tables whose records are known by names. Where a name is
// there more than once, the same content is matched first, then the order counts.
func matchRows(a, b []row, tolerance float64) (out []Record) {
	type twin struct{ name, key string }
	left := map[twin][]int{}
	for i := range a {
		k := twin{a[i].name, a[i].key}
		left[k] = append(left[k], i)
	}
	usedA, usedB := make([]bool, len(a)), make([]bool, len(b))
	for j := range b {
		k := twin{b[j].name, b[j].key}
		if l := left[k]; len(l) > 0 {
			usedA[l[0]], usedB[j] = true, true
			left[k] = l[1:]
		}
	}
	byName := map[string][]int{}
	for i := range a {
		if !usedA[i] {
			byName[a[i].name] = append(byName[a[i].name], i)
		}
	}
	for j := range b {
		if usedB[j] {
			continue
		}
		l := byName[b[j].name]
		if len(l) == 0 {
			out = append(out, Record{Name: b[j].name, Change: Added, A: -1, B: b[j].number})
			continue
		}
		i := l[0]
		byName[b[j].name] = l[1:]
		usedA[i] = true
		if f := compareValues(a[i].values, b[j].values, tolerance); len(f) > 0 {
			out = append(out, Record{Name: b[j].name, Change: Changed, A: a[i].number, B: b[j].number, Fields: f})
		}
	}
	for i := range a {
		if !usedA[i] {
			out = append(out, Record{Name: a[i].name, Change: Removed, A: a[i].number, B: -1})
		}
	}
	sortRecords(out)
	return out
}

// sortRecords orders by name; which of two namesakes comes first does not depend
// on which of the files is A.
func sortRecords(list []Record) {
	slices.SortStableFunc(list, func(x, y Record) int {
		return cmp.Or(strings.Compare(x.Name, y.Name), cmp.Compare(min(uint(x.A), uint(x.B)), min(uint(y.A), uint(y.B))),
			cmp.Compare(max(x.A, x.B), max(y.A, y.B)))
	})
}

// materialRows and textureRows list the tables of a container.
func materialRows(r *format.Reader) []row {
	out := make([]row, len(r.Materials()))
	for i := range out {
		m := &r.Materials()[i]
		out[i] = row{number: i, name: r.String(m.NameOffset), key: materialKey(r, m), values: materialValues(r, m)}
	}
	return out
}

func textureRows(r *format.Reader) []row {
	out := make([]row, len(r.Textures()))
	for i := range out {
		t := &r.Textures()[i]
		out[i] = row{number: i, name: r.String(t.URIOffset), key: textureKey(r, t), values: textureValues(r, t)}
	}
	return out
}

// materialKey is a material's content as one string: its bytes, with uris instead
// of the numbers of textures.
func materialKey(r *format.Reader, m *records.Material) string {
	c := *m
	var uris []string
	for _, i := range []*uint32{
		&c.BaseColorTexture, &c.NormalTexture, &c.MetallicTexture, &c.RoughnessTexture, &c.EmissiveTexture, &c.OcclusionTexture, &c.HeightTexture,
	} {
		if *i != records.NoIndex {
			uris = append(uris, textureURI(r, *i))
			*i = 0
		}
	}
	c.NameOffset = 0
	key := records.AppendMaterial(nil, &c, format.Version)
	key = records.AppendFloats(key, []float32{c.HeightScale, c.HeightMidlevel, c.HeightRemap[0], c.HeightRemap[1], float32(min(c.HeightTexture, 1))})
	return string(key) + strings.Join(uris, "\x00")
}

func textureKey(r *format.Reader, t *records.Texture) string {
	c := *t
	c.NameOffset, c.URIOffset = 0, 0
	return string(records.AppendTexture(nil, &c)) + r.String(t.NameOffset)
}
