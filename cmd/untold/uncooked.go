package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/cook/meshfile"
	"github.com/untoldkit/untold/cook/usd"
	"github.com/untoldkit/untold/preview"
	"github.com/untoldkit/untold/runtime/remote"
)

// isGLTF reports whether a path or an address names a glTF scene, or one in another
// format that is cooked.
func isGLTF(path string) bool {
	if remote.IsURL(path) {
		path = nameOf(path)
	}
	return preview.IsGLTF(path) || meshfile.FormatOf(path) != meshfile.None || usd.IsName(path)
}

// refuseUncooked says what to type where a command that works on cooked scenes
// is given a glTF; rest ends the command line.
func refuseUncooked(command, rest string, paths ...string) error {
	for _, path := range paths {
		if !isGLTF(path) {
			continue
		}
		first := ""
		if remote.IsURL(path) {
			path, first = nameOf(path), "download it, then "
		}
		out, kind := cookedName(path), "a glTF"
		switch f := meshfile.FormatOf(path); f {
		case meshfile.OBJ, meshfile.STL:
			kind = "an " + f.String()
		case meshfile.PLY:
			kind = "a PLY"
		default:
			if usd.IsName(path) {
				kind = "a USD"
			}
		}
		return fmt.Errorf("%s is %s scene, and %s works on what is cooked from it: %suntold cook %s -o %s && untold %s %s%s",
			path, kind, command, first, shellWord(path), shellWord(out), command, shellWord(out), rest)
	}
	return nil
}

// cookedName is the folder that a message proposes for a scene.
func cookedName(scene string) string {
	name := strings.TrimSuffix(filepath.Base(scene), filepath.Ext(scene))
	return filepath.Join("out", name)
}

// shellWord writes a path so that a shell takes it for one word.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/\\:._-+,@%=~", r) || r > 127
	}
	if s != "" && s[0] != '-' && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	if s != "" && s[0] == '-' {
		s = "./" + s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// gltfsIn lists the glTF scenes of a folder, or else those in the folders right
// below it.
func gltfsIn(dir string) []string {
	found := listGLTF(dir)
	if len(found) > 0 {
		return found
	}
	list, _ := os.ReadDir(dir) // whoever reads a scene there says what is wrong
	for _, d := range list {
		if d.IsDir() && !strings.HasPrefix(d.Name(), ".") {
			found = append(found, listGLTF(filepath.Join(dir, d.Name()))...)
		}
	}
	return found
}

func listGLTF(dir string) (found []string) {
	list, _ := os.ReadDir(dir)
	for _, d := range list {
		if !d.IsDir() && isGLTF(d.Name()) {
			found = append(found, filepath.Join(dir, d.Name()))
		}
	}
	return found
}

// nameSome lists paths for a message.
func nameSome(paths []string) string {
	const most = 10
	if len(paths) > most {
		return strings.Join(paths[:most], ", ") + fmt.Sprintf(" and %d more", len(paths)-most)
	}
	return strings.Join(paths, ", ")
}
