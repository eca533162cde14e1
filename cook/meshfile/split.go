package meshfile

import (
	"encoding/binary"
	"io"
	"os"
	"slices"

	"github.com/untoldkit/untold/cook/internal/gltfdoc"
	"github.com/untoldkit/untold/internal/scratch"
)

// Cells of an object that is split.
const (
	cellsPerPiece = 8
	mostCells     = 1 << 16
)

// triangleBytes is what a triangle takes in a file.
const triangleBytes = 48

// cells is a grid over the middles of an object's triangles, by powers of two.
type cells struct {
	min, scale [3]float64
	shift      [3]int // cells on each axis, as powers of two
}

// split makes pieces of an object that hang together in space: cells of a grid, those that
// follow each other on a Z-order curve together.
func (b *builder) split(o *object, limit int64) error {
	defer func() {
		b.sums.drop()
		b.sums = nil
	}()
	grid, err := b.grid(o, limit)
	if err != nil {
		return err
	}
	cellOf := func(t *triangle) (int, error) {
		p, err := b.cornersOf(t)
		if err != nil {
			return 0, err
		}
		return grid.cell(&p), nil
	}
	// Counted, cells become pieces.
	count := make([]int64, 1<<(grid.shift[0]+grid.shift[1]+grid.shift[2]))
	if err := b.triangles(o, func(t *triangle) error {
		c, err := cellOf(t)
		if err == nil {
			count[c]++
		}
		return err
	}); err != nil {
		return err
	}
	pieceOf, sizes := make([]int32, len(count)), []int64{}
	for c, n := range count {
		if n == 0 {
			continue
		}
		if last := len(sizes) - 1; last < 0 || sizes[last] >= limit/2 || sizes[last]+n > limit {
			sizes = append(sizes, 0)
		}
		pieceOf[c] = int32(len(sizes) - 1)
		sizes[len(sizes)-1] += n
	}
	// Their triangles go to a file, those of a piece together.
	f, err := scratch.File(scratchPrefix)
	if err != nil {
		return gltfdoc.Working(err)
	}
	defer scratch.Close(f)
	if err := b.scatter(o, f, sizes, func(t *triangle) (int32, error) {
		c, err := cellOf(t)
		return pieceOf[c], err
	}); err != nil {
		return err
	}
	number, from := 0, int64(0)
	for _, n := range sizes {
		// A cell may hold more than a piece should have.
		for left := n; left > 0; {
			take := min(left, limit)
			if err := b.readTriangles(f, from, take); err != nil {
				return err
			}
			number++
			if err := b.piece(b.nameOf(o, number)); err != nil {
				return err
			}
			from, left = from+take, left-take
		}
	}
	return nil
}

// grid fits cells to an object: as many as make some for each piece, of about one size.
// On the way it sums up normals.
func (b *builder) grid(o *object, limit int64) (*cells, error) {
	var lo, hi [3]float64
	first := true
	if err := b.triangles(o, func(t *triangle) error {
		p, err := b.cornersOf(t)
		if err != nil {
			return err
		}
		m := middle(&p)
		if first {
			lo, hi, first = m, m, false
		}
		for i := range m {
			lo[i], hi[i] = min(lo[i], m[i]), max(hi[i], m[i])
		}
		return b.gatherAll(t, &p)
	}); err != nil {
		return nil, err
	}
	g := &cells{min: lo}
	edge := [3]float64{hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2]}
	want := min(mostCells, cellsPerPiece*(2*o.triangles/limit+1))
	for all := int64(1); all < want; all *= 2 {
		k := 0
		for i := range edge {
			if edge[i] > edge[k] {
				k = i
			}
		}
		edge[k] /= 2
		g.shift[k]++
	}
	for i := range g.scale {
		if d := hi[i] - lo[i]; d > 0 {
			g.scale[i] = float64(int64(1)<<g.shift[i]) / d
		}
	}
	return g, nil
}

func middle(p *[3][3]float32) (m [3]float64) {
	for i := range m {
		m[i] = (float64(p[0][i]) + float64(p[1][i]) + float64(p[2][i])) / 3
	}
	return m
}

// cell returns the number of the cell of a triangle, on a Z-order curve.
func (g *cells) cell(p *[3][3]float32) int {
	m := middle(p)
	var at [3]int
	for i := range at {
		n := int(1) << g.shift[i]
		at[i] = int(min(max((m[i]-g.min[i])*g.scale[i], 0), float64(n-1)))
	}
	// The bits of the axes take turns, from the highest down.
	out, left := 0, g.shift
	for {
		k := 0
		for i := range left {
			if left[i] > left[k] {
				k = i
			}
		}
		if left[k] == 0 {
			return out
		}
		left[k]--
		out = out<<1 | at[k]>>left[k]&1
	}
}

// scatter writes the triangles of an object to a file, by pieces.
func (b *builder) scatter(o *object, f *os.File, sizes []int64, pieceOf func(t *triangle) (int32, error)) error {
	each := int(min(256, max(8, b.opts.share()/int64(len(sizes))/triangleBytes)))
	buffers, at := make([][]byte, len(sizes)), make([]int64, len(sizes))
	sum := int64(0)
	for i, n := range sizes {
		at[i] = sum * triangleBytes
		sum += n
	}
	flush := func(i int32) error {
		_, err := f.WriteAt(buffers[i], at[i])
		at[i] += int64(len(buffers[i]))
		buffers[i] = buffers[i][:0]
		return gltfdoc.Working(err)
	}
	if err := b.triangles(o, func(t *triangle) error {
		i, err := pieceOf(t)
		if err != nil {
			return err
		}
		if buffers[i] == nil {
			buffers[i] = make([]byte, 0, each*triangleBytes)
		}
		if buffers[i] = t.append(buffers[i]); len(buffers[i]) == cap(buffers[i]) {
			return flush(i)
		}
		return nil
	}); err != nil {
		return err
	}
	for i := range buffers {
		if err := flush(int32(i)); err != nil {
			return err
		}
	}
	return nil
}

func (t *triangle) append(b []byte) []byte {
	for _, c := range t.corners {
		for _, v := range [3]uint32{c.v, c.t, c.n} {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
	}
	for _, v := range [3]uint32{t.material, t.faceState.smooth, t.color} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// readTriangles reads n triangles into b.tris.
func (b *builder) readTriangles(f *os.File, from, n int64) error {
	data := make([]byte, n*triangleBytes)
	if _, err := f.ReadAt(data, from*triangleBytes); err != nil && err != io.EOF {
		return gltfdoc.Working(err)
	}
	b.tris = slices.Grow(b.tris[:0], int(n))
	for i := range n {
		at := data[i*triangleBytes:]
		word := func(k int) uint32 { return binary.LittleEndian.Uint32(at[4*k:]) }
		var t triangle
		for k := range t.corners {
			t.corners[k] = corner{word(3 * k), word(3*k + 1), word(3*k + 2)}
		}
		t.material, t.faceState.smooth, t.color = word(9), word(10), word(11)
		b.tris = append(b.tris, t)
	}
	return nil
}
