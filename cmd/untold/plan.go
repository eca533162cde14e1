package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/cook/tiles3d"
	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/budget"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/internal/plainfile"
	"github.com/untoldkit/untold/manifest"
)

// cookedJSON is what cook prints as JSON.
type cookedJSON struct {
	*cook.Result
	PlanFile string          `json:"plan_file,omitempty"` // of --plan
	Tileset  *tiles3d.Result `json:"tileset,omitempty"`   // of --also 3dtiles

	Budgets []budget.Verdict `json:"budgets,omitempty"` // of --fail-if
}

// checkOutput refuses, before any work is done, a cook without a place to go and
// a plan that cannot be written or would lie on other files.
func checkOutput(cmd *cobra.Command, s *sceneFlags, scene, out, plan string) error {
	given := cmd.Flags().Changed("plan")
	switch {
	case out == "" && !s.opts.DryRun:
		return errors.New("--output (-o) names the folder to write and is required, but for --dry-run")
	case !given:
		return nil
	case !s.opts.DryRun && !followed(plan):
		return fmt.Errorf("--plan %s: scenes are cooked from .plan files, which --dry-run --plan FILE.plan writes; a .json one is for inspect --map, validate, simulate and manifest", plan)
	case !s.opts.DryRun:
		// A cook that finds nothing changed does not read it.
		if _, err := os.Stat(plan); err != nil {
			return fmt.Errorf("--plan: %w", err)
		}
		return nil
	case !strings.EqualFold(filepath.Ext(plan), ".json") && !followed(plan):
		return fmt.Errorf("--plan is %q; it must end in .json, or in %s for cooks that follow it", plan, cook.PlanExt)
	}
	if dir := filepath.Dir(plan); followed(plan) { // beside an output folder, whose parents a cook makes as well
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return fmt.Errorf("--plan %s: %w", plan, err)
		}
	}
	if st, err := os.Stat(filepath.Dir(plan)); err != nil || !st.IsDir() {
		return fmt.Errorf("--plan %s: the folder %s does not exist", plan, filepath.Dir(plan))
	}
	if _, err := os.Stat(plan); err == nil && followed(plan) && !cook.IsPlan(plan) {
		return fmt.Errorf("--plan %s is another file already; a plan takes the place of a plan only: choose another name", plan)
	}
	if there, err := plainfile.Read(plan, manifest.MaxBytes); err == nil && !followed(plan) && !manifest.IsPlan(there) {
		return fmt.Errorf("--plan %s is another file already; a plan takes the place of a plan only: choose another name", plan)
	}
	if s.report != "" && within(plan, s.report) && within(s.report, plan) {
		return fmt.Errorf("--plan and --report both go to %s", plan)
	}
	return nil
}

// followed tells plans that cooks follow from those that are looked at.
func followed(plan string) bool { return filepath.Ext(plan) == cook.PlanExt }

// writesPlan reports whether all that is asked for is a plan for other cooks.
func (c *cookFlags) writesPlan() bool { return c.opts.DryRun && followed(c.plan) }

// runPlan writes a plan for shards and the last cook.
func (c *cookFlags) runPlan(cmd *cobra.Command, a *app, scene string) error {
	for _, name := range []string{"report", "also", "fail-if", "require-store"} {
		if source(cmd.Flags(), name) == fromCommandLine {
			return fmt.Errorf("--%s does not go with --dry-run --plan %s, for which no tile is made: it is for the last cook", name, c.plan)
		}
	}
	if err := c.resolve(cmd, a); err != nil {
		return err
	}
	if a.flagsOnly {
		a.flagsJudged = true
		return nil
	}
	var err error
	if c.store != "" {
		if c.opts.Store, err = openStore(cmd, c.store); err != nil {
			return fmt.Errorf("--store: %w", err)
		}
	}
	if c.grade != "" {
		if c.opts.Grade, err = readGrade(a, c.grade); err != nil {
			return err
		}
	}
	defer collectWithin(c.opts.Memory)()
	res, err := cook.WritePlan(cmd.Context(), scene, c.plan, c.opts)
	if err != nil {
		return err
	}
	a.notes(res.Notes)
	if c.asJSON {
		return writeJSON(a.stdout, res)
	}
	_, err = fmt.Fprintf(a.stdout, "planned %s: %s, %s in %s (%s)\n", oneLine(res.Path), human.Plural(res.Objects, "object"),
		human.Plural(res.Triangles, "triangle"), human.Plural(res.Payloads, "tile"), human.Bytes(res.Bytes))
	return err
}

