package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

func newDocs(a *app) *cobra.Command {
	docs := &cobra.Command{Use: "docs", Short: "Write the documentation of all commands", GroupID: "more"}
	var dir string
	man := &cobra.Command{
		Use:   "man",
		Short: "Write man pages",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			escapeTexts(cmd.Root(), map[*pflag.Flag]bool{})
			if err := doc.GenManTree(cmd.Root(), &doc.GenManHeader{Title: "UNTOLD", Section: "1", Source: "untold " + version, Date: manDate()}, dir); err != nil {
				return err
			}
			_, err := fmt.Fprintln(a.stdout, dir)
			return err
		},
	}
	man.Flags().StringVarP(&dir, "output", "o", "man", "folder for the pages")
	docs.AddCommand(man)
	return docs
}

// manDate is the day that pages bear where SOURCE_DATE_EPOCH, which goes first, names
// none: that of the commit, so that the same program writes the same pages; nil,
// today's, where the program knows of none.
func manDate() *time.Time {
	if os.Getenv("SOURCE_DATE_EPOCH") != "" {
		return nil
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	for _, s := range info.Settings {
		if t, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil {
			return &t
		}
	}
	return nil
}

// markdown are the characters by which a text could turn into something else on its
// way to a page: words in angle brackets were gone, as tags of HTML.
var markdown = strings.NewReplacer("\\", "\\\\", "<", "\\<", ">", "\\>", "*", "\\*", "_", "\\_", "`", "\\`")

// escapeTexts has the texts of a command and those below it reach man pages as they
// are. Examples stand in blocks, in which nothing is special.
func escapeTexts(cmd *cobra.Command, done map[*pflag.Flag]bool) {
	cmd.Short, cmd.Long = markdown.Replace(cmd.Short), markdown.Replace(cmd.Long)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !done[f] {
			done[f] = true
			f.Usage = markdown.Replace(f.Usage)
		}
	})
	for _, c := range cmd.Commands() {
		escapeTexts(c, done)
	}
}
