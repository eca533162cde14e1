package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/untoldkit/untold/internal/budget"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/preview"
	"github.com/untoldkit/untold/preview/stats"
)

// compareFlags are the flags of preview that compare the streamed picture with
// the whole one.
type compareFlags struct {
	cameras string
	reports []string
	pops    []string
}

// on reports whether pictures are compared instead of shown.
func (c *compareFlags) on() bool { return c.cameras != "" || len(c.pops) > 0 }

func (c *compareFlags) register(f *pflag.FlagSet) {
	f.StringVar(&c.cameras, "compare-whole", "", "compare streamed pictures with whole ones at these cameras: auto, names (street,roof,high,far,orbit and the scene's own) or a JSON file")
	f.StringArrayVar(&c.reports, "report", nil, "write the comparison to this file, .html, .json or .png (repeatable)")
	f.StringArrayVar(&c.pops, "pop-report", nil, "compare the pictures before and after each switch along the camera path, and write what is seen to this file, .html, .json or .png (repeatable)")
}

// excludeFrames are the flags that a comparison has no use for.
var excludeFrames = []string{
	"whole", "watch", "frames", "fps", "screenshot", "record", "events", "frame-log", "fixed-dt", "show",
	"camera-path", "orbit", "fly-through", "walk", "duration", "speed",
}

// usage checks what needs no file.
func (c *compareFlags) usage(cmd *cobra.Command, args []string) error {
	if err := c.popUsage(cmd, args); err != nil {
		return err
	}
	if !cmd.Flags().Changed("compare-whole") {
		if len(c.reports) > 0 {
			return errors.New("--report needs --compare-whole, auto for example")
		}
		return nil
	}
	if c.cameras == "" {
		return errors.New("--compare-whole wants cameras: auto, names or a JSON file")
	}
	if len(args) != 1 {
		return errors.New("--compare-whole compares one scene")
	}
	for _, name := range excludeFrames {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s has no effect with --compare-whole: leave one of them out", name)
		}
	}
	if err := checkReports("--report", c.reports); err != nil {
		return err
	}
	if path := namedTwice(append([]string{c.cameras}, c.reports...)...); path != "" {
		return fmt.Errorf("%q is named twice; choose another name", path)
	}
	return nil
}

// compared refuses a budget on comparisons that are not made.
func (c *compareFlags) compared(x budget.Condition) error {
	switch {
	case slices.Contains(stats.CompareKeys(), x.Key) && c.cameras == "":
		return fmt.Errorf("--fail-if %s needs --compare-whole, auto for example: else nothing is compared", x)
	case slices.Contains(stats.PopKeys(), x.Key) && len(c.pops) == 0:
		return fmt.Errorf("--fail-if %s needs --pop-report and a camera path: else nobody looks at switches", x)
	}
	return nil
}

// popUsage is usage for --pop-report.
func (c *compareFlags) popUsage(cmd *cobra.Command, args []string) error {
	if len(c.pops) == 0 {
		return nil
	}
	if len(args) != 1 {
		return errors.New("--pop-report looks at one scene")
	}
	moves := slices.ContainsFunc([]string{"camera-path", "orbit", "fly-through", "walk"}, func(name string) bool { return cmd.Flags().Changed(name) })
	if !moves {
		return errors.New("--pop-report needs a camera path, --walk 1 for example: switches come with moving")
	}
	for _, name := range []string{"compare-whole", "whole", "watch", "frames", "fps", "screenshot", "record", "events", "frame-log", "show"} {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s has no effect with --pop-report: leave one of them out", name)
		}
	}
	if err := checkReports("--pop-report", c.pops); err != nil {
		return err
	}
	if path := namedTwice(c.pops...); path != "" {
		return fmt.Errorf("%q is named twice; choose another name", path)
	}
	return nil
}

// checkReports looks at the names of reports before there is work to lose.
func checkReports(flag string, paths []string) error {
	for _, path := range paths {
		if !preview.ReportFormat(path) {
			return fmt.Errorf("%s %s: the name must end in .html, .json or .png", flag, oneLine(path))
		}
		if err := checkPlace(flag, path); err != nil {
			return err
		}
	}
	return nil
}

// run compares and writes the reports.
func (c *compareFlags) run(ctx context.Context, a *app, o preview.Options, quiet bool) (*stats.Report, error) {
	if len(c.pops) > 0 {
		return c.findPops(ctx, a, o, quiet)
	}
	result, rep, err := preview.Compare(ctx, o, c.cameras)
	if err != nil {
		return nil, err
	}
	if err := writeReports(result, c.reports); err != nil {
		return nil, err
	}
	if !quiet {
		printComparison(a.stdout, result)
	}
	return rep, nil
}

// writeReports writes a result in each of the forms that are asked for.
func writeReports(result interface{ WriteReport(path string) error }, paths []string) error {
	for _, path := range paths {
		if err := result.WriteReport(path); err != nil {
			return err
		}
	}
	return nil
}

func printComparison(w io.Writer, c *preview.Comparison) {
	fmt.Fprintf(w, "%s, %s, %d x %d\n", oneLine(c.Scene), oneLine(c.Device), c.Width, c.Height)
	t := newTable(0, "view", ">SSIM", ">FLIP mean", ">FLIP p99", ">full", ">lod", ">hlod", ">triangles", ">of", "")
	f := func(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) }
	for i := range c.Views {
		d := &c.Views[i]
		note := ""
		if d.Uncovered > 0 {
			note = human.Plural(d.Uncovered, "tile") + " without a picture"
		}
		if !d.AtRest {
			note = "did not come to rest"
		}
		t.add(oneLine(d.Name), f(d.SSIM), f(d.FLIPMean), f(d.FLIPP99), strconv.Itoa(d.Full), strconv.Itoa(d.LOD), strconv.Itoa(d.HLOD),
			strconv.Itoa(d.Triangles), strconv.Itoa(d.WholeTriangles), note)
	}
	t.add("worst", f(c.SSIMMin), f(c.FLIPMean), f(c.FLIPP99), "", "", "", "", "", "")
	t.print(w)
}

// findPops looks at switches and writes the reports.
func (c *compareFlags) findPops(ctx context.Context, a *app, o preview.Options, quiet bool) (*stats.Report, error) {
	result, rep, err := preview.FindPops(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := writeReports(result, c.pops); err != nil {
		return nil, err
	}
	if !quiet {
		fmt.Fprintf(a.stdout, "%s, %s, %d x %d\n%d of %d frames in %.1f s have switches; FLIP at most %.4f, p99 %.4f; pixels that change at most %.3f %%\n",
			oneLine(result.Scene), oneLine(result.Device), result.Width, result.Height, len(result.Switches), result.Frames, result.Seconds,
			result.PopMax, result.PopP99, 100*result.PopChangedMax)
	}
	return rep, nil
}
