package imagediff

import (
	"errors"
	"fmt"
	"image"
	"math"
)

// PixelsPerDegree is the usual viewing condition: a 4K display, 0.7 m wide,
// seen from 0.7 m.
const PixelsPerDegree = 67.0206

// ErrSize says that two pictures cannot be compared because their sizes differ
// or one is empty.
var ErrSize = errors.New("the pictures differ in size or are empty")

// The constants of the paper.
const (
	colorExponent   = 0.7   // qc: compresses large colour differences
	featureExponent = 0.5   // qf: stresses small feature differences
	colorKnee       = 0.4   // pc: part of the greatest distance ...
	colorAtKnee     = 0.95  // pt: ... that is mapped to this
	featureWidth    = 0.082 // w: degrees that the edge detector spans
)

// gaussian is one term of a contrast sensitivity function,
// a * sqrt(pi/b) * exp(-pi^2 x^2 / b) with x in degrees.
type gaussian struct{ a, b float64 }

// The contrast sensitivity of the three opponent channels: lightness,
// red-green and blue-yellow.
var sensitivity = [3][]gaussian{
	{{1, 0.0047}},
	{{1, 0.0053}},
	{{34.1, 0.04}, {13.5, 0.025}},
}

// FLIP compares a picture with its reference as seen at pixelsPerDegree.
func FLIP(reference, test image.Image, pixelsPerDegree float64) (*Map, error) {
	a, b, err := readPair(reference, test)
	if err != nil {
		return nil, err
	}
	if !(pixelsPerDegree >= 1 && pixelsPerDegree <= 1e3) {
		return nil, fmt.Errorf("imagediff: %v pixels per degree; it must be between 1 and 1000", pixelsPerDegree)
	}
	toOpponent(a)
	toOpponent(b)
	features := featureDifference(a.c[0], b.c[0], a.w, a.h, pixelsPerDegree)
	filterColors(a, pixelsPerDegree)
	filterColors(b, pixelsPerDegree)
	return combine(a, b, features), nil
}

// toOpponent turns sRGB into the linear opponent space YCxCz.
func toOpponent(p *planes) {
	p.each(func(i int) {
		x, y, z := linearToXYZ(linear[p.bytes[0][i]], linear[p.bytes[1][i]], linear[p.bytes[2][i]])
		x, y, z = x/whiteX, y/whiteY, z/whiteZ
		p.c[0][i], p.c[1][i], p.c[2][i] = float32(116*y)-16, 500*(x-y), 200*(y-z)
	})
}

// filterColors blurs each channel as the eye does and leaves the Hunt-adjusted
// L*a*b* colour in the planes.
func filterColors(p *planes, ppd float64) {
	widest := 0.0
	for _, terms := range sensitivity {
		for _, g := range terms {
			widest = max(widest, g.b)
		}
	}
	radius := int(math.Ceil(3 * math.Sqrt(widest/(2*math.Pi*math.Pi)) * ppd))
	for k := range p.c {
		p.c[k] = blur(p.c[k], p.w, p.h, sensitivity[k], radius, ppd)
	}
	p.each(func(i int) {
		y := (p.c[0][i] + 16) / 116
		x := y + p.c[1][i]/500
		z := y - p.c[2][i]/200
		r, g, b := xyzToLinear(x*whiteX, y*whiteY, z*whiteZ)
		x, y, z = linearToXYZ(unit(r), unit(g), unit(b))
		p.c[0][i], p.c[1][i], p.c[2][i] = huntLab(x, y, z)
	})
}

