package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/remote/internal/diskcache"
	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
	"github.com/untoldkit/untold/runtime/remote/internal/weburl"
)

// A stage is a Streamer with a Fetcher in a bubble, where time passes only
// when all wait: the real parts on a fake clock and a network in memory.
type stage struct {
	t       *testing.T
	origin  *origin
	f       *Fetcher
	s       *runtime.Streamer
	start   time.Time
	events  []event.Event
	latency func(*http.Request) time.Duration
	status  func(*http.Request) int
	device  runtime.Device // nil: one that shows nothing
	camera  [3]float64
	ranges  bool // the origin knows ranges
	reload  func(context.Context) (runtime.Source, error)
}

// Now is the clock of the Streamer.
func (s *stage) Now() time.Duration { return time.Since(s.start) }

const sceneBase = "https://cdn.example.com/city/"

func tile(t *testing.T, o *origin, id string, x float64, uris ...string) manifest.Tile {
	data := container(t, uris...)
	path := "tiles/" + id + ".untold"
	o.put(sceneBase+path, data)
	b := manifest.Bounds{Min: [3]float64{x, -5, -5}, Max: [3]float64{x + 1, 5, 5}}
	return manifest.Tile{ID: id, Path: path, Bounds: b, Center: b.Center(), FileSizeBytes: int64(len(data)), SHA256: remotetest.HashOf(data)}
}

// onStage runs play in a bubble. plan makes the scene.
func onStage(t *testing.T, plan func(s *stage) *manifest.Manifest, play func(s *stage), opts ...rigOption) {
	dir := filepath.Join(t.TempDir(), "cache")
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t, start: time.Now().Add(-1000 * time.Second), origin: newOrigin(SystemClock{})}
		s.origin.answer = func(req *http.Request) (*http.Response, error) {
			if s.latency != nil {
				select {
				case <-time.After(s.latency(req)):
				case <-req.Context().Done():
					return nil, req.Context().Err()
				}
			}
			if s.status != nil {
				if code := s.status(req); code != 0 {
					return reply(req, code, nil, nil), nil
				}
			}
			if s.ranges {
				return withRanges(s.origin)(req)
			}
			return nil, nil
		}
		o := Options{CacheDir: dir, Transport: s.origin, NoSync: true, Jitter: -1}
		for _, opt := range opts {
			opt(&o)
		}
		m := plan(s)
		m.Version, m.PartitioningMode = 3, manifest.ModeUniformGrid
		m.StreamingDefaults = manifest.StreamingDefaults{StreamingRadius: 50, UnloadRadius: 100, Priority: 10}
		var err error
		if s.f, err = New(o); err != nil {
			t.Fatal(err)
		}
		cfg := config.Default()
		cfg.EnableFrustumGate = false
		cfg.GeometryBudget, cfg.TextureBudget = 1<<40, 1<<40
		s.s, err = runtime.Open(context.Background(), runtime.Source{Path: "city.json", Base: sceneBase, Manifest: m, Reload: s.reload}, cfg,
			runtime.Deps{Fetcher: s.f, Clock: s, Device: s.device})
		if err != nil {
			t.Fatal(err)
		}
		play(s)
		if err := errors.Join(s.s.Close(), s.f.Close()); err != nil {
			t.Error(err)
		}
	})
}

// frames runs until a time in seconds, a frame every 0.1 s.
func (s *stage) frames(until float64, each func()) {
	for s.Now().Seconds() < 1000+until-1e-6 {
		s.s.Update(runtime.Camera{Position: s.camera, Forward: [3]float64{1, 0, 0}, FovYDegrees: 60, Aspect: 1, Near: 0.1, Far: 1000}, 100*time.Millisecond)
		s.events = append(s.events, s.s.Events()...)
		if each != nil {
			each()
		}
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
	}
}

// log writes the events of the given kinds, with their time from the start.
func (s *stage) log(kinds ...event.Kind) string {
	var list []string
	for _, e := range s.events {
		if slices.Contains(kinds, e.Kind) {
			text := fmt.Sprintf("%.1f %s %s", (e.Time - 1000*time.Second).Seconds(), e.Kind, e.Tile)
			if e.Kind == event.TileFailed {
				text += fmt.Sprintf(" n=%d retry=%v", e.Attempt, e.RetryIn.Seconds())
			}
			list = append(list, text)
		}
	}
	return strings.Join(list, "; ")
}

