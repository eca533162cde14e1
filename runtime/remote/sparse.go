package remote

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A file of which only parts have come lies under its name with partSuffix: the
// bytes are at their offsets, what is missing is a hole. The file beside it, with
// haveSuffix, says which blocks are there. Its first line is the entry, the
// others give blocks with their CRC-32C; every line has a sum of its own, as in
// the index. A line is written after the bytes that it speaks of, so a crash
// loses parts and invents none; and whoever reads a block compares its sum, so
// that neither a damaged disk nor another version of the file at the same place
// goes unnoticed.

const (
	partSuffix = ".part"
	haveSuffix = ".have"
	partMagic  = "untold-part-1"
	// blockSize is the grain of partial files in bytes.
	blockSize = 4 << 10
	// maxLineBlocks bounds a line of the sidecar.
	maxLineBlocks = 1024
	// maxHave is the largest sidecar that is read, in bytes: that of a file of
	// several GiB that came block by block.
	maxHave = 64 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errPartGone: a partial file is not there any more, or is another one.
var errPartGone = errors.New("the partial file was removed meanwhile")

// isPart reports whether a name is that of a partial file; textures are never
// partial.
func isPart(name string) bool {
	return strings.HasSuffix(name, partSuffix) && !strings.HasPrefix(name, texturesDir+"/")
}

// wholeName is the name that a partial file has when it is complete.
func wholeName(part string) string { return strings.TrimSuffix(part, partSuffix) }

// loadPart reads the sidecar of a partial file that the index knows.
func (c *Cache) loadPart(name string) (have, bool) {
	e, ok := c.peek(name)
	if !ok {
		return have{}, false
	}
	h, ok := c.readHave(name)
	if !ok || !h.entry.CachedAt.Equal(e.CachedAt) {
		return have{}, false
	}
	h.entry = e
	return h, true
}

// joinPart is loadPart of a file that another process has begun meanwhile, if that
// is of the version of an entry.
func (c *Cache) joinPart(e Entry) (have, bool) {
	if now, ok := c.latest(e.Name); !ok || !now.sameVersion(&e) || now.Old && e.SHA256 == "" {
		return have{}, false
	}
	return c.loadPart(e.Name)
}

// sameVersion reports whether two entries are of one version of a file, as far as
// server and manifest say.
func (e *Entry) sameVersion(o *Entry) bool {
	return e.Whole == o.Whole && e.ETag == o.ETag && e.LastModified == o.LastModified && e.SHA256 == o.SHA256
}

// readHave reads the sidecar of a partial file.
func (c *Cache) readHave(name string) (have, bool) {
	f, err := c.root.Open(sidecarName(name))
	if err != nil {
		return have{}, false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxHave+1))
	if err != nil || len(text) > maxHave {
		return have{}, false
	}
	h, ok := parseHave(text)
	return h, ok && h.entry.Name == name
}

// partGrown reports whether somebody has written to a sidecar since it was read,
// or removed it.
func (c *Cache) partGrown(h *have) (grown, gone bool) {
	info, err := c.root.Lstat(sidecarName(h.entry.Name))
	return err == nil && info.Size() != h.read, missing(err)
}

// writePart puts bytes at their place in a partial file. They count from keepPart
// on. errPartGone: there is no such file any more.
func (c *Cache) writePart(name string, data []byte, off int64) error {
	f, err := c.root.OpenFile(filepath.FromSlash(name), os.O_WRONLY, 0o600)
	if missing(err) {
		return errPartGone
	}
	if err != nil {
		return c.failure("store", err)
	}
	err = c.roomyApart(func() error { return c.writeAt(f, data, off) }, name)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return c.failure("store "+name, err)
	}
	return nil
}

// syncPart flushes a partial file to the disk.
func (c *Cache) syncPart(name string) error {
	if c.opts.NoSync {
		return nil
	}
	f, err := c.root.OpenFile(filepath.FromSlash(name), os.O_WRONLY, 0o600)
	if err != nil {
		return c.failure("store", err)
	}
	err = f.Sync()
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return c.failure("store "+name, err)
	}
	return nil
}

