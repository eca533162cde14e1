package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/untoldkit/untold/runtime"
)

const (
	// headBytes is what the first request for a file in parts brings: as a rule
	// header, table and records of a tile.
	headBytes = 64 << 10
	// gapBytes is how much that nobody has asked for is fetched to save a request:
	// what 10 MB/s bring in a few milliseconds.
	gapBytes = 32 << 10
	// lineBytes is what a request is rounded to at both ends, as far as that is
	// missing: what lies beside a mesh is wanted next, more often than not.
	lineBytes = 32 << 10
	// pieceBytes is how much of a body is in memory before it goes to the disk.
	pieceBytes = 256 << 10
	// partTries is how often what was brought may be gone from the disk again, or
	// be something else, before a reader gives up.
	partTries = 3
)

// errNoRanges: the server does not give parts of the file, or none that can be
// told from those of another version.
var errNoRanges = errors.New("remote: the server gives no parts of files")

// errNotHere: bytes that nobody has brought.
var errNotHere = errors.New("remote: that part of the file has not been brought")

// damaged says that a disk does not give back what was stored. It is an
// errNotHere, as whoever asks again may be luckier.
func (p *parts) damaged(bad []int64) error {
	return fmt.Errorf("%w: %s: the %d bytes from %d on are not what was stored (%w): check the disk, or use another folder (--cache-dir, Options.CacheDir)",
		ErrCache, p.f.cache.path(p.file), blockBytes(p.size, bad[0]), bad[0]*blockSize, errNotHere)
}

// parts is a remote file that is read in parts, which the cache keeps. It is a
// runtime.Ranges, and safe for concurrent use.
type parts struct {
	f    *Fetcher
	s    source
	file string // its name in the cache while it is not complete
	size int64  // of the whole file

	mu     sync.Mutex
	have   have
	coming map[int64]chan struct{} // blocks under way; closed at their end
	dead   error                   // the server has another version
	whole  bool                    // complete, under its final name
	// finishing is closed when the file has its final name, or has not; nil while
	// nobody gives it one.
	finishing chan struct{}
}

// partName is the name of a file's parts in the cache.
func partName(name string) string { return name + partSuffix }

// Size returns the size of the whole file.
func (p *parts) Size() int64 { return p.size }

// saved is how much of the file has not been fetched.
func (p *parts) saved() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.size - p.have.bytes
}

// ReadAt reads what Bring has brought, without the network.
func (p *parts) ReadAt(b []byte, off int64) (int, error) {
	if off < 0 || off > p.size {
		return 0, fmt.Errorf("remote: offset %d of a file of %d bytes", off, p.size)
	}
	short := int64(len(b)) > p.size-off
	if short {
		b = b[:p.size-off]
	}
	if len(b) > 0 {
		if err := p.read(b, off); err != nil {
			return 0, err
		}
	}
	if short {
		return len(b), io.EOF
	}
	return len(b), nil
}

// Distrust forgets blocks whose content makes no sense: whatever the server has
// sent, it is asked again.
func (p *parts) Distrust(spans []runtime.Span) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.whole {
		return // its hash was right
	}
	for _, s := range spans {
		for b := max(0, s.From) / blockSize; b*blockSize < min(s.To, p.size); b++ {
			p.have.drop(b)
		}
	}
}

// read fills b. Blocks that are not what was stored are forgotten.
func (p *parts) read(b []byte, off int64) error {
	p.mu.Lock()
	h, name := p.have, p.name()
	h.sums = map[int64]uint32{}
	missing := false
	for i := off / blockSize; i < blocksOf(off+int64(len(b))); i++ {
		sum, ok := p.have.sums[i]
		if missing = missing || !ok; ok {
			h.sums[i] = sum
		}
	}
	p.mu.Unlock()
	if missing {
		return errNotHere
	}
	bad, err := p.f.cache.readPart(name, &h, b, off)
	if errors.Is(err, fs.ErrNotExist) && name == p.file {
		// Another process may have completed it: the sums of the blocks tell.
		if none, e := p.f.cache.readPart(wholeName(p.file), &h, b, off); e == nil && len(none) == 0 {
			return nil
		}
	}
	if err == nil && len(bad) == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if errors.Is(err, fs.ErrNotExist) { // evicted, or just now complete
		if name == p.name() {
			p.have.sums, p.have.bytes, p.whole = map[int64]uint32{}, 0, false
		}
		return errNotHere
	}
	if err != nil {
		return p.f.cache.failure("read "+name, err)
	}
	for _, i := range bad {
		p.have.drop(i)
	}
	return p.damaged(bad)
}

// name is where the bytes lie. The caller holds mu.
func (p *parts) name() string {
	if p.whole {
		return wholeName(p.file)
	}
	return p.file
}

// used notes an access to the file, for eviction.
func (p *parts) used() {
	p.mu.Lock()
	name := p.name()
	p.mu.Unlock()
	p.f.cache.use(name)
}

