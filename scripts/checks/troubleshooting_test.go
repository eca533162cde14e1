package checks

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// TestTroubleshooting: the codes on docs/troubleshooting.md are those of other pages,
// and what its first columns quote is written somewhere by a program.
func TestTroubleshooting(t *testing.T) {
	docs := filepath.Join(repository, "docs")
	page := string(testfile.Read(t, filepath.Join(docs, "troubleshooting.md")))
	var known strings.Builder
	for _, name := range []string{"notes.md", "findings.md", "manifest-keys.md", "output-folder.md", "textures.md", "publishing.md"} {
		known.Write(testfile.Read(t, filepath.Join(docs, name)))
	}
	var sources strings.Builder
	err := filepath.WalkDir(repository, func(p string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir():
			if slices.Contains([]string{".git", "bin", "out", "testdata", "docs"}, name) {
				return fs.SkipDir
			}
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"), filepath.Ext(name) == ".js":
			sources.Write(testfile.Read(t, p))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	code := regexp.MustCompile(`^[a-z]+(-[a-z0-9]+)+$`)
	codes, texts := 0, 0
	for line := range strings.Lines(page) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		for _, m := range quoted.FindAllStringSubmatch(line, -1) {
			if code.MatchString(m[1]) && m[1] != "untold-preview" {
				if codes++; !strings.Contains(known.String(), "`"+m[1]+"`") {
					t.Errorf("no page lists the code %s", m[1])
				}
			}
		}
		for _, m := range quoted.FindAllStringSubmatch(cells[1], -1) {
			text := m[1]
			if strings.HasPrefix(text, "untold ") || strings.HasPrefix(text, "--") || !strings.Contains(text, " ") {
				continue
			}
			if texts++; !strings.Contains(sources.String(), text) {
				t.Errorf("no program says %q", text)
			}
		}
	}
	if codes < 30 || texts < 20 {
		t.Errorf("%d codes, %d texts", codes, texts)
	}
}
