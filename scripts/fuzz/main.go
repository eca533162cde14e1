// Command fuzz runs the fuzz targets of the repository, all or some, each with
// a corpus that is kept:
//
//	go run ./scripts/fuzz -each 30s              # every target once, for 30 s
//	go run ./scripts/fuzz -total 1m              # every target once, a minute in all
//	go run ./scripts/fuzz -long -total 8h        # in turns of -each, from where the last run ended
//	go run ./scripts/fuzz -replay                # every input that is committed or kept, once
//	go run ./scripts/fuzz -list                  # the targets and their inputs
//
// New inputs that reach new code are added to the corpus folder (-dir, default
// out/fuzz), in a folder for each target; every later run starts from them. An
// input that fails is written to testdata/fuzz/<target> of its package, where
// every run of the tests finds it: fix the bug and commit it. A target that
// fails does not keep the others from running.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

// settings are what the flags say.
type settings struct {
	each, total  time.Duration
	long, replay bool
	list         bool
	dir          string
	memory       int // MiB that a worker may map
	only         *regexp.Regexp
}

func parse(args []string, out io.Writer) (*settings, error) {
	s := &settings{}
	f := flag.NewFlagSet("fuzz", flag.ContinueOnError)
	f.SetOutput(out)
	only := ""
	f.DurationVar(&s.each, "each", 0, "time for a target (a turn of it with -long; default 2m there)")
	f.DurationVar(&s.total, "total", 0, "time for all targets together")
	f.BoolVar(&s.long, "long", false, "take turns until -total is over or the run is interrupted; the next -long goes on there")
	f.BoolVar(&s.replay, "replay", false, "run every committed and kept input once, look for no new ones")
	f.BoolVar(&s.list, "list", false, "list the targets with the number of their inputs")
	f.StringVar(&s.dir, "dir", filepath.Join("out", "fuzz"), "folder of the kept corpus")
	f.IntVar(&s.memory, "memory", 8192, "MiB of address space for a worker, 0 for no limit (not on Windows)")
	f.StringVar(&only, "only", "", "run only targets whose package/name matches this expression")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	var err error
	if s.only, err = regexp.Compile(only); err != nil {
		return nil, fmt.Errorf("-only: %w", err)
	}
	switch {
	case f.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case s.each < 0 || s.total < 0 || s.memory < 0:
		return nil, errors.New("-each, -total and -memory must not be negative")
	case s.replay || s.list:
	case s.each == 0 && s.total == 0:
		return nil, errors.New("say how long: -each 30s or -total 1m")
	case s.each > 0 && s.total > 0 && !s.long:
		return nil, errors.New("-each and -total go together with -long only")
	}
	if s.long && s.each == 0 {
		s.each = 2 * time.Minute
	}
	if s.dir, err = filepath.Abs(s.dir); err != nil {
		return nil, err
	}
	return s, nil
}

// run is the command: it finds the targets and gives them time.
func run(ctx context.Context, args []string, out io.Writer) error {
	s, err := parse(args, out)
	if err != nil {
		return err
	}
	targets, err := find(".")
	if err != nil {
		return err
	}
	targets = matching(targets, s.only)
	if len(targets) == 0 {
		return errors.New("no fuzz target matches")
	}
	if s.list {
		return list(targets, s.dir, out)
	}
	bin, err := os.MkdirTemp("", "untold-fuzz-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin)
	r := &goRunner{dir: s.dir, bin: bin, memory: s.memory, out: out}
	switch {
	case s.replay:
		return replay(ctx, r, targets, out)
	case s.long:
		return turns(ctx, r, targets, s, time.Now, out)
	}
	return once(ctx, r, targets, s, out)
}

// matching keeps the targets that the expression names.
func matching(targets []target, only *regexp.Regexp) []target {
	var kept []target
	for _, t := range targets {
		if only.MatchString(t.String()) {
			kept = append(kept, t)
		}
	}
	return kept
}

func list(targets []target, dir string, out io.Writer) error {
	fmt.Fprintf(out, "%-52s %9s %9s %9s\n", "target", "in code", "committed", "kept")
	for _, t := range targets {
		if _, err := fmt.Fprintf(out, "%-52s %9d %9d %9d\n", t, t.added, count(t.committed()), count(t.kept(dir))); err != nil {
			return err
		}
	}
	return nil
}
