package publish

import (
	"bytes"
	"compress/gzip"
	"path"
	"strings"

	"github.com/untoldkit/untold/cook/internal/publication"
)

// packedEnding is how the names of compressed manifests end.
const packedEnding = ".json.gz"

// pack compresses the text of a manifest, most of which repeats. The page reads it in place of
// the manifest, which so comes compressed from servers that send files as they are; all other
// readers read the manifest.
func (s *scene) pack() {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // a level that there is
	_, _ = z.Write(s.text)                                  // a buffer takes all
	_ = z.Close()
	sha := hashOf(out.Bytes())
	s.packed = &file{source: s.manifest, rel: path.Base(s.manifest), size: int64(out.Len()), sha: sha, key: s.payloads() + sha + packedEnding, content: out.Bytes()}
}

// isPacked reports whether a key is that of a scene's compressed manifest.
func isPacked(manifest, key string) bool {
	rest, ok := strings.CutPrefix(key, publication.Payloads(manifest))
	return ok && strings.HasSuffix(rest, packedEnding) && !strings.Contains(rest, "/")
}
