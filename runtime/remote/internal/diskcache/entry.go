package diskcache

import (
	"time"

	"github.com/untoldkit/untold/runtime/remote/internal/weburl"
)

const (
	// maxValidator is the longest ETag or Last-Modified kept, in bytes.
	maxValidator = 1024
	// maxFile bounds the sizes that an index may name, so that sums fit.
	maxFile = 1 << 46
)

// Entry describes one file of a Cache.
type Entry struct {
	Name         string    `json:"name"` // relative to the folder, with slashes
	URL          string    `json:"url"`  // "" when unknown
	Size         int64     `json:"size"`
	SHA256       string    `json:"sha256"` // lower-case hex; "" when not known yet
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"` // as the server sent it
	CachedAt     time.Time `json:"cached_at"`
	LastAccess   time.Time `json:"last_access"`
	ModTime      int64     `json:"mod_time"` // of the file, nanoseconds of Unix time
	// Old says that the manifest of its scene has changed since it came.
	Old bool `json:"old,omitempty"`
	// Whole is the size of a file of which only parts are here, else 0. Size is
	// that of the parts then, and SHA256 what the manifest declares of the whole.
	Whole int64 `json:"whole,omitempty"`
}

// Validator returns a header of a server that is fit to be kept and sent back, ""
// for any other.
func Validator(v string) string {
	for i := range len(v) {
		if v[i] < 0x20 || v[i] >= 0x7f {
			return ""
		}
	}
	if len(v) > maxValidator {
		return ""
	}
	return v
}

func (e *Entry) valid() bool {
	if isPartial(e.Name) != (e.Whole > 0) || e.Whole < 0 || e.Whole > maxFile || e.Whole > 0 && e.Size > e.Whole {
		return false
	}
	return validName(e.Name) && e.Size >= 0 && e.Size <= maxFile && (e.SHA256 == "" || isKey(e.SHA256)) &&
		len(e.URL) <= weburl.MaxBytes && len(e.ETag) <= maxValidator && len(e.LastModified) <= maxValidator
}

// sameVersion reports whether two partial files are of one version of a file, as far
// as server and manifest say.
func (e *Entry) sameVersion(o *Entry) bool {
	return e.Whole == o.Whole && e.ETag == o.ETag && e.LastModified == o.LastModified && e.SHA256 == o.SHA256
}

// Stat sums a Cache up.
type Stat struct {
	Dir          string `json:"dir"`
	Files        int    `json:"files"`
	Bytes        int64  `json:"bytes"`
	Budget       int64  `json:"budget"`
	Textures     int    `json:"textures"` // of Files
	TextureBytes int64  `json:"texture_bytes"`
	Partial      int    `json:"partial"`       // of Files: those of which only parts are here
	PartialBytes int64  `json:"partial_bytes"` // of these parts
	PartialWhole int64  `json:"partial_whole"` // what those files are as a whole
	Evictions    int64  `json:"evictions"`     // by this Cache
}

// Damage is a file that Verify found to be not what was stored.
type Damage struct {
	Entry  Entry  `json:"entry"`
	Reason string `json:"reason"`
}
