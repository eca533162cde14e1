package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// license is a text and where it stands, from the module's folder.
type license struct{ name, text string }

var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]es?|copying|copyright|notice|patents|unlicense)([.-].*)?$`)

// elsewhere names licence texts that lie where no rule finds them.
var elsewhere = map[string]string{
	"golang.org/x/image/font/gofont/": "font/gofont/ttfs/README",
}

// texts returns the licence texts of a module: those in the folders of its
// compiled packages and above them, and for packages with C code those in its
// folders and sources.
func (m *linked) texts() ([]license, error) {
	files := map[string]bool{}
	c := map[string]string{} // text to the first file that has it
	for _, p := range m.packages {
		for dir := p.Dir; ; dir = filepath.Dir(dir) {
			found, err := licensesIn(dir)
			if err != nil {
				return nil, err
			}
			for _, f := range found {
				files[f] = true
			}
			if dir == m.Dir || len(dir) <= len(m.Dir) {
				break
			}
		}
		for prefix, file := range elsewhere {
			if strings.HasPrefix(p.ImportPath, prefix) {
				files[filepath.Join(m.Dir, filepath.FromSlash(file))] = true
			}
		}
		if len(p.CgoFiles) > 0 {
			if err := m.inSources(p.Dir, files, c); err != nil {
				return nil, err
			}
		}
	}
	var list []license
	for f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		list = append(list, license{m.rel(f), tidy(string(b))})
	}
	for text, f := range c {
		list = append(list, license{m.rel(f), text})
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s %s has no licence text that could be found in %s", m.Path, m.Version, m.Dir)
	}
	slices.SortFunc(list, func(a, b license) int {
		return strings.Compare(a.name+"\x00"+a.text, b.name+"\x00"+b.text)
	})
	return list, nil
}

// rel is a file's name from the module's folder, with slashes.
func (m *linked) rel(file string) string {
	r, err := filepath.Rel(m.Dir, file)
	if err != nil {
		return filepath.Base(file)
	}
	return filepath.ToSlash(r)
}

// licensesIn returns the licence files of a folder.
func licensesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, e := range entries {
		if e.Type().IsRegular() && licenseFile.MatchString(e.Name()) && !strings.HasSuffix(e.Name(), ".go") {
			list = append(list, filepath.Join(dir, e.Name()))
		}
	}
	return list, nil
}

// inSources adds the licences that stand in a package's C sources, and the
// licence files of their folders: in its folder, and wherever an #include leads
// from there.
func (m *linked) inSources(dir string, files map[string]bool, c map[string]string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var queue []string
	for _, e := range entries {
		if e.Type().IsRegular() && (filepath.Ext(e.Name()) == ".go" || isC(e.Name())) {
			queue = append(queue, filepath.Join(dir, e.Name()))
		}
	}
	seen := map[string]bool{}
	for ; len(queue) > 0; queue = queue[1:] {
		path := queue[0]
		b, err := os.ReadFile(path)
		if seen[path] || err != nil {
			continue // the system's own headers
		}
		seen[path] = true
		for _, inc := range include.FindAllStringSubmatch(string(b), -1) {
			name := filepath.FromSlash(inc[1])
			queue = append(queue, filepath.Join(filepath.Dir(path), name), filepath.Join(dir, name))
		}
		if !isC(path) {
			continue
		}
		if text := inSource(string(b)); text != "" && (c[text] == "" || path < c[text]) {
			c[text] = path
		}
		for d := filepath.Dir(path); len(d) > len(m.Dir); d = filepath.Dir(d) {
			found, err := licensesIn(d)
			if err != nil {
				return err
			}
			for _, f := range found {
				files[f] = true
			}
		}
	}
	return nil
}

// include matches the #include lines of C sources and of cgo's comments.
var include = regexp.MustCompile(`(?m)^\s*(?://)?\s*#\s*(?:include|import)\s*["<]([^">\n]+)[">]`)

func isC(name string) bool {
	switch filepath.Ext(name) {
	case ".c", ".h", ".m", ".cc", ".cpp", ".hpp":
		return true
	}
	return false
}

var comment = regexp.MustCompile(`(?s)/\*.*?\*/`)

// inSource returns the licence that stands in a comment of a C source, from
// its copyright on, where it is one that asks to be reproduced with binaries;
// "" where there is none.
func inSource(src string) string {
	for _, block := range comment.FindAllString(src, -1) {
		if !strings.Contains(block, "Permission is hereby granted") && !strings.Contains(block, "Permission to use") {
			continue
		}
		var lines []string
		for line := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(block, "/*"), "*/"), "\n") {
			line = strings.TrimPrefix(strings.TrimLeft(strings.TrimSpace(line), "*"), " ")
			switch {
			case len(lines) == 0 && !copyrightLine.MatchString(line):
				continue // what the file is for
			case line == "</pre>":
				return tidy(strings.Join(lines, "\n"))
			}
			lines = append(lines, line)
		}
		return tidy(strings.Join(lines, "\n"))
	}
	return ""
}

var copyrightLine = regexp.MustCompile(`(?i)^copyright (\(c\)|©|[0-9])`)

// tidy makes line ends plain and drops blank lines around a text.
func tidy(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\f")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n") + "\n"
}

// goLicense is the licence of Go's standard library and runtime, which are in
// every binary. Systems' own packages of Go lack the file; the modules of the
// Go project have the same text.
func goLicense(modules []*linked) (string, error) {
	root, err := exec.Command(goCommand(), "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	folder := strings.TrimSpace(string(root))
	if b, err := os.ReadFile(filepath.Join(folder, "LICENSE")); err == nil {
		return tidy(string(b)), nil
	}
	for _, m := range modules {
		if m.Path == "golang.org/x/sys" {
			b, err := os.ReadFile(filepath.Join(m.Dir, "LICENSE"))
			return tidy(string(b)), err
		}
	}
	return "", fmt.Errorf("the licence of Go is not in %s", folder)
}