// beginPart makes the empty partial file of an entry, in the place of the one
// that may be there.
func (c *Cache) beginPart(e Entry) (have, error) {
	now := c.opts.Clock.Now().UTC()
	e.Size, e.ModTime, e.CachedAt, e.LastAccess, e.Old = 0, 0, now, now, false
	if !isPart(e.Name) || !e.valid() {
		return have{}, c.failure("store", fmt.Errorf("%q is no name of a partial file", e.Name))
	}
	h := have{entry: e, sums: map[int64]uint32{}}
	err := c.locked(func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		// Two versions must not have one time: that is what tells them apart.
		if x := c.index.entries[e.Name]; x != nil && !h.entry.CachedAt.After(x.CachedAt) {
			h.entry.CachedAt = x.CachedAt.Add(1)
		}
		if err := c.remove(e.Name); err != nil {
			return err
		}
		if err := c.announceHere(e.Name); err != nil {
			return err
		}
		return c.startPart(&h)
	})
	if err != nil {
		return have{}, c.failure("store "+e.Name, err)
	}
	return h, nil
}

// startPart writes the first line and the entry. The caller holds the lock of
// the folder and mu.
func (c *Cache) startPart(h *have) error {
	line := appendHaveLine(nil, &haveLine{Magic: partMagic, Entry: &h.entry})
	err := c.roomy(func() error {
		if err := c.writeFile(sidecarName(h.entry.Name), line); err != nil {
			return err
		}
		f, err := c.root.OpenFile(h.entry.Name, os.O_WRONLY|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		return f.Close()
	}, h.entry.Name)
	if err != nil {
		return err
	}
	h.read = int64(len(line))
	e := h.entry
	return c.append(change{Op: "put", Entry: &e})
}

// keepPart notes that blocks have come, after their bytes were written, and adds
// them to h. errPartGone: the file has been evicted or replaced since.
func (c *Cache) keepPart(h *have, from int64, sums []uint32) error {
	err := c.locked(func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		name := h.entry.Name
		x := c.index.entries[name]
		if x == nil || !x.CachedAt.Equal(h.entry.CachedAt) {
			return errPartGone
		}
		if _, err := c.root.Lstat(name); missing(err) {
			return errPartGone
		} else if err != nil {
			return err
		}
		lines := appendSums(nil, from, sums)
		f, err := c.root.OpenFile(sidecarName(name), os.O_WRONLY|os.O_APPEND, 0o600)
		if missing(err) {
			return errPartGone
		} else if err != nil {
			return err
		}
		err = c.roomy(func() error {
			_, err := c.writeAll(f, lines)
			return err
		}, name)
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			return err
		}
		h.read += int64(len(lines))
		for k, s := range sums {
			h.add(from+int64(k), s)
		}
		// Other processes may have added some that h does not know.
		e := *x
		e.Size = min(max(h.bytes, x.Size), e.Whole)
		e.LastAccess = c.opts.Clock.Now().UTC()
		h.entry = e
		if err := c.append(change{Op: "put", Entry: &e}); err != nil {
			return err
		}
		return c.evict(name)
	})
	if errors.Is(err, errPartGone) {
		return err
	}
	if err != nil {
		return c.failure("store "+h.entry.Name, err)
	}
	return nil
}

// readPart reads a range of a partial file, or of the whole one that it has
// become, and compares the sums of the blocks that it touches. It returns the
// blocks that are not what was stored.
func (c *Cache) readPart(name string, h *have, p []byte, off int64) (bad []int64, err error) {
	f, err := c.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	first, last := off/blockSize, blocksOf(off+int64(len(p)))
	start := first * blockSize
	end := min(last*blockSize, h.entry.Whole)
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
		at := b*blockSize - start
		block := buf[at : at+blockBytes(h.entry.Whole, b)]
		if sum, ok := h.sums[b]; !ok || crc32.Checksum(block, castagnoli) != sum {
			bad = append(bad, b)
		}
	}
	if len(bad) == 0 && &buf[0] != &p[0] {
		copy(p, buf[off-start:])
	}
	return bad, nil
}

// fileSums is what one reading of a complete partial file says of it.
type fileSums struct {
	blocks []uint32 // CRC-32C
	sha256 string
	size   int64 // at most one buffer more than the file is to have
}