// Bring brings what is missing of some ranges. It returns when all of them can
// be read, or with an error: ErrChanged when the server has another version,
// ErrCache when the disk does not keep them.
func (p *parts) Bring(ctx context.Context, spans []runtime.Span) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(p.f.base, func() { cancel(ErrClosed) })()
	for tries := 1; ; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p.refresh(spans)
		mine, others, err := p.claim(spans)
		if err != nil {
			return err
		}
		if len(mine) == 0 && others == nil {
			if err = p.complete(); errors.Is(err, errNotHere) && tries < partTries {
				tries++
				continue
			}
			p.used()
			return err
		}
		var g errgroup.Group
		for _, run := range mine {
			g.Go(func() error { return p.fetch(ctx, run) })
		}
		if err := g.Wait(); err != nil {
			return because(ctx, err)
		}
		if others != nil {
			select {
			case <-others:
			case <-ctx.Done():
			}
		}
	}
}

// refresh reads what other processes have added, if anything is missing, or takes
// over the whole file that they have made of it.
func (p *parts) refresh(spans []runtime.Span) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.whole || p.dead != nil || len(p.missing(spans)) == 0 {
		return
	}
	grown, gone := p.f.cache.partGrown(&p.have)
	if gone {
		p.takeWhole()
	}
	if !grown {
		return
	}
	h, ok := p.f.cache.readHave(p.file)
	if !ok || !h.entry.CachedAt.Equal(p.have.entry.CachedAt) {
		return
	}
	h.entry = p.have.entry
	p.have = h
}

// blockRun is a range of blocks; end is exclusive.
type blockRun struct{ from, end int64 }

// missing lists the blocks of some ranges that are not here, in order. The
// caller holds mu.
func (p *parts) missing(spans []runtime.Span) (list []int64) {
	for _, s := range spans {
		to := min(s.To, p.size)
		for b := max(0, s.From) / blockSize; b*blockSize < to; b++ {
			if _, ok := p.have.sums[b]; !ok {
				list = append(list, b)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// claim takes the blocks on that are missing and not under way, as runs: what
// lies between two of them comes along if it is little. others is closed when a
// block that somebody else fetches has come, or not.
func (p *parts) claim(spans []runtime.Span) (mine []blockRun, others <-chan struct{}, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead != nil {
		return nil, nil, p.dead
	}
	for _, b := range p.missing(spans) {
		if c := p.coming[b]; c != nil {
			others = c
			continue
		}
		if n := len(mine); n > 0 && b-mine[n-1].end <= gapBytes/blockSize && p.open(mine[n-1].end, b) {
			mine[n-1].end = b + 1
			continue
		}
		mine = append(mine, blockRun{b, b + 1})
	}
	for i := range mine {
		p.round(mine, i)
	}
	for _, r := range mine {
		done := make(chan struct{})
		for b := r.from; b < r.end; b++ {
			p.coming[b] = done
		}
	}
	return mine, others, nil
}

// round widens a run to whole lines, up to what is here, under way or in the
// next run.
func (p *parts) round(runs []blockRun, i int) {
	const line = lineBytes / blockSize
	r := &runs[i]
	low, high := r.from/line*line, min((r.end+line-1)/line*line, blocksOf(p.size))
	if i > 0 {
		low = max(low, runs[i-1].end)
	}
	if i+1 < len(runs) {
		high = min(high, runs[i+1].from)
	}
	free := func(b int64) bool {
		_, here := p.have.sums[b]
		return !here && p.coming[b] == nil
	}
	for r.from > low && free(r.from-1) {
		r.from--
	}
	for r.end < high && free(r.end) {
		r.end++
	}
}

// open reports whether nobody fetches any of some blocks, so that they may come
// along. Those that are here already are few, and cheaper than a request.
func (p *parts) open(from, end int64) bool {
	for b := from; b < end; b++ {
		if p.coming[b] != nil {
			return false
		}
	}
	return true
}

// keep notes blocks that are on the disk. When the file has been evicted in
// between, that is an error, and the next attempt makes it anew.
func (p *parts) keep(from int64, sums []uint32) error {
	err := p.f.cache.syncPart(p.file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead != nil {
		return p.dead
	}
	if p.whole {
		return errPartGone
	}
	return p.f.cache.keepPart(&p.have, from, sums)
}

// bringer reads parts of a file, and brings what is missing.
type bringer struct {
	ctx context.Context
	p   *parts
	err error // of the network, as the format's reader tells its text only
}

// ReadAt implements io.ReaderAt, for one goroutine.
func (r *bringer) ReadAt(b []byte, off int64) (int, error) {
	for try := 1; ; try++ {
		if err := r.p.Bring(r.ctx, []runtime.Span{{From: off, To: off + int64(len(b))}}); err != nil {
			r.err = err
			return 0, err
		}
		n, err := r.p.ReadAt(b, off)
		if !errors.Is(err, errNotHere) || try == partTries {
			return n, err
		}
	}
}
