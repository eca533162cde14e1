package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/untoldkit/untold/internal/budget"
	"github.com/untoldkit/untold/runtime/simulate"
)

// What simulate and preview share: the figures of a report as a table, and the
// outputs that flags name.

// mainFigures are those that a run prints: what its viewer sees, and what it costs.
var mainFigures = []string{
	"frames", "seconds", "loads", "bytes_loaded", "time_to_picture", "time_to_8px", "over_8px", "error_px_p50", "error_px_p99",
	"undrawn", "uncovered", "pops", "peak_geometry_bytes", "peak_texture_bytes", "update_ms_p99",
	"frame_ms_p50", "frame_ms_p99", "draw_calls_max", "triangles_max",
}

const allFiguresUsage = "print all figures, not the main ones alone"

// faultFigures are printed besides where they are not 0.
var faultFigures = []string{
	"double_drawn", "uncovered_budget", "given_up", "limited_memory", "limited_triangles", "failures", "timeouts", "mesh_failures", "texture_failures", "textures_missing", "hitches", "errors", "gl_errors",
}

// printFigures prints the numbers of a report: the main ones with what they mean, or all
// as they are.
func printFigures(w io.Writer, keys []string, report budget.Valuer, all bool) {
	if all {
		printAllFigures(w, keys, report)
		return
	}
	t := newTable(0, "figure", ">value", "")
	for i, key := range slices.Concat(mainFigures, faultFigures) {
		v, err := report.Value(key)
		figure, ok := budget.Find(key)
		if err != nil || !ok || v == 0 && i >= len(mainFigures) {
			continue // a run without pictures has not all of them
		}
		t.add(key, budget.Text(math.Round(v*1000)/1000, figure.Unit), figure.Meaning)
	}
	t.print(w)
	fmt.Fprintf(w, "%d more with --all-figures\n", len(keys)-len(t.rows))
}

func printAllFigures(w io.Writer, keys []string, report budget.Valuer) {
	t := newTable(0, "figure", ">value")
	for _, key := range keys {
		v, err := report.Value(key)
		if err != nil {
			continue // every key of the list has a value
		}
		text := strconv.FormatFloat(v, 'f', 3, 64)
		if v == float64(int64(v)) {
			text = strconv.FormatInt(int64(v), 10)
		}
		t.add(key, text)
	}
	t.print(w)
}

// jsonOutput makes --json stand for "-" as the value of another flag.
func jsonOutput(asJSON bool, flag string, path *string) error {
	if !asJSON {
		return nil
	}
	if *path != "" && *path != "-" {
		return errors.New("--json is short for " + flag + " -; leave one of them out")
	}
	*path = "-"
	return nil
}

// namedTwice returns the first path that stands twice, "" for none.
func namedTwice(paths ...string) string {
	var used []string
	for _, path := range paths {
		if path == "" {
			continue
		}
		if slices.Contains(used, filepath.Clean(path)) {
			return path
		}
		used = append(used, filepath.Clean(path))
	}
	return ""
}

// lineWriter returns a function that writes events as JSON lines.
func lineWriter(w io.Writer) func(*simulate.Record) error {
	var line []byte
	return func(r *simulate.Record) error {
		line = append(r.AppendJSON(line[:0]), '\n')
		_, err := w.Write(line)
		return err
	}
}
