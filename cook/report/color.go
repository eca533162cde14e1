package report

import (
	"image/color"
	"math"
	"strconv"

	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/manifest/tileid"
)

// paint is a colour, not premultiplied; alpha 0 draws nothing.
type paint struct{ r, g, b, a uint8 }

// rgb makes an opaque paint of 0xrrggbb.
func rgb(hex uint32) paint { return paint{uint8(hex >> 16), uint8(hex >> 8), uint8(hex), 255} }

// fade returns the paint with another alpha.
func (p paint) fade(alpha uint8) paint {
	p.a = alpha
	return p
}

// tint mixes the paint with twice as much white.
func (p paint) tint() paint {
	mix := func(v uint8) uint8 { return uint8((int(v) + 2*255) / 3) }
	return paint{mix(p.r), mix(p.g), mix(p.b), 255}
}

// nrgba converts for the PNG back end.
func (p paint) nrgba() color.NRGBA { return color.NRGBA{R: p.r, G: p.g, B: p.b, A: p.a} }

// hex returns #rrggbb.
func (p paint) hex() string {
	const digits = "0123456789abcdef"
	b := []byte{'#'}
	for _, v := range [3]uint8{p.r, p.g, p.b} {
		b = append(b, digits[v>>4], digits[v&15])
	}
	return string(b)
}

// light reports whether dark text reads better on the paint than white text:
// luma weights of ITU-R BT.601 on the coded values, against the luma that has
// the same contrast with both.
func (p paint) light() bool { return 299*int(p.r)+587*int(p.g)+114*int(p.b) > 100_000 }

// The colours of the map. Those of tiers and outlines are of the set of Okabe
// and Ito (2008), which people with any common colour deficiency can tell
// apart.
var (
	inkColor      = rgb(0x1b1f24)
	dimColor      = rgb(0x57606a)
	paperColor    = rgb(0xffffff)
	panelColor    = rgb(0xf3f5f7)
	frameColor    = rgb(0xc9d1d9)
	cellColor     = rgb(0x8c959f)
	emptyColor    = rgb(0xdfe3e8)
	sharedColor   = rgb(0xd55e00)
	interiorColor = rgb(0x7a3e9d)
	pyramidColor  = rgb(0x1f6f5c)
	casingColor   = rgb(0xffffff).fade(190) // under lines, so that they stand out

	tierColors = map[string]paint{
		tileid.TierExteriorShell:      rgb(0x0072b2),
		tileid.TierStructuralInterior: rgb(0xe69f00),
		tileid.TierRoomContents:       rgb(0x009e73),
		tileid.TierFineProps:          rgb(0xcc79a7),
	}
	otherTierColor = rgb(0x8a8f98)
)

// rampStops go from small to large in nine equal steps of OKLab lightness
// (Ottosson 2020, from 0.955 to 0.29) while the hue turns from yellow over
// green to violet: the order also shows in grey and to colour-blind eyes.
var rampStops = [...]uint32{0xfaf3b8, 0xc5e194, 0x7dd189, 0x07bb94, 0x059a99, 0x007c93, 0x005d8b, 0x243f72, 0x291e5e}

// ramp returns the colour of class i of n, with integers only.
func ramp(i, n int) paint {
	if n < 2 {
		return rgb(rampStops[len(rampStops)/2])
	}
	at, span := i*(len(rampStops)-1), n-1
	k, f := at/span, at%span
	if f == 0 {
		return rgb(rampStops[k])
	}
	a, b := rgb(rampStops[k]), rgb(rampStops[k+1])
	mix := func(x, y uint8) uint8 { return uint8((int(x)*(span-f) + int(y)*f) / span) }
	return paint{mix(a.r, b.r), mix(a.g, b.g), mix(a.b, b.b), 255}
}

// maxClasses is how many classes a scale has at most.
const maxClasses = 8

// scale sorts positive values into classes with round borders: equal steps
// when the values are alike, steps by factors when they are not. There are no
// logarithms in it, which differ in their last bit between machines.
type scale struct {
	borders []int64 // ascending; class i is below borders[i], the last has no border
}

