package diskcache

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/manifest/payloadpath"
)

const (
	texturesDir   = "textures"
	sidecarSuffix = ".meta"
	tempSuffix    = ".tmp"
	partialSuffix = ".part"
	mapSuffix     = ".have"
)

// reservedExtensions are those of the files that the cache makes for itself.
var reservedExtensions = []string{sidecarSuffix, tempSuffix, partialSuffix, mapSuffix}

// key is the lower-case hex SHA-256 of an address, query included.
func key(u *url.URL) string {
	sum := sha256.Sum256([]byte(u.String()))
	return hex.EncodeToString(sum[:])
}

// Name returns the name that the file at an address has in a cache: the key of the
// address and the extension of its path. Extensions that the cache uses itself, and
// those that are no plain short word, are left out.
func Name(u *url.URL) string {
	ext := strings.TrimPrefix(path.Ext(u.Path), ".")
	if !plainWord(ext, 16) || isReserved(ext) {
		return key(u)
	}
	return key(u) + "." + ext
}

// TextureFolder returns the folder of a cache, with slashes, in which the texture
// URIs of the containers in the folder at an address resolve. Its name is a hash,
// so that the depth of a server's paths costs no folders here.
func TextureFolder(folder *url.URL) string { return texturesDir + "/" + key(folder)[:32] }

// TextureName returns the name of a texture: its URI below the TextureFolder of its
// container. The URI comes from outside; one that is no plain path below that folder
// is a *payloadpath.Error.
func TextureName(folder, uri string) (string, error) {
	if err := checkTextureURI(uri); err != nil {
		return "", err
	}
	name := path.Join(folder, uri)
	if !validName(name) {
		return "", &payloadpath.Error{Path: uri, Reason: "is no name for the cache"}
	}
	return name, nil
}

// checkTextureURI refuses texture URIs that are no plain paths below the folder of
// their container, also after somebody on the way has undone percent encoding.
func checkTextureURI(uri string) error {
	if why := records.URIEscape(uri); why != "" {
		return &payloadpath.Error{Path: uri, Reason: why}
	}
	for range 3 {
		if err := payloadpath.Check(uri); err != nil {
			return err
		}
		plain, err := url.PathUnescape(uri)
		if err != nil || plain == uri {
			break
		}
		uri = plain
	}
	if !filepath.IsLocal(filepath.FromSlash(uri)) {
		return &payloadpath.Error{Path: uri, Reason: "is no plain file name on this system"}
	}
	return nil
}

// validName reports whether a name is one that the cache gives: a key with a plain
// extension, either with partialSuffix, or a path in the tree of textures.
func validName(name string) bool {
	if rest, ok := strings.CutPrefix(name, texturesDir+"/"); ok {
		folder, rel, ok := strings.Cut(rest, "/")
		return ok && len(folder) == 32 && isKey(folder+folder) && fs.ValidPath(rel) && checkTextureURI(rel) == nil
	}
	stem, ext, dotted := strings.Cut(strings.TrimSuffix(name, partialSuffix), ".")
	return isKey(stem) && (!dotted || plainWord(ext, 16) && !isReserved(ext))
}

func isTexture(name string) bool { return strings.HasPrefix(name, texturesDir+"/") }

// isCookedTexture reports whether a name is that of a texture which comes in parts and
// lies with the payloads.
func isCookedTexture(name string) bool {
	ext := path.Ext(strings.TrimSuffix(name, partialSuffix))
	return strings.EqualFold(ext, ".utex") || strings.EqualFold(ext, ".ktx2")
}

// isPartial reports whether a name is that of a partial file; textures are never
// partial.
func isPartial(name string) bool { return strings.HasSuffix(name, partialSuffix) && !isTexture(name) }

// partialName is the name that a file has while only parts of it are here.
func partialName(name string) string { return name + partialSuffix }

// wholeName is the name that a partial file gets when it is complete.
func wholeName(partial string) string { return strings.TrimSuffix(partial, partialSuffix) }

// sidecarName returns the name of the file beside a file: the block map of a partial
// file, "" for textures, which have none, and else the sidecar.
func sidecarName(name string) string {
	if isPartial(name) {
		return wholeName(name) + mapSuffix
	}
	if stem, _, _ := strings.Cut(name, "."); isKey(stem) {
		return stem + sidecarSuffix
	}
	return ""
}

func isReserved(ext string) bool {
	return slices.ContainsFunc(reservedExtensions, func(s string) bool { return strings.EqualFold(s, "."+ext) })
}

// plainWord reports whether s has 1 to limit ASCII letters or digits only.
func plainWord(s string, limit int) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return s != "" && len(s) <= limit
}

func isKey(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size && s == strings.ToLower(s)
}
