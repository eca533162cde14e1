package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/internal/plainfile"
	"github.com/untoldkit/untold/internal/tune"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/simulate"
)

// tuneFlags are the flags of untold tune.
type tuneFlags struct {
	out, plot     string
	force, asJSON bool
	trials, jobs  int
	cameraPaths   []string
	bandwidth     bandwidth
	latency       time.Duration
	duration      time.Duration
	memory        byteSize
	errorPixels   float64
}

func newTune(a *app) *cobra.Command {
	t := tuneFlags{bandwidth: 10e6}
	cmd := &cobra.Command{
		Use:     "tune SCENE...",
		Short:   "Find settings with which a scene streams in fewer bytes",
		GroupID: "make",
		Long: `tune cooks a scene again and again into a temporary folder, each time with another setting,
streams each result along camera paths in the simulator, and keeps what needs fewer bytes for the
same picture. It writes what it finds to an untold.yaml beside the scene, or to -o, from which cook
takes it.

The same picture is: no tile vanishes, no gap, an error in pixels that is not greater (what is
below two pixels is not seen), and a first picture and full detail that do not come later, each
within a tenth. --error-pixels allows a coarser picture, --memory gives the geometry on the GPU a
budget, and settings of untold.yaml, --config and UNTOLD_ variables stay as they are.

Camera paths are recorded by preview (--camera-path, repeatable). Without any there are four: lanes
through the scene, a turn around it, a walk and a ride. A setting must not be worse along any of
them. --plot draws what was tried.`,
		Example: `  untold tune city.glb
  untold tune city.glb --bandwidth 4MBps --latency 80ms --camera-path tour.json --plot city.svg
  untold tune city.glb --memory 200M --error-pixels 4 -o small.yaml
  untold cook city.glb -o out/city --config small.yaml`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return t.run(cmd, a, args) },
	}
	f := cmd.Flags()
	f.StringVarP(&t.out, "output", "o", "", "the file of settings to write, - for stdout (default: untold.yaml beside the scene)")
	f.BoolVar(&t.force, "force", false, "add to a file of settings that is there")
	f.StringVar(&t.plot, "plot", "", "draw bytes against errors of all that was tried to this SVG file")
	f.BoolVar(&t.asJSON, "json", false, "print all that was tried as JSON")
	f.IntVar(&t.trials, "trials", 24, "most cooks")
	f.StringArrayVar(&t.cameraPaths, "camera-path", nil, "move the camera along this recorded path (or --path); repeatable")
	f.Var(timeVar(&t.duration), "duration", "length of each generated path")
	f.Var(&t.bandwidth, "bandwidth", "bandwidth of the network, such as 10MBps (MB = 10^6 bytes) or 50Mbps (bits)")
	f.DurationVar(&t.latency, "latency", 50*time.Millisecond, "latency of the network before every download")
	f.Var(&t.memory, "memory", "most geometry on the GPU, such as 200M (default: what it takes)")
	f.Float64Var(&t.errorPixels, "error-pixels", 0, "allow a median error of this many pixels (default: that of the defaults, or 2)")
	f.IntVarP(&t.jobs, "jobs", "j", 0, "processors that cooks use (0: all)")
	f.SetNormalizeFunc(shortPath)
	return cmd
}

// shortPath takes --path for --camera-path.
func shortPath(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if name == "path" {
		name = "camera-path"
	}
	return pflag.NormalizedName(name)
}

// tuner is a run of untold tune.
type tuner struct {
	*tuneFlags
	cmd   *cobra.Command
	a     *app
	args  []string
	dir   string   // of the cooks
	there *profile // what the file of settings holds already, nil for none
	base  *cook.Result
	paths []*simulate.CameraPath
}

