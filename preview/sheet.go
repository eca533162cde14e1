package preview

import (
	"encoding/json"
	"fmt"
	"image"
	"io"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/internal/atomicfile"
)

// ReportFormat reports whether WriteReport knows a file's name: .html, .json or
// .png.
func ReportFormat(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".html", ".json", ".png":
		return true
	}
	return false
}

// WriteReport writes the comparison to a file: figures to a .json file, a contact
// sheet to a .png one, both to a .html page that needs no other file.
func (c *Comparison) WriteReport(path string) error { return writeReport(path, c, c.sheet) }

// WriteReport writes the switches to a file: all of them to a .json file, the
// pictures of the worst to a contact sheet, .png, or a page, .html, that needs no
// other file.
func (p *Pops) WriteReport(path string) error { return writeReport(path, p, p.sheet) }

func writeReport(path string, figures any, pictures func() *sheet) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		switch strings.ToLower(filepath.Ext(path)) {
		case ".html":
			return pictures().writeHTML(w)
		case ".json":
			enc := json.NewEncoder(w)
			enc.SetIndent("", "  ")
			return enc.Encode(figures)
		case ".png":
			return pictures().writePNG(w)
		}
		return fmt.Errorf("preview: the report %s is neither .html, .json nor .png", path)
	})
}

// sheet is a page of pictures, three a row.
type sheet struct {
	Title, Summary, Note string
	Columns              [3]string
	Width, Height        int // of the pictures
	Head                 []string
	Rows                 []sheetRow
}

// sheetRow has the second picture shown over the first under the pointer.
type sheetRow struct {
	Name, Title, Subtitle string
	Cells                 []string // of the table, after the name
	Pictures              [3]image.Image
	URLs                  [3]any // of pictures, in a page
}
