package main

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/untoldkit/untold/internal/budget"
	"github.com/untoldkit/untold/runtime/simulate"
)

// What simulate and preview share: the figures of a report as a table, and the
// outputs that flags name.

// printFigures prints the numbers of a report.
func printFigures(w io.Writer, keys []string, report budget.Valuer) {
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
