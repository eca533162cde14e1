package diskcache

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// pieceBytes is how much of a body is in memory before it goes to the disk.
const pieceBytes = 256 << 10

// Partial is a file of which only some blocks have come. They lie at their offsets
// in a file with partialSuffix, where missing blocks are holes; the blockMap beside it
// says which are there. When all have come, it becomes a whole file.
//
// Several processes may add to one file, and any of them may complete or evict it at
// any moment. A Partial follows: it learns of blocks that others have added, goes on
// with the whole file when another process has completed it, and begins anew when it
// was evicted. It is safe for concurrent use.
type Partial struct {
	c         *Cache
	name      string // in the cache, while the file is not complete
	size      int64  // of the whole file
	completed func() // see Partial and CreatePartial

	mu    sync.Mutex
	m     blockMap
	whole bool // complete, under its final name
	// completing is closed when the file has its final name, or could not get it; nil
	// while nobody gives it one.
	completing chan struct{}
}

// newPartial makes the Partial of a map.
func (c *Cache) newPartial(m blockMap, completed func()) *Partial {
	return &Partial{c: c, name: m.entry.Name, size: m.entry.Whole, m: m, completed: completed}
}

// Partial opens the file of a name of which the cache has parts. completed is called
// whenever the file has become whole, by this process or another; it must not use the
// Partial.
func (c *Cache) Partial(name string, completed func()) (*Partial, bool) {
	m, ok := c.loadMap(partialName(name))
	if !ok {
		return nil, false
	}
	return c.newPartial(m, completed), true
}

// CreatePartial makes a file of which nothing is there yet, in the place of one of
// that name. It opens the one that another process has begun meanwhile if that is of
// the same version. The entry has the name of the whole file, whose size is Whole, the
// validators of the server and the declared hash.
func (c *Cache) CreatePartial(e Entry, completed func()) (*Partial, error) {
	e.Name = partialName(e.Name)
	m, ok := c.joinPartial(e)
	if !ok {
		var err error
		if m, err = c.beginPartial(e); err != nil {
			return nil, err
		}
	}
	return c.newPartial(m, completed), nil
}

// KeepPartial keeps the bytes that were written as the beginning of the file of an
// entry, which is as CreatePartial takes it. The Writer must not be used afterwards, but for Abort.
func (w *Writer) KeepPartial(e Entry) error {
	if err := w.file.Close(); err != nil {
		return err
	}
	e.Name = partialName(e.Name)
	n := w.size / BlockSize
	if w.size == e.Whole {
		n = blocksOf(w.size)
	}
	if n == 0 || !isPartial(e.Name) || !e.valid() {
		return ErrGone
	}
	read, err := w.c.root.sumFile(w.tmp, w.size)
	if err != nil {
		return err
	}
	m, err := w.c.beginPartial(e)
	if err != nil {
		return err
	}
	if err := w.c.root.rename(w.tmp, m.entry.Name); err != nil {
		return err
	}
	return w.c.addBlocks(&m, 0, read.blocks[:n])
}

// loadMap reads the block map of a partial file that the index knows.
func (c *Cache) loadMap(name string) (blockMap, bool) {
	e, ok := c.Peek(name)
	if !ok {
		return blockMap{}, false
	}
	m, ok := c.root.readMap(name)
	if !ok || !m.entry.CachedAt.Equal(e.CachedAt) {
		return blockMap{}, false
	}
	m.entry = e
	return m, true
}

// joinPartial is loadMap of a file that another process has begun meanwhile, if that
// is of the version of an entry.
func (c *Cache) joinPartial(e Entry) (blockMap, bool) {
	if now, ok := c.latest(e.Name); !ok || !now.sameVersion(&e) || now.Old && e.SHA256 == "" {
		return blockMap{}, false
	}
	return c.loadMap(e.Name)
}

