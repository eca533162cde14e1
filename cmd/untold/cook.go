package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/internal/budget"
	"github.com/untoldkit/untold/internal/cube"
	"github.com/untoldkit/untold/internal/human"
)

// cookFlags are the flags of untold cook.
type cookFlags struct {
	sceneFlags
	download  downloadFlags
	sceneName string
	out, plan string
	store     string
	grade     string
	shard     string
	watch     bool
	also      []string
	floors    floorFlags
	grid      gridFlags
	levels    levelFlags
	budgets   budgetFlags
}

func newCook(a *app) *cobra.Command {
	var c cookFlags
	cmd := &cobra.Command{
		Use:     "cook SCENE... -o DIR",
		Short:   "Turn a scene (glTF, USD, OBJ, PLY, STL) into tiles and a manifest",
		GroupID: "make",
		Long: `cook cuts a scene of glTF, GLB, USD, OBJ, PLY or STL into .untold tiles and writes
DIR/<scene>.json, the manifest, and the tiles with their textures in DIR/tiles.

Several files become one scene, each where its own coordinates put it: name files, folders of
them, patterns such as 'kit/*.glb', http(s) addresses, or - for the standard input. A placement
list, a .json or .csv file, says where each stands, as often as it likes. docs/inputs.md has
what is read of each format.

Geometry is cut exactly at the borders of the tiles, also ground planes: every triangle's area
is in one tile. Objects over more than --split-max-tiles tiles, and those with the node extra
"untold_tile_policy": "force_shared", go to the shared bucket. Within a tile meshes of equal
material are joined. With --clip=false whole objects go to every tile that they overlap, and
those that span more than four tiles to the shared bucket ("force_local" overrides that).

With --partition quadtree or kdtree the scene is cut into floors, the floors into nodes and these
into semantic tiers (shell, structure, furniture, small props), which load from ever less far.
Every object is whole in one tile.

With --store results are shared by cooks in other folders and on other machines, and with --shard
each of many machines makes a share of the tiles; a last cook without --shard finds them in the
store, makes what is missing, and writes the scene. With --dry-run --plan FILE.plan the scene is
planned once: shards and the last cook that get --plan FILE.plan, with the same flags, plan
nothing again, and shards read of the scene only what they make tiles of.

The same scene and flags give the same bytes, whatever --jobs is. What an earlier cook into the
folder has made of the same objects and settings is not made again, and files that stay the same
are not touched; --full makes everything anew, with the same bytes. At every instant the folder is
the complete old scene or the complete new one, also when the cook is killed or the power fails;
the next cook finishes or clears away what a stop has left. Two cooks cannot write to one folder
at the same time.

Settings can also come from untold.yaml beside the scene, or from the file that --config names
instead; the keys are the flags' names. A file that lies beside a scene may have come with it from
anywhere, so it sets how the scene is cut, simplified and stored, but no paths, trust or use of the
machine.`,
		Example: "  untold cook city.glb -o out/city\n  untold cook city.glb --tile-size 100 --dry-run --plan plan.json\n  untold cook city.glb -o out/city --config city.yaml\n" +
			"  untold cook scan.obj --up z --units mm -o out/scan\n  untold cook placements.csv -o out/town",
		Args:    cobra.MinimumNArgs(1),
		PreRunE: func(cmd *cobra.Command, args []string) error { return a.applyProfileOf(cmd, args[0]) },
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.watch && c.plan != "" {
				return errors.New("--watch does not go with --plan: a plan is of the scene as it was")
			}
			if c.watch && c.opts.DryRun {
				return errors.New("--watch does not go with --dry-run, which leaves nothing to follow: leave one of them out")
			}
			if c.watch && !a.watched {
				return c.follow(cmd, a, args)
			}
			return c.withInputs(cmd, a, args, func(scene string) error { return c.run(cmd, a, scene) })
		},
	}
	c.register(cmd.Flags())
	groupFlags(cmd, cookGroups)
	return cmd
}

// cookGroups are the headings of cook's flags; TestCookFlagsAreGrouped holds them
// complete.
var cookGroups = []flagGroup{
	{"Input", "scene up units scene-name allow-missing-images allow-parent-paths max-triangles recenter allow-insecure-http max-download timeout"},
	{"Cutting", "partition tile-size tile-size-x tile-size-y tile-size-z tile-triangles auto-tile-size clip split-max-tiles merge instances " +
		"perimeter-depth sample-fraction"},
	{"Cutting buildings (quadtree, kdtree)", "floor-count floor-band-height kdtree-balance min-objects-per-tile-tier scene-profile " +
		"tier-matching tier-radius untagged-semantic-tier"},
	{"Levels", "whole-limit view-distance lod lod-level lod-error-pixels lod-max-error-pixels lod-fov lod-height lod-min-triangles " +
		"hlod hlod-level hlod-atlas hlod-max-texture pyramid"},
	{"Textures", "textures astc-block texture-quality max-texture"},
	{"Output", "output payload-dir also full verify store shard require-store watch explain compress container-version compat grade dry-run plan report json fail-if sync jobs memory"},
}

