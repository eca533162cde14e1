package tiles3d

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/untoldkit/untold/cook/gltfexport"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/payloadpath"
)

// tilesetStage is raised whenever other bytes are made of the same scene.
const tilesetStage = 2

// madeJSON is what a tileset of ours says about itself, for the next Export.
type madeJSON struct {
	Source       string            `json:"source"` // hash of all that decides the bytes
	Tilesets     int               `json:"tilesets"`
	TilesetBytes int64             `json:"tilesetBytes"` // of all of them, this one too
	Tiles        int               `json:"tiles"`
	Contents     int               `json:"contents"`
	ContentBytes int64             `json:"contentBytes"`
	Triangles    int               `json:"triangles"`
	Textures     int               `json:"textures"`
	TextureBytes int64             `json:"textureBytes"`
	Notes        []gltfexport.Note `json:"notes,omitempty"`
}

// sourceOf returns a hash of all that decides the bytes of a tileset: the manifest, the
// containers and the textures that these name, and the options; "" where something is not
// there to be read, which the export itself says better.
func sourceOf(ctx context.Context, manifestPath string, m *manifest.Manifest, opts *Options) (string, error) {
	h := sha256.New()
	place := Place{}
	if opts.Place != nil {
		place = *opts.Place
	}
	fmt.Fprintf(h, "%d %q %t %v %t %t %d\n", tilesetStage, opts.Generator, opts.Place != nil, place, opts.Plain, opts.KTX2, opts.maxTiles)
	dir := filepath.Dir(manifestPath)
	files := []string{filepath.Base(manifestPath)}
	textures := map[string]bool{}
	for _, p := range m.Payloads() {
		if payloadpath.Check(p) != nil {
			return "", nil
		}
		files = append(files, p)
		names, err := namedBy(dir, p)
		if err != nil {
			return "", nil
		}
		for _, t := range names {
			textures[t] = true
		}
	}
	list := make([]string, 0, len(textures))
	for t := range textures {
		list = append(list, t)
	}
	slices.Sort(list)
	for _, name := range append(files, list...) {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("tiles3d: %w", err)
		}
		one := sha256.New()
		_, err = io.Copy(one, f)
		f.Close()
		if err != nil {
			return "", fmt.Errorf("tiles3d: %w", err)
		}
		fmt.Fprintf(h, "%q %x\n", name, one.Sum(nil))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// namedBy lists the textures that a container names, relative to the manifest's folder.
func namedBy(dir, payload string) (names []string, err error) {
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(payload)))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	r, err := format.NewReader(f, st.Size())
	if err != nil {
		return nil, err
	}
	for _, t := range r.Textures() {
		name := path.Join(path.Dir(payload), r.String(t.URIOffset))
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil, fs.ErrInvalid
		}
		names = append(names, name)
	}
	return names, nil
}

// earlier returns what an earlier Export has made of the same source, if all of its files
// are there with their sizes; nil where it has to be made anew.
func earlier(dir, source string) *Result {
	f, err := os.Open(filepath.Join(dir, tilesetName))
	if err != nil || source == "" {
		return nil
	}
	defer f.Close()
	var t tilesetJSON
	if json.NewDecoder(f).Decode(&t) != nil || t.Asset.Extras == nil {
		return nil
	}
	made := t.Asset.Extras.Untold.Made
	if made == nil || made.Source != source {
		return nil
	}
	var tilesets, others int
	var jsonBytes, bytes int64
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		st, err := d.Info()
		switch {
		case err != nil:
			return err
		case !st.Mode().IsRegular():
			return fs.ErrInvalid
		case strings.HasSuffix(d.Name(), ".json"):
			tilesets, jsonBytes = tilesets+1, jsonBytes+st.Size()
		default:
			others, bytes = others+1, bytes+st.Size()
		}
		return nil
	})
	if err != nil || tilesets != made.Tilesets || jsonBytes != made.TilesetBytes ||
		others != made.Contents+made.Textures || bytes != made.ContentBytes+made.TextureBytes {
		return nil
	}
	res := &Result{
		Unchanged: true, Bytes: jsonBytes + bytes, Tilesets: made.Tilesets, Tiles: made.Tiles, Contents: made.Contents,
		ContentBytes: made.ContentBytes, Triangles: made.Triangles, Textures: made.Textures, TextureBytes: made.TextureBytes,
		Error: t.GeometricError, Notes: made.Notes,
	}
	if res.Notes == nil {
		res.Notes = []gltfexport.Note{}
	}
	return res
}

// made is what the result says to the next Export; nil without a source.
func (r *Result) made(source string) *madeJSON {
	if source == "" {
		return nil
	}
	return &madeJSON{source, r.Tilesets, 0, r.Tiles, r.Contents, r.ContentBytes, r.Triangles, r.Textures, r.TextureBytes, r.Notes}
}
