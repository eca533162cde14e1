package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/untoldkit/untold/internal/plainfile"
)

// sumsName is the list of a release's files, for sha256sum -c.
const sumsName = "SHA256SUMS"

// sumsLimit is more than any list has, in bytes.
const sumsLimit = 1 << 20

var (
	// releaseFile has the names of a release's files.
	releaseFile = regexp.MustCompile(`^untold(-[^/\\]+\.(tar\.gz|zip|cdx\.json)|\.rb|\.json)$`)
	sumsLine    = regexp.MustCompile(`^[0-9a-f]{64}  (.+)$`)
)

// earlier lists the files of an earlier release in the folder, SHA256SUMS last. A
// folder that is not there or empty has none; one with anything else in it is an
// error, since replacing it would be somebody's loss.
func (r *release) earlier() ([]string, error) {
	entries, err := os.ReadDir(r.dir)
	switch st, statErr := os.Stat(r.dir); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case statErr == nil && !st.IsDir():
		return nil, fmt.Errorf("%s is no folder; name one for -o", r.dir)
	case err != nil:
		return nil, err
	case len(entries) == 0:
		return nil, nil
	}
	refuse := func(format string, args ...any) ([]string, error) {
		return nil, fmt.Errorf("%s holds something else than an earlier release (%s): name another folder for -o, or empty it", r.dir, fmt.Sprintf(format, args...))
	}
	sums, err := plainfile.Read(filepath.Join(r.dir, sumsName), sumsLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return refuse("there is no %s, and there is %s", sumsName, entries[0].Name())
	}
	if err != nil {
		return refuse("%v", err)
	}
	named := map[string]bool{sumsName: true}
	for line := range strings.Lines(string(sums)) {
		m := sumsLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			return refuse("its %s has the line %.80q", sumsName, line)
		}
		if !releaseFile.MatchString(m[1]) {
			return refuse("its %s has the name %.80q", sumsName, m[1])
		}
		named[m[1]] = true
	}
	if len(named) == 1 {
		return refuse("its %s names no files", sumsName)
	}
	var list []string
	for _, e := range entries {
		switch {
		case !named[e.Name()]:
			return refuse("its %s does not name %s", sumsName, e.Name())
		case !e.Type().IsRegular():
			return refuse("%s is a %s", e.Name(), plainfile.Kind(e.Type()))
		case e.Name() != sumsName:
			list = append(list, e.Name())
		}
	}
	return append(list, sumsName), nil
}

// publish puts the release into its folder in the place of an earlier one. The folder
// has a SHA256SUMS with the names of all its files at any time, so that one which was
// left half written can be replaced, too.
func (r *release) publish() error {
	old, err := r.earlier()
	if err != nil {
		return err
	}
	for _, name := range old {
		if err := os.Remove(filepath.Join(r.dir, name)); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return err
	}
	slices.SortFunc(r.sums, func(a, b checksum) int { return cmp.Compare(a.name, b.name) })
	var b bytes.Buffer
	for _, s := range r.sums {
		fmt.Fprintf(&b, "%s  %s\n", s.sha256, s.name)
	}
	if err := os.WriteFile(filepath.Join(r.dir, sumsName), b.Bytes(), 0o644); err != nil {
		return err
	}
	for _, s := range r.sums {
		data, err := os.ReadFile(filepath.Join(r.scratch, s.name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.dir, s.name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
