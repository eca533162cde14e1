package bake

import (
	"bytes"
	"image"
	"image/color"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
)

// box returns the outside of a box, four vertices a side.
func box(lo, hi geom.Vec3) (positions []geom.Vec3, indices []uint32) {
	for axis := range 3 {
		for side := range 2 {
			u, v := (axis+1)%3, (axis+2)%3
			base := uint32(len(positions))
			for k := range 4 {
				p := lo
				if side == 1 {
					p[axis] = hi[axis]
				}
				if k == 1 || k == 2 {
					p[u] = hi[u]
				}
				if k >= 2 {
					p[v] = hi[v]
				}
				positions = append(positions, p)
			}
			q := []uint32{0, 1, 2, 0, 2, 3}
			if side == 0 {
				q = []uint32{0, 2, 1, 0, 3, 2}
			}
			for _, i := range q {
				indices = append(indices, base+i)
			}
		}
	}
	return positions, indices
}

// faceNormals gives every triangle's corners its normal; vertices of several
// triangles take the last one's.
func faceNormals(positions []geom.Vec3, indices []uint32) [][3]float32 {
	out := make([][3]float32, len(positions))
	for i := 0; i < len(indices); i += 3 {
		a, b, c := positions[indices[i]], positions[indices[i+1]], positions[indices[i+2]]
		n := b.Sub(a).Cross(c.Sub(a)).Normalize(1e-30, geom.Vec3{0, 1, 0}).F32()
		for _, v := range indices[i : i+3] {
			out[v] = n
		}
	}
	return out
}

// TestUnwrapBox: a box is folded into one chart, every side in its own shape, and
// corners that meet on the plane are one.
func TestUnwrapBox(t *testing.T) {
	p, i := box(geom.Vec3{0, 0, 0}, geom.Vec3{2, 3, 5})
	charts := Unwrap(p, i)
	if len(charts) != 1 || len(charts[0].Triangles) != 12 {
		t.Fatalf("%d charts", len(charts))
	}
	corners := map[[2]float64]bool{}
	for _, uv := range charts[0].UV {
		for _, c := range uv {
			corners[[2]float64{math.Round(c[0]*1e9) / 1e9, math.Round(c[1]*1e9) / 1e9}] = true
		}
	}
	exact := map[[2]float64]bool{}
	for _, uv := range charts[0].UV {
		for _, c := range uv {
			exact[c] = true
		}
	}
	if len(corners) != len(exact) || len(exact) > 16 {
		t.Errorf("%d corners, %d of them apart", len(exact), len(corners))
	}
}

// drawSurface draws meshes of all kinds: bent grids, boxes and loose triangles.
// TestUnwrapThin: a sheet that is folded on itself is one chart where the fold is smooth,
// since a seam there would cost vertices, and two where it is sharp.
func TestUnwrapThin(t *testing.T) {
	p := []geom.Vec3{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.1, 0, 0.1}}
	smooth := []uint32{0, 1, 2, 0, 2, 3}
	if charts := Unwrap(p, smooth); len(charts) != 1 {
		t.Errorf("a smooth fold parts %d charts", len(charts))
	}
	sharp := []uint32{0, 1, 2, 4, 5, 3}
	if charts := Unwrap(append(p, p[0], p[2]), sharp); len(charts) != 2 {
		t.Errorf("%d charts at a sharp fold, want 2", len(charts))
	}
}

func drawSurface(t *rapid.T) (positions []geom.Vec3, indices []uint32) {
	num := rapid.Float64Range(-4, 4)
	switch rapid.IntRange(0, 2).Draw(t, "kind") {
	case 0:
		n := rapid.IntRange(1, 9).Draw(t, "n")
		bend := rapid.Float64Range(0, 7).Draw(t, "bend") // round and round, over itself
		for y := range n + 1 {
			for x := range n + 1 {
				a := bend * float64(x) / float64(n)
				positions = append(positions, geom.Vec3{math.Cos(a), float64(y), math.Sin(a)})
			}
		}
		for y := range uint32(n) {
			for x := range uint32(n) {
				a := y*uint32(n+1) + x
				b := a + uint32(n) + 1
				indices = append(indices, a, b, a+1, a+1, b, b+1)
			}
		}
	case 1:
		return box(geom.Vec3{}, geom.Vec3{1, rapid.Float64Range(0, 4).Draw(t, "h"), 1})
	default:
		for range rapid.IntRange(3, 12).Draw(t, "vertices") {
			positions = append(positions, geom.Vec3{num.Draw(t, "x"), num.Draw(t, "y"), num.Draw(t, "z")})
		}
		at := rapid.Uint32Range(0, uint32(len(positions)-1))
		for range 3 * rapid.IntRange(1, 20).Draw(t, "triangles") {
			indices = append(indices, at.Draw(t, "i"))
		}
	}
	return positions, indices
}

