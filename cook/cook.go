package cook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/cook/report"
	"github.com/untoldkit/untold/internal/clock"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/partition"
)

// Result tells what Run wrote.
type Result struct {
	ManifestPath     string             `json:"manifest"` // where a dry run would write it
	Manifest         *manifest.Manifest `json:"-"`
	Plan             *PlanSummary       `json:"plan"`
	Needs            *Needs             `json:"needs"`
	Report           *report.Report     `json:"-"` // when Options.Report is set
	Files            []string           `json:"-"` // of the scene, absolute paths: what a change of matters to
	DryRun           bool               `json:"dry_run"`
	Unchanged        bool               `json:"unchanged"` // nothing has changed since the last cook, and nothing was written
	Explained        []Explanation      `json:"explained,omitempty"`
	Reused           int                `json:"reused"` // containers whose tile was made by an earlier cook, with its levels
	Tiles            int                `json:"tiles"`
	FailedTiles      int                `json:"failed_tiles"`
	SharedObjects    int                `json:"shared_objects"`
	Objects          int                `json:"objects"`
	Triangles        int                `json:"triangles"`       // of the scene, each object once
	TileTriangles    int                `json:"tile_triangles"`  // of all payloads: more where objects overlap several tiles
	PayloadBytes     int64              `json:"payload_bytes"`   // of the full tiles and the bucket
	Levels           int                `json:"levels"`          // LOD and HLOD files
	LevelTriangles   int                `json:"level_triangles"` // of these
	LevelBytes       int64              `json:"level_bytes"`     // of these
	PyramidNodes     int                `json:"pyramid_nodes"`
	PyramidTriangles int                `json:"pyramid_triangles"`
	PyramidBytes     int64              `json:"pyramid_bytes"`             // without the textures, which TextureBytes has
	Dropped          []Drop             `json:"dropped_levels"`            // asked for and not made
	Estimated        int                `json:"tiles_estimated,omitempty"` // of a dry run: whose levels, with all that follows from them, are estimates; the reasons of dropped levels say so
	Textures         int                `json:"textures"`
	TextureBytes     int64              `json:"texture_bytes"`
	TextureTotals    TextureTotals      `json:"texture_totals"`
	VertexCache      VertexCache        `json:"vertex_cache"`
	Notes            []Note             `json:"notes"`
	Figures          report.Figures     `json:"figures"` // for budgets
}

// VertexCache says what the triangle order is worth, for a FIFO cache of 16
// vertices, before and after cooking: ACMR is vertices transformed per
// triangle, ATVR per vertex (1 is ideal). Means over all triangles.
type VertexCache struct {
	ACMRBefore float64 `json:"acmr_before"`
	ACMRAfter  float64 `json:"acmr_after"`
	ATVRBefore float64 `json:"atvr_before"`
	ATVRAfter  float64 `json:"atvr_after"`
}

