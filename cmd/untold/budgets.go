package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/untoldkit/untold/cook/report"
	"github.com/untoldkit/untold/cook/verify"
	"github.com/untoldkit/untold/internal/bench"
	"github.com/untoldkit/untold/internal/budget"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/preview/stats"
	"github.com/untoldkit/untold/runtime/simulate"
)

// figureSources are the commands with budgets, and the names of the figures that each
// has.
var figureSources = []struct {
	command string
	names   func() []string
}{
	{"cook", sync.OnceValue(cookFigureNames)},
	{"validate", sync.OnceValue(verify.FigureNames)},
	{"simulate", sync.OnceValue(simulate.ReportKeys)},
	{"preview", sync.OnceValue(stats.ReportKeys)},
	{"bench", bench.FigureNames},
}

func cookFigureNames() []string {
	names, _ := budget.Numbers(&report.Figures{})
	return names
}

// figureCommands are the commands that have figures.
func figureCommands() (out []string) {
	for _, s := range figureSources {
		out = append(out, s.command)
	}
	return out
}

// commandFigures are the names of the figures that a command has.
func commandFigures(command string) []string {
	for _, s := range figureSources {
		if s.command == command {
			return s.names()
		}
	}
	return nil
}

// commandsWith are the commands that have a figure.
func commandsWith(figure string) (out []string) {
	for _, s := range figureSources {
		if slices.Contains(s.names(), figure) {
			out = append(out, s.command)
		}
	}
	return out
}

// budgetFlags are the budgets of a command.
type budgetFlags struct {
	failIf     []string
	conditions []budget.Condition // after parse
}

func (b *budgetFlags) register(f *pflag.FlagSet, example string) {
	f.StringArrayVar(&b.failIf, "fail-if", nil, "exit code 1 when this holds of a figure, such as '"+example+"'; repeatable, or separated by commas (untold figures lists them)")
}

// parse reads --fail-if for a command. A setting of the environment or of a file is for
// all commands: there, what is a figure of others alone is left to them.
func (b *budgetFlags) parse(f *pflag.FlagSet, command string) error {
	b.conditions = nil
	names := commandFigures(command)
	everywhere := f.Changed("fail-if") && source(f, "fail-if") != fromCommandLine
	for _, text := range b.failIf {
		for one := range strings.SplitSeq(text, ",") {
			c, err := budget.Parse(one, names)
			if err == nil {
				b.conditions = append(b.conditions, c)
				continue
			}
			key := strings.TrimSpace(one[:max(0, strings.IndexAny(one+"<", "<>=!"))])
			other := commandsWith(key)
			switch {
			case slices.Contains(other, command) || len(other) == 0:
				return fmt.Errorf("--fail-if: %w", err)
			case !everywhere:
				return fmt.Errorf("--fail-if: condition %q: untold %s has no figure %q; %s", one, command, key, haveIt(other))
			}
			if _, err := budget.Parse(one, []string{key}); err != nil {
				return fmt.Errorf("--fail-if: %w", err)
			}
		}
	}
	return nil
}

// haveIt says which commands have something.
func haveIt(commands []string) string {
	if len(commands) == 1 {
		return commands[0] + " has it"
	}
	last := len(commands) - 1
	return strings.Join(commands[:last], ", ") + " and " + commands[last] + " have it"
}

// beside takes the budgets from untold.yaml beside a manifest, where neither the
// command line, nor the environment, nor --config has any.
func (b *budgetFlags) beside(cmd *cobra.Command, a *app, manifestPath string) error {
	if a.profile != nil || manifestPath == "" || cmd.Flags().Changed("fail-if") {
		return nil
	}
	p, err := readBeside(manifestPath)
	if err != nil {
		return err
	}
	for _, e := range p.entries {
		if flagName(e.key.Value) == "fail-if" {
			if err := p.applyKey(cmd, e, a.flags); err != nil {
				return p.fail(e, err)
			}
			if err := b.parse(cmd.Flags(), cmd.Name()); err != nil {
				return p.fail(e, err)
			}
		}
	}
	return nil
}

// print tells on w which budgets fail, and which is closest to its limit.
func (a *app) printBudgets(w io.Writer, paint func(code, text string) string, list []budget.Verdict) {
	budget.Write(w, list, a.quiet, func(word string) string { return paint(red, word) })
}

// planLacks refuses, before there is work, budgets on what a dry run does not know.
func (b *budgetFlags) planLacks() error {
	one, memory := 1, int64(1)
	plan := &manifest.Manifest{DryRun: true, Tiles: []manifest.Tile{{
		TriangleCount: 1, ObjectCount: &one, EstimatedMemoryBytes: &memory, LODLevels: make([]manifest.Level, 1),
	}}}
	f := report.Figures{Figures: manifest.FiguresOf(plan)}
	for _, c := range b.conditions {
		if _, err := f.Value(c.Key); err != nil {
			return fmt.Errorf("--fail-if %s: a dry run makes no files, and does not know this: leave --dry-run or the budget out", c)
		}
	}
	return nil
}
