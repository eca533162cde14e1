package simulate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/untoldkit/untold/format/records"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/vertex/compact"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/internal/hostqueue"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// packing is the runtime.Packer of cooked scenes: what is drawn of them is packed as preview
// does, about.
type packing struct{}

func (packing) Estimate(bytes int64) int64 { return compact.Estimate(bytes) }

func (packing) Packed(_ payload.Key, bytes int64) int64 { return compact.Estimate(bytes) }

// origin is what the clock says at frame 0: not 0, so that "0 means unset"
// cannot hide.
const origin = 1000 * time.Second

// errFault is what an injected failure reports.
var errFault = errors.New("injected fault")

// model stands in for everything that the runtime touches: the clock, the
// loader, the network, the device and the memory of the machine.
type model struct {
	s      *Scenario
	sizes  map[string]Extra           // GPU bytes by tile id
	boxes  map[string]manifest.Bounds // of tiles with nodes
	now    time.Duration              // since frame 0
	frame  int
	memory memory.Memory

	fetcher payload.Fetcher // real ones, nil for those of the scenario
	loader  payload.Loader
	source  texfile.Source
	draw    *Drawing // nil: the run is not drawn
	ctx     context.Context
	brought bool // payloads that textures may follow

	root func(payload.SceneID) geom.Mat4 // where a scene is; nil before the Streamer is open
	dirs map[string]string               // of the files of tiles that are not the scene's, by id
	ids  map[payload.SceneID][]string    // of what streams beside the scene, by the tile's index

	records  map[string]*format.Reader // of the files of a cooked scene, by path
	tiles    map[string]*manifest.Tile // by id, made when first asked for
	textures *textureTier              // nil: the scene can have none

	tasks    []func() // that the runtime has for the background
	waiting  []job    // what the loader or the fetcher has taken, by token
	net      *network
	attempts map[string]int

	uploaded map[payload.Key]int  // frame of the upload
	stuck    map[payload.Key]bool // meshes that never can be drawn

	requested, loaded int64 // bytes
	ranges            bool
}

// job is a request that has not been answered.
type job struct {
	req     payload.Request
	rep     string
	attempt int // of this representation since the start, from 1
	fetch   bool
	parts   []int              // meshes whose geometry is asked for; nil: a whole file, or its tables
	records []records.Mesh     // of the file that they are in
	inner   payload.PartLoader // loads them for real
	tables  int64              // bytes of a file of which no more is to come
	due     time.Duration      // never for those that hang or are on the network
}

const never = time.Duration(1<<63 - 1)

func newModel(s *Scenario, o *Options) *model {
	w := &model{dirs: s.folders(), s: s, sizes: s.Tiles, boxes: boundsOfTiles(s), records: map[string]*format.Reader{}, attempts: map[string]int{}, uploaded: map[payload.Key]int{}, stuck: map[payload.Key]bool{}, fetcher: o.Fetcher, loader: o.Loader, source: o.TextureSource, draw: o.Drawing}
	if o.Bandwidth > 0 || o.NetworkLatency > 0 {
		w.net = newNetwork(o.Bandwidth, o.NetworkLatency, hostqueue.NewLimits(hostqueue.DefaultRequests, hostqueue.DefaultTextures, hostqueue.DefaultSmall))
		w.ranges = o.Ranges
	}
	return w
}

// follow takes over another manifest, whose files are others.
func (w *model) follow(s *Scenario) {
	w.s, w.sizes, w.boxes = s, s.Tiles, boundsOfTiles(s)
	w.tiles, w.records = nil, map[string]*format.Reader{}
	if w.textures != nil {
		w.textures.follow(s)
	}
}

// deps returns the injected dependencies.
func (w *model) deps() runtime.Deps {
	d := runtime.Deps{Clock: w, Loader: w, Device: w, Visibility: w, MemoryProbe: w}
	if w.s.Cooked {
		d.Packer = packing{}
	}
	if w.net != nil || w.s.Downloads() {
		d.Fetcher = w
	}
	if w.draw != nil && w.draw.Fetcher != nil {
		d.Fetcher = w
	}
	if w.fetcher != nil {
		d.Fetcher = w.fetcher
	}
	if w.loader != nil {
		d.Loader = w.loader
	}
	if w.textures != nil {
		d.Textures = w.textures
	}
	if w.fetcher == nil && w.loader == nil {
		d.Background = func(task func()) { w.tasks = append(w.tasks, task) }
	}
	return d
}

