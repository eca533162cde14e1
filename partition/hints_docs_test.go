package partition

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// TestWordsAreDocumented: docs/from-blender.md has every word that decides about a
// tier, in the row of its tier.
func TestWordsAreDocumented(t *testing.T) {
	page := string(testfile.Read(t, filepath.Join("..", "docs", "from-blender.md")))
	for _, h := range nameHints {
		_, row, _ := strings.Cut(page, "\n| "+h.tier.String())
		row, _, _ = strings.Cut(row, "\n")
		for _, w := range h.words {
			// "pipe fittings" and "air_terminal" are found as these words, too.
			if w = strings.TrimSuffix(strings.ReplaceAll(w, "_", ""), "s"); !strings.Contains(row, " "+w+",") && !strings.HasSuffix(row, " "+w+" |") {
				t.Errorf("the row of %s lacks %s", h.tier, w)
			}
		}
	}
}
