package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is the width in characters that the help is written for.
const helpWidth = 100

// groupAnnotation marks a flag with the heading that the help lists it under.
const groupAnnotation = "untold_group"

// flagGroup is a heading of a command's help and the flags below it.
type flagGroup struct {
	title string
	flags string // names, separated by spaces
}

// groupFlags lists a command's flags under headings, in the order of groups.
func groupFlags(cmd *cobra.Command, groups []flagGroup) {
	for _, g := range groups {
		for name := range strings.FieldsSeq(g.flags) {
			if err := cmd.Flags().SetAnnotation(name, groupAnnotation, []string{g.title}); err != nil {
				panic(err) // a heading over a flag that the command does not have
			}
		}
	}
	cmd.SetUsageFunc(func(cmd *cobra.Command) error { return usageInGroups(cmd, groups) })
}

// usageInGroups prints what cobra prints, with the flags under their headings.
func usageInGroups(cmd *cobra.Command, groups []flagGroup) error {
	var b strings.Builder
	b.WriteString("Usage:\n  " + cmd.UseLine() + "\n")
	if cmd.HasExample() {
		b.WriteString("\nExamples:\n" + cmd.Example + "\n")
	}
	for _, g := range append(slices.Clone(groups), flagGroup{title: "Flags"}) {
		set := pflag.NewFlagSet(g.title, pflag.ContinueOnError)
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if of := f.Annotations[groupAnnotation]; len(of) == 0 && g.title == "Flags" || len(of) > 0 && of[0] == g.title {
				set.AddFlag(f)
			}
		})
		if set.HasAvailableFlags() {
			b.WriteString("\n" + g.title + ":\n" + flagUsages(set))
		}
	}
	b.WriteString("\nGlobal Flags:\n" + flagUsages(cmd.InheritedFlags()))
	_, err := cmd.OutOrStdout().Write([]byte(b.String()))
	return err
}

// flagUsages lists flags within the width of the help.
func flagUsages(set *pflag.FlagSet) string {
	return strings.TrimRight(set.FlagUsagesWrapped(helpWidth), " \n") + "\n"
}
