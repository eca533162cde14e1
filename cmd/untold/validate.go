package main

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/cook/verify"
	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/internal/budget"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/runtime/remote"
)

func newValidate(a *app) *cobra.Command {
	var asJSON, strict bool
	var format string
	var limit, jobs int
	var server remoteFlags
	var budgets budgetFlags
	cmd := &cobra.Command{
		Use:     "validate PATH|URL...",
		Short:   "Judge containers, manifests and folders",
		GroupID: "look",
		Long: `validate judges .untold files, manifests together with the files that they name, and
folders with all of both. It lists every finding with its code, severity, place and
remedy, of infos of a kind three, with --verbose all. Exit code 1 when there is an error, with
--strict also for warnings, and when a condition of --fail-if holds: of the findings
('warnings>3'), or of the scene that the manifests describe ('tile_bytes_max>200k'; several count
as one scene). untold figures --for validate lists them.

A manifest or container at an http or https address is downloaded first, a manifest with the
containers that it names. The disk cache has no part in that: the server's files are judged.`,
		Example: "  untold validate out/city\n  untold validate out/city/city.json --format json\n  untold validate tiles/*.untold --strict\n  untold validate out/city --format junit > report.xml\n  untold validate https://cdn.example.com/city/city.json",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneFormat(cmd.Flags(), format); err != nil {
				return err
			}
			if asJSON {
				format = "json"
			}
			if err := budgets.parse(cmd.Flags(), "validate"); err != nil {
				return err
			}
			if err := a.checkAsked(cmd.Flags(), serverNeeds(cmd.Flags(), slices.ContainsFunc(args, remote.IsURL))); err != nil {
				return err
			}
			if err := refuseUncooked("validate", "", args...); err != nil {
				return err
			}
			write := reportFormats[format]
			if write == nil && format != "text" {
				return fmt.Errorf("--format is %q; use text, json, junit, sarif or github", format)
			}
			if jobs <= 0 {
				jobs = runtime.GOMAXPROCS(0)
			}
			start := time.Now()
			opts := verify.Options{MaxPerCode: limit, Jobs: jobs, Now: func() float64 { return time.Since(start).Seconds() }}
			if limit == 0 {
				opts.MaxPerCode = -1
			}
			if report := a.progress(); report != nil && isTerminal(a.stderr) {
				opts.Progress = func(done, total int) { report("validate", done, total) }
			}
			r, err := judge(cmd.Context(), a, args, opts, &server)
			if err != nil {
				return err
			}
			if strict {
				r.OK = r.OK && r.Warnings == 0
			}
			if r.Budgets, err = budget.Judge(budgets.conditions, &r.Figures); err != nil {
				return err
			}
			r.OK = r.OK && !budget.Failed(r.Budgets)
			if write == nil {
				printReport(a, r)
				a.printBudgets(a.stdout, a.paintResult, r.Budgets)
			} else if err := write(a.stdout, r, strict); err != nil {
				return err
			} else {
				a.printBudgets(a.stderr, a.paint, r.Budgets)
			}
			if !r.OK {
				return errFindings
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&format, "format", "text", "text, json, junit, sarif or github")
	f.BoolVar(&asJSON, "json", false, "short for --format json")
	f.BoolVar(&strict, "strict", false, "warnings fail, too")
	f.IntVar(&limit, "max-findings", 100, "findings listed per code and file, 0 for all")
	budgets.register(f, "warnings>0")
	server.registerVisit(f)
	f.IntVar(&server.maxFiles, "max-files", visitFiles, "most files of manifests at addresses that are downloaded, 0 for no limit")
	f.IntVarP(&jobs, "jobs", "j", 0, "files judged at a time (default: all processors)")
	return cmd
}

// judge validates paths and addresses.
func judge(ctx context.Context, a *app, args []string, opts verify.Options, server *remoteFlags) (r *verify.Report, err error) {
	if !slices.ContainsFunc(args, remote.IsURL) {
		return verify.Paths(ctx, args, opts)
	}
	if args, err = server.allScenesAt(ctx, a, args); err != nil {
		return nil, err
	}
	var progress func(done, total int)
	if report := a.progress(); report != nil && isTerminal(a.stderr) {
		progress = func(done, total int) { report("download", done, total) }
	}
	err = server.visit(ctx, a, func(ctx context.Context, dir string, fetch *remote.Fetcher) error {
		m := &mirror{dir: dir, fetch: fetch, maxFiles: server.maxFiles, maxBytes: server.maxDownload.or(visitBytes)}
		paths := make([]string, len(args))
		for i, arg := range args {
			if paths[i], err = m.add(ctx, arg, progress); err != nil {
				return err
			}
		}
		if r, err = verify.Paths(ctx, paths, opts); err != nil {
			return err
		}
		m.rename(r)
		return nil
	})
	return r, err
}

// shownInfos is how many infos of a code are listed: nothing is wrong, and a folder may have
// thousands that say the same.
const shownInfos = 3

// printReport lists the findings by file; files without any are counted, and so are infos
// that have been told often enough.
func printReport(a *app, r *verify.Report) {
	clean := 0
	infos := map[finding.Code]int{}
	for i := range r.Files {
		f := &r.Files[i]
		if len(f.Findings) == 0 {
			if clean++; a.verbose {
				fmt.Fprintf(a.stdout, "%s: ok\n", oneLine(f.Path))
			}
			continue
		}
		for _, x := range f.Findings {
			if x.Severity == finding.Info {
				if infos[x.Code]++; a.quiet || infos[x.Code] > shownInfos && !a.verbose {
					continue
				}
			}
			color := map[finding.Severity]string{finding.Error: red, finding.Warning: yellow, finding.Info: dim}[x.Severity]
			fmt.Fprintf(a.stdout, "%s: %s %s: %s: %s (%s)\n", oneLine(f.Path), a.paintResult(color, x.Severity.String()), x.Code, oneLine(x.Place), oneLine(x.Message), x.Hint)
		}
	}
	for _, code := range slices.Sorted(maps.Keys(infos)) {
		if more := infos[code] - shownInfos; more > 0 && !a.quiet && !a.verbose {
			fmt.Fprintf(a.stdout, "%s %s: %s more (--verbose lists all)\n", a.paintResult(dim, finding.Info.String()), code, human.Count(more))
		}
	}
	verdict := a.paintResult(green, "ok")
	if !r.OK {
		verdict = a.paintResult(red, "not ok")
	}
	fmt.Fprintf(a.stdout, "%s: %s, %s, %s, %s without findings\n", verdict, human.Plural(len(r.Files), "file"), human.Plural(r.Errors, "error"),
		human.Plural(r.Warnings, "warning"), human.Plural(clean, "file"))
}