// sumPart reads all of a partial file, once.
func (c *Cache) sumPart(e *Entry) (s fileSums, err error) {
	f, err := c.root.Open(filepath.FromSlash(e.Name))
	if err != nil {
		return s, err
	}
	defer f.Close()
	hash := sha256.New()
	buf := make([]byte, pieceBytes)
	for s.size <= e.Whole {
		n, err := io.ReadFull(f, buf)
		hash.Write(buf[:n])
		s.size += int64(n)
		for block := range slices.Chunk(buf[:n], blockSize) {
			s.blocks = append(s.blocks, crc32.Checksum(block, castagnoli))
		}
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

// differs lists the blocks of a complete file that are not what was stored; of a
// file that is too long none, as fetching them again would not help.
func (s *fileSums) differs(h *have) (bad []int64) {
	if s.size > h.entry.Whole {
		return nil
	}
	for b := range blocksOf(h.entry.Whole) {
		if sum, ok := h.sums[b]; !ok || b >= int64(len(s.blocks)) || s.blocks[b] != sum {
			bad = append(bad, b)
		}
	}
	return bad
}

// promotePart turns a complete partial file, which has just been read, into a
// whole one. Its hash is compared with the declared one, if there is one; a file
// that does not fit is removed and ErrMismatch returned.
func (c *Cache) promotePart(old Entry, read fileSums) (Entry, error) {
	if read.size != old.Whole || old.SHA256 != "" && read.sha256 != old.SHA256 {
		if x, ok := c.peek(old.Name); !ok || !x.CachedAt.Equal(old.CachedAt) {
			return Entry{}, errPartGone // that was another file
		}
		if err := c.discard(&old); err != nil {
			return Entry{}, err
		}
		return Entry{}, fmt.Errorf("%w: its SHA-256 is %s, the manifest declares %s", errDeclared, read.sha256, old.SHA256)
	}
	e := old
	e.Name, e.Size, e.Whole, e.SHA256 = wholeName(old.Name), read.size, 0, read.sha256
	e.LastAccess = c.opts.Clock.Now().UTC()
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
			return errPartGone
		}
		if err := c.put(&e, old.Name); err != nil {
			return err
		}
		return c.root.Remove(sidecarName(old.Name))
	})
	if errors.Is(err, errPartGone) || missing(err) {
		return Entry{}, errPartGone
	}
	if err != nil {
		return Entry{}, c.failure("store "+e.Name, err)
	}
	return e, nil
}

// judgePart says what is wrong with a partial file, "" if nothing is.
func (c *Cache) judgePart(e *Entry) string {
	h, ok := c.readHave(e.Name)
	if !ok || !h.entry.CachedAt.Equal(e.CachedAt) {
		return "the list of its parts is missing or damaged"
	}
	f, err := c.root.Open(e.Name)
	if missing(err) {
		return "the file is missing"
	} else if err != nil {
		return "the file cannot be read: " + err.Error()
	}
	defer f.Close()
	buf := make([]byte, blockSize)
	for _, b := range sortedBlocks(h.sums) {
		block := buf[:blockBytes(h.entry.Whole, b)]
		if _, err := f.ReadAt(block, b*blockSize); err != nil {
			return fmt.Sprintf("the bytes from %d on cannot be read: %v", b*blockSize, err)
		}
		if crc32.Checksum(block, castagnoli) != h.sums[b] {
			return fmt.Sprintf("the %d bytes from %d on are not what was stored", len(block), b*blockSize)
		}
	}
	return ""
}

func sortedBlocks(sums map[int64]uint32) []int64 {
	list := make([]int64, 0, len(sums))
	for b := range sums {
		list = append(list, b)
	}
	slices.Sort(list)
	return list
}

// recoverPart returns the entry of a partial file as its sidecar has it, nil
// when the sidecar is of no use. known is what the index says, nil if nothing.
func (c *Cache) recoverPart(name string, known *Entry) *Entry {
	h, ok := c.readHave(name)
	if !ok || known != nil && !known.CachedAt.Equal(h.entry.CachedAt) {
		return nil
	}
	e := h.entry
	if known != nil {
		e = *known
	} else {
		e.Old = true // the manifest may have changed since
	}
	e.Size = h.bytes
	return &e
}

// adoptPrefix makes a partial file of the beginning of a download that broke.
// The temporary file is moved; an error leaves it where it is.
func (c *Cache) adoptPrefix(e Entry, tmp string, size int64) error {
	n := size / blockSize
	if size == e.Whole {
		n = blocksOf(size)
	}
	if n == 0 || !isPart(e.Name) || !e.valid() {
		return errPartGone
	}
	sums, err := c.sumBlocks(tmp, n, e.Whole)
	if err != nil {
		return err
	}
	h, err := c.beginPart(e)
	if err != nil {
		return err
	}
	if err := c.rename(tmp, h.entry.Name); err != nil {
		return err
	}
	return c.keepPart(&h, 0, sums)
}

// sumBlocks returns the sums of the first n blocks of a file.
func (c *Cache) sumBlocks(name string, n, whole int64) ([]uint32, error) {
	f, err := c.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var sums []uint32
	buf := make([]byte, blockSize)
	for b := range n {
		block := buf[:blockBytes(whole, b)]
		if _, err := f.ReadAt(block, b*blockSize); err != nil {
			return nil, err
		}
		sums = append(sums, crc32.Checksum(block, castagnoli))
	}
	return sums, nil
}
