package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/remote"
	"github.com/untoldkit/untold/runtime/simulate"
)

// completeTime is how long the end of a run waits for files that were asked for
// but have not come.
const completeTime = 30 * time.Second

// runRemote streams a scene from an address.
func (s *simulateFlags) runRemote(cmd *cobra.Command, a *app, address string, conditions []simulate.Condition) error {
	if s.bandwidth != 0 || s.latency != 0 {
		return errors.New("--bandwidth and --latency model a network, but the scene at an address has a real one; untold serve has the same flags")
	}
	cfg := runtime.DefaultConfig()
	for _, text := range s.set {
		if err := setParameter(&cfg, text); err != nil {
			return fmt.Errorf("--set %s: %w", text, err)
		}
	}
	scene, err := s.remote.openRemote(cmd.Context(), a, address, &cfg)
	if err != nil {
		return err
	}
	err = s.stream(cmd, a, scene, conditions)
	if e := scene.Close(); err == nil {
		err = e
	}
	return err
}

// stream runs an open remote scene.
func (s *simulateFlags) stream(cmd *cobra.Command, a *app, scene *remoteScene, conditions []simulate.Condition) error {
	sc, err := simulate.Load(scene.Manifest.File)
	if err != nil {
		return inputError(fmt.Errorf("%s: %w", scene.Manifest.URL, err))
	}
	if !sc.Cooked {
		return &badFile{fmt.Errorf("%s is a scenario; only manifests are streamed from an address", scene.Manifest.URL)}
	}
	sc.Name = scene.Name
	if err := s.spare(scene.Manifest.File, s.cameraPath); err != nil {
		return err
	}
	if err := s.apply(cmd, a, sc); err != nil {
		return err
	}
	asked := &askedFor{Fetcher: scene.Fetcher, files: map[string]remote.Want{}}
	opts := simulate.Options{Fetcher: asked, Base: scene.Manifest.Base}
	if !cmd.Flags().Changed("parse-time") {
		loader := runtime.NewFileLoader(0)
		defer loader.Close()
		opts.Loader = loader
	}
	res, err := s.simulate(cmd.Context(), a, sc, opts)
	if err != nil {
		return err
	}
	asked.complete(cmd.Context(), a, scene)
	network := scene.Metrics()
	if err := s.write(a, res, &network); err != nil {
		return err
	}
	return s.judge(a, sc, res, conditions)
}

// askedFor notes what a run asks a Fetcher for.
type askedFor struct {
	*remote.Fetcher
	files map[string]remote.Want // by path; the streamer's goroutine writes
}

// Fetch passes a request on.
func (f *askedFor) Fetch(req runtime.Request) {
	f.files[req.Path] = remote.Want{Size: req.Size, SHA256: req.SHA256}
	f.Fetcher.Fetch(req)
}

// complete brings what the run has asked for and given up, and the textures, so
// that the same flight finds everything in the cache.
func (f *askedFor) complete(ctx context.Context, a *app, scene *remoteScene) {
	ctx, stop := context.WithTimeout(ctx, completeTime)
	defer stop()
	base, err := url.Parse(scene.Manifest.Base)
	if err != nil {
		return // the Fetcher has read it
	}
	have := map[string]bool{}
	for _, e := range f.Cache().Entries() {
		have[e.URL] = true
	}
	var g errgroup.Group
	g.SetLimit(8)
	var missing atomic.Int64
	for name, want := range f.files {
		u, err := manifest.ResolveURL(base, name)
		if err != nil || have[u.String()] {
			continue
		}
		g.Go(func() error {
			if _, err := f.Local(ctx, u.String(), want); err != nil {
				missing.Add(1)
			}
			return nil
		})
	}
	_ = g.Wait()
	_ = f.WaitTextures(ctx)
	if n := missing.Load() + f.Metrics().TexturesPending; n > 0 {
		a.info("%d files have not come", n)
	}
}

// printNetwork prints what a streamed run has asked of the network and the
// cache; nil: there was none.
func printNetwork(w io.Writer, m *remote.Metrics) {
	if m == nil {
		return
	}
	t := newTable(0, "network", ">value")
	v := reflect.ValueOf(m).Elem()
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		t.add(name, v.Field(i).Int())
	}
	fmt.Fprintln(w)
	t.print(w)
}
