package layer

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// full is a layer with everything that is read.
func full(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "full.usda"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func parse(t testing.TB, text string) *Layer {
	t.Helper()
	l, err := ParseText(context.Background(), []byte(text), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func openCrate(t testing.TB, data []byte) *Layer {
	t.Helper()
	l, err := OpenCrate(context.Background(), bytes.NewReader(data), int64(len(data)), 1<<24)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// describe writes a tree, so that two can be compared.
func describe(t testing.TB, l *Layer) string {
	var b strings.Builder
	text := func(v Value) string {
		switch v := v.(type) {
		case Dict:
			var out []string
			for _, k := range slices.Sorted(maps.Keys(v)) {
				out = append(out, k+":"+fmt.Sprint(v[k]))
			}
			return strings.Join(out, " ")
		case *Numbers:
			out := fmt.Sprint(v.Width, v.Array && v.Flat() > 0)
			for i := range v.Flat() {
				out += fmt.Sprint(" ", v.At(i))
			}
			return out
		case ListOp[string]: // as the metadata of tokens have it
			return fmt.Sprint(v.Items)
		}
		return fmt.Sprint(v)
	}
	var prim func(p *Prim, in string)
	prim = func(p *Prim, in string) {
		fmt.Fprintln(&b, in, p.Name, p.Specifier, p.Type, p.References, p.Payloads, p.Inherits, p.Specializes, p.Selections, p.SetNames)
		for _, k := range slices.Sorted(maps.Keys(p.Meta)) {
			if k != "subLayers" && k != "documentation" && k != "doc" {
				fmt.Fprintln(&b, in, " #", k, text(p.Meta[k]))
			}
		}
		list := slices.Clone(p.Properties)
		slices.SortFunc(list, func(a, b *Property) int { return strings.Compare(a.Name, b.Name) })
		for _, a := range list {
			v, err := a.Get()
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&b, in, " .", a.Name, a.Type, a.Interpolation, a.ElementSize, a.ColorSpace, a.BindStrength, a.Targets, a.Connections, a.Sampled, a.Has, text(v))
		}
		for _, s := range p.Sets {
			for _, v := range s.Variants {
				fmt.Fprintln(&b, in, " {", s.Name, v.Name)
				prim(v, in+"    ")
			}
		}
		for _, c := range p.Children {
			prim(c, in+"  ")
		}
	}
	fmt.Fprintln(&b, l.SubLayers)
	prim(l.Root, "")
	return b.String()
}

// TestTwins: a layer as text and as a crate of each version is the same tree.
func TestTwins(t *testing.T) {
	l := parse(t, full(t))
	want := describe(t, l)
	for minor := 0; minor <= 13; minor++ {
		got := describe(t, openCrate(t, writeCrate(t, l, minor)))
		if got == want {
			continue
		}
		a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Fatalf("0.%d: line %d\nof the crate %s\nof the text  %s", minor, i, b[i], a[i])
			}
		}
		t.Fatalf("0.%d: %d lines, want %d", minor, len(b), len(a))
	}
}

// TestValues: what the text says is what comes out.
func TestValues(t *testing.T) {
	l := parse(t, full(t))
	if want := []string{"below.usda", "@odd@.usda"}; !slices.Equal(l.SubLayers, want) {
		t.Errorf("sublayers %q", l.SubLayers)
	}
	if l.Meta["upAxis"] != "Z" || l.Meta["metersPerUnit"] != 0.01 || l.Meta["defaultPrim"] != "World" {
		t.Errorf("metadata %v", l.Meta)
	}
	world := l.Root.Child("World")
	if world == nil || world.Type != "Xform" || world.Specifier != Def {
		t.Fatalf("%+v", world)
	}
	get := func(p *Prim, name string) Value {
		t.Helper()
		a := p.Property(name)
		if a == nil {
			t.Fatalf("%s has no %s", p.Name, name)
		}
		v, err := a.Get()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	values := world.Child("Values")
	for name, want := range map[string]Value{
		"flag": true, "off": false, "count": int64(-7), "ratio": 0.5, "big": 1e300, "word": Token("up"), "label": "a \"b\"\n\tc\\",
		"file": Asset("./tex/a b.png"), "none": nil, "lines": "two\nlines",
	} {
		if got := get(values, name); got != want {
			t.Errorf("%s is %#v, want %#v", name, got, want)
		}
	}
	if n := get(values, "points").(*Numbers); n.Width != 3 || !n.Array || !slices.Equal(n.F32, []float32{0, 1, 2, 3, 4.5, -5e-3}) {
		t.Errorf("points %+v", n)
	}
	if n := get(values, "turn").(*Numbers); !slices.Equal(n.F32, []float32{1, 0, 0.5, 0.25}) {
		t.Errorf("a quaternion is %+v", n)
	}
	if n := get(values, "long").(*Numbers); n.Len() != 100 || n.Int[99] != 4950 {
		t.Errorf("a long list is %+v", n)
	}
	moving := values.Property("moving")
	if v, _ := moving.Get(); v != 1.5 || !moving.Sampled {
		t.Errorf("the earliest sample is %v, %v", v, moving.Sampled)
	}
	if v, _ := values.Property("both").Get(); v != 9.0 {
		t.Errorf("the default is %v", v)
	}
	if got := values.Property("link").Targets.Items; !slices.Equal(got, []string{"/World/A", "/World/B.size"}) {
		t.Errorf("targets %v", got)
	}
	if v := world.Variant("look", "red"); v == nil || v.Child("Inner") == nil || world.Selections["look"] != "red" {
		t.Errorf("variants %+v", world.Sets)
	}
	d, _ := world.Meta["customData"].(Dict)
	if inner, _ := d["inner"].(Dict); inner["deep"] != int64(3) {
		t.Errorf("customData %v", d)
	}
}

// TestListOps: a list of a stronger layer changes that of a weaker one.
func TestListOps(t *testing.T) {
	weak := []string{"a", "b", "c"}
	for _, c := range []struct {
		op   ListOp[string]
		want string
	}{
		{ListOp[string]{}, "a b c"},
		{ListOp[string]{Explicit: true}, ""},
		{ListOp[string]{Explicit: true, Items: []string{"x", "x"}}, "x"},
		{ListOp[string]{Prepended: []string{"c", "d"}}, "c d a b"},
		{ListOp[string]{Appended: []string{"a"}}, "b c a"},
		{ListOp[string]{Added: []string{"a", "z"}, Deleted: []string{"b"}}, "a c z"},
	} {
		if got := strings.Join(c.op.Apply(weak), " "); got != c.want {
			t.Errorf("%+v makes %q, want %q", c.op, got, c.want)
		}
	}
}

// TestFaults: what is wrong is said with its line.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "line 1: does not begin with"},
		{"#usda 1.0\ndef \"a\" {", `line 2: the file ends where } is expected`},
		{"#usda 1.0\ndef \"a/b\" {}", `line 2: "a/b" cannot be the name of a prim`},
		{"#usda 1.0\nhello", "line 2: def, over or class is expected, not \"hello\""},
		{"#usda 1.0\ndef \"a\" {\nfloat x = y\n}", "line 3: a number is expected, not \"y\""},
		{"#usda 1.0\ndef \"a\" {\nint x = 1.5\n}", "line 3: a whole number is expected"},
		{"#usda 1.0\ndef \"a\" {\nfloat3 x = (1, 2)\n}", "line 3: there are 2 numbers for elements of 3"},
		{"#usda 1.0\ndef \"a\" {\nstring x = \"\n}", "line 3: a text has no end on its line"},
		{"#usda 1.0\ndef \"a\" {\nrel x = </b\n}", "line 3: a path has no end"},
		{"#usda 1.0\n" + strings.Repeat("def \"a\" {", 1000), "line 2: nests more than 128 levels"},
		{"#usda 1.0\n(a = " + strings.Repeat("[", 1000), "line 2: nests more than 128 levels"},
	} {
		_, err := ParseText(context.Background(), []byte(c.text), 1<<30)
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %v, want %q", clip(c.text), err, c.want)
		}
	}
	// Numbers of long lists are looked at when they are asked for.
	l := parse(t, "#usda 1.0\ndef \"a\" {\nint[] x = [\n"+strings.Repeat("1, 2,\n", 100)+"oops]\n}")
	if _, err := l.Root.Children[0].Properties[0].Get(); err == nil || !strings.HasPrefix(err.Error(), "line 104: ") {
		t.Errorf("%v", err)
	}
}

