package diff

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/untoldkit/untold/format"
)

// sameFile reports whether two files hold the same bytes.
func sameFile(a, b *os.File) (bool, error) {
	x, err := a.Stat()
	if err != nil {
		return false, err
	}
	y, err := b.Stat()
	if err != nil {
		return false, err
	}
	if os.SameFile(x, y) {
		return true, nil
	}
	if x.Size() != y.Size() {
		return false, nil
	}
	const block = 256 << 10
	p, q := make([]byte, block), make([]byte, block)
	// ReadAt, so that the files can be read again from the start.
	for off := int64(0); off < x.Size(); off += block {
		n := min(block, x.Size()-off)
		if _, err := a.ReadAt(p[:n], off); err != nil {
			return false, readError(a, err)
		}
		if _, err := b.ReadAt(q[:n], off); err != nil {
			return false, readError(b, err)
		}
		if !bytes.Equal(p[:n], q[:n]) {
			return false, nil
		}
	}
	return true, nil
}

func readError(f *os.File, err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%s: %w", f.Name(), err)
}

// trianglesOf counts a container's triangles; instances count once each.
func trianglesOf(r *format.Reader) (n int64) {
	for i := range r.Meshes() {
		n += int64(r.Meshes()[i].IndexCount / 3)
	}
	return n
}

// sideError is an error about the file of one side.
type sideError struct {
	side int
	err  error
}

func (e *sideError) Error() string { return e.err.Error() }
func (e *sideError) Unwrap() error { return e.err }

// compareReaders compares two containers, without their triangles if those do not
// matter.
func compareReaders(a, b *format.Reader, o *Options) (*Payload, error) {
	p := &Payload{
		Bytes:  Pair{a.Size(), b.Size()},
		Counts: Pair{trianglesOf(a), trianglesOf(b)},
	}
	p.Header = compareValues(headerValues(a.Header()), headerValues(b.Header()), o.Tolerance)
	p.Materials = matchRows(materialRows(a), materialRows(b), 0)
	p.Textures = matchRows(textureRows(a), textureRows(b), 0)
	x, err := newContent(a)
	if err != nil {
		return nil, &sideError{0, err}
	}
	y, err := newContent(b)
	if err != nil {
		return nil, &sideError{1, err}
	}
	if p.Chunks, err = compareChunks(x, y); err != nil {
		return nil, err
	}
	m := newMatch(x, y, o.Tolerance)
	if err := m.run(); err != nil {
		return nil, err
	}
	total := m.total // a pointer into m would keep all of the geometry
	p.Triangles = &total
	p.Meshes, p.Entities = m.records()
	return p, nil
}

// differs reports whether more than the bytes differ.
func (p *Payload) differs() bool {
	return len(p.Header)+len(p.Entities)+len(p.Meshes)+len(p.Materials)+len(p.Textures) > 0 || p.Triangles == nil || p.Triangles.differ()
}

// content is a container with its geometry.
type content struct {
	r   *format.Reader
	geo format.Geometry
}

func newContent(r *format.Reader) (*content, error) {
	g, err := r.ReadGeometry(format.Geometry{})
	if err != nil {
		return nil, err
	}
	return &content{r, g}, nil
}

// decoded returns the decoded bytes of a chunk.
func (c *content) decoded(k format.Chunk) ([]byte, error) {
	switch k.Type {
	case format.ChunkVertices:
		return c.geo.Vertices, nil
	case format.ChunkIndices:
		return c.geo.Indices, nil
	}
	return c.r.ChunkData(k, nil)
}

// chunkID is a chunk type and which of its chunks it is: others than the required
// ones may come several times.
type chunkID struct {
	t format.ChunkType
	n int
}

func chunksByID(r *format.Reader) map[chunkID]format.Chunk {
	out := map[chunkID]format.Chunk{}
	count := map[format.ChunkType]int{}
	for _, c := range r.Chunks() {
		out[chunkID{c.Type, count[c.Type]}] = c
		count[c.Type]++
	}
	return out
}

// compareChunks lists the chunks that are stored differently or hold other bytes.
func compareChunks(a, b *content) (out []Chunk, err error) {
	x, y := chunksByID(a.r), chunksByID(b.r)
	all := maps.Clone(x)
	maps.Copy(all, y)
	ids := slices.SortedFunc(maps.Keys(all), func(p, q chunkID) int {
		return cmp.Or(cmp.Compare(p.t, q.t), cmp.Compare(p.n, q.n))
	})
	for _, id := range ids {
		p, inA := x[id]
		q, inB := y[id]
		c := Chunk{
			Name: id.t.String(), Change: Changed,
			Stored:  Pair{int64(p.CompressedSize), int64(q.CompressedSize)},
			Size:    Pair{int64(p.UncompressedSize), int64(q.UncompressedSize)},
			Records: Pair{int64(p.ElementCount), int64(q.ElementCount)},
		}
		switch {
		case !inB:
			c.Change, c.Content = Removed, true
		case !inA:
			c.Change, c.Content = Added, true
		default:
			s, err := a.decoded(p)
			if err != nil {
				return nil, &sideError{0, err}
			}
			t, err := b.decoded(q)
			if err != nil {
				return nil, &sideError{1, err}
			}
			c.Content = !bytes.Equal(s, t)
			if p.Compression != q.Compression {
				c.Compression = &Field{Key: "compression", A: p.Compression.String(), B: q.Compression.String()}
			}
			if !c.Content && c.Compression == nil && p.CompressedSize == q.CompressedSize && c.Records.A == c.Records.B {
				continue
			}
		}
		out = append(out, c)
	}
	return out, nil
}