func (t *tuneFlags) run(cmd *cobra.Command, a *app, args []string) error {
	if t.trials < 1 || t.jobs < 0 || t.latency < 0 || !(t.errorPixels >= 0) || math.IsInf(t.errorPixels, 0) {
		return errors.New("--trials is at least 1; --jobs, --latency and --error-pixels are not negative")
	}
	if err := checkPlot(t.plot); err != nil {
		return err
	}
	for _, in := range args {
		if !isLocal(in) {
			return fmt.Errorf("tune reads its scene many times, and %s is no file: download it first", oneLine(in))
		}
	}
	if source(cmd.Flags(), "output") != fromCommandLine {
		t.out = "" // in a file of settings it is the folder of cook
	}
	before, err := t.target(args[0])
	if err != nil {
		return err
	}
	u := &tuner{tuneFlags: t, cmd: cmd, a: a, args: args}
	if before != "" {
		if u.there, err = readNamed(t.out); err != nil {
			return err
		}
	}
	for _, name := range t.cameraPaths {
		p, err := simulate.LoadCameraPath(name)
		if err != nil {
			return inputError(err)
		}
		u.paths = append(u.paths, p)
	}
	if u.dir, err = os.MkdirTemp("", "untold-tune-*"); err != nil {
		return fmt.Errorf("a place to cook: %w (TMPDIR names another)", err)
	}
	res, err := u.search()
	if err = errors.Join(err, os.RemoveAll(u.dir)); err != nil {
		return err
	}
	if t.plot != "" {
		title := fmt.Sprintf("%s, %s and %v", filepath.Base(args[0]), t.bandwidth.String(), t.latency)
		if err := atomicfile.Write(t.plot, func(w io.Writer) error { return res.WritePlot(w, title) }); err != nil {
			return err
		}
	}
	return u.say(res, before)
}

// target finds where the settings go, and what is there.
func (t *tuneFlags) target(scene string) (before string, err error) {
	if t.out == "-" && t.asJSON {
		return "", errors.New("-o - and --json both want stdout")
	}
	if t.out == "-" {
		return "", nil
	}
	if t.out == "" {
		t.out = profileOf(scene)
	}
	if st, err := os.Stat(filepath.Dir(t.out)); err != nil || !st.IsDir() {
		return "", fmt.Errorf("%s is no folder to write %s to", filepath.Dir(t.out), filepath.Base(t.out))
	}
	data, err := plainfile.Read(t.out, maxProfile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case !t.force:
		return "", fmt.Errorf("%s is there already: --force adds to it what is found beside its settings, and -o names another file", t.out)
	}
	return string(data), nil
}

// search tries settings.
func (u *tuner) search() (*tune.Result, error) {
	limits := tune.Limits{ErrorPixels: u.errorPixels, Memory: int64(u.memory)}
	ctx := u.cmd.Context()
	// What can be turned follows from what the defaults give.
	base, err := u.try(nil)
	if err != nil {
		return nil, err
	}
	first := true
	return tune.Search(ctx, u.knobs(), limits, u.trials, func(s []tune.Setting) (tune.Outcome, error) {
		if first {
			first = false
			return base, nil
		}
		return u.try(s)
	}, func(r *tune.Result) {
		at := len(r.Trials) - 1
		t, verdict := &r.Trials[at], ""
		switch {
		case t.Failed != "":
			verdict = t.Failed
		case t.Wanting != "":
			verdict = t.Wanting
		case at > 0 && at == r.Best:
			verdict = "best so far"
		case at > 0:
			verdict = notBetter(t, &r.Trials[r.Best])
		}
		line := fmt.Sprintf("%3d  %10s  %5.1f px  %5.1f s  %-60s %s", at, human.Bytes(t.Bytes), t.ErrorP50, t.Picture, tune.Text(t.Settings), oneLine(verdict))
		u.a.info("%s", strings.TrimRight(line, " "))
	})
}

// notBetter says why settings that keep the picture are not taken in place of the best.
func notBetter(t, best *tune.Trial) string {
	if t.Bytes >= best.Bytes {
		return "not fewer bytes"
	}
	worst, path := 1.0, 0
	for i := range min(len(t.ByPath), len(best.ByPath)) {
		if more := float64(t.ByPath[i]) / float64(max(best.ByPath[i], 1)); more > worst {
			worst, path = more, i+1
		}
	}
	if percent := math.Floor(100 * (worst - 1)); percent >= 1 {
		return fmt.Sprintf("%g %% more along path %d", percent, path)
	}
	return "hardly fewer bytes"
}

// tileSteps are the parts of a tile's edge that are tried.
var (
	smallerTiles = []float64{0.75, 0.5, 0.375, 0.25}
	largerTiles  = []float64{1.5, 2, 3}
)

