package meshfile

import (
	"bufio"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxMentions is how many names Mentions returns.
const maxMentions = 10_000

// Mentions lists the names of files that an OBJ, MTL or PLY file has, as it has them: those
// of statements that the import reads. Other files mention none.
func Mentions(name string) ([]string, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []string
	add := func(names ...string) {
		for _, n := range names {
			if n != "" && len(out) < maxMentions && !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	ext := strings.ToLower(filepath.Ext(name))
	switch ext {
	case ".ply":
		if h, err := readPLYHeader(bufio.NewReader(f)); err == nil {
			add(h.texture)
		}
		return out, nil
	case ".obj", ".mtl":
	default:
		return nil, nil
	}
	for l := newLines(f, true); ; {
		b, err := l.next()
		if err != nil {
			return out, nil // the import says what is wrong
		}
		w, rest := word(b)
		switch key := strings.ToLower(string(w)); {
		case ext == ".obj" && key == "mtllib":
			whole := strings.Trim(string(trim(rest)), `"`)
			add(whole)
			if list := strings.Fields(whole); len(list) > 1 {
				add(list...)
			}
		case ext == ".mtl" && slices.Contains(mtlMaps, key):
			name, _ := textureName(rest)
			add(name)
		}
	}
}

// mtlMaps are the statements that name images that are read.
var mtlMaps = []string{"map_kd", "map_ke", "map_pr", "map_pm", "map_bump", "bump", "norm", "map_kn", "map_d"}

// IsBinarySTL reports whether a file of a size that begins with some bytes is a binary STL
// file.
func IsBinarySTL(head []byte, size int64) bool {
	return len(head) >= stlHeader+4 && size == stlHeader+4+stlFacet*int64(binary.LittleEndian.Uint32(head[stlHeader:]))
}