// TestUnwrap: every triangle is in one chart, inside its rectangle, in its own shape but
// for what it may bend; no two overlap.
func TestUnwrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, indices := drawSurface(t)
		seen := make([]int, len(indices)/3)
		for _, c := range Unwrap(p, indices) {
			for k, tri := range c.Triangles {
				seen[tri]++
				for i := range 3 {
					for a := range 2 {
						if v := c.UV[k][i][a]; v < -1e-9 || v > c.Size[a]+1e-9 {
							t.Fatalf("corner at %v of %v", c.UV[k], c.Size)
						}
					}
					a, b := p[indices[3*int(tri)+i]], p[indices[3*int(tri)+(i+1)%3]]
					flat := math.Hypot(c.UV[k][(i+1)%3][0]-c.UV[k][i][0], c.UV[k][(i+1)%3][1]-c.UV[k][i][1])
					if l := b.Sub(a).Len(); math.Abs(flat-l) > bend*l+1e-4*c.Size[0] {
						t.Fatalf("an edge of %v m is %v m long on the plane", l, flat)
					}
				}
				for o := range k {
					if overlap(&c.UV[k], &c.UV[o], 1e-5*c.Size[0]) {
						t.Fatalf("%v overlaps %v", c.UV[k], c.UV[o])
					}
				}
			}
		}
		for tri, n := range seen {
			if n != 1 {
				t.Fatalf("triangle %d is in %d charts", tri, n)
			}
		}
	})
}

// TestUnwrapHill: a hill is one chart, though it is curved both ways, and nearly as large
// as the hill.
func TestUnwrapHill(t *testing.T) {
	const n = 12
	var p []geom.Vec3
	var indices []uint32
	for z := range n + 1 {
		for x := range n + 1 {
			u, v := float64(x)-n/2, float64(z)-n/2
			p = append(p, geom.Vec3{u, 4 - 0.05*(u*u+v*v), v})
			if i := uint32(z*(n+1) + x); x < n && z < n {
				indices = append(indices, i, i+n+1, i+1, i+1, i+n+1, i+n+2)
			}
		}
	}
	charts := Unwrap(p, indices)
	if len(charts) != 1 {
		t.Fatalf("%d charts", len(charts))
	}
	real, flat := 0.0, 0.0
	for k, uv := range charts[0].UV {
		i := indices[3*charts[0].Triangles[k]:]
		real += p[i[1]].Sub(p[i[0]]).Cross(p[i[2]].Sub(p[i[0]])).Len() / 2
		flat += turn(uv[0], uv[1], uv[2]) / 2
	}
	if math.Abs(flat-real) > 0.1*real {
		t.Errorf("%v square metres are %v on the plane", real, flat)
	}
}

// TestPack: charts lie inside the square, with their gutters, and apart.
func TestPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.Float64Range(0, 50)
		charts := make([]Chart, rapid.IntRange(0, 80).Draw(t, "charts"))
		for i := range charts {
			charts[i].Size = [2]float64{size.Draw(t, "w"), size.Draw(t, "h")}
		}
		side := rapid.SampledFrom([]int{8, 16, 64, 256}).Draw(t, "side")
		l, err := Pack(charts, side)
		if (err != nil) != (len(charts) > side*side) {
			t.Fatalf("%d charts: %v", len(charts), err)
		}
		if err != nil {
			return
		}
		taken := make([]int, side*side)
		for i, p := range l.Places {
			if n := p.align(); (p.X-p.Gutter)%n != 0 || (p.Y-p.Gutter)%n != 0 {
				t.Fatalf("chart %d begins within a texel of a smaller mip: %+v", i, p)
			}
			for y := p.Y - p.Gutter; y < p.Y-p.Gutter+p.room(p.H); y++ {
				for x := p.X - p.Gutter; x < p.X-p.Gutter+p.room(p.W); x++ {
					if x < 0 || y < 0 || x >= side || y >= side {
						t.Fatalf("chart %d lies outside: %+v", i, p)
					}
					if at := &taken[y*side+x]; *at != 0 {
						t.Fatalf("charts %d and %d overlap", *at-1, i)
					} else {
						*at = i + 1
					}
				}
			}
		}
	})
}

