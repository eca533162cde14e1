package band

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// partitionVectors is the part of the golden partition data that concerns
// distances.
type partitionVectors struct {
	Radii []struct {
		BaseTile        float64 `json:"base_tile"`
		HalfDiag        float64 `json:"half_diag"`
		Defaults        []float64
		HLOD, LODs      []float64
		LODsWithoutHLOD []float64 `json:"lods_without_hlod"`
	}
	EngineBands []struct {
		In  []json.RawMessage
		Out struct {
			Streaming, Unload, Prefetch float64
			HLOD                        *float64
			LODs                        []float64
		}
	} `json:"engine_bands"`
}

func loadVectors(t *testing.T) (v partitionVectors) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "vectors", "partition_vectors.json"))
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func rounded(v []float64) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = Round(v[i])
	}
	return out
}

func TestNormalizeBandsGolden(t *testing.T) {
	for _, c := range loadVectors(t).EngineBands {
		var in Bands
		var hlod *float64
		for i, dst := range []any{&in.Streaming, &in.Unload, &in.Prefetch, &hlod, &in.LODs} {
			if err := json.Unmarshal(c.In[i], dst); err != nil {
				t.Fatal(err)
			}
		}
		if hlod != nil {
			in.HLOD = *hlod
		}
		want := Bands{Streaming: c.Out.Streaming, Unload: c.Out.Unload, Prefetch: c.Out.Prefetch, LODs: c.Out.LODs}
		if c.Out.HLOD != nil {
			want.HLOD = *c.Out.HLOD
		}
		if got := Normalize(in); !got.Equal(want) {
			t.Errorf("Normalize(%v) = %v, want %v", in, got, want)
		}
	}
}

func TestNormalizeBandsMore(t *testing.T) {
	for _, c := range []struct{ in, want Bands }{
		{Bands{50, 100, 0, 95, []float64{60, 80}}, Bands{50, 100, 0, 95, []float64{60, 80}}},
		{Bands{38.5353, 57.8030, 0, 53.8, []float64{44.15, 48.15}}, Bands{38.5353, 57.8030, 0, 53.8, []float64{44.15, 48.15}}},
		{Bands{50, 52, 0, 0, nil}, Bands{50, 54, 0, 0, nil}},
		{Bands{10, 12, 0, 100, []float64{1, 2, 3}}, Bands{10, 14, 0, 14, []float64{3.5, 7.5}}},
		{Bands{50, 100, -1, -1, nil}, Bands{50, 100, 0, 0, nil}},
		{Bands{50, 100, 10, 0, nil}, Bands{50, 100, 50, 0, nil}},
		{Bands{}, Bands{Unload: 4}},
	} {
		before := slices.Clone(c.in.LODs)
		if got := Normalize(c.in); !got.Equal(c.want) {
			t.Errorf("Normalize(%v) = %v, want %v", c.in, got, c.want)
		}
		if !slices.Equal(before, c.in.LODs) {
			t.Errorf("Normalize changed its argument: %v", c.in.LODs)
		}
	}
}

func TestSwitchDistancesGolden(t *testing.T) {
	hlod, lods := []float64{1}, []float64{0.3, 0.78}
	for _, c := range loadVectors(t).Radii {
		s, u := c.Defaults[0], c.Defaults[1]
		h := HLODDistances(s, u, hlod)
		for what, d := range map[string]string{
			"hlod":              cmp.Diff(c.HLOD, rounded(h)),
			"lods":              cmp.Diff(c.LODs, rounded(LODDistances(s, u, h, lods))),
			"lods without hlod": cmp.Diff(c.LODsWithoutHLOD, rounded(LODDistances(s, u, nil, lods))),
		} {
			if d != "" {
				t.Errorf("base %v, half diagonal %v: %s:\n%s", c.BaseTile, c.HalfDiag, what, d)
			}
		}
	}
}

func TestSwitchDistancesOfTiers(t *testing.T) {
	for _, c := range []struct {
		s, u       float64
		hlod, lods []float64
	}{
		{80, 120, []float64{116}, []float64{90.22, 104.52}},
		{30, 50, []float64{46}, []float64{35.78, 39.86}},
		{6, 10, []float64{10}, []float64{4, 8}},
	} {
		h := HLODDistances(c.s, c.u, []float64{1})
		if d := cmp.Diff(c.hlod, rounded(h)); d != "" {
			t.Errorf("%v/%v: hlod:\n%s", c.s, c.u, d)
		}
		if d := cmp.Diff(c.lods, rounded(LODDistances(c.s, c.u, h, []float64{0.3, 0.78}))); d != "" {
			t.Errorf("%v/%v: lods:\n%s", c.s, c.u, d)
		}
	}
}

