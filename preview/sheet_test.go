//go:build !js

package preview

import (
	"strings"
	"testing"

	"golang.org/x/image/font"
)

// TestSheetTextFits: no line of a contact sheet is wider than its pictures, and no word is
// lost.
func TestSheetTextFits(t *testing.T) {
	face, err := sheetFace()
	if err != nil {
		t.Fatal(err)
	}
	defer face.Close()
	text := (&Pops{Scene: "city", Width: 160, Height: 90}).sheet()
	full := text.Title + "; " + text.Summary
	for _, width := range []int{3*160 + 2*sheetGap, 3*426 + 2*sheetGap, 9000} {
		lines := wrapped(face, full, width)
		if strings.Join(lines, " ") != full {
			t.Errorf("%d pixels: %q", width, lines)
		}
		for _, line := range lines {
			if w := font.MeasureString(face, line).Ceil(); w > width {
				t.Errorf("%q takes %d pixels of %d", line, w, width)
			}
		}
		if one := len(lines) == 1; one != (width == 9000) {
			t.Errorf("%d pixels: %d lines", width, len(lines))
		}
	}
	if lines := wrapped(face, "", 100); len(lines) != 0 {
		t.Errorf("no text is %q", lines)
	}
}
