package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/cook/meshfile"
	"github.com/untoldkit/untold/cook/usd"
	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/human"
)

func newInit(a *app) *cobra.Command {
	var force bool
	var out string
	cmd := &cobra.Command{
		Use:     "init SCENE",
		Short:   "Write an untold.yaml for a scene after looking at it",
		GroupID: "make",
		Long: `init looks at a scene as cook --dry-run does, and writes an untold.yaml beside it: what was found
(size, objects, triangles, textures, units that look wrong), what the cook would choose, and the
settings that matter for it, as comments. Nothing changes until a line is taken out of them. The
file is never replaced without --force.`,
		Example: `  untold init city.glb
  untold init scan.obj -o -
  untold config show city.glb --changed`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !isLocal(args[0]) {
				return errors.New("init writes a file beside a scene on the disk: download it first")
			}
			if source(cmd.Flags(), "output") != fromCommandLine {
				out = "" // in a file of settings it is the folder of cook
			}
			return initScene(cmd, a, args[0], out, force)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&out, "output", "o", "", "write this file, - for stdout (default: untold.yaml beside the scene)")
	f.BoolVar(&force, "force", false, "replace a file that is there")
	return cmd
}

// initScene plans a scene and writes its settings.
func initScene(cmd *cobra.Command, a *app, scene, out string, force bool) error {
	if out == "" {
		out = profileOf(scene)
	}
	if _, err := os.Lstat(out); out != "-" && err == nil && !force {
		return fmt.Errorf("%s is there already; --force replaces it, -o names another file, and -o - prints", out)
	}
	// A look is no cook, of which logs keep the stages.
	a.noProgress = a.noProgress || !isTerminal(a.stderr)
	// As cook would without any settings.
	var c cookFlags
	inner := &cobra.Command{Use: "cook"}
	inner.SetContext(cmd.Context())
	c.register(inner.Flags())
	c.opts.DryRun, c.opts.EstimateLevels = true, true
	if err := c.resolve(inner, a); err != nil {
		return err
	}
	c.opts.Report = true
	defer collectWithin(c.opts.Memory)()
	return c.withInputs(inner, a, []string{scene}, func(path string) error {
		res, err := c.cook(cmd.Context(), a, path)
		if err != nil {
			return err
		}
		var text bytes.Buffer
		lookAt(scene, res).write(&text)
		if out == "-" {
			_, err := a.stdout.Write(text.Bytes())
			return err
		}
		if err := writeSettings(out, text.Bytes(), force); err != nil {
			return err
		}
		fmt.Fprintf(a.stdout, "%s: %s, %s, %s\n", oneLine(out), human.Plural(res.Objects, "object"), human.Plural(res.Triangles, "triangle"), needsText(res))
		return nil
	})
}

