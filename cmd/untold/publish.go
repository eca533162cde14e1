package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/cook/publish"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/clock"
	"github.com/untoldkit/untold/internal/human"
)

// compressKept leaves containers as they were cooked.
const compressKept = "kept"

// publishFlags are the flags of untold publish.
type publishFlags struct {
	dryRun, asJSON bool
	viewer         bool
	keep           int
	grace          time.Duration
	rollback       int
	compress       string
	jobs           int
	memory         byteSize
}

func newPublish(a *app) *cobra.Command {
	p := publishFlags{grace: 24 * time.Hour}
	cmd := &cobra.Command{
		Use:     "publish [DIR] s3://BUCKET/PREFIX|PATH",
		Short:   "Send a cooked scene to a bucket or folder that readers stream from",
		GroupID: "make",
		Long: `publish sends the scenes of a cooked folder, or the one whose manifest is named, to a bucket of
an S3 server or to another folder. Payloads get names by their content, which never change and
may be cached for ever; manifests keep theirs, are sent last and are asked for again after a
minute. Who reads an older version goes on undisturbed. What is there already is not sent, so a
second publish sends what has changed, and one that was stopped goes on where it was.

--viewer adds a page that shows the scenes in a browser, and the element <untold-viewer> for other
pages (docs/web.md). A place that has it keeps it; --viewer brings it up to date.

--compress delta sends compressed geometry in the form that is the smallest, which untold's readers
and page alone understand; a manifest then tells the sizes and hashes of what is sent. As many
containers at a time as --memory allows are compressed; one that would take more by itself is sent
as it was cooked, with a warning.

Nothing is sent of a folder with errors (untold validate).

Every publish that changes something is a version. --keep 3 removes what the three newest do not
need, and nothing that was sent, or was the newest version, within --grace. --rollback 7 makes
version 7 the newest again. Only one publish with --keep may run at a time for a place.

The server and the credentials are those of other S3 programs: AWS_ENDPOINT_URL (for a server
that is not Amazon's), AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE with
the shared files, or the role of the machine.`,
		Example: `  untold publish out/city s3://scenes/city --dry-run
  untold publish out/city s3://scenes/city --keep 3
  untold publish s3://scenes/city --rollback 7
  untold publish out/city /srv/www/city --viewer`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(cmd, a, args) },
	}
	f := cmd.Flags()
	f.BoolVar(&p.dryRun, "dry-run", false, "send and remove nothing; list what would be sent")
	f.BoolVar(&p.viewer, "viewer", false, "send the page that shows the scenes in a browser, too")
	f.IntVar(&p.keep, "keep", 0, "versions that stay, with the new one (0: all)")
	f.Var(timeVar(&p.grace), "grace", "with --keep: how long files and replaced versions stay at least")
	f.IntVar(&p.rollback, "rollback", 0, "publish this version of the place again, without DIR")
	f.StringVar(&p.compress, "compress", compressKept, "compressed geometry: kept as it was cooked, or compressed anew: lz4, zstd, delta (for untold alone), auto or none")
	f.BoolVar(&p.asJSON, "json", false, "the report as JSON")
	f.IntVarP(&p.jobs, "jobs", "j", 8, "files read or sent at a time")
	f.Var(&p.memory, "memory", "main memory that the program may take (default 1GiB); a container that --compress would need more for stays as it was cooked")
	return cmd
}

// needs says which flags have no effect beside the others.
func (p *publishFlags) needs() []need {
	const again = "--rollback sends manifests alone and removes nothing"
	return []need{
		{"keep", p.rollback == 0, again},
		{"grace", p.rollback == 0, again},
		{"viewer", p.rollback == 0, again},
		{"compress", p.rollback == 0, again},
		{"jobs", p.rollback == 0, again},
		{"memory", p.rollback == 0, again},
		{"grace", p.keep > 0, "nothing is removed; add --keep"},
		{"keep", !p.dryRun, "--dry-run removes nothing"},
	}
}

