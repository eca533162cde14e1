package render

import (
	"fmt"

	"github.com/untoldkit/untold/internal/cube"
	"github.com/untoldkit/untold/preview/internal/gpu"
)

// grade is the colour table for the finished picture, as texels that shaders fetch.
type grade struct {
	table gpu.Table // nil: none yet
	size  int       // bytes that it has room for
	// What light.glsl reads: the size of the table, 0 for none, and whether it is a
	// lattice; where its domain begins, and one over its length.
	shape, from, scale [4]float32
}

// leastGrade is how many bytes the table has room for when there is none, so that
// what shaders name is there.
const leastGrade = 16

func (g *grade) init(d gpu.Device) {
	g.table = d.NewTable(unitGrade)
	g.grow(leastGrade)
}

func (g *grade) grow(size int) {
	if size > g.size {
		g.table.Grow(size)
		g.size = size
	}
}

func (g *grade) close() {
	if g.table != nil {
		g.table.Close()
	}
}

// SetGrade changes the table by which pictures of Frame.Grade are graded; nil: by
// none. The first table has the programs of the lit view made anew, which takes as
// long as at the start. The error says that the table does not fit, or that the driver
// does not compile these.
func (r *Renderer) SetGrade(t *cube.Table) error {
	g := &r.grade
	if t == nil {
		g.shape = [4]float32{}
		return nil
	}
	want := t.Size
	if t.Lattice {
		want *= t.Size * t.Size
	}
	if t.Size < 2 || t.Size > cube.MaxCurve || t.Lattice && t.Size > cube.MaxEdge || len(t.Entries) != want {
		return fmt.Errorf("render: a colour table of size %d with %d entries", t.Size, len(t.Entries))
	}
	if err := r.programs.grade(); err != nil {
		return err
	}
	texels := make([]float32, 0, 4*want)
	for _, c := range t.Entries {
		texels = append(texels, c[0], c[1], c[2], 1)
	}
	r.device.Finish() // frames in flight may read it
	data := bytesOf(texels)
	g.grow(len(data))
	for at := 0; at < len(data); at += pieceBytes {
		g.table.Write(at, data[at:min(at+pieceBytes, len(data))])
	}
	g.shape = [4]float32{float32(t.Size)}
	if t.Lattice {
		g.shape[1] = 1
	}
	for i := range 3 {
		g.from[i], g.scale[i] = t.Min[i], 1/(t.Max[i]-t.Min[i])
	}
	return nil
}