// Now is the Clock.
func (w *model) Now() time.Duration { return origin + w.now }

// Start is the Loader: the parse begins.
func (w *model) Start(req payload.Request) {
	req.TileID = w.nameOf(&req)
	j := job{req: req, rep: req.Key.Rep.String(), attempt: w.attempts[req.TileID+"/"+req.Key.Rep.String()]}
	if req.Local.File == "" {
		j.attempt = w.begin(&req)
	}
	j.due = w.now
	if req.Kept == nil { // else only its date is looked at
		j.due += w.s.Latency.Of(req.TileID, j.rep, j.attempt)
	}
	if f := w.fault(&j); f != nil && f.Hang {
		j.due = never
	}
	w.waiting = append(w.waiting, j)
}

// Fetch is the Fetcher: the download begins.
func (w *model) Fetch(req payload.Request) {
	req.TileID = w.nameOf(&req)
	j := job{req: req, rep: req.Key.Rep.String(), attempt: w.begin(&req), fetch: true}
	j.due = w.now + w.s.Download.Of(req.TileID, j.rep, j.attempt)
	if w.net != nil {
		size := req.Size
		if j.tables = w.tables(&req); j.tables > 0 {
			w.requested += j.tables - size
			size = j.tables
		}
		w.net.start(req.Token, size, hostqueue.Request{Size: size})
		j.due = never
	}
	w.waiting = append(w.waiting, j)
}

// nameOf returns what the scenario calls the tile of a request.
func (w *model) nameOf(req *payload.Request) string {
	if w.ids[req.Key.Scene] != nil {
		return w.tileID(req.Key)
	}
	return req.TileID
}

// begin counts a request.
func (w *model) begin(req *payload.Request) (attempt int) {
	w.requested += req.Size
	key := req.TileID + "/" + req.Key.Rep.String()
	w.attempts[key]++
	return w.attempts[key]
}

// fault returns the fault that an attempt meets.
func (w *model) fault(j *job) *Fault {
	for i := range w.s.Faults {
		f := &w.s.Faults[i]
		if f.Tile == j.req.TileID && f.Rep == j.rep && f.Mesh == "" && f.Texture == "" && (f.Times == 0 || int64(j.attempt) <= f.Times) {
			return f
		}
	}
	return nil
}

// deliver answers what is due. The error is that of the context of a run that is
// drawn.
func (w *model) deliver() error {
	tasks := w.tasks
	w.tasks = nil
	for _, task := range tasks {
		task() // in no time, so that the frame that sees its end is always the next
	}
	w.download()
	w.waiting = slices.DeleteFunc(w.waiting, func(j job) bool {
		if j.due > w.now {
			return false
		}
		switch {
		case j.inner != nil:
			w.readParts(&j)
		case j.parts != nil:
			w.deliverParts(&j)
		case j.fetch && w.draw != nil && w.draw.Fetcher != nil:
			w.bring(&j)
		case j.fetch:
			got := payload.Fetched{File: "simulated/" + j.req.Path}
			if j.tables > 0 {
				got.Ranges = tablesOnly{size: j.tables}
			}
			j.req.Done.Fetched(j.req.Token, got, nil)
		default:
			j.req.Done.Loaded(j.req.Token, w.result(&j))
		}
		return true
	})
	if w.draw == nil {
		return nil
	}
	if w.brought && w.draw.Await != nil {
		_ = w.draw.Await(w.ctx) // a texture that fails is missing
	}
	w.brought = false
	return w.ctx.Err()
}

// download moves the network on. Downloads that were cancelled end at once, as
// an HTTP client's do.
func (w *model) download() {
	if w.net == nil {
		return
	}
	for i := range w.waiting {
		if j := &w.waiting[i]; j.fetch && j.due == never && j.req.Context != nil && j.req.Context.Err() != nil {
			w.net.cancel(j.req.Token)
			if j.parts != nil {
				j.req.Done.Loaded(j.req.Token, payload.Result{Err: context.Canceled})
			} else {
				j.req.Done.Fetched(j.req.Token, payload.Fetched{}, context.Canceled)
			}
			j.due = -1 // answered
		}
	}
	w.waiting = slices.DeleteFunc(w.waiting, func(j job) bool { return j.due < 0 })
	for _, token := range w.net.advance(w.now) {
		if token&textureFlow != 0 && w.textures != nil {
			w.textures.arrived(token)
			continue
		}
		for i := range w.waiting {
			if j := &w.waiting[i]; j.fetch && j.req.Token == token {
				j.due = w.now
			}
		}
	}
}