// writeSettings writes a file, which may be there with force alone.
func writeSettings(path string, text []byte, force bool) error {
	if force {
		return atomicfile.Write(path, func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already; --force replaces it", path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: the folder %s does not exist", path, filepath.Dir(path))
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// sceneLook is what init has found.
type sceneLook struct {
	name     string
	res      *cook.Result
	mesh     bool // OBJ, PLY or STL: units can be given
	size     geom.Vec3
	bounded  bool
	median   float64 // longest side of objects, metres
	guess    string  // "" or what the units may be
	building bool
}

func lookAt(scene string, res *cook.Result) *sceneLook {
	l := &sceneLook{name: filepath.Base(scene), res: res, mesh: meshfile.FormatOf(scene) != meshfile.None}
	if b := res.Manifest.SceneBounds; b != nil {
		l.size, l.bounded = b.Box().Size(), true
	}
	var sides []float64
	for i := range res.Report.Objects {
		d := res.Report.Objects[i].Dimensions
		sides = append(sides, max(d[0], d[1], d[2]))
	}
	if len(sides) > 0 {
		slices.Sort(sides)
		l.median = sides[(len(sides)-1)/2]
	}
	l.guess = unitsGuess(max(l.size[0], l.size[1], l.size[2]), l.median)
	// Higher than a storey, and no larger than a block.
	l.building = l.size[1] >= 6 && max(l.size[0], l.size[2]) <= 250 && res.Objects >= 50
	return l
}

// unitsGuess says which units a scene may be in that is so large, and whose objects are,
// if they were metres; "" where metres are likely.
func unitsGuess(size, object float64) string {
	switch {
	case !(size > 0) || math.IsInf(size, 0):
		return ""
	case object >= 300 && size >= 5000:
		return "mm"
	case object >= 60 && size >= 1000:
		return "cm"
	case size < 0.05:
		return "larger"
	}
	return ""
}

// write writes the file. Names come out of a foreign file: they stay on their line.
func (l *sceneLook) write(w *bytes.Buffer) {
	r := l.res
	say := func(format string, args ...any) { fmt.Fprintf(w, "# %s\n", oneLine(fmt.Sprintf(format, args...))) }
	say("Settings of %s for untold cook; budgets and parameters also for simulate and preview.", l.name)
	say("yaml-language-server: $schema=untold.yaml.schema.json")
	say("(that schema for editors: untold schema untold.yaml > untold.yaml.schema.json)")
	w.WriteString("#\n# Found:\n")
	say("  %s, %s%s", human.Plural(r.Objects, "object"), human.Plural(r.Triangles, "triangle"), l.sizeText())
	t := &r.TextureTotals
	say("  %s", texturesText(t))
	if o := r.Manifest.OriginOffset; o != nil {
		say("  coordinates are large: %v, %v, %v m are taken off (recenter)", geom.Round(o[0], 2), geom.Round(o[1], 2), geom.Round(o[2], 2))
	}
	if l.guess != "" {
		say("  %s", l.guessText())
	}
	for _, n := range r.Notes {
		if n.Warning {
			say("  warning: %s [%s]", n.Message, n.Code)
		}
	}
	w.WriteString("#\n# The cook would make:\n")
	say("  %s", needsText(r))
	d := &r.Plan.Triangles
	say("  triangles of a tile: %s by median, %s for 95 %% of them, %s at most", human.Count(d.Median), human.Count(d.P95), human.Count(d.Max))
	w.WriteString("#\n# A line becomes a setting without its #. Values here are what holds without them.\n# untold config show lists all settings; untold cook --help says what each does.\n")
	l.settings(w)
}

func (l *sceneLook) sizeText() string {
	if !l.bounded {
		return ""
	}
	return fmt.Sprintf(", %s x %s x %s (width, height, depth)", human.Distance(l.size[0]), human.Distance(l.size[1]), human.Distance(l.size[2]))
}

func texturesText(t *cook.TextureTotals) string {
	if t.Images == 0 {
		return "no textures"
	}
	// Plain levels of four bytes a texel, a third more with the smaller ones.
	return fmt.Sprintf("%s, %.1f megapixels, %s; %s on the GPU as they are, a quarter of that with textures: bc, astc or ktx2",
		human.Plural(t.Images, "texture"), float64(t.Pixels)/1e6, human.Bytes(t.SourceBytes), human.Bytes(t.Pixels*4/3*4))
}

// guessText is a sentence about units that look wrong.
func (l *sceneLook) guessText() string {
	var s string
	switch l.guess {
	case "mm":
		s = "objects are " + human.Distance(l.median) + " long by median: are these millimetres?"
	case "cm":
		s = "objects are " + human.Distance(l.median) + " long by median: are these centimetres?"
	default:
		s = "the whole scene is " + human.Distance(max(l.size[0], l.size[1], l.size[2])) + " long: is it in larger units than metres?"
	}
	if !l.mesh {
		s += " " + l.scaleHint()
	}
	return s
}

// scaleHint says what helps where a format has units of its own.
func (l *sceneLook) scaleHint() string {
	if usd.IsName(l.name) {
		return "metersPerUnit of USD says how long a unit is: correct it, or scale it where it was exported"
	}
	return "glTF is in metres: scale it where it was exported"
}

// settings writes the settings that matter for the scene.
func (l *sceneLook) settings(w *bytes.Buffer) {
	r := l.res
	head := func(title string) { fmt.Fprintf(w, "\n# --- %s\n", title) }
	set := func(line, why string) {
		for len(line) < 26 {
			line += " "
		}
		fmt.Fprintf(w, "#%s # %s\n", line, why)
	}
	if l.mesh {
		head("Input")
		set("units: m", "of OBJ, PLY and STL: mm, cm, m or in")
		set("up: y", "axis that points upwards: y or z")
	}
	head("Cutting")
	why := "quadtree or kdtree: by floors and kinds of objects, for buildings"
	if l.building {
		why += "; this may be one"
	}
	set("partition: grid", why)
	if t := r.Manifest.TileSize; t != nil && !r.Manifest.HasFloors() {
		set(fmt.Sprintf("tile-size: %v", geom.Round(t.X, 3)), "metres; fixed, tiles keep their borders when the scene grows")
	}
	set("tile-triangles: 50000", "that the size of tiles is chosen for")
	set("instances: false", "true: repeated meshes once per tile, in smaller files and more draws")
	head("Levels")
	why = "bytes: a scene that takes no more on the GPU has no levels"
	if r.Needs.Whole {
		why += ", as this one; 0 makes them"
	}
	set("whole-limit: 64000000", why)
	set("lod-error-pixels: 2", "levels begin where their error is so high on the screen")
	set("pyramid: auto", "merged HLODs above the tiles, of more than 400 tiles: on, off")
	if r.TextureTotals.Images > 0 {
		head("Textures")
		set("textures: copy", "resize; bc for desktops, astc for phones and headsets, ktx2 for all: smaller on the GPU")
		set("max-texture: 0", "longest side in pixels, 0 for any")
	}
	head("Budgets: a cook that is over one fails (untold figures)")
	fmt.Fprintf(w, "#fail-if:\n#  - triangles_per_tile_max>%s\n#  - tile_bytes_max>%s\n", rounded(r.Plan.Triangles.Max), rounded(64*r.Plan.Triangles.Max))
	if r.Figures.Warnings == 0 {
		w.WriteString("#  - warnings>0\n")
	}
	w.WriteString("#  - undrawn>0            # of untold simulate and preview\n")
	head("The runtime, in simulate and preview (docs/runtime.md)")
	set("maxConcurrentTileLoads: 2", "full tiles that are loaded at a time")
	set("geometryBudget: 0", "bytes on the GPU, 0: what the machine grants")
}

// rounded is a limit with room above a number: a half more, with one digit, at least 1k.
func rounded(n int64) string {
	limit, unit := max(n+n/2, 1000), int64(1)
	for limit/unit >= 10 {
		unit *= 10
	}
	limit = (limit + unit - 1) / unit * unit
	switch {
	case limit%1_000_000 == 0:
		return fmt.Sprintf("%dM", limit/1_000_000)
	case limit%1000 == 0:
		return fmt.Sprintf("%dk", limit/1000)
	}
	return strings.TrimSpace(fmt.Sprint(limit))
}
