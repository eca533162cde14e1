package format

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/filemap"
)

// ValidateOptions changes what Validate looks at.
type ValidateOptions struct {
	Limits Limits
	// MaxPerCode is how many findings of one code are listed; the rest is
	// counted by one finding "findings-suppressed". 0 means 100, negative all.
	MaxPerCode int
	// SkipHash leaves the content hash alone (range reads of remote files).
	SkipHash bool
	// leastWork replaces leastWork in tests.
	leastWork uint64
	// SkipGeometry leaves vertex and index values alone.
	SkipGeometry bool
}

const defaultMaxPerCode = 100

// Report is what Validate found.
type Report struct {
	Findings []finding.Finding // in the order of the file's parts
	Errors   int
	Warnings int
	Infos    int
}

// OK reports whether there is no finding of severity error.
func (r *Report) OK() bool { return r.Errors == 0 }

// ValidateFile validates the file at path, and looks for its textures beside
// it. The error is about reading; what is wrong with the content is in the
// report.
func ValidateFile(path string, opts ValidateOptions) (*Report, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("untold: %s is not a regular file", path)
	}
	if mem, unmap, err := filemap.Whole(f, st.Size()); err == nil {
		defer unmap()
		return validate(nil, mem, st.Size(), filepath.Dir(path), opts), nil
	}
	return validate(f, nil, st.Size(), filepath.Dir(path), opts), nil
}

// Validate judges a container of size bytes and collects every finding it can
// still reach: structure, strings, records, references, hierarchy, boxes,
// geometry, layout and hash. It never fails; a read error is a finding.
func Validate(src io.ReaderAt, size int64, opts ValidateOptions) *Report {
	return validate(src, nil, size, "", opts)
}

// validate judges a file; dir is the folder in which its textures are looked
// for, empty when there is none.
func validate(src io.ReaderAt, mem []byte, size int64, dir string, opts ValidateOptions) *Report {
	_, r := examine(src, mem, size, dir, opts)
	return r
}

// examine is validate, with what was read on the way.
func examine(src io.ReaderAt, mem []byte, size int64, dir string, opts ValidateOptions) (parser, *Report) {
	if mem == nil && src == nil {
		mem = []byte{}
	}
	p := &parser{
		src: src, mem: mem, size: uint64(max(size, 0)), limits: opts.Limits,
		perCode: map[finding.Code]int{}, maxCode: opts.MaxPerCode,
	}
	if p.maxCode == 0 {
		p.maxCode = defaultMaxPerCode
	}
	if p.parse() {
		p.checkHeader()
		p.checkLayout()
		p.checkTrailing()
		p.checkPortability()
		p.checkEntityValues()
		p.checkMeshOwners()
		p.checkMaterialValues()
		p.checkTextureValues(dir)
		p.checkUnnamedStrings()
		if opts.SkipGeometry {
			p.checkMeshRanges()
		} else {
			p.checkGeometry(cmp.Or(opts.leastWork, leastWork))
		}
		if !opts.SkipHash {
			p.checkHash()
		}
	}
	return *p, p.reportOf()
}

// reportOf counts and adds one line per code that was cut.
func (p *parser) reportOf() *Report {
	r := &Report{Findings: p.findings}
	var cut []finding.Code
	for c, n := range p.perCode {
		switch rules[c].severity {
		case finding.Error:
			r.Errors += n
		case finding.Warning:
			r.Warnings += n
		default:
			r.Infos += n
		}
		if p.maxCode > 0 && n > p.maxCode {
			cut = append(cut, c)
		}
	}
	slices.SortFunc(cut, func(a, b finding.Code) int { return cmp.Compare(a, b) })
	for _, c := range cut {
		r.Findings = append(r.Findings, inFile(-1).finding(codeFindingsSuppressed, fmt.Sprintf("%d more findings %s", p.perCode[c]-p.maxCode, c)))
	}
	return r
}

