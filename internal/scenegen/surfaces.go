package scenegen

import "math"

// surfaces are the painted materials over one repeat of the texture: u to the
// right, v down, both in [0,1).
var surfaces = map[string]func(u, v float64) texel{
	"brick":      brick,
	"concrete":   concrete,
	"glass":      glassFacade,
	"corrugated": corrugated,
	"gravel":     gravel,
	"asphalt":    asphalt,
	"lane":       lane,
	"crossing":   crossing,
	"paving":     paving,
	"grass":      grass,
	"cloud":      cloud,
	"bark":       bark,
	"birch":      birch,
	"leaf":       leafCard,
	"needle":     needleCard,
	"wood":       wood,
	"stripes":    stripes,
	"sign":       stopSign,
	"mesh":       chainLink,
}

// brick is 10 by 32 bricks of 24 x 7.5 cm on 2.4 m, alternate rows shifted.
func brick(u, v float64) texel {
	row := math.Floor(v * 32)
	x := float64(u*10) + float64(fract(row/2))
	col := math.Floor(x)
	fx, fy := fract(x), fract(v*32)
	n := fractal(u, v, 32, 3, 11)
	if fx < 0.05 || fy < 0.16 {
		t := rgb(0.62, 0.6, 0.56).shade(0.85 + float64(0.2*n))
		t.rough = 1
		return t
	}
	k := float64(mix(uint64(math.Mod(col, 10))*131+uint64(row)*977)>>40) / (1 << 24)
	t := rgb(lerp(0.5, 0.66, k), lerp(0.24, 0.34, k), lerp(0.18, 0.25, k)).shade(0.82 + float64(0.3*n))
	t.height, t.rough = 0.004+float64(0.002*n), 0.75+float64(0.2*n)
	return t
}

func concrete(u, v float64) texel {
	k := 0.84 + float64(0.16*fractal(u, v, 4, 5, 21))
	return rgb(k, k, k)
}

// glassFacade is 8 by 4 panels; every panel draws its own tint, a few glow.
func glassFacade(u, v float64) texel {
	fx, fy := fract(u*8), fract(v*4)
	i, j := math.Floor(u*8), math.Floor(v*4)
	h := mix(uint64(i)*7919 + uint64(j)*104729 + 5)
	k := float64(h>>40) / (1 << 24)
	if fx < 0.045 || fy < 0.03 {
		t := rgb(0.42, 0.44, 0.46)
		t.metal, t.rough = 0.9, 0.45
		return t
	}
	if fy > 0.78 { // spandrel in front of the slab
		t := rgb(0.16, 0.2, 0.24).shade(0.9 + float64(0.2*k))
		t.metal, t.rough = 0.3, 0.35
		return t
	}
	t := rgb(lerp(0.2, 0.34, k), lerp(0.36, 0.5, k), lerp(0.48, 0.6, k)).shade(1.1 - float64(0.25*fy))
	t.metal, t.rough = 0.35, 0.08
	if h&7 == 3 {
		t.glow = 0.55 + float64(0.3*(1-fy))
		t.r, t.g = t.r+0.25, t.g+0.15
	}
	return t
}

func corrugated(u, v float64) texel {
	w := cosTurn(u * 16)
	n := noise(u, v, 8, 4, 31)
	t := rgb(0.86, 0.87, 0.88).shade(0.84 + float64(0.08*w) + float64(0.1*n))
	t.height = float64(0.006 * w)
	return t
}

func gravel(u, v float64) texel {
	k := 0.42 + float64(0.3*noise(u, v, 64, 64, 41)) + float64(0.12*noise(u, v, 7, 7, 42))
	return rgb(k, k, float64(k*0.98))
}

func asphalt(u, v float64) texel {
	n := noise(u, v, 128, 128, 51)
	k := 0.2 + float64(0.1*n) + float64(0.06*fractal(u, v, 4, 3, 52))
	t := rgb(k, k, float64(k*1.03))
	t.height = float64(0.0015 * n)
	return t
}

// paint covers asphalt with worn road marking.
func roadPaint(t texel, u, v float64) texel {
	k := 0.62 + float64(0.25*noise(u, v, 48, 48, 53))
	return texel{r: k, g: k, b: k, a: 1, rough: 0.8, height: t.height}
}

// lane is 8 m of carriageway across u and 8 m along v: edge lines and one
// dash of the centre line.
func lane(u, v float64) texel {
	t := asphalt(u, v)
	edge := within(u, 0.03, 0.047) || within(u, 0.953, 0.97)
	dash := within(u, 0.492, 0.508) && within(v, 0.25, 0.75)
	if edge || dash {
		return roadPaint(t, u, v)
	}
	return t
}

// crossing is 8 m across u and 4 m along v: zebra bars and a stop line.
func crossing(u, v float64) texel {
	t := asphalt(u, v)
	if within(v, 0.22, 0.8) && within(u, 0.04, 0.96) && fract(float64(u*8)+0.25) < 0.5 {
		return roadPaint(t, u, v)
	}
	return t
}

