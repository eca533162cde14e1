// Package remotetest holds what the tests of package remote and those of its
// cache share: contents of files that show what was done to them, and hostile
// addresses. It is for tests alone.
package remotetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// HostileURIs are texture URIs that lead out of their container's folder, or are
// no relative paths.
var HostileURIs = []string{
	"../x.png", "a/../../x.png", "/etc/passwd", `C:\x.png`, `..\x.png`, "file:///etc/passwd", "a/%2e%2e/%2e%2e/x.png", "a\x00b.png",
	"%2e%2e/x.png", "%252e%252e/x.png", "a/%2E%2E%2f%2e%2e/x.png", "..%2fx.png", "..%5cx.png", "%2fetc/passwd", "c:x.png", "https://evil/x.png",
	"//evil/x.png", "..", ".", "a/..", "a/...", "a/ ../x.png", "x.png:stream", "a\nb.png", "a%00b.png", "data:image/png;base64,AA==",
}

// Body is the content of a file of n bytes.
func Body(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * i >> 3)
	}
	return b
}

// Sealed is version of file i, with size bytes behind its head: a content that
// carries its own hash, so that any half or mixed file shows.
func Sealed(i, version, size int) []byte {
	body := make([]byte, sha256.Size+8+size)
	binary.LittleEndian.PutUint32(body[sha256.Size:], uint32(i))
	binary.LittleEndian.PutUint32(body[sha256.Size+4:], uint32(version))
	for k := range size {
		body[sha256.Size+8+k] = byte(k * (version + 1))
	}
	sum := sha256.Sum256(body[sha256.Size:])
	copy(body, sum[:])
	return body
}

// Unbroken reports whether a content is one version of file i as Sealed made it.
func Unbroken(body []byte, i int) bool {
	if len(body) < sha256.Size+8 || binary.LittleEndian.Uint32(body[sha256.Size:]) != uint32(i) {
		return false
	}
	sum := sha256.Sum256(body[sha256.Size:])
	return bytes.Equal(sum[:], body[:sha256.Size])
}

// HashOf is the SHA-256 of data in lower-case hex.
func HashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// ETagOf is an ETag that tells contents apart.
func ETagOf(data []byte) string { return `"` + HashOf(data)[:16] + `"` }

// Text returns the content of a file.
func Text(t testing.TB, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Files lists the plain files below a folder, with slashes, but those that every cache
// has.
func Files(t testing.TB, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if !slices.Contains([]string{".lock", ".users", "index.log", "untold-cache", "CACHEDIR.TAG"}, filepath.Base(rel)) {
			list = append(list, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return list
}

// Temporary returns those files that are not final.
func Temporary(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !strings.HasSuffix(s, ".tmp") })
}
