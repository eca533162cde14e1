package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/internal/bench"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/internal/scenegen"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/simulate"
)

// The flight of a bench: the same for all, so that reports can be compared.
const (
	flightSeed      = 1
	flightSpeed     = 20 // metres per second
	flightTime      = 30 * time.Second
	flightBandwidth = 10e6 // bytes per second
	flightLatency   = 50 * time.Millisecond
)

// bencher is a run of untold bench.
type bencher struct {
	*benchFlags
	a      *app
	probe  bench.Probe
	scene  string // "" for a city
	dir    string // of all that is written
	report benchReport
}

// measure fills the report.
func (m *bencher) measure(ctx context.Context) error {
	path, err := m.cooked(ctx)
	if err != nil {
		return err
	}
	if m.wants("open") || m.wants("stream") {
		if err := m.load(ctx, path); err != nil {
			return err
		}
	}
	if m.wants("simulate") {
		return m.fly(ctx, path)
	}
	return nil
}

// row measures, and adds to the report.
func (m *bencher) row(ctx context.Context, row bench.Row, prepare func() error, run func() (bench.Work, error)) error {
	x, err := bench.Measure(m.probe, row, m.runs, func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if prepare != nil {
			err = prepare()
		}
		debug.FreeOSMemory() // what came before is not to be paid for here
		return err
	}, run)
	if err == nil {
		m.report.Measured = append(m.report.Measured, x)
	}
	return err
}

// cooked cooks, and returns the path of the manifest. A scene that is cooked stays where
// it is.
func (m *bencher) cooked(ctx context.Context) (manifestFile string, err error) {
	name := m.scene
	if name != "" && !isInput(name) {
		if manifestFile, err = manifestPath("bench", "", name); err != nil {
			return "", err
		}
		if m.wants("cook") && len(m.only) > 0 {
			return "", fmt.Errorf("--only has cook, and %s is cooked already: name the scene that it was cooked from", name)
		}
		return manifestFile, m.describe(manifestFile)
	}
	opts, title := cook.DefaultOptions(), filepath.Base(name)
	if name == "" {
		name, title = filepath.Join(m.dir, "city.glb"), cityName(int(m.city))
		o := scenegen.Default()
		o.Textures = false // their bytes are those of the encoders of a Go version
		if _, err := o.Write(ctx, name, int(m.city)); err != nil {
			return "", err
		}
		opts.WholeLimit = 0 // or small cities are not cut
	} else {
		if opts, err = m.settings(name); err != nil {
			return "", err
		}
	}
	opts.Jobs, opts.NoSync = m.jobs, true
	opts.Memory = memoryAt("/")
	undo := collectWithin(opts.Memory)
	res, err := m.cook(ctx, name, opts)
	undo()
	if err != nil {
		return "", err
	}
	if m.report.Scene, err = bench.SceneOf(title, res.Files); err != nil {
		return "", err
	}
	m.report.Scene.Blocks = int(m.city)
	return res.ManifestPath, m.describe(res.ManifestPath)
}

// settings are those of a cook of the scene, with the untold.yaml beside it.
func (m *bencher) settings(scene string) (cook.Options, error) {
	var c cookFlags
	quiet := &app{stdout: io.Discard, stderr: io.Discard, quiet: true, noProgress: true, flags: m.a.flags, profile: m.a.profile}
	cmd, err := quiet.cookSettings(&c, scene)
	if err != nil {
		return c.opts, err
	}
	c.plan, c.report, c.opts.DryRun = "", "", false
	return c.opts, c.resolve(cmd, quiet)
}

// cook cooks the scene; once where that is not measured.
func (m *bencher) cook(ctx context.Context, scene string, opts cook.Options) (res *cook.Result, err error) {
	out := filepath.Join(m.dir, "cooked")
	run := func() (bench.Work, error) {
		if res, err = cook.Run(ctx, scene, out, opts); err != nil {
			return bench.Work{}, err
		}
		w := bench.Work{Triangles: int64(res.Triangles)}
		for _, f := range res.Files {
			if st, err := os.Stat(f); err == nil {
				w.Bytes += st.Size()
			}
		}
		return w, nil
	}
	if !m.wants("cook") {
		_, err = run()
		return res, err
	}
	if err := m.row(ctx, bench.Cook, func() error { return os.RemoveAll(out) }, run); err != nil {
		return nil, err
	}
	err = m.row(ctx, bench.CookAgain, nil, func() (bench.Work, error) {
		_, err := run()
		return bench.Work{}, err
	})
	return res, err
}

// describe says what the cooked scene is.
func (m *bencher) describe(manifestFile string) (err error) {
	c := &m.report.Cooked
	if c.SHA256, c.Files, c.Bytes, err = bench.HashFolder(filepath.Dir(manifestFile)); err != nil {
		return err
	}
	man, err := manifest.Load(manifestFile)
	if err == nil {
		c.Payloads = len(man.Payloads())
	}
	return err
}

