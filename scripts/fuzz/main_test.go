package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/testfile"
)

const repository = "../.."

// TestEveryTargetHasSeeds: without an input to change, the engine begins with
// nothing, and the plain tests check nothing.
func TestEveryTargetHasSeeds(t *testing.T) {
	targets, err := find(repository)
	if err != nil {
		t.Fatal(err)
	}
	if len(targets) < 30 {
		t.Errorf("only %d targets found", len(targets))
	}
	for _, x := range targets {
		if x.added+count(x.committed()) == 0 {
			t.Errorf("%s has no seeds: call f.Add, or commit inputs to %s", x, x.committed())
		}
	}
}

// TestNoStraySeeds: inputs of a target that is gone would be run by nobody.
func TestNoStraySeeds(t *testing.T) {
	targets, err := find(repository)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, x := range targets {
		known[x.committed()] = true
	}
	for _, depth := range []string{"*", "*/*", "*/*/*", "*/*/*/*"} {
		dirs, err := filepath.Glob(filepath.Join(repository, filepath.FromSlash(depth), "testdata", "fuzz", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range dirs {
			if !known[d] {
				t.Errorf("%s belongs to no fuzz target", d)
			}
		}
	}
}

// TestReplayIsPartOfTheCheck pins what the whole check and make do with the
// corpora.
func TestReplayIsPartOfTheCheck(t *testing.T) {
	for file, want := range map[string][]string{
		".ci/run":         {"\nmake fuzz-replay\n"},
		"Makefile":        {"\nfuzz:", "\nfuzz-short:", "\nfuzz-long:", "\nfuzz-replay:", "./scripts/fuzz -replay"},
		"CONTRIBUTING.md": {"make fuzz-short", "make fuzz-long", "make fuzz-replay"},
		"README.md":       {"make fuzz-short", "make fuzz-long"},
	} {
		b := testfile.Read(t, filepath.Join(repository, filepath.FromSlash(file)))
		for _, w := range want {
			if !strings.Contains(string(b), w) {
				t.Errorf("%s does not have %q", file, w)
			}
		}
	}
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a/b/x_test.go", "package b\n\nimport \"testing\"\n\nfunc FuzzTwo(f *testing.F) { f.Add(1); f.Add(2); other.Add(3) }\n\nfunc FuzzNone(g *testing.F) {}\n\nfunc FuzzHelper(x int, y string) {}\n")
	write(t, root, "a/x.go", "package a\n\nfunc FuzzNotATest(f int) {}\n")
	write(t, root, "a/testdata/x_test.go", "package a\n\nfunc FuzzOfTestdata(f int) {}\n")
	write(t, root, "a/b/testdata/fuzz/FuzzNone/1", "x")
	got, err := find(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].String() != "a/b/FuzzNone" || got[1].String() != "a/b/FuzzTwo" {
		t.Fatalf("found %v", got)
	}
	if got[0].added != 0 || got[1].added != 2 || count(got[0].committed()) != 1 || count(got[1].committed()) != 0 {
		t.Errorf("inputs of %v: %d, %d", got, count(got[0].committed()), count(got[1].committed()))
	}
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	testfile.Write(t, filepath.Join(root, filepath.FromSlash(name)), text)
}

// fake is a runner that takes notes; its clock moves by what it is given.
type fake struct {
	at    time.Time
	ran   []string
	fails map[string]bool
	after int // cancel is called in this turn
	stop  context.CancelFunc
}

func (f *fake) fuzz(_ context.Context, t target, d time.Duration) (int64, error) {
	f.ran = append(f.ran, t.name+" "+d.String())
	if f.stop != nil && len(f.ran) == f.after {
		f.stop()
		return 1, context.Canceled
	}
	f.at = f.at.Add(d)
	if f.fails[t.name] {
		return 5, errors.New("an input fails")
	}
	return 10, nil
}

func (f *fake) committed(context.Context, []target) error {
	f.ran = append(f.ran, "committed")
	return nil
}

func (f *fake) kept(_ context.Context, t target) (int, error) {
	f.ran = append(f.ran, "kept "+t.name)
	if f.fails[t.name] {
		return 3, errors.New("an input fails")
	}
	return 3, nil
}

func three() []target {
	return []target{{pkg: "a", name: "FuzzA"}, {pkg: "b", name: "FuzzB"}, {pkg: "c", name: "FuzzC"}}
}

func TestOnceSharesTheTime(t *testing.T) {
	f := &fake{fails: map[string]bool{"FuzzB": true}}
	err := once(t.Context(), f, three(), &settings{total: time.Minute, dir: t.TempDir()}, io.Discard)
	if want := []string{"FuzzA 20s", "FuzzB 20s", "FuzzC 20s"}; !slices.Equal(f.ran, want) {
		t.Errorf("ran %q, want %q", f.ran, want)
	}
	if err == nil || !strings.Contains(err.Error(), "b/FuzzB") || strings.Contains(err.Error(), "FuzzA") {
		t.Errorf("error %v", err)
	}
}

// TestTurnsGoOn stops a long run twice, once by its time and once in the
// middle of a turn; the next goes on with whose turn it was.
func TestTurnsGoOn(t *testing.T) {
	dir := t.TempDir()
	s := &settings{long: true, each: time.Minute, total: 150 * time.Second, dir: dir}
	first := &fake{fails: map[string]bool{"FuzzB": true}}
	err := turns(t.Context(), first, three(), s, func() time.Time { return first.at }, io.Discard)
	if want := []string{"FuzzA 1m0s", "FuzzB 1m0s", "FuzzC 30s"}; !slices.Equal(first.ran, want) {
		t.Errorf("ran %q, want %q", first.ran, want)
	}
	if err == nil || !strings.Contains(err.Error(), "b/FuzzB") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	second := &fake{stop: cancel, after: 2}
	if err := turns(ctx, second, three(), s, func() time.Time { return second.at }, io.Discard); err != nil {
		t.Error(err)
	}
	third := &fake{}
	s.total = time.Minute
	var text strings.Builder
	if err := turns(t.Context(), third, three(), s, func() time.Time { return third.at }, &text); err != nil {
		t.Error(err)
	}
	if got := append(second.ran, third.ran...); !slices.Equal(got, []string{"FuzzA 1m0s", "FuzzB 1m0s", "FuzzB 1m0s"}) {
		t.Errorf("went on with %q", got)
	}
	if !strings.HasPrefix(text.String(), "going on after 4 turns (3m30s) with b/FuzzB\n") {
		t.Errorf("said %q", text.String())
	}
	st, err := loadState(dir)
	if err != nil {
		t.Fatal(err)
	}
	if b := st.Targets["b/FuzzB"]; st.Turns != 5 || st.Seconds != 270 || b.Turns != 2 || b.Execs != 15 || b.Failed != 1 || st.Next != "c/FuzzC" {
		t.Errorf("state %+v, %+v", st, b)
	}
}

func TestDamagedState(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, stateFile, "{")
	if _, err := loadState(dir); err == nil || !strings.Contains(err.Error(), stateFile) {
		t.Errorf("error %v", err)
	}
}

