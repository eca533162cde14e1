package partition

import (
	"strconv"
	"strings"
	"unicode"
)

// PayloadExt ends the name of every payload file.
const PayloadExt = ".untold"

// Sanitize makes a file name or id out of any text: what is no letter, digit,
// underscore or hyphen becomes an underscore, underscores at the ends go, and
// nothing becomes "object".
func Sanitize(name string) string {
	s := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsNumber(r) {
			return r
		}
		return '_'
	}, name)
	if s = strings.Trim(s, "_"); s == "" {
		return "object"
	}
	return s
}

// TileID returns the id of a grid tile: tile_<tx>_<ty>_<tz>.
func TileID(coord [3]int) string {
	b := append(make([]byte, 0, 24), "tile"...)
	for _, c := range coord {
		b = append(b, '_')
		b = strconv.AppendInt(b, int64(c), 10)
	}
	return string(b)
}

// TileFile returns the file name of a tile's full geometry.
func TileFile(id string) string { return id + PayloadExt }

// HLODFile returns the file name of a tile's HLOD; the usual suffix is _hlod.
func HLODFile(id, suffix string) string { return id + suffix + PayloadExt }

// LODFile returns the file name of a tile's LOD; levels count from 1.
func LODFile(id string, level int) string {
	return id + "_lod" + strconv.Itoa(level) + PayloadExt
}

// SharedFile returns the file name of the shared bucket of a scene, whose name
// is sanitized.
func SharedFile(scene string) string { return scene + "_shared" + PayloadExt }

// ManifestFile returns the file name of the manifest of a scene, whose name is
// sanitized.
func ManifestFile(scene string) string { return scene + ".json" }
