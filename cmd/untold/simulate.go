package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/budget"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/remote"
	"github.com/untoldkit/untold/runtime/simulate"
)

// simulateFlags are the flags of untold simulate.
type simulateFlags struct {
	events, report, plot string
	check, asJSON        bool
	allFigures           bool
	budgets              budgetFlags

	pathFlags
	dt               time.Duration
	bandwidth        bandwidth
	latency, parsing time.Duration
	set              []string
	mode, preset     string
	world            string // a file
	remote           remoteFlags
}

func newSimulate(a *app) *cobra.Command {
	var s simulateFlags
	cmd := &cobra.Command{
		Use:     "simulate SCENARIO.json|MANIFEST.json|FOLDER|URL",
		Short:   "Run the streaming runtime on a fake clock",
		GroupID: "look",
		Long: `simulate runs the streaming runtime without a display, a GPU or a network, as fast as the
processor allows. Two runs of the same input give the same events, byte for byte.

A scenario says what the scene is, where the camera goes, how long loads take and what is
expected; --check compares and prints what differs. The format is described in
testdata/simulate/README.md.

A cooked scene, a manifest or a folder with one, runs with the manifest's tiles and sizes and the
nodes and textures of its files, 60 frames a second, along a camera path: a recorded one
(--camera-path), a turn around the scene (--orbit), lanes through it (--fly-through, the default)
or a random stroll (--walk SEED). --bandwidth and --latency model the network; as many
downloads as a host is asked for at a time share the bandwidth evenly. Parameters of the runtime
come from untold.yaml beside the manifest and from --set.

The manifest may also be at an http or https address. Then its payloads are downloaded, kept in
the disk cache (untold cache) and decoded for real; only the camera and the GPU are made up. The
clock does not run ahead of downloads: while there are any, a frame takes 1/60 s, and in between
it flies. After the last frame, what was asked for and has not come is brought into the cache, for
up to 40 s. See docs/remote.md.

The report's figures are printed unless --events - owns stdout. --fail-if ends the command with
exit code 1 when a condition holds, --check when something differs.`,
		Example: `  untold simulate testdata/simulate/d01.json --check --events -
  untold simulate out/city/city.json --fly-through --speed 30 --fail-if 'undrawn>0' --plot city.svg
  untold simulate out/city/city.json --walk 7 --bandwidth 10MBps --latency 50ms --report walk.json
  untold simulate http://127.0.0.1:8080/city.json --orbit --fail-if 'undrawn>0'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, a, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&s.events, "events", "", "write the events as JSON lines to this file, - for stdout")
	f.StringVar(&s.report, "report", "", "write the report as JSON to this file, - for stdout")
	f.BoolVar(&s.asJSON, "json", false, "short for --report -")
	f.BoolVar(&s.allFigures, "all-figures", false, allFiguresUsage)
	f.StringVar(&s.plot, "plot", "", "draw the run to this SVG file")
	f.BoolVar(&s.check, "check", false, "compare with the scenario's expectations; exit code 1 when something differs")
	s.budgets.register(f, "undrawn>0")
	s.pathFlags.register(f, "length of the run")
	f.Var(timeVar(&s.dt), "dt", "time between frames, 0.05 or 50ms (default: the scenario's, 1/60 s for a manifest)")
	f.Var(&s.bandwidth, "bandwidth", "bandwidth of the network, such as 10MBps (MB = 10^6 bytes) or 50Mbps (bits)")
	f.DurationVar(&s.latency, "latency", 0, "latency of the network before every download")
	f.Var(timeVar(&s.parsing), "parse-time", "time to load a payload from the disk (default: the scenario's, 50 ms for a manifest); of an address no file but the manifest is fetched then")
	f.StringArrayVar(&s.set, "set", nil, "set a parameter of the runtime, such as maxConcurrentTileLoads=4 (repeatable)")
	f.StringVar(&s.mode, "mode", "", "covered or strict, short for --set handoff=")
	f.StringVar(&s.preset, "preset", "", "memory preset: low, standard, high or unlimited")
	f.StringVar(&s.world, "world", "", worldUsage)
	s.remote.register(f)
	onePath(cmd)
	return cmd
}

func (s *simulateFlags) run(cmd *cobra.Command, a *app, path string) error {
	err := s.usage(cmd)
	if err != nil {
		return err
	}
	if remote.IsURL(path) {
		if err := refuseUncooked("simulate", "", path); err != nil {
			return err
		}
		return s.runRemote(cmd, a, path)
	}
	if path, err = manifestPath("simulate", "", path); err != nil {
		return err
	}
	sc, err := simulate.Load(path)
	if err != nil {
		return inputError(err)
	}
	use := parameterUse{network: s.bandwidth > 0 || s.latency > 0 || sc.Downloads()}
	if err := use.refuse(s.set); err != nil {
		return err
	}
	if err := a.checkAsked(cmd.Flags(), append(serverNeeds(cmd.Flags(), false), s.needs(sc, use.network)...)); err != nil {
		return err
	}
	if sc.Cooked || a.profile != nil {
		if err := a.runtimeProfile(&sc.Config, path); err != nil {
			return err
		}
	}
	if err := s.budgets.beside(cmd, a, path); err != nil {
		return err
	}
	if err := s.place(sc, false); err != nil {
		return err
	}
	if err := s.spare(path, s.cameraPath, s.world, filepath.Join(filepath.Dir(path), filepath.FromSlash(sc.ManifestPath)), sc.ManifestPath); err != nil {
		return err
	}
	if err := s.apply(cmd, a, sc); err != nil {
		return err
	}
	opening, err := openingOver(float64(s.bandwidth), s.latency, sc.ManifestPath)
	if err != nil {
		return err
	}
	res, err := s.simulate(cmd.Context(), a, sc, simulate.Options{
		Bandwidth: float64(s.bandwidth), NetworkLatency: s.latency, Opening: opening, Ranges: remote.RangePolicy(s.remote.ranges) == remote.RangesAuto,
	})
	if err != nil {
		return err
	}
	return s.finish(a, sc, res, nil)
}

// finish writes the report and judges it. network is nil for a local scene.
func (s *simulateFlags) finish(a *app, sc *simulate.Scenario, res *simulate.Result, network *remote.Metrics) error {
	verdicts, err := budget.Judge(s.budgets.conditions, &res.Report)
	if err != nil {
		return err
	}
	if err := s.write(a, res, network, verdicts); err != nil {
		return err
	}
	return s.judge(a, sc, res, verdicts)
}

// worldUsage describes --world.
const worldUsage = "JSON file that says where the scene is, and what entities and regions stream beside it"

// place reads --world for a scene; address says that the scene is at one.
func (s *simulateFlags) place(sc *simulate.Scenario, address bool) error {
	if s.world == "" {
		return nil
	}
	w, err := simulate.LoadWorld(s.world)
	if err != nil {
		return inputError(err)
	}
	if address && len(w.Regions) > 0 {
		return &badFile{fmt.Errorf("%s: regions are files beside local scenes, and this scene is at an address: leave them out", s.world)}
	}
	if err := sc.Place(w); err != nil {
		return inputError(fmt.Errorf("%s: %w", s.world, err))
	}
	return nil
}

// needs are those of flags that ask something of a scenario.
func (s *simulateFlags) needs(sc *simulate.Scenario, network bool) []need {
	expects := sc.Exact || len(sc.Expect)+len(sc.ExpectNone)+len(sc.ExpectStats) > 0
	return []need{
		{"check", expects, "only a scenario has expectations, and this one has none; --fail-if judges the report"},
		{"ranges", network, "no network is modelled; add --bandwidth or --latency, or name the scene by its address"},
	}
}

// spare refuses outputs that would take the place of an input, or whose names mislead.
func (s *simulateFlags) spare(inputs ...string) error {
	for _, out := range []string{s.events, s.report, s.plot} {
		st, err := os.Stat(out)
		if out == "" || out == "-" || err != nil {
			continue
		}
		for _, in := range inputs {
			if other, err := os.Stat(in); err == nil && os.SameFile(st, other) && st.Mode().IsRegular() {
				return fmt.Errorf("the output %s is also an input; choose another name", out)
			}
		}
	}
	return checkPlot(s.plot)
}

// inputError tells a file that is no scenario from one that cannot be read.
func inputError(err error) error {
	if errors.As(err, new(*fs.PathError)) {
		return err
	}
	return &badFile{err}
}

// usage checks what needs no file.
func (s *simulateFlags) usage(cmd *cobra.Command) error {
	if err := jsonOutput(s.asJSON, "--report", &s.report); err != nil {
		return err
	}
	if s.speed < 0 || s.latency < 0 {
		return errors.New("--speed and --latency must not be negative")
	}
	if path := namedTwice(s.events, s.report, s.plot); path != "" {
		return fmt.Errorf("two outputs go to %q", path)
	}
	if s.plot == "-" {
		return errors.New("--plot wants a file")
	}
	if cmd.Flags().Lookup("fail-if") == nil || cmd.Name() != "simulate" {
		return nil // preview judges figures of its own
	}
	return s.budgets.parse(cmd.Flags(), "simulate")
}

// apply changes a scenario by the flags.
func (s *simulateFlags) apply(cmd *cobra.Command, a *app, sc *simulate.Scenario) error {
	if s.preset != "" {
		p, ok := config.Preset(s.preset)
		if !ok {
			return fmt.Errorf("--preset is %q; use low, standard, high or unlimited", s.preset)
		}
		sc.Config.GeometryBudget, sc.Config.TextureBudget = p.GeometryBudget, p.TextureBudget
		sc.Config.HighWaterMark, sc.Config.LowWaterMark = p.HighWaterMark, p.LowWaterMark
	}
	if s.mode != "" {
		if err := sc.Config.Set("handoff", s.mode); err != nil {
			return fmt.Errorf("--mode is %q; use covered or strict", s.mode)
		}
	}
	if err := setParameters(&sc.Config, s.set); err != nil {
		return err
	}
	if err := sc.Config.Validate(); err != nil {
		return err
	}
	if s.dt > 0 {
		sc.DT = s.dt
	}
	if cmd.Flags().Changed("parse-time") {
		sc.Latency = simulate.Latency{Default: s.parsing}
	}
	if err := s.move(cmd, a, sc); err != nil {
		return err
	}
	if frames := float64(sc.Duration) / float64(sc.DT); frames > 1e7 {
		return fmt.Errorf("%.0f frames are too many: shorten --duration or lengthen --dt", frames)
	}
	return nil
}

// move gives the camera its path.
func (s *simulateFlags) move(cmd *cobra.Command, a *app, sc *simulate.Scenario) error {
	if !s.chosen(cmd) && (sc.Cooked || sc.ManifestPath != "") && len(sc.Path.Keys) == 0 && sc.Duration == 0 {
		a.info("no camera path given: --fly-through")
		s.fly = true
	}
	if err := a.checkAsked(cmd.Flags(), generatedNeeds(s.chosen(cmd) && s.cameraPath == "")); err != nil {
		return err
	}
	path, err := s.path(cmd, sc.Manifest)
	if err != nil {
		return err
	}
	if path != nil {
		sc.Path = *path
		if sc.Cooked {
			sc.Path.SeeAll(sc.Manifest)
		}
		sc.Duration = path.Keys[len(path.Keys)-1].T
	}
	if s.duration > 0 {
		sc.Duration = s.duration
	}
	return nil
}

// simulate runs, and writes the events on the way.
func (s *simulateFlags) simulate(ctx context.Context, a *app, sc *simulate.Scenario, opts simulate.Options) (*simulate.Result, error) {
	opts.Series = s.plot != ""
	if report := a.progress(); report != nil && isTerminal(a.stderr) {
		opts.Progress = func(done, total int) { report("simulate", done, total) }
	}
	if s.events == "" {
		// Without expectations nobody reads the events.
		opts.OnRecord = func(*simulate.Record) error { return nil }
		return simulate.Run(ctx, sc, opts)
	}
	var res *simulate.Result
	run := func(w io.Writer) error {
		opts.OnRecord = lineWriter(w)
		var err error
		res, err = simulate.Run(ctx, sc, opts)
		return err
	}
	if s.events != "-" {
		err := atomicfile.Write(s.events, run)
		return res, err
	}
	buf := bufio.NewWriterSize(a.stdout, 1<<16)
	if err := run(buf); err != nil {
		return nil, err
	}
	return res, buf.Flush()
}

// write writes the report and the plot. network is nil for a local scene.
func (s *simulateFlags) write(a *app, res *simulate.Result, network *remote.Metrics, verdicts []budget.Verdict) error {
	if s.plot != "" {
		if err := atomicfile.Write(s.plot, func(w io.Writer) error { return simulate.WritePlot(w, res.Series) }); err != nil {
			return err
		}
	}
	report := simulatedJSON{&res.Report, network, verdicts}
	switch s.report {
	case "":
		if s.events != "-" {
			printFigures(a.stdout, simulate.ReportKeys(), &res.Report, s.allFigures)
			printNetwork(a.stdout, network)
		}
		return nil
	case "-":
		return writeJSON(a.stdout, report)
	}
	return atomicfile.Write(s.report, func(w io.Writer) error { return writeJSON(w, report) })
}

// simulatedJSON is the report of simulate.
type simulatedJSON struct {
	*simulate.Report
	Network *remote.Metrics  `json:"network,omitempty"` // of a scene at an address
	Budgets []budget.Verdict `json:"budgets,omitempty"` // of --fail-if
}

// judge compares with what the scenario and the user want. The differences are
// the result; where --events or --report own stdout they go to stderr.
func (s *simulateFlags) judge(a *app, sc *simulate.Scenario, res *simulate.Result, verdicts []budget.Verdict) error {
	out, paint := a.stdout, a.paintResult
	if s.events == "-" || s.report == "-" {
		out, paint = a.stderr, a.paint
	}
	good := true
	if s.check {
		if n := len(res.Differences); n > 0 {
			good = false
			fmt.Fprintf(out, "%s: %d differences\n%s", paint(red, "not as expected"), n, simulate.Diff(res.Differences))
		} else if !a.quiet {
			n := len(sc.Expect) + len(sc.ExpectNone) + len(sc.ExpectStats)
			fmt.Fprintf(out, "%s: %d expectations\n", paint(green, "as expected"), n)
		}
	}
	a.printBudgets(out, paint, verdicts)
	if !good || budget.Failed(verdicts) {
		return errFindings
	}
	return nil
}
