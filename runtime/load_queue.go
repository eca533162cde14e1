package runtime

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/untoldkit/untold/runtime/payload"
)

// class groups representations that share a cap on concurrent loads.
type class uint8

const (
	classFull class = iota
	classHLOD
	classLOD
	classes
)

func classOf(r payload.Rep) class { return min(class(r-payload.RepFull), classLOD) }

// phase is where a load is.
type phase uint8

const (
	phaseFetching phase = iota // at the Fetcher
	phaseWaiting               // fetched, waits for a slot
	phaseParsing               // at the Loader, holds a slot
	phaseParts                 // at a PartLoader: the geometry of a stub
)

// maxFetches is how many loads of one class may be at the Fetcher or wait for a
// slot behind it: enough to keep the slots busy, few enough to follow a camera
// that turns round.
const maxFetches = 8

// load is a request that has not been answered. It may outlive the interest in
// its tile: the slot is taken until the worker is done.
type load struct {
	request    payload.Request
	scene      *scene // nil once the scene is gone
	class      class
	phase      phase
	orphan     bool    // nobody waits for the answer
	reread     bool    // of a tile that is resident, see meshStreamer.readAgain
	stubs      []int32 // in phaseParts: whose geometry it is
	wanted     int     // how many of them are waited for
	memory     int64   // bytes that parsing takes
	started    time.Duration
	parseStart time.Duration
	cancel     context.CancelFunc
}

// record returns the tile that a load is for, nil when its scene is gone.
func (l *load) record() *record {
	if l.scene == nil {
		return nil
	}
	return l.scene.recordOf(l.request.Key.Tile)
}

// loadQueue owns what is asked of the Fetcher, the Loader and the PartLoaders:
// the loads under way, their tokens and the slots and memory that they take.
//
// It promises that no class has more loads than slots, that every load ends
// exactly once, by its answer or by the watchdog, and that the answers of a
// frame are reported in the order of their tokens. What is cancelled keeps its
// slot until its worker has answered. It knows nothing of what an answer is good
// for.
type loadQueue struct {
	*env
	ctx     context.Context // ends with the Streamer
	loader  payload.Loader
	fetcher payload.Fetcher    // nil: the payloads lie beside the manifest
	cache   *payload.MeshCache // then the loader; nil: none

	completions *payload.Completions
	answers     []payload.Answer // of the present frame
	list        []*load          // by token
	spare       []*load
	lastToken   uint64
	parsing     [classes]int
	fetching    [classes]int // at the Fetcher or waiting behind it
	parseMemory int64
	parts       int // loads in phaseParts
	count       loadCounters
}

// loadCounters are totals since Open; Stats says what they mean.
type loadCounters struct {
	stale                       uint64
	bytesRequested, bytesLoaded int64
}

func newLoadQueue(ctx context.Context, e *env, loader payload.Loader, fetcher payload.Fetcher, cache *payload.MeshCache) *loadQueue {
	if cache != nil {
		loader = cache
	}
	return &loadQueue{env: e, ctx: ctx, loader: loader, fetcher: fetcher, cache: cache, completions: payload.NewCompletions()}
}

// freeSlots returns how many loads of a class may start now.
func (q *loadQueue) freeSlots(c class) int {
	if q.fetcher != nil {
		return maxFetches - q.fetching[c]
	}
	return q.parseSlots(c)
}

// parseSlots returns how many loads of a class the Loader may still be given.
func (q *loadQueue) parseSlots(c class) int {
	limit := [...]int{q.cfg.MaxConcurrentTileLoads, q.cfg.MaxConcurrentHLODLoads, q.cfg.MaxConcurrentLODLoads}[c]
	return limit - q.parsing[c]
}

const mib = 1 << 20

// fitsParse reports whether a full tile that takes so many bytes while it is
// parsed may be parsed beside those under way. One tile may always load.
func (q *loadQueue) fitsParse(memory int64) bool {
	return q.parseMemory == 0 && q.parsing[classFull] == 0 ||
		float64(q.parseMemory)+float64(memory) <= q.cfg.TileParseMemoryBudgetMB*mib
}

// request makes a load for a representation. It holds nothing yet: send or
// sendParts follows.
func (q *loadQueue) request(r *record, rep payload.Rep, attempt int, split *payload.Split) *load {
	t := r.scene.tiles
	p := t.fileOf(r.tile, rep)
	q.lastToken++
	ctx, cancel := context.WithCancel(q.ctx)
	var l *load
	if n := len(q.spare); n > 0 {
		l, q.spare = q.spare[n-1], q.spare[:n-1]
	} else {
		l = new(load)
	}
	*l = load{
		request: payload.Request{
			Token: q.lastToken, Key: r.key(rep), TileID: t.id[r.tile], Attempt: attempt,
			Dir: r.scene.dir, Path: p.path, Size: p.size, SHA256: p.sha256, Split: split, Shared: t.has(r.tile, flagEntity),
			Context: ctx, Done: q.completions,
		},
		scene: r.scene, class: classOf(rep), started: q.now, cancel: cancel,
	}
	q.list = append(q.list, l)
	return l
}

// send hands a load to the Fetcher, or without one to the Loader.
func (q *loadQueue) send(l *load) {
	q.count.bytesRequested += l.request.Size
	if q.fetcher != nil {
		q.fetching[l.class]++
		q.fetcher.Fetch(l.request)
		return
	}
	q.startParse(l)
}