// writePlan stores the plan of a dry run.
func writePlan(path string, res *cook.Result) error {
	if path == "" {
		return nil
	}
	return atomicfile.Write(path, res.Manifest.EncodePlan)
}

// printPlan shows how evenly the tiles share the scene.
func printPlan(a *app, r *cook.Result) {
	w, p, m := a.stdout, r.Plan, r.Manifest
	fmt.Fprintf(w, "\n%s, tiles of %v x %v m, radii %v and %v m\n", p.Mode, geom.Round(m.TileSize.X, 2), geom.Round(m.TileSize.Z, 2),
		geom.Round(m.StreamingDefaults.StreamingRadius, 2), geom.Round(m.StreamingDefaults.UnloadRadius, 2))
	t := newTable(0, "per tile", ">median", ">95 %", ">most", ">all tiles")
	row := func(name string, d cook.Distribution, text func(int64) string) {
		t.add(name, text(d.Median), text(d.P95), text(d.Max), text(d.Sum))
	}
	count := func(n int64) string { return human.Count(int(n)) }
	row("objects", p.Objects, count)
	row("triangles", p.Triangles, count)
	row("GPU memory", p.Memory, human.Bytes)
	t.print(w)
	printHistogram(a, p)
	if len(p.Tiers) > 0 {
		fmt.Fprintln(w)
		t := newTable(0, "tier", ">tiles", ">objects", ">triangles", ">streaming", ">unload")
		for _, c := range p.Tiers {
			t.add(c.Tier, human.Count(c.Tiles), human.Count(c.Objects), human.Count(c.Triangles), geom.Round(c.Streaming, 2), geom.Round(c.Unload, 2))
		}
		t.print(w)
	}
	if len(p.Floors) > 0 {
		fmt.Fprintln(w)
		t := newTable(0, ">floor", ">from", ">to", ">tiles", ">objects", ">triangles")
		for _, c := range p.Floors {
			t.add(c.Floor, fmt.Sprintf("%.2f", c.Bottom), fmt.Sprintf("%.2f", c.Top), human.Count(c.Tiles), human.Count(c.Objects), human.Count(c.Triangles))
		}
		t.print(w)
	}
	if len(p.Levels) > 0 {
		fmt.Fprintln(w)
		tiles := ">tiles"
		if r.Estimated > 0 {
			tiles += ", about"
		}
		t := newTable(0, "level", tiles, ">triangles", ">bytes")
		for _, c := range p.Levels {
			if r.DryRun {
				t.add(c.Level, human.Count(c.Tiles), "", "")
				continue
			}
			t.add(c.Level, human.Count(c.Tiles), human.Count(c.Triangles), human.Bytes(c.Bytes))
		}
		t.print(w)
	}
	if s := p.Shared; s != nil {
		fmt.Fprintf(w, "\nshared bucket: %s objects, %s triangles, %.1f %% of all\n", human.Count(s.Objects), human.Count(s.Triangles), 100*s.Share)
	}
}

// printHistogram draws one bar per class of tiles, up to the last that has any.
func printHistogram(a *app, p *cook.PlanSummary) {
	most, last := 0, 0
	for i, b := range p.Histogram {
		if b.Tiles > 0 {
			most, last = max(most, b.Tiles), i
		}
	}
	if most == 0 {
		return
	}
	fmt.Fprintln(a.stdout)
	t := newTable(0, ">objects", ">tiles", "")
	from := 1
	for _, b := range p.Histogram[:last+1] {
		name := fmt.Sprintf("%d-%d", from, b.Objects)
		switch {
		case b.Objects == 0:
			name = fmt.Sprintf("%d or more", from)
		case b.Objects == from:
			name = fmt.Sprint(from)
		}
		const width = 40
		n := (b.Tiles*width + most - 1) / most
		t.add(name, human.Count(b.Tiles), strings.Repeat("#", n))
		from = b.Objects + 1
	}
	t.print(a.stdout)
}
