package main

import (
	"errors"
	"os"
	"regexp"
	"slices"
)

// errClock is the end of a run that found nothing and whose time was over in the
// middle of an input. The engine of Go 1.26 and older reports that as a failure
// now and then (https://go.dev/issue/75804).
var errClock = errors.New("the fuzz clock ran out in the middle of an input; no input failed")

// clockOutput is all that the engine says in such a run: progress, and one
// failure whose whole text is the error of a deadline. A failure of an input has
// more, also one whose own text is this.
var clockOutput = regexp.MustCompile(`\A(?:fuzz: [^\n]*\n)*--- FAIL: (Fuzz\w*) \([0-9.]+s\)\n    context deadline exceeded\n(?:fuzz: [^\n]*\n)*FAIL\n\z`)

// clockRanOut reports whether a run of a target failed by its time alone: the
// output is that and nothing else, and the folder of failing inputs has no file
// that was not there before.
func clockRanOut(t target, output []byte, before []string) bool {
	m := clockOutput.FindSubmatch(output)
	return m != nil && string(m[1]) == t.name && !slices.ContainsFunc(files(t.committed()), func(name string) bool {
		return !slices.Contains(before, name)
	})
}

// files returns the names of the entries of a folder, none where there is none.
func files(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