// sendParts asks a PartLoader for the geometry of some stubs: so many bytes, the
// given meshes of the file.
func (q *loadQueue) sendParts(l *load, from payload.PartLoader, stubs []int32, meshes []int, bytes int64) {
	q.count.bytesRequested += bytes
	l.phase, l.stubs, l.wanted = phaseParts, stubs, len(stubs)
	l.request.Size, l.request.SHA256 = bytes, ""
	q.parts++
	from.LoadParts(l.request, meshes)
}

// startParse hands a load to the Loader; the watchdog begins.
func (q *loadQueue) startParse(l *load) {
	l.phase, l.parseStart = phaseParsing, q.now
	q.parsing[l.class]++
	q.parseMemory += l.memory
	q.loader.Start(l.request)
}

// promote starts the parses of what has been fetched while slots are free, in
// the order of the requests.
func (q *loadQueue) promote() {
	if q.fetcher == nil {
		return
	}
	for _, l := range q.list {
		if l.phase != phaseWaiting || q.parseSlots(l.class) <= 0 || l.class == classFull && !q.fitsParse(l.memory) {
			continue
		}
		q.fetching[l.class]--
		q.startParse(l)
	}
}

// take ends the loads that have been answered since the last call and reports
// them by token; done takes over the result. It returns whether anything was
// answered. What was fetched waits for a slot. Answers to loads that are over
// are dropped.
func (q *loadQueue) take(done func(l load, res *payload.Result)) bool {
	q.answers = q.completions.Take(q.answers)
	for i := range q.answers {
		a := &q.answers[i]
		switch at := q.find(a.Token); {
		case at < 0, a.Fetched != (q.list[at].phase == phaseFetching): // over, or a second answer
			q.count.stale++
			a.Result.Asset.Release()
		case a.Fetched && a.Result.Err == nil && !q.list[at].orphan:
			l := q.list[at]
			l.phase, l.request.Local = phaseWaiting, a.Local
		default:
			l := *q.list[at]
			q.end(at)
			done(l, &a.Result)
		}
		*a = payload.Answer{}
	}
	return len(q.answers) > 0
}

// expire ends and reports the loads that take too long, of every class: none may
// keep a slot for good. Downloads have deadlines of their own; theirs here only
// guards against a Fetcher that never answers.
func (q *loadQueue) expire(done func(l load)) {
	parse := seconds(q.cfg.TileParseTimeoutSeconds)
	fetch := seconds(q.cfg.HTTP.ResourceTimeout*float64(q.cfg.HTTP.Attempts)) + parse
	for at := 0; at < len(q.list); {
		l := q.list[at]
		late := l.phase == phaseParsing && q.now-l.parseStart > parse || (l.phase == phaseFetching || l.phase == phaseParts) && q.now-l.started > fetch
		if !late {
			at++
			continue
		}
		over := *l
		q.end(at)
		done(over)
	}
}

// end frees what the load at a place of the list holds.
func (q *loadQueue) end(at int) {
	l := q.list[at]
	q.cancel(l)
	switch l.phase {
	case phaseParsing:
		q.parsing[l.class]--
		q.parseMemory -= l.memory
	case phaseParts:
		q.parts--
	default:
		q.fetching[l.class]--
	}
	q.list = slices.Delete(q.list, at, at+1)
	*l = load{}
	q.spare = append(q.spare, l)
}

// cancel ends the context of a load. The cache is told at once, so that what
// joins the load of a file never depends on the time.
func (q *loadQueue) cancel(l *load) {
	l.cancel()
	if q.cache != nil && l.request.Shared {
		q.cache.EndUnwanted()
	}
}

// find returns the place of a load in the list, -1 when it is over.
func (q *loadQueue) find(token uint64) int {
	at, ok := slices.BinarySearchFunc(q.list, token, func(l *load, t uint64) int { return cmp.Compare(l.request.Token, t) })
	if !ok {
		return -1
	}
	return at
}

// giveUp cancels a load whose answer nobody waits for any more. It ends now, and
// over is true, when no worker has it; l is what it was.
func (q *loadQueue) giveUp(token uint64) (l load, over bool) {
	at := q.find(token)
	if at < 0 {
		return load{}, false
	}
	return q.giveUpAt(at)
}

func (q *loadQueue) giveUpAt(at int) (l load, over bool) {
	x := q.list[at]
	x.orphan = true
	q.cancel(x)
	l = *x
	if over = x.phase == phaseWaiting; over {
		q.end(at)
	}
	return l, over
}

// giveUpStub cancels the load of one stub's geometry. The request ends when
// nobody waits for any of its stubs.
func (q *loadQueue) giveUpStub(token uint64) {
	if at := q.find(token); at >= 0 {
		if q.list[at].wanted--; q.list[at].wanted == 0 {
			q.giveUpAt(at)
		}
	}
}

// abandon gives up all loads of a scene that is gone.
func (q *loadQueue) abandon(sc *scene) {
	for at := len(q.list) - 1; at >= 0; at-- {
		if l := q.list[at]; l.scene == sc {
			l.scene = nil
			q.giveUpAt(at)
		}
	}
}

// countLoaded counts the bytes of a file that has been loaded. Those of one that
// comes in parts count with the parts.
func (q *loadQueue) countLoaded(l *load, res *payload.Result) {
	if res.Asset != nil && res.Asset.Parts != nil {
		q.count.bytesRequested -= l.request.Size
		return
	}
	q.count.bytesLoaded += l.request.Size
}

// close drops what is answered from now on, and ends all loads.
func (q *loadQueue) close() {
	q.completions.Close()
	for len(q.list) > 0 {
		q.end(len(q.list) - 1)
	}
}

// addTo adds the counters up.
func (c *loadCounters) addTo(st *Stats) {
	st.Stale, st.BytesRequested, st.BytesLoaded = c.stale, c.bytesRequested, c.bytesLoaded
}
