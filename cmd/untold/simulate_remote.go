package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/remote"
	"github.com/untoldkit/untold/runtime/simulate"
)

// runRemote streams a scene from an address.
func (s *simulateFlags) runRemote(cmd *cobra.Command, a *app, address string) error {
	if s.bandwidth != 0 || s.latency != 0 {
		return errors.New("--bandwidth and --latency model a network, but the scene at an address has a real one; untold serve has the same flags")
	}
	cfg := config.Default()
	if err := a.runtimeProfile(&cfg, ""); err != nil {
		return err
	}
	use := parameterUse{address: true}
	if err := errors.Join(use.refuse(s.set), setParameters(&cfg, s.set)); err != nil {
		return err
	}
	address, err := s.remote.oneSceneAt(cmd.Context(), a, address)
	if err != nil {
		return err
	}
	since := time.Now()
	scene, err := s.remote.openRemote(cmd.Context(), a, address, &cfg)
	if err != nil {
		return err
	}
	err = s.stream(cmd, a, scene, since)
	if e := scene.Close(); err == nil {
		err = e
	}
	return err
}

// stream runs an open remote scene, whose manifest was asked for at a time.
func (s *simulateFlags) stream(cmd *cobra.Command, a *app, scene *remoteScene, since time.Time) error {
	sc, err := simulate.Load(scene.Manifest.File)
	took := time.Since(since)
	if err != nil {
		return inputError(fmt.Errorf("%s: %w", scene.Manifest.URL, err))
	}
	if !sc.Cooked {
		return &badFile{fmt.Errorf("%s is a scenario; only manifests are streamed from an address", scene.Manifest.URL)}
	}
	sc.Name = scene.Name
	if err := s.place(sc, true); err != nil {
		return err
	}
	if err := s.spare(scene.Manifest.File, s.cameraPath, s.world); err != nil {
		return err
	}
	if err := a.runtimeProfile(&sc.Config, ""); err != nil {
		return err
	}
	if err := s.apply(cmd, a, sc); err != nil {
		return err
	}
	asked := newAskedFor(scene.Fetcher)
	asked.scene(scene.Manifest.Base, sc.Manifest)
	opts := simulate.Options{Opening: took, Fetcher: asked, TextureSource: asked.Fetcher, Base: scene.Manifest.Base, Reload: scene.read(asked)}
	if !cmd.Flags().Changed("parse-time") {
		loader := payload.NewFileLoader(0)
		defer loader.Close()
		opts.Loader = loader
	}
	res, err := s.simulate(cmd.Context(), a, sc, opts)
	if err != nil {
		return err
	}
	asked.complete(cmd.Context(), a)
	network := scene.Metrics()
	return s.finish(a, sc, res, &network)
}

// read returns what asks the server for the manifest again.
func (r *remoteScene) read(asked *askedFor) func(ctx context.Context) (*manifest.Manifest, error) {
	return func(ctx context.Context) (*manifest.Manifest, error) {
		l, err := loadRemote(ctx, asked, r.Manifest.URL)
		if err != nil {
			return nil, err
		}
		return l.Source.Manifest, nil
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
