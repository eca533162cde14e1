package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/internal/budget"
)

// listedFigure is a figure in the JSON of untold figures.
type listedFigure struct {
	budget.Figure
	Suffixes []string `json:"suffixes"` // units that a number may be written with
	Commands []string `json:"commands"`
}

func newFigures(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "figures",
		Short:   "List the figures that budgets can be about",
		GroupID: "look",
		Long: `figures lists the numbers that --fail-if can judge: their names, units and meanings, and the
commands that have them. A name means the same in all commands. --for COMMAND lists those of one.

A budget is a figure, one of < <= > >= == and a number: tile_bytes_max>200k. The number may have a
unit: k, M and G of counts and bytes (decimal), KiB, MiB and GiB of bytes, ms and s of times, px, m
and km, % of shares. docs/budgets.md has examples.`,
		Example: `  untold figures --for cook
  untold figures --json
  untold cook city.glb -o out/city --fail-if 'tile_bytes_max>200k' --fail-if 'warnings>0'`,
		Args: cobra.NoArgs,
	}
	only := cmd.Flags().String("for", "", "list the figures of this command: cook, validate, simulate, preview or bench")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.RunE = func(*cobra.Command, []string) error {
		if *only != "" && commandFigures(*only) == nil {
			return fmt.Errorf("--for is %q; use cook, validate, simulate, preview or bench", *only)
		}
		list := listFigures(*only)
		if asJSON {
			return writeJSON(a.stdout, list)
		}
		t := newTable(0, "figure", "unit", "of", "meaning")
		for i := range list {
			x := &list[i]
			t.add(x.Name, x.Unit, strings.Join(x.Commands, " "), x.Meaning)
		}
		t.print(a.stdout)
		return nil
	}
	return cmd
}

// listFigures are the figures of a command, or of all for "".
func listFigures(command string) []listedFigure {
	out := []listedFigure{}
	for _, f := range budget.Figures() {
		commands := commandsWith(f.Name)
		if command == "" || slices.Contains(commands, command) {
			out = append(out, listedFigure{f, append([]string{}, budget.Suffixes(f.Unit)...), commands})
		}
	}
	return out
}