// paving is 4 by 4 slabs with joints.
func paving(u, v float64) texel {
	fx, fy := fract(u*4), fract(v*4)
	k := float64(mix(uint64(u*4)*31+uint64(v*4)*57+9)>>40) / (1 << 24)
	n := noise(u, v, 64, 64, 61)
	if fx < 0.03 || fy < 0.03 {
		return rgb(0.4, 0.39, 0.37)
	}
	c := 0.62 + float64(0.08*k) + float64(0.06*n)
	t := rgb(c, float64(c*0.985), float64(c*0.95))
	t.height = 0.003
	return t
}

func grass(u, v float64) texel {
	n, m := fractal(u, v, 32, 3, 71), fractal(u, v, 3, 3, 72)
	k := 0.6 + float64(0.5*n) + float64(0.25*m)
	return rgb(float64(0.31*k), float64(0.44*k), float64(0.16*k))
}

// cloud is a soft darkening, stretched once over the terrain.
func cloud(u, v float64) texel {
	k := 0.45 + float64(0.55*fractal(u, v, 5, 4, 75))
	return rgb(k, k, k)
}

func bark(u, v float64) texel {
	n := noise(u, v, 18, 5, 81)
	m := noise(u, v, 48, 24, 82)
	k := 0.5 + float64(0.4*n) + float64(0.2*m)
	t := rgb(float64(0.4*k), float64(0.3*k), float64(0.22*k))
	t.height = float64(0.02 * n)
	return t
}

func birch(u, v float64) texel {
	k := 0.8 + float64(0.15*noise(u, v, 6, 24, 85))
	if noise(u, v, 5, 40, 86) > 0.74 {
		k = 0.18
	}
	return rgb(k, float64(k*0.98), float64(k*0.93))
}

// leafCard scatters elliptic leaves over a transparent card. The colour under
// the transparent part is that of leaves, so that mip levels get no dark rim.
func leafCard(u, v float64) texel {
	t := rgb(0.2, 0.36, 0.11)
	t.a = 0
	for i := range 44 {
		r := newRNG(900, i)
		cx, cy := r.Span(0.13, 0.87), r.Span(0.13, 0.87)
		if d := float64((cx-0.5)*(cx-0.5)) + float64((cy-0.5)*(cy-0.5)); d > 0.15 {
			continue
		}
		turn, size := r.Float(), r.Span(0.055, 0.09)
		s, c := sinTurn(turn), cosTurn(turn)
		dx, dy := u-cx, v-cy
		a := (float64(c*dx) + float64(s*dy)) / size
		b := (float64(c*dy) - float64(s*dx)) / (size * 0.5)
		if q := float64(a*a) + float64(b*b); q < 1 {
			k := r.Span(0.75, 1.25) * (1 - float64(0.25*q))
			if math.Abs(b) < 0.07 {
				k *= 1.25
			}
			t = rgb(float64(0.22*k), float64(0.4*k), float64(0.11*k))
		}
	}
	return t
}

// needleCard is a branch with needles, its root at the lower middle.
func needleCard(u, v float64) texel {
	t := rgb(0.1, 0.24, 0.13)
	t.a = 0
	x, y := math.Abs(u-0.5), 1-v
	reach := 0.46 * (1 - y)
	k := 0.7 + float64(0.6*noise(u, v, 40, 40, 91))
	switch {
	case x < 0.014:
		return rgb(0.25, 0.17, 0.1)
	case x < reach && fract(float64(y*22)-float64(x*9)) < 0.62:
		return rgb(float64(0.1*k), float64(0.26*k), float64(0.14*k))
	}
	return t
}

func wood(u, v float64) texel {
	plank := math.Floor(v * 6)
	k := float64(mix(uint64(plank)+3)>>40) / (1 << 24)
	g := noise(u, fract(v+float64(0.02*noise(u, v, 3, 6, 95))), 4, 96, 96)
	c := 0.7 + float64(0.25*k) + float64(0.2*g)
	if fract(v*6) < 0.04 {
		c = 0.35
	}
	return rgb(float64(0.6*c), float64(0.42*c), float64(0.26*c))
}

func stripes(u, v float64) texel {
	if fract(u*4) < 0.5 {
		return rgb(0.72, 0.12, 0.1)
	}
	return rgb(0.92, 0.9, 0.84)
}

// stopSign is a red disc with a white bar on white.
func stopSign(u, v float64) texel {
	d := float64((u-0.5)*(u-0.5)) + float64((v-0.5)*(v-0.5))
	switch {
	case d < 0.18 && within(v, 0.42, 0.58) && within(u, 0.2, 0.8):
		return rgb(0.95, 0.95, 0.95)
	case d < 0.2:
		return rgb(0.75, 0.05, 0.06)
	}
	return rgb(0.93, 0.93, 0.93)
}

// chainLink is a diagonal wire net.
func chainLink(u, v float64) texel {
	t := rgb(0.55, 0.57, 0.58)
	if a, b := fract(float64(u*4)+float64(v*4)), fract(float64(u*4)-float64(v*4)); a > 0.14 && b > 0.14 {
		t.a = 0
	}
	return t
}