// TestPackGutters: mips mix no two charts as far as the gutters of these reach.
func TestPackGutters(t *testing.T) {
	charts := []Chart{{Size: [2]float64{120, 110}}, {Size: [2]float64{60, 50}}, {Size: [2]float64{30, 3}}, {Size: [2]float64{2, 1}}}
	l, err := Pack(charts, 256)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{8, 4, 2, 0} {
		if l.Places[i].Gutter != want {
			t.Errorf("%+v has not the gutter %d", l.Places[i], want)
		}
	}
	owner := l.owners(256)
	for c, p := range l.Places {
		n := p.align()
		for y := (p.Y - n) / n * n; y < p.Y+p.H+1; y++ {
			for x := (p.X - n) / n * n; p.Gutter > 0 && x < p.X+p.W+1; x++ {
				if at := y/n*n*256 + x/n*n; owner[at] != int32(c) {
					t.Fatalf("a texel of %d beside chart %d is of %d", n, c, owner[at])
				}
			}
		}
	}
}

// baked bakes a surface onto a mesh.
func baked(t testing.TB, s *Surface, positions []geom.Vec3, indices []uint32, side int, o Options) (*Atlas, *Layout) {
	t.Helper()
	l, err := Pack(Unwrap(positions, indices), side)
	if err != nil {
		t.Fatal(err)
	}
	if o.Encode == nil {
		o.Encode = func(v float32) uint8 { return unit(float64(v)) }
	}
	if o.Reach == 0 {
		o.Reach = 1
	}
	a, err := Bake(s, &Coarse{Positions: positions, Indices: indices, Normals: faceNormals(positions, indices)}, l, o)
	if err != nil {
		t.Fatal(err)
	}
	return a, l
}

// looks are plain colours.
func looks(colors ...[4]float32) (out []Look) {
	for _, c := range colors {
		out = append(out, Look{BaseColor: c, Roughness: 1, OcclusionStrength: 1})
	}
	return out
}

// paintedBox is a box with a colour on every side.
func paintedBox(lo, hi geom.Vec3) *Surface {
	s := &Surface{}
	s.Positions, s.Indices = box(lo, hi)
	for i := range 6 {
		s.Looks = append(s.Looks, looks([4]float32{float32(i+1) / 6, float32(i%2) / 2, 0, 1})...)
		s.Materials = append(s.Materials, int32(i), int32(i))
	}
	return s
}

// boxColor is that of a side of paintedBox.
func boxColor(side int32) color.NRGBA {
	return color.NRGBA{unit(float64(side+1) / 6), unit(float64(side%2) / 2), 0, 255}
}

// middle returns the colour in the middle of a triangle.
func middle(a *Atlas, l *Layout, chart, k int) color.NRGBA {
	var x, y float64
	for i := range 3 {
		p := l.Texel(chart, k, i)
		x, y = x+p[0]/3, y+p[1]/3
	}
	return a.Color.NRGBAAt(int(x), int(y))
}

// near allows for one step of rounding.
func near(a, b color.NRGBA) bool {
	d := func(x, y uint8) bool { return max(x, y)-min(x, y) <= 1 }
	return d(a.R, b.R) && d(a.G, b.G) && d(a.B, b.B) && a.A == b.A
}

// TestBakeBox: each side of a box shows the colour of that side of a box around it,
// and all bytes are the same with any number of goroutines.
func TestBakeBox(t *testing.T) {
	s := paintedBox(geom.Vec3{-0.1, -0.1, -0.1}, geom.Vec3{4.1, 2.1, 3.1})
	p, indices := box(geom.Vec3{0, 0, 0}, geom.Vec3{4, 2, 3})
	a, l := baked(t, s, p, indices, 64, Options{Jobs: 1})
	if a.Missed != 0 || a.Coverage || a.ORM != nil || a.Emissive != nil || a.Normal != nil || a.Roughness != 1 || a.Metallic != 0 {
		t.Errorf("%+v", a)
	}
	for c := range l.Charts {
		for k, tri := range l.Charts[c].Triangles {
			if got, want := middle(a, l, c, k), boxColor(tri/2); !near(got, want) {
				t.Errorf("side %d shows %v, want %v", tri/2, got, want)
			}
		}
	}
	b, _ := baked(t, s, p, indices, 64, Options{Jobs: 5})
	if !bytes.Equal(a.Color.Pix, b.Color.Pix) {
		t.Error("bytes differ with more goroutines")
	}
}

