package astc

import (
	"slices"
	"sync"
)

// encodeTables are what encoders of one footprint share.
type encodeTables struct {
	*layout
	single, double []encodeMode   // of one plane and of two
	splits         [4][]split     // by the number of partitions, of two and three
	masks          [4][][3]uint64 // those of splits, close together

	singleGrids, doubleGrids []*encodeGrid
}

// encodeMode is a block mode as an encoder sees it.
type encodeMode struct {
	number int
	*modeUse
	grid *encodeGrid // its place in grids
}

// encodeGrid is a grid with the texels that each point reaches.
type encodeGrid struct {
	*grid
	count   int // of points
	reach   [maxWeights][]reached
	inverse [maxWeights]int32   // 65536 by the sum of shares
	square  [maxWeights]float32 // sum of squared parts
	modes   [2][]encodeMode     // by planes
}

// reached is a texel that a point has a share in, in sixteenths.
type reached struct {
	texel uint8
	share int32
}

// split is a partitioning.
type split struct {
	seed int
	part [maxEncode]uint8
	mask [3]uint64 // texels by partition
}

var encodeTablesMemo [14]struct {
	once sync.Once
	t    *encodeTables
}

func encodeTablesOf(index int) *encodeTables {
	slot := &encodeTablesMemo[index]
	slot.once.Do(func() { slot.t = newEncodeTables(layoutOf(index)) })
	return slot.t
}

// gridsOf lists the grids of modes, the finest first.
func gridsOf(modes []encodeMode) []*encodeGrid {
	var out []*encodeGrid
	for _, m := range modes {
		if !slices.Contains(out, m.grid) {
			out = append(out, m.grid)
		}
	}
	slices.SortStableFunc(out, func(a, b *encodeGrid) int { return b.count - a.count })
	return out
}

func newEncodeTables(l *layout) *encodeTables {
	t := &encodeTables{layout: l}
	byGrid := map[*grid]*encodeGrid{}
	type same struct {
		g    *grid
		l    level
		dual bool
	}
	seen := map[same]bool{}
	for number, m := range l.modes {
		if m == nil {
			continue
		}
		key := same{m.grid, m.weights, m.dual}
		if seen[key] {
			continue
		}
		seen[key] = true
		g := byGrid[m.grid]
		if g == nil {
			g = newEncodeGrid(m.grid, l.Footprint.texels())
			byGrid[m.grid] = g
		}
		plane := 0
		if m.dual {
			plane = 1
		}
		em := encodeMode{number, m, g}
		g.modes[plane] = append(g.modes[plane], em)
		if m.dual {
			t.double = append(t.double, em)
		} else {
			t.single = append(t.single, em)
		}
	}
	t.singleGrids, t.doubleGrids = gridsOf(t.single), gridsOf(t.double)
	for count := 2; count <= 3; count++ {
		t.splits[count] = splitsOf(l.Footprint, count)
		for i := range t.splits[count] {
			t.masks[count] = append(t.masks[count], t.splits[count][i].mask)
		}
	}
	return t
}

func newEncodeGrid(g *grid, texels int) *encodeGrid {
	e := &encodeGrid{grid: g, count: g.width * g.height}
	for i := range texels {
		for k, s := range g.shares[i] {
			if s == 0 {
				continue
			}
			p := g.points[i][k]
			e.reach[p] = append(e.reach[p], reached{uint8(i), int32(s)})
			e.inverse[p] += int32(s)
			e.square[p] += float32(float32(int(s)*int(s)) / 256)
		}
	}
	for p := range e.count {
		e.inverse[p] = (1<<16 + e.inverse[p]/2) / e.inverse[p]
	}
	return e
}

// splitsOf returns the partitionings that differ by more than the order of
// their partitions, and use all of them.
func splitsOf(f Footprint, count int) []split {
	var out []split
	seen := map[[3]uint64]bool{}
	for seed := range partitionings {
		s := split{seed: seed}
		f.partition(seed, count, s.part[:f.texels()])
		for i := range f.texels() {
			s.mask[s.part[i]] |= 1 << i
		}
		key := s.mask
		slices.Sort(key[:])
		if slices.Contains(s.mask[:count], 0) || seen[key] {
			continue
		}
		seen[key] = true
		out = append(out, s)
	}
	return out
}

// Weights by rank, the order of their values.
var (
	rankValue  [level32 + 1][32]uint8
	rankNumber [level32 + 1][32]uint8
	rankOf     [level32 + 1][257]uint8 // the nearest to quarters of a value
	rankError  [level32 + 1][257]float32
	colorNoise [level256 + 1]float32 // mean squared error of a colour
)

func init() {
	for l := range rankValue {
		n := levels[l].count
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return int(weightValue[l][a]) - int(weightValue[l][b]) })
		for r, number := range order {
			rankNumber[l][r], rankValue[l][r] = uint8(number), weightValue[l][number]
		}
		r := 0
		for q := range rankOf[l] {
			for r+1 < n && distance(q, 4*int(rankValue[l][r+1])) < distance(q, 4*int(rankValue[l][r])) {
				r++
			}
			rankOf[l][q] = uint8(r)
			d := distance(q, 4*int(rankValue[l][r]))
			rankError[l][q] = float32(d*d) / (256 * 256)
		}
	}
	for l := level6; l <= level256; l++ {
		sum := 0
		for v := range 256 {
			d := distance(v, int(colorValue[l][nearestColor[l][v]]))
			sum += d * d
		}
		colorNoise[l] = float32(float32(sum)/256) + 1./12
	}
}
