package checks

import (
	"bytes"
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

// outsideWords are in all that outside finds: most lines have none of them, and looking for
// words takes far less time than expressions do.
var outsideWords = [][]byte{[]byte("DECISIO"), []byte("fact"), []byte("seed "), []byte("issue ")}

// mayName reports whether a line has what is in all that ruleNumber finds: one of its letters
// before a digit.
func mayName(line []byte) bool {
	for i := range len(line) - 1 {
		switch line[i] {
		case 'I', 'M', 'O', 'R':
			if c := line[i+1]; '0' <= c && c <= '9' {
				return true
			}
		}
	}
	return false
}

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
		for line := range bytes.Lines(text) {
			var found [][]int
			if slices.ContainsFunc(outsideWords, func(word []byte) bool { return bytes.Contains(line, word) }) {
				found = outside.FindAllIndex(line, -1)
			}
			if filepath.Ext(p) == ".go" && mayName(line) {
				found = append(found, ruleNumber.FindAllIndex(line, -1)...)
			}
			for _, at := range found {
				t.Errorf("%s cites %q", p, line[at[0]:min(at[0]+60, len(line))])
			}
		}
		return nil
	})
	if err != nil || seen < 500 {
		t.Errorf("%d files, %v", seen, err)
	}
}