func (p *publishFlags) run(cmd *cobra.Command, a *app, args []string) error {
	ctx, f := cmd.Context(), cmd.Flags()
	again := f.Changed("rollback")
	switch {
	case again && p.rollback < 1:
		return fmt.Errorf("--rollback is %d; versions count from 1", p.rollback)
	case again && len(args) != 1:
		return errors.New("--rollback takes the place alone: untold publish s3://BUCKET/PREFIX --rollback 7")
	case !again && len(args) != 2:
		return errors.New("name the cooked folder and the place: untold publish DIR s3://BUCKET/PREFIX")
	case p.keep < 0:
		return fmt.Errorf("--keep is %d; it is a number of versions, 0 for all", p.keep)
	case p.jobs < 1:
		return fmt.Errorf("--jobs is %d; it must be at least 1", p.jobs)
	}
	if err := a.checkEffects(f, p.needs()); err != nil {
		return err
	}
	to, err := openPlace(ctx, args[len(args)-1])
	if err != nil {
		return err
	}
	o := publish.Options{Jobs: p.jobs, DryRun: p.dryRun, Keep: p.keep, Grace: p.grace, Now: clock.System{}.Now(), Memory: cmp.Or(int64(p.memory), publish.DefaultMemory), Progress: a.progress()}
	if p.compress != compressKept {
		mode, err := format.ParseCompressMode(p.compress)
		if err != nil {
			return fmt.Errorf("--compress: %w; %s leaves it as it was cooked", err, compressKept)
		}
		o.Compress = &mode
	}
	if p.viewer {
		if o.Viewer, err = thePage(); err != nil {
			return err
		}
	}
	defer collectWithin(o.Memory)()
	var report *publish.Report
	if again {
		report, err = publish.Rollback(ctx, to, p.rollback, o)
	} else {
		if err := refuseUncooked("publish", " "+shellWord(args[1]), args[0]); err != nil {
			return err
		}
		report, err = publish.Run(ctx, args[0], to, o)
	}
	switch {
	case errors.Is(err, publish.ErrScene), errors.Is(err, publish.ErrVersion):
		return &badFile{err}
	case err != nil:
		return err
	}
	return p.print(a, report)
}

// published tells what a user should know of a publication.
func (a *app) published(r *publish.Report) {
	for _, n := range r.Notes {
		fmt.Fprintln(a.stderr, a.paint(yellow, "warning:"), oneLine(n))
	}
}

// print tells what was done.
func (p *publishFlags) print(a *app, r *publish.Report) error {
	a.published(r)
	if p.asJSON {
		enc := json.NewEncoder(a.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	if r.DryRun {
		for _, t := range r.Sent {
			fmt.Fprintf(a.stdout, "%s  %s  %s\n", oneLine(t.Key), human.Bytes(t.Bytes), oneLine(t.Source))
		}
	}
	sent, changed := "sent", "changed"
	if r.DryRun {
		sent, changed = "would be sent", "would change"
	}
	for _, s := range r.Scenes {
		if s.Changed {
			fmt.Fprintf(a.stdout, "%s  %s\n", oneLine(s.Manifest), changed)
		} else {
			fmt.Fprintf(a.stdout, "%s  unchanged\n", oneLine(s.Manifest))
		}
	}
	fmt.Fprintf(a.stdout, "%s: version %d, %s of %s, %s (%s) %s", oneLine(r.Place), r.Version, human.Plural(r.Files, "payload"), human.Bytes(r.Bytes),
		human.Plural(len(r.Sent), "payload"), human.Bytes(r.SentBytes), sent)
	if len(r.Copied) > 0 {
		fmt.Fprintf(a.stdout, ", %d (%s) copied in the place", len(r.Copied), human.Bytes(r.CopiedBytes))
	}
	if r.Removed > 0 {
		fmt.Fprintf(a.stdout, ", %d (%s) removed", r.Removed, human.Bytes(r.RemovedBytes))
	}
	if r.Viewer {
		fmt.Fprint(a.stdout, ", index.html shows it in a browser")
	}
	_, err := fmt.Fprintln(a.stdout)
	return err
}
