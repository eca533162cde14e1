package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// once gives every target the same time, one after another.
func once(ctx context.Context, r runner, targets []target, s *settings, out io.Writer) error {
	each := s.each
	if each == 0 {
		each = max(s.total/time.Duration(len(targets)), 100*time.Millisecond)
	}
	var failed []string
	for _, t := range targets {
		if _, err := turn(ctx, r, t, each, s.dir, out); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			failed = append(failed, t.String())
		}
	}
	return failures(failed)
}

// turn runs one target and tells what came of it.
func turn(ctx context.Context, r runner, t target, d time.Duration, dir string, out io.Writer) (int64, error) {
	before := count(t.kept(dir))
	execs, err := r.fuzz(ctx, t, d)
	now := count(t.kept(dir))
	if ctx.Err() != nil {
		return execs, ctx.Err()
	}
	state, remark := "ok", ""
	if errors.Is(err, errClock) {
		remark, err = "; "+err.Error(), nil
	} else if err != nil {
		state = "FAILED"
	}
	fmt.Fprintf(out, "%-52s %-6s %9d tried, %d new, %d kept%s\n", t, state, execs, now-before, now, remark)
	if err != nil {
		fmt.Fprintln(out, err)
	}
	return execs, err
}

// turns gives the targets turns until the time is over, beginning with the one
// after the last that had its turn in an earlier run.
func turns(ctx context.Context, r runner, targets []target, s *settings, now func() time.Time, out io.Writer) error {
	st, err := loadState(s.dir)
	if err != nil {
		return err
	}
	at := st.next(targets)
	if st.Turns > 0 {
		fmt.Fprintf(out, "going on after %d turns (%s) with %s\n", st.Turns, time.Duration(st.Seconds*float64(time.Second)).Round(time.Second), targets[at])
	}
	end := now().Add(s.total)
	failed := map[string]bool{}
	for s.total == 0 || now().Before(end) {
		t, d := targets[at], s.each
		if s.total > 0 {
			d = min(d, end.Sub(now()))
		}
		start := now()
		execs, err := turn(ctx, r, t, d, s.dir, out)
		if ctx.Err() != nil {
			// The turn that was cut is taken again; its inputs are kept.
			fmt.Fprintf(out, "interrupted in the turn of %s; the next run goes on there\n", t)
			return failures(names(failed))
		}
		if err != nil {
			failed[t.String()] = true
		}
		at = (at + 1) % len(targets)
		st.took(t, now().Sub(start), execs, err != nil, targets[at])
		if err := st.save(s.dir); err != nil {
			return err
		}
	}
	return failures(names(failed))
}

func names(set map[string]bool) []string {
	var list []string
	for n := range set {
		list = append(list, n)
	}
	slices.Sort(list)
	return list
}

// failures is the error of a run in which targets failed.
func failures(list []string) error {
	if len(list) == 0 {
		return nil
	}
	return fmt.Errorf("%d targets failed: %s; their inputs lie in testdata/fuzz of the packages", len(list), strings.Join(list, ", "))
}

// replay runs every committed input, then every kept one.
func replay(ctx context.Context, r runner, targets []target, out io.Writer) error {
	errs := []error{r.committed(ctx, targets)}
	if errs[0] != nil {
		errs[0] = fmt.Errorf("committed inputs: %w", errs[0])
	}
	var failed []string
	for _, t := range targets {
		n, err := r.kept(ctx, t)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = append(failed, t.String())
			fmt.Fprintf(out, "%-52s FAILED %9d kept\n%v\n", t, n, err)
		} else if n > 0 {
			fmt.Fprintf(out, "%-52s ok     %9d kept\n", t, n)
		}
	}
	return errors.Join(append(errs, failures(failed))...)
}