// load measures what a runtime does with the files.
func (m *bencher) load(ctx context.Context, path string) error {
	var man *manifest.Manifest
	read := func() (w bench.Work, err error) {
		st, err := os.Stat(path)
		if err == nil {
			man, err = manifest.Load(path)
		}
		if err == nil {
			w.Bytes = st.Size()
		}
		return w, err
	}
	if _, err := read(); err != nil {
		return err
	}
	requests := payloadRequests(filepath.Dir(path), man)
	if len(requests) == 0 {
		return &badFile{fmt.Errorf("%s names no payloads", path)}
	}
	if m.wants("open") {
		if err := m.row(ctx, bench.OpenManifest, nil, read); err != nil {
			return err
		}
		if err := m.row(ctx, bench.OpenTile, nil, func() (bench.Work, error) { return loadAll(ctx, requests[:1]) }); err != nil {
			return err
		}
	}
	if !m.wants("stream") {
		return nil
	}
	err := m.row(ctx, bench.Stream, nil, func() (bench.Work, error) { return loadAll(ctx, requests) })
	if err == nil {
		m.report.Cooked.Triangles = m.report.Find(bench.Stream).Triangles
	}
	return err
}

// payloadRequests asks for all payloads of a manifest, in its order.
func payloadRequests(dir string, man *manifest.Manifest) (out []payload.Request) {
	add := func(tile string, rep payload.Rep, path string, size int64, sum string) {
		out = append(out, payload.Request{
			Token: uint64(len(out) + 1), Key: payload.Key{Rep: rep}, TileID: tile, Attempt: 1, Dir: dir, Path: path, Size: size, SHA256: sum,
		})
	}
	tile := func(t *manifest.Tile) {
		add(t.ID, payload.RepFull, t.Path, t.FileSizeBytes, t.SHA256)
		for i := range t.HLODLevels {
			l := &t.HLODLevels[i]
			add(t.ID, payload.RepHLOD, l.Path, l.FileSizeBytes, l.SHA256)
		}
		for i := range t.LODLevels {
			l := &t.LODLevels[i]
			add(t.ID, payload.LOD(i), l.Path, l.FileSizeBytes, l.SHA256)
		}
	}
	for i := range man.Tiles {
		tile(&man.Tiles[i])
	}
	if man.SharedBucket != nil {
		tile(&man.SharedBucket.Tile)
	}
	if man.Pyramid != nil {
		for i := range man.Pyramid.Nodes {
			n := &man.Pyramid.Nodes[i]
			add(n.ID, payload.RepFull, n.Path, n.FileSizeBytes, n.SHA256)
		}
	}
	return out
}

// loadAll has a loader of its own, which has seen nothing, read, verify and decode
// payloads. What has come is released at once.
func loadAll(ctx context.Context, requests []payload.Request) (w bench.Work, err error) {
	l := payload.NewFileLoader(0)
	defer l.Close()
	var mu sync.Mutex
	var left sync.WaitGroup
	left.Add(len(requests))
	done := payload.Intercept(func(_ uint64, r payload.Result) {
		defer left.Done()
		mu.Lock()
		defer mu.Unlock()
		err = errors.Join(err, r.Err)
		if r.Asset == nil {
			return
		}
		for i := range r.Asset.Meshes {
			w.Triangles += int64(r.Asset.Meshes[i].IndexCount / 3)
		}
		r.Asset.Release()
	}, nil)
	for i := range requests {
		req := requests[i]
		req.Context, req.Done = ctx, done
		l.Start(req)
	}
	left.Wait()
	for i := range requests {
		w.Bytes += requests[i].Size
	}
	if e := ctx.Err(); e != nil {
		err = e // and not one for every payload
	}
	return w, err
}

// fly measures a flight.
func (m *bencher) fly(ctx context.Context, path string) error {
	var r *simulate.Report
	var seconds float64
	opening, err := openingOver(flightBandwidth, flightLatency, path)
	if err != nil {
		return err
	}
	err = m.row(ctx, bench.Simulate, nil, func() (bench.Work, error) {
		sc, err := simulate.Load(path)
		if err != nil {
			return bench.Work{}, inputError(err)
		}
		if err := m.a.runtimeProfile(&sc.Config, path); err != nil {
			return bench.Work{}, err
		}
		p, err := simulate.Walk(simulate.PathOptions{Bounds: simulate.TileBounds(sc.Manifest), Speed: flightSpeed, Duration: flightTime}, flightSeed)
		if err != nil {
			return bench.Work{}, err
		}
		sc.Path = *p
		sc.Path.SeeAll(sc.Manifest)
		sc.Duration = p.Keys[len(p.Keys)-1].T
		seconds = sc.Duration.Seconds()
		res, err := simulate.Run(ctx, sc, simulate.Options{
			Bandwidth: flightBandwidth, NetworkLatency: flightLatency, Opening: opening, Ranges: true, OnRecord: func(*simulate.Record) error { return nil },
		})
		if err != nil {
			return bench.Work{}, err
		}
		r = &res.Report
		return bench.Work{Bytes: r.BytesLoaded + r.TextureBytesRead}, nil
	})
	if err != nil {
		return err
	}
	m.report.Flight = &bench.Flight{
		Seconds: seconds, BytesLoaded: r.BytesLoaded, TextureBytesRead: r.TextureBytesRead, ErrorPXP50: r.ErrorPXP50, ErrorPXP99: r.ErrorPXP99,
		Undrawn: r.Undrawn, TimeTo8PX: r.TimeTo8PX, PeakGeometryBytes: r.PeakGeometryBytes,
	}
	if cpu := m.report.Find(bench.Simulate).CPU; cpu != nil && seconds > 0 {
		m.report.Flight.CPUMSPerS = cpu.Median * 1e3 / seconds
	}
	return nil
}

// cityName says what a generated city is.
func cityName(blocks int) string {
	return fmt.Sprintf("city of %d x %d blocks, %s", blocks, blocks, human.Distance(float64(blocks)*scenegen.Pitch))
}