func (c *cookFlags) register(f *pflag.FlagSet) {
	f.StringVarP(&c.out, "output", "o", "", "the folder to write (required, but for --dry-run)")
	c.sceneFlags.register(f, true)
	c.download.register(f)
	f.StringVar(&c.sceneName, "scene-name", "", "the scene's name, after which the manifest is called (default: that of the file, or of the folder of several)")
	c.floors.register(f, &c.opts)
	c.grid.register(f, &c.opts)
	c.levels.register(f, &c.opts)
	c.budgets.register(f, "tile_bytes_max>200k")
	f.StringSliceVar(&c.also, "also", nil, "write the scene in another form too: 3dtiles, a tileset in DIR/3dtiles as export makes it")
	f.BoolVar(&c.opts.Full, "full", false, "make everything anew; by default tiles that nothing has changed for are taken from the last cook into the folder, with the same bytes")
	f.BoolVar(&c.opts.Verify, "verify", false, "read the scene's files and those in the output folder to see what has changed, instead of trusting their sizes and times")
	f.StringVar(&c.store, "store", "", "a place of results that several cooks share, a folder or s3://BUCKET/PREFIX: what is there is not made again, what is made is put there")
	f.StringVar(&c.shard, "shard", "", "make a share of the tiles, I/N with I from 0 to N-1, or auto or auto/N in an array task of Slurm, AWS Batch or Kubernetes; writes to --store alone")
	f.BoolVar(&c.opts.RequireStore, "require-store", false, "a tile that neither the store nor an earlier cook has is an error: shards were to make it")
	f.StringArrayVar(&c.opts.Explain, "explain", nil, "say of a tile or node whether and why it was made again, of an object where it lies and why; repeatable")
	f.StringVar(&c.grade, "grade", "", "a .cube file by which pictures of the scene are graded: it is copied beside the tiles, and the manifest names it")
	f.BoolVar(&c.watch, "watch", false, "stay, and cook again whenever a file of the scene or its settings change")
	f.BoolVar(&c.opts.DryRun, "dry-run", false, "plan only, in seconds: print how the tiles share the scene, with estimates of levels; write nothing but what --plan and --report name, for which all levels are made")
	f.StringVar(&c.plan, "plan", "", "with --dry-run: write the plan to this .json file, for inspect --map, validate, simulate and manifest, or to a .plan file; without: follow that .plan file, with the same flags")
}

func (c *cookFlags) run(cmd *cobra.Command, a *app, scene string) error {
	c.reports = []string{".json", ".html"}
	if c.shard != "" {
		return c.runShard(cmd, a, scene)
	}
	if err := checkOutput(cmd, &c.sceneFlags, scene, c.out, c.plan); err != nil {
		return err
	}
	if c.writesPlan() {
		return c.runPlan(cmd, a, scene)
	}
	if !c.opts.DryRun {
		c.opts.Plan, c.plan = c.plan, "" // read, not written
	}
	if err := c.resolve(cmd, a); err != nil {
		return err
	}
	if err := c.checkReport(scene, c.out); err != nil {
		return err
	}
	if err := c.checkAlso(); err != nil {
		return err
	}
	if c.opts.RequireStore && c.store == "" {
		return errors.New("--require-store wants every tile to come from a store, and none is named: add --store")
	}
	if err := c.checkBudgets(cmd); err != nil {
		return err
	}
	if a.flagsOnly {
		a.flagsJudged = true
		return nil
	}
	if c.store != "" {
		var err error
		if c.opts.Store, err = openStore(cmd, c.store); err != nil {
			return fmt.Errorf("--store: %w", err)
		}
	}
	c.opts.Report = c.report != ""
	c.opts.EstimateLevels = c.estimates(a)
	defer collectWithin(c.opts.Memory)()
	res, err := c.cook(cmd.Context(), a, scene)
	if err != nil {
		return err
	}
	verdicts, err := budget.Judge(c.budgets.conditions, &res.Figures)
	if err != nil {
		return err
	}
	if res.Report != nil {
		res.Report.Budgets = verdicts
	}
	if err := c.writeCookReport(res); err != nil {
		return err
	}
	if err := writePlan(c.plan, res); err != nil {
		return err
	}
	if !c.asJSON {
		if err := printCooked(a, res); err != nil {
			return err
		}
	}
	tileset, failed := c.alsoTileset(cmd.Context(), a, res)
	switch {
	case c.asJSON:
		err = writeJSON(a.stdout, cookedJSON{res, c.plan, tileset, verdicts})
	case tileset != nil:
		err = printTileset(a, tileset)
	}
	if err := errors.Join(failed, err); err != nil {
		return err
	}
	return c.judgeBudgets(a, res, verdicts)
}

