package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/manifest/payloadpath"
)

// file is a payload file that a manifest names.
type file struct {
	at, entry string // pointers of the path and of the entry around it
	path      string // checked by payloadpath.Check
	size      int64
	sha       string // "" when not declared
	declared  bool   // size is declared
}

// checkFiles compares the declarations with the files, several at a time: the
// hashes take long. The findings keep the order of the manifest.
func (v *validator) checkFiles() {
	dir := v.dir
	if dir == "" {
		dir = "."
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		v.add(codeFileAccess, "", "the manifest's folder: %v", err)
		return
	}
	defer root.Close()
	found := make([]*finding.Finding, len(v.files))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(v.files)) {
		workers.Go(func() {
			c := fileChecker{root: root, dir: dir, skipHashes: v.opts.SkipHashes, buf: make([]byte, 256<<10)}
			for {
				i := int(next.Add(1)) - 1
				if i >= len(found) {
					return
				}
				found[i] = c.check(&v.files[i])
			}
		})
	}
	workers.Wait()
	for _, f := range found {
		if f != nil {
			v.findings = append(v.findings, *f)
		}
	}
}

// fileChecker is one worker of checkFiles.
type fileChecker struct {
	root       *os.Root
	dir        string
	skipHashes bool
	buf        []byte
}

// check returns what is wrong with a file, nil when nothing is.
func (c *fileChecker) check(f *file) *finding.Finding {
	report := func(code finding.Code, pointer, format string, args ...any) *finding.Finding {
		x := newFinding(code, pointer, -1, fmt.Sprintf(format, args...))
		return &x
	}
	in, err := payloadpath.OpenIn(c.root, c.dir, f.path)
	switch {
	case errors.Is(err, payloadpath.ErrEscapes):
		x := pathFinding(err, f.at)
		return &x
	case errors.Is(err, fs.ErrNotExist):
		return report(codeFileMissing, f.at, "there is no file %s", human.Clip(f.path, 200))
	case err != nil:
		return report(codeFileAccess, f.at, "%v", err)
	}
	defer in.Close()
	info, err := in.Stat()
	switch {
	case err != nil:
		return report(codeFileAccess, f.at, "%v", err)
	case f.declared && f.size >= 0 && info.Size() != f.size:
		// The hash differs too.
		return report(codeFileSize, f.entry+"/file_size_bytes", "%s has %d bytes, the manifest says %d",
			human.Clip(f.path, 200), info.Size(), f.size)
	}
	if f.sha == "" || c.skipHashes {
		return nil
	}
	sum, err := hashFile(in, c.buf)
	switch {
	case err != nil:
		return report(codeFileAccess, f.at, "%v", err)
	case sum != f.sha:
		return report(codeFileHash, f.entry+"/sha256", "%s has the hash %s, the manifest says %s", human.Clip(f.path, 200), sum, f.sha)
	}
	return nil
}

// hashFile returns the SHA-256 of the rest of r.
func hashFile(r io.Reader, buf []byte) (string, error) {
	h := sha256.New()
	// The wrappers hide ReadFrom and WriteTo, so that buf is used.
	if _, err := io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{r}, buf); err != nil {
		return "", fmt.Errorf("manifest: hash: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
