package budget

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sample is a report.
type sample struct {
	Scene   string   `json:"scene"`
	Undrawn int      `json:"undrawn"`
	Bytes   *int64   `json:"tile_bytes_max"`
	Median  *int64   `json:"tile_bytes_p50"`
	MS      float64  `json:"update_ms_p99"`
	SSIM    float64  `json:"ssim_min"`
	OK      bool     `json:"ok"`
	List    []int    `json:"list"`
	Deep    struct{} `json:"deep"`
	Last    float64  `json:"seconds"`
}

func (s *sample) Value(name string) (float64, error) { return Value(s, name) }

func names() []string {
	n, _ := Numbers(&sample{})
	return n
}

func TestNumbers(t *testing.T) {
	size := int64(7)
	got, values := Numbers(&sample{Scene: "undrawn", Bytes: &size, List: []int{1, 2}, Last: 3})
	want := []string{"undrawn", "tile_bytes_max", "tile_bytes_p50", "update_ms_p99", "ssim_min", "seconds"}
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if values[1] != 7 || !math.IsNaN(values[2]) || values[5] != 3 {
		t.Errorf("%v", values)
	}
	s := &sample{}
	if _, err := s.Value("tile_bytes_p50"); err == nil || !strings.Contains(err.Error(), "not known here") {
		t.Errorf("%v", err)
	}
	if _, err := s.Value("scene"); err == nil {
		t.Error("a text is a figure")
	}
}

func TestParseNumber(t *testing.T) {
	for _, c := range []struct {
		text string
		unit Unit
		want float64
	}{
		{"200k", Bytes, 200e3},
		{"200 kB", Bytes, 200e3},
		{"1.5MiB", Bytes, 1.5 * (1 << 20)},
		{"2KiB", Bytes, 2048},
		{"1G", Bytes, 1e9},
		{"12B", Bytes, 12},
		{"50k", Count, 50e3},
		{"2M", Count, 2e6},
		{"0", Count, 0},
		{"-1", Count, -1},
		{"1e3", Count, 1000},
		{"4ms", Milliseconds, 4},
		{"0.25s", Milliseconds, 250},
		{"500us", Milliseconds, 0.5},
		{"500ms", Seconds, 0.5},
		{"2min", Seconds, 120},
		{"2px", Pixels, 2},
		{"1%", Share, 0.01},
		{"1.2km", Metres, 1200},
		{"30m", Metres, 30},
		{"0.98", Ratio, 0.98},
	} {
		if got, err := ParseNumber(c.text, c.unit); err != nil || math.Abs(got-c.want) > 1e-12*math.Abs(c.want) {
			t.Errorf("%s of %s: %v, %v", c.text, c.unit, got, err)
		}
	}
	for text, unit := range map[string]Unit{
		"many": Count, "": Count, "k": Count, "1MiB": Count, "1ms": Bytes, "nan": Ratio, "inf": Ratio, "1e999": Bytes, "0x10": Count, "1_0": Count, "5%": Pixels, "1km": Ratio,
	} {
		if v, err := ParseNumber(text, unit); err == nil || !strings.Contains(err.Error(), "is no number") {
			t.Errorf("%q of %s: %v, %v", text, unit, v, err)
		}
	}
}

func TestParse(t *testing.T) {
	c, err := Parse(" tile_bytes_max > 200k ", names())
	if err != nil || c.Value != 200e3 || c.String() != "tile_bytes_max>200k" {
		t.Errorf("%+v, %v", c, err)
	}
	for text, want := range map[string]string{
		"undrawn":         "has no comparison",
		"undrawn!=0":      "the comparisons are",
		"undrwan>0":       `did you mean "undrawn"?`,
		"tile_bytes>1":    `did you mean "tile_bytes_max" or "tile_bytes_p50"?`,
		"max_tile>1":      `did you mean "tile_bytes_max"?`,
		"zzzzzzzzz>0":     "the figures are undrawn, tile_bytes_max",
		"undrawn>200MiB":  "it is in count, and may have k, K, M or G",
		">1":              "there is no figure",
		"ssim_min<":       "is no number",
		"update_ms_p99>k": `"k" is no number`,
	} {
		if _, err := Parse(text, names()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestParseAnything: conditions may come from a file beside a scene.
func TestParseAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`(undrawn|tile_bytes_max) ?(<|<=|>|>=|==) ?-?[0-9]{1,9}(\.[0-9]{1,3})?(k|M|KiB)?`)).Draw(t, "text")
		c, err := Parse(text, names())
		if err != nil {
			return
		}
		again, err := Parse(c.String(), names())
		if err != nil || again != c {
			t.Fatalf("%q is %+v, which reads as %+v, %v", text, c, again, err)
		}
	})
}