// TestCrateLists: lists of a crate's structure take no more memory than they may, although
// the file has what they are made of.
func TestCrateLists(t *testing.T) {
	const n = 4096
	zeros := make([]byte, 12*n)
	for _, x := range []struct {
		section string
		read    func(*crate, *cursor) error
		memory  int64
		numbers []uint64
		data    []byte
	}{
		{"TOKENS", (*crate).oldTokens, tokenCost*n - 1, []uint64{n, n}, zeros[:n]},
		{"TOKENS", (*crate).readTokens, tokenCost*n - 1, []uint64{n, n, uint64(len(pack(t, zeros[:n])))}, pack(t, zeros[:n])},
		{"PATHS", (*crate).oldPaths, 12*n - 1, []uint64{n}, zeros},
	} {
		w := &crateWriter{t: t}
		for _, v := range x.numbers {
			w.u64(v)
		}
		w.out = append(w.out, x.data...)
		c := &crate{r: bytes.NewReader(w.out), size: int64(len(w.out)), memory: x.memory, version: tightFrom}
		if err := x.read(c, &cursor{c, 0}); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), x.section) {
			t.Errorf("%s: %v", x.section, err)
		}
	}
}

// TestCratesCutOff: a crate that ends early, or has a byte changed, is an error or another
// tree, but nothing worse.
func TestCratesCutOff(t *testing.T) {
	for _, minor := range []int{0, 1, 8} {
		cutOff(t, writeCrate(t, parse(t, full(t)), minor))
	}
}

