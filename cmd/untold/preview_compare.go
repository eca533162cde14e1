package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/untoldkit/untold/preview"
	"github.com/untoldkit/untold/runtime/simulate"
)

// compareFlags are the flags of preview that compare the streamed picture with
// the whole one.
type compareFlags struct {
	cameras string
	reports []string
}

func (c *compareFlags) register(f *pflag.FlagSet) {
	f.StringVar(&c.cameras, "compare-whole", "", "compare streamed pictures with whole ones at these cameras: auto, names (street,roof,high,far,orbit and the scene's own) or a JSON file")
	f.StringArrayVar(&c.reports, "report", nil, "write the comparison to this file, .html, .json or .png (repeatable)")
}

// excludeFrames are the flags that a comparison has no use for.
var excludeFrames = []string{
	"whole", "watch", "frames", "fps", "screenshot", "record", "events", "frame-log", "fixed-dt", "show",
	"camera-path", "orbit", "fly-through", "walk", "duration", "speed",
}

// usage checks what needs no file.
func (c *compareFlags) usage(cmd *cobra.Command, args []string, conditions []simulate.Condition) error {
	if !cmd.Flags().Changed("compare-whole") {
		if len(c.reports) > 0 {
			return errors.New("--report needs --compare-whole, auto for example")
		}
		for _, x := range conditions {
			if slices.Contains(preview.CompareKeys(), x.Key) {
				return fmt.Errorf("--fail-if %s needs --compare-whole, auto for example: else nothing is compared", x)
			}
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
	for _, path := range c.reports {
		if !preview.CompareFormat(path) {
			return fmt.Errorf("--report %s: the name must end in .html, .json or .png", path)
		}
		if st, err := os.Stat(filepath.Dir(path)); err != nil || !st.IsDir() {
			return fmt.Errorf("--report %s: there is no folder %s", path, filepath.Dir(path))
		}
	}
	if path := namedTwice(append([]string{c.cameras}, c.reports...)...); path != "" {
		return fmt.Errorf("%q is named twice; choose another name", path)
	}
	return nil
}

// run compares and writes the reports.
func (c *compareFlags) run(ctx context.Context, a *app, o preview.Options, quiet bool) (*preview.Report, error) {
	result, rep, err := preview.Compare(ctx, o, c.cameras)
	if err != nil {
		return nil, err
	}
	for _, path := range c.reports {
		if err := result.WriteReport(path); err != nil {
			return nil, err
		}
	}
	if !quiet {
		printComparison(a.stdout, result)
	}
	return rep, nil
}

func printComparison(w io.Writer, c *preview.Comparison) {
	fmt.Fprintf(w, "%s, %s, %d x %d\n", oneLine(c.Scene), oneLine(c.Device), c.Width, c.Height)
	t := newTable(0, "view", ">SSIM", ">FLIP mean", ">FLIP p99", ">full", ">lod", ">hlod", ">triangles", ">of", "")
	f := func(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) }
	for i := range c.Views {
		d := &c.Views[i]
		note := ""
		if d.Uncovered > 0 {
			note = fmt.Sprintf("%d tiles show nothing", d.Uncovered)
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
