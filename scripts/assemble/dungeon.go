package main

import (
	"fmt"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/stable"
)

// cave is the plan of a dungeon: rooms joined by corridors.
type cave struct {
	n     int
	room  []int           // 0 rock, -1 corridor, else the room's number
	pass  map[[3]int]bool // open edges between corridor cells and rooms: x, z, side S or E
	rooms []area
}

type area struct{ x, z, w, h int }

// planCave digs rooms that do not touch and joins each with the one before.
func planCave(r *stable.RNG, n int) *cave {
	c := &cave{n: n, room: make([]int, n*n), pass: map[[3]int]bool{}}
	for range n * n / 6 {
		a := area{w: 2 + r.Intn(4), h: 2 + r.Intn(4)}
		if a.w > n-2 || a.h > n-2 {
			continue
		}
		a.x, a.z = 1+r.Intn(n-a.w-1), 1+r.Intn(n-a.h-1)
		if c.free(a) {
			c.rooms = append(c.rooms, a)
			for z := a.z; z < a.z+a.h; z++ {
				for x := a.x; x < a.x+a.w; x++ {
					c.room[z*n+x] = len(c.rooms)
				}
			}
		}
	}
	if len(c.rooms) == 0 { // too small for rooms: one hall
		c.rooms = []area{{0, 0, n, n}}
		for i := range c.room {
			c.room[i] = 1
		}
	}
	for i := 1; i < len(c.rooms); i++ {
		a, b := c.rooms[i-1], c.rooms[i]
		c.dig(a.x+a.w/2, a.z+a.h/2, b.x+b.w/2, b.z+b.h/2, r.Chance(0.5))
	}
	return c
}

// free reports whether an area and a cell around it are rock.
func (c *cave) free(a area) bool {
	for z := a.z - 1; z <= a.z+a.h; z++ {
		for x := a.x - 1; x <= a.x+a.w; x++ {
			if c.at(x, z) != 0 {
				return false
			}
		}
	}
	return true
}

// at returns what a cell is; outside is rock.
func (c *cave) at(x, z int) int {
	if x < 0 || z < 0 || x >= c.n || z >= c.n {
		return 0
	}
	return c.room[z*c.n+x]
}

// dig leads a corridor along X and then Z, or the other way round, and opens
// every edge that it crosses.
func (c *cave) dig(x, z, x1, z1 int, zFirst bool) {
	step := func(dx, dz int) {
		c.open(x, z, x+dx, z+dz)
		x, z = x+dx, z+dz
		if c.at(x, z) == 0 {
			c.room[z*c.n+x] = -1
		}
	}
	sign := func(d int) int { return min(1, max(-1, d)) }
	for pass := range 2 {
		if (pass == 0) == zFirst {
			for z != z1 {
				step(0, sign(z1-z))
			}
		} else {
			for x != x1 {
				step(sign(x1-x), 0)
			}
		}
	}
}

// edge names the edge between two neighbours by the cell north or west of it.
func edge(x0, z0, x1, z1 int) [3]int {
	switch {
	case x1 > x0:
		return [3]int{x0, z0, sideE}
	case x1 < x0:
		return [3]int{x1, z1, sideE}
	case z1 > z0:
		return [3]int{x0, z0, sideS}
	}
	return [3]int{x1, z1, sideS}
}

func (c *cave) open(x0, z0, x1, z1 int) { c.pass[edge(x0, z0, x1, z1)] = true }

// Kinds of edges between two cells.
const (
	edgeNone = iota
	edgeWall
	edgeDoor
)

// between tells what stands on the edge from a cell to its neighbour.
func (c *cave) between(x0, z0, x1, z1 int) int {
	a, b := c.at(x0, z0), c.at(x1, z1)
	switch {
	case a == 0 && b == 0, a > 0 && a == b:
		return edgeNone
	case a == 0 || b == 0, !c.pass[edge(x0, z0, x1, z1)]:
		return edgeWall
	case a < 0 && b < 0:
		return edgeNone
	}
	return edgeDoor
}