func cutOff(t *testing.T, data []byte) {
	try := func(data []byte) {
		l, err := OpenCrate(context.Background(), bytes.NewReader(data), int64(len(data)), 1<<22)
		if err == nil {
			err = allValues(l.Root)
		}
		if e := (*Error)(nil); err != nil && !errors.As(err, &e) {
			t.Fatalf("the error is a %T: %v", err, err)
		}
	}
	for n := 0; n < len(data); n += 7 {
		if _, err := OpenCrate(context.Background(), bytes.NewReader(data[:n]), int64(n), 1<<22); err == nil {
			t.Fatalf("%d of %d bytes are a crate", n, len(data))
		}
	}
	for n := 0; n < len(data); n += 3 {
		bad := bytes.Clone(data)
		bad[n] ^= 0x55
		try(bad)
	}
}

// TestPackedInts: whole numbers survive, of both widths.
func TestPackedInts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		width := rapid.SampledFrom([]int{4, 8}).Draw(rt, "width")
		of := rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64Range(math.MinInt32, math.MaxInt32))
		if width == 8 {
			of = rapid.OneOf(of, rapid.Int64())
		}
		list := rapid.SliceOfN(of, 0, 50).Draw(rt, "list")
		w := &crateWriter{t: t}
		w.ints(list, width)
		c := &cursor{&crate{r: bytes.NewReader(w.out), size: int64(len(w.out)), memory: 1 << 20, budget: newBudget(context.Background(), 0, 1<<20)}, 0}
		got, err := c.packedInts(uint64(len(list)), width)
		if err != nil || !slices.Equal(got, list) && len(list) > 0 || c.at != c.size {
			rt.Fatalf("%v: %v, %v", list, got, err)
		}
	})
}

