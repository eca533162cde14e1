package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInstructions(t *testing.T) {
	for _, c := range []struct {
		name  string
		word  uint32
		fused bool
	}{
		{"FMADD D0, D0, D1, D2", 0x1f410800, true},
		{"FMADD S0, S0, S1, S2", 0x1f010800, true},
		{"FMSUB D0, D0, D1, D2", 0x1f418800, true},
		{"FNMADD D0, D0, D1, D2", 0x1f610800, true},
		{"FNMSUB D0, D0, D1, D2", 0x1f618800, true},
		{"FMLA V0.2D, V1.2D, V2.2D", 0x4e62cc20, true},
		{"FMLS V0.4S, V1.4S, V2.4S", 0x4ea2cc20, true},
		{"FMLA V0.4S, V1.4S, V2.S[0]", 0x4f821020, true},
		{"FMUL D0, D0, D1", 0x1e610800, false},
		{"FADD D0, D0, D1", 0x1e612800, false},
		{"MADD X0, X0, X1, X2", 0x9b010800, false},
		{"MLA V0.4S, V1.4S, V2.4S", 0x4ea29420, false},
		{"BL +4", 0x94000001, false},
	} {
		if got := isFused(c.word); got != c.fused {
			t.Errorf("%s: fused is %v", c.name, got)
		}
	}
	for _, c := range []struct {
		word uint32
		to   uint64
		ok   bool
	}{
		{0x94000001, 0x1004, true},    // BL +4
		{0x97ffffff, 0xffc, true},     // BL -4
		{0x14000002, 0x1008, true},    // B +8
		{0x54000040, 0, false},        // B.EQ +8
		{0xd63f0000, 0, false},        // BLR X0
		{0x95ffffff, 0x8000ffc, true}, // as far as it goes
		{0xb4000040, 0, false},        // CBZ X0, +8
	} {
		if to, ok := target(0x1000, c.word); to != c.to || ok != c.ok {
			t.Errorf("%#x leads to %#x, %v; want %#x, %v", c.word, to, ok, c.to, c.ok)
		}
	}
}

// A program of which it is known what the compiler makes.
func TestScan(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	const text = `package main

import (
	"math"
	"os"
)

//go:noinline
func fused(x, y, z float64) float64 { return x*y + z }

//go:noinline
func later(x, y, z float32) float32 {
	p := x * y
	return z - p
}

//go:noinline
func converted(x, y, z float64) float64 { return float64(x*y) + z }

//go:noinline
func root(x float64) float64 { return math.Sqrt(x) }

//go:noinline
func power(x float64) float64 { return math.Pow(x, 0.3) }

func main() {
	x := float64(len(os.Args))
	println(fused(x, x, x), later(float32(x), 2, 3), converted(x, x, x), root(x), power(x))
}
`
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	binary, err := build(dir, source)
	if err != nil {
		t.Fatal(err)
	}
	found, err := scan(binary)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range found {
		if strings.HasPrefix(f.function, "main.") {
			got[f.function] = f.calls
		}
	}
	if diff := cmp.Diff(map[string]string{"main.fused": "", "main.later": "", "main.power": "math.pow"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestScanRefuses(t *testing.T) {
	if _, err := scan(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there was read")
	}
	name := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(name, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := scan(name); err == nil {
		t.Error("a text was read")
	}
}

func TestJudge(t *testing.T) {
	found := []finding{{function: "a.one"}, {function: "a.two"}, {function: "b.one", calls: "math.pow"}}
	bad, stale := judge(found, []allowance{{"a.", "r"}, {"c.", "r"}})
	if len(bad) != 1 || bad[0].function != "b.one" || len(stale) != 1 || stale[0].function != "c." {
		t.Errorf("bad %v, stale %v", bad, stale)
	}
	for _, a := range allowed {
		if a.reason == "" {
			t.Errorf("%s has no reason", a.function)
		}
	}
}
