package checks

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// outside finds citations of papers that only those who wrote them have: a
// comment states a rule itself.
var outside = regexp.MustCompile(`DECISIO[N]S|\bfacts?[ /](section|runtime\.md|manifest\.md|format\.md|[0-9])|\bse[e]d (00[0-9]|rule)|\bissue [0-9]`)

// ruleNumber finds a rule that is named by a number, in a comment or in the name
// of a test.
var ruleNumber = regexp.MustCompile(`//.*\b[IMOR][0-9]{1,2}\b[^_%]|func TestO[0-9]|"[IO][0-9]{1,2}: `)

// TestCitations: nothing in the repository refers to what is not in it.
func TestCitations(t *testing.T) {
	texts := []string{".go", ".md", ".json", ".sh", ".yaml", ".yml", ".mod", ""}
	seen := 0
	err := filepath.WalkDir(repository, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			// What is built, made or mutated is nobody's text.
			if slices.Contains([]string{".git", "bin", "out", "fuzz", "vectors"}, d.Name()) && p != filepath.Join(repository, "scripts", "fuzz") {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular() || !slices.Contains(texts, filepath.Ext(p)):
			return nil
		}
		info, err := d.Info()
		if err != nil || info.Size() > 1<<20 {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		seen++
		found := outside.FindAllIndex(text, -1)
		if filepath.Ext(p) == ".go" {
			found = append(found, ruleNumber.FindAllIndex(text, -1)...)
		}
		for _, at := range found {
			end := min(at[0]+60, len(text))
			t.Errorf("%s cites %q", p, text[at[0]:end])
		}
		return nil
	})
	if err != nil || seen < 500 {
		t.Errorf("%d files, %v", seen, err)
	}
}
