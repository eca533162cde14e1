package render

import (
	"fmt"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/runtime"
)

// texels counts what maps hold of the meshes of a representation: triangles by mesh and
// step of the thresholds, each build for itself.
type texels map[*mesh]*[maxCascades][castSteps]int

// take counts what a frame draws; a map that is begun anew holds nothing.
func (x texels) take(p *shadowPlan) {
	for i := range p.lists {
		if p.clear[i] {
			for _, n := range x {
				n[i] = [castSteps]int{}
			}
		}
		p.clear[i] = false
		for k := range p.lists[i].items {
			it := &p.lists[i].items[k]
			if n := x[it.mesh]; n != nil {
				const step = maskSteps / castSteps
				for t := int(it.mask&0xffff) / step; t < int(it.mask>>16)/step; t++ {
					n[i][t] += int(it.indexCount / 3)
				}
			}
		}
		p.lists[i].reset()
	}
}

// whole reports whether map i has all of a representation in one step of the thresholds.
func (x texels) whole(n *rep, i, t int) bool {
	for k := range n.meshes {
		if m := &n.meshes[k]; x[m][i][t] < int(m.indexCount/3) {
			return false
		}
	}
	return true
}

// TestShadowsOfFadesHaveNoGaps: a map that is drawn over several frames while one
// representation fades into another one has for each threshold all of one of them, when it
// goes into service, whichever is drawn first and whenever the fade begins.
func TestShadowsOfFadesHaveNoGaps(t *testing.T) {
	for _, frames := range []int{6, 9, 12, 18} {
		if race.Enabled && frames != 9 {
			continue // make test fades all without the detector
		}
		for order := range 8 {
			for _, begin := range []int{0, 3, 7, 14, 28, 118} {
				name := fmt.Sprintf("%d frames from frame %d, order %03b", frames, begin, order)
				fadeInMaps(t, name, frames, begin, order&1 != 0, order&2 != 0, order&4 != 0)
			}
		}
	}
}

func fadeInMaps(t *testing.T, name string, frames, begin int, swapped, turned, large bool) {
	s := newScenery()
	pair := [2]*rep{}
	part := mesh{indexCount: 3 * 500}
	if large { // drawn in parts
		part.indexCount = 3 * 60_000
	}
	for i, at := range [...]float64{10, 30} {
		pair[i] = s.put(int32(i), 1, ahead(at), part, part)
	}
	out, in := 0, 1
	if swapped {
		out, in = 1, 0
	}
	s.drawn = nil
	for i := range int32(40) {
		s.put(2+i, 1, geom.Vec3{0, 0, -11 - float64(i%18)}, mesh{indexCount: 3 * 20_000})
	}
	others := s.drawn
	x := texels{}
	for _, n := range pair {
		for k := range n.meshes {
			x[&n.meshes[k]] = &[maxCascades][castSteps]int{}
		}
	}
	bounds := geom.Box{Min: geom.Vec3{-1, -1, -300}, Max: geom.Vec3{1, 1, 1}}
	p := shadowPlan{schedule: schedule{count: maxCascades}, size: 512, distance: 24}
	served := [maxCascades]int{}
	for frame := range 400 {
		f := min(max(0, float64(frame-begin)/float64(frames)), 1)
		s.drawn = s.drawn[:0:0]
		if frame > 0 { // so that all maps are drawn anew, a part per frame
			s.drawn = append(s.drawn, others...)
		} else {
			s.drawn = append(s.drawn, others[1:]...)
		}
		a, b := runtime.Drawn{Key: pair[out].key, Fade: 1 - f}, runtime.Drawn{Key: pair[in].key, Fade: f, From: 1 - f}
		if turned {
			a.From, b.From = f, 0
		}
		if f < 1 {
			s.drawn = append(s.drawn, a)
		}
		if f > 0 {
			s.drawn = append(s.drawn, b)
		}
		s.collect(nil)
		before := p.builds
		p.plan(&s.collected, &bounds)
		x.take(&p)
		for i := range p.active {
			if p.builds[i].on || p.cascades[i].valid && before[i] == p.builds[i] {
				continue
			}
			served[i]++
			for step := range castSteps {
				if !x.whole(pair[0], i, step) && !x.whole(pair[1], i, step) {
					t.Errorf("%s: map %d goes into service in frame %d without step %d of the thresholds: %v, %v",
						name, i, frame, step, *x[&pair[out].meshes[0]], *x[&pair[in].meshes[0]])
					return
				}
			}
			if over := p.builds[i].frames - buildFrames[i]; over > castSteps {
				t.Errorf("%s: map %d took %d frames", name, i, p.builds[i].frames)
			}
		}
		if f == 1 && p.late == [maxCascades]int{} {
			break
		}
	}
	for i, n := range served[:p.active] {
		if n < 2 || p.builds[i].on {
			t.Errorf("%s: map %d went into service %d times", name, i, n)
		}
	}
}
