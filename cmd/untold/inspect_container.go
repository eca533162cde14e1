package main

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/human"
)

// tables are what the text about a container shows: of a sound one, or what is left of a
// damaged one.
type tables interface {
	Header() format.Header
	Size() int64
	Chunks() []format.Chunk
	Entities() []records.Entity
	Meshes() []records.Mesh
	Materials() []records.Material
	Textures() []records.Texture
	String(offset uint32) string
}

// inspectContainer shows what the flags ask for.
func inspectContainer(a *app, path string, r *format.Reader, f *inspectFlags) error {
	switch {
	case f.chunk != "":
		return showChunk(a, r, f)
	case f.mesh >= 0:
		return showMesh(a, r, f)
	case f.strings:
		return showStrings(a, r, f)
	case f.stats:
		return showStats(a, path, r, f)
	case f.asJSON:
		return writeJSON(a.stdout, containerJSON(path, r))
	}
	showHeader(a, path, r)
	showChunks(a, r, f)
	showEntities(a, r, f)
	showMeshes(a, r, f)
	showMaterials(a, r, f)
	showTextures(a, r, f)
	return nil
}

func vec(v [3]float32) string { return fmt.Sprintf("(%g, %g, %g)", v[0], v[1], v[2]) }

func box(b records.Bounds) string { return vec(b.Min) + " .. " + vec(b.Max) }

func ref(i uint32) string {
	if i == records.NoIndex {
		return "-"
	}
	return fmt.Sprint(i)
}

func showHeader(a *app, path string, r tables) {
	h := r.Header()
	w := a.stdout
	fmt.Fprintf(w, "%s\n", oneLine(path))
	fmt.Fprintf(w, "  %s file, format version %d, %s (%d bytes), vertex layout %s\n", h.FileType, h.FormatVersion, human.Bytes(r.Size()), r.Size(), h.VertexLayout)
	fmt.Fprintf(w, "  %s, %s, %s, %s in %s\n", human.Plural(len(r.Entities()), "entity"), human.Plural(len(r.Meshes()), "mesh"),
		human.Plural(len(r.Materials()), "material"), human.Plural(len(r.Textures()), "texture"), human.Plural(len(r.Chunks()), "chunk"))
	fmt.Fprintf(w, "  world bounds %s m\n", box(h.WorldBounds))
	hash := hex.EncodeToString(h.ContentHash[:])
	if strings.Trim(hash, "0") == "" {
		hash = "not computed"
	}
	fmt.Fprintf(w, "  content hash %s\n\n", hash)
}

func showChunks(a *app, r tables, f *inspectFlags) {
	header := []string{"chunk", ">type", "stored as", ">offset", ">stored", ">raw", ">ratio", ">records"}
	damaged, _ := r.(*format.Salvaged)
	if damaged != nil {
		header = append(header, "state")
	}
	t := newTable(f.limit, header...)
	for i, c := range r.Chunks() {
		ratio := "-"
		if c.UncompressedSize > 0 {
			ratio = fmt.Sprintf("%.1f %%", 100*float64(c.CompressedSize)/float64(c.UncompressedSize))
		}
		cells := []any{c.Type, uint32(c.Type), c.Compression, fmt.Sprintf("0x%x", c.Offset), c.CompressedSize, c.UncompressedSize, ratio, c.ElementCount}
		if damaged != nil {
			cells = append(cells, stateOf(damaged, i))
		}
		t.add(cells...)
	}
	t.print(a.stdout)
}

func showEntities(a *app, r tables, f *inspectFlags) {
	t := newTable(f.limit, ">entity", ">parent", "name", "meshes", "world bounds")
	for _, e := range r.Entities() {
		meshes := "-"
		switch e.MeshCount {
		case 0:
		case 1:
			meshes = fmt.Sprint(e.FirstMesh)
		default:
			meshes = fmt.Sprintf("%d-%d", e.FirstMesh, e.FirstMesh+e.MeshCount-1)
		}
		t.add(e.ID, ref(e.ParentID), r.String(e.NameOffset), meshes, box(e.WorldBounds))
	}
	fmt.Fprintln(a.stdout)
	t.print(a.stdout)
}

