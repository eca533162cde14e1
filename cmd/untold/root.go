package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// newRoot builds the command tree.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "untold",
		Short: "Cook glTF scenes into streamable tiles, validate, inspect and rehearse them",
		Long: `untold cooks glTF scenes into .untold tiles and a manifest for streaming, validates and
inspects the result, and runs the streaming runtime on it without a display.

Results go to stdout, progress and messages to stderr. Exit code 0: fine. 1: the
input was read and has findings. 2: wrong usage, or the work could not be done. 130 and
143: Ctrl-C or SIGTERM ended it.
Every flag can also be set by a variable UNTOLD_<FLAG>, such as UNTOLD_TILE_SIZE, and by a file
that --config names: YAML whose keys are the flags' names, of any command, and runtime parameters;
relative paths in it start at its folder. The command line wins over variables, these over the file.`,
		Example: `  untold cook city.glb -o out/city
  untold validate out/city
  untold inspect out/city/city.json --map city.svg
  untold simulate out/city/city.json --fly-through --plot flight.svg`,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if a.quiet && a.verbose {
				return errors.New("--quiet and --verbose contradict each other: leave one out")
			}
			if err := applyEnv(cmd); err != nil {
				return err
			}
			a.flags = allFlags(cmd.Root())
			if err := a.applyNamed(cmd); err != nil {
				return err
			}
			if !slices.Contains([]string{"auto", "always", "never"}, a.color) {
				return fmt.Errorf("--color is %q; use auto, always or never", a.color)
			}
			if err := negativeCounts(cmd); err != nil {
				return err
			}
			if err := checkPlaces(cmd); err != nil {
				return err
			}
			return requiredFlags(cmd)
		},
	}
	f := root.PersistentFlags()
	f.BoolVarP(&a.quiet, "quiet", "q", false, "print results, warnings and errors only")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "say more")
	f.BoolVar(&a.noProgress, "no-progress", false, "no progress bar or lines")
	f.StringVar(&a.color, "color", "auto", "colour on terminals: auto, always or never (NO_COLOR is honoured)")
	f.StringVar(&a.config, "config", "", "file of settings (YAML), instead of an untold.yaml beside the scene; flags and environment win")
	root.AddGroup(
		&cobra.Group{ID: "make", Title: "Make:"},
		&cobra.Group{ID: "look", Title: "Look:"},
		&cobra.Group{ID: "more", Title: "More:"},
	)
	root.AddCommand(newCook(a), newConvert(a), newValidate(a), newInspect(a), newDiff(a), newExport(a), newVersion(a), newDocs(a), newDoctor(a))
	root.AddCommand(newManifest(a), newExplain(a))
	root.AddCommand(newStore(a), newFarm(a))
	root.AddCommand(newFigures(a), newSchema(a), newConfig(a), newInit(a))
	root.AddCommand(newSimulate(a))
	root.AddCommand(newPreview(a))
	root.AddCommand(newTune(a), newBench(a))
	root.AddCommand(newPublish(a))
	root.AddCommand(newServe(a))
	root.AddCommand(newCache(a))
	root.SetHelpCommandGroupID("more")
	root.SetCompletionCommandGroupID("more")
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", fmt.Sprintf(".FlagUsagesWrapped %d ", helpWidth)))
	root.SetFlagErrorFunc(flagProblem)
	root.InitDefaultCompletionCmd()
	root.Version = version // gives it --version
	root.SetVersionTemplate(versionLine())
	ownArguments(root, a)
	ownHelp(root)
	completions(root)
	return root
}