// estimates reports whether a dry run may estimate levels instead of making them: nothing
// is judged or written by them.
func (c *cookFlags) estimates(a *app) bool {
	if !c.opts.DryRun || c.plan != "" || c.report != "" {
		return false
	}
	for _, b := range c.budgets.conditions {
		if cook.FollowsFromLevels(b.Key) {
			a.info("note: all levels are made, since --fail-if %s follows from them; without it a dry run estimates them", b)
			return false
		}
	}
	return true
}

// checkBudgets reads --fail-if before there is work.
func (c *cookFlags) checkBudgets(cmd *cobra.Command) error {
	if err := c.budgets.parse(cmd.Flags(), "cook"); err != nil {
		return err
	}
	if !c.opts.DryRun {
		return nil
	}
	return c.budgets.planLacks()
}

// judgeBudgets says which budgets the scene does not keep. It is finished all the same.
func (c *cookFlags) judgeBudgets(a *app, res *cook.Result, verdicts []budget.Verdict) error {
	out, paint := a.stdout, a.paintResult
	if c.asJSON {
		out, paint = a.stderr, a.paint
	}
	a.printBudgets(out, paint, verdicts)
	if !budget.Failed(verdicts) {
		return nil
	}
	if !res.DryRun {
		fmt.Fprintf(out, "%s is finished all the same, and in its place\n", oneLine(res.ManifestPath))
	}
	return errFindings
}

// resolve turns the flags into options.
func (c *cookFlags) resolve(cmd *cobra.Command, a *app) error {
	if err := checkSceneName(c.sceneName); err != nil {
		return err
	}
	if err := c.grid.resolve(cmd.Flags(), &c.opts); err != nil {
		return err
	}
	if err := c.floors.resolve(cmd.Flags(), &c.opts); err != nil {
		return err
	}
	if err := c.levels.resolve(cmd.Flags(), &c.opts); err != nil {
		return err
	}
	if err := a.checkEffects(cmd.Flags(), append(cookNeeds(&c.opts), c.levels.needs()...)); err != nil {
		return err
	}
	return c.sceneFlags.resolve(a)
}

// cook cooks, and says what was left out or changed.
func (c *cookFlags) cook(ctx context.Context, a *app, scene string) (*cook.Result, error) {
	a.begun = true
	if c.grade != "" {
		var err error
		if c.opts.Grade, err = readGrade(a, c.grade); err != nil {
			return nil, err
		}
	}
	res, err := cook.Run(ctx, scene, c.out, c.opts)
	if err != nil {
		return nil, err
	}
	a.files = res.Files
	if c.grade != "" {
		a.files = append(slices.Clone(res.Files), c.grade)
	}
	a.notes(res.Notes)
	c.withoutLevels(a, res)
	c.portability(a)
	c.textures.summary(a, &c.opts, &res.TextureTotals)
	return res, nil
}

// readGrade reads a colour table, and says what is wrong with it.
func readGrade(a *app, path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--grade: %w", err)
	}
	defer f.Close()
	data, err := cube.ReadAll(f)
	if err == nil {
		var t *cube.Table
		if t, err = cube.Parse(data); err == nil && len(t.Skipped) > 0 {
			a.info("note: --grade %s: keywords that are not known were left out: %s", path, strings.Join(t.Skipped, ", "))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("--grade %s: %w", path, err)
	}
	return data, nil
}

// withoutLevels tells who asks how levels are made that the scene has none.
func (c *cookFlags) withoutLevels(a *app, res *cook.Result) {
	if res.Needs == nil || !res.Needs.Whole {
		return
	}
	for _, name := range []string{"hlod-atlas", "hlod-max-texture", "lod-min-triangles", "lod-max-error-pixels", "lod-error-pixels"} {
		if source(c.textures.flags, name) == fromCommandLine {
			a.info("note: --%s has no effect: the scene is small enough to be whole, and has no levels; --whole-limit 0 makes them", name)
		}
	}
}

