package memory

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// maxFile bounds what is read of one file: mountinfo is the largest.
const maxFile = 1 << 20

// files is a file tree: the system's at "/", or a copy of parts of it.
type files string

// path returns where an absolute path of the system lies.
func (f files) path(name string) string { return filepath.Join(string(f), filepath.FromSlash(name)) }

// read returns the content of a file, "" when it cannot be read.
func (f files) read(name string) string {
	file, err := os.Open(f.path(name))
	if err != nil {
		return ""
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return ""
	}
	return string(data)
}

// number reads a file that holds one number; "max" is none.
func (f files) number(name string) (int64, bool) { return parseNumber(f.read(name)) }

func parseNumber(s string) (int64, bool) {
	v, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	return v, err == nil && v >= 0
}

// field returns the number behind a key in lines of "key number ...".
func field(text, key string) (int64, bool) {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == key {
			return parseNumber(f[1])
		}
	}
	return 0, false
}

// avg10 returns a share of /proc/pressure in percent: the part of the last ten
// seconds in which some, or all, tasks waited for memory.
func avg10(text, kind string) (percent float64, ok bool) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 2 || f[0] != kind {
			continue
		}
		for _, x := range f[1:] {
			if v, found := strings.CutPrefix(x, "avg10="); found {
				if p, err := strconv.ParseFloat(v, 64); err == nil && p >= 0 && p <= 100 {
					return p, true
				}
				return 0, false
			}
		}
	}
	return 0, false
}