// checker is a picture of light and dark squares, eight pixels wide.
func checker() *Image {
	img := image.NewNRGBA(image.Rect(0, 0, 64, 64))
	for y := range 64 {
		for x := range 64 {
			v := uint8(255 * ((x/8 + y/8) % 2))
			img.SetNRGBA(x, y, color.NRGBA{v, v, v, 255})
		}
	}
	return NewImage(img, func(v uint8) float32 { return float32(v) / 255 })
}

// plane is a square of the ground.
func plane(side, height float64) ([]geom.Vec3, []uint32) {
	return []geom.Vec3{{0, height, 0}, {0, height, side}, {side, height, side}, {side, height, 0}}, []uint32{0, 1, 2, 0, 2, 3}
}

// TestBakeTexture: a texture is read where the surface has it; where a texel is much
// larger than the texture's, it shows their mean.
func TestBakeTexture(t *testing.T) {
	p, indices := plane(8, 0)
	s := &Surface{Positions: p, Indices: indices, Materials: []int32{0, 0}, Looks: looks([4]float32{1, 1, 1, 1})}
	s.UV[0] = [][2]float32{{0, 0}, {0, 1}, {1, 1}, {1, 0}}
	s.Looks[0].Color.Image = checker()
	fine, _ := baked(t, s, p, indices, 64, Options{})
	counts := map[uint8]int{}
	for i := 0; i < len(fine.Color.Pix); i += 4 {
		counts[fine.Color.Pix[i]]++
	}
	if n := counts[0] + counts[255]; n < 64*64*95/100 || counts[0] < n*4/10 || counts[255] < n*4/10 {
		t.Errorf("%v", counts)
	}
	for i := range s.UV[0] { // 20 times over: each texel covers several squares
		s.UV[0][i][0], s.UV[0][i][1] = 20*s.UV[0][i][0], 20*s.UV[0][i][1]
	}
	coarse, _ := baked(t, s, p, indices, 16, Options{})
	for i := 0; i < len(coarse.Color.Pix); i += 4 {
		if v := coarse.Color.Pix[i]; v < 100 || v > 156 {
			t.Fatalf("texel %d is %d, not grey", i/4, v)
		}
	}
}

// TestBakeMisses: what is out of reach is not found, and texels stay white.
func TestBakeMisses(t *testing.T) {
	p, indices := plane(8, 0)
	far, _ := plane(8, 50)
	s := &Surface{Positions: far, Indices: indices, Materials: []int32{0, 0}, Looks: looks([4]float32{1, 0, 0, 1})}
	a, _ := baked(t, s, p, indices, 16, Options{})
	if a.Missed != 1 || a.Color.NRGBAAt(3, 3) != (color.NRGBA{255, 255, 255, 255}) {
		t.Errorf("%v missed, %v", a.Missed, a.Color.NRGBAAt(3, 3))
	}
	if _, err := Bake(&Surface{}, &Coarse{}, &Layout{Side: 1}, Options{}); err != ErrEmpty {
		t.Error(err)
	}
}

// TestBakeFaces: a thin wall has its own look on each side.
func TestBakeFaces(t *testing.T) {
	s := paintedBox(geom.Vec3{0, 0, 0}, geom.Vec3{0.1, 3, 4})
	p, indices := box(geom.Vec3{0.04, 0, 0}, geom.Vec3{0.06, 3, 4})
	a, l := baked(t, s, p, indices, 64, Options{})
	for c := range l.Charts {
		for k, tri := range l.Charts[c].Triangles {
			if got, want := middle(a, l, c, k), boxColor(tri/2); tri < 4 && !near(got, want) {
				t.Errorf("side %d shows %v, want %v", tri/2, got, want)
			}
		}
	}
}