// knobs are what may be turned: what neither a file of settings nor the environment sets.
func (u *tuner) knobs() []tune.Knob {
	var c cookFlags
	cmd, err := u.flags(&c)
	if err != nil {
		return nil // the first cook has said it
	}
	var out []tune.Knob
	add := func(name string, along bool, values ...string) {
		if f := cmd.Flags().Lookup(name); f != nil && !f.Changed && len(values) > 0 {
			out = append(out, tune.Knob{Name: name, Along: along, Values: values})
		}
	}
	r := u.base
	if !c.opts.Compat {
		add("compress", false, "delta")
	}
	if r.Needs.Whole {
		add("whole-limit", false, "0")
	}
	if size := r.Manifest.TileSize; size != nil && !r.Manifest.HasFloors() && size.X == size.Z && !cmd.Flags().Changed("tile-size-x") && !cmd.Flags().Changed("tile-size-z") {
		steps := func(parts []float64) (values []string) {
			for _, p := range parts {
				values = append(values, strconv.FormatFloat(round2(size.X*p), 'g', -1, 64))
			}
			return values
		}
		add("tile-size", true, steps(smallerTiles)...)
		add("tile-size", true, steps(largerTiles)...)
	}
	if u.errorPixels > 0 {
		add("lod-error-pixels", false, strconv.FormatFloat(u.errorPixels, 'g', -1, 64))
	}
	if !r.Needs.Whole { // or there are no levels
		add("pyramid", false, map[bool]string{true: "off", false: "on"}[r.PyramidNodes > 0])
		add("hlod", false, "false")
		add("lod", false, "false")
	}
	add("instances", false, "true")
	return out
}

// round2 keeps two digits.
func round2(v float64) float64 {
	out, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 2, 64), 64)
	if err != nil {
		return v
	}
	return out
}

// flags are those of a cook, as the environment and files of settings set them.
func (u *tuner) flags(c *cookFlags) (*cobra.Command, error) {
	var there []*profile
	if u.there != nil {
		there = append(there, u.there)
	}
	return u.a.cookSettings(c, u.args[0], there...)
}

// try cooks and streams.
func (u *tuner) try(settings []tune.Setting) (out tune.Outcome, err error) {
	var c cookFlags
	cmd, err := u.flags(&c)
	if err != nil {
		return out, err
	}
	for _, s := range settings {
		if err := cmd.Flags().Set(s.Name, s.Value); err != nil {
			return out, err
		}
	}
	c.out, c.plan, c.report, c.sync, c.opts.DryRun, c.opts.Jobs = u.dir, "", "", false, false, u.jobs
	// What a cook has to say of the scene it says when it is cooked to stay.
	quiet := &app{stdout: io.Discard, stderr: io.Discard, quiet: true, noProgress: true, flags: u.a.flags}
	if err := c.resolve(cmd, quiet); err != nil {
		return out, err
	}
	items, err := localInputs(u.args)
	if err != nil {
		return out, err
	}
	res, err := cook.Run(u.cmd.Context(), c.compose(u.args, items), u.dir, c.opts)
	if err != nil {
		return out, err
	}
	if u.base == nil {
		u.base = res
		if err := u.generatePaths(res.Manifest); err != nil {
			return out, err
		}
	}
	for _, p := range u.paths {
		r, err := u.stream(u.cmd.Context(), res.ManifestPath, p)
		if err != nil {
			return out, err
		}
		out.ByPath = append(out.ByPath, r.BytesLoaded+r.TextureBytesRead)
		out.Bytes += r.BytesLoaded + r.TextureBytesRead
		out.ErrorP50, out.ErrorP99 = max(out.ErrorP50, r.ErrorPXP50), max(out.ErrorP99, r.ErrorPXP99)
		out.Picture, out.Uncovered = max(out.Picture, r.TimeTo8PX), max(out.Uncovered, r.Uncovered)
		out.Stalled += r.StallSeconds
		out.Peak = max(out.Peak, r.PeakGeometryBytes)
		out.Undrawn += r.Undrawn
	}
	return out, nil
}

// generatePaths makes those that nobody has recorded.
func (u *tuner) generatePaths(m *manifest.Manifest) error {
	if len(u.paths) > 0 {
		return nil
	}
	o := simulate.PathOptionsOf(m)
	o.Duration = u.duration
	for _, make := range []func(simulate.PathOptions) (*simulate.CameraPath, error){
		simulate.FlyThrough, simulate.Orbit,
		func(o simulate.PathOptions) (*simulate.CameraPath, error) { return simulate.Walk(o, 1) },
		func(o simulate.PathOptions) (*simulate.CameraPath, error) { o.Speed = 8; return simulate.Walk(o, 2) },
	} {
		p, err := make(o)
		if err != nil {
			return err
		}
		u.paths = append(u.paths, p)
	}
	return nil
}

