package utex

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/format"
)

// parser reads the header and the table and notes what is wrong with them. What
// it allocates is bounded by MaxEdge: at most 17 levels.
type parser struct {
	src      io.ReaderAt
	size     int64
	info     Info
	findings []finding.Finding
	sound    bool // up to here no finding is an error
}

func (p *parser) report(code finding.Code, offset int64, msg string, args ...any) {
	r := rules[code]
	f := finding.Finding{
		Code: code, Severity: r.severity, Message: fmt.Sprintf(msg, args...), Hint: r.hint,
		Record: -1, Offset: offset, Place: fmt.Sprintf("file at byte 0x%x", offset),
	}
	p.sound = p.sound && f.Severity != finding.Error
	p.findings = append(p.findings, f)
}

// parse looks at everything but the texels. The error is one of reading.
func (p *parser) parse() error {
	p.sound = true
	var head [HeaderSize]byte
	if p.size < HeaderSize {
		p.report(CodeTruncated, 0, "%d bytes, the header has %d", p.size, HeaderSize)
		return nil
	}
	if err := readFull(p.src, head[:], 0); err != nil {
		return err
	}
	u := func(at int) uint32 { return binary.LittleEndian.Uint32(head[at:]) }
	if string(head[:8]) != Magic {
		p.report(CodeMagic, 0, "the file begins with %q", head[:8])
		return nil
	}
	if v := u(8); v != Version {
		p.report(CodeVersion, 8, "version %d, this reads %d", v, Version)
		return nil
	}
	p.checkHeader(u, head)
	if !p.sound {
		return nil
	}
	levels := int(u(24))
	table := make([]byte, EntrySize*levels)
	if p.size < HeaderSize+int64(len(table)) {
		p.report(CodeTruncated, HeaderSize, "%d bytes, header and table of %d levels have %d", p.size, levels, HeaderSize+len(table))
		return nil
	}
	if err := readFull(p.src, table, HeaderSize); err != nil {
		return err
	}
	p.checkLevels(table, int64(u(36)), int64(u(40)))
	return nil
}

// checkHeader judges the fields in the order of the reference engine's reader.
func (p *parser) checkHeader(u func(int) uint32, head [HeaderSize]byte) {
	p.info = Info{Format: PixelFormat(u(28)), Flags: Flags(u(12))}
	if n := u(24); n == 0 {
		p.report(CodeLevelCount, 24, "no levels")
	}
	bw, bh := int(head[32]), int(head[33])
	block, known := p.info.Format.Block()
	switch {
	case bw == 0 || bh == 0:
		p.report(CodeBlock, 32, "blocks of %d x %d texels", bw, bh)
	case !known:
		p.report(CodePixelFormat, 28, "pixel format %d", u(28))
	case bw != block.Width || bh != block.Height:
		p.report(CodeBlock, 32, "blocks of %d x %d texels, %v has %d x %d", bw, bh, p.info.Format, block.Width, block.Height)
	case !p.info.Format.EngineReads():
		p.report(CodeEngine, 28, "the reference engine does not load %v", p.info.Format)
	}
	w, h := u(16), u(20)
	switch {
	case w == 0 || h == 0 || w > MaxEdge || h > MaxEdge:
		p.report(CodeSize, 16, "%d x %d texels", w, h)
	case u(24) > uint32(FullChain(int(w), int(h))):
		p.report(CodeLevelCount, 24, "%d levels, %d x %d texels have %d", u(24), w, h, FullChain(int(w), int(h)))
	default:
		p.info.Width, p.info.Height = int(w), int(h)
		if full := FullChain(int(w), int(h)); known && block.Width > 1 && u(24) > 0 && int(u(24)) < full {
			p.report(CodeChain, 24, "%d levels of %d", u(24), full)
		}
	}
	if extra := p.info.Flags &^ knownFlags; extra != 0 {
		p.report(CodeFlags, 12, "flags 0x%x", uint32(extra))
	}
	reserved := append(slices.Clone(head[34:36]), head[44:64]...)
	if slices.ContainsFunc(reserved, func(b byte) bool { return b != 0 }) {
		p.report(CodeReserved, 34, "reserved bytes are not 0")
	}
}

// checkLevels judges the table. Every sum is of 32-bit numbers in 64 bits.
func (p *parser) checkLevels(table []byte, start, total int64) {
	behind := HeaderSize + int64(len(table))
	switch {
	case start < behind:
		p.report(CodeLayout, 36, "the payload begins at byte %d, inside the table that ends at %d", start, behind)
		return
	case start+total > p.size:
		p.report(CodeLayout, 40, "the payload ends at byte %d, the file at %d", start+total, p.size)
		return
	case start+total < p.size:
		p.report(CodeTrailing, start+total, "%d bytes behind the payload", p.size-start-total)
	}
	block, _ := p.info.Format.Block()
	for i := range len(table) / EntrySize {
		at := HeaderSize + int64(EntrySize*i)
		u := func(k int) int64 { return int64(binary.LittleEndian.Uint32(table[EntrySize*i+4*k:])) }
		offset, size, w, h := u(0), u(1), u(2), u(3)
		l := Level{Width: levelSize(p.info.Width, i), Height: levelSize(p.info.Height, i), Offset: start + offset, Size: size}
		switch want := block.Size(l.Width, l.Height); {
		case w != int64(l.Width) || h != int64(l.Height):
			p.report(CodeLevelSize, at+8, "level %d is %d x %d texels, it follows from the first that it is %d x %d", i, w, h, l.Width, l.Height)
		case size != want:
			p.report(CodeLevelSize, at+4, "level %d has %d bytes, %d x %d texels of %v have %d", i, size, w, h, p.info.Format, want)
		case offset+size > total:
			p.report(CodeLevelBounds, at, "level %d ends at byte %d of a payload of %d", i, offset+size, total)
		case l.Offset%Alignment != 0:
			p.report(CodeAlignment, at, "level %d begins at byte %d of the file", i, l.Offset)
		}
		p.info.Levels = append(p.info.Levels, l)
	}
	p.checkOverlap()
}

// byOffset orders levels as they lie in the file.
func byOffset(a, b Level) int { return cmp.Compare(a.Offset, b.Offset) }

func (p *parser) checkOverlap() {
	order := slices.Clone(p.info.Levels)
	slices.SortStableFunc(order, byOffset)
	for i := 1; i < len(order); i++ {
		if a, b := order[i-1], order[i]; a.Offset+a.Size > b.Offset {
			p.report(CodeOverlap, b.Offset, "the levels of %d x %d and %d x %d texels overlap", a.Width, a.Height, b.Width, b.Height)
		}
	}
}

// failure returns the first finding that is an error.
func (p *parser) failure() error {
	for _, f := range p.findings {
		if f.Severity == finding.Error {
			return &format.Error{Finding: f}
		}
	}
	return nil
}

// readFull reads exactly len(b) bytes at off.
func readFull(src io.ReaderAt, b []byte, off int64) error {
	n, err := src.ReadAt(b, off)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return fmt.Errorf("utex: reading %d bytes at %d: %w", len(b), off, io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("utex: reading %d bytes at %d: %w", len(b), off, err)
}
