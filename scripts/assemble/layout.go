package main

import (
	"github.com/untoldkit/untold/internal/stable"
)

// streets is the street plan of a city on a grid of cells.
type streets struct {
	w, h   int
	road   []bool
	xs, zs []int // columns and rows that hold streets
}

// planStreets lays streets along some columns and rows, two to four cells
// apart, with a ring at the edge, and then closes some stretches inside, so
// that T-junctions and larger blocks appear. Every street cell keeps at least
// two neighbours and all stay connected.
func planStreets(r *stable.RNG, w, h int) *streets {
	s := &streets{w: w, h: h, road: make([]bool, w*h), xs: lines(r, w), zs: lines(r, h)}
	for _, x := range s.xs {
		for z := range h {
			s.road[z*w+x] = true
		}
	}
	for _, z := range s.zs {
		for x := range w {
			s.road[z*w+x] = true
		}
	}
	for j := 1; j+1 < len(s.zs); j++ {
		for i := 0; i+1 < len(s.xs); i++ {
			if r.Chance(0.16) {
				s.closeStretch(s.xs[i], s.zs[j], s.xs[i+1], s.zs[j])
			}
		}
	}
	for i := 1; i+1 < len(s.xs); i++ {
		for j := 0; j+1 < len(s.zs); j++ {
			if r.Chance(0.16) {
				s.closeStretch(s.xs[i], s.zs[j], s.xs[i], s.zs[j+1])
			}
		}
	}
	return s
}

// lines chooses the street lines among n columns: the first, the last and
// some between.
func lines(r *stable.RNG, n int) []int {
	list := []int{0}
	for x := 0; ; {
		step := stable.Pick(r, 3, 3, 3, 4, 5)
		if x+step > n-3 { // the last block takes what is left
			break
		}
		x += step
		list = append(list, x)
	}
	if n > 1 {
		list = append(list, n-1)
	}
	return list
}

// at reports whether a cell holds a street; cells outside do not.
func (s *streets) at(x, z int) bool {
	return x >= 0 && z >= 0 && x < s.w && z < s.h && s.road[z*s.w+x]
}

// mask returns the sides of a cell on which a street cell lies.
func (s *streets) mask(x, z int) uint8 {
	var m uint8
	for d, st := range sideStep {
		if s.at(x+st[0], z+st[1]) {
			m |= 1 << d
		}
	}
	return m
}

// closeStretch removes the street cells strictly between two crossings unless
// that would leave a dead end or cut the plan in two.
func (s *streets) closeStretch(x0, z0, x1, z1 int) {
	degree := func(x, z int) int {
		m, n := s.mask(x, z), 0
		for d := range 4 {
			n += int(m >> d & 1)
		}
		return n
	}
	if degree(x0, z0) < 3 || degree(x1, z1) < 3 {
		return
	}
	set := func(v bool) {
		for x := x0; x <= x1; x++ {
			for z := z0; z <= z1; z++ {
				if !(x == x0 && z == z0) && !(x == x1 && z == z1) {
					s.road[z*s.w+x] = v
				}
			}
		}
	}
	set(false)
	if !s.reaches(x0, z0, x1, z1) {
		set(true)
	}
}

// reaches reports whether one street cell can be reached from another.
func (s *streets) reaches(x0, z0, x1, z1 int) bool {
	seen := map[[2]int]bool{{x0, z0}: true}
	queue := [][2]int{{x0, z0}}
	for len(queue) > 0 {
		c := queue[0]
		queue = queue[1:]
		if c == [2]int{x1, z1} {
			return true
		}
		for _, st := range sideStep {
			n := [2]int{c[0] + st[0], c[1] + st[1]}
			if s.at(n[0], n[1]) && !seen[n] {
				seen[n] = true
				queue = append(queue, n)
			}
		}
	}
	return false
}
