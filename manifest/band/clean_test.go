package band

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestCleanBands(t *testing.T) {
	for _, c := range []struct {
		name     string
		in, want Bands
		dropped  int
	}{
		{"clean stays", Bands{50, 75, 0, 71, []float64{52.123, 60}}, Bands{50, 75, 0, 71, []float64{52.123, 60}}, 0},
		{"sorted", Bands{50, 75, 0, 0, []float64{65, 55}}, Bands{50, 75, 0, 0, []float64{55, 65}}, 0},
		{"the documentation's example", Bands{80, 120, 0, 300, []float64{80, 150}}, Bands{80, 120, 0, 119, []float64{80, 115}}, 0},
		{"lod inside", Bands{50, 75, 0, 71, []float64{30, 60}}, Bands{50, 75, 0, 71, []float64{50, 60}}, 0},
		{"hlod inside", Bands{50, 75, 0, 20, nil}, Bands{50, 75, 0, 54, nil}, 0},
		{"narrow", Bands{6, 10, 0, 10, []float64{4, 8}}, Bands{6, 10, 0, 0, nil}, 3},
		{"narrow without hlod", Bands{6, 10, 0, 0, []float64{4, 8}}, Bands{6, 10, 0, 0, []float64{6}}, 1},
		{"widened", Bands{1, 2, 0, 0, nil}, Bands{1, 5, 0, 0, nil}, 0},
		{"prefetch", Bands{50, 75, 20, 0, nil}, Bands{50, 75, 50, 0, nil}, 0},
		{"small numbers are metres", Bands{0, 40, 0, 1, []float64{0.3}}, Bands{0, 40, 0, 4, nil}, 1},
		{"hlod against its lods", Bands{50, 75, 0, 55, []float64{52, 60}}, Bands{50, 75, 0, 55, []float64{51}}, 1},
	} {
		f := Clean(c.in)
		if d := cmp.Diff(c.want, f.Bands); d != "" || len(f.Dropped) != c.dropped {
			t.Errorf("%s: %v, dropped %v", c.name, f.Bands, f.Dropped)
		}
	}
}

// anyBands draws distances that a manifest may hold.
func anyBands(t *rapid.T) Bands {
	metres := rapid.OneOf(rapid.Float64Range(0, 200), rapid.Float64Range(-10, 10), rapid.Float64Range(0, 1e6))
	b := Bands{Streaming: metres.Draw(t, "streaming"), Unload: metres.Draw(t, "unload"), LODs: rapid.SliceOfN(metres, 0, 5).Draw(t, "lods")}
	b.Prefetch = rapid.OneOf(rapid.Just(0.0), metres).Draw(t, "prefetch")
	b.HLOD = rapid.OneOf(rapid.Just(0.0), metres).Draw(t, "hlod")
	return b
}

func TestCleanBandsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := anyBands(t)
		f := Clean(b)
		out := f.Bands
		if n := Normalize(out); !n.Equal(out) {
			t.Fatalf("%v becomes %v, the engine makes %v of it", b, out, n)
		}
		if again := Clean(out); !again.Bands.Equal(out) || len(again.Dropped) > 0 || !slices.IsSorted(out.LODs) {
			t.Fatalf("%v becomes %v, then %v", b, out, again.Bands)
		}
		if len(out.LODs) > 0 && out.LODs[0] < out.Streaming {
			t.Fatalf("the first LOD of %v is inside", out)
		}
		levels := len(b.LODs)
		if b.HLOD > 0 {
			levels++
		}
		if len(f.LODs)+len(f.HLOD)+len(f.Dropped) != levels || len(f.LODs) != len(out.LODs) {
			t.Fatalf("%d levels: %+v", levels, f)
		}
		if n := Normalize(b); n.Equal(b) && b.Streaming >= 0 && (len(b.LODs) == 0 || b.LODs[0] >= b.Streaming) && !out.Equal(b) {
			t.Fatalf("%v was clean and becomes %v", b, out)
		}
		// What a cook fits is clean.
		fit := Fit(b.Streaming, b.Unload, nil, []float64{0.3, 0.78})
		if b.Streaming >= 0 && !Clean(fit.Bands).Bands.Equal(fit.Bands) {
			t.Fatalf("Fit gives %v", fit.Bands)
		}
	})
}
