package tiles3d

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/untoldkit/untold/cook/gltfexport"
)

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

// made is what the result says to the next Export; nil without a source.
func (r *Result) made(source string) *madeJSON {
	if source == "" {
		return nil
	}
	return &madeJSON{source, r.Tilesets, 0, r.Tiles, r.Contents, r.ContentBytes, r.Triangles, r.Textures, r.TextureBytes, r.Notes}
}

// upToDate returns what an earlier Export said that has made the same tileset of the same
// source, if all that it wrote is there; nil where something has to be made. Nothing is
// written but the state, where files were only touched: they are not read the next time.
func (e *exporter) upToDate(out string) *Result {
	if e.source == "" {
		return nil
	}
	if e.archive {
		return e.sameArchive(out)
	}
	s := e.earlier.state
	if s.Source != e.source || !e.earlier.complete() {
		return nil
	}
	f, err := os.Open(filepath.Join(out, tilesetName))
	if err != nil {
		return nil
	}
	defer f.Close()
	res := resultOf(f, e.source)
	if res == nil {
		return nil
	}
	res.Kept = len(s.Outputs)
	if e.sources.read+e.earlier.read > 0 {
		files, err := outputs(out, e.earlier, nil)
		if err == nil {
			fresh := *s
			fresh.Sources, fresh.Outputs = e.sources.list(), files
			fresh.save(out)
		}
	}
	return res
}

// resultOf reads what a tileset of ours says about itself; nil when it is of another source.
func resultOf(r io.Reader, source string) *Result {
	var t tilesetJSON
	if json.NewDecoder(r).Decode(&t) != nil || t.Asset.Extras == nil {
		return nil
	}
	made := t.Asset.Extras.Untold.Made
	if made == nil || made.Source != source {
		return nil
	}
	res := &Result{
		Unchanged: true, Bytes: made.TilesetBytes + made.ContentBytes + made.TextureBytes, Tilesets: made.Tilesets, Tiles: made.Tiles, Contents: made.Contents,
		ContentBytes: made.ContentBytes, Triangles: made.Triangles, Textures: made.Textures, TextureBytes: made.TextureBytes,
		Error: t.GeometricError, Notes: made.Notes,
	}
	if res.Notes == nil {
		res.Notes = []gltfexport.Note{}
	}
	return res
}

// sameArchive is upToDate for an archive, which has no state: its files are read and their
// checksums compared, and it has to be, byte for byte, what would be written of them.
func (e *exporter) sameArchive(out string) *Result {
	f, err := os.Open(out)
	if err != nil {
		return nil
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return nil
	}
	z, err := zip.NewReader(f, st.Size())
	if err != nil || len(z.File) < 2 || z.File[0].Name != tilesetName {
		return nil
	}
	first, err := z.File[0].Open()
	if err != nil {
		return nil
	}
	res := resultOf(io.LimitReader(first, st.Size()), e.source)
	first.Close()
	if res == nil || len(z.File) != res.Tilesets+res.Contents+res.Textures+1 {
		return nil
	}
	packed := packed{names: make([]string, 0, len(z.File)-1), open: func(name string) (io.ReadCloser, error) { return z.Open(name) }}
	for _, x := range z.File[:len(z.File)-1] {
		if path.Clean(x.Name) != x.Name || x.Method != zip.Store {
			return nil
		}
		packed.names = append(packed.names, x.Name)
	}
	same := &comparer{with: io.NewSectionReader(f, 0, st.Size())}
	if res.Bytes, err = packed.write(e.ctx, same); err != nil || res.Bytes != st.Size() {
		return nil
	}
	res.Kept = len(packed.names)
	return res
}

// comparer takes what is the same as what it reads.
type comparer struct {
	with   io.Reader
	buffer []byte
}

var errDiffers = errors.New("tiles3d: the bytes differ")

func (c *comparer) Write(p []byte) (int, error) {
	if len(c.buffer) < len(p) {
		c.buffer = make([]byte, len(p))
	}
	if _, err := io.ReadFull(c.with, c.buffer[:len(p)]); err != nil {
		return 0, err
	}
	if !bytes.Equal(c.buffer[:len(p)], p) {
		return 0, errDiffers
	}
	return len(p), nil
}

// recall takes a content over from the earlier tileset, if it was made of the same.
func (e *exporter) recall(c *content, file string) bool {
	r, ok := e.earlier.state.Contents[c.payload]
	if !ok || c.key == "" || r.Key != c.key {
		return false
	}
	for _, name := range r.Shared {
		if f := e.earlier.byName[textureFolder+"/"+name]; f == nil || !e.earlier.has(f) {
			return false
		}
	}
	result := &gltfexport.Result{Bytes: r.Bytes, Triangles: r.Triangles, Bounds: r.Bounds, Notes: r.Notes, Shared: r.Shared}
	// A container without triangles has left no file.
	if c.hash = r.SHA256; !drawsNothing(result) && !e.earlier.take(e.earlier.byHash[r.SHA256], file) {
		return false
	}
	for _, name := range r.Shared {
		if !e.textures.Keep(name) {
			_ = os.Remove(file)
			return false
		}
	}
	c.result = result
	return true
}

// texture takes a texture over from the earlier tileset.
func (e *exporter) texture(name, to string) (int64, bool) {
	f := e.earlier.byName[textureFolder+"/"+name]
	if e.earlier.state.Stages != stages() || !e.earlier.take(f, to) {
		return 0, false
	}
	return f.Size, true
}

// tilesetFile writes a file of the tree, as the earlier one where that says the same.
func (e *exporter) tilesetFile(name string, data []byte) error {
	to := filepath.Join(e.stage, name)
	if f := e.earlier.byName[name]; f != nil && f.SHA256 == hashOf(data) && e.earlier.take(f, to) {
		return nil
	}
	return os.WriteFile(to, data, 0o666)
}

// remember writes the state of the finished stage, and returns how many files of it are
// those of the earlier tileset.
func (e *exporter) remember(all []*content) (kept int, err error) {
	sums := map[string]string{}
	s := &state{Version: stateVersion, Stages: stages(), Source: e.source, Sources: e.sources.list(), Contents: map[string]madeFrom{}}
	for _, c := range all {
		sums[c.uri] = c.hash
		if c.key != "" {
			s.Contents[c.payload] = madeFrom{c.key, c.hash, c.result.Bytes, c.result.Triangles, c.result.Bounds, c.result.Notes, c.result.Shared}
		}
	}
	if s.Outputs, err = outputs(e.stage, e.earlier, sums); err != nil {
		return 0, err
	}
	for i := range s.Outputs {
		f := e.earlier.byName[s.Outputs[i].Name]
		if f != nil && *f == s.Outputs[i] {
			kept++
		}
	}
	if e.source != "" {
		s.save(e.stage)
	}
	return kept, nil
}
