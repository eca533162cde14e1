package texture

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxStem keeps file names well below the 255 bytes that file systems allow.
const maxStem = 120

// stemOf returns the file stem for an image: from its uri, else its name, else
// its number, with what file systems refuse replaced by underscores.
func stemOf(uri, name string, index int) string {
	s := name
	if uri != "" {
		s = path.Base(strings.ReplaceAll(uri, "\\", "/"))
	}
	switch ext := strings.ToLower(path.Ext(s)); ext {
	case ".png", ".jpg", ".jpeg", ".webp", ".ktx2", ".basis", ".dds", ".tga", ".bmp":
		s = s[:len(s)-len(ext)]
	}
	s = strings.Map(func(r rune) rune {
		// Format characters include those that turn the direction of text.
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || strings.ContainsRune(`<>:"/\|?*#%`, r) || r == unicode.ReplacementChar {
			return '_'
		}
		return r
	}, s)
	if len(s) > maxStem {
		s = strings.ToValidUTF8(s[:maxStem], "")
	}
	s = strings.Trim(s, ". ")
	if s == "" || reserved(s) {
		return strings.Trim(fmt.Sprintf("image_%d_%s", index, s), "_")
	}
	return s
}

// reserved reports the device names that Windows keeps for itself.
func reserved(stem string) bool {
	base, _, _ := strings.Cut(strings.ToUpper(stem), ".")
	base = strings.TrimRight(base, " ")
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	port, ok := strings.CutPrefix(base, "COM")
	if !ok {
		port, ok = strings.CutPrefix(base, "LPT")
	}
	return ok && utf8.RuneCountInString(port) == 1 && strings.Contains("0123456789¹²³", port)
}

// namer hands out file names. Names that differ in case only count as the
// same, because some file systems and the engine's loader ignore case.
type namer struct{ taken map[string]bool }

// pick returns stem+ext, or when that is taken the stem with the first eight
// hex digits of the SHA-1 of key, then _1, _2, ...
func (n *namer) pick(stem, ext, key string) string {
	if n.taken == nil {
		n.taken = map[string]bool{}
	}
	sum := sha1.Sum([]byte(key))
	hashed := stem + "_" + hex.EncodeToString(sum[:4])
	for i := -1; ; i++ {
		name := stem + ext
		switch {
		case i == 0:
			name = hashed + ext
		case i > 0:
			name = fmt.Sprintf("%s_%d%s", hashed, i, ext)
		}
		if k := strings.ToLower(name); !n.taken[k] {
			n.taken[k] = true
			return name
		}
	}
}

// ContentName returns the name of a file in a folder that several models share: its own with
// the first eight hex digits of the SHA-1 of its content, unless it ends with them already. It
// depends on nothing else, such as what others have put there.
func ContentName(name string, data []byte) string {
	ext := path.Ext(name)
	sum := sha1.Sum(data)
	end := "_" + hex.EncodeToString(sum[:4])
	return strings.TrimSuffix(strings.TrimSuffix(name, ext), end) + end + ext
}