// Run cooks a scene into dir: dir/<scene>.json and the payloads in
// dir/<PayloadDir>. The error matches ErrNothing when the scene has no
// triangles, ErrBusy when another Run writes to dir; on any error but
// ErrUnfinished, and after a dry run, dir is as it was before, but that a Run which ctx
// ends keeps what it has made in dir/.untold, for the next one. At every instant
// dir holds the complete old scene or the complete new one for readers of this
// module, also when the process is killed or the machine fails; the next Run
// finishes or clears away what such a stop has left.
func Run(ctx context.Context, scene, dir string, opts Options) (res *Result, err error) {
	if err := opts.check(); err != nil {
		return nil, err
	}

	if res, err := upToDate(ctx, scene, dir, &opts); res != nil || err != nil {
		return res, err
	}
	began := clock.System{}.Now().UnixNano()

	// The folder is held before anything that takes time: of two cooks the second one
	// learns at once that it has to wait.
	var c *scenePlan
	out, err := openOutput(dir, &opts)
	if err != nil {
		return nil, err
	}
	defer func() {
		switch {
		case err != nil && ctx.Err() != nil && c != nil && c.recall.goesOn(): // the next cook goes on
		case err != nil:
			out.discard()
		}
		out.endHolds()
	}()
	if !opts.DryRun {
		if err := out.claim(); err != nil {
			return nil, err
		}
	}
	if c, err = planScene(ctx, scene, &opts); err != nil {
		return nil, err
	}
	defer c.scene.Close()
	seen := lookAt(c.scene.Files)
	others, err := c.prepare(out)
	if err != nil {
		return nil, err
	}
	if !opts.DryRun {
		c.recall = newRecall(ctx, out, c.manifestFile(), &opts)
		defer c.recall.close()
	}

	// Built: containers and textures in the stage.
	build, dropped, err := c.newBuilder(ctx, out)
	if err != nil {
		return nil, err
	}
	defer build.close()
	payloads, images := build.payloads, build.images
	nodes, err := build.all(ctx)
	if err != nil {
		return nil, err
	}
	if c.recall != nil {
		if err := c.recall.shared.wait(); err != nil {
			c.ns.add("store-failed", 1, 0, err.Error())
		}
	}

	// Manifest: it fits the levels' distances, for which some are taken back.
	m := c.manifest(payloads, nodes)
	if !opts.DryRun {
		for _, f := range takenBack(payloads) {
			if err := c.recall.setAside(f); err != nil {
				return nil, fmt.Errorf("cook: %w", err)
			}
		}
	}
	if err := images.publish(); err != nil {
		return nil, err
	}
	if err := images.prune(usedTextures(payloads, nodes)); err != nil {
		return nil, err
	}
	if len(m.Tiles) == 0 && m.SharedBucket == nil {
		return nil, nothing(c.path, c.scene, c.ns)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := c.scene.Unchanged(); err != nil {
		return nil, err
	}
	var files []fileRecord
	if !opts.DryRun {
		if files, err = c.commit(ctx, out, m, others); err != nil {
			return nil, err
		}
	}
	res = c.summarize(m, payloads, nodes, dropped, images.totals())
	res.ManifestPath, res.Files = filepath.Join(out.dir, c.manifestFile()), c.scene.Files
	res.countFigures()
	if len(opts.Explain) > 0 && !opts.DryRun {
		r := res.Report
		if r == nil {
			r = c.report(m, res)
		}
		res.Explained = c.explain(payloads, nodes, r)
	}
	if !opts.DryRun {
		c.recall.saveResult(res, seen, images.hashed(), &opts, began, files)
	}
	return res, nil
}

// planScene opens a scene and says which object goes into which tile. From then on the
// plan does not change. The caller closes the scene.
func planScene(ctx context.Context, scene string, opts *Options) (c *scenePlan, err error) {
	// Scene: the glTF file as a flat list of objects.
	c = &scenePlan{opts: opts, ns: &notes{}, path: scene}
	if opts.Plan != "" {
		if opts.planned, err = readPlan(opts.Plan, opts); err != nil {
			return nil, err
		}
	}
	if c.scene, c.seen, c.objects, err = load(ctx, scene, opts, c.ns); err != nil {
		return nil, err
	}
	c.offset = opts.recenter(c.scene, c.seen, c.objects, c.ns)
	c.seen.boxes = nil // the objects have them
	if err := c.plan(); err != nil {
		c.scene.Close()
		return nil, err
	}
	if !opts.Report && len(opts.Explain) == 0 {
		c.inputs = nil
	}
	runtime.GC() // for Options.spare: what planning alone has needed is garbage
	return c, nil
}

// openOutput makes the folders of a cook; a dry run makes none.
func openOutput(dir string, o *Options) (*output, error) {
	if o.DryRun {
		return &output{dir: dir}, nil
	}
	opts := o.output()
	opts.adopts = true
	return newOutput(dir, opts)
}

// scenePlan is a scene with the plan of its tiles: what all later stages read and
// none of them changes, but for the notes.
type scenePlan struct {
	opts    *Options
	path    string // of the scene file
	ns      *notes
	scene   *gltfscene.Scene
	seen    *survey
	objects []object
	offset  geom.Vec3          // taken off the scene's coordinates
	inputs  []partition.Object // nil once nothing needs them
	planned *partition.Plan
	name    string
	pyramid bool // there are nodes above the tiles
	whole   bool // the scene is wanted at full detail everywhere
	share   bool // a share of the tiles is made, and nothing else
	// estimated counts the tiles whose levels a dry run has not made, but estimated.
	estimated int
	recall    *recall // nil for a dry run
}

// manifestFile is the name of the manifest in the output folder.
func (c *scenePlan) manifestFile() string { return partition.ManifestFile(c.name) }

// plan partitions the objects.
func (c *scenePlan) plan() error {
	c.inputs = make([]partition.Object, len(c.objects))
	for i := range c.objects {
		o := &c.objects[i]
		policy := partition.PolicyNone
		if o.policy != "" {
			var err error
			if policy, err = partition.ParsePolicy(o.policy); err != nil {
				return fmt.Errorf("%s: node %q: %w (%w)", c.scene.Source, o.name, err, ErrBadInput)
			}
		}
		extras := readExtras(c.scene.Nodes[o.node].Extras)
		hint, err := c.hint(o, extras)
		if err != nil {
			return fmt.Errorf("%s: %w", c.scene.Source, err)
		}
		c.inputs[i] = partition.Object{PriorityHint: hint, ID: i, Name: o.name, Box: o.box, Triangles: o.triangles, Policy: policy}
		switch {
		case c.opts.hasFloors():
			if err := c.annotate(&c.inputs[i], extras); err != nil {
				return fmt.Errorf("%s: %w", c.scene.Source, err)
			}
		case o.group > 0:
			// A group is not cut: its levels lie in the tile of its centre.
			c.inputs[i].Box = geom.Box{Min: o.box.Center(), Max: o.box.Center()}
		}
	}
	p, pyramid, err := c.opts.partition(c.inputs)
	if errors.Is(err, partition.ErrBadBox) {
		return fmt.Errorf("%s: %w (%w)", c.path, err, ErrBadInput)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.scene.Source, err)
	}
	c.planned, c.pyramid, c.name, c.whole = p, pyramid, partition.Sanitize(c.scene.Name), c.wantedWhole()
	c.noteAnnotations()
	if n := len(p.Skipped); n > 0 && (c.opts.SampleFraction > 0 || c.opts.PerimeterDepth > 0) {
		c.ns.add("partial-scene", n, 0, "")
	}
	return nil
}

