package mesh

import (
	"fmt"
	"testing"

	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/race"
)

// numbered is a packed mesh whose vertices carry their number.
func numbered(n int, indices []uint32) *Packed {
	p := &Packed{Vertices: make([]byte, n*vertex.Size), Indices: indices}
	for i := range n {
		vertex.Put(p.Vertices[i*vertex.Size:], &vertex.Vertex{Position: [3]float32{float32(i)}})
	}
	return p
}

func corner(p *Packed, v uint32) int {
	return int(vertex.Get(p.Vertices[int(v)*vertex.Size:]).Position[0])
}

func TestAppend(t *testing.T) {
	p := numbered(3, []uint32{0, 1, 2})
	p.Append(numbered(4, []uint32{3, 2, 1, 0, 1, 2}))
	if p.VertexCount() != 7 || len(p.Indices) != 9 || p.Indices[3] != 6 || corner(p, p.Indices[3]) != 3 {
		t.Errorf("%d vertices, indices %v", p.VertexCount(), p.Indices)
	}
}

// TestSplit16 keeps every triangle, in order, whatever the mesh is.
func TestSplit16(t *testing.T) {
	for _, n := range []int{3, 65535, 65536, 70000, 140000} {
		if race.Enabled && n > 3 && n != 70000 {
			continue // make test splits all without the detector
		}
		for _, stride := range []int{1, 2, 7, 30011} {
			t.Run(fmt.Sprintf("%d vertices by %d", n, stride), func(t *testing.T) { checkSplit16(t, n, stride) })
		}
	}
}

func checkSplit16(t *testing.T, n, stride int) {
	indices := make([]uint32, 3*n)
	for i := range indices {
		indices[i] = uint32((i/3*stride + i%3) % n)
	}
	p := numbered(n, indices)
	pieces := p.Split16()
	k, bytes := 0, 0
	for _, q := range pieces {
		if len(pieces) > 1 && q.VertexCount() > 65535 {
			t.Fatalf("a piece has %d vertices", q.VertexCount())
		}
		bytes += len(q.Vertices) + len(q.Indices)*vertex.IndexTypeFor(q.VertexCount()).Size()
		for _, v := range q.Indices {
			if corner(q, v) != int(indices[k]) {
				t.Fatalf("index %d names vertex %d, want %d", k, corner(q, v), indices[k])
			}
			k++
		}
	}
	if k != len(indices) {
		t.Fatalf("%d of %d indices", k, len(indices))
	}
	if whole := len(p.Vertices) + len(indices)*vertex.IndexTypeFor(n).Size(); bytes > whole {
		t.Fatalf("%d bytes in %d pieces, %d whole", bytes, len(pieces), whole)
	}
}