// newScale makes a scale for the positive ones of the values.
func newScale(values []int64) scale {
	lo, hi := int64(math.MaxInt64), int64(0)
	for _, v := range values {
		if v > 0 {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if hi == 0 || lo == hi {
		return scale{}
	}
	if hi/lo < 16 {
		if b := linearBorders(lo, hi); len(b) > 0 {
			return scale{b}
		}
	}
	for _, steps := range [][]int64{{1, 2, 5}, {1, 3}, {1}} {
		if b := factorBorders(lo, hi, steps, 1); len(b) < maxClasses {
			return scale{b}
		}
	}
	for skip := 2; ; skip++ {
		if b := factorBorders(lo, hi, []int64{1}, skip); len(b) < maxClasses {
			return scale{b}
		}
	}
}

// linearBorders returns the multiples of a round step above lo and up to hi.
func linearBorders(lo, hi int64) []int64 {
	for power := int64(1); ; power *= 10 {
		for _, s := range []int64{1, 2, 5} {
			step := power * s
			if (hi-lo)/step >= maxClasses-1 {
				if step > hi/2 {
					return nil
				}
				continue
			}
			var out []int64
			for b := (lo/step + 1) * step; b <= hi; b += step {
				out = append(out, b)
			}
			return out
		}
	}
}

// factorBorders returns the values step * 10^k above lo and up to hi, for
// every skip-th k.
func factorBorders(lo, hi int64, steps []int64, skip int) []int64 {
	var out []int64
	power := int64(1)
	for {
		for _, s := range steps {
			if power > hi/s {
				return out
			}
			if b := power * s; b > lo {
				out = append(out, b)
			}
		}
		for range skip {
			if power > hi/10 {
				return out
			}
			power *= 10
		}
	}
}

// classes is the number of classes.
func (s scale) classes() int { return len(s.borders) + 1 }

// class returns the class of a positive value.
func (s scale) class(v int64) int {
	for i, b := range s.borders {
		if v < b {
			return i
		}
	}
	return len(s.borders)
}

// label names the range of a class in a unit.
func (s scale) label(i int, unit func(int64) string) string {
	switch {
	case len(s.borders) == 0:
		return "all alike"
	case i == 0:
		return "below " + unit(s.borders[0])
	case i == len(s.borders):
		return "from " + unit(s.borders[i-1])
	}
	return unit(s.borders[i-1]) + " to " + unit(s.borders[i])
}

// bytesText writes a size with a decimal unit (MB = 10^6), without zeros at the
// end: labels on a map are short.
func bytesText(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10) + " B"
	case n < 1_000_000:
		return decimal(float64(n)/1e3, 1) + " kB"
	case n < 1_000_000_000:
		return decimal(float64(n)/1e6, 1) + " MB"
	}
	return decimal(float64(n)/1e9, 2) + " GB"
}

// shortCount writes a count with few digits: 12 k, 3.4 M.
func shortCount(n int64) string {
	switch {
	case n < 10_000:
		return human.Count(n)
	case n < 1_000_000:
		return decimal(float64(n)/1e3, 1) + " k"
	case n < 1_000_000_000:
		return decimal(float64(n)/1e6, 1) + " M"
	}
	return decimal(float64(n)/1e9, 1) + " G"
}

// metresText writes a distance with at most two decimals.
func metresText(v float64) string {
	if v >= 1e6 || v <= -1e6 {
		return strconv.FormatFloat(v, 'g', 6, 64) + " m"
	}
	return decimal(v, 2) + " m"
}

// tenthText writes a distance with at most one decimal.
func tenthText(v float64) string {
	if v >= 1e6 || v <= -1e6 {
		return metresText(v)
	}
	return decimal(v, 1) + " m"
}

// decimal rounds to a number of decimals and drops zeros at the end.
func decimal(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if decimals > 0 {
		for s[len(s)-1] == '0' {
			s = s[:len(s)-1]
		}
		if s[len(s)-1] == '.' {
			s = s[:len(s)-1]
		}
	}
	if s == "-0" {
		return "0"
	}
	return s
}
