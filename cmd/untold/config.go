package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/untoldkit/untold/internal/editdist"
)

// Where a flag's value comes from; a higher source wins.
const (
	fromDefault = iota
	fromProfile
	fromEnv
	fromCommandLine
)

const sourceAnnotation = "untold-source"

// profileSource is the annotation of flags that a file has set.
const profileSource = "file"

// source tells where a flag's value comes from.
func source(f *pflag.FlagSet, name string) int {
	x := f.Lookup(name)
	switch {
	case x == nil || !x.Changed:
		return fromDefault
	case len(x.Annotations[sourceAnnotation]) == 0:
		return fromCommandLine
	case x.Annotations[sourceAnnotation][0] == profileSource:
		return fromProfile
	}
	return fromEnv
}

// setFrom sets a flag and keeps where its value comes from, a source and a place in
// it; what names that place in the message about a value that is refused.
func setFrom(cmd *cobra.Command, name, value, what string, from ...string) error {
	if err := cmd.Flags().Set(name, value); err != nil {
		var invalid *pflag.InvalidValueError
		if errors.As(err, &invalid) {
			return valueProblem(what, invalid.GetFlag(), value, invalid.Unwrap())
		}
		return fmt.Errorf("%s: %w", what, err)
	}
	return cmd.Flags().SetAnnotation(name, sourceAnnotation, from)
}

// outranked reports whether a flag that excludes this one comes from a higher
// source: the command line's --walk sets an orbit of the environment aside.
func outranked(cmd *cobra.Command, f *pflag.Flag) bool {
	for _, group := range f.Annotations["cobra_annotation_mutually_exclusive"] {
		for name := range strings.FieldsSeq(group) {
			if other := cmd.Flags().Lookup(name); name != f.Name && other != nil && other.Changed && source(cmd.Flags(), name) > fromProfile {
				return true
			}
		}
	}
	return false
}

// applyEnv sets flags that the command line left alone from UNTOLD_<FLAG>.
func applyEnv(cmd *cobra.Command) error {
	var err error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		name := "UNTOLD_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		v, ok := os.LookupEnv(name)
		if !ok || f.Changed || f.Name == "help" || err != nil || outranked(cmd, f) {
			return
		}
		if e := setFrom(cmd, f.Name, v, name, name); e != nil {
			err = e
		}
	})
	return err
}

// nearest returns `; did you mean "x"?` for the flag that name may stand for.
func nearest(cmd *cobra.Command, name string) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return nearestOf(name, names)
}

// nearestOf is nearest among some names; of equals the first. A name is near
// within three edits, and within as many as a third of its letters.
func nearestOf(name string, names []string) string {
	best, at := min(4, max(1, len(name)/3)+1), ""
	for _, n := range names {
		if d := editdist.Distance(name, n); d < best {
			best, at = d, n
		}
	}
	if at == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", at)
}
