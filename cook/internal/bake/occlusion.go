package bake

import (
	"math"

	"github.com/untoldkit/untold/cook/measure"
	"github.com/untoldkit/untold/internal/geom"
)

// occlusion returns the part of the light of a bright sky that arrives at each
// texel: of rays spread by the cosine over the hemisphere, those that meet nothing
// of the coarse mesh. What neighbours would take away is not known here.
func (b *baker) occlusion(half []halved, n int) []float64 {
	out := make([]float64, len(half))
	for i := range out {
		out[i] = 1
	}
	if b.o.OcclusionRays <= 0 {
		return out
	}
	indices := b.coarse.Indices
	if len(b.coarse.Cards) > 0 {
		indices = nil
		for t, card := range b.card {
			if !card {
				indices = append(indices, b.coarse.Indices[3*t:3*t+3]...)
			}
		}
	}
	index := measure.NewIndex(&measure.Surface{Positions: b.coarse.Positions, Indices: indices})
	rays := hemisphere(b.o.OcclusionRays)
	near := float64(1e-4*b.o.OcclusionReach) + 1e-6
	// Light changes slowly: four texels share one place.
	facing := measure.NewFacing(index, nil)
	b.rows((n+1)/2, func(row int) {
		walk := facing.Walk()
		for x := 0; x < n; x += 2 {
			var block [4]int
			count, from := 0, -1
			for y := 2 * row; y < min(n, 2*row+2); y++ {
				for i := y*n + x; i < y*n+min(n, x+2); i++ {
					block[count] = i
					if count++; from < 0 && half[i].own {
						from = i
					}
				}
			}
			if t := half[max(from, 0)].cell.triangle; from < 0 || t < 0 || b.card[t] {
				continue
			}
			p, face, _ := b.at(&half[from].cell)
			x, open := across(face), 0
			z := face.Cross(x)
			for _, r := range rays {
				d := x.Scale(r[0]).Add(face.Scale(r[1])).Add(z.Scale(r[2]))
				if !walk.Blocked(p, d, near, b.o.OcclusionReach) {
					open++
				}
			}
			for _, i := range block[:count] {
				if half[i].own {
					out[i] = float64(open) / float64(len(rays))
				}
			}
		}
	})
	return out
}

// hemisphere returns unit vectors round (0, 1, 0) whose density is that of the
// cosine, on a spiral with the golden angle.
func hemisphere(n int) []geom.Vec3 {
	const golden = 2.399963229728653
	out := make([]geom.Vec3, n)
	for i := range out {
		r2 := (float64(i) + 0.5) / float64(n)
		r := math.Sqrt(r2)
		turn := float64(float64(i) * golden)
		sin, cos := geom.Sincos(turn - float64(2*math.Pi*math.Floor(turn/(2*math.Pi))))
		out[i] = geom.Vec3{r * cos, math.Sqrt(1 - r2), r * sin}
	}
	return out
}
