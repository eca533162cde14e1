package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/remote/internal/diskcache"
)

const (
	// headBytes is what the first request for a tile by ranges brings: as a rule
	// header, table and records.
	headBytes = 64 << 10
	// gapBytes is how much that nobody has asked for is fetched to save a request:
	// what 10 MB/s bring in a few milliseconds.
	gapBytes = 32 << 10
	// lineBytes is what a request is rounded to at both ends, as far as that is
	// missing: the bytes beside a mesh are wanted next, more often than not.
	lineBytes = 32 << 10
	// rangeTries is how often blocks that have come may be gone from the store again,
	// or be damaged, before a reader gives up.
	rangeTries = 3
)

// blockStore keeps the blocks of a range file that have come: a diskcache.Partial,
// or memory. Its methods are those of diskcache.Partial.
type blockStore interface {
	Size() int64      // of the whole file
	BlockSize() int64 // the grain in bytes
	Has(block int64) bool
	ReadAt(b []byte, off int64) (int, error)
	Forget(from, to int64)
	Use()

	// Write stores the blocks from from to end, exclusive, as far as body has them. They
	// count from keep on.
	Write(from, end int64, body io.Reader, buf []byte) (n int64, keep func() error, err error)
	Prepare(from, end int64) (complete bool, err error)
	Refresh()
	TakeWhole() bool
	Complete() error
	Discard() error
}

// rangeFile is a remote file that is fetched by byte ranges. It decides which ranges
// to ask for, sees to it that all of them are of one version, and leaves the bytes to
// a blockStore. It is a payload.Ranges, and safe for concurrent use.
type rangeFile struct {
	f       *Fetcher
	s       source
	version version
	store   blockStore
	partial *diskcache.Partial // the store; nil for one in memory
	gap     int64              // blocks; see gapBytes
	line    int64              // blocks; see lineBytes

	mu       sync.Mutex
	coming   map[int64]chan struct{} // blocks under way; closed at their end
	replaced error                   // the server has another version
	requests int64
	fetched  int64 // bytes of blocks that have come
}

func newRangeFile(f *Fetcher, s source, v version, store blockStore, gap int64) *rangeFile {
	grain := store.BlockSize()
	return &rangeFile{f: f, s: s, version: v, store: store, gap: gap / grain, line: max(1, lineBytes/grain), coming: map[int64]chan struct{}{}}
}

// Size returns the size of the whole file.
func (r *rangeFile) Size() int64 { return r.version.size }

// ReadAt reads what Bring has brought, without the network.
func (r *rangeFile) ReadAt(b []byte, off int64) (int, error) {
	size := r.Size()
	if off < 0 || off > size {
		return 0, fmt.Errorf("remote: offset %d of a file of %d bytes", off, size)
	}
	short := int64(len(b)) > size-off
	if short {
		b = b[:size-off]
	}
	n, err := r.store.ReadAt(b, off)
	if err == nil && short {
		err = io.EOF
	}
	return n, err
}

// Distrust forgets blocks whose content makes no sense: whatever the server has
// sent, it is asked again.
func (r *rangeFile) Distrust(spans []payload.Span) {
	for _, s := range spans {
		r.store.Forget(s.From, s.To)
	}
}

// Bring brings what is missing of some ranges. It returns when all of them can
// be read, or with an error: ErrChanged when the server has another version,
// ErrCache when the disk does not keep them.
func (r *rangeFile) Bring(ctx context.Context, spans []payload.Span) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.f.base, func() { cancel(ErrClosed) })()
	for tries := 1; ; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if r.err() == nil && len(r.missing(spans)) > 0 {
			r.store.Refresh()
		}
		mine, others, err := r.claim(spans)
		if err != nil {
			return err
		}
		if len(mine) == 0 && others == nil {
			if err = r.complete(); errors.Is(err, diskcache.ErrNotHere) && tries < rangeTries {
				tries++
				continue
			}
			r.store.Use()
			return err
		}
		var g errgroup.Group
		for _, run := range mine {
			g.Go(func() error { return r.fetch(ctx, run) })
		}
		if err := g.Wait(); err != nil {
			return causeOf(ctx, err)
		}
		if others != nil {
			select {
			case <-others:
			case <-ctx.Done():
			}
		}
	}
}