// Three attempts, then the tile has failed once and comes back 5 s later.
func TestTileBacksOff(t *testing.T) {
	onStage(t, func(s *stage) *manifest.Manifest {
		s.status = func(*http.Request) int { return 404 }
		return &manifest.Manifest{Tiles: []manifest.Tile{tile(t, s.origin, "a", 10)}}
	}, func(s *stage) {
		s.frames(9, nil)
		got := s.log(event.TileDispatch, event.TileFailed, event.TileRetry)
		if want := "0.0 tile.dispatch a; 3.0 tile.failed a n=1 retry=5; 8.0 tile.retry a; 8.0 tile.dispatch a"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		var at []float64
		for _, r := range s.origin.requests() {
			at = append(at, r.at.Sub(s.start).Seconds()-1000)
		}
		if !slices.Equal(at, []float64{0, 1, 3, 8, 9}) {
			t.Errorf("requests at %v s", at)
		}
	})
}

// The scene is cooked again on the server while it is streamed: the tile that is
// not the declared one is refused, the manifest is asked for again, and what it
// declares is loaded.
func TestServerCooksAgain(t *testing.T) {
	const address = sceneBase + "city.json"
	var m *manifest.Manifest
	put := func(s *stage) {
		m.Version, m.PartitioningMode = 3, manifest.ModeUniformGrid
		m.StreamingDefaults = manifest.StreamingDefaults{StreamingRadius: 50, UnloadRadius: 100, Priority: 10}
		var data bytes.Buffer
		if err := m.Encode(&data); err != nil {
			t.Fatal(err)
		}
		s.origin.put(address, data.Bytes())
	}
	onStage(t, func(s *stage) *manifest.Manifest {
		m = &manifest.Manifest{Tiles: []manifest.Tile{tile(t, s.origin, "a", 10), tile(t, s.origin, "b", 120)}}
		put(s)
		s.reload = func(ctx context.Context) (runtime.Source, error) {
			file, err := s.f.OpenManifest(ctx, address)
			if err != nil {
				return runtime.Source{}, err
			}
			again, err := manifest.Load(file.File)
			return runtime.Source{Path: file.File, Base: file.Base, Manifest: again, Reload: s.reload}, err
		}
		return m
	}, func(s *stage) {
		s.frames(2, nil)
		m.Tiles = []manifest.Tile{tile(t, s.origin, "b", 120, "x.png"), tile(t, s.origin, "a", 10, "x.png")}
		put(s)
		s.camera[0] = 60
		bare := 0
		s.frames(30, func() {
			if len(s.s.AppendDrawn(nil)) == 0 {
				bare++
			}
		})
		st := s.s.Stats()
		if st.ManifestReloads != 1 || st.ManifestReloadFailures != 0 || st.ResidentFull != 2 || st.VisibleFull != 2 || bare > 0 || s.origin.count(address) != 1 {
			t.Errorf("%d frames bare, %+v\n%s", bare, st, s.log(event.TileFailed, event.SceneReload, event.TileParsed))
		}
	})
}

// Eight textures of a second each do not hold the geometry up; four at a
// time or more; one that is missing is counted and nothing else.
func TestTexturesFollow(t *testing.T) {
	var uris []string
	for i := range 8 {
		uris = append(uris, fmt.Sprintf("Textures/%d.png", i))
	}
	onStage(t, func(s *stage) *manifest.Manifest {
		for _, uri := range uris[1:] {
			s.origin.put(sceneBase+"tiles/"+uri, []byte(uri))
		}
		s.latency = func(req *http.Request) time.Duration {
			if strings.HasSuffix(req.URL.Path, ".png") {
				return time.Second
			}
			return 0
		}
		return &manifest.Manifest{Tiles: []manifest.Tile{tile(t, s.origin, "a", 10, uris...)}}
	}, func(s *stage) {
		s.frames(3.5, nil)
		if got := s.log(event.TileParsed); got != "0.2 tile.parsed a" {
			t.Errorf("%s", got)
		}
		if m := s.f.Metrics(); m.Textures != 7 || m.MaxActive < 4 {
			t.Errorf("after 3.5 s: %+v", m)
		}
		if err := s.f.WaitTextures(context.Background()); err != nil {
			t.Fatal(err)
		}
		if m := s.f.Metrics(); m.Textures != 7 || m.TexturesFailed != 1 || m.TexturesPending != 0 {
			t.Errorf("at the end: %+v", m)
		}
		base, _ := weburl.ParseFolder(sceneBase + "tiles")
		for _, uri := range uris[1:] {
			if got := remotetest.Text(t, s.f.cache.Path(diskcache.TextureFolder(base)+"/"+uri)); got != uri {
				t.Errorf("%s: %q", uri, got)
			}
		}
	})
}

