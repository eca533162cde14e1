package cook

import (
	"crypto/sha256"
	"math"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/planfile"
	"github.com/untoldkit/untold/partition"
)

// cellIndex tells which triangles of a primitive each cell needs that its object is cut
// into, so that a shard reads of a terrain only what lies in its tiles, and what that has
// to be, so that it can hold it against the plan.
type cellIndex struct {
	object, placed, part int // indices into objects, object.placed, Mesh.Parts
	runs                 []cellRun
	cells                []cellSum // in the order of cells; those that need any triangles
	whole                sum       // of the primitive, where it has no runs and is read whole
}

// cellRun is triangles that follow each other, and the cells that need some of them.
type cellRun struct {
	triangles int32
	cells     cellBox
}

// cellBox is a box of cells, those of least and most among them.
type cellBox struct{ least, most [3]uint16 }

// mostCells is how many cells an object with an index has along an axis at most.
const mostCells = math.MaxUint16

// noCells holds no cell, and grows by add.
var noCells = cellBox{least: [3]uint16{mostCells, mostCells, mostCells}}

// add makes the box hold another one.
func (b *cellBox) add(o cellBox) {
	for a := range b.least {
		b.least[a] = min(b.least[a], o.least[a])
		b.most[a] = max(b.most[a], o.most[a])
	}
}

func (b *cellBox) number() int64 {
	n := int64(1)
	for a := range b.least {
		n *= int64(b.most[a]) - int64(b.least[a]) + 1
	}
	return n
}

func (b *cellBox) reach() (first, last [3]int) {
	for a := range first {
		first[a], last[a] = int(b.least[a]), int(b.most[a])
	}
	return first, last
}

// cellSum is the hash of the runs that a cell needs, shortened: it finds what has changed.
type cellSum struct {
	cell [3]uint16
	sum  [16]byte
}

// runHasher hashes runs of triangles: what their corners have, and which of these are one
// vertex. The numbers of vertices do not count.
type runHasher struct {
	p      *gltfscene.Primitive
	d      *digest
	run    uint32
	seen   []uint32 // by vertex: the last run in which it was, from 1
	number []uint32 // by vertex: in that run
}

func newRunHasher(p *gltfscene.Primitive) *runHasher {
	return &runHasher{p: p, d: newDigest(), seen: make([]uint32, len(p.Positions)), number: make([]uint32, len(p.Positions))}
}

// sum hashes the triangles from first to before last.
func (h *runHasher) sum(first, last int) sum {
	p, d := h.p, h.d
	d.reset()
	h.run++
	for _, there := range []bool{p.Normals != nil, p.Tangents != nil, p.UV[0] != nil, p.UV[1] != nil, p.Colors != nil} {
		d.bool(there)
	}
	n := uint32(0)
	for _, v := range p.Indices[3*first : 3*last] {
		again := h.seen[v] == h.run
		if !again {
			h.seen[v], h.number[v] = h.run, n
			n++
		}
		d.uint32(h.number[v])
		if again {
			continue
		}
		d.float32s(p.Positions[v][:])
		if p.Normals != nil {
			d.float32s(p.Normals[v][:])
		}
		if p.Tangents != nil {
			d.float32s(p.Tangents[v][:])
		}
		for _, uv := range p.UV {
			if uv != nil {
				d.float32s(uv[v][:])
			}
		}
		if p.Colors != nil {
			d.float32s(p.Colors[v][:])
		}
	}
	return d.sum()
}

// cellSums folds the hashes of runs into those of cells.
type cellSums map[[3]uint16][16]byte

// add folds the hash of a run into those of the wanted cells that need it.
func (c cellSums) add(run sum, cells cellBox, wanted func(cell [3]int) bool) {
	var b [16 + len(run)]byte
	copy(b[16:], run[:])
	for v := int(cells.least[2]); v <= int(cells.most[2]); v++ {
		for h := int(cells.least[1]); h <= int(cells.most[1]); h++ {
			for u := int(cells.least[0]); u <= int(cells.most[0]); u++ {
				if !wanted([3]int{u, h, v}) {
					continue
				}
				cell := [3]uint16{uint16(u), uint16(h), uint16(v)}
				before := c[cell]
				copy(b[:], before[:])
				all := sha256.Sum256(b[:])
				c[cell] = [16]byte(all[:16])
			}
		}
	}
}

