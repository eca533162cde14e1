package main

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/human"
)

// parseChunkType accepts a chunk's name in any case or its number.
func parseChunkType(s string) (format.ChunkType, bool) {
	const named = 64 // more than there are names
	for t := range format.ChunkType(named) {
		if strings.EqualFold(t.String(), s) {
			return t, true
		}
	}
	n, err := strconv.ParseUint(s, 10, 32)
	return format.ChunkType(n), err == nil
}

// showChunk prints one chunk: its records, a hex dump, or the bytes.
func showChunk(a *app, r *format.Reader, f *inspectFlags) error {
	typ, ok := parseChunkType(f.chunk)
	if !ok {
		return fmt.Errorf("--chunk is %q; use a name such as MESH_TABLE or a number", f.chunk)
	}
	c, ok := r.Chunk(typ)
	if !ok {
		return fmt.Errorf("the file has no %s chunk", typ)
	}
	if f.hex || f.raw {
		data, err := r.ChunkData(c, nil)
		if err != nil {
			return asInputError(err)
		}
		if f.raw {
			_, err = a.stdout.Write(data)
			return err
		}
		d := hex.Dumper(a.stdout)
		if _, err := d.Write(data); err != nil {
			return err
		}
		return d.Close()
	}
	if f.asJSON {
		return writeJSON(a.stdout, chunkJSON(r, c))
	}
	switch typ {
	case format.ChunkStrings:
		return showStrings(a, r, f)
	case format.ChunkEntities:
		showEntities(a, r, f)
	case format.ChunkMeshes:
		showMeshes(a, r, f)
	case format.ChunkMaterials:
		showMaterials(a, r, f)
	case format.ChunkTextures:
		showTextures(a, r, f)
	default:
		fmt.Fprintf(a.stdout, "%s: %d bytes stored as %s, %d decoded, at 0x%x (--hex or --raw shows them)\n", typ, c.CompressedSize, c.Compression, c.UncompressedSize, c.Offset)
	}
	return nil
}

// decodedMesh is what inspect --mesh --json prints.
type decodedMesh struct {
	Mesh     int          `json:"mesh"` // index
	Name     string       `json:"name"`
	Vertices []meshVertex `json:"vertices"`
	Indices  []uint32     `json:"indices"` // three for each triangle
}

// meshVertex is one decoded vertex as JSON shows it.
type meshVertex struct {
	Position [3]float32 `json:"position"`
	Normal   [3]float32 `json:"normal"`
	Tangent  [4]float32 `json:"tangent"`
	UV0      [2]float32 `json:"uv0"`
	UV1      [2]float32 `json:"uv1"`
	Color    [4]uint8   `json:"color"`
}

func decodeVertex(b []byte) meshVertex {
	v := vertex.Get(b)
	uv := func(h [2]uint16) [2]float32 { return [2]float32{vertex.FromHalf(h[0]), vertex.FromHalf(h[1])} }
	return meshVertex{v.Position, vertex.UnpackNormal(v.Normal), vertex.UnpackTangent(v.Tangent), uv(v.UV0), uv(v.UV1), v.Color}
}

// showMesh prints the decoded vertices and triangles of one mesh.
func showMesh(a *app, r *format.Reader, f *inspectFlags) error {
	if f.mesh >= len(r.Meshes()) {
		return fmt.Errorf("--mesh is %d, the file has %d meshes", f.mesh, len(r.Meshes()))
	}
	m := r.Meshes()[f.mesh]
	vb, err := r.MeshVertices(f.mesh, nil)
	if err != nil {
		return asInputError(err)
	}
	ib, err := r.MeshIndices(f.mesh, nil)
	if err != nil {
		return asInputError(err)
	}
	indices := vertex.Indices(ib, m.IndexType)
	vertices := make([]meshVertex, m.VertexCount)
	for i := range vertices {
		vertices[i] = decodeVertex(vb[i*vertex.Size:])
	}
	if f.asJSON {
		return writeJSON(a.stdout, decodedMesh{f.mesh, r.String(m.NameOffset), vertices, indices})
	}
	fmt.Fprintf(a.stdout, "mesh %d %q: %s, %s, material %s, bounds %s\n\n", f.mesh, r.String(m.NameOffset), human.Plural(int(m.VertexCount), "vertex"), human.Plural(int(m.IndexCount/3), "triangle"), ref(m.Material), box(m.LocalBounds))
	t := newTable(f.limit, ">vertex", "position", "normal", "tangent", "uv0", "uv1", "colour")
	for i, v := range vertices {
		t.add(i, vec(v.Position), fmt.Sprintf("%.3f", v.Normal), fmt.Sprintf("%.3f", v.Tangent), fmt.Sprintf("%.4g", v.UV0), fmt.Sprintf("%.4g", v.UV1), v.Color)
	}
	t.print(a.stdout)
	fmt.Fprintln(a.stdout)
	t = newTable(f.limit, ">triangle", "vertices")
	for i := 0; i+2 < len(indices); i += 3 {
		t.add(i/3, indices[i:i+3])
	}
	t.print(a.stdout)
	return nil
}