// choosesSide tells whether the scene decides about the sides of tiles.
func (o *Options) choosesSide() bool {
	return !o.hasFloors() && (o.AutoTileSize || o.TileSize[0] == 0 || o.TileSize[2] == 0)
}

// partitionWith plans by the options, with a limit on how many tiles an object is cut into.
// side is what the scene decides about the sides of tiles, 0 where that is still to be found.
func (o *Options) partitionWith(inputs []partition.Object, splitMax int, side float64) (*partition.Plan, error) {
	if o.hasFloors() {
		return o.planFloors(inputs)
	}
	var fit *partition.TileGoal
	if o.choosesSide() && !o.AutoTileSize {
		fit = &partition.TileGoal{Triangles: o.TileTriangles}
	}
	return partition.Grid(inputs, partition.GridOptions{
		MaxTiles:       int(min(o.memory()/bytesPerTile, math.MaxInt32)),
		MaxAssignments: int(min(o.memory()/bytesPerAssignment, partition.DefaultMaxAssignments)),
		TileSize:       o.TileSize, Auto: o.AutoTileSize, Fit: fit, Side: side, AtScene: o.FitDistances, Clip: o.Clip, SplitMaxTiles: splitMax,
		SampleFraction: o.SampleFraction, PerimeterDepth: o.PerimeterDepth, Compat: o.Compat, TierRadii: o.Floors.TierRadii,
	})
}

// tileRadii are the radii that count for a tile: a grid has one pair for all.
func (c *scenePlan) tileRadii(t *partition.Tile) partition.Radii {
	if c.opts.hasFloors() {
		return t.Radii
	}
	return c.planned.Defaults
}

// prepare looks at what lies in the output folder, before the work.
func (c *scenePlan) prepare(out *output) (*neighbours, error) {
	if own, err := os.Stat(filepath.Join(out.dir, c.manifestFile())); err == nil && out.dir != "" {
		for _, name := range c.scene.Files { // a placement list may be called so
			if st, err := os.Stat(name); err == nil && os.SameFile(st, own) {
				return nil, fmt.Errorf("cook: the manifest would take the place of %s, which the scene is made of; choose another output folder", name)
			}
		}
	}
	if out.dir == "" {
		return nil, nil // a plan may have no place yet
	}
	others, err := otherScenes(out.dir, c.manifestFile(), c.opts.PayloadDir)
	if err != nil || c.opts.DryRun {
		return others, err
	}
	if err := journal.CheckFolder(out.files, path.Join(c.opts.PayloadDir, texture.Folder)); err != nil {
		return nil, fmt.Errorf("cook: output %s: %w", out.dir, err)
	}
	return others, nil
}