// TestOcclusion: the ground is darker at the foot of a wall than away from it.
func TestOcclusion(t *testing.T) {
	p, indices := plane(10, 0)
	wall, sides := box(geom.Vec3{-1, 0, 0}, geom.Vec3{-0.001, 10, 10})
	for _, i := range sides {
		indices = append(indices, i+uint32(len(p)))
	}
	p = append(p, wall...)
	s := &Surface{Positions: p, Indices: indices, Materials: make([]int32, len(indices)/3), Looks: looks([4]float32{1, 1, 1, 1})}
	a, l := baked(t, s, p, indices, 128, Options{OcclusionRays: 32, OcclusionReach: 20, Jobs: 2})
	if a.ORM == nil {
		t.Fatal("no occlusion")
	}
	at := func(x float64) float64 { // along the ground, away from the wall
		for c := range l.Charts {
			for k, tri := range l.Charts[c].Triangles {
				if tri != 0 {
					continue
				}
				p0, p1, p2 := l.Texel(c, k, 0), l.Texel(c, k, 1), l.Texel(c, k, 2) // 0,0  0,10  10,10
				u := p0[0] + (p1[0]-p0[0])*0.5 + (p2[0]-p1[0])*x/10
				v := p0[1] + (p1[1]-p0[1])*0.5 + (p2[1]-p1[1])*x/10
				return float64(a.ORM.NRGBAAt(int(u/2), int(v/2)).R) / 255
			}
		}
		return -1
	}
	if near, far := at(0.5), at(8); near < 0.3 || near > 0.8 || far < near+0.2 {
		t.Errorf("%.2f near the wall, %.2f far away", near, far)
	}
}

// TestBakeNormals: a bump is in the normals, in the space of the coarse mesh.
func TestBakeNormals(t *testing.T) {
	p, indices := plane(8, 0)
	s := &Surface{Positions: p, Indices: indices, Materials: []int32{0, 0}, Looks: looks([4]float32{1, 1, 1, 1})}
	lean := geom.Vec3{0.6, 0.8, 0}.F32()
	s.Normals = [][3]float32{lean, lean, lean, lean}
	l, err := Pack(Unwrap(p, indices), 16)
	if err != nil {
		t.Fatal(err)
	}
	c := &Coarse{Positions: p, Indices: indices, Normals: faceNormals(p, indices)}
	for range p {
		c.Tangents = append(c.Tangents, [4]float32{1, 0, 0, 1})
	}
	a, err := Bake(s, c, l, Options{Reach: 1, Encode: func(v float32) uint8 { return unit(float64(v)) }})
	if err != nil || a.Normal == nil {
		t.Fatal(err, a)
	}
	if got, want := a.Normal.NRGBAAt(4, 4), (color.NRGBA{unit(0.8), unit(0.5), unit(0.9), 255}); !near(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestLayoutMesh: texture coordinates lie on the chart's texels.
func TestLayoutMesh(t *testing.T) {
	p, indices := box(geom.Vec3{}, geom.Vec3{1, 1, 1})
	_, l := baked(t, paintedBox(geom.Vec3{}, geom.Vec3{1, 1, 1}), p, indices, 64, Options{})
	out, uv, from := l.Mesh(indices)
	if len(out) != len(indices) || len(uv) != len(from) || len(uv) > 30 {
		t.Fatalf("%d indices, %d vertices", len(out), len(uv))
	}
	for i, v := range out {
		if from[v] != indices[i] {
			t.Errorf("corner %d shows vertex %d, want %d", i, from[v], indices[i])
		}
	}
}

func BenchmarkBake(b *testing.B) {
	// A wavy ground of 80,000 triangles with a texture, shown by 800.
	grid := func(n int) (p []geom.Vec3, uv [][2]float32, indices []uint32) {
		for y := range n + 1 {
			for x := range n + 1 {
				u, v := float64(x)/float64(n), float64(y)/float64(n)
				p = append(p, geom.Vec3{100 * u, 2 * math.Sin(20*u) * math.Cos(17*v), 100 * v})
				uv = append(uv, [2]float32{float32(u), float32(v)})
			}
		}
		for y := range uint32(n) {
			for x := range uint32(n) {
				a := y*uint32(n+1) + x
				c := a + uint32(n) + 1
				indices = append(indices, a, c, a+1, a+1, c, c+1)
			}
		}
		return p, uv, indices
	}
	s := &Surface{Looks: looks([4]float32{1, 1, 1, 1})}
	s.Positions, s.UV[0], s.Indices = grid(200)
	s.Normals = faceNormals(s.Positions, s.Indices)
	s.Materials = make([]int32, len(s.Indices)/3)
	s.Looks[0].Color.Image = checker()
	p, _, indices := grid(20)
	const side = 512
	for _, c := range []struct {
		name string
		o    Options
	}{
		{"nearest", Options{Reach: 3, Jobs: 1}},
		{"ahead", Options{Reach: 3, Ahead: 0.5, Jobs: 1}},
		// What nodes that stand for tiles have.
		{"node", Options{Reach: 3, Ahead: 0.5, Samples: 2, OcclusionRays: 12, OcclusionReach: 4, Jobs: 1}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				baked(b, s, p, indices, side, c.o)
			}
			b.ReportMetric(side*side*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mtexel/s")
		})
	}
}
