package checks

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/untoldkit/untold/internal/testfile"
)

// documents returns the markdown files of the repository.
func documents(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(repository, func(p string, d os.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "out" || name == "bin" || strings.HasPrefix(name, ".") && p != repository):
			return filepath.SkipDir
		case filepath.Ext(name) == ".md":
			files = append(files, p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 15 {
		t.Fatalf("only %d documents found", len(files))
	}
	return files
}

// TestWidthOfDocuments: prose has at most 100 columns; tables, code and what
// cannot be divided may have more.
func TestWidthOfDocuments(t *testing.T) {
	for _, file := range documents(t) {
		text := testfile.Read(t, file)
		fenced, number := false, 0
		for line := range strings.Lines(string(text)) {
			number++
			content := strings.TrimSpace(line)
			if strings.HasPrefix(content, "```") {
				fenced = !fenced
			}
			apart := fenced || strings.HasPrefix(line, "    ") || strings.HasPrefix(content, "|") || strings.HasPrefix(content, "![")
			if !apart && utf8.RuneCountInString(strings.TrimRight(line, "\n")) > 100 && strings.Contains(content, " ") {
				t.Errorf("%s:%d: prose of more than 100 columns", file, number)
			}
		}
	}
}

// TestLinks: every link of a document to another file leads to one, and to a heading
// that is there.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]*)(#[^)]*)?\)`)
	for _, file := range documents(t) {
		text := testfile.Read(t, file)
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			target := file
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(file), filepath.FromSlash(m[1]))
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which is not there", file, m[1])
			} else if m[2] != "" && filepath.Ext(target) == ".md" && !slices.Contains(headings(t, target), m[2][1:]) {
				t.Errorf("%s links to %s%s, which no heading of it is", file, m[1], m[2])
			}
		}
	}
}

// headings returns the anchors of a document's headings, as GitHub makes them.
func headings(t *testing.T, file string) (anchors []string) {
	t.Helper()
	dropped := regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
	fenced := false
	for line := range strings.Lines(string(testfile.Read(t, file))) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if title := strings.TrimLeft(line, "#"); !fenced && title != line && strings.HasPrefix(title, " ") {
			anchors = append(anchors, strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), ""), " ", "-"))
		}
	}
	return anchors
}

// TestIndexOfDocuments: docs/README.md links every document beside it.
func TestIndexOfDocuments(t *testing.T) {
	index := testfile.Read(t, filepath.Join(repository, "docs", "README.md"))
	for _, file := range documents(t) {
		name := filepath.Base(file)
		if filepath.Base(filepath.Dir(file)) == "docs" && name != "README.md" && !strings.Contains(string(index), "]("+name) {
			t.Errorf("docs/README.md does not link %s", name)
		}
	}
}

// TestTableOfPackages: CONTRIBUTING's table of folders names every package, and
// nothing that is not one.
func TestTableOfPackages(t *testing.T) {
	text := testfile.Read(t, filepath.Join(repository, "CONTRIBUTING.md"))
	_, table, ok := strings.Cut(string(text), "| folder | packages |\n|---|---|\n")
	if !ok {
		t.Fatal("CONTRIBUTING.md has no table of packages")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	quoted := regexp.MustCompile("`([a-z0-9/]+)`")
	rows := map[string][]string{}
	for line := range strings.Lines(table) {
		var names []string
		for _, m := range quoted.FindAllStringSubmatch(line, -1) {
			names = append(names, m[1])
		}
		if len(names) == 0 {
			t.Fatalf("the row %q names no folder", line)
		}
		rows[names[0]] = names[1:]
	}
	tops, err := os.ReadDir(repository)
	if err != nil {
		t.Fatal(err)
	}
	for _, top := range tops {
		packages := packagesBelow(t, top)
		names, listed := rows[top.Name()]
		delete(rows, top.Name())
		if len(packages) > 0 && !listed {
			t.Errorf("the table has no row for %s", top.Name())
		}
		for _, p := range packages {
			if !slices.Contains(names, p) && !slices.ContainsFunc(names, func(n string) bool { return n == strings.Split(p, "/")[0] && insideOwn(p) }) {
				t.Errorf("the row of %s does not name %s", top.Name(), p)
			}
		}
		for _, n := range names {
			if st, err := os.Stat(filepath.Join(repository, top.Name(), filepath.FromSlash(n))); err != nil || !st.IsDir() {
				t.Errorf("the row of %s names %s, which is not there", top.Name(), n)
			}
		}
	}
	for name := range rows {
		t.Errorf("the table has a row for %s, which is not there", name)
	}
}

// insideOwn reports whether a package belongs to another one alone: it lies in an
// internal folder.
func insideOwn(p string) bool { return slices.Contains(strings.Split(p, "/"), "internal") }

// packagesBelow returns the folders below one of the top level that hold Go
// files, relative to it.
func packagesBelow(t *testing.T, top os.DirEntry) []string {
	t.Helper()
	if !top.IsDir() || strings.HasPrefix(top.Name(), ".") || top.Name() == "out" || top.Name() == "bin" {
		return nil
	}
	root := filepath.Join(repository, top.Name())
	var found []string
	err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() || p == root {
			return err
		}
		if d.Name() == "testdata" {
			return filepath.SkipDir
		}
		if len(goFiles(t, p)) > 0 {
			rel, err := filepath.Rel(root, p)
			if err != nil {
				return err
			}
			found = append(found, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