// beginPartial makes the empty partial file of an entry, in the place of the one that
// may be there.
func (c *Cache) beginPartial(e Entry) (blockMap, error) {
	now := c.opts.Now().UTC()
	e.Size, e.ModTime, e.CachedAt, e.LastAccess, e.Old = 0, 0, now, now, false
	if !isPartial(e.Name) || !e.valid() {
		return blockMap{}, c.root.failure("store", fmt.Errorf("%q is no name of a partial file", e.Name))
	}
	m := blockMap{entry: e, sums: map[int64]uint32{}}
	err := c.locked(func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		// Only its time tells a version from the one before it at the same name.
		if x := c.index.entries[e.Name]; x != nil && !m.entry.CachedAt.After(x.CachedAt) {
			m.entry.CachedAt = x.CachedAt.Add(1)
		}
		if err := c.root.remove(e.Name); err != nil {
			return err
		}
		if err := c.announceMu(e.Name); err != nil {
			return err
		}
		return c.writeEmpty(&m)
	})
	if err != nil {
		return blockMap{}, c.root.failure("store "+e.Name, err)
	}
	return m, nil
}

// writeEmpty writes the first line of the map, the file and the entry. The caller
// holds changes and mu.
func (c *Cache) writeEmpty(m *blockMap) error {
	line := appendMapLine(nil, &mapLine{Magic: mapMagic, Entry: &m.entry})
	err := c.withRoomMu(func() error {
		if err := c.root.WriteFile(sidecarName(m.entry.Name), line, 0o600); err != nil {
			return err
		}
		return c.root.edit(m.entry.Name, os.O_WRONLY|os.O_CREATE, func(File) error { return nil })
	}, m.entry.Name)
	if err != nil {
		return err
	}
	m.read = int64(len(line))
	e := m.entry
	return c.append(change{Op: "put", Entry: &e})
}

// addBlocks notes that blocks have come, after their bytes were written, and adds
// them to m. ErrGone: the file has been evicted or replaced since.
func (c *Cache) addBlocks(m *blockMap, from int64, sums []uint32) error {
	err := c.locked(func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		name := m.entry.Name
		x := c.index.entries[name]
		if x == nil || !x.CachedAt.Equal(m.entry.CachedAt) {
			return ErrGone
		}
		if _, err := c.root.Lstat(name); missing(err) {
			return ErrGone
		} else if err != nil {
			return err
		}
		lines := appendSums(nil, from, sums)
		err := c.root.edit(sidecarName(name), os.O_WRONLY|os.O_APPEND, func(f File) error {
			return c.withRoomMu(func() error {
				_, err := f.Write(lines)
				return err
			}, name)
		})
		if missing(err) {
			return ErrGone
		} else if err != nil {
			return err
		}
		m.read += int64(len(lines))
		for k, s := range sums {
			m.add(from+int64(k), s)
		}
		// Other processes may have added some that m does not know.
		e := *x
		e.Size = min(max(m.bytes, x.Size), e.Whole)
		e.LastAccess = c.opts.Now().UTC()
		m.entry = e
		if err := c.append(change{Op: "put", Entry: &e}); err != nil {
			return err
		}
		return c.evict(name)
	})
	if errors.Is(err, ErrGone) {
		return err
	}
	if err != nil {
		return c.root.failure("store "+m.entry.Name, err)
	}
	return nil
}

// Size returns the size of the whole file.
func (p *Partial) Size() int64 { return p.size }

// BlockSize returns the grain in bytes.
func (p *Partial) BlockSize() int64 { return BlockSize }

// Entry returns the entry of the partial file.
func (p *Partial) Entry() Entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.m.entry
}

// Old reports whether the manifest of the file's scene has changed since it came.
func (p *Partial) Old() bool {
	p.mu.Lock()
	name := p.place()
	p.mu.Unlock()
	e, ok := p.c.latest(name)
	return ok && e.Old
}

// Renew notes that the server still has this version of the file.
func (p *Partial) Renew() error {
	p.mu.Lock()
	name := p.place()
	p.mu.Unlock()
	e, ok := p.c.latest(name)
	if !ok {
		return nil
	}
	return p.c.Confirm(e)
}

// Stored returns how many bytes are there.
func (p *Partial) Stored() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.m.bytes
}

// Has reports whether a block is there.
func (p *Partial) Has(block int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.m.sums[block]
	return ok
}

