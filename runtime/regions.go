package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/payload"
)

// Defaults of regions.
const (
	defaultRegionRadius       = 100.0 // metres
	defaultRegionUnloadRadius = 150.0
	regionInterval            = 500 * time.Millisecond
	regionLoads               = 3 // manifests read at a time
)

// Region is a part of a world that is a scene of its own: one of several cooked
// quarters of a city, say. It is opened when the camera comes near and closed
// when it has gone, with all that streams in it.
type Region struct {
	ID           string
	Source       Source // its manifest is read in the background unless it is set
	Bounds       manifest.Bounds
	Radius       float64 // metres from the bounds; 0: 100
	UnloadRadius float64 // 0: half as much again as Radius
	Priority     int     // higher opens first
	Bytes        int64   // of geometry that it takes at least; 0: unknown
}

// RegionState says what has become of a region.
type RegionState uint8

// The states of a region.
const (
	RegionUnloaded RegionState = iota
	RegionLoading              // its manifest is being read
	RegionLoaded
	RegionFailed // waits for the next attempt
)

// Regions opens and closes the scenes of regions of a Streamer. It belongs to
// the goroutine of the Streamer.
type Regions struct {
	s      *Streamer
	read   func(path string) (*manifest.Manifest, error)
	list   []region
	since  time.Duration
	begun  bool
	ctx    context.Context
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	mu    sync.Mutex
	ready []regionAnswer
}

type region struct {
	Region
	box      geom.Box
	state    RegionState
	scene    payload.SceneID
	fails    uint16
	failedAt time.Duration
	distance float64
}

type regionAnswer struct {
	at       int
	manifest *manifest.Manifest
	err      error
}

// NewRegions registers regions; nothing is read yet.
func NewRegions(s *Streamer, regions ...Region) (*Regions, error) {
	m := &Regions{s: s, list: make([]region, len(regions)), read: manifest.Load}
	seen := map[string]bool{}
	for i, r := range regions {
		if r.Radius == 0 {
			r.Radius = defaultRegionRadius
		}
		if r.UnloadRadius == 0 {
			r.UnloadRadius = r.Radius * (defaultRegionUnloadRadius / defaultRegionRadius)
		}
		switch {
		case seen[r.ID]:
			return nil, fmt.Errorf("runtime: region %q stands twice", r.ID)
		case !(r.Radius > 0 && r.UnloadRadius >= r.Radius):
			return nil, fmt.Errorf("runtime: region %q: radius %v m and unload radius %v m: want 0 < radius <= unload radius", r.ID, r.Radius, r.UnloadRadius)
		case r.Bounds.Box().IsEmpty():
			return nil, fmt.Errorf("runtime: region %q: the bounds %v are inside out", r.ID, r.Bounds)
		}
		seen[r.ID] = true
		m.list[i] = region{Region: r, box: r.Bounds.Box()}
	}
	m.ctx, m.cancel = context.WithCancel(s.loads.ctx)
	return m, nil
}

// Update opens and closes regions, at most twice a second; call it before the
// Streamer's. What is too far goes before anything comes, and of what comes the
// highest priority, then the nearest goes first.
func (m *Regions) Update(camera Camera, dt time.Duration) {
	if m.s.closed || m.ctx.Err() != nil {
		return
	}
	m.s.now = m.s.deps.Clock.Now() // of events
	m.take()
	m.since += max(0, min(dt, maxFrame))
	if m.begun && m.since < regionInterval {
		return
	}
	m.begun, m.since = true, 0
	now := m.s.deps.Clock.Now()
	loading, wanted := 0, make([]int, 0, len(m.list))
	for i := range m.list {
		r := &m.list[i]
		r.distance = r.box.Distance(geom.Vec3(camera.Position))
		switch {
		case r.state == RegionLoading:
			loading++
		case r.state == RegionLoaded && r.distance > r.UnloadRadius:
			m.close(r)
		case r.state == RegionFailed && now-r.failedAt < m.s.backoff(r.fails):
		case r.state != RegionLoaded && r.distance <= r.Radius:
			wanted = append(wanted, i)
		}
	}
	slices.SortFunc(wanted, func(a, b int) int {
		x, y := &m.list[a], &m.list[b]
		return cmp.Or(cmp.Compare(y.Priority, x.Priority), cmp.Compare(x.distance, y.distance), cmp.Compare(a, b))
	})
	for _, i := range wanted {
		if loading >= regionLoads {
			break
		}
		if m.s.evictor.acceptGeometry(m.list[i].Bytes) {
			m.open(i)
			loading++
		}
	}
}

// open begins to open a region.
func (m *Regions) open(at int) {
	r := &m.list[at]
	r.state = RegionLoading
	m.s.emit(event.Event{Kind: event.RegionLoad, Region: r.ID})
	if r.Source.Manifest != nil {
		m.finish(regionAnswer{at: at, manifest: r.Source.Manifest})
		return
	}
	path := r.Source.Path
	m.tasks.Go(func() {
		data, err := m.read(path)
		m.mu.Lock()
		m.ready = append(m.ready, regionAnswer{at, data, err})
		m.mu.Unlock()
		m.s.loads.completions.Notify()
	})
}

// take adds the scenes whose manifests have been read, in the order of the
// regions.
func (m *Regions) take() {
	m.mu.Lock()
	ready := m.ready
	m.ready = nil
	m.mu.Unlock()
	slices.SortFunc(ready, func(a, b regionAnswer) int { return a.at - b.at })
	for _, a := range ready {
		m.finish(a)
	}
}

// finish adds the scene of a region.
func (m *Regions) finish(a regionAnswer) {
	r := &m.list[a.at]
	src := r.Source
	src.Manifest = a.manifest
	if a.err == nil {
		r.scene, a.err = m.s.AddScene(src)
	}
	if a.err == nil {
		r.state, r.fails = RegionLoaded, 0
		m.s.emit(event.Event{Kind: event.RegionLoaded, Region: r.ID, Scene: r.scene})
		return
	}
	r.state, r.failedAt = RegionFailed, m.s.deps.Clock.Now()
	if r.fails < math.MaxUint16 {
		r.fails++
	}
	m.s.emit(event.Event{Kind: event.RegionFailed, Region: r.ID, Attempt: int(r.fails), RetryIn: m.s.backoff(r.fails), Err: a.err})
	m.s.log.Warn("opening a region failed", "region", r.ID, "err", a.err)
}

// close closes the scene of a region. That somebody else has done so already is
// no error.
func (m *Regions) close(r *region) {
	if err := m.s.RemoveScene(r.scene); err != nil && !errors.Is(err, ErrNoScene) {
		m.s.log.Warn("closing a region failed", "region", r.ID, "err", err)
	}
	m.s.emit(event.Event{Kind: event.RegionUnload, Region: r.ID, Scene: r.scene})
	r.state, r.scene = RegionUnloaded, 0
}

// State returns the state of a region and, when it is loaded, its scene; ok is
// false for an unknown id.
func (m *Regions) State(id string) (state RegionState, scene payload.SceneID, ok bool) {
	for i := range m.list {
		if m.list[i].ID == id {
			return m.list[i].state, m.list[i].scene, true
		}
	}
	return 0, 0, false
}

// Close closes all regions and waits for what is being read.
func (m *Regions) Close() {
	m.cancel()
	m.tasks.Wait()
	for i := range m.list {
		if r := &m.list[i]; r.state == RegionLoaded && !m.s.closed {
			m.close(r)
		}
	}
	m.ready = nil
}
