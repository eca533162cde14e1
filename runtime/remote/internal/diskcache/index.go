package diskcache

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"time"
)

// The index is a log of one line a change, so that a change costs one short write and
// a crash loses the last line at most. A line is a CRC-32 of the rest in hex, a space
// and JSON. The first line names the generation: a log that was written anew (see
// compact) has another one, which tells readers to start over. Writers hold the lock
// of the folder; readers need none, because an incomplete line has no newline or a
// wrong sum.

const (
	indexStem  = "index"
	indexName  = indexStem + ".log"
	indexMagic = "untold-cache-1"
	// maxIndexLine bounds a line; addresses and ETags are bounded too.
	maxIndexLine = 64 << 10
	// compactAt is the size in bytes from which a log may be written anew.
	compactAt = 256 << 10
	// maxSalvage is how many bytes of a damaged log are looked through for names,
	// and how many that are no line are passed over within one.
	maxSalvage = 64 << 20
)

// change is one line of the index.
type change struct {
	Op    string `json:"op"` // begin, make, put, use, old or drop
	Name  string `json:"name,omitempty"`
	At    int64  `json:"at,omitempty"`    // use: last access, nanoseconds of Unix time
	Entry *Entry `json:"entry,omitempty"` // put
	Magic string `json:"magic,omitempty"` // begin
	Gen   string `json:"gen,omitempty"`   // begin
}

// appendChange appends the line of a change.
func appendChange(dst []byte, c *change) []byte {
	text, err := json.Marshal(c)
	if err != nil {
		panic("diskcache: index: " + err.Error()) // plain data always has a form
	}
	return fmt.Appendf(dst, "%08x %s\n", crc32.ChecksumIEEE(text), text)
}

// parseChange reads a line without its newline.
func parseChange(line []byte) (c change, ok bool) {
	if len(line) < 10 || len(line) > maxIndexLine || line[8] != ' ' {
		return c, false
	}
	var sum [8]byte
	copy(sum[:], fmt.Sprintf("%08x", crc32.ChecksumIEEE(line[9:])))
	if !bytes.Equal(sum[:], line[:8]) || json.Unmarshal(line[9:], &c) != nil {
		return change{}, false
	}
	switch c.Op {
	case "begin":
		return c, c.Magic == indexMagic && c.Gen != ""
	case "put":
		return c, c.Entry != nil && c.Entry.valid()
	case "make", "use", "old", "drop":
		return c, validName(c.Name)
	}
	return c, false
}

// index is the state that the log describes.
type index struct {
	entries map[string]*Entry
	made    map[string]bool // names that files may have got, and have no entry
	bytes   int64
	gen     string
	file    fs.FileInfo // of the log; nil: not known
	read    int64       // bytes of the log that entries reflect
	damaged int         // lines that made no sense
}

func newIndex() index { return index{entries: map[string]*Entry{}, made: map[string]bool{}} }

// apply brings the index up to date with one change.
func (x *index) apply(c *change) {
	switch c.Op {
	case "make":
		if x.entries[c.Name] == nil {
			x.made[c.Name] = true
		}
	case "put":
		e := *c.Entry
		x.drop(e.Name)
		x.entries[e.Name] = &e
		x.bytes += e.Size
	case "use":
		if e := x.entries[c.Name]; e != nil {
			if at := time.Unix(0, c.At).UTC(); at.After(e.LastAccess) {
				e.LastAccess = at
			}
		}
	case "old":
		if e := x.entries[c.Name]; e != nil {
			e.Old = true
		}
	case "drop":
		x.drop(c.Name)
	}
}

func (x *index) drop(name string) {
	delete(x.made, name)
	if e := x.entries[name]; e != nil {
		x.bytes -= e.Size
		delete(x.entries, name)
	}
}

