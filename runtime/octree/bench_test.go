package octree

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/geom"
)

type index interface {
	sphere(center geom.Vec3, r float64, out []int32) []int32
}

type packed struct{ *Tree }

func (p packed) sphere(c geom.Vec3, r float64, out []int32) []int32 { return p.Sphere(c, r, out) }

type scan []geom.Box

func (s scan) sphere(c geom.Vec3, r float64, out []int32) []int32 { return linear(s, c, r, out) }

func TestBaselinesAgree(t *testing.T) {
	boxes := tiles(40, 25)
	tree, grid := newPointerTree(boxes), newHashGrid(boxes)
	for i := range 50 {
		c, r := flight(i, 1000), float64(i*i)/4
		want := linear(boxes, c, r, nil)
		if !slices.Equal(tree.sphere(c, r, nil), want) || !slices.Equal(grid.sphere(c, r, nil), want) {
			t.Fatalf("query %d differs", i)
		}
	}
}

// flight is a deterministic run of places over a square of the given edge.
func flight(i int, edge float64) geom.Vec3 {
	x, z := float64(i*7919%1000)/1000, float64(i*104729%1000)/1000
	return geom.Vec3{x * edge, 30, z * edge}
}

// BenchmarkSphere queries scenes of tiles of 25 m. Each row runs the packed
// tree and a baseline in turn; x-base is the baseline's time over ours.
func BenchmarkSphere(b *testing.B) {
	for _, n := range []int{100, 1000} {
		boxes := tiles(n, 25)
		ours := packed{New(boxes)}
		for _, base := range []struct {
			name string
			index
		}{{"linear", scan(boxes)}, {"octree", newPointerTree(boxes)}, {"grid", newHashGrid(boxes)}} {
			for _, r := range []float64{50, 500, 2000} {
				b.Run(fmt.Sprintf("%d_tiles/r%.0f/%s", n*n, r, base.name), func(b *testing.B) {
					versus(b, ours, base.index, r, float64(n)*25)
				})
			}
		}
	}
}

func versus(b *testing.B, ours, base index, r, edge float64) {
	var mine, theirs time.Duration
	var found int
	out := make([]int32, 0, 1<<20)
	for i := 0; b.Loop(); i++ {
		c := flight(i, edge)
		start := time.Now()
		out = ours.sphere(c, r, out[:0])
		mine += time.Since(start)
		found += len(out)
		start = time.Now()
		out = base.sphere(c, r, out[:0])
		theirs += time.Since(start)
	}
	b.ReportMetric(float64(mine.Nanoseconds())/float64(b.N), "ns/query")
	b.ReportMetric(float64(found)/float64(b.N), "found/query")
	b.ReportMetric(float64(theirs)/float64(mine), "x-base")
}

// BenchmarkNew indexes 1,000,000 boxes; x-base compares with the pointer
// octree.
func BenchmarkNew(b *testing.B) {
	boxes := tiles(1000, 25)
	var mine, theirs time.Duration
	var bytes int
	for b.Loop() {
		start := time.Now()
		bytes = New(boxes).Bytes()
		mine += time.Since(start)
		start = time.Now()
		newPointerTree(boxes)
		theirs += time.Since(start)
	}
	b.ReportMetric(float64(mine.Milliseconds())/float64(b.N), "ms/build")
	b.ReportMetric(float64(bytes)/float64(len(boxes)), "B/box")
	b.ReportMetric(float64(theirs)/float64(mine), "x-base")
}
