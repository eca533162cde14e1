package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/budget"
	"github.com/untoldkit/untold/preview/stats"
	"github.com/untoldkit/untold/runtime/simulate"
)

func TestMainFigures(t *testing.T) {
	keys := stats.ReportKeys()
	for _, name := range slices.Concat(mainFigures, faultFigures) {
		if _, ok := budget.Find(name); !ok || !slices.Contains(keys, name) {
			t.Errorf("%s is no figure of a preview", name)
		}
	}
	var out strings.Builder
	rep := &stats.Report{}
	rep.Frames, rep.FrameMSP50, rep.Errors = 12345, 1.23456, 2
	printFigures(&out, keys, rep, false)
	for _, line := range []string{"frames", "12,345  frames of the run", "1.235 ms", "errors"} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("lacks %q:\n%s", line, out.String())
		}
	}
	if strings.Contains(out.String(), "hitches") {
		t.Errorf("a fault that has not happened is told of:\n%s", out.String())
	}
	if want := fmt.Sprintf("\n%d more with --all-figures\n", len(keys)-len(mainFigures)-1); !strings.HasSuffix(out.String(), want) {
		t.Errorf("ends without %q:\n%s", want, out.String())
	}
}

func TestSimulateAllFigures(t *testing.T) {
	r := execute(t, nil, "simulate", scenario("d01"), "--all-figures")
	for _, key := range simulate.ReportKeys() {
		if !strings.Contains(r.stdout, "\n"+key+" ") {
			t.Errorf("lacks %s:\n%s", key, r.stdout)
		}
	}
}