// 25 tiles want the network. No more requests are open at a time than the host has places,
// and no parse slot is held by one that downloads.
func TestHostCap(t *testing.T) {
	onStage(t, func(s *stage) *manifest.Manifest {
		s.latency = func(*http.Request) time.Duration { return time.Second }
		m := &manifest.Manifest{}
		for i := range 25 {
			m.Tiles = append(m.Tiles, tile(t, s.origin, fmt.Sprintf("t%02d", i), float64(5+i), "a.png"))
		}
		s.origin.put(sceneBase+"tiles/a.png", []byte("a"))
		return m
	}, func(s *stage) {
		s.frames(10, func() {
			if st := s.s.Stats(); s.origin.busy() > 0 && st.LoadedCount < 25 && st.AvailableLoadSlots == 0 && st.LoadingCount < 6 {
				t.Errorf("%v: no slot is free while requests are open", s.Now())
			}
		})
		if s.origin.peak != 6 || s.f.Metrics().MaxActive != 6 {
			t.Errorf("%d requests at a time, %d counted", s.origin.peak, s.f.Metrics().MaxActive)
		}
		if n := s.s.Stats().LoadedCount; n != 25 {
			t.Errorf("%d tiles", n)
		}
		if s.origin.count(sceneBase+"tiles/a.png") != 1 {
			t.Error("the shared texture was asked for more than once")
		}
	}, func(o *Options) { o.HostRequests = 6 })
}

// A download of 90 s is no timeout of the parse, and holds no slot: a tile
// that the cache has is parsed meanwhile.
func TestSlowDownloadHoldsNoSlot(t *testing.T) {
	onStage(t, func(s *stage) *manifest.Manifest {
		s.latency = func(req *http.Request) time.Duration {
			if strings.Contains(req.URL.Path, "slow") {
				return 20 * time.Second
			}
			return 0
		}
		return &manifest.Manifest{Tiles: []manifest.Tile{
			tile(t, s.origin, "slow1", 10), tile(t, s.origin, "slow2", 10), tile(t, s.origin, "slow3", 10), tile(t, s.origin, "a", 20),
		}}
	}, func(s *stage) {
		s.frames(25, nil)
		got := s.log(event.TileParsed, event.TileTimeout, event.TileFailed)
		if !strings.HasPrefix(got, "0.2 tile.parsed a; 20") || strings.Count(got, "parsed") != 4 || strings.Contains(got, "failed") {
			t.Error(got)
		}
	})
}

// A fault now and then leaves no tile out, and the second visit needs one
// conditional request and nothing else.
func TestFaultyNetworkAndSecondVisit(t *testing.T) {
	var n atomic.Int64
	flaky := func(*http.Request) int {
		if n.Add(1)%5 == 0 {
			return 503
		}
		return 0
	}
	var textures []string
	plan := func(s *stage) *manifest.Manifest {
		s.status = flaky
		s.latency = func(*http.Request) time.Duration { return 40 * time.Millisecond }
		m := &manifest.Manifest{}
		textures = nil
		for i := range 20 {
			uri := fmt.Sprintf("Textures/%d.png", i/2)
			textures = append(textures, uri)
			s.origin.put(sceneBase+"tiles/"+uri, []byte(uri))
			m.Tiles = append(m.Tiles, tile(t, s.origin, fmt.Sprintf("t%02d", i), float64(5+i), uri))
		}
		s.origin.put(sceneBase+"city.json", []byte("{}"))
		return m
	}
	dir := filepath.Join(t.TempDir(), "shared")
	here := func(o *Options) { o.CacheDir = dir }
	onStage(t, plan, func(s *stage) {
		if _, err := s.f.OpenManifest(context.Background(), sceneBase+"city.json"); err != nil {
			t.Fatal(err)
		}
		s.frames(30, nil)
		if st := s.s.Stats(); st.LoadedCount != 20 || st.Undrawn != 0 {
			t.Errorf("%d tiles, %d undrawn", st.LoadedCount, st.Undrawn)
		}
		if err := s.f.WaitTextures(context.Background()); err != nil || s.f.Metrics().Textures != 10 {
			t.Errorf("%v, %+v", err, s.f.Metrics())
		}
	}, here)
	flaky = func(*http.Request) int { return 0 }
	onStage(t, plan, func(s *stage) {
		if _, err := s.f.OpenManifest(context.Background(), sceneBase+"city.json"); err != nil {
			t.Fatal(err)
		}
		s.frames(5, nil)
		m := s.f.Metrics()
		if m.Requests != 1 || m.Conditional != 1 || m.NotModified != 1 || m.CacheHits != 20 || m.TexturesPresent < 10 || s.s.Stats().LoadedCount != 20 {
			t.Errorf("%+v", m)
		}
	}, here)
	if got, _ := os.ReadDir(dir); len(got) < 20 {
		t.Error("not the folder that was shared")
	}
}
