package web

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/untoldkit/untold/manifest/scenelist"
)

// Names of files of the page that others refer to.
const (
	indexName   = "index.html"
	elementName = "untold-viewer.js"
)

// elementHead is how the module that Front writes begins.
const elementHead = "// The element of the untold viewer; docs/web.md says how it is used.\n"

// Static returns the files of a page for web servers that hand out files as they lie, by
// their names: all but index.html, which Front makes. The error is that of FS.
func Static() (map[string][]byte, error) {
	page, err := FS()
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	err = fs.WalkDir(page, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && name != indexName {
			out[name], err = fs.ReadFile(page, name)
		}
		return err
	})
	return out, err
}

// Front returns the files that lead to those of Static: index.html, which shows the
// scenes of a list, and the module of the element for pages of others. folder is where
// the files of Static are, relative to these two, and ends with a slash; scenes is the
// list beside them, an array of objects with path, tiles and bytes.
func Front(folder, scenes string) (map[string][]byte, error) {
	page, err := FS()
	if err != nil {
		return nil, err
	}
	index, err := fs.ReadFile(page, indexName)
	if err != nil {
		return nil, err
	}
	text := strings.ReplaceAll(string(index), scenelist.Name, scenes)
	return map[string][]byte{
		indexName:   []byte(strings.ReplaceAll(text, served, folder)),
		elementName: fmt.Appendf(nil, "%sexport * from \"./%s%s\";\n", elementHead, folder, elementName),
	}, nil
}

// served is the folder of the page's files when package serve hands them out.
const served = ".viewer/"