func TestSwitchDistancesKeepTheOrderOfTheInput(t *testing.T) {
	a := LODDistances(50, 100, nil, []float64{0.3, 0.78})
	b := LODDistances(50, 100, nil, []float64{0.78, 0.3})
	slices.Reverse(b)
	if d := cmp.Diff(a, b); d != "" {
		t.Error(d)
	}
	// Above 1 means metres.
	if got := rounded(LODDistances(50, 100, nil, []float64{60, 80})); !slices.Equal(got, []float64{60, 80}) {
		t.Error(got)
	}
	if got := HLODDistances(50, 100, []float64{70}); !slices.Equal(got, []float64{70}) {
		t.Error(got)
	}
	if got := LODDistances(50, 100, nil, nil); len(got) != 0 {
		t.Error(got)
	}
}

func TestFitBands(t *testing.T) {
	h, l := []float64{1}, []float64{0.3, 0.78}
	for _, c := range []struct {
		name       string
		s, u       float64
		hlod, lods []float64
		want       Bands
		drops      []Drop // without reasons
	}{
		{"wide bands are those of the reference", 50, 75, h, l, Bands{50, 75, 0, 71, []float64{56.89, 63.53}}, nil},
		{"a narrow band moves the lods out of the streaming radius", 14, 30, h, l, Bands{14, 30, 0, 26, []float64{18, 22}}, nil},
		{"a narrower one loses the coarse lod", 14, 21, h, l, Bands{14, 21, 0, 19, []float64{15}}, []Drop{{Level: 1}}},
		{"coarsest first, whatever their order", 14, 21, h, []float64{0.78, 0.3}, Bands{14, 21, 0, 19, []float64{15}}, []Drop{{Level: 0}}},
		{"hlod last", 6, 10, h, l, Bands{6, 10, 0, 0, nil}, []Drop{{Level: 1}, {Level: 0}, {HLOD: true}}},
		{"just room for the hlod", 6, 11, h, nil, Bands{6, 11, 0, 10, nil}, nil},
		{"unload is widened", 1, 2, h, l, Bands{1, 5, 0, 0, nil}, []Drop{{Level: 1}, {Level: 0}, {HLOD: true}}},
		{"lods alone need 4 m each", 6, 14, nil, l, Bands{6, 14, 0, 0, []float64{6, 10}}, nil},
		{"one of them fits", 6, 13.9, nil, l, Bands{6, 13.9, 0, 0, []float64{9.9}}, []Drop{{Level: 1}}},
		{"only the nearest hlod is used", 50, 100, []float64{1, 0.5}, nil, Bands{50, 100, 0, 85.5, nil}, []Drop{{HLOD: true, Level: 0}}},
		{"metres", 50, 120, []float64{300}, []float64{80, 150}, Bands{50, 120, 0, 116, []float64{80, 112}}, nil},
		{"metres inside the streaming radius move out", 80, 120, nil, []float64{20}, Bands{80, 120, 0, 0, []float64{84}}, nil},
		{"nothing wanted", 50, 75, nil, nil, Bands{50, 75, 0, 0, nil}, nil},
		{"no decimals fit", 10.001, 14.003, nil, []float64{0.3}, Bands{10.001, 14.003, 0, 0, []float64{10.003}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := Fit(c.s, c.u, c.hlod, c.lods)
			// The bands are compared to a centimetre, but for the last case.
			if d := cmp.Diff(c.want, f.Bands, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })); d != "" {
				t.Error(d)
			}
			for i := range f.Dropped {
				if f.Dropped[i].Reason == "" || f.Dropped[i].String() == "" {
					t.Error("a drop without reason")
				}
				f.Dropped[i].Reason = ""
			}
			if d := cmp.Diff(c.drops, f.Dropped); d != "" {
				t.Error(d)
			}
			if f.Widened != (c.u < c.s+Gap) {
				t.Error("Widened is", f.Widened)
			}
		})
	}
}

