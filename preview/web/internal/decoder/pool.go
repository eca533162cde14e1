package decoder

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// Port carries messages to workers and back.
type Port interface {
	// Workers is how many there may be.
	Workers() int
	// Start begins a worker anew. From any goroutine, got is called for each of its
	// messages, which read copies to bytes of that size, and ended when it is not there
	// any more. Neither is called before Start has returned.
	Start(worker int, got func(size int, read func([]byte)), ended func(why string)) error
	// Send hands a message over, in parts.
	Send(worker int, parts [][]byte)
	// Stop ends a worker, whatever it is at.
	Stop(worker int)
}

// Patience with workers.
const (
	startTime = 60 * time.Second // until one is ready
	hangTime  = 60 * time.Second // without a sign, after something was cancelled
)

// PoolOptions configures a Pool. The zero value is useful.
type PoolOptions struct {
	// Said is told what happens to workers; nil: nobody is.
	Said func(text string)
	// Distrust is told, where the program decodes by itself, what that of a Server is.
	Distrust func(file string)

	after func(time.Duration, func()) // time.AfterFunc; of tests
}

// Pool has tiles and textures read and decoded by workers. It is a payload.Loader and a
// texture.Reader. Without any worker, because the browser allows none, the program reads
// and decodes by itself.
//
// A worker that dies is begun anew, and what it was at is tried once more, one after the
// other; what a worker dies of again is not tried a third time.
type Pool struct {
	port    Port
	options PoolOptions
	files   *payload.FileLoader // where there are no workers
	blocks  sync.Pool           // of *[]byte: messages whose geometry has been released

	mu       sync.Mutex
	workers  []*worker // nil: that one cannot be had
	token    uint64
	suspects []*job          // that a worker may have died of, in order
	trying   *job            // the one of them that is being tried
	deadly   map[string]bool // keys of what workers died of
	idle     int             // deaths of workers that were at nothing
	opened   bool            // the first tile has come, or will not
	early    int             // tiles that were asked for before
	held     []*job          // tiles that wait for that, in order
	closed   bool
}

// worker is one life of a worker.
type worker struct {
	at    int
	ready bool
	heard int // messages
	jobs  map[uint64]*job
}

// job is what a worker is asked for.
type job struct {
	token    uint64
	key      string // names the file
	parts    [][]byte
	here     func()                                        // does it in this program; it answers
	take     func(kind byte, r *reader, keep func()) error // answers with a message; the error is that of the message
	fail     func(error)
	packed   *render.Packed // has come
	tile     bool           // in full detail
	answered bool           // or being answered
	suspect  bool
	release  func() bool // stops listening to the context
}

// NewPool returns a pool and begins its workers.
func NewPool(port Port, o PoolOptions) *Pool {
	if o.Said == nil {
		o.Said = func(string) {}
	}
	if o.Distrust == nil {
		o.Distrust = func(string) {}
	}
	if o.after == nil {
		o.after = func(d time.Duration, f func()) { time.AfterFunc(d, f) }
	}
	p := &Pool{port: port, options: o, files: payload.NewFileLoader(0), deadly: map[string]bool{}}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.workers = make([]*worker, max(0, port.Workers()))
	for at := range p.workers {
		p.begin(at)
	}
	return p
}

// begin starts a worker anew.
func (p *Pool) begin(at int) {
	w := &worker{at: at, jobs: map[uint64]*job{}}
	p.workers[at] = w
	err := p.port.Start(at, func(size int, read func([]byte)) { p.got(w, size, read) }, func(why string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.died(w, why)
	})
	if err != nil {
		p.workers[at] = nil
		p.options.Said(fmt.Sprintf("no decoder beside the page: %v", err))
		return
	}
	p.options.after(startTime, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if !w.ready {
			p.died(w, fmt.Sprintf("it was not ready after %v", startTime))
		}
	})
}

// Start is the payload.Loader.
func (p *Pool) Start(req payload.Request) {
	if req.Local.Ranges != nil { // which live here
		p.files.Start(req)
		return
	}
	j := &job{key: req.Dir + "\x00" + req.Path + "\x00" + req.Local.File, tile: req.Key.Rep == payload.RepFull}
	what := fmt.Sprintf("tile %s, %v", req.TileID, req.Key.Rep)
	j.here = func() {
		own := req
		own.Done = payload.Intercept(func(token uint64, x payload.Result) {
			if damaged(x.Err) {
				p.options.Distrust(req.File())
			}
			req.Done.Loaded(token, x)
		}, nil)
		p.files.Start(own)
	}
	j.fail = func(err error) { req.Done.Loaded(req.Token, payload.Result{Err: fmt.Errorf("%s: %w", what, err)}) }
	j.take = func(kind byte, r *reader, keep func()) error {
		switch kind {
		case kindAsset:
			x, err := readAsset(r, keep)
			if err == nil {
				if j.packed != nil {
					x.Asset.Ready = j.packed
				}
				req.Done.Loaded(req.Token, x)
			}
			return err
		case kindKept:
			if err := r.end(); err != nil {
				return err
			}
			if a := req.Kept.Retain(); a != nil {
				req.Done.Loaded(req.Token, payload.ResultOf(a))
			} else {
				j.fail(errors.New("what was kept of the file has been released"))
			}
			return nil
		case kindFailure:
			failed, err := readFailure(r)
			if err == nil {
				req.Done.Loaded(req.Token, payload.Result{Err: failed}) // which names the tile
			}
			return err
		}
		return fmt.Errorf("%w: kind %d answers a request for a tile", ErrWire, kind)
	}
	p.start(req.Context, j, func(token uint64) *writer {
		sent := req
		sent.Token = token
		return writeLoad(&sent)
	})
}