// catchUp reads what was appended to the log since the last time, or all of it
// when it was written anew. A missing log is an empty one.
func (x *index) catchUp(root Disk) error {
	f, err := root.Open(indexName)
	if errors.Is(err, fs.ErrNotExist) {
		*x = newIndex()
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, 256)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	first, _, _ := bytes.Cut(head[:n], []byte("\n"))
	begin, ok := parseChange(first)
	if ok = ok && begin.Op == "begin"; !ok || begin.Gen != x.gen || info.Size() < x.read {
		*x = newIndex()
		if !ok {
			// Nothing of a log without a beginning is trusted, but that its names
			// are those of files of the cache.
			if info.Size() > 0 {
				x.damaged++
				return x.salvage(io.NewSectionReader(f, 0, min(info.Size(), maxSalvage)))
			}
			return nil
		}
		x.gen = begin.Gen
	}
	x.file = info
	if info.Size() == x.read {
		return nil
	}
	return x.replay(io.NewSectionReader(f, x.read, info.Size()-x.read))
}

// current reports whether nobody has written to the log since. It costs less
// than catchUp.
func (x *index) current(root Disk) bool {
	info, err := root.Lstat(indexName)
	return err == nil && x.file != nil && info.Size() == x.read && os.SameFile(info, x.file)
}

// salvage takes the names out of a log that has lost its beginning: files of these
// names are the cache's, whatever they hold now.
func (x *index) salvage(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		c, ok := parseChange(line)
		if ok && c.Entry != nil {
			c.Name = c.Entry.Name
		}
		if ok && c.Name != "" {
			x.made[c.Name] = true
		}
	}
	return nil
}

// replay applies complete lines; text after the last newline stays for later. It
// holds one line in memory at a time, as a file of holes may have any length. More
// than maxSalvage bytes in a row that are no line end the log, and the next change
// is written over them.
func (x *index) replay(r io.Reader) error {
	in, long := bufio.NewReaderSize(r, maxIndexLine+1), int64(0)
	for long <= maxSalvage {
		line, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			long += int64(len(line))
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		x.read += long + int64(len(line))
		if c, ok := parseChange(line[:len(line)-1]); ok && long == 0 {
			x.apply(&c)
		} else {
			x.damaged++
		}
		long = 0
	}
	return nil
}

// append writes changes to the log and applies them; on a full disk it makes room
// for them. The caller holds changes and mu, and the index is up to date.
func (c *Cache) append(changes ...change) error {
	var named []string
	for i := range changes {
		if named = append(named, changes[i].Name); changes[i].Entry != nil {
			named = append(named, changes[i].Entry.Name)
		}
	}
	return c.withRoomMu(func() error { return c.log(changes) }, named...)
}

// log is append that makes no room.
func (c *Cache) log(changes []change) error {
	if len(changes) == 0 {
		return nil
	}
	if c.index.gen == "" || c.index.read > compactAt && c.index.read > 1024*int64(len(c.index.entries)) {
		if err := c.compact(); err != nil {
			return err
		}
	}
	var lines []byte
	for i := range changes {
		lines = appendChange(lines, &changes[i])
	}
	f, err := c.root.OpenFile(indexName, os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	// A torn line of a process that died is overwritten.
	if err := f.Truncate(c.index.read); err != nil {
		return err
	}
	if _, err := f.WriteAt(lines, c.index.read); err != nil {
		return err
	}
	c.index.read += int64(len(lines))
	for i := range changes {
		c.index.apply(&changes[i])
	}
	return nil
}

// compact writes the log anew, without lines that later ones have undone.
func (c *Cache) compact() error {
	gen := fmt.Sprintf("%x-%x-%x", c.opts.Now().UnixNano(), os.Getpid(), temps.Add(1))
	lines := appendChange(nil, &change{Op: "begin", Magic: indexMagic, Gen: gen})
	for _, name := range sortedKeys(c.index.made) {
		lines = appendChange(lines, &change{Op: "make", Name: name})
	}
	for _, e := range c.byUse() {
		lines = appendChange(lines, &change{Op: "put", Entry: e})
	}
	tmp := tempName(indexStem)
	if err := c.root.WriteFile(tmp, lines, 0o600); err != nil {
		c.root.Remove(tmp)
		return err
	}
	if err := c.root.rename(tmp, indexName); err != nil {
		c.root.Remove(tmp)
		return err
	}
	c.index.gen, c.index.read = gen, int64(len(lines))
	c.index.file, _ = c.root.Lstat(indexName)
	return nil
}