func TestFitBandsIsEngineClean(t *testing.T) {
	distance := rapid.OneOf(rapid.Float64Range(0, 1), rapid.Float64Range(0, 600))
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.Float64Range(0, 500).Draw(t, "s")
		u := s + rapid.OneOf(rapid.Float64Range(-10, 30), rapid.Float64Range(0, 500)).Draw(t, "band")
		hlod := rapid.SliceOfN(distance, 0, 2).Draw(t, "hlod")
		lods := rapid.SliceOfN(distance, 0, 4).Draw(t, "lods")
		f := Fit(s, u, hlod, lods)
		if n := Normalize(f.Bands); !n.Equal(f.Bands) {
			t.Fatalf("the engine makes %v of %v", n, f.Bands)
		}
		if f.Bands.Unload != max(u, s+Gap) || f.Widened != (u < s+Gap) {
			t.Fatalf("unload %v became %v", u, f.Bands.Unload)
		}
		if len(f.Bands.LODs) > 0 && f.Bands.LODs[0] < s {
			t.Fatalf("the first lod %v is inside %v", f.Bands.LODs[0], s)
		}
		if len(f.LODs)+len(f.HLOD)+len(f.Dropped) != len(hlod)+len(lods) {
			t.Fatalf("levels got lost: %+v", f)
		}
		if len(hlod) > 0 && len(f.HLOD) == 0 && len(f.LODs) > 0 {
			t.Fatal("the hlod went before the lods")
		}
		for i := range f.LODs {
			if f.LODs[i].Distance != f.Bands.LODs[i] {
				t.Fatal("LODs and Bands.LODs differ")
			}
		}
	})
}

// Where the rule of thumb promises room, nothing may be dropped.
func TestFitBandsKeepsWhatHasRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.Float64Range(1, 300).Draw(t, "s")
		lods := rapid.SliceOfN(rapid.Float64Range(0, 1), 0, 5).Draw(t, "lods")
		n := float64(len(lods))
		if f := Fit(s, s+4*n+5.01, []float64{1}, lods); len(f.Dropped) > 0 {
			t.Fatalf("%v with room", f.Dropped)
		}
		if f := Fit(s, s+4*n+0.01, nil, lods); len(f.Dropped) > 0 {
			t.Fatalf("%v with room and no hlod", f.Dropped)
		}
	})
}

func TestNormalizeBandsIsIdempotentWhenNothingIsDropped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64Range(0, 1000)
		b := Bands{f.Draw(t, "s"), f.Draw(t, "u"), f.Draw(t, "p"), f.Draw(t, "h"), rapid.SliceOfN(f, 0, 4).Draw(t, "l")}
		once := Normalize(b)
		twice := Normalize(once)
		if len(twice.LODs) == len(once.LODs) && len(once.LODs) == len(b.LODs) {
			for i := range once.LODs {
				if math.Abs(once.LODs[i]-twice.LODs[i]) > 1e-9 {
					t.Fatalf("%v, then %v", once, twice)
				}
			}
		}
		if once.Unload != twice.Unload || once.HLOD != twice.HLOD || once.Prefetch != twice.Prefetch {
			t.Fatalf("%v, then %v", once, twice)
		}
	})
}

// The engine computes in single precision; what Fit gives must survive
// that too, but for the last digits.
func TestFitBandsSurvivesSinglePrecision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.Float64Range(0, 500).Draw(t, "s")
		u := s + rapid.Float64Range(0, 100).Draw(t, "band")
		b := Fit(s, u, []float64{1}, rapid.SliceOfN(rapid.Float64Range(0, 1), 0, 4).Draw(t, "lods")).Bands
		single := func(v float64) float64 { return float64(float32(v)) }
		c := Bands{Streaming: single(b.Streaming), Unload: single(b.Unload), HLOD: single(b.HLOD)}
		for _, l := range b.LODs {
			c.LODs = append(c.LODs, single(l))
		}
		if n := Normalize(c); !n.Near(b) {
			t.Fatalf("%v becomes %v", b, n)
		}
	})
}

func TestBandsText(t *testing.T) {
	b := Bands{50, 75, 60, 71, []float64{56.89, 63.53}}
	if got := b.String(); got != "streaming 50, unload 75, prefetch 60, hlod 71, lod 56.89 63.53" {
		t.Error(got)
	}
	if got := (Bands{Streaming: 1, Unload: 2}).String(); got != "streaming 1, unload 2" {
		t.Error(got)
	}
	near := Bands{50, 75.0005, 60, 71, []float64{56.89, 63.5299}}
	if !b.Near(near) || b.Near(Bands{50, 75, 60, 71, []float64{56.89}}) || b.Near(Bands{50, 75.01, 60, 71, b.LODs}) {
		t.Error("Near is wrong")
	}
}

func TestScreenError(t *testing.T) {
	if px := ScreenError(1, 100, 90, 1000); math.Abs(px-5) > 1e-9 {
		t.Error(px)
	}
}
