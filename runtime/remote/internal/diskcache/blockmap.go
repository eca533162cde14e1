package diskcache

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"
)

// The block map of a partial file lies beside it, with mapSuffix. The first line is
// the entry of the file, the others give blocks with their CRC-32C; every line has a
// sum of its own, as in the index. A line is written after the bytes of its blocks, so
// a crash loses blocks and invents none. Every reading compares the sums, so that
// neither a damaged disk nor another version at the same place goes unnoticed.

const (
	mapMagic = "untold-part-1"
	// BlockSize is the grain of partial files in bytes.
	BlockSize = 4 << 10
	// maxLineBlocks bounds a line of the map.
	maxLineBlocks = 1024
	// maxMap is the largest map that is read, in bytes: that of a file of several GiB
	// that came block by block.
	maxMap = 64 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// mapLine is a line of a block map: the first one or one of the others.
type mapLine struct {
	Magic string `json:"magic,omitempty"`
	Entry *Entry `json:"entry,omitempty"`
	From  int64  `json:"from,omitempty"` // block
	Sums  string `json:"sums,omitempty"` // eight hex digits a block
}

// blockMap says which blocks of a partial file are there.
type blockMap struct {
	entry Entry            // of the partial file
	sums  map[int64]uint32 // CRC-32C by block
	bytes int64            // of the blocks
	read  int64            // bytes of the file of the map that this reflects
}

// appendMapLine appends a line with its sum. It begins with a newline, so that a torn
// line before it does not spoil it.
func appendMapLine(dst []byte, l *mapLine) []byte {
	text, err := json.Marshal(l)
	if err != nil {
		panic("diskcache: block map: " + err.Error()) // plain data always has a form
	}
	return fmt.Appendf(dst, "\n%08x %s", crc32.ChecksumIEEE(text), text)
}

// appendSums appends the lines of consecutive blocks.
func appendSums(dst []byte, from int64, sums []uint32) []byte {
	for chunk := range slices.Chunk(sums, maxLineBlocks) {
		text := make([]byte, 0, 8*len(chunk))
		for _, s := range chunk {
			text = fmt.Appendf(text, "%08x", s)
		}
		dst = appendMapLine(dst, &mapLine{From: from, Sums: string(text)})
		from += int64(len(chunk))
	}
	return dst
}

// parseMap reads a block map. ok is false when there is no sound first line; other
// lines that make no sense are left out. The map takes memory in proportion to the
// text.
func parseMap(text []byte) (m blockMap, ok bool) {
	m = blockMap{sums: map[int64]uint32{}, read: int64(len(text))}
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		l, sound := parseMapLine(line)
		switch {
		case !sound:
		case l.Magic == mapMagic && l.Entry != nil && !ok:
			if !isPartial(l.Entry.Name) || !l.Entry.valid() {
				return blockMap{}, false
			}
			m.entry, ok = *l.Entry, true
		case ok && l.Magic == "":
			m.addLine(&l)
		}
	}
	return m, ok
}

func parseMapLine(line []byte) (l mapLine, ok bool) {
	if len(line) < 10 || len(line) > maxIndexLine || line[8] != ' ' {
		return l, false
	}
	if want := fmt.Sprintf("%08x", crc32.ChecksumIEEE(line[9:])); want != string(line[:8]) {
		return l, false
	}
	return l, json.Unmarshal(line[9:], &l) == nil
}

func (m *blockMap) addLine(l *mapLine) {
	raw, err := hex.DecodeString(l.Sums)
	n := int64(len(raw) / 4)
	if err != nil || len(raw)%4 != 0 || l.From < 0 || n > maxLineBlocks || l.From > blocksOf(m.entry.Whole)-n {
		return
	}
	for k := range n {
		b := raw[4*k:]
		m.add(l.From+k, uint32(b[0])<<24|uint32(b[1])<<16|uint32(b[2])<<8|uint32(b[3]))
	}
}

// add notes that a block is there.
func (m *blockMap) add(block int64, sum uint32) {
	if _, known := m.sums[block]; !known {
		m.bytes += blockBytes(m.entry.Whole, block)
	}
	m.sums[block] = sum
}

// drop forgets a block.
func (m *blockMap) drop(block int64) {
	if _, known := m.sums[block]; known {
		m.bytes -= blockBytes(m.entry.Whole, block)
		delete(m.sums, block)
	}
}

// blocksOf returns how many blocks a file has.
func blocksOf(size int64) int64 { return (size + BlockSize - 1) / BlockSize }

// blockBytes returns the size of a block: the last one may be short.
func blockBytes(size, block int64) int64 { return min(BlockSize, size-block*BlockSize) }

// checksums returns the CRC-32C of the blocks of data.
func checksums(data []byte) (sums []uint32) {
	for block := range slices.Chunk(data, BlockSize) {
		sums = append(sums, crc32.Checksum(block, castagnoli))
	}
	return sums
}

// readMap reads the block map of a partial file.
func (r folder) readMap(name string) (blockMap, bool) {
	f, err := r.Open(sidecarName(name))
	if err != nil {
		return blockMap{}, false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxMap+1))
	if err != nil || len(text) > maxMap {
		return blockMap{}, false
	}
	m, ok := parseMap(text)
	return m, ok && m.entry.Name == name
}

// judgePartial says what is wrong with a partial file, "" if nothing.
func (r folder) judgePartial(e *Entry) string {
	m, ok := r.readMap(e.Name)
	if !ok || !m.entry.CachedAt.Equal(e.CachedAt) {
		return "the list of its parts is missing or damaged"
	}
	f, err := r.Open(e.Name)
	if missing(err) {
		return "the file is missing"
	} else if err != nil {
		return "the file cannot be read: " + err.Error()
	}
	defer f.Close()
	buf := make([]byte, BlockSize)
	for _, b := range slices.Sorted(maps.Keys(m.sums)) {
		block := buf[:blockBytes(m.entry.Whole, b)]
		if _, err := f.ReadAt(block, b*BlockSize); err != nil {
			return fmt.Sprintf("the bytes from %d on cannot be read: %v", b*BlockSize, err)
		}
		if crc32.Checksum(block, castagnoli) != m.sums[b] {
			return fmt.Sprintf("the %d bytes from %d on are not what was stored", len(block), b*BlockSize)
		}
	}
	return ""
}

// recoverPartial returns the entry of a partial file as its block map has it, nil when
// the map is of no use. known is what the index says, nil if nothing.
func (r folder) recoverPartial(name string, known *Entry) *Entry {
	m, ok := r.readMap(name)
	if !ok || known != nil && !known.CachedAt.Equal(m.entry.CachedAt) {
		return nil
	}
	e := m.entry
	if known != nil {
		e = *known
	} else {
		e.Old = true // the manifest may have changed since
	}
	e.Size = m.bytes
	return &e
}
