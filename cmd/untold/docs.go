package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
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
			if err := doc.GenManTree(cmd.Root(), &doc.GenManHeader{Title: "UNTOLD", Section: "1", Source: "untold " + version}, dir); err != nil {
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
