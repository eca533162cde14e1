package diskcache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// How a Partial grows, follows what other processes do, and becomes a whole file.

// Write writes the blocks from from to end, exclusive, at their places and returns
// how many of them body had. They count when keep returns without an error; ErrGone
// says then, as here, that the file has been evicted, completed or replaced since.
// buf has room for some blocks.
func (p *Partial) Write(from, end int64, body io.Reader, buf []byte) (n int64, keep func() error, err error) {
	var sums []uint32
	keep = func() error {
		if len(sums) == 0 {
			return nil
		}
		return p.keep(from, sums)
	}
	most := int64(len(buf)) / BlockSize * BlockSize
	for at := from; at < end; at = from + int64(len(sums)) {
		want := min(most, min(end*BlockSize, p.size)-at*BlockSize)
		got, err := io.ReadFull(body, buf[:want])
		blocks := int64(got) / BlockSize
		if int64(got) == want {
			blocks = blocksOf(want)
		}
		if blocks > 0 {
			piece := buf[:min(blocks*BlockSize, int64(got))]
			if err := p.c.writeBlocks(p.name, piece, at*BlockSize); err != nil {
				return int64(len(sums)), keep, err
			}
			sums = append(sums, checksums(piece)...)
		}
		if err != nil {
			return int64(len(sums)), keep, err
		}
	}
	return int64(len(sums)), keep, nil
}

// keep makes blocks count whose bytes were written.
func (p *Partial) keep(from int64, sums []uint32) error {
	if err := p.c.root.syncPartial(p.name); err != nil && !missing(err) {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.whole {
		return ErrGone
	}
	return p.c.addBlocks(&p.m, from, sums)
}

// writeBlocks puts bytes at their place in a partial file. They count from addBlocks
// on. ErrGone: there is no such file any more.
func (c *Cache) writeBlocks(name string, data []byte, off int64) error {
	err := c.root.edit(name, os.O_WRONLY, func(f File) error {
		return c.withRoom(func() error {
			_, err := f.WriteAt(data, off)
			return err
		}, name)
	})
	if missing(err) {
		return ErrGone
	} else if err != nil {
		return c.root.failure("store "+name, err)
	}
	return nil
}

// syncPartial flushes a partial file to the disk.
func (r folder) syncPartial(name string) error {
	if r.noSync {
		return nil
	}
	if err := r.edit(name, os.O_WRONLY, File.Sync); err != nil {
		return r.failure("store "+name, err)
	}
	return nil
}

// Refresh reads which blocks other processes have added, or takes over the whole file
// that they have made.
func (p *Partial) Refresh() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.whole {
		return
	}
	info, err := p.c.root.Lstat(sidecarName(p.name))
	if missing(err) {
		p.takeWhole()
	}
	if err != nil || info.Size() == p.m.read {
		return
	}
	m, ok := p.c.root.readMap(p.name)
	if !ok || !m.entry.CachedAt.Equal(p.m.entry.CachedAt) {
		return
	}
	m.entry = p.m.entry
	p.m = m
}

// TakeWhole takes over the whole file if another process has made one of this, and
// reports whether the file is whole.
func (p *Partial) TakeWhole() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.whole {
		p.takeWhole()
	}
	return p.whole
}

// Prepare is called before blocks are written. It makes the file anew when it has
// been evicted, and takes over the one that another process has made instead.
// ErrOtherVersion: that is of another version.
//
// complete says that another process has completed the file: there is nothing to
// write then, as it would become a partial file beside the whole one.
func (p *Partial) Prepare(from, end int64) (complete bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.whole {
		if _, ok := p.c.latest(p.name); !ok {
			p.takeWhole()
		}
	}
	if p.whole {
		if _, _, ok := p.part(from*BlockSize, min(end*BlockSize, p.size)); ok {
			return true, nil
		}
	}
	now, ok := p.c.latest(p.name)
	e := p.m.entry
	if ok && !p.whole && now.CachedAt.Equal(e.CachedAt) {
		return false, nil
	}
	if ok && !now.sameVersion(&e) {
		return false, ErrOtherVersion
	}
	m, found := blockMap{}, false
	if ok {
		m, found = p.c.loadMap(p.name)
	}
	if !found {
		if m, err = p.c.beginPartial(e); err != nil {
			return false, err
		}
	}
	p.m, p.whole = m, false
	return false, nil
}

// takeWhole makes the blocks those of the whole file in the cache, if that is of the
// same version. The caller holds mu, which is let go while the file is read.
func (p *Partial) takeWhole() {
	e := p.m.entry
	now, ok := p.c.Lookup(wholeName(p.name))
	if !ok || now.Size != p.size || now.ETag != e.ETag || now.LastModified != e.LastModified || e.SHA256 != "" && now.SHA256 != e.SHA256 {
		return
	}
	p.mu.Unlock()
	read, err := p.c.root.sumFile(now.Name, now.Size)
	p.mu.Lock()
	if err != nil || read.sha256 != now.SHA256 || p.whole || !p.m.entry.CachedAt.Equal(e.CachedAt) {
		return
	}
	for b, sum := range read.blocks {
		p.m.add(int64(b), sum)
	}
	p.becomeWhole()
}

