package remote

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"slices"
)

// haveLine is a line of the sidecar: the first one or one of the others.
type haveLine struct {
	Magic string `json:"magic,omitempty"`
	Entry *Entry `json:"entry,omitempty"`
	From  int64  `json:"from,omitempty"` // block
	Sums  string `json:"sums,omitempty"` // eight hex digits a block
}

// have is what a sidecar says.
type have struct {
	entry Entry
	sums  map[int64]uint32 // CRC-32C by block
	bytes int64            // of the blocks
	read  int64            // bytes of the sidecar
}

// appendHaveLine appends a line with its sum. It begins with a newline, so that
// a torn line before it spoils itself only.
func appendHaveLine(dst []byte, l *haveLine) []byte {
	text, err := json.Marshal(l)
	if err != nil {
		panic("remote: partial file: " + err.Error()) // plain data always has a form
	}
	return fmt.Appendf(dst, "\n%08x %s", crc32.ChecksumIEEE(text), text)
}

// appendSums appends the lines of consecutive blocks.
func appendSums(dst []byte, from int64, sums []uint32) []byte {
	for part := range slices.Chunk(sums, maxLineBlocks) {
		text := make([]byte, 0, 8*len(part))
		for _, s := range part {
			text = fmt.Appendf(text, "%08x", s)
		}
		dst = appendHaveLine(dst, &haveLine{From: from, Sums: string(text)})
		from += int64(len(part))
	}
	return dst
}

// parseHave reads a sidecar. ok is false when there is no sound first line;
// others that make no sense are left out. What is kept is in proportion to the
// text.
func parseHave(text []byte) (h have, ok bool) {
	h = have{sums: map[int64]uint32{}, read: int64(len(text))}
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		l, sound := parseHaveLine(line)
		switch {
		case !sound:
		case l.Magic == partMagic && l.Entry != nil && !ok:
			if !isPart(l.Entry.Name) || !l.Entry.valid() {
				return have{}, false
			}
			h.entry, ok = *l.Entry, true
		case ok && l.Magic == "":
			h.addLine(&l)
		}
	}
	return h, ok
}

func parseHaveLine(line []byte) (l haveLine, ok bool) {
	if len(line) < 10 || len(line) > maxIndexLine || line[8] != ' ' {
		return l, false
	}
	if want := fmt.Sprintf("%08x", crc32.ChecksumIEEE(line[9:])); want != string(line[:8]) {
		return l, false
	}
	return l, json.Unmarshal(line[9:], &l) == nil
}

func (h *have) addLine(l *haveLine) {
	raw, err := hex.DecodeString(l.Sums)
	n := int64(len(raw) / 4)
	if err != nil || len(raw)%4 != 0 || l.From < 0 || n > maxLineBlocks || l.From > blocksOf(h.entry.Whole)-n {
		return
	}
	for k := range n {
		b := raw[4*k:]
		h.add(l.From+k, uint32(b[0])<<24|uint32(b[1])<<16|uint32(b[2])<<8|uint32(b[3]))
	}
}

// add notes that a block is there.
func (h *have) add(block int64, sum uint32) {
	if _, known := h.sums[block]; !known {
		h.bytes += blockBytes(h.entry.Whole, block)
	}
	h.sums[block] = sum
}

// drop forgets a block.
func (h *have) drop(block int64) {
	if _, known := h.sums[block]; known {
		h.bytes -= blockBytes(h.entry.Whole, block)
		delete(h.sums, block)
	}
}

// blocksOf returns how many blocks a file has.
func blocksOf(size int64) int64 { return (size + blockSize - 1) / blockSize }

// blockBytes returns the size of a block: the last one may be short.
func blockBytes(size, block int64) int64 { return min(blockSize, size-block*blockSize) }
