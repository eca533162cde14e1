package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// file is a payload file that a manifest names.
type file struct {
	at, entry string // pointers of the path and of the entry around it
	path      string // checked by CheckPath
	size      int64
	sha       string // "" when not declared
	declared  bool   // size is declared
}

// checkFiles compares the declarations with the files.
func (v *validator) checkFiles() {
	dir := v.dir
	if dir == "" {
		dir = "."
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		v.add(CodeFileAccess, "", "the manifest's folder: %v", err)
		return
	}
	defer root.Close()
	buf := make([]byte, 256<<10)
	for i := range v.files {
		v.checkFile(root, dir, &v.files[i], buf)
	}
}

func (v *validator) checkFile(root *os.Root, dir string, f *file, buf []byte) {
	in, err := openIn(root, dir, f.path)
	switch {
	case errors.Is(err, ErrEscapes):
		v.path(err, f.at)
		return
	case errors.Is(err, fs.ErrNotExist):
		v.add(CodeFileMissing, f.at, "there is no file %s", clip(f.path, 200))
		return
	case err != nil:
		v.add(CodeFileAccess, f.at, "%v", err)
		return
	}
	defer in.Close()
	info, err := in.Stat()
	switch {
	case err != nil:
		v.add(CodeFileAccess, f.at, "%v", err)
		return
	case f.declared && f.size >= 0 && info.Size() != f.size:
		v.add(CodeFileSize, f.entry+"/file_size_bytes", "%s has %d bytes, the manifest says %d",
			clip(f.path, 200), info.Size(), f.size)
		return // the hash differs too
	}
	if f.sha == "" || v.opts.SkipHashes {
		return
	}
	sum, err := hashFile(in, buf)
	if err != nil {
		v.add(CodeFileAccess, f.at, "%v", err)
	} else if sum != f.sha {
		v.add(CodeFileHash, f.entry+"/sha256", "%s has the hash %s, the manifest says %s", clip(f.path, 200), sum, f.sha)
	}
}

// HashFile returns the size and the SHA-256, in lower-case hexadecimal digits,
// of a payload file, as the manifest declares them. It reads the file in
// pieces.
func HashFile(path string) (size int64, sum string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", fmt.Errorf("manifest: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if size, err = io.Copy(h, f); err != nil {
		return 0, "", fmt.Errorf("manifest: hash %s: %w", path, err)
	}
	return size, hex.EncodeToString(h.Sum(nil)), nil
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
