package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/internal/doctor"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/preview/web"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/remote"
)

// doctorFlags are the flags of untold doctor.
type doctorFlags struct {
	asJSON   bool
	graphics bool
	url      string
	need     []string
	remote   remoteFlags
}

func newDoctor(a *app) *cobra.Command {
	var d doctorFlags
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Say what works on this machine, and what to install for the rest",
		GroupID: "more",
		Long: `doctor looks at what the commands need: processors, memory and its limits, open files, folders
for temporary files and the cache, the page of serve, the preview's program, OpenGL, a display.
Each check is ok, warn (a command cannot do all that it could) or fail, with what to do about it.

With --url it opens the manifest at an address as preview would, without a cache. Nothing else
uses the network.

Exit code 1: a check failed. --need makes warnings of checks failures, for machines that must
draw, say.`,
		Example: `  untold doctor
  untold doctor --need preview,opengl
  untold doctor --url https://cdn.example.com/city/city.json
  untold doctor --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return d.run(cmd, a) },
	}
	f := cmd.Flags()
	f.BoolVar(&d.asJSON, "json", false, "print JSON")
	f.StringVar(&d.url, "url", "", "open the manifest at this http or https address, too")
	f.StringSliceVar(&d.need, "need", nil, "checks that must be ok: "+strings.Join(doctor.Names, ", "))
	f.StringVar(&d.remote.cacheDir, "cache-dir", "", "folder of the disk cache for remote scenes (default: untold in the user's cache folder)")
	f.Var(&d.remote.cacheBudget, "cache-budget", "size of the disk cache, such as 500M or 2G (default 500M)")
	f.BoolVar(&d.remote.insecure, "allow-insecure-http", false, "allow plain http to other machines than this one")
	f.BoolVar(&d.graphics, askGraphics, false, "print what OpenGL says, for the program that asks")
	if err := f.MarkHidden(askGraphics); err != nil {
		panic(err) // the flag above
	}
	return cmd
}

func (d *doctorFlags) run(cmd *cobra.Command, a *app) error {
	if d.graphics {
		return printGraphics(a.stdout)
	}
	for _, name := range d.need {
		if !slices.Contains(doctor.Names, name) {
			return fmt.Errorf("--need has %q; use %s", name, strings.Join(doctor.Names, ", "))
		}
	}
	if d.url == "" && slices.Contains(d.need, "server") {
		return errors.New("--need server goes with --url, which names its manifest")
	}
	if d.url != "" && !remote.IsURL(d.url) {
		return fmt.Errorf("--url is %q, which is no http or https address", d.url)
	}
	list := doctor.Judge(d.facts(cmd.Context(), a), d.need)
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	good := !slices.ContainsFunc(list, func(c doctor.Check) bool { return c.Status == doctor.Fail })
	var err error
	if d.asJSON {
		err = a.printJSON(doctorReport{good, list})
	} else {
		err = printChecks(a, list)
	}
	if err == nil && !good {
		return errFindings
	}
	return err
}

// doctorReport is what doctor prints as JSON.
type doctorReport struct {
	OK     bool           `json:"ok"` // no check failed
	Checks []doctor.Check `json:"checks"`
}

// printChecks prints a line for each check, and below it what to do.
func printChecks(a *app, list []doctor.Check) error {
	colors := map[doctor.Status]string{doctor.OK: green, doctor.Warn: yellow, doctor.Fail: red}
	for _, c := range list {
		status := a.paintResult(colors[c.Status], fmt.Sprintf("%-4s", c.Status))
		if _, err := fmt.Fprintf(a.stdout, "%s  %-10s  %s\n", status, c.Name, oneLine(c.Found)); err != nil {
			return err
		}
		if c.Remedy != "" {
			fmt.Fprintf(a.stdout, "%18s%s\n", "", oneLine(c.Remedy))
		}
	}
	return nil
}

// facts looks at the machine.
func (d *doctorFlags) facts(ctx context.Context, a *app) *doctor.Facts {
	f := &doctor.Facts{
		Program: fmt.Sprintf("untold %s, %s, %s/%s", version, runtime.Version(), runtime.GOOS, runtime.GOARCH),
		Usable:  runtime.GOMAXPROCS(0), Machine: runtime.NumCPU(), Files: mostFiles(),
		Memory: memoryFacts(), Temp: folderFacts(os.TempDir()),
	}
	f.Cache = d.cacheFacts()
	_, f.Page = web.FS()
	f.Preview, f.Graphics, f.NoPreview, f.NoGraphics = previewFacts(ctx)
	f.Display, f.NoDisplay = displayFacts(ctx, os.Getenv, runtime.GOOS)
	if d.url != "" {
		f.Server = d.serverFacts(ctx, a)
	}
	return f
}

func memoryFacts() doctor.Memory {
	p := memory.NewProbe(memory.ProbeOptions{Interval: -1})
	defer p.Close()
	s := p.Sample()
	return doctor.Memory{Total: s.Total, Limit: s.Limit, Room: memoryAt("")}
}

// folderFacts tries to write into a folder, or into the one above it that is there.
func folderFacts(dir string) doctor.Folder {
	f := doctor.Folder{Path: dir}
	at := dir
	for {
		st, err := os.Stat(at)
		if err == nil && !st.IsDir() {
			f.Err = fmt.Errorf("%s is no folder", at)
			return f
		}
		if err == nil || filepath.Dir(at) == at {
			break
		}
		at = filepath.Dir(at)
	}
	if err := tryFile(at, "x"); err != nil {
		f.Err = fmt.Errorf("%s cannot be written to: %w", dir, err)
		return f
	}
	f.Free = freeSpace(at)
	return f
}

// cacheFacts looks at the cache's folder without making one.
func (d *doctorFlags) cacheFacts() doctor.Folder {
	c := cacheFlags{dir: d.remote.cacheDir, budget: d.remote.cacheBudget}
	s, err := c.sum(func(c *remote.Cache) (remote.CacheStat, error) { return c.Stat(), nil })
	if err != nil {
		return doctor.Folder{Path: s.Dir, Err: errors.New(strings.TrimPrefix(messageFor(err), "cache: "))}
	}
	f := folderFacts(s.Dir)
	f.Used, f.Budget = s.Bytes, s.Budget
	return f
}

// serverFacts opens the manifest at the address, with a cache that goes again.
func (d *doctorFlags) serverFacts(ctx context.Context, a *app) *doctor.Server {
	s := &doctor.Server{Address: remote.Redact(d.url)}
	dir, err := os.MkdirTemp("", "untold-doctor-")
	if err != nil {
		s.Err = err
		return s
	}
	defer os.RemoveAll(dir)
	cfg := config.Default()
	d.remote.cacheDir = filepath.Join(dir, "cache")
	start := time.Now()
	scene, err := d.remote.openRemote(ctx, a, d.url, &cfg)
	if err != nil {
		s.Err = errors.New(messageFor(err))
		return s
	}
	s.Took = time.Since(start)
	m, err := manifest.Load(scene.Manifest.File)
	if err == nil {
		s.Tiles = len(m.Tiles)
		if st, e := os.Stat(scene.Manifest.File); e == nil {
			s.Bytes = st.Size()
		}
	}
	if err = errors.Join(err, scene.Close()); err != nil {
		s.Err = fmt.Errorf("%s: %s", s.Address, messageFor(err))
	}
	return s
}