// FuzzParse: no text makes the parser panic, messages stay short, and what is accepted
// is a number.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"tile_bytes_max>200k", "undrawn >= 1e3", "ssim_min<0.98", "update_ms_p99==4ms", "<>", "undrawn>" + strings.Repeat("9", 150), strings.Repeat("x", 300) + ">1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(text, names())
		if err != nil {
			if len(err.Error()) > 5000 {
				t.Fatalf("%d bytes of message", len(err.Error()))
			}
			return
		}
		if math.IsNaN(c.Value) || math.IsInf(c.Value, 0) {
			t.Fatalf("%+v", c)
		}
		if _, err := Judge([]Condition{c}, &sample{Bytes: new(int64(5)), Median: new(int64(3))}); err != nil {
			t.Fatal(err)
		}
	})
}

func TestJudge(t *testing.T) {
	size := int64(181e3)
	s := &sample{Bytes: &size, MS: 3.9, SSIM: 0.9923}
	for _, c := range []struct {
		budgets string
		want    string
	}{
		{"tile_bytes_max>200k undrawn>0", "closest budget: tile_bytes_max 181.0 kB of 200.0 kB (90 %)\n"},
		{"update_ms_p99>4 tile_bytes_max>200k", "closest budget: update_ms_p99 3.9 ms of 4 ms (97 %)\n"},
		{"undrawn>0", "closest budget: undrawn 0 of 0\n"},
		{"ssim_min<0.98", "closest budget: ssim_min 0.9923 of at least 0.98 (98 %)\n"},
		{"undrawn==1", ""},
		{"", ""},
		{
			"tile_bytes_max>150k update_ms_p99>1ms undrawn>0",
			"failed: tile_bytes_max is 181.0 kB (--fail-if tile_bytes_max>150k)\nfailed: update_ms_p99 is 3.9 ms (--fail-if update_ms_p99>1ms)\n" +
				"farthest over its budget: update_ms_p99 3.9 ms of 1 ms (390 %)\n",
		},
		{"undrawn>=0", "failed: undrawn is 0 (--fail-if undrawn>=0)\nfarthest over its budget: undrawn 0 of 0\n"},
		{"undrawn==0", "failed: undrawn is 0 (--fail-if undrawn==0)\nfarthest over its budget: undrawn 0 of 0\n"},
		{"undrawn<1 tile_bytes_max>1", "failed: undrawn is 0 (--fail-if undrawn<1)\nfailed: tile_bytes_max is 181.0 kB (--fail-if tile_bytes_max>1)\nfarthest over its budget: undrawn 0 of at least 1\n"},
		{"tile_bytes_max>180999B", "failed: tile_bytes_max is 181.0 kB (--fail-if tile_bytes_max>180999B)\nfarthest over its budget: tile_bytes_max 181.0 kB of 181.0 kB (101 %)\n"},
	} {
		var list []Condition
		for text := range strings.FieldsSeq(c.budgets) {
			one, err := Parse(text, names())
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, one)
		}
		verdicts, err := Judge(list, s)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		Write(&b, verdicts, false, func(w string) string { return w })
		if b.String() != c.want {
			t.Errorf("%s:\n%swant\n%s", c.budgets, b.String(), c.want)
		}
		b.Reset()
		if Write(&b, verdicts, true, func(w string) string { return w }); (b.Len() > 0) != Failed(verdicts) {
			t.Errorf("%s, in brief: %q", c.budgets, b.String())
		}
	}
	if _, err := Judge([]Condition{{Key: "tile_bytes_p50", Op: ">"}}, s); err == nil || !strings.Contains(err.Error(), "cannot be judged") {
		t.Errorf("an unknown figure: %v", err)
	}
}

// TestUsedAgrees: what fails has used all of its budget, what does not fail has not.
func TestUsedAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Condition{
			Key: "undrawn", Op: rapid.SampledFrom([]string{"<", "<=", ">", ">="}).Draw(t, "op"),
			Value: rapid.Float64Range(0, 1e6).Draw(t, "limit"),
		}
		v := rapid.Float64Range(0, 1e6).Draw(t, "value")
		u := c.used(v)
		switch {
		case u == nil || v == c.Value:
		case math.IsNaN(*u) || math.IsInf(*u, 0) || *u < 0:
			t.Fatalf("%v of %v: %v", v, c, *u)
		case c.compare(v) != (*u > 1) && *u != 1:
			t.Fatalf("%v of %v uses %v", v, c, *u)
		}
	})
}

func TestVocabulary(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Figures() {
		if seen[f.Name] || f.Name != strings.ToLower(f.Name) || f.Meaning == "" {
			t.Errorf("%+v", f)
		}
		seen[f.Name] = true
		if _, ok := suffixes[f.Unit]; !ok && f.Unit != Ratio {
			t.Errorf("%s has the unit %q", f.Name, f.Unit)
		}
	}
	if UnitOf("tile_bytes_max") != Bytes || UnitOf("none of them") != Ratio {
		t.Error("units")
	}
}

func ExampleParse() {
	c, err := Parse("tile_bytes_max > 200k", []string{"tile_bytes_max"})
	fmt.Println(c, c.Value, err)
	// Output: tile_bytes_max>200k 200000 <nil>
}
