package records

import (
	"net/url"
	"path"
	"strings"

	"github.com/untoldkit/untold/internal/human"
)

// TextureFormat describes the file behind a texture reference.
type TextureFormat uint32

// The texture formats. Unknown is right for PNG and JPEG; the ASTC and float
// formats mean a cooked texture container.
const (
	TextureUnknown     TextureFormat = 0
	TextureRGBA8       TextureFormat = 1
	TextureBC7         TextureFormat = 2
	TextureBC5         TextureFormat = 3
	TextureASTC4x4     TextureFormat = 4
	TextureASTC5x5     TextureFormat = 5
	TextureASTC6x6     TextureFormat = 6
	TextureASTC8x8     TextureFormat = 7
	TextureRGBA16Float TextureFormat = 8
	TextureR16Unorm    TextureFormat = 9
)

// String returns the format's name in lower case.
func (f TextureFormat) String() string {
	return human.EnumName([]string{
		"unknown", "rgba8", "bc7", "bc5", "astc4x4", "astc5x5", "astc6x6", "astc8x8",
		"rgba16Float", "r16Unorm",
	}, uint32(f))
}

// Bits of Texture.Flags. Several uses of one texture are combined.
const (
	TextureSRGB      uint32 = 1 << 0
	TextureNormalMap uint32 = 1 << 1
	TextureColorLUT  uint32 = 1 << 2 // later generations
	TextureHeight    uint32 = 1 << 3 // later generations
	TextureEmissive  uint32 = 1 << 6
	TextureOcclusion uint32 = 1 << 7
)

// Bits of Material.Flags: the alpha mode in bits 0 and 1, then two bits of
// ours that the reference engine ignores.
const (
	MaterialAlphaMask   uint32 = 3
	MaterialOpaque      uint32 = 0
	MaterialCutout      uint32 = 1
	MaterialBlend       uint32 = 2
	MaterialDoubleSided uint32 = 1 << 2
	MaterialUnlit       uint32 = 1 << 3
)

// ChannelsMetalRough is Material.Reserved0 for glTF's combined texture:
// roughness in green (bits 0-1 = 1), metallic in blue (bits 2-3 = 2).
const ChannelsMetalRough uint32 = 9

// NoIndex is the sentinel for "no string", "no parent", "no material" and "no
// texture".
const NoIndex = ^uint32(0)

// URIEscape tells why a texture uri is not a plain relative path below the
// folder of its file: empty, absolute, with a drive letter or URL scheme, with
// backslashes, control characters or a `..` that climbs out. It returns "" for
// a good one.
func URIEscape(uri string) string {
	switch {
	case uri == "":
		return "empty"
	case strings.ContainsRune(uri, '\\'):
		return "contains a backslash"
	case strings.ContainsFunc(uri, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		return "contains a control character"
	case strings.HasPrefix(uri, "/"):
		return "is absolute"
	case len(uri) >= 2 && uri[1] == ':':
		return "names a drive"
	}
	if u, err := url.Parse(uri); err == nil && u.Scheme != "" {
		return "has a URL scheme"
	}
	if c := path.Clean(uri); c == ".." || strings.HasPrefix(c, "../") || c == "." {
		return "leaves the folder"
	}
	return ""
}
