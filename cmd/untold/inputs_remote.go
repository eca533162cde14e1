package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/internal/bom"
	"github.com/untoldkit/untold/manifest/payloadpath"
	"github.com/untoldkit/untold/runtime/remote"
)

// downloads brings files from servers.
type downloads struct {
	ctx   context.Context
	fetch *remote.Fetcher
	files int
}

// maxBeside is how many files the inputs at addresses may name.
const maxBeside = 10_000

// bring downloads an input and the files that it names; of a placement list it returns
// the items.
func (d *downloads) bring(a *app, address, dir string, opts *cook.Options) ([]cook.Item, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("%s: it is no address: write it with %%XX in the place of what none may hold", remote.Redact(address))
	}
	name := path.Base(u.Path)
	if !isInput(name) && !cook.IsListName(name) {
		return nil, fmt.Errorf("%s does not end like a file to cook (%s), or a placement list (.csv, .json)", remote.Redact(address), inputKinds)
	}
	if payloadpath.Check(name) != nil {
		name = "scene" + path.Ext(name)
	}
	a.info("downloading %s", oneLine(remote.Redact(address)))
	from, err := d.fetch.Local(d.ctx, address, remote.Expected{})
	if err != nil {
		return nil, err
	}
	at := filepath.Join(dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := link(from, at); err != nil {
		return nil, err
	}
	plain := plainAddress(address)
	if page, err := isPage(at); err != nil {
		return nil, err
	} else if page {
		return nil, &badFile{fmt.Errorf("%s: the server sent a page (HTML or XML) and no file to cook; open the address in a browser: it may ask for a login, or another address leads to the file", plain)}
	}
	if cook.IsListName(name) {
		return d.list(u, plain, at, dir, opts)
	}
	if err := d.beside(u, at, dir); err != nil {
		return nil, err
	}
	return []cook.Item{{File: plain, At: at}}, nil
}

// list downloads the files of a placement list, and what these name. They lie below the
// list, whatever may be permitted to files of this machine: no server names those.
func (d *downloads) list(base *url.URL, plain, at, dir string, opts *cook.Options) ([]cook.Item, error) {
	inside := *opts
	inside.AllowParentPaths = false
	items, err := cook.Placements(at, &inside)
	var e *gltfscene.Error
	if errors.As(err, &e) {
		c := *e
		if c.File = plain; errors.Is(err, gltfscene.ErrOutsideFolder) {
			c.Hint = "what a list at an address places lies below its folder: put it there, or download the list"
		}
		return nil, &c
	}
	if err != nil {
		return nil, err
	}
	folder := plain[:strings.LastIndexByte(plain, '/')+1]
	var names []string
	known := map[string]bool{}
	for i := range items {
		it := &items[i]
		rel, err := filepath.Rel(dir, it.File)
		if err != nil {
			return nil, err
		}
		it.File, it.At = filepath.ToSlash(rel), it.File
		if !known[it.File] {
			known[it.File] = true
			names = append(names, it.File)
		}
		it.File = folder + it.File
	}
	return items, d.bringAll(base, names, at, dir, plain)
}

// pageBytes is how much of a file tells whether it is a page.
const pageBytes = 512

// isPage reports whether a file is HTML or XML, as servers answer in the place of what they
// do not have, or give only to some.
func isPage(at string) (bool, error) {
	f, err := os.Open(at)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, pageBytes)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return false, err
	}
	text := bytes.TrimLeft(bom.Trim(head[:n]), " \t\r\n")
	return len(text) > 1 && text[0] == '<' && (text[1] == '!' || text[1] == '?' || text[1]|0x20 >= 'a' && text[1]|0x20 <= 'z'), nil
}

// beside downloads what a file names, and what that names.
func (d *downloads) beside(base *url.URL, at, dir string) error {
	names, err := mentions(at)
	if err != nil {
		return err
	}
	return d.bringAll(base, names, at, dir, "")
}

// bringAll downloads files that the one at a path in dir names, and what these name. Where
// they are those of a list, which has this address, none may be missing.
func (d *downloads) bringAll(base *url.URL, names []string, at, dir, list string) error {
	rel, err := filepath.Rel(dir, at)
	if err != nil {
		return err
	}
	for _, n := range names {
		n = path.Join(path.Dir(filepath.ToSlash(rel)), strings.ReplaceAll(n, `\`, "/"))
		local, err := filepath.Localize(n)
		if err != nil {
			continue // the import says that it leads out of the folder
		}
		to := filepath.Join(dir, local)
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		if d.files++; d.files > maxBeside {
			return fmt.Errorf("the inputs name more than %d files: download them, and cook what is there", maxBeside)
		}
		u, err := payloadpath.URL(base, n)
		if err != nil {
			continue
		}
		from, err := d.fetch.Local(d.ctx, u.String(), remote.Expected{})
		var status *remote.StatusError
		switch {
		case errors.As(err, &status) && (status.Status == http.StatusNotFound || status.Status == http.StatusGone):
			if list != "" {
				return &badFile{fmt.Errorf("%s does not exist; %s places it", remote.Redact(u.String()), list)}
			}
			continue // the import says that it is missing
		case err != nil:
			return err
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			continue
		}
		if err := link(from, to); err != nil {
			return err
		}
		if strings.EqualFold(filepath.Ext(to), ".mtl") || isInput(to) {
			if err := d.beside(base, to, dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// sceneOf is the name of the scene of a placement list at an address.
func (c *cookFlags) sceneOf(address string) string {
	if c.sceneName != "" {
		return c.sceneName + ".scene"
	}
	return plainAddress(address)
}

// plainAddress is an address without what is secret in it and without its query.
func plainAddress(address string) string {
	plain, _, _ := strings.Cut(remote.Redact(address), "?")
	return plain
}

// addressPath is the path of an address.
func addressPath(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Path
}