// TestBlocks: packed bytes of several blocks are put together.
func TestBlocks(t *testing.T) {
	want := []byte("one and another")
	src := []byte{2}
	for _, part := range [][]byte{want[:4], want[4:]} {
		src = append(binary.LittleEndian.AppendUint32(src, uint32(len(literals(part)))), literals(part)...)
	}
	if got, err := unpack(src, int64(len(want))); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	for n := range src {
		if _, err := unpack(src[:n], int64(len(want))); err == nil {
			t.Errorf("%d of %d bytes are whole", n, len(src))
		}
	}
}

// TestHalf: numbers of 16 bits.
func TestHalf(t *testing.T) {
	for h, want := range map[uint16]float64{
		0: 0, 0x3C00: 1, 0xC000: -2, 0x3555: 0.333251953125, 0x7BFF: 65504, 1: math.Exp2(-24), 0x0400: math.Exp2(-14), 0x7C00: math.Inf(1),
	} {
		if got := half(h); got != want {
			t.Errorf("%#x is %v, want %v", h, got, want)
		}
	}
	if !math.IsNaN(half(0x7E00)) {
		t.Error("no NaN")
	}
}

// TestInlined: small values stand in their reps.
func TestInlined(t *testing.T) {
	c := &crate{budget: newBudget(context.Background(), 0, 1<<20)}
	for _, x := range []struct {
		r    valueRep
		want Value
	}{
		{rep(typeUChar, 200), int64(200)},
		{rep(typeHalf, 0x3C00), 1.0},
		{rep(typeUInt, 1<<32-1), int64(1<<32 - 1)},
		{rep(typeVec2d+5, 0xFF0201), &Numbers{Width: 3, F64: []float64{1, 2, -1}}},
		{rep(typeMatrix2, 0x0302), &Numbers{Width: 4, F64: []float64{2, 0, 0, 3}}},
		{rep(typeQuatf, 0x04030201), &Numbers{Width: 4, F64: []float64{4, 1, 2, 3}}},
	} {
		if got, err := c.value(x.r|isInline, 0); err != nil || !reflect.DeepEqual(got, x.want) {
			t.Errorf("%#x is %#v, %v, want %#v", x.r, got, err, x.want)
		}
	}
}

var update = flag.Bool("update", false, "rewrite the crates of testdata")

// TestRoom: the crates that tests of package usd read, one of them as the first version wrote
// it, are the layer of text beside them.
func TestRoom(t *testing.T) {
	dir := filepath.Join("..", "..", "testdata")
	text, err := os.ReadFile(filepath.Join(dir, "room.usda"))
	if err != nil {
		t.Fatal(err)
	}
	l := parse(t, string(text))
	for name, minor := range map[string]int{"room.usdc": 8, "room_old.usdc": 0} {
		file := filepath.Join(dir, name)
		if *update {
			if err := os.WriteFile(file, writeCrate(t, l, minor), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(describe(t, l), describe(t, openCrate(t, data))); diff != "" {
			t.Errorf("%s is another layer; -update writes it anew: %s", name, diff)
		}
	}
}

// TestWide: whole numbers of 64 bits, and dictionaries without types, do not refuse a layer.
func TestWide(t *testing.T) {
	l := parse(t, "#usda 1.0\ndef \"a\" ( prefixSubstitutions = { \"x\": \"y\" } suffixSubstitutions = { \"x\": \"y\" } ) {\nint64 a = 9007199254740993\nuint64 b = 18446744073709551615\n}")
	for name, want := range map[string]Value{"a": int64(9007199254740993), "b": nil} {
		if v, err := l.Root.Children[0].Property(name).Get(); err != nil || v != want {
			t.Errorf("%s is %v, %v, want %v", name, v, err, want)
		}
	}
}
