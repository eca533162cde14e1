package compact

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/format/vertex"
)

// points returns white vertices at the given places.
func points(at ...[3]float32) []byte {
	vs := make([]vertex.Vertex, len(at))
	for i := range vs {
		vs[i] = vertex.Vertex{
			Position: at[i], Normal: uint32(i) + 1, Tangent: uint32(i) + 2, UV0: [2]uint16{uint16(i) + 3, uint16(i) + 4},
			UV1: [2]uint16{5, 6}, Color: [4]uint8{255, 255, 255, 255},
		}
	}
	return vertex.Append(nil, vs)
}

func TestChoose(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	box := func(from, to float32) []byte { return points([3]float32{from, 0, 0}, [3]float32{to, 0, 0}) }
	for _, c := range []struct {
		name     string
		vertices []byte
		stretch  float64
		tangents bool
		want     Layout
		exponent int
	}{
		{"a tile", box(0, 25), 1, false, Plain, -13},
		{"far away", box(-5000, -4975), 1, false, Plain, -13},
		{"a tile of 256 m", box(0, 255.9), 1, true, Mapped, -13},
		{"a little more", box(0, 256.1), 1, false, Plain, -12},
		{"a node", box(-1000, 1000), 1, false, Plain, -10},
		{"a large node", box(0, 2048), 1, false, Full, 0},
		{"4 m", box(0, 4), 1, false, Plain, -13},
		{"3.9 m", box(0, 3.9), 1, false, Plain, -14},
		{"a watch", box(0, 0.03), 1, false, Plain, -21},
		{"a point", box(7, 7), 1, false, Plain, -13},
		{"stretched", box(0, 4), 100, false, Plain, -18},
		{"stretched, and too large", box(0, 25), 1000, false, Full, 0},
		{"centimetres", box(0, 40000), 0.01, false, Plain, -5},
		{"nothing", nil, 1, false, Full, 0},
		{"not a number", points([3]float32{0, nan, 0}), 1, false, Full, 0},
		{"infinite", points([3]float32{inf, 0, 0}), 1, false, Full, 0},
		{"the largest", box(-math.MaxFloat32, math.MaxFloat32), 1, false, Full, 0},
		{"tiny", box(0, math.SmallestNonzeroFloat32), 1, false, Full, 0},
		{"a stretch of nothing", box(0, 25), 0, false, Full, 0},
		{"no stretch", box(0, 25), math.NaN(), false, Full, 0},
	} {
		p := Choose(c.vertices, c.stretch, c.tangents)
		if p.Layout != c.want || c.want != Full && p.Step != float32(math.Ldexp(1, c.exponent)) {
			t.Errorf("%s: layout %d, step %g", c.name, p.Layout, p.Step)
		}
	}
	gray := points([3]float32{}, [3]float32{1, 1, 1})
	gray[28+2] = 254
	if p := Choose(gray, 1, false); p.Layout != Colored {
		t.Errorf("of a colour: layout %d", p.Layout)
	}
}

func TestAppend(t *testing.T) {
	src := points([3]float32{-3, 2, 20}, [3]float32{200, 90, 1.00001})
	src[32+28] = 9
	for _, l := range []Layout{Full, Plain, Mapped, Colored} {
		p := Choose(src, 1, false)
		if p.Layout = l; l == Full {
			p = Packing{}
		}
		got := p.Append([]byte{1}, append(src[:64:64], 1, 2, 3))
		if len(got) != 1+2*l.Size() {
			t.Fatalf("layout %d: %d bytes", l, len(got))
		}
		if got = got[1:]; l == Full {
			if string(got) != string(src) {
				t.Error("the full layout is another one")
			}
			continue
		}
		for i := range 2 {
			v, o := vertex.Get(src[32*i:]), got[l.Size()*i:][:l.Size()]
			at := p.At(Steps(o))
			for k := range 3 {
				if d := math.Abs(float64(at[k] - v.Position[k])); d > float64(p.Step)/2 {
					t.Errorf("layout %d: axis %d is off by %g", l, k, d)
				}
			}
			le := binary.LittleEndian
			fields := fmt.Sprint(le.Uint32(o[NormalAt:]), le.Uint16(o[UVAt:]), le.Uint16(o[UVAt+2:]))
			want := fmt.Sprint(v.Normal, v.UV0[0], v.UV0[1])
			if l >= Mapped {
				fields, want = fields+fmt.Sprint(le.Uint32(o[TangentAt:])), want+fmt.Sprint(v.Tangent)
			}
			if l >= Colored {
				fields, want = fields+fmt.Sprint(o[ColorAt:]), want+fmt.Sprint(v.Color[:])
			}
			if fields != want {
				t.Errorf("layout %d: vertex %d is %s, not %s", l, i, fields, want)
			}
		}
	}
}

// TestSharedBorders: what two representations share lies on the same place in both, exactly
// where the sum says, and nowhere is a vertex off by more than half a step.
func TestSharedBorders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		center := rapid.SampledFrom([]float64{0, 1, 300, 2500, 40000}).Draw(t, "center")
		size := rapid.SampledFrom([]float64{0.01, 3, 25, 90, 250, 1000}).Draw(t, "size")
		place := rapid.Custom(func(t *rapid.T) (p [3]float32) {
			for i := range p {
				p[i] = float32(center + float64(size)*rapid.Float64Range(-0.49, 0.49).Draw(t, "at"))
			}
			return p
		})
		shared := rapid.SliceOfN(place, 1, 20).Draw(t, "shared")
		var packings [2]Packing
		var packed [2][]byte
		for i := range 2 {
			all := points(append(shared[:len(shared):len(shared)], rapid.SliceOfN(place, 0, 5).Draw(t, "own")...)...)
			packings[i] = Choose(all, 1, false)
			if packings[i].Layout == Full {
				t.Fatalf("%d bytes at %g, %g large, stay as they are", len(all), center, size)
			}
			packed[i] = packings[i].Append(nil, all)
		}
		for k, p := range shared {
			var at [2][3]float32
			for i := range 2 {
				l, q := &packings[i].Lattice, Steps(packed[i][k*Plain.Size():])
				at[i] = l.At(q)
				for axis := range 3 {
					exact := float64(l.Origin[axis]) + float64(l.Step)*float64(q[axis])
					if float64(at[i][axis]) != exact {
						t.Fatalf("%v: %g + %g * %d is not exact", p, l.Origin[axis], l.Step, q[axis])
					}
					if math.Abs(exact-float64(p[axis])) > float64(l.Step)/2 {
						t.Fatalf("%v is off by %g", p, exact-float64(p[axis]))
					}
				}
			}
			if packings[0].Step == packings[1].Step && at[0] != at[1] {
				t.Fatalf("%v lies at %v and %v", p, at[0], at[1])
			}
		}
	})
}

func BenchmarkPack(b *testing.B) {
	const n = 1 << 16
	at := make([][3]float32, n)
	for i := range at {
		at[i] = [3]float32{float32(i%251) * 0.1, float32(i%17) * 0.3, float32(i%97) * 0.2}
	}
	src := points(at...)
	dst := make([]byte, 0, len(src))
	b.Run("choose", func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		for b.Loop() {
			Choose(src, 1, false)
		}
	})
	for _, l := range []Layout{Plain, Colored} {
		b.Run(fmt.Sprint(l.Size()), func(b *testing.B) {
			p := Choose(src, 1, false)
			p.Layout = l
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				dst = p.Append(dst[:0], src)
			}
		})
	}
}