// stream runs the cooked scene along a path.
func (u *tuner) stream(ctx context.Context, manifest string, p *simulate.CameraPath) (*simulate.Report, error) {
	sc, err := simulate.Load(manifest)
	if err != nil {
		return nil, err
	}
	if err := u.a.runtimeProfile(&sc.Config, u.args[0]); err != nil {
		return nil, err
	}
	if u.memory > 0 {
		sc.Config.GeometryBudget = int64(u.memory)
	}
	sc.Path = *p
	sc.Path.SeeAll(sc.Manifest)
	sc.Duration = p.Keys[len(p.Keys)-1].T
	opening, err := openingOver(float64(u.bandwidth), u.latency, manifest)
	if err != nil {
		return nil, err
	}
	r, err := simulate.Run(ctx, sc, simulate.Options{
		Bandwidth: float64(u.bandwidth), NetworkLatency: u.latency, Opening: opening, Ranges: true,
		OnRecord: func(*simulate.Record) error { return nil },
	})
	if err != nil {
		return nil, err
	}
	return &r.Report, nil
}

// say writes the settings, and what they are worth.
func (u *tuner) say(r *tune.Result, before string) error {
	base, best := &r.Trials[0], &r.Trials[r.Best]
	text := u.settings(base, best)
	switch {
	case u.out == "-":
		if _, err := io.WriteString(u.a.stdout, text); err != nil {
			return err
		}
	case r.Best > 0:
		if before != "" && !strings.HasSuffix(before, "\n") {
			before += "\n"
		}
		if err := atomicfile.Write(u.out, func(w io.Writer) error { _, err := io.WriteString(w, before+text); return err }); err != nil {
			return err
		}
	}
	if u.asJSON {
		return writeJSON(u.a.stdout, tunedJSON{r, map[bool]string{true: u.out}[r.Best > 0 && u.out != "-"]})
	}
	out := u.a.stdout
	if u.out == "-" {
		out = u.a.stderr
	}
	if r.Best == 0 {
		_, err := fmt.Fprintf(out, "%s were tried, and nothing is better than the defaults: %s\n", human.Plural(len(r.Trials), "setting"), outcomeText(&base.Outcome))
		return err
	}
	fmt.Fprintf(out, "best: %s\n", tune.Text(best.Settings))
	fmt.Fprintf(out, "  %s\n  instead of %s with the defaults: %s\n", outcomeText(&best.Outcome), outcomeText(&base.Outcome), lessText(base.Bytes, best.Bytes))
	if u.out != "-" {
		fmt.Fprintf(out, "written to %s, from which cook takes them%s\n", u.out,
			map[bool]string{true: " with --config"}[filepath.Base(u.out) != profileName])
	}
	if slices.ContainsFunc(best.Settings, func(s tune.Setting) bool { return s.Name == "compress" }) {
		fmt.Fprintln(out, "The reference engine does not read delta; compress: lz4 in untold.yaml or --compat engine leaves it out.")
	}
	return nil
}

// tunedJSON is what tune --json prints.
type tunedJSON struct {
	*tune.Result
	Written string `json:"written,omitempty"` // the file of settings; none where nothing is better than the defaults
}

func outcomeText(o *tune.Outcome) string {
	return fmt.Sprintf("%s, %.1f px median error (p99 %.1f), picture after %.1f s, %s of geometry at most",
		human.Bytes(o.Bytes), o.ErrorP50, o.ErrorP99, o.Picture, human.Bytes(o.Peak))
}

func lessText(from, to int64) string {
	if from <= 0 {
		return "as many bytes"
	}
	return fmt.Sprintf("%.0f %% fewer bytes", 100*(1-float64(to)/float64(from)))
}

// settings is the file of them.
func (u *tuner) settings(base, best *tune.Trial) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Found by untold tune at %s and %v along %s:\n", u.bandwidth.String(), u.latency, human.Plural(len(u.paths), "camera path"))
	fmt.Fprintf(&b, "#   %s\n# instead of\n#   %s.\n", outcomeText(&best.Outcome), outcomeText(&base.Outcome))
	for _, s := range best.Settings {
		fmt.Fprintf(&b, "%s: %s\n", s.Name, s.Value)
	}
	if u.memory > 0 && !u.there.has("geometryBudget") {
		fmt.Fprintf(&b, "geometryBudget: %d\n", int64(u.memory))
	}
	return b.String()
}