// TestNextOfATargetThatIsGone: the turn goes to the one behind it.
func TestNextOfATargetThatIsGone(t *testing.T) {
	for next, want := range map[string]int{"": 0, "b/FuzzA": 1, "b/FuzzB": 1, "c/FuzzX": 0} {
		if got := (&state{Next: next}).next(three()); got != want {
			t.Errorf("after %q comes %d, want %d", next, got, want)
		}
	}
}

func TestReplayRunsAll(t *testing.T) {
	f := &fake{fails: map[string]bool{"FuzzA": true}}
	err := replay(t.Context(), f, three(), io.Discard)
	if want := []string{"committed", "kept FuzzA", "kept FuzzB", "kept FuzzC"}; !slices.Equal(f.ran, want) {
		t.Errorf("ran %q, want %q", f.ran, want)
	}
	if err == nil || !strings.Contains(err.Error(), "a/FuzzA") {
		t.Errorf("error %v", err)
	}
}

func TestFlags(t *testing.T) {
	for line, ok := range map[string]bool{
		"":                       false,
		"-each 1s":               true,
		"-total 1m":              true,
		"-each 1s -total 1m":     false,
		"-long":                  false,
		"-long -total 1h":        true,
		"-long -each 1m":         true,
		"-replay":                true,
		"-each -1s":              false,
		"-replay -only ( ":       false,
		"-replay extra":          false,
		"-replay -memory -1":     false,
		"-list -only runtime/.*": true,
	} {
		if _, err := parse(strings.Fields(line), io.Discard); (err == nil) != ok {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// TestKeptInputThatFails builds a small module with a bug and lets the real
// engine run a kept input that meets it; an input that does not passes.
func TestKeptInputThatFails(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module with instrumentation")
	}
	root := t.TempDir()
	write(t, root, "go.mod", "module example.com/buggy\n\ngo 1.26\n")
	write(t, root, "p/p_test.go", `package p

import "testing"

func FuzzP(f *testing.F) {
	f.Add("fine")
	f.Fuzz(func(t *testing.T, s string) {
		if s == "bug" {
			t.Fatal("met the bug")
		}
	})
}
`)
	targets, err := find(root)
	if err != nil || len(targets) != 1 {
		t.Fatal(targets, err)
	}
	dir := t.TempDir()
	r := &goRunner{dir: dir, bin: t.TempDir(), memory: 8192, out: io.Discard}
	if n, err := r.kept(t.Context(), targets[0]); n != 0 || err != nil {
		t.Fatalf("without a corpus: %d, %v", n, err)
	}
	write(t, dir, "p/FuzzP/0", "go test fuzz v1\nstring(\"also fine\")\n")
	if n, err := r.kept(t.Context(), targets[0]); n != 1 || err != nil {
		t.Fatalf("a fine input: %d, %v", n, err)
	}
	write(t, dir, "p/FuzzP/1", "go test fuzz v1\nstring(\"bug\")\n")
	if n, err := r.kept(t.Context(), targets[0]); n != 2 || err == nil || !strings.Contains(err.Error(), "met the bug") {
		t.Fatalf("a failing input: %d, %v", n, err)
	}
	if count(targets[0].committed()) != 1 {
		t.Error("the failing input was not put into testdata")
	}
}
