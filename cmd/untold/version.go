package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/licenses"
)

// version is that of the release that this is, or that the next one will be:
// semantic, without a leading v. Between releases the commit tells more.
var version = "0.2.0"

// commit is the beginning of the commit that this program was built from, "" where the
// go command did not write one into it.
func commit() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				return s.Value[:12]
			}
		}
	}
	return ""
}

// versionLine is what version and --version print.
func versionLine() string {
	revision := commit()
	if revision != "" {
		revision = " " + revision
	}
	return fmt.Sprintf("untold %s%s (writes container version %d, reads 1-%d; %s %s/%s)\n",
		version, revision, format.Version, format.MaxVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func newVersion(a *app) *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		GroupID: "more",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if all {
				_, err := io.WriteString(a.stdout, licenses.ThirdParty)
				return err
			}
			_, err := io.WriteString(a.stdout, versionLine())
			return err
		},
	}
	cmd.Flags().BoolVar(&all, "licenses", false, "print the licences of the software that is compiled in")
	return cmd
}