// err says that the server has another version.
func (r *rangeFile) err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.replaced
}

// blockRun is a range of blocks; end is exclusive.
type blockRun struct{ from, end int64 }

// missing lists the blocks of some ranges that are not in the store, in order.
func (r *rangeFile) missing(spans []payload.Span) (list []int64) {
	grain := r.store.BlockSize()
	for _, s := range spans {
		to := min(s.To, r.Size())
		for b := max(0, s.From) / grain; b*grain < to; b++ {
			if !r.store.Has(b) {
				list = append(list, b)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// claim takes on the blocks that are missing and not under way, as runs. A short gap
// between two runs is fetched with them. others is closed when a block that somebody
// else fetches has come, or has failed to.
func (r *rangeFile) claim(spans []payload.Span) (mine []blockRun, others <-chan struct{}, err error) {
	// Blocks leave coming under mu and after they have come: none is missed in between.
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.replaced != nil {
		return nil, nil, r.replaced
	}
	for _, b := range r.missing(spans) {
		if c := r.coming[b]; c != nil {
			others = c
			continue
		}
		if n := len(mine); n > 0 && b-mine[n-1].end <= r.gap && r.noneComing(mine[n-1].end, b) {
			mine[n-1].end = b + 1
			continue
		}
		mine = append(mine, blockRun{b, b + 1})
	}
	for i := range mine {
		r.round(mine, i)
	}
	for _, run := range mine {
		done := make(chan struct{})
		for b := run.from; b < run.end; b++ {
			r.coming[b] = done
		}
	}
	return mine, others, nil
}

// round widens a run to whole lines, up to blocks that are in the store, under way or
// in the next run.
func (r *rangeFile) round(runs []blockRun, i int) {
	grain := r.store.BlockSize()
	line, blocks := r.line, (r.Size()+grain-1)/grain
	run := &runs[i]
	low, high := run.from/line*line, min((run.end+line-1)/line*line, blocks)
	if i > 0 {
		low = max(low, runs[i-1].end)
	}
	if i+1 < len(runs) {
		high = min(high, runs[i+1].from)
	}
	free := func(b int64) bool { return !r.store.Has(b) && r.coming[b] == nil }
	for run.from > low && free(run.from-1) {
		run.from--
	}
	for run.end < high && free(run.end) {
		run.end++
	}
}

// noneComing reports whether nobody fetches any of some blocks, so that they may be
// fetched along. Those of them that are in the store are few, and cheaper than a
// request.
func (r *rangeFile) noneComing(from, end int64) bool {
	for b := from; b < end; b++ {
		if r.coming[b] != nil {
			return false
		}
	}
	return true
}

// complete gives the file its final name in the store when all of it is there.
func (r *rangeFile) complete() error {
	err := r.store.Complete()
	var wrong *diskcache.MismatchError
	if !errors.As(err, &wrong) {
		return err
	}
	return r.replace(fmt.Errorf("%w: %w", errDeclared, wrong))
}

// rangeSource reads a rangeFile as an io.ReaderAt, and fetches what is missing. It is
// for one goroutine.
type rangeSource struct {
	ctx  context.Context
	file *rangeFile
	err  error // of the network, as the format's reader tells its text only
}

// ReadAt implements io.ReaderAt.
func (s *rangeSource) ReadAt(b []byte, off int64) (int, error) {
	for try := 0; ; try++ {
		n, err := s.file.ReadAt(b, off)
		if !errors.Is(err, diskcache.ErrNotHere) || try == rangeTries {
			return n, err
		}
		if err := s.file.Bring(s.ctx, []payload.Span{{From: off, To: off + int64(len(b))}}); err != nil {
			s.err = err
			return 0, err
		}
	}
}