// choose returns the triangles of the runs that wanted cells need.
func (x *cellIndex) choose(wanted func(cell [3]int) bool) (list []gltfscene.Range, runs []cellRun) {
	at := 0
	for _, r := range x.runs {
		n := int(r.triangles)
		if r.anyCell(wanted) {
			list, runs = append(list, gltfscene.Range{First: at, End: at + n}), append(runs, r)
		}
		at += n
	}
	return list, runs
}

// matches tells whether a primitive that consists of some runs is what the index knows of
// the wanted cells.
func (x *cellIndex) matches(p *gltfscene.Primitive, runs []cellRun, wanted func(cell [3]int) bool) bool {
	h, sums, at := newRunHasher(p), cellSums{}, 0
	for _, r := range runs {
		n := int(r.triangles)
		sums.add(h.sum(at, at+n), r.cells, wanted)
		at += n
	}
	for i := range x.cells {
		c := &x.cells[i]
		if got, ok := sums[c.cell]; ok {
			if got != c.sum {
				return false
			}
			delete(sums, c.cell)
		}
	}
	return len(sums) == 0
}

// codeIndexes writes or reads what a plan knows of objects that are cut.
func codeIndexes(c *planfile.Coder, list *[]cellIndex) {
	planfile.List(c, list, 6, func(_ int, x *cellIndex) {
		c.Int(&x.object, 0, math.MaxInt32)
		c.Int(&x.placed, 0, math.MaxInt32)
		c.Int(&x.part, 0, math.MaxInt32)
		planfile.List(c, &x.runs, 7, func(_ int, r *cellRun) {
			n := int(r.triangles)
			c.Int(&n, 1, math.MaxInt32)
			r.triangles = int32(n)
			for a := range r.cells.least {
				codeCell(c, &r.cells.least[a], 0)
				codeCell(c, &r.cells.most[a], r.cells.least[a])
			}
		})
		if len(x.runs) == 0 {
			c.Sum((*[32]byte)(&x.whole))
			return
		}
		planfile.List(c, &x.cells, 19, func(_ int, s *cellSum) {
			for a := range s.cell {
				codeCell(c, &s.cell[a], 0)
			}
			c.Fixed(s.sum[:])
		})
	})
}

func codeCell(c *planfile.Coder, v *uint16, least uint16) {
	n := int(*v)
	c.Int(&n, int(least), mostCells-1)
	*v = uint16(n)
}

// cellIndexes are those of a scene, in the order of objects, of what is placed and of parts.
type cellIndexes []cellIndex

// check holds indexes that were read against the scene: all parts of a placed mesh have
// one, or none has.
func (list cellIndexes) check(c *scenePlan) bool {
	for i := 0; i < len(list); {
		x := &list[i]
		if i > 0 && (x.object < list[i-1].object || x.object == list[i-1].object && x.placed <= list[i-1].placed) {
			return false
		}
		if x.object >= len(c.objects) || !c.isCut(x.object) || x.placed >= len(c.objects[x.object].placed) {
			return false
		}
		parts, cells := c.scene.Meshes[c.objects[x.object].placed[x.placed].mesh].Parts, c.planned.Objects[x.object].Cells
		if len(list)-i < len(parts) || len(parts) == 0 {
			return false
		}
		for k := range parts {
			y := &list[i+k]
			if y.object != x.object || y.placed != x.placed || y.part != k || !y.covers(parts[k].Triangles, cells) {
				return false
			}
		}
		i += len(parts)
	}
	return true
}

// covers reports whether the runs of an index are those of so many triangles, and lead to
// cells of a range.
func (x *cellIndex) covers(triangles int, in partition.CellRange) bool {
	n, needed := int64(0), int64(0)
	for i := range x.runs {
		r := &x.runs[i]
		for a := range r.cells.most {
			if int(r.cells.most[a]) > int(in.Max[a])-int(in.Min[a]) {
				return false
			}
		}
		n += int64(r.triangles)
		if n > int64(triangles) || r.cells.number() > (mostNeeded*int64(triangles)-needed)/int64(r.triangles) {
			return false
		}
		needed += int64(r.triangles) * r.cells.number()
	}
	return len(x.runs) == 0 || n == int64(triangles)
}

// of returns the indexes of what an object places, by parts; none where it has none.
func (list cellIndexes) of(object, placed int) cellIndexes {
	first := list.search(object, placed)
	return list[first:list.search(object, placed+1)]
}
