package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/untoldkit/untold/internal/geom"
)

// kit is a folder of parts, sorted by role.
type kit struct {
	parts []*part
	by    [roleCount][]*part
	pitch float64 // side of a cell in metres
	fixed bool    // the pitch was given
	front int     // side that buildings turn to the street
	warn  func(format string, args ...any)
	said  map[string]bool
}

// newKit classifies parts. pitch 0 measures the grid.
func newKit(parts []*part, pitch float64, warn func(string, ...any)) (*kit, error) {
	k := &kit{parts: parts, pitch: pitch, fixed: pitch > 0, said: map[string]bool{}}
	k.warn = func(format string, args ...any) {
		if s := fmt.Sprintf(format, args...); !k.said[s] {
			k.said[s] = true
			warn("%s", s)
		}
	}
	for _, p := range parts {
		p.role, p.why = guessRole(p.name)
		k.by[p.role] = append(k.by[p.role], p)
		if len(p.doc.Animations)+len(p.doc.Skins) > 0 {
			k.warn("%s: animations and skins are left out", p.name)
		}
	}
	if k.pitch == 0 {
		k.pitch = k.measurePitch()
	}
	if !(k.pitch > 0) || math.IsInf(k.pitch, 0) {
		return nil, fmt.Errorf("assemble: no grid pitch: the parts have no footprint; give -pitch")
	}
	k.roads()
	for _, p := range k.by[roleWall] {
		p.kind = wallKind(p.name)
	}
	return k, nil
}

// measurePitch takes the median footprint of the parts that fill a cell.
func (k *kit) measurePitch() float64 {
	for _, roles := range [][]role{{roleRoad}, {roleFloor}, {roleGround}, {roleBuilding}, {roleWall}} {
		var sizes []float64
		for _, r := range roles {
			for _, p := range k.by[r] {
				s := p.box.Size()
				sizes = append(sizes, max(s[0], s[2]))
			}
		}
		if len(sizes) > 0 {
			slices.Sort(sizes)
			// Modelling noise: 2.003 is 2.
			return math.Round(sizes[len(sizes)/2]*100) / 100
		}
	}
	return 0
}

// fills reports whether a part covers a whole cell.
func (k *kit) fills(p *part) bool {
	s := p.box.Size()
	return s[0] >= 0.95*k.pitch && s[2] >= 0.95*k.pitch
}

// kerbStep is the least height of a sidewalk over the carriageway, in cells.
const kerbStep = 0.005

// roads finds the open sides of the road parts: on an open side the surface
// at the middle of the edge lies at the level of the carriageway, on a closed
// side at that of the sidewalk.
func (k *kit) roads() {
	level := make(map[*part][4]float64)
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, p := range k.by[roleRoad] {
		p.kind = guessRoadKind(p.name)
		p.open = defaultOpen[p.kind]
		c := p.anchor()
		var l [4]float64
		for d := range l {
			r := 0.49 * k.pitch
			y, ok := p.top(c[0]+float64(r*float64(sideStep[d][0])), c[2]+float64(r*float64(sideStep[d][1])))
			if !ok {
				y = math.NaN()
			}
			l[d] = y
			lo, hi = min(lo, orElse(y, lo)), max(hi, orElse(y, hi))
		}
		level[p] = l
	}
	if len(k.by[roleRoad]) == 0 {
		return
	}
	if hi-lo < kerbStep*k.pitch {
		k.warn("the road parts are flat; their directions are guessed from their names")
		return
	}
	for _, p := range k.by[roleRoad] {
		var m uint8
		for d, y := range level[p] {
			if y < lo+float64(kerbStep*k.pitch) {
				m |= 1 << d
			}
		}
		if m == 0 {
			k.warn("%s: no open side found; taken as %s", p.name, p.kind)
			continue
		}
		if got := kindOfMask(m); got != p.kind {
			k.warn("%s: the name says %s, the shape says %s; the shape counts", p.name, p.kind, got)
			p.kind = got
		}
		p.open = m
	}
}

func orElse(y, other float64) float64 {
	if math.IsNaN(y) {
		return other
	}
	return y
}

// anchor is the point of a part that goes to its place: the pivot, or the
// middle of its bounds. Tiles with the pivot in a corner need the middle; a
// lamp with an arm keeps its foot unless that lies outside the part.
func (p *part) anchor() geom.Vec3 {
	c, s := p.box.Center(), p.box.Size()
	limit := 0.55
	switch p.role {
	case roleRoad, roleBuilding, roleGround, roleFloor, roleWall, roleDoor:
		limit = 0.15
	}
	a := geom.Vec3{}
	for _, i := range []int{0, 2} {
		if math.Abs(c[i]) > limit*s[i] {
			a[i] = c[i]
		}
	}
	return a
}

// wallKind reads what a wall part is from its name.
func wallKind(name string) string {
	list := tokens(name)
	switch {
	case slices.Contains(list, "corner"):
		return "corner"
	case slices.ContainsFunc(list, func(t string) bool { return strings.HasPrefix(t, "door") || t == "gate" || t == "arch" }):
		return "doorway"
	case slices.ContainsFunc(list, func(t string) bool { return t == "half" || t == "end" || t == "endcap" }):
		return "odd"
	}
	return "plain"
}

// find returns the parts of a role and kind.
func (k *kit) find(r role, kind string) []*part {
	var out []*part
	for _, p := range k.by[r] {
		if p.kind == kind {
			out = append(out, p)
		}
	}
	return out
}

// ground returns tiles that fill a cell, the plain ones first.
func (k *kit) ground() (plain, rich []*part) {
	for _, r := range []role{roleGround, roleFloor, roleTree, roleProp} {
		for _, p := range k.by[r] {
			switch {
			case !k.fills(p):
			case p.box.Size()[1] < 0.12*k.pitch:
				plain = append(plain, p)
			case r != roleFloor:
				rich = append(rich, p)
			}
		}
	}
	return plain, rich
}

// small returns the parts of the roles that leave room in a cell.
func (k *kit) small(roles ...role) []*part {
	var out []*part
	for _, r := range roles {
		for _, p := range k.by[r] {
			if s := p.box.Size(); max(s[0], s[2]) < 0.6*k.pitch {
				out = append(out, p)
			}
		}
	}
	return out
}

// report writes one line per part: how it was classified and why.
func (k *kit) report(w io.Writer) {
	fmt.Fprintf(w, "assemble: %d parts, grid pitch %g m\n", len(k.parts), k.pitch)
	for _, p := range k.parts {
		what := p.role.String()
		if p.kind != "" {
			what += " " + p.kind
		}
		if p.role == roleRoad {
			what += " open "
			for d, n := range []string{"+z", "+x", "-z", "-x"} {
				if p.open>>d&1 == 1 {
					what += n
				}
			}
		}
		why := "no known word in its name"
		if p.why != "" {
			why = fmt.Sprintf("by %q", p.why)
		}
		s := p.box.Size()
		fmt.Fprintf(w, "assemble: part %-28s %-28s %s, %.2f x %.2f x %.2f m\n", p.name, what, why, s[0], s[1], s[2])
	}
}