// ReadTexture is the texture.Reader. Errors are those of texfile.ReadFile.
func (p *Pool) ReadTexture(ctx context.Context, dir, uri string, o texfile.Options) (*texfile.Image, error) {
	type answer struct {
		img *texfile.Image
		err error
	}
	done := make(chan answer, 1)
	j := &job{key: dir + "\x00" + uri}
	j.here = func() {
		img, err := texfile.ReadFile(ctx, dir, uri, o)
		if damaged(err) {
			p.options.Distrust(textureFile(dir, uri))
		}
		done <- answer{img, err}
	}
	j.fail = func(err error) { done <- answer{nil, err} }
	j.take = func(kind byte, r *reader, _ func()) (err error) {
		var x answer
		switch kind {
		case kindImage:
			x.img, err = readImage(r)
		case kindFailure:
			x.err, err = readFailure(r)
		default:
			err = fmt.Errorf("%w: kind %d answers a request for a texture", ErrWire, kind)
		}
		if err == nil {
			done <- x
		}
		return err
	}
	p.start(ctx, j, func(token uint64) *writer { return writeTexture(token, &textureRequest{dir, uri, o}) })
	x := <-done
	return x.img, x.err
}

// start gives a job to a worker, or does it here.
func (p *Pool) start(ctx context.Context, j *job, message func(token uint64) *writer) {
	p.mu.Lock()
	var refused error
	switch {
	case p.closed:
		refused = payload.ErrClosed
	case ctx.Err() != nil:
		refused = ctx.Err()
	case p.deadly[j.key]:
		refused = ErrDied
	}
	if refused != nil {
		p.mu.Unlock()
		j.fail(refused)
		return
	}
	p.token++
	j.token = p.token
	j.parts = message(j.token).message()
	j.release = context.AfterFunc(ctx, func() { p.giveUp(j, ctx.Err()) })
	if p.holds(j) {
		p.held = append(p.held, j)
	} else {
		p.give(j)
	}
	p.mu.Unlock()
}

// earlyTiles is how many tiles are asked for at a time before the first one has come: more
// share the network, and all of them come later.
const earlyTiles = 2

// holds reports whether a job has to wait for the first tile.
func (p *Pool) holds(j *job) bool {
	if p.opened || !j.tile || !slices.ContainsFunc(p.workers, func(w *worker) bool { return w != nil }) {
		return false
	}
	p.early++
	return p.early > earlyTiles
}

// open gives away what has waited for the first tile. p.mu is held.
func (p *Pool) open() {
	p.opened = true
	for _, j := range p.held {
		if !j.answered {
			p.give(j)
		}
	}
	p.held = nil
}

// give hands a job to a worker: to the one that has had the file, and so may have it
// still, unless others have less to do.
func (p *Pool) give(j *job) {
	var to *worker
	h := fnv.New32a()
	h.Write([]byte(j.key))
	const ahead = 2
	for i := range p.workers {
		w := p.workers[(int(h.Sum32()%uint32(len(p.workers)))+i)%len(p.workers)]
		if w != nil && (to == nil || len(w.jobs)+ahead < len(to.jobs)) {
			to = w
		}
	}
	if to == nil {
		j.answered = true
		j.release()
		go j.here()
		return
	}
	j.packed = nil // of a worker that has died
	to.jobs[j.token] = j
	if to.ready {
		p.port.Send(to.at, j.parts)
	}
}

// got takes a message of a worker.
func (p *Pool) got(w *worker, size int, read func([]byte)) {
	message, keep := p.buffer(size)
	read(message)
	r, kind, token := newReader(message)
	p.mu.Lock()
	if p.workers[w.at] != w {
		p.mu.Unlock()
		return
	}
	w.heard++
	err := r.err
	if err == nil && kind == kindReady {
		if err = r.end(); err == nil && !w.ready {
			w.ready = true
			for _, j := range sortedJobs(w.jobs) {
				p.port.Send(w.at, j.parts)
			}
		}
	}
	j := w.jobs[token]
	if err == nil && kind == kindPacked {
		var made *render.Packed
		if made, err = readPacked(r, keep); err == nil && j != nil {
			j.packed = made
		}
		j = nil // which is not answered yet
	}
	if err == nil && j != nil {
		delete(w.jobs, token)
		p.tried(j)
		if j.tile && !p.opened {
			p.open()
		}
	}
	answer := err == nil && j != nil && !j.answered
	if answer {
		j.answered = true
		j.release()
	}
	if err != nil {
		p.died(w, err.Error())
	}
	p.mu.Unlock()
	if !answer {
		return
	}
	if err := j.take(kind, r, keep); err != nil {
		j.fail(err)
		p.mu.Lock()
		p.died(w, err.Error())
		p.mu.Unlock()
	}
}