// Forget makes the blocks that a range touches missing, for a reader to which their
// content makes no sense. The blocks of a whole file stay, as its hash was right.
func (p *Partial) Forget(from, to int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.whole {
		return
	}
	for b := max(0, from) / BlockSize; b*BlockSize < min(to, p.size); b++ {
		p.m.drop(b)
	}
}

// Use notes an access to the file, for eviction.
func (p *Partial) Use() {
	p.mu.Lock()
	name := p.place()
	p.mu.Unlock()
	p.c.Use(name)
}

// Discard removes the file, unless it is whole or has been replaced meanwhile.
func (p *Partial) Discard() error {
	p.mu.Lock()
	e, whole := p.m.entry, p.whole
	p.mu.Unlock()
	if whole {
		return nil
	}
	return p.c.discard(&e)
}

// place is the name under which the bytes lie. The caller holds mu.
func (p *Partial) place() string {
	if p.whole {
		return wholeName(p.name)
	}
	return p.name
}

// ReadAt fills b from off on, which must lie within the file. ErrNotHere: some of it
// is missing. Blocks that are not what was stored become missing; the error, an
// ErrNotHere too, says so, as a reader who fetches them again may be luckier.
func (p *Partial) ReadAt(b []byte, off int64) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	p.mu.Lock()
	m, name, complete := p.part(off, off+int64(len(b)))
	p.mu.Unlock()
	if !complete {
		return 0, ErrNotHere
	}
	bad, err := p.c.root.readBlocks(name, &m, b, off)
	if errors.Is(err, fs.ErrNotExist) && name == p.name {
		// Another process may have completed it: the sums of the blocks tell.
		if none, e := p.c.root.readBlocks(wholeName(p.name), &m, b, off); e == nil && len(none) == 0 {
			return len(b), nil
		}
	}
	if err == nil && len(bad) == 0 {
		return len(b), nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if errors.Is(err, fs.ErrNotExist) { // evicted, or just now complete
		if name == p.place() {
			p.m.sums, p.m.bytes, p.whole = map[int64]uint32{}, 0, false
		}
		return 0, ErrNotHere
	}
	if err != nil {
		return 0, p.c.root.failure("read "+name, err)
	}
	return 0, p.damaged(bad)
}

// part returns the map of the blocks in a range and where they lie; ok is false when
// some are missing. The caller holds mu.
func (p *Partial) part(from, to int64) (m blockMap, name string, ok bool) {
	m, name, ok = p.m, p.place(), true
	m.sums = map[int64]uint32{}
	for b := from / BlockSize; b < blocksOf(to); b++ {
		sum, here := p.m.sums[b]
		if ok = ok && here; here {
			m.sums[b] = sum
		}
	}
	return m, name, ok
}

// damaged makes blocks missing that the disk does not give back as they were stored,
// and returns the error. The caller holds mu.
func (p *Partial) damaged(bad []int64) error {
	for _, b := range bad {
		p.m.drop(b)
	}
	return fmt.Errorf("%w: %s: the %d bytes from %d on are not what was stored (%w): check the disk, or use another folder (--cache-dir, Options.CacheDir)",
		ErrCache, p.c.Path(p.name), blockBytes(p.size, bad[0]), bad[0]*BlockSize, ErrNotHere)
}

// readBlocks reads a range of a file and compares the sums of the blocks that it
// touches. It returns the blocks that are not what was stored.
func (r folder) readBlocks(name string, m *blockMap, p []byte, off int64) (bad []int64, err error) {
	f, err := r.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	first, last := off/BlockSize, blocksOf(off+int64(len(p)))
	start := first * BlockSize
	end := min(last*BlockSize, m.entry.Whole)
	buf := p
	if start != off || end != off+int64(len(p)) {
		buf = make([]byte, end-start)
	}
	n, err := f.ReadAt(buf, start)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	clear(buf[n:])
	for b := first; b < last; b++ {
		at := b*BlockSize - start
		block := buf[at : at+blockBytes(m.entry.Whole, b)]
		if sum, ok := m.sums[b]; !ok || crc32.Checksum(block, castagnoli) != sum {
			bad = append(bad, b)
		}
	}
	if len(bad) == 0 && &buf[0] != &p[0] {
		copy(p, buf[off-start:])
	}
	return bad, nil
}