// buildDungeon places a dungeon of cells x cells and returns its root nodes.
func buildDungeon(b *builder, scale float64) ([]int, error) {
	k := b.k
	if w := k.find(roleWall, "plain"); len(w) > 0 && !k.fixed {
		s := w[0].box.Size()
		k.pitch = max(s[0], s[2]) // walls set the grid, floors tile it
	}
	d := &dungeon{
		builder: b, c: planCave(stable.NewRNG(b.seed, 3), b.cells),
		floors: k.by[roleFloor], walls: k.find(roleWall, "plain"), doorways: k.find(roleWall, "doorway"),
		doors: k.by[roleDoor], loot: k.small(roleLoot, roleProp, rolePillar),
	}
	if len(d.floors) == 0 {
		plain, _ := k.ground()
		if d.floors = plain; len(plain) == 0 {
			return nil, fmt.Errorf("assemble: a dungeon needs floor parts and the kit has none; name them floor_x or tile_x, for example")
		}
		k.warn("the kit has no floor parts; ground tiles take their place")
	}
	if len(d.walls) == 0 {
		k.warn("the kit has no wall parts: rooms stay open")
	}
	if len(d.doorways) == 0 && len(d.doors) == 0 {
		k.warn("the kit has no doorways: entrances stay open")
	}
	groups := make([][]int, len(d.c.rooms)+1)
	for z := range b.cells + 1 {
		for x := range b.cells + 1 {
			own := max(0, d.c.at(x, z))
			d.cell(&groups[own], x, z)
		}
	}
	if b.err != nil {
		return nil, b.err
	}
	var list []int
	for i, g := range groups {
		name := fmt.Sprintf("Room_%d", i)
		if i == 0 {
			name = "Corridors"
		}
		if len(g) > 0 {
			list = append(list, b.m.group(name, g))
		}
	}
	return b.finish("Dungeon", list, scale), nil
}

// dungeon places a kit on a plan.
type dungeon struct {
	*builder
	c                                    *cave
	floors, walls, doorways, doors, loot []*part
}

// cell places the floor of a cell, its northern and western walls and loot.
func (d *dungeon) cell(list *[]int, x, z int) {
	r := stable.NewRNG(d.seed, 4, x, z)
	at := d.center(x, z)
	half := d.k.pitch / 2
	if d.c.at(x, z) != 0 {
		d.floor(list, r, x, z, at)
	}
	d.edge(list, r, fmt.Sprintf("%d_%d_N", x, z), d.c.between(x, z, x, z-1), at.Add(geom.Vec3{0, 0, -half}), 0)
	d.edge(list, r, fmt.Sprintf("%d_%d_W", x, z), d.c.between(x, z, x-1, z), at.Add(geom.Vec3{-half, 0, 0}), 0.25)
}

// floor tiles a cell and may put something on it.
func (d *dungeon) floor(list *[]int, r *stable.RNG, x, z int, at geom.Vec3) {
	p := d.floors[0]
	if len(d.floors) > 1 && r.Chance(0.2) {
		p = stable.Pick(r, d.floors...)
	}
	s := p.box.Size()
	n := max(1, int(d.k.pitch/max(s[0], s[2], 1e-6)+0.3))
	for i := range n * n {
		step := d.k.pitch / float64(n)
		off := geom.Vec3{float64((float64(i%n) - float64(n-1)/2) * step), 0, float64((float64(i/n) - float64(n-1)/2) * step)}
		d.add(list, fmt.Sprintf("Floor_%d_%d_%d", x, z, i), p, at.Add(off), 0)
	}
	if len(d.loot) > 0 && d.c.at(x, z) > 0 && r.Chance(0.3) {
		l := stable.Pick(r, d.loot...)
		y := p.box.Max[1] - l.box.Min[1]
		q := d.k.pitch * 0.2
		pos := at.Add(geom.Vec3{r.Span(-q, q), y, r.Span(-q, q)})
		d.add(list, fmt.Sprintf("%s_%d_%d", title(l.role), x, z), l, pos, float64(r.Intn(4))/4)
	}
}

// edge places a wall or a doorway along X, turned by yaw.
func (d *dungeon) edge(list *[]int, r *stable.RNG, name string, kind int, at geom.Vec3, yaw float64) {
	var from []*part
	switch kind {
	case edgeWall:
		from, name = d.walls, "Wall_"+name
	case edgeDoor:
		from, name = d.doorways, "Doorway_"+name
		if len(from) == 0 {
			from = d.doors
		}
	}
	if len(from) == 0 {
		return
	}
	p := from[0]
	if len(from) > 1 && r.Chance(0.25) {
		p = stable.Pick(r, from...)
	}
	if s := p.box.Size(); s[2] > s[0] {
		yaw += 0.25
	}
	d.add(list, name, p, at, yaw)
}