// blur convolves a plane with a sum of Gaussians that is normalised to 1. Each
// of them is separable, their sum is not.
func blur(src []float32, w, h int, terms []gaussian, radius int, ppd float64) []float32 {
	weights := make([]float64, len(terms))
	kernels := make([][]float32, len(terms))
	total := 0.0
	for k, g := range terms {
		line := make([]float64, 2*radius+1)
		sum := 0.0
		for i := range line {
			x := float64(i-radius) / ppd
			line[i] = math.Exp(-math.Pi * math.Pi * x * x / g.b)
			sum += line[i]
		}
		kernels[k] = make([]float32, len(line))
		for i := range line {
			kernels[k][i] = float32(line[i] / sum)
		}
		weights[k] = float64(g.a * math.Sqrt(math.Pi/g.b) * sum * sum)
		total += weights[k]
	}
	out := make([]float32, len(src))
	for k := range terms {
		part := convolve(src, w, h, kernels[k], kernels[k])
		share := float32(weights[k] / total)
		eachRow(w, h, func(i int) { out[i] += float32(share * part[i]) })
	}
	return out
}

// featureDifference compares edges and points of two lightness planes.
func featureDifference(a, b []float32, w, h int, ppd float64) []float32 {
	sigma := float64(0.5 * featureWidth * ppd)
	radius := int(math.Ceil(3 * sigma))
	smooth, first, second := make([]float64, 2*radius+1), make([]float64, 2*radius+1), make([]float64, 2*radius+1)
	for i := range smooth {
		x := float64(i - radius)
		g := math.Exp(-x * x / (2 * sigma * sigma))
		smooth[i], first[i], second[i] = g, -x*g, (x*x/(sigma*sigma)-1)*g
	}
	s, e, p := normalized(smooth), normalized(first), normalized(second)
	strength := func(plane []float32, along []float32) []float32 {
		gray := make([]float32, len(plane))
		eachRow(w, h, func(i int) { gray[i] = (plane[i] + 16) / 116 })
		dx, dy := convolve(gray, w, h, along, s), convolve(gray, w, h, s, along)
		eachRow(w, h, func(i int) { gray[i] = sqrt32(float32(dx[i]*dx[i]) + float32(dy[i]*dy[i])) })
		return gray
	}
	edges, points := strength(a, e), strength(a, p)
	edgesB, pointsB := strength(b, e), strength(b, p)
	eachRow(w, h, func(i int) {
		d := max(abs32(edges[i]-edgesB[i]), abs32(points[i]-pointsB[i]))
		edges[i] = float32(math.Pow(float64(d)/math.Sqrt2, featureExponent))
	})
	return edges
}

// normalized scales the positive weights of a kernel to a sum of 1 and the
// negative ones to -1.
func normalized(k []float64) []float32 {
	plus, minus := 0.0, 0.0
	for _, v := range k {
		if v > 0 {
			plus += v
		} else {
			minus -= v
		}
	}
	out := make([]float32, len(k))
	for i, v := range k {
		switch {
		case v > 0:
			out[i] = float32(v / plus)
		case v < 0:
			out[i] = float32(v / minus)
		}
	}
	return out
}

// combine ends with the map: the colour difference, raised where features
// differ.
func combine(a, b *planes, features []float32) *Map {
	gx, gy, gz := linearToXYZ(0, 1, 0)
	g0, g1, g2 := huntLab(gx, gy, gz)
	bx, by, bz := linearToXYZ(0, 0, 1)
	b0, b1, b2 := huntLab(bx, by, bz)
	greatest := math.Pow(float64(hyab(g0-b0, g1-b1, g2-b2)), colorExponent)
	knee := colorKnee * greatest
	m := &Map{Width: a.w, Height: a.h, Values: make([]float32, a.w*a.h)}
	a.each(func(i int) {
		d := math.Pow(float64(hyab(a.c[0][i]-b.c[0][i], a.c[1][i]-b.c[1][i], a.c[2][i]-b.c[2][i])), colorExponent)
		if d < knee {
			d *= colorAtKnee / knee
		} else {
			d = colorAtKnee + float64((d-knee)/(greatest-knee)*(1-colorAtKnee))
		}
		m.Values[i] = float32(math.Pow(d, 1-float64(features[i])))
	})
	return m
}

// hyab is the distance that suits large colour differences: lightness apart
// from colour.
func hyab(l, a, b float32) float32 { return abs32(l) + sqrt32(float32(a*a)+float32(b*b)) }