// fileStats are the figures of --stats.
type fileStats struct {
	Bytes         int64              `json:"bytes"`
	MetadataBytes uint64             `json:"metadata_bytes"`
	StoredRatio   map[string]float64 `json:"stored_ratio"`
	Vertices      int                `json:"vertices"`
	Triangles     int                `json:"triangles"`
	GPUBytes      uint64             `json:"gpu_bytes"`
	BytesPerTri   float64            `json:"bytes_per_triangle"`
	VertsPerTri   float64            `json:"vertices_per_triangle"`
	SurfaceArea   float64            `json:"surface_area_m2"`
	Degenerate    int                `json:"zero_area_triangles"`
	Meshes16      int                `json:"meshes_with_16_bit_indices"`
	LargestMesh   int                `json:"largest_mesh_triangles"`
}

func statsOf(r *format.Reader) (*fileStats, error) {
	s := &fileStats{Bytes: r.Size(), StoredRatio: map[string]float64{}}
	for _, c := range r.Chunks() {
		if c.Type == format.ChunkVertices || c.Type == format.ChunkIndices {
			if c.UncompressedSize > 0 {
				s.StoredRatio[c.Type.String()] = float64(c.CompressedSize) / float64(c.UncompressedSize)
			}
			continue
		}
		s.MetadataBytes += c.CompressedSize
	}
	for i, m := range r.Meshes() {
		s.Vertices += int(m.VertexCount)
		s.Triangles += int(m.IndexCount) / 3
		s.LargestMesh = max(s.LargestMesh, int(m.IndexCount)/3)
		s.GPUBytes += m.EstimatedGPUBytes
		if m.IndexType == vertex.Index16 {
			s.Meshes16++
		}
		vb, err := r.MeshVertices(i, nil)
		if err != nil {
			return nil, err
		}
		ib, err := r.MeshIndices(i, nil)
		if err != nil {
			return nil, err
		}
		addAreas(s, vb, vertex.Indices(ib, m.IndexType))
	}
	if s.Triangles > 0 {
		s.BytesPerTri = float64(s.Bytes) / float64(s.Triangles)
		s.VertsPerTri = float64(s.Vertices) / float64(s.Triangles)
	}
	return s, nil
}

func addAreas(s *fileStats, vb []byte, indices []uint32) {
	pos := func(i uint32) [3]float64 {
		p := vertex.Get(vb[int(i)*vertex.Size:]).Position
		return [3]float64{float64(p[0]), float64(p[1]), float64(p[2])}
	}
	for i := 0; i+2 < len(indices); i += 3 {
		p, q, r := pos(indices[i]), pos(indices[i+1]), pos(indices[i+2])
		var e, f [3]float64
		for k := range 3 {
			e[k], f[k] = q[k]-p[k], r[k]-p[k]
		}
		x, y, z := float64(e[1]*f[2])-float64(e[2]*f[1]), float64(e[2]*f[0])-float64(e[0]*f[2]), float64(e[0]*f[1])-float64(e[1]*f[0])
		area := float64(math.Sqrt(float64(x*x)+float64(y*y)+float64(z*z)) / 2)
		s.SurfaceArea += area
		if area == 0 {
			s.Degenerate++
		}
	}
}

func showStats(a *app, path string, r *format.Reader, f *inspectFlags) error {
	s, err := statsOf(r)
	if err != nil {
		return asInputError(err)
	}
	if f.asJSON {
		return writeJSON(a.stdout, s)
	}
	w := a.stdout
	fmt.Fprintf(w, "%s\n", oneLine(path))
	t := newTable(0, "figure", ">value")
	t.add("file", human.Bytes(s.Bytes))
	t.add("metadata", human.Bytes(int64(s.MetadataBytes)))
	for _, c := range []format.ChunkType{format.ChunkVertices, format.ChunkIndices} {
		if v, ok := s.StoredRatio[c.String()]; ok {
			t.add(c.String()+" stored", fmt.Sprintf("%.1f %%", 100*v))
		}
	}
	t.add("on the GPU", human.Bytes(int64(s.GPUBytes)))
	t.add("vertices", human.Count(s.Vertices))
	t.add("triangles", human.Count(s.Triangles))
	t.add("triangles of the largest mesh", human.Count(s.LargestMesh))
	t.add("triangles without area", human.Count(s.Degenerate))
	t.add("surface", fmt.Sprintf("%.6g m2", s.SurfaceArea))
	t.add("vertices per triangle", fmt.Sprintf("%.2f", s.VertsPerTri))
	t.add("bytes per triangle", fmt.Sprintf("%.1f", s.BytesPerTri))
	t.add("meshes with 16-bit indices", fmt.Sprintf("%d of %d", s.Meshes16, len(r.Meshes())))
	t.print(w)
	return nil
}