// checkHeader compares the header with the tables and judges its fixed fields.
func (p *parser) checkHeader() {
	h := &p.header
	if h.HeaderSize != records.HeaderSize {
		p.report(codeHeaderSize, inFile(20), "header size %d instead of %d", h.HeaderSize, records.HeaderSize)
	}
	for _, c := range []struct {
		t     ChunkType
		count uint32
		off   int64
	}{
		{ChunkMeshes, h.MeshCount, 28},
		{ChunkMaterials, h.MaterialCount, 32},
		{ChunkTextures, h.TextureCount, 36},
		{ChunkEntities, h.EntityCount, 40},
	} {
		if i := p.index[c.t]; i >= 0 && p.chunks[i].ElementCount != c.count {
			p.report(codeHeaderCount, inFile(c.off), "the header counts %d records of %s, the table %d", c.count, c.t, p.chunks[i].ElementCount)
		}
	}
	if h.Flags != 0 {
		p.report(codeReserved, inFile(16), "header flags are 0x%x", h.Flags)
	}
	if h.Reserved0 != 0 {
		p.report(codeReserved, inFile(48), "reserved word is 0x%x", h.Reserved0)
	}
	if h.Reserved1 != [32]byte{} {
		p.report(codeReserved, inFile(172), "reserved bytes are not zero")
	}
	if !finite(h.RootTransform[:]...) {
		p.report(codeNotFinite, inFile(76), "the root transform is not finite")
	} else if h.RootTransform != identity {
		p.report(codeRootTransform, inFile(76), "the root transform is not the identity")
	}
	for i, c := range p.chunks {
		if c.Reserved0 != 0 {
			p.report(codeReserved, inChunk(c.Type, entryOffset(i)+36), "reserved word of the table entry is 0x%x", c.Reserved0)
		}
	}
}

// checkPortability tells what the reference engine would not load or would
// read differently.
func (p *parser) checkPortability() {
	if v := p.header.FormatVersion; v > Version {
		p.report(codeNewerVersion, inFile(8), "format version %d", v)
	}
	for i, c := range p.chunks {
		at := inChunk(c.Type, entryOffset(i)+4)
		switch {
		case !c.Type.required():
			p.report(codeUnknownChunk, inChunk(c.Type, entryOffset(i)), "chunk type %d (%s) of %d bytes", uint32(c.Type), c.Type, c.CompressedSize)
			continue
		case c.Compression != CompressNone && c.UncompressedSize == 0:
			p.report(codeEmptyCompressed, at, "%s is empty and compressed with %s", c.Type, c.Compression)
		case c.Compression == CompressZstd:
			p.report(codeZstd, at, "%s is compressed with zstd", c.Type)
		case c.Compression == CompressDelta:
			p.report(codeDelta, at, "%s is compressed with delta", c.Type)
		case c.Compression != CompressNone && !c.Type.isGeometry():
			p.report(codeMetadataCompressed, at, "%s is compressed with %s", c.Type, c.Compression)
		}
		if c.Type.recordSize(p.header.FormatVersion) == 0 && c.ElementCount != 0 {
			p.report(codeElementCount, inChunk(c.Type, entryOffset(i)+32), "element count %d of a chunk without records", c.ElementCount)
		}
	}
}

// checkHash compares the content hash; it needs every payload inside the file.
func (p *parser) checkHash() {
	if p.header.ContentHash == [hashSize]byte{} {
		p.report(codeHashZero, inFile(hashOffset), "the content hash is all zero, damage would go unnoticed")
		return
	}
	if p.perCode[codeChunkBounds] > 0 {
		return
	}
	sum, err := p.contentHash()
	if err != nil {
		p.report(codeReadFailed, inFile(hashOffset), "hashing: %v", err)
	} else if sum != p.header.ContentHash {
		p.report(codeHashMismatch, inFile(hashOffset), "stored hash %x, content hash %x", p.header.ContentHash, sum)
	}
}
