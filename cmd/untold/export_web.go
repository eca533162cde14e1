package main

import (
	"errors"
	"fmt"
	"path/filepath"
	goruntime "runtime"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/cook/publish"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/preview/web"
)

// thePage returns the page for publications, or says how a program gets one.
func thePage() (*publish.Viewer, error) {
	files, err := web.Static()
	if err != nil {
		return nil, err
	}
	return &publish.Viewer{Files: files, Front: web.Front}, nil
}

// web writes a folder for web servers.
func (e *exportFlags) web(cmd *cobra.Command, a *app, arg string) error {
	err := a.checkAsked(cmd.Flags(), []need{
		{"levels", false, mustNotWeb},
		{"pyramid-level", false, mustNotWeb},
		{"textures", false, mustNotWeb},
		{"ecef", false, mustBe3D},
		{"full", false, mustBe3D},
		{"verify", false, mustBe3D},
	})
	if err != nil {
		return err
	}
	if e.jobs < 0 {
		return fmt.Errorf("--jobs is %d; it must be at least 1, or 0 for the number of processors", e.jobs)
	}
	page, err := thePage()
	if err != nil {
		return err
	}
	if err := refuseUncooked("export", " --format web -o "+shellWord(e.out), arg); err != nil {
		return err
	}
	jobs := e.jobs
	if jobs == 0 {
		jobs = goruntime.GOMAXPROCS(0)
	}
	o := publish.Options{Jobs: jobs, Viewer: page, Memory: publish.DefaultMemory, Progress: a.progress()}
	if !cmd.Flags().Changed("compress") || e.compress {
		delta := format.ModeDelta
		o.Compress = &delta
	}
	defer collectWithin(o.Memory)()
	r, err := publish.Export(cmd.Context(), arg, e.out, o)
	switch {
	case errors.Is(err, publish.ErrScene):
		return &badFile{err}
	case err != nil:
		return err
	}
	a.published(r)
	if e.asJSON {
		return writeJSON(a.stdout, r)
	}
	_, err = fmt.Fprintf(a.stdout, "%s: %s, %s (%s), of which %s (%s) were written", filepath.Join(e.out, "index.html"), human.Plural(len(r.Scenes), "scene"),
		human.Plural(r.Files, "file"), human.Bytes(r.Bytes), human.Count(len(r.Sent)), human.Bytes(r.SentBytes))
	if err == nil && r.Removed > 0 {
		_, err = fmt.Fprintf(a.stdout, ", and %s (%s) removed", human.Count(r.Removed), human.Bytes(r.RemovedBytes))
	}
	if err == nil {
		_, err = fmt.Fprintln(a.stdout)
	}
	return err
}
