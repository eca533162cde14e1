package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/budget"
	"github.com/untoldkit/untold/internal/cube"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/payloadpath"
	"github.com/untoldkit/untold/preview"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/preview/stats"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/remote"
	"github.com/untoldkit/untold/runtime/simulate"
)

// previewFlags are the flags of untold preview.
type previewFlags struct {
	headless, watch, noHUD bool
	noGrade                bool
	whole                  bool
	size                   pictureSize
	frames, fps            int
	screenshot, record     string
	stats, events          string
	frameLog               string
	asJSON, allFigures     bool
	budgets                budgetFlags
	fixedDT, latency       secondsFlag
	view, tone, lights     string
	camera                 string
	show                   []string
	samples, shadows       int
	maxTexture             int
	plainGL, debugGL       bool
	batching               onOff
	compare                compareFlags

	// What it shares with simulate: the camera's path and the parameters of the
	// runtime.
	sim simulateFlags

	shop *workshop // cooks what is not cooked
}

func newPreview(a *app) *cobra.Command {
	var p previewFlags
	cmd := &cobra.Command{
		Use:     "preview SCENE.glb|MANIFEST.json|URL|FOLDER|FILE.untold...",
		Short:   "Show a scene in a window, or draw it without one",
		GroupID: "look",
		Long: `preview shows cooked scenes with the streaming runtime and OpenGL 4.1: a manifest, an
http or https address, a folder of manifests, a .untold file or a folder of them. Several scenes
make a list to choose from (Tab). F1 lists the keys. What is dropped onto the window is opened.

A glTF scene (.glb, .gltf, or a folder that holds one and nothing cooked) is cooked first, with
the settings that cook would take from untold.yaml beside it, from --config and from the
environment. What is made lies in the folder for temporary files (TMPDIR) and goes when the
preview ends; cook is for what is to last.

Without a camera path the camera starts at the first authored camera that sees something, or where
the scene fills two thirds of the picture; --camera NAME starts at another one; --camera-path,
--orbit, --fly-through and --walk move it as they do in simulate, and the key P records a path. A
scene with lights is shown in them (--lights), and graded by its colour table (--no-grade).
Parameters of the runtime come from untold.yaml beside the manifest and from --set. Budgets of
memory come from --preset or --set, else from the graphics card, else from the machine, whose
memory pressure is answered. Static meshes are joined into fewer draws (--batching off: not).
--world FILE moves the scene and has entities without a tile and regions stream beside it
(docs/runtime.md). --watch reloads a scene that was cooked again, and cooks a glTF again when
its file has changed.

Representations fade into each other, but with --fixed-dt (--set enableFadeTransitions=false: never).

--headless draws without a display, on a GPU or with Mesa on the processor, in real time: until
--frames, the end of the camera path, or Ctrl-C; with --screenshot and none of these until all is
loaded. --fixed-dt S makes time virtual: frame k is at k*S seconds and loads are answered
--latency S after their request (default 0.05). Such a run gives the same events as
untold simulate --dt S --parse-time S along the same camera path, and has its figures.

--compare-whole CAMERAS takes pictures of the scene streamed and at rest, and with everything at
full detail, and says how different they look: SSIM, and FLIP as seen at 67 pixels per degree. It
needs no display. CAMERAS is auto, for all that follow from the scene; some of street, roof, high,
far, orbit and the names of the scene's own cameras; or a JSON file of views, a recorded path
among them (docs/preview.md). --report writes a page (.html), a contact sheet (.png) or the
figures (.json); flip_mean, flip_p99 and ssim_min, of the worst camera, serve --fail-if.
--pop-report FILE compares the pictures before and after the switches of each frame along a camera path;
pop_p99 and pop_max are mean FLIP, pop_changed_p99 and pop_changed_max shares of pixels that change.

The figures of a headless run are printed, or written as JSON by --stats. --fail-if ends the
command with exit code 1 when a condition on them holds.

A binary that was built without cgo runs untold-preview, which lies beside it or in the PATH.`,
		Example: `  untold preview city.glb
  untold preview out/city/city.json
  untold preview out/ --watch
  untold preview out/city/city.json --headless --screenshot city.png --size 1920x1080
  untold preview out/city/city.json --compare-whole auto --report city.html --fail-if 'flip_mean>0.05'
  untold preview out/city/city.json --headless --fly-through --fixed-dt 0.016666667 --size 320x240 \
      --stats - --fail-if 'undrawn>0'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !preview.Available {
				return execPreview(cmd.Context(), a)
			}
			return p.run(cmd, a, args)
		},
	}
	p.register(cmd.Flags())
	onePath(cmd)
	return cmd
}

// shown are the names for --show.
var shown = []struct {
	name string
	flag func(*preview.Show) *bool
}{
	{"figures", func(s *preview.Show) *bool { return &s.Panel }},
	{"map", func(s *preview.Show) *bool { return &s.Map }},
	{"boxes", func(s *preview.Show) *bool { return &s.Boxes }},
	{"octree", func(s *preview.Show) *bool { return &s.Octree }},
	{"occlusion", func(s *preview.Show) *bool { return &s.Occlusion }},
	{"cells", func(s *preview.Show) *bool { return &s.Cells }},
	{"radii", func(s *preview.Show) *bool { return &s.Rings }},
	{"wireframe", func(s *preview.Show) *bool { return &s.Wireframe }},
	{"help", func(s *preview.Show) *bool { return &s.Help }},
}

func shownNames() string {
	var names []string
	for _, s := range shown {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}

func viewNames() string {
	var names []string
	for _, v := range render.ViewModes() {
		names = append(names, v.String())
	}
	return strings.Join(names, ", ")
}

func (p *previewFlags) register(f *pflag.FlagSet) {
	s := &p.sim
	f.BoolVar(&p.headless, "headless", false, "draw without a window and without a display")
	f.Var(&p.size, "size", "of the picture in pixels, such as 1280x720")
	f.IntVar(&p.frames, "frames", 0, "end after so many frames")
	f.IntVar(&p.fps, "fps", 0, "frames per second of a headless run in real time, -1 for as many as it can (default 60)")
	f.StringVar(&p.screenshot, "screenshot", "", "write the last frame to this PNG file, with all its textures")
	f.StringVar(&p.record, "record", "", "write every frame as a PNG file into this folder")
	f.StringVar(&p.stats, "stats", "", "write the figures as JSON to this file, - for stdout")
	f.BoolVar(&p.asJSON, "json", false, "short for --stats -")
	f.BoolVar(&p.allFigures, "all-figures", false, allFiguresUsage)
	f.StringVar(&p.events, "events", "", "write the events as JSON lines to this file, - for stdout")
	f.StringVar(&p.frameLog, "frame-log", "", "write what each frame took, by parts, as JSON lines to this file")
	p.budgets.register(f, "undrawn>0")
	f.Var(&p.fixedDT, "fixed-dt", "virtual time with so many seconds between frames (0.05 or 50ms)")
	f.Var(&p.latency, "latency", "time in seconds that a load takes at least, with --fixed-dt exactly (there 0.05)")
	f.BoolVar(&p.watch, "watch", false, "reload the scene when it was cooked again")
	f.BoolVar(&p.whole, "whole", false, "show all tiles in full detail, whatever their distance")
	f.BoolVar(&p.noHUD, "no-hud", false, "start without figures and map (F2, F3)")
	f.StringVar(&p.view, "view", "lit", viewNames())
	f.StringVar(&p.camera, "camera", "", "start at this camera of the scene, by its name or number; a picture without --size has its aspect")
	f.StringVar(&p.tone, "tone", "neutral", "curve from light to display colours: neutral (Khronos PBR Neutral) or aces (by channel, more contrast)")
	f.StringVar(&p.lights, "lights", "auto", "whose lights: authored (those of the scene, if it has any), preview (a sun and a sky), both, or auto: authored with a sun, else both")
	f.BoolVar(&p.noGrade, "no-grade", false, "start without the scene's colour table (G)")
	f.StringSliceVar(&p.show, "show", nil, "draw over the picture: "+shownNames())
	f.IntVar(&p.samples, "samples", 0, "samples per pixel against jagged edges, 1 is off (default 4)")
	f.IntVar(&p.shadows, "shadows", 0, "edge of a shadow map in texels, -1 is off (default 2048)")
	f.IntVar(&p.maxTexture, "max-texture", 0, "largest edge of textures in pixels (default 2048)")
	f.Var(&p.batching, "batching", "join static meshes into fewer draws: on or off, short for --set batching.enabled= (default on)")
	f.BoolVar(&p.plainGL, "plain-gl", false, "keep to OpenGL 4.1 without extensions")
	f.BoolVar(&p.debugGL, "debug-gl", false, "print what OpenGL and the runtime have to say; the figures count it (gl_errors, gl_performance)")

	p.compare.register(f)

	s.pathFlags.register(f, "end of the camera path")
	f.StringArrayVar(&s.set, "set", nil, "set a parameter of the runtime, such as maxConcurrentTileLoads=4 (repeatable)")
	f.StringVar(&s.mode, "mode", "", "covered or strict, short for --set handoff=")
	f.StringVar(&s.preset, "preset", "", "memory preset: low, standard, high or unlimited")
	f.StringVar(&s.world, "world", "", worldUsage)
	s.remote.register(f)
}

func (p *previewFlags) run(cmd *cobra.Command, a *app, args []string) error {
	p.headless = p.headless || len(p.compare.pops) > 0 // for --fixed-dt
	if err := p.usage(cmd); err != nil {
		return err
	}
	if err := p.compare.usage(cmd, args); err != nil {
		return err
	}
	use := parameterUse{draws: true, address: slices.ContainsFunc(args, remote.IsURL)}
	if err := use.refuse(p.sim.set); err != nil {
		return err
	}
	if err := a.checkAsked(cmd.Flags(), p.needs(cmd, use.address)); err != nil {
		return err
	}
	o, closeAll, err := p.options(cmd, a, args)
	if err != nil {
		return err
	}
	var rep *stats.Report
	if p.compare.on() {
		rep, err = p.compare.run(p.shop.ctx, a, o, a.quiet || p.stats == "-")
	} else {
		rep, err = p.play(p.shop.ctx, a, o)
	}
	if e := closeAll(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return p.judge(a, rep)
}

// needs are those of flags that go with others.
func (p *previewFlags) needs(cmd *cobra.Command, address bool) []need {
	list := append(serverNeeds(cmd.Flags(), address), generatedNeeds(p.sim.chosen(cmd) && p.sim.cameraPath == "")...)
	return append(list,
		need{"ranges", address, "nothing is downloaded of what is on the disk; name it by its address, or leave this out"},
		need{"camera", !p.sim.chosen(cmd), "a camera path has its own start"},
		need{"camera", !p.compare.on(), "--compare-whole names its cameras itself"},
		need{"fps", p.headless, "a window has the rate of its display; add --headless"},
		need{"fps", !p.fixedDT.set, "with --fixed-dt the time is virtual, and frames are drawn as fast as they can be"})
}

// usage checks what needs no file.
func (p *previewFlags) usage(cmd *cobra.Command) error {
	if err := jsonOutput(p.asJSON, "--stats", &p.stats); err != nil {
		return err
	}
	if err := p.sim.usage(cmd); err != nil {
		return err
	}
	if !p.headless && (p.fixedDT.set || p.record != "") {
		return errors.New("--fixed-dt and --record need --headless: a window follows the clock on the wall")
	}
	if p.fixedDT.set && p.fixedDT.d <= 0 {
		return errors.New("--fixed-dt must be positive")
	}
	if p.frames < 0 {
		return errors.New("--frames must not be negative")
	}
	if path := namedTwice(p.stats, p.events, p.screenshot, p.frameLog, p.sim.cameraPath, p.sim.world); path != "" {
		return fmt.Errorf("%q is named twice; choose another name", path)
	}
	switch ext := filepath.Ext(p.screenshot); {
	case p.screenshot == "-":
		return errors.New("--screenshot wants a file")
	case p.screenshot != "" && !strings.EqualFold(ext, ".png"):
		return fmt.Errorf("--screenshot is %q; pictures are PNG, and its name must end in .png", p.screenshot)
	}
	if p.frameLog == "-" {
		return errors.New("--frame-log wants a file")
	}
	if err := p.budgets.parse(cmd.Flags(), "preview"); err != nil {
		return err
	}
	return p.judgeable(cmd)
}

// judgeable refuses budgets on what this run does not look at, but passes over those of
// the environment and of files, which are for other runs, too.
func (p *previewFlags) judgeable(cmd *cobra.Command) error {
	own := source(cmd.Flags(), "fail-if") == fromCommandLine
	var kept []budget.Condition
	for _, c := range p.budgets.conditions {
		err := p.compare.compared(c)
		if strings.HasPrefix(c.Key, "gl_") && !p.debugGL {
			err = fmt.Errorf("--fail-if %s needs --debug-gl: else nobody listens to OpenGL", c)
		}
		switch {
		case err == nil:
			kept = append(kept, c)
		case own:
			return err
		}
	}
	p.budgets.conditions = kept
	return nil
}

// options turns flags and arguments into what preview.Run needs. The function
// closes what remote scenes need, and removes what was cooked to be shown.
func (p *previewFlags) options(cmd *cobra.Command, a *app, args []string) (o preview.Options, closeAll func() error, err error) {
	p.shop = newWorkshop(cmd.Context(), a, p.watch)
	closeRemote := func() error { return nil }
	closeAll = func() error { return errors.Join(closeRemote(), p.shop.close()) }
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll())
		}
	}()
	o = preview.Options{
		Config: config.Default(), Headless: p.headless, Width: p.size.width, Height: p.size.height, Frames: p.frames,
		FPS: p.fps, Duration: p.sim.duration, FixedDT: p.fixedDT.d, NoHUD: p.noHUD, NoGrade: p.noGrade, Whole: p.whole, Watch: p.watch, Screenshot: p.screenshot,
		Render:  render.Options{Samples: p.samples, ShadowSize: p.shadows, MaxTexture: p.maxTexture, Plain: p.plainGL, Debug: p.debugGL},
		Message: func(text string) { a.info("%s", oneLine(text)) },
		Open:    p.shop.open,
	}
	// Who looks on sees no switch; a virtual run has the events of simulate.
	o.Config.EnableFadeTransitions = !p.fixedDT.set
	if p.latency.set {
		o.Latency = &p.latency.d
	}
	if p.debugGL || a.verbose {
		o.Logger = slog.New(slog.NewTextHandler(a.stderr, nil))
	}
	if o.View, o.Show, err = p.looks(); err != nil {
		return o, closeAll, err
	}
	if args, err = p.sim.remote.allScenesAt(p.shop.ctx, a, args); err != nil {
		return o, closeAll, err
	}
	var ok bool
	if o.Render.Tone, ok = render.ParseTone(p.tone); !ok {
		return o, closeAll, fmt.Errorf("--tone is %q; use neutral or aces", p.tone)
	}
	if o.Lighting, ok = preview.ParseLighting(p.lights); !ok {
		return o, closeAll, fmt.Errorf("--lights is %q; use %s", p.lights, strings.Join(preview.LightingNames(), ", "))
	}
	if o.Scenes, o.Fetcher, closeRemote, err = p.scenes(p.shop.ctx, a, args); err != nil {
		return o, closeAll, err
	}
	if f, ok := o.Fetcher.(*askedFor); ok {
		o.AwaitTextures, o.TextureSource = f.WaitTextures, f.Fetcher
	}
	if err = p.aim(cmd, a, args[0], &o); err != nil {
		return o, closeAll, err
	}
	if p.record != "" {
		err = os.MkdirAll(p.record, 0o755)
		o.RecordDir = p.record
	}
	return o, closeAll, err
}

// looks reads --view and --show.
func (p *previewFlags) looks() (v render.ViewMode, s preview.Show, err error) {
	v, ok := render.ParseViewMode(p.view)
	if !ok {
		return v, s, fmt.Errorf("--view is %q; use %s", p.view, viewNames())
	}
	for _, name := range p.show {
		found := false
		for _, x := range shown {
			if x.name == name {
				*x.flag(&s), found = true, true
			}
		}
		if !found {
			return v, s, fmt.Errorf("--show has %q; use %s", name, shownNames())
		}
	}
	return v, s, nil
}

// scenes opens the arguments; addresses share one fetcher.
func (p *previewFlags) scenes(ctx context.Context, a *app, args []string) (list []preview.Scene, fetcher payload.Fetcher, closeRemote func() error, err error) {
	closeRemote = func() error { return nil }
	var f *askedFor
	for _, arg := range args {
		if !remote.IsURL(arg) {
			found, err := p.shop.open(arg)
			if err != nil {
				return nil, nil, closeRemote, err
			}
			list = append(list, found...)
			continue
		}
		if err := refuseUncooked("preview", "", arg); err != nil {
			return nil, nil, closeRemote, err
		}
		if f == nil {
			cfg := config.Default()
			if err := a.runtimeProfile(&cfg, ""); err != nil {
				return nil, nil, closeRemote, err
			}
			if err := setParameters(&cfg, p.sim.set); err != nil {
				return nil, nil, closeRemote, err
			}
			rf, err := remote.New(p.sim.remote.options(a, &cfg))
			if err != nil {
				return nil, nil, closeRemote, err
			}
			f = newAskedFor(rf)
			fetcher, closeRemote = f, func() error {
				if p.headless { // nobody waits at a window
					f.complete(ctx, a)
				}
				return f.Close()
			}
		}
		list = append(list, preview.Scene{Name: nameOf(arg), Load: func() (*preview.Loaded, error) { return loadRemote(ctx, f, arg) }})
	}
	return list, fetcher, closeRemote, nil
}

// unreachable is the error of a manifest that did not come, as opposed to one
// that is wrong.
type unreachable struct{ error }

// Unwrap returns the error.
func (u *unreachable) Unwrap() error { return u.error }

func loadRemote(ctx context.Context, f *askedFor, address string) (*preview.Loaded, error) {
	opened, err := f.OpenManifest(ctx, address)
	if err != nil {
		return nil, &unreachable{explainRemote(err)}
	}
	m, err := manifest.Load(opened.File)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", opened.URL, err)
	}
	f.scene(opened.Base, m)
	l := &preview.Loaded{Source: runtime.Source{Path: opened.File, Base: opened.Base, Manifest: m}}
	if g := m.ColorGradeLUT; g != nil {
		l.Grade, l.GradeError = loadRemoteGrade(ctx, f, opened.Base, g.URI)
	}
	return l, nil
}

// loadRemoteGrade brings the colour table of a scene.
func loadRemoteGrade(ctx context.Context, f *askedFor, base, rel string) (*cube.Table, error) {
	at, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	u, err := payloadpath.URL(at, rel)
	if err != nil {
		return nil, err
	}
	file, err := f.Local(ctx, u.String(), remote.Expected{})
	if err != nil {
		return nil, explainRemote(err)
	}
	t, err := cube.Load(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u, err)
	}
	return t, nil
}

// aim sets the parameters of the runtime and the path of the camera, as
// simulate does for the first scene.
func (p *previewFlags) aim(cmd *cobra.Command, a *app, arg string, o *preview.Options) error {
	load, since := o.Scenes[0].Load, time.Now()
	first, err := load()
	if errors.As(err, new(*unreachable)) {
		return err
	}
	if err != nil {
		return inputError(err)
	}
	first.Took = time.Since(since)
	// The preview opens with it, and asks a server once.
	var opened atomic.Pointer[preview.Loaded]
	opened.Store(first)
	o.Scenes[0].Load = func() (*preview.Loaded, error) {
		if l := opened.Swap(nil); l != nil {
			return l, nil
		}
		return load()
	}
	if err := p.stand(first.Source.Manifest, o); err != nil {
		return err
	}
	beside := ""
	if !remote.IsURL(arg) && !first.Everywhere {
		beside = p.shop.source(first.Source.Path)
	}
	if err := a.runtimeProfile(&o.Config, beside); err != nil {
		return err
	}
	if err := p.budgets.beside(cmd, a, beside); err != nil {
		return err
	}
	if err := p.judgeable(cmd); err != nil {
		return err
	}
	sc := simulate.Cooked(first.Source.Path, first.Source.Manifest)
	sc.Config = o.Config
	if p.batching.set {
		sc.Config.Batching.Enabled = p.batching.on
	}
	if err := p.sim.place(sc, remote.IsURL(arg)); err != nil {
		return err
	}
	o.World = sc.World
	sc.Duration = 1 // no path unless asked for
	if err := p.sim.apply(cmd, a, sc); err != nil {
		return err
	}
	o.Config = sc.Config
	if len(sc.Path.Keys) > 0 {
		o.Path = &sc.Path
	}
	return nil
}

// stand starts at a camera of the scene's author.
func (p *previewFlags) stand(m *manifest.Manifest, o *preview.Options) error {
	if p.camera == "" {
		return nil
	}
	v, err := preview.ViewpointOf(m, p.camera)
	if err != nil {
		return fmt.Errorf("--camera: %w", err)
	}
	o.Start = &v.Camera
	if p.headless && p.size.width == 0 && v.Camera.Aspect > 0 {
		o.Width, o.Height = pictureOf(v.Camera.Aspect)
	}
	return nil
}

// pictureOf returns the size of a picture in pixels of which the aspect is given, width
// over height above 0: 720 lines, fewer where those would be wider than 4096.
func pictureOf(aspect float64) (width, height int) {
	const lines, widest = 720, 4096
	if w := lines * aspect; w <= widest {
		return max(1, int(math.Round(w))), lines
	}
	return widest, max(1, int(math.Round(widest/aspect)))
}

// play runs the preview and writes what frames took on the way.
func (p *previewFlags) play(ctx context.Context, a *app, o preview.Options) (rep *stats.Report, err error) {
	if p.frameLog == "" {
		return p.playEvents(ctx, a, o)
	}
	err = atomicfile.Write(p.frameLog, func(w io.Writer) error {
		b := bufio.NewWriter(w)
		enc := json.NewEncoder(b)
		o.OnFrame = func(f *stats.Frame) error { return enc.Encode(f) }
		rep, err = p.playEvents(ctx, a, o)
		return errors.Join(err, b.Flush())
	})
	return rep, err
}

// playEvents runs the preview and writes the events on the way.
func (p *previewFlags) playEvents(ctx context.Context, a *app, o preview.Options) (rep *stats.Report, err error) {
	run := func(w io.Writer) error {
		o.OnRecord = lineWriter(w)
		rep, err = preview.Run(ctx, o)
		return err
	}
	switch p.events {
	case "":
		return preview.Run(ctx, o)
	case "-":
		w := bufio.NewWriterSize(a.stdout, 1<<16)
		return rep, errors.Join(run(w), w.Flush())
	}
	return rep, atomicfile.Write(p.events, run)
}

// judge writes the figures and compares them with what the user wants.
func (p *previewFlags) judge(a *app, rep *stats.Report) error {
	verdicts, err := budget.Judge(p.budgets.conditions, rep)
	if err != nil {
		return err
	}
	out, paint := a.stdout, a.paintResult
	if p.events == "-" || p.stats == "-" {
		out, paint = a.stderr, a.paint
	}
	switch p.stats {
	case "":
		if p.headless && p.events != "-" && !a.quiet && !p.compare.on() {
			printPreview(out, rep, p.allFigures)
		}
	case "-":
		if err := writeJSON(a.stdout, previewedJSON{rep, verdicts}); err != nil {
			return err
		}
	default:
		if err := atomicfile.Write(p.stats, func(w io.Writer) error { return writeJSON(w, previewedJSON{rep, verdicts}) }); err != nil {
			return err
		}
	}
	a.printBudgets(out, paint, verdicts)
	if budget.Failed(verdicts) {
		return errFindings
	}
	return nil
}

// previewedJSON are the figures of preview.
type previewedJSON struct {
	*stats.Report
	Budgets []budget.Verdict `json:"budgets,omitempty"` // of --fail-if
}

func printPreview(w io.Writer, r *stats.Report, all bool) {
	fmt.Fprintln(w, oneLine(r.Scene)+", "+oneLine(r.Device))
	printFigures(w, stats.ReportKeys(), r, all)
	if !all {
		return
	}
	for i := range r.Worst {
		fmt.Fprintf(w, "  worst frame %d: %v\n", i+1, &r.Worst[i])
	}
}
