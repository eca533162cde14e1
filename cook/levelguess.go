package cook

import (
	"cmp"
	"math"
	"slices"
)

// What estimates of levels are made of.
const (
	// guessTiles is how many tiles have their levels made, by which those of the others
	// are estimated.
	guessTiles = 3
	// guessTriangles is how many triangles these have at most together: some seconds of
	// one core.
	guessTriangles = 200_000
	// guessError is what is seen of a level's error where no tile tells: in sides of a
	// triangle of the full tile, for a level that keeps all triangles. It is in proportion
	// to how many fewer a level has; towns have 0.1, forests 0.4, models 0.05.
	guessError = 0.14
)

// estimates reports whether most levels are not made, and what they would be is
// estimated. Where the options say where levels begin, a dry run makes none anyway.
func (o *Options) estimates() bool { return o.DryRun && o.EstimateLevels && o.FitDistances }

// chooseMade says of which payloads levels are made although the others' are estimated:
// the ones in the middle and at the quarters of all, by their triangles.
func (c *scenePlan) chooseMade(payloads []payload) {
	var with []*payload
	for i := range payloads {
		if p := &payloads[i]; len(p.levels) > 0 && float64(p.predicted) > levelSavesLeast {
			with = append(with, p)
		}
	}
	slices.SortStableFunc(with, func(a, b *payload) int { return cmp.Compare(a.predicted, b.predicted) })
	n := len(with)
	left := int64(guessTriangles)
	for _, at := range [guessTiles]int{n / 2, n / 4, 3 * n / 4} {
		if at < n && !with[at].levelsMade && with[at].predicted <= left {
			with[at].levelsMade = true
			left -= with[at].predicted
		}
	}
}

// area is that of all triangles, square metres.
func (s *levelSource) area() (sum float64) {
	m := s.mesh()
	for t := range m.Triangles() {
		sum += float64(normalOf(m, t).Len() / 2)
	}
	return sum
}

// guess says how levels of a kind compare with the full tile.
type guess struct {
	seen  float64 // what is seen of the error, in sides of a full tile's triangle
	bytes float64 // of video memory for a triangle, in those of the full tile
}

// estimateLevels fills in the levels of the payloads for which none were made, and
// returns of how many it says more than is certain.
func (c *scenePlan) estimateLevels(payloads []payload) (estimated int) {
	guesses := map[string]guess{}
	for i := range payloads {
		p := &payloads[i]
		if p.levelsMade || p.empty || len(p.levels) == 0 {
			continue
		}
		c.estimate(p, func(l *level) guess {
			g, ok := guesses[l.name]
			if !ok {
				g = guessBy(payloads, l)
				guesses[l.name] = g
			}
			return g
		})
		if p.guessed {
			estimated++
		}
	}
	return estimated
}

// guessBy takes the middle of what the levels of a name have that were made.
func guessBy(payloads []payload, l *level) guess {
	var seen, bytes []float64
	for i := range payloads {
		p := &payloads[i]
		for k := range p.levels {
			if o := &p.levels[k]; p.levelsMade && o.made && o.name == l.name && p.area > 0 && o.triangles > 0 && p.gpuBytes > 0 {
				seen = append(seen, o.seen/p.side())
				bytes = append(bytes, float64(o.gpuBytes)/float64(o.triangles)*float64(p.full)/float64(p.gpuBytes))
			}
		}
	}
	if len(seen) == 0 {
		return guess{guessError / l.ratio, 1}
	}
	slices.Sort(seen)
	slices.Sort(bytes)
	return guess{seen[len(seen)/2], bytes[len(bytes)/2]}
}

// side is about that of a triangle of the full tile, metres.
func (p *payload) side() float64 { return math.Sqrt(p.area / float64(max(p.full, 1))) }

// estimate fills in the levels of a payload.
func (c *scenePlan) estimate(p *payload, by func(*level) guess) {
	least, finer, seen := c.opts.LODMinTriangles, p.full, 0.0
	name := "the full tile"
	for i := range p.levels {
		l := &p.levels[i]
		target := atLeast(l.ratio, p.full)
		switch most := c.opts.mostTriangles(finer); {
		case target < least:
			p.drop(l, "it would keep %d of %d triangles; a level needs %d", target, p.full, least)
			continue
		case float64(target) > most:
			p.guessed = p.guessed || most >= float64(least) // it may have fewer
			p.drop(l, "%sits %d triangles would save too few of the %d of %s: a level has at most %.0f", p.doubt(), target, finer, name, max(0, math.Floor(most)))
			continue
		}
		g := by(l)
		seen = max(seen, float64(g.seen*p.side()))
		p.guessed = true
		l.made, l.triangles, l.seen = true, target, seen
		l.gpuBytes = int64(float64(p.gpuBytes) / float64(p.full) * float64(target) * g.bytes)
		finer, name = target, l.name
	}
}

// doubt is what reasons begin with that follow from estimates.
func (p *payload) doubt() string {
	if p.guessed {
		return "by estimate: "
	}
	return ""
}