func (p *Partial) becomeWhole() {
	p.whole = true
	p.completed()
	p.c.Pin(wholeName(p.name))
}

// Complete gives the file its final name if all of it is here. It reads the file
// once, without the lock; others go on meanwhile and do not wait for it. A
// *MismatchError says that the file does not have the declared hash; it is removed
// then.
func (p *Partial) Complete() error {
	p.mu.Lock()
	if p.whole || p.m.bytes != p.size || p.completing != nil {
		p.mu.Unlock()
		return nil
	}
	done := make(chan struct{})
	p.completing = done
	e := p.m.entry
	p.mu.Unlock()
	read, err := p.c.root.sumFile(e.Name, e.Whole)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.completing = nil
	defer close(done)
	if err != nil || p.whole || p.m.bytes != p.size || !p.m.entry.CachedAt.Equal(e.CachedAt) {
		return nil // evicted or replaced: the next reader sees to it
	}
	if bad := read.differs(&p.m); len(bad) > 0 {
		return p.damaged(bad)
	}
	if err := p.c.promote(p.m.entry, read); errors.Is(err, ErrGone) {
		return nil // evicted or promoted by another process: the next reader sees to it
	} else if err != nil {
		return err
	}
	p.becomeWhole()
	return nil
}

// WaitCompleting returns when nobody is giving the file its final name, or with ctx.
// It reports whether somebody was.
func (p *Partial) WaitCompleting(ctx context.Context) (waited bool, err error) {
	p.mu.Lock()
	busy := p.completing
	p.mu.Unlock()
	if busy == nil {
		return false, nil
	}
	select {
	case <-busy:
		return true, nil
	case <-ctx.Done():
		return true, context.Cause(ctx)
	}
}

// fileSums is what one reading of a complete file says of it.
type fileSums struct {
	blocks []uint32 // CRC-32C
	sha256 string
	size   int64 // at most one buffer more than the file is to have
}

// sumFile reads a file that is to have a size, once.
func (r folder) sumFile(name string, size int64) (s fileSums, err error) {
	f, err := r.Open(filepath.FromSlash(name))
	if err != nil {
		return s, err
	}
	defer f.Close()
	hash := sha256.New()
	buf := make([]byte, pieceBytes)
	for s.size <= size {
		n, err := io.ReadFull(f, buf)
		hash.Write(buf[:n])
		s.size += int64(n)
		s.blocks = append(s.blocks, checksums(buf[:n])...)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return s, err
		}
	}
	s.sha256 = hex.EncodeToString(hash.Sum(nil))
	return s, nil
}

// differs lists the blocks of a complete file that are not what was stored. Of a file
// that is too long it lists none, as fetching them again would not help.
func (s *fileSums) differs(m *blockMap) (bad []int64) {
	if s.size > m.entry.Whole {
		return nil
	}
	for b := range blocksOf(m.entry.Whole) {
		if sum, ok := m.sums[b]; !ok || b >= int64(len(s.blocks)) || s.blocks[b] != sum {
			bad = append(bad, b)
		}
	}
	return bad
}

// promote turns a complete partial file, which has just been read, into a whole one.
// One that does not have the declared size and hash is removed.
func (c *Cache) promote(old Entry, read fileSums) error {
	if read.size != old.Whole || old.SHA256 != "" && read.sha256 != old.SHA256 {
		if x, ok := c.Peek(old.Name); !ok || !x.CachedAt.Equal(old.CachedAt) {
			return ErrGone // that was another file
		}
		if err := c.discard(&old); err != nil {
			return err
		}
		return &MismatchError{Got: read.sha256, Declared: old.SHA256}
	}
	e := old
	e.Name, e.Size, e.Whole, e.SHA256 = wholeName(old.Name), read.size, 0, read.sha256
	e.LastAccess = c.opts.Now().UTC()
	err := c.locked(func() error {
		c.mu.Lock()
		x := c.index.entries[old.Name]
		mine := x != nil && x.CachedAt.Equal(old.CachedAt)
		if mine {
			e.Old = x.Old
			mine = c.append(change{Op: "drop", Name: old.Name}) == nil
		}
		c.mu.Unlock()
		if !mine {
			return ErrGone
		}
		if err := c.put(&e, old.Name); err != nil {
			return err
		}
		return c.root.Remove(sidecarName(old.Name))
	})
	if errors.Is(err, ErrGone) || errors.Is(err, fs.ErrNotExist) {
		return ErrGone
	}
	if err != nil {
		return c.root.failure("store "+e.Name, err)
	}
	return nil
}