// summarize says what was built.
func (c *scenePlan) summarize(m *manifest.Manifest, payloads []payload, nodes []node, dropped []Drop, textures TextureTotals) *Result {
	res := &Result{
		Manifest: m, Tiles: len(m.Tiles), FailedTiles: len(m.FailedTiles), SharedObjects: len(c.planned.Shared),
		Objects: len(c.objects), DryRun: c.opts.DryRun, Dropped: append([]Drop{}, dropped...),
		Estimated: c.estimated,
	}
	for i := range c.objects {
		res.Triangles += c.objects[i].triangles
	}
	if c.recall != nil {
		res.Reused = c.recall.reused
	}
	var order orderStats
	var atlases int
	var atlasBytes, atlasGPU int64
	res.Plan = Summarize(m)
	res.Plan.countLevels(payloads)
	res.Needs = c.needs(m, payloads)
	for i := range payloads {
		p := &payloads[i]
		res.TileTriangles += p.triangles
		res.PayloadBytes += p.written.size
		order.merge(p.order)
		for k := range p.levels {
			if l := &p.levels[k]; l.made {
				res.Levels++
				res.LevelTriangles += l.triangles
				res.LevelBytes += l.written.size
				if l.atlasBytes > 0 {
					atlases++
					atlasBytes += l.atlasBytes
					atlasGPU += l.atlasGPU
				}
			}
		}
		if len(p.drops) > 0 {
			where := p.tile + " " + p.drops[0].Level
			if c.estimated > 0 {
				where += "; some by estimate"
			}
			c.ns.add("levels-not-paying", len(p.drops), i, where)
		}
		res.Dropped = append(res.Dropped, p.drops...)
	}
	res.countNodes(nodes, func(f *texture.Cooked) {
		atlases, atlasBytes, atlasGPU = atlases+1, atlasBytes+f.Size, atlasGPU+f.GPU
	})
	res.VertexCache = VertexCache{order.ACMRBefore, order.ACMRAfter, order.ATVRBefore, order.ATVRAfter}
	res.TextureTotals = textures
	res.TextureTotals.addAtlases(atlases, atlasBytes, atlasGPU)
	res.Textures, res.TextureBytes = res.TextureTotals.Files, res.TextureTotals.Bytes
	res.Notes = allNotes(c.scene, c.ns)
	if c.opts.Report {
		res.Report = c.report(m, res)
	}
	return res
}

// commit writes the manifest beside the staged payloads, and makes the staged files
// and the removal of what the new scene does not have any more one change. What lies in
// its place with the same bytes is not touched. It returns all files of the scene.
func (c *scenePlan) commit(ctx context.Context, out *output, m *manifest.Manifest, others *neighbours) ([]fileRecord, error) {
	file := c.manifestFile()
	if err := c.stageGrade(out); err != nil {
		return nil, err
	}
	w, err := out.write(file, func(w io.Writer) error { return m.Encode(w) })
	if err != nil {
		return nil, err
	}
	old, err := out.readOldScene(ctx, file, others, c.opts.jobs())
	if err != nil {
		return nil, err
	}
	if err := c.recall.bring(); err != nil {
		return nil, err
	}
	files, err := c.recall.settle(file)
	if err != nil {
		return nil, fmt.Errorf("cook: output: %w", err)
	}
	staged, err := out.staged(file)
	if err != nil {
		return nil, fmt.Errorf("cook: output: %w", err)
	}
	for _, e := range staged {
		files = append(files, fileRecord{e.Path, e.Size, e.SHA256})
	}
	fresh := make([]string, len(files))
	for i := range files {
		fresh[i] = files[i].Name
	}
	if err := others.check(fresh); err != nil {
		return nil, err
	}
	removes, err := c.recall.remembers(old, others, fresh).stale(ctx, fresh, c.opts.jobs())
	if err != nil {
		return nil, err
	}
	if len(staged) == 1 && len(removes) == 0 && c.recall.inPlace(fileRecord{file, w.size, w.sha256}) {
		out.discardStage()
		return files, nil
	}
	return files, out.publish(file, removes)
}
