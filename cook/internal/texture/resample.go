package texture

import "math"

// rows is an image that a filter reads line by line.
type rows interface {
	size() (w, h int)
	// row returns line y, four numbers a pixel, in dst or in memory of its own.
	row(y int, dst []float32) []float32
}

// plane is an image in the numbers in which it is filtered; see space.
type plane struct {
	w, h int
	pix  []float32
}

func newPlane(w, h int) *plane { return &plane{w, h, make([]float32, 4*w*h)} }

func (p *plane) size() (w, h int) { return p.w, p.h }

func (p *plane) row(y int, _ []float32) []float32 { return p.pix[4*p.w*y:][:4*p.w] }

// tapList holds which source pixels make one pixel and how much each counts.
// The window is contiguous; from may be negative: beyond the border the edge
// mode decides.
type tapList struct {
	from   int
	weight []float32
	at     []int32 // inside the image
}

// lanczosLobes is the radius of the Lanczos kernel in target pixels (Duchon,
// "Lanczos filtering in one and two dimensions", 1979).
const lanczosLobes = 3

// kernelTaps divides n pixels into m <= n.
func kernelTaps(n, m int, lanczos bool, e Edge) []tapList {
	out := make([]tapList, m)
	for i := range out {
		t := &out[i]
		switch {
		case n == m:
			t.from, t.weight = i, []float32{1}
		case lanczos:
			t.lanczos(i, n, m)
		default:
			t.box(i, n, m)
		}
		for k := range t.weight {
			t.at = append(t.at, int32(e.inside(t.from+k, n)))
		}
	}
	return out
}

// box weighs pixels by the area that they share with the target pixel, so
// that sizes of any ratio keep their mean and nothing drifts.
func (t *tapList) box(i, n, m int) {
	// In units of 1/m of a pixel, the area is [i*n, (i+1)*n).
	t.from = i * n / m
	for at := t.from; at*m < (i+1)*n; at++ {
		lo, hi := max(at*m, i*n), min((at+1)*m, (i+1)*n)
		t.weight = append(t.weight, float32(float64(hi-lo)/float64(n)))
	}
}

func (t *tapList) lanczos(i, n, m int) {
	scale := float64(n) / float64(m)
	center := float64((float64(i)+0.5)*scale) - 0.5
	radius := float64(lanczosLobes * scale)
	t.from = int(math.Ceil(center - radius))
	last := int(math.Floor(center + radius))
	var weights []float64
	sum := 0.0
	for at := t.from; at <= last; at++ {
		w := lanczosAt((float64(at) - center) / scale)
		weights = append(weights, w)
		sum += w
	}
	for _, w := range weights {
		t.weight = append(t.weight, float32(w/sum))
	}
}

func lanczosAt(x float64) float64 {
	if math.Abs(x) < 1e-9 {
		return 1
	}
	if math.Abs(x) >= lanczosLobes {
		return 0
	}
	const pi2 = math.Pi * math.Pi
	return float64(lanczosLobes*float64(sinPi(x)*sinPi(x/lanczosLobes))) / float64(pi2*float64(x*x))
}

// sinPi returns sin(pi*x) by its Taylor series: math.Sin may differ in the last
// bit between machines.
func sinPi(x float64) float64 {
	n := math.Round(x)
	r := float64((x - n) * math.Pi)
	r2 := float64(r * r)
	sum, term := r, r
	for k := 2.0; k < 20; k += 2 {
		term = -float64(term*r2) / float64(k*(k+1))
		sum += term
	}
	if int64(n)&1 != 0 {
		return -sum
	}
	return sum
}

// inside reports whether the window lies within n pixels.
func (t *tapList) inside(n int) bool { return t.from >= 0 && t.from+len(t.weight) <= n }

// inside maps an index beyond the border into 0..n-1.
func (e Edge) inside(i, n int) int {
	if i >= 0 && i < n {
		return i
	}
	switch e {
	case EdgeRepeat:
		return ((i % n) + n) % n
	case EdgeMirror:
		if i = ((i % (2 * n)) + 2*n) % (2 * n); i >= n {
			return 2*n - 1 - i
		}
		return i
	}
	return min(max(i, 0), n-1)
}

// resampler scales an image down, first across, then down.
type resampler struct {
	src          rows
	across, down []tapList
}

// newResampler scales src to w x h, which are at most its own.
func newResampler(src rows, w, h int, lanczos bool, edges [2]Edge) *resampler {
	sw, sh := src.size()
	return &resampler{src, kernelTaps(sw, w, lanczos, edges[0]), kernelTaps(sh, h, lanczos, edges[1])}
}

// run computes the lines lo to hi of the result and gives them to put, which
// must not keep them. Lines of the source that are scaled across are kept as
// long as their neighbours need them.
func (r *resampler) run(lo, hi int, put func(y int, line []float32)) {
	most := 0
	for _, t := range r.down[lo:hi] {
		most = max(most, len(t.weight))
	}
	sw, _ := r.src.size()
	in := make([]float32, 4*sw)
	width := 4 * len(r.across)
	kept := make([]float32, most*width)
	holds := make([]int, most) // lines of the source, before the edge mode
	filled := make([]bool, most)
	lines := make([][]float32, most)
	out := make([]float32, width)
	for y := lo; y < hi; y++ {
		t := &r.down[y]
		for k := range t.weight {
			virtual := t.from + k
			slot := ((virtual % most) + most) % most
			lines[k] = kept[slot*width:][:width]
			if !filled[slot] || holds[slot] != virtual {
				filled[slot], holds[slot] = true, virtual
				r.scaleAcross(r.src.row(int(t.at[k]), in), lines[k])
			}
		}
		weigh(out, lines[:len(t.weight)], t.weight)
		put(y, out)
	}
}

// weigh sums up lines, four at a time for speed and always in their order, so
// that the result is the same everywhere.
func weigh(out []float32, lines [][]float32, weight []float32) {
	clear(out)
	k := 0
	for ; k+4 <= len(lines); k += 4 {
		a, b, c, d := lines[k][:len(out)], lines[k+1][:len(out)], lines[k+2][:len(out)], lines[k+3][:len(out)]
		wa, wb, wc, wd := weight[k], weight[k+1], weight[k+2], weight[k+3]
		for i, v := range out {
			v += float32(wa * a[i])
			v += float32(wb * b[i])
			v += float32(wc * c[i])
			out[i] = v + float32(wd*d[i])
		}
	}
	for ; k < len(lines); k++ {
		w := weight[k]
		for i, v := range lines[k][:len(out)] {
			out[i] += float32(w * v)
		}
	}
}

// scaleAcross scales one line.
func (r *resampler) scaleAcross(in, out []float32) {
	for x := range r.across {
		t := &r.across[x]
		var a, b, c, d float32
		if t.inside(len(in) / 4) { // most pixels
			window := in[4*t.from:]
			for _, w := range t.weight {
				p := window[:4:4]
				window = window[4:]
				a += float32(w * p[0])
				b += float32(w * p[1])
				c += float32(w * p[2])
				d += float32(w * p[3])
			}
		} else {
			for k, w := range t.weight {
				p := in[4*int(t.at[k]):][:4:4]
				a += float32(w * p[0])
				b += float32(w * p[1])
				c += float32(w * p[2])
				d += float32(w * p[3])
			}
		}
		o := out[4*x:][:4:4]
		o[0], o[1], o[2], o[3] = a, b, c, d
	}
}