func (w *model) result(j *job) payload.Result {
	if f := w.fault(j); f != nil {
		return payload.Result{Err: fmt.Errorf("attempt %d: %w", j.attempt, errFault)}
	}
	if w.draw != nil {
		return w.read(j)
	}
	if a := j.req.Kept.Retain(); a != nil {
		res := w.sizesOf(j.req.TileID, j.req.Key.Rep)
		res.Asset = a
		w.loaded += j.req.Size
		return res
	}
	res := w.payload(j.req.TileID, j.req.Key.Rep)
	if t, ok := j.req.Local.Ranges.(tablesOnly); ok && res.Asset != nil {
		w.loaded += t.size
		res.Asset.Parts = partLoader{w, res.Asset}
		return res
	}
	w.loaded += j.req.Size
	return res
}

// payload is what a representation takes when it is resident.
func (w *model) payload(tile string, rep payload.Rep) payload.Result {
	r := w.sizesOf(tile, rep)
	if x := w.sizes[tile]; rep == payload.RepFull {
		r.Asset = w.asset(tile, &x)
	} else {
		r.Asset = w.fileAsset(tile, rep)
	}
	return r
}

// sizesOf is payload without the asset.
func (w *model) sizesOf(tile string, rep payload.Rep) payload.Result {
	x := w.sizes[tile]
	switch level, lod := rep.Level(); {
	case rep == payload.RepFull:
		return payload.Result{GeometryBytes: x.GPUBytes, Nodes: int(x.Nodes)}
	case rep == payload.RepHLOD:
		return payload.Result{GeometryBytes: x.HLOD}
	case lod && level < len(x.LODs):
		return payload.Result{GeometryBytes: x.LODs[level]}
	}
	return payload.Result{}
}

// Upload is the Device.
func (w *model) Upload(key payload.Key, asset *payload.Asset) error {
	if key.Part > 0 {
		if err := w.uploadMesh(key, asset); err != nil {
			return err
		}
	}
	if w.textures != nil {
		w.textures.add(key, asset)
	}
	if w.draw == nil {
		asset.Release()
	} else if err := w.draw.Device.Upload(key, asset); err != nil {
		if w.textures != nil {
			w.textures.remove(key)
		}
		return err
	}
	w.uploaded[key] = w.frame
	return nil
}

// Release is the Device.
func (w *model) Release(key payload.Key) {
	delete(w.uploaded, key)
	delete(w.stuck, key)
	if w.textures != nil {
		w.textures.remove(key)
	}
	if w.draw != nil {
		w.draw.Device.Release(key)
	}
}

// Drawable is the Visibility.
func (w *model) Drawable(key payload.Key) bool {
	frame, ok := w.uploaded[key]
	if key.Part > 0 && (w.stuck[key] || w.now < time.Duration(frame)*w.s.DT+w.meshLatency()) {
		return false
	}
	if w.s.Cooked && w.textures != nil && w.now < time.Duration(frame)*w.s.DT+texturesWait && !w.textures.begun(key) {
		return false
	}
	if w.s.Visible == nil {
		return true
	}
	return ok && w.now >= *w.s.Visible && w.frame > frame
}

// Memory is the MemoryProbe.
func (w *model) Memory() memory.Memory { return w.memory }

// setMemory applies the entries of the time line up to now.
func (w *model) setMemory() {
	for i := range w.s.Memory {
		k := &w.s.Memory[i]
		if k.T > w.now {
			return
		}
		for _, f := range [...]struct {
			dst *int64
			src *int64
		}{
			{&w.memory.GeometryBudget, k.GeometryBudget},
			{&w.memory.TextureBudget, k.TextureBudget},
			{&w.memory.GeometryUsed, k.GeometryUsed},
			{&w.memory.TextureUsed, k.TextureUsed},
		} {
			if f.src != nil {
				*f.dst = *f.src
			}
		}
	}
}
