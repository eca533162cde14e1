package remote

import (
	"context"
	"errors"
	"fmt"

	"github.com/untoldkit/untold/runtime"
)

// How parts become a whole file: here, or in another process.

// complete gives the file its final name when all of it is here. It reads the
// file once, without the lock; others go on meanwhile, and do not wait for it.
func (p *parts) complete() error {
	p.mu.Lock()
	if p.whole || p.have.bytes != p.size || p.dead != nil || p.finishing != nil {
		p.mu.Unlock()
		return nil
	}
	done := make(chan struct{})
	p.finishing = done
	e := p.have.entry
	p.mu.Unlock()
	read, err := p.f.cache.sumPart(&e)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finishing = nil
	defer close(done)
	if err != nil || p.whole || p.dead != nil || p.have.bytes != p.size || !p.have.entry.CachedAt.Equal(e.CachedAt) {
		return nil // evicted or replaced: the next reader sees to it
	}
	if bad := read.differs(&p.have); len(bad) > 0 {
		for _, b := range bad {
			p.have.drop(b)
		}
		return p.damaged(bad)
	}
	return p.promote(read)
}

// promote gives the file its final name. The caller holds mu.
func (p *parts) promote(read fileSums) error {
	e, err := p.f.cache.promotePart(p.have.entry, read)
	switch {
	case errors.Is(err, errPartGone):
		return nil // evicted or promoted by another process: the next reader sees to it
	case errors.Is(err, ErrMismatch):
		p.dead = final{fmt.Errorf("%w: %s: %w", ErrChanged, shown(p.s.url), err)}
		p.f.countReplaced(p.s.name)
		p.f.forgetParts(p)
		return p.dead
	case err != nil:
		return err
	}
	p.whole = true
	p.f.settled(p.s.name)
	p.f.cache.pin(e.Name, p.f.opts.Clock.Now().Add(pinFor))
	return nil
}

// takeWhole makes the parts those of the whole file in the cache, if that is of
// the same version: another process has completed it. The caller holds mu, which
// is let go while the file is read.
func (p *parts) takeWhole() {
	e := p.have.entry
	now, ok := p.f.cache.lookup(wholeName(p.file))
	if !ok || now.Size != p.size || now.ETag != e.ETag || now.LastModified != e.LastModified || e.SHA256 != "" && now.SHA256 != e.SHA256 {
		return
	}
	p.mu.Unlock()
	read, err := p.f.cache.sumPart(&Entry{Name: now.Name, Whole: now.Size})
	p.mu.Lock()
	if err != nil || read.sha256 != now.SHA256 || p.whole || p.dead != nil || !p.have.entry.CachedAt.Equal(e.CachedAt) {
		return
	}
	for b, sum := range read.blocks {
		p.have.add(int64(b), sum)
	}
	p.whole = true
	p.f.settled(p.s.name)
	p.f.cache.pin(now.Name, p.f.opts.Clock.Now().Add(pinFor))
}

// bringAll brings the whole file, and returns when it has its final name.
func (p *parts) bringAll(ctx context.Context) error {
	for {
		if err := p.Bring(ctx, []runtime.Span{{From: 0, To: p.size}}); err != nil {
			return err
		}
		p.mu.Lock()
		busy := p.finishing
		p.mu.Unlock()
		if busy == nil {
			return nil
		}
		select {
		case <-busy:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