func printCooked(a *app, r *cook.Result) error {
	what := "cooked"
	if r.DryRun {
		what = "planned"
	}
	shared := ""
	if r.SharedObjects > 0 {
		shared = " and a shared bucket of " + human.Plural(r.SharedObjects, "object")
	}
	size := ""
	if !r.DryRun { // what is not written has none
		size = ", " + human.Bytes(r.PayloadBytes)
	}
	_, err := fmt.Fprintf(a.stdout, "%s %s: %s, %s in %s%s (%s%s), %s (%s)\n",
		what, oneLine(r.ManifestPath), human.Plural(r.Objects, "object"), human.Plural(r.Triangles, "triangle"), human.Plural(r.Tiles, "tile"), shared,
		human.Plural(r.TileTriangles, "triangle"), size, human.Plural(r.Textures, "texture"), human.Bytes(r.TextureBytes))
	switch {
	case r.Unchanged:
		_, err = fmt.Fprintln(a.stdout, "nothing has changed since the last cook, and nothing was written (--full makes everything anew)")
	case r.Reused > 0:
		_, err = fmt.Fprintf(a.stdout, "%d of them taken from an earlier cook, for which nothing has changed\n", r.Reused)
	}
	if r.Levels > 0 || r.Estimated > 0 {
		about, size := "", fmt.Sprintf(" (%s, %s)", human.Plural(r.LevelTriangles, "triangle"), human.Bytes(r.LevelBytes))
		if r.DryRun {
			size = ", as far as they will pay"
		}
		if r.Estimated > 0 {
			about, size = "about ", fmt.Sprintf("; those of %s are estimated, and so are distances (--plan FILE.json or --report FILE makes all, which takes as long as a cook)", human.Plural(r.Estimated, "tile"))
		}
		_, err = fmt.Fprintf(a.stdout, "%s%s%s\n", about, human.Plural(r.Levels, "LOD or HLOD file"), size)
	}
	if r.PyramidNodes > 0 && err == nil {
		_, err = fmt.Fprintf(a.stdout, "a pyramid of %s above the tiles (%s, %s)\n", human.Plural(r.PyramidNodes, "merged HLOD"), human.Plural(r.PyramidTriangles, "triangle"), human.Bytes(r.PyramidBytes))
	}
	if err == nil {
		_, err = fmt.Fprintln(a.stdout, needsText(r))
	}
	for i := range r.Explained {
		fmt.Fprintln(a.stdout, explainText(&r.Explained[i]))
	}
	if r.DryRun || a.verbose {
		printPlan(a, r)
	}
	if a.verbose {
		a.info("%s", cacheText(r.VertexCache))
	}
	return err
}

// needsText says in a line how the scene will be seen and what that takes.
func needsText(r *cook.Result) string {
	n, size, about := r.Needs, "", ""
	if r.Estimated > 0 {
		about = "about "
	}
	if t := r.Manifest.TileSize; t != nil && !r.Manifest.HasFloors() {
		size = " of " + human.Distance(t.X)
		if t.X != t.Z {
			size = fmt.Sprintf(" of %s x %s", human.Distance(t.X), human.Distance(t.Z))
		}
	}
	switch {
	case n.Whole:
		return fmt.Sprintf("%s%s; small enough to be whole: full detail as far as it is seen, %s of geometry on the GPU (--whole-limit 0 makes levels)",
			tilesText(r.Tiles), size, human.Bytes(n.GPUBytes))
	case r.Levels == 0:
		return fmt.Sprintf("%s%s; seen within %s%s; %s of geometry on the GPU, at most %s%s at a time",
			tilesText(r.Tiles), size, about, human.Distance(n.Full), human.Bytes(n.GPUBytes), about, human.Bytes(n.MostBytes))
	}
	far := "coarsest to " + about + human.Distance(n.Seen)
	if r.PyramidNodes > 0 { // its distance would say how large the scene is on the sky
		far = "the pyramid to the horizon"
	}
	return fmt.Sprintf("%s%s; full within %s%s, %s; %s of geometry on the GPU, at most %s%s at a time",
		tilesText(r.Tiles), size, about, human.Distance(n.Full), far, human.Bytes(n.GPUBytes), about, human.Bytes(n.MostBytes))
}

func tilesText(n int) string {
	if n == 1 {
		return "1 tile"
	}
	return human.Count(n) + " tiles"
}