// buffer returns bytes for a message, and what gives them back when a tile in it is
// released.
func (p *Pool) buffer(size int) (b []byte, keep func()) {
	const smallest = 64 << 10 // worth it
	if size < smallest {
		return make([]byte, size), nil
	}
	if have, _ := p.blocks.Get().(*[]byte); have != nil && cap(*have) >= size && cap(*have) <= 4*size {
		b = (*have)[:size]
	} else {
		b = make([]byte, size)
	}
	return b, func() { p.blocks.Put(&b) }
}

// giveUp answers a job whose context has ended. Its worker is told, and has to give a
// sign within some time.
func (p *Pool) giveUp(j *job, err error) {
	p.mu.Lock()
	if j.answered {
		p.mu.Unlock()
		return
	}
	j.answered = true
	if j.tile && !p.opened {
		p.open()
	}
	p.suspects = slices.DeleteFunc(p.suspects, func(s *job) bool { return s == j })
	for _, w := range p.workers {
		if w == nil || w.jobs[j.token] != j {
			continue
		}
		if !w.ready {
			delete(w.jobs, j.token)
			p.tried(j)
			break
		}
		p.port.Send(w.at, newWriter(kindCancel, j.token).message())
		heard := w.heard
		p.options.after(hangTime, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			if w.jobs[j.token] == j && w.heard == heard {
				j.suspect = true
				p.died(w, fmt.Sprintf("it gave no sign for %v", hangTime))
			}
		})
	}
	p.mu.Unlock()
	j.fail(err)
}

// died begins a worker anew and gives what it was at to others. p.mu is held.
func (p *Pool) died(w *worker, why string) {
	if p.closed || p.workers[w.at] != w {
		return
	}
	p.port.Stop(w.at)
	jobs := sortedJobs(w.jobs)
	const most = 3
	if len(jobs) == 0 && w.ready {
		p.idle++
	}
	if w.ready && p.idle < most {
		p.options.Said("a decoder has ended and begins anew: " + why)
		p.begin(w.at)
	} else {
		p.options.Said("a decoder has ended: " + why)
		p.workers[w.at] = nil
	}
	alone := len(jobs) == 1
	for _, j := range jobs {
		switch {
		case j.suspect && alone:
			p.deadly[j.key] = true
			p.tried(j)
			if !j.answered {
				j.answered = true
				j.release()
				go j.fail(fmt.Errorf("%w (%s): the file may be damaged, or need more memory than the browser gives: smaller tiles and images need less (untold cook --tile-size, --max-texture)", ErrDied, why))
			}
		case j.suspect: // it may have been one of the others
			if p.trying == j {
				p.trying = nil
			}
			if !j.answered {
				p.suspects = slices.Insert(p.suspects, 0, j)
			}
		case j.answered:
		case w.ready:
			j.suspect = true
			p.suspects = append(p.suspects, j)
		default:
			p.give(j)
		}
	}
	p.tryNext()
	p.open()
}

// tried takes note that a job has been answered.
func (p *Pool) tried(j *job) {
	if p.trying == j {
		p.trying = nil
		p.tryNext()
	}
}

// tryNext gives the next suspect to a worker.
func (p *Pool) tryNext() {
	if p.trying == nil && len(p.suspects) > 0 {
		p.trying = p.suspects[0]
		p.suspects = p.suspects[1:]
		p.give(p.trying)
	}
}

// sortedJobs returns jobs in the order in which they came.
func sortedJobs(jobs map[uint64]*job) (out []*job) {
	for _, token := range slices.Sorted(maps.Keys(jobs)) {
		out = append(out, jobs[token])
	}
	return out
}

// Close ends the workers and answers what they were at with payload.ErrClosed.
func (p *Pool) Close() error {
	p.mu.Lock()
	left := append(p.suspects, p.held...)
	for at, w := range p.workers {
		if w != nil {
			left = append(left, sortedJobs(w.jobs)...)
			p.port.Stop(at)
			p.workers[at] = nil
		}
	}
	p.closed, p.suspects, p.held = true, nil, nil
	left = slices.DeleteFunc(left, func(j *job) bool { return j.answered })
	for _, j := range left {
		j.answered = true
		j.release()
	}
	p.mu.Unlock()
	for _, j := range left {
		j.fail(payload.ErrClosed)
	}
	return p.files.Close()
}
