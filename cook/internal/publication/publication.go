// Package publication is what a place of published scenes keeps about its versions.
package publication

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/internal/blob"
)

// Folder is where records lie, as the beginning of keys. Names that begin with a dot
// are not served by untold serve, and no program looks for scenes there.
const Folder = ".untold/publish/"

// What records say of themselves.
const (
	kind   = "untold-publication"
	format = 1
)

// ErrDamaged is matched by errors about records that are not what was written.
var ErrDamaged = errors.New("the record is damaged, or of another version of untold")

var (
	recordName = regexp.MustCompile(`^v([0-9]{6,9})\.json$`)
	hexName    = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// Version is what was published at a time: which manifests and which files.
type Version struct {
	Kind   string `json:"kind"`
	Format int    `json:"format"`
	Number int    `json:"version"`
	// Export says that the place is a folder that an export made, which holds this version
	// and nothing else. A place that is published to has none that says so, or older ones.
	Export bool    `json:"export,omitempty"`
	Scenes []Scene `json:"scenes"` // by manifests
	// Viewer are the files of the page that shows the scenes, but for those that lie
	// beside the manifests; nil where there is none.
	Viewer []File `json:"viewer,omitempty"`
	// Front are the files beside the manifests that lead to the page, as they were
	// written, but for the list of scenes: what has another hash somebody has changed.
	Front []File `json:"front,omitempty"`
}

// Scene is a manifest and what it names, with keys of the place.
type Scene struct {
	Manifest string `json:"manifest"`
	SHA256   string `json:"sha256"`
	Size     int64  `json:"size"`
	Files    []File `json:"files"` // by keys
}

// File is a payload.
type File struct {
	Key    string `json:"key"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// ViewerFolder is how the folders of a page's files begin, as the beginning of keys.
const ViewerFolder = "payloads/viewer-"

// Payloads returns the prefix of the keys of a manifest's payloads.
func Payloads(manifest string) string { return path.Join(path.Dir(manifest), "payloads") + "/" }

// Key returns where the record of a version lies.
func Key(number int) string { return fmt.Sprintf("%sv%06d.json", Folder, number) }

// Number returns the version whose record a key is that of.
func Number(key string) (int, bool) {
	m := recordName.FindStringSubmatch(strings.TrimPrefix(key, Folder))
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	return n, err == nil && n > 0 && Key(n) == key
}

// ManifestKey returns where the copy of a manifest lies.
func ManifestKey(sha256 string) string { return Folder + sha256 + ".json" }

// Keys returns the keys of all that a version consists of, its record among them, but
// for the files of Front and the list of scenes, which people may change.
func (v *Version) Keys() []string {
	out := []string{Key(v.Number)}
	for _, f := range v.Viewer {
		out = append(out, f.Key)
	}
	for i := range v.Scenes {
		s := &v.Scenes[i]
		out = append(out, s.Manifest, ManifestKey(s.SHA256))
		for _, f := range s.Files {
			out = append(out, f.Key)
		}
	}
	return out
}

// IsManifestKey reports whether a key is one that ManifestKey returns.
func IsManifestKey(key string) bool {
	name, ok := strings.CutSuffix(strings.TrimPrefix(key, Folder), ".json")
	return ok && strings.HasPrefix(key, Folder) && hexName.MatchString(name)
}

// Encode returns the text of the record.
func (v *Version) Encode() ([]byte, error) {
	out := *v
	out.Kind, out.Format = kind, format
	data, err := json.Marshal(&out)
	return append(data, '\n'), err
}

// Parse reads the record of a version. It names nothing but manifests and payloads
// beside them. The error matches ErrDamaged.
func Parse(data []byte, number int) (*Version, error) {
	v := &Version{}
	if err := json.Unmarshal(data, v); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", Key(number), ErrDamaged, err)
	}
	if v.Kind != kind || v.Format != format || v.Number != number || slices.ContainsFunc(v.Scenes, func(s Scene) bool { return !s.sound() }) || !below(v.Viewer, ViewerFolder) ||
		!below(v.Front, "") || slices.ContainsFunc(v.Front, func(f File) bool { return strings.Contains(f.Key, "/") }) {
		return nil, fmt.Errorf("%s: %w", Key(number), ErrDamaged)
	}
	return v, nil
}

func (s *Scene) sound() bool {
	if blob.CheckKey(s.Manifest) != nil || !hexName.MatchString(s.SHA256) {
		return false
	}
	return below(s.Files, Payloads(s.Manifest))
}

// below reports whether files are sound and lie below a prefix.
func below(files []File, prefix string) bool {
	return !slices.ContainsFunc(files, func(f File) bool {
		return blob.CheckKey(f.Key) != nil || !strings.HasPrefix(f.Key, prefix) || f.Size < 0 || !hexName.MatchString(f.SHA256)
	})
}

// Same reports whether two versions consist of the same; nil is none.
func (v *Version) Same(other *Version) bool {
	return other != nil && v.Export == other.Export && slices.Equal(v.Viewer, other.Viewer) && slices.Equal(v.Front, other.Front) && slices.EqualFunc(v.Scenes, other.Scenes, func(a, b Scene) bool {
		return a.Manifest == b.Manifest && a.SHA256 == b.SHA256 && a.Size == b.Size && slices.Equal(a.Files, b.Files)
	})
}

// Carry takes over the scenes of an older version that this one does not have, and its
// page when this one has none.
func (v *Version) Carry(last *Version) {
	if last != nil {
		if v.Viewer == nil {
			v.Viewer, v.Front = last.Viewer, last.Front
		}
		for _, s := range last.Scenes {
			if !slices.ContainsFunc(v.Scenes, func(own Scene) bool { return own.Manifest == s.Manifest }) {
				v.Scenes = append(v.Scenes, s)
			}
		}
	}
	slices.SortFunc(v.Scenes, func(a, b Scene) int { return strings.Compare(a.Manifest, b.Manifest) })
}