func showMeshes(a *app, r tables, f *inspectFlags) {
	t := newTable(f.limit, ">mesh", "name", ">entity", ">material", ">vertices", ">triangles", "indices", ">vertex offset", ">index offset", ">GPU bytes")
	for i, m := range r.Meshes() {
		t.add(i, r.String(m.NameOffset), m.EntityID, ref(m.Material), m.VertexCount, m.IndexCount/3, m.IndexType, m.VertexOffset, m.IndexOffset, m.EstimatedGPUBytes)
	}
	fmt.Fprintln(a.stdout)
	t.print(a.stdout)
}

func alphaMode(flags uint32) string {
	return [...]string{"opaque", "mask", "blend", "opaque (3)"}[flags&records.MaterialAlphaMask]
}

func materialFlags(flags uint32) string {
	s := alphaMode(flags)
	if flags&records.MaterialDoubleSided != 0 {
		s += ", double-sided"
	}
	if flags&records.MaterialUnlit != 0 {
		s += ", unlit"
	}
	return s
}

func showMaterials(a *app, r tables, f *inspectFlags) {
	if len(r.Materials()) == 0 {
		return
	}
	t := newTable(f.limit, ">material", "name", "base colour", ">metallic", ">roughness", "emissive", "mode", "textures: base normal metal rough emissive occlusion")
	for i, m := range r.Materials() {
		c := m.BaseColor
		t.add(i, r.String(m.NameOffset), fmt.Sprintf("%.3g %.3g %.3g %.3g", c[0], c[1], c[2], c[3]), fmt.Sprintf("%.3g", m.Metallic), fmt.Sprintf("%.3g", m.Roughness),
			fmt.Sprintf("%.3g %.3g %.3g", m.Emissive[0], m.Emissive[1], m.Emissive[2]), materialFlags(m.Flags),
			strings.Join([]string{ref(m.BaseColorTexture), ref(m.NormalTexture), ref(m.MetallicTexture), ref(m.RoughnessTexture), ref(m.EmissiveTexture), ref(m.OcclusionTexture)}, " "))
	}
	fmt.Fprintln(a.stdout)
	t.print(a.stdout)
}

// textureUses names the bits of a texture's flags.
func textureUses(flags uint32) string {
	var s []string
	for _, b := range []struct {
		bit  uint32
		name string
	}{
		{records.TextureSRGB, "sRGB"},
		{records.TextureNormalMap, "normal"},
		{records.TextureEmissive, "emissive"},
		{records.TextureOcclusion, "occlusion"},
		{records.TextureColorLUT, "LUT"},
		{records.TextureHeight, "height"},
	} {
		if flags&b.bit != 0 {
			s = append(s, b.name)
		}
	}
	if s == nil {
		return "-"
	}
	return strings.Join(s, ", ")
}

func showTextures(a *app, r tables, f *inspectFlags) {
	if len(r.Textures()) == 0 {
		return
	}
	t := newTable(f.limit, ">texture", "uri", "format", ">width", ">height", ">mips", "use")
	for i, x := range r.Textures() {
		t.add(i, r.String(x.URIOffset), x.Format, x.Width, x.Height, x.MipCount, textureUses(x.Flags))
	}
	fmt.Fprintln(a.stdout)
	t.print(a.stdout)
}

// stringRow is a string of a container.
type stringRow struct {
	Offset int    `json:"offset"` // bytes in the table of strings
	String string `json:"string"`
}

// showStrings lists every string with its offset.
func showStrings(a *app, r *format.Reader, f *inspectFlags) error {
	c, _ := r.Chunk(format.ChunkStrings)
	data, err := r.ChunkData(c, nil)
	if err != nil {
		return err
	}
	rows := []stringRow{}
	for start := 0; start < len(data); {
		end := start + strings.IndexByte(string(data[start:]), 0)
		if end < start {
			end = len(data)
		}
		rows = append(rows, stringRow{start, string(data[start:end])})
		start = end + 1
	}
	if f.asJSON {
		return writeJSON(a.stdout, rows)
	}
	t := newTable(f.limit, ">offset", "string")
	for _, x := range rows {
		t.add(x.Offset, x.String)
	}
	t.print(a.stdout)
	return nil
}
