package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/untoldkit/untold/cook/verify"
	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/internal/plainfile"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/remote"
)

// Pages that reports for machines lead to.
const (
	homePage     = "https://github.com/untoldkit/untold"
	findingsPage = homePage + "/blob/main/docs/findings.md"
	budgetsPage  = homePage + "/blob/main/docs/budgets.md"
)

// budgetPlace returns the path that stands for the scene that budgets judge: the first
// manifest, else the first file.
func budgetPlace(r *verify.Report) string {
	for i := range r.Files {
		name, _, _ := strings.Cut(r.Files[i].Path, "?")
		if strings.EqualFold(filepath.Ext(name), ".json") {
			return r.Files[i].Path
		}
	}
	if len(r.Files) == 0 {
		return "."
	}
	return r.Files[0].Path
}

// lines is the text of a file whose places have lines, nil for others.
type lines struct {
	text []byte
	ends []int // how many lines end before each block of the text
}

// lineBlock is the size of a block in bytes: findings may be many, and texts long.
const lineBlock = 64 << 10

// linesOf reads a manifest in which something was found. What cannot be read, such as
// the copy of what an address has, has no lines.
func linesOf(f *verify.File) lines {
	if !strings.EqualFold(filepath.Ext(f.Path), ".json") || remote.IsURL(f.Path) {
		return lines{}
	}
	text, err := plainfile.Read(f.Path, manifest.MaxBytes)
	if err != nil {
		return lines{}
	}
	l := lines{text: text}
	n := 0
	for block := range slices.Chunk(text, lineBlock) {
		l.ends = append(l.ends, n)
		n += bytes.Count(block, []byte{'\n'})
	}
	return l
}

// at returns the line and the column, both from 1, of a byte. Of files without lines
// they are 1: readers of reports want a line.
func (l lines) at(offset int64) (line, column int) {
	if offset < 0 || len(l.text) == 0 {
		return 1, 1
	}
	before := l.text[:min(offset, int64(len(l.text)))]
	block := min(len(before)/lineBlock, len(l.ends)-1)
	start := bytes.LastIndexByte(before, '\n') + 1
	return l.ends[block] + bytes.Count(before[block*lineBlock:], []byte{'\n'}) + 1, utf8.RuneCount(before[start:]) + 1
}

// sarifURI is a path as the reference that SARIF wants.
func sarifURI(path string) string {
	if remote.IsURL(path) {
		return path
	}
	u := url.URL{Path: filepath.ToSlash(path)}
	return u.EscapedPath()
}

// fingerprints counts findings that are alike in a report.
type fingerprints map[string]int

// of returns what tells a finding from others and stays the same when a file is made
// anew: it holds no numbers of the message and no place in the file's bytes.
func (p fingerprints) of(path string, x finding.Finding) string {
	what := fmt.Sprintf("%q %q %q %d %q", filepath.ToSlash(path), x.Code, x.Chunk, x.Record, x.Pointer)
	p[what]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", what, p[what]))
	return hex.EncodeToString(sum[:16])
}
