package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/internal/bench"
	"github.com/untoldkit/untold/internal/budget"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/internal/scenegen"
	"github.com/untoldkit/untold/preview/stats"
)

// benchStages are the words of --only.
var benchStages = []string{"cook", "open", "stream", "simulate"}

// benchFlags are the flags of untold bench.
type benchFlags struct {
	city    citySide
	runs    int
	only    []string
	compare string
	asJSON  bool
	jobs    int
	budgets budgetFlags
}

func newBench(a *app) *cobra.Command {
	var b benchFlags
	cmd := &cobra.Command{
		Use:     "bench SCENE | --city N",
		Short:   "Measure cooking, opening, streaming and a simulated flight",
		GroupID: "look",
		Long: `bench measures what a scene takes on this machine: cook, into an empty folder and again without a
change; open, the manifest and the first tile; stream, the decoding of all tiles by the runtime's
loader; simulate, a flight along a seeded path on a fake clock. It works in a temporary folder and
prints wall clock, processor time, bytes, rates and peak memory.

SCENE is a scene that cook reads, or one that is cooked, of which nothing is cooked then. --city
measures a generated city instead, the same bytes on every machine: 4 blocks of 80 m a side, or
metres, such as 1km. docs/bench.md has the hashes of some sizes and of what is cooked of them.

--runs repeats everything, and shows medians and their spread. --compare takes the JSON of an earlier
bench of the same scene: it prints ratios, and which row is slower or faster. --fail-if judges
them, and what the flight needs (untold figures --for bench).`,
		Example: `  untold bench --city 4 --runs 5 --json > before.json
  untold bench --city 4 --runs 5 --compare before.json --fail-if 'cook_cpu_ratio>1.1'
  untold bench city.glb --only cook,stream
  untold bench out/city --only simulate --fail-if 'undrawn>0'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return b.run(cmd, a, args) },
	}
	f := cmd.Flags()
	f.Var(&b.city, "city", "measure a generated city of so many blocks of 80 m a side, or metres, such as 640m or 1km")
	f.IntVar(&b.runs, "runs", 1, "measure everything so many times")
	f.StringSliceVar(&b.only, "only", nil, "measure only these: cook, open, stream, simulate")
	f.StringVar(&b.compare, "compare", "", "print ratios to this report of an earlier bench --json")
	f.BoolVar(&b.asJSON, "json", false, "print JSON")
	f.IntVarP(&b.jobs, "jobs", "j", 0, "processors that cooks use (0: all)")
	b.budgets.register(f, "cook_cpu_ratio>1.1")
	return cmd
}

// citySide is a flag: the side of a generated city in blocks.
type citySide int

// String returns the blocks, "" for no city.
func (c *citySide) String() string {
	if *c == 0 {
		return ""
	}
	return strconv.Itoa(int(*c))
}

// Type names the value in help texts.
func (c *citySide) Type() string { return "blocks" }

// Set reads blocks, or metres with m or km, of which it takes whole blocks.
func (c *citySide) Set(text string) error {
	number, metres := strings.TrimSpace(text), 0.0
	if n, ok := strings.CutSuffix(number, "km"); ok {
		number, metres = n, 1000
	} else if n, ok := strings.CutSuffix(number, "m"); ok {
		number, metres = n, 1
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if metres > 0 {
		v = math.Ceil(v * metres / scenegen.Pitch)
	}
	if err != nil || !(v >= 1 && v <= scenegen.MaxSide) || v != math.Trunc(v) {
		return fmt.Errorf("%q is no side of a city: write 4 (blocks of %g m, 1 to %d) or metres, 640m or 1km", text, scenegen.Pitch, scenegen.MaxSide)
	}
	*c = citySide(v)
	return nil
}

// systemProbe measures this program.
func systemProbe() bench.Probe {
	began := time.Now()
	return bench.Probe{Now: func() time.Duration { return time.Since(began) }, CPU: stats.CPUTime, Peak: bench.PeakAt("/")}
}

// thisProgram says what measures.
func thisProgram() bench.Program {
	return bench.Program{Version: version, Commit: commit(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Processors: runtime.GOMAXPROCS(0)}
}

// wants reports whether a stage is measured.
func (b *benchFlags) wants(stage string) bool {
	return len(b.only) == 0 || slices.Contains(b.only, stage)
}

func (b *benchFlags) run(cmd *cobra.Command, a *app, args []string) error {
	switch {
	case b.city == 0 && len(args) == 0:
		return fmt.Errorf("nothing to measure: name a scene, or --city 4 (see %s --help)", cmd.CommandPath())
	case b.city > 0 && len(args) > 0:
		return fmt.Errorf("%s and --city %d are two scenes: leave one of them out", args[0], b.city)
	case b.runs < 1 || b.runs > 1000:
		return fmt.Errorf("--runs is %d; use 1 to 1000", b.runs)
	}
	for _, s := range b.only {
		if !slices.Contains(benchStages, s) {
			return fmt.Errorf("--only has %q; use %s", s, strings.Join(benchStages, ", "))
		}
	}
	if err := b.budgets.parse(cmd.Flags(), "bench"); err != nil {
		return err
	}
	if err := bench.Lacks(b.budgets.conditions, b.compare != "", b.wants("simulate")); err != nil {
		return err
	}
	var old *bench.Report
	if b.compare != "" {
		var err error
		if old, err = bench.Load(b.compare); err != nil {
			return inputError(err)
		}
		if b.city > 0 && (old.Scene == nil || old.Scene.Blocks != int(b.city)) {
			return fmt.Errorf("--compare %s: %w: it is of no city of %d blocks", b.compare, bench.ErrOther, b.city)
		}
	}
	m := &bencher{benchFlags: b, a: a, probe: systemProbe()}
	m.report.Program = thisProgram()
	if len(args) > 0 {
		m.scene = args[0]
	}
	if err := m.within(cmd.Context(), os.TempDir()); err != nil {
		return err
	}
	if err := m.report.judge(b, old); err != nil {
		return err
	}
	return m.say()
}

// benchReport is what bench --json prints.
type benchReport struct{ bench.Report }

// judge compares with an earlier report, which may be nil, and judges budgets.
func (r *benchReport) judge(b *benchFlags, old *bench.Report) (err error) {
	if old != nil {
		if r.Compared, err = r.Compare(old); err != nil {
			return fmt.Errorf("--compare %s: %w", b.compare, err)
		}
	}
	r.Budgets, err = budget.Judge(b.budgets.conditions, &r.Report)
	return err
}

// within measures in a folder below temp, of which nothing is left.
func (m *bencher) within(ctx context.Context, temp string) error {
	var err error
	if m.dir, err = os.MkdirTemp(temp, "untold-bench-*"); err != nil {
		return fmt.Errorf("a place to cook: %w (TMPDIR names another)", err)
	}
	return errors.Join(m.measure(ctx), os.RemoveAll(m.dir))
}

// say prints the report, and judges it.
func (m *bencher) say() error {
	r, out, paint := &m.report, m.a.stdout, m.a.paintResult
	if m.asJSON {
		if err := writeJSON(out, r); err != nil {
			return err
		}
		out, paint = m.a.stderr, m.a.paint
	} else {
		printBench(out, &r.Report)
	}
	m.a.printBudgets(out, paint, r.Budgets)
	if budget.Failed(r.Budgets) {
		return errFindings
	}
	return nil
}

// printBench prints a report as tables.
func printBench(w io.Writer, r *bench.Report) {
	fmt.Fprintln(w, r.Program.String())
	if s := r.Scene; s != nil {
		fmt.Fprintf(w, "%s: %s, sha256 %s\n", oneLine(s.Name), human.Bytes(s.Bytes), s.SHA256)
	}
	c := &r.Cooked
	fmt.Fprintf(w, "cooked: %s in %s, sha256 %s\n\n", human.Bytes(c.Bytes), human.Plural(c.Files, "file"), c.SHA256)
	t := newTable(0, "measured", ">wall", ">spread", ">processor", ">spread", ">bytes", ">MB/s", ">Mtriangles/s", ">peak memory")
	for i := range r.Measured {
		x := &r.Measured[i]
		cpu, spread, peak := "-", "-", "-"
		if x.CPU != nil {
			cpu, spread = secondsText(x.CPU.Median), spreadText(x.CPU, x.Runs)
		}
		if x.PeakMemory != nil {
			peak = human.Bytes(int64(x.PeakMemory.Median))
		}
		size := "-"
		if x.Bytes > 0 {
			size = human.Bytes(x.Bytes)
		}
		t.add(x.Row, secondsText(x.Wall.Median), spreadText(&x.Wall, x.Runs), cpu, spread, size,
			rateText(x.BytesPerSecond), rateText(x.TrianglesPerSecond), peak)
	}
	t.print(w)
	if f := r.Flight; f != nil {
		cpu := ""
		if f.CPUMSPerS > 0 {
			cpu = fmt.Sprintf("%.2f ms of processor time a second, ", f.CPUMSPerS)
		}
		fmt.Fprintf(w, "flight of %g s: %s%s of payloads and %s of textures loaded, error %.1f px median (p99 %.1f), picture after %.1f s, %s\n",
			f.Seconds, cpu, human.Bytes(f.BytesLoaded), human.Bytes(f.TextureBytesRead), f.ErrorPXP50, f.ErrorPXP99, f.TimeTo8PX,
			human.Plural(f.Undrawn, "undrawn tile-frame"))
	}
	if r.Compared != nil {
		printCompared(w, r.Compared)
	}
}

// printCompared prints ratios to an earlier report.
func printCompared(w io.Writer, c *bench.Comparison) {
	fmt.Fprintf(w, "\ncompared with %s: %s\n", c.With.String(), c.Verdict)
	if !c.SameMachine {
		fmt.Fprintln(w, "The machines are not alike: ratios of times tell of them, too.")
	}
	t := newTable(0, "ratio", ">wall", ">processor", ">peak memory", ">spread", "verdict")
	noise := 0
	for i := range c.Rows {
		x := &c.Rows[i]
		spread := "one run"
		if x.Spread != nil {
			spread = fmt.Sprintf("%.0f %%", 100**x.Spread)
		}
		if x.Verdict == bench.Noise {
			noise++
		}
		t.add(x.Row, ratioText(x.Wall), ratioText(x.CPU), ratioText(x.Memory), spread, x.Verdict)
	}
	t.print(w)
	if noise > 0 {
		fmt.Fprintf(w, "Noise in %s: the medians differ, and not by more than the runs of one report do: a quieter machine, or more --runs, would tell.\n", human.Plural(noise, "row"))
	}
	same := "the same files"
	if !c.SameCooked {
		same = "other files, bytes x " + ratioText(c.CookedBytes)
	}
	fmt.Fprintf(w, "cooked: %s\n", same)
	if c.Flight != nil {
		fmt.Fprintf(w, "flight: bytes x %s\n", ratioText(c.Flight))
	}
}

func secondsText(s float64) string {
	if s < 1 {
		return fmt.Sprintf("%.4g ms", s*1e3)
	}
	return fmt.Sprintf("%.4g s", s)
}

// spreadText is how far the runs lie apart, as a part of their median.
func spreadText(s *bench.Spread, runs int) string {
	if runs < 2 || s.Median <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*(s.Max-s.Min)/s.Median)
}

// rateText is a rate in millions.
func rateText(v float64) string {
	if v <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.4g", v/1e6)
}

func ratioText(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f", *v)
}
