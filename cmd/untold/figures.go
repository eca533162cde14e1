package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/untoldkit/untold/runtime/simulate"
)

// What simulate and preview share: conditions on a report, its figures as a
// table, and the outputs that flags name.

// parseConditions reads the values of --fail-if.
func parseConditions(texts []string, report simulate.Valuer) ([]simulate.Condition, error) {
	var list []simulate.Condition
	for _, text := range texts {
		c, err := simulate.ParseConditionOn(text, report)
		if err != nil {
			return nil, fmt.Errorf("--fail-if: %w", err)
		}
		list = append(list, c)
	}
	return list, nil
}

// judgeConditions prints the conditions that hold and reports whether none does.
func judgeConditions(w io.Writer, paint func(code, text string) string, conditions []simulate.Condition, report simulate.Valuer) bool {
	good := true
	for _, c := range conditions {
		if c.Holds(report) {
			good = false
			v, _ := report.Value(c.Key)
			fmt.Fprintf(w, "%s: %s is %s (--fail-if %s)\n", paint(red, "failed"), c.Key, strconv.FormatFloat(v, 'g', -1, 64), c)
		}
	}
	return good
}

// printFigures prints the numbers of a report.
func printFigures(w io.Writer, keys []string, report simulate.Valuer) {
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
