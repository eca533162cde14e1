package diff

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/untoldkit/untold/format/records"
)

// inventories compares the materials and textures of both sides.
func (c *comparer) inventories(ctx context.Context) error {
	a, b := c.inventory[0], c.inventory[1]
	if c.o.wants(PartMaterials) {
		c.result.A.Materials, c.result.B.Materials = len(a.materials), len(b.materials)
		c.result.Materials = compareMaterials(a, b)
	}
	if !c.o.wants(PartTextures) {
		return nil
	}
	uris := union(a.textures, b.textures)
	found := make([]*Texture, len(uris))
	sizes := make([]Pair, len(uris))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(c.o.Jobs, 1))
	for i, uri := range uris {
		g.Go(func() error {
			found[i], sizes[i] = c.compareTexture(uri, a.textures[uri], b.textures[uri])
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i := range uris {
		for s, n := range [2]int64{sizes[i].A, sizes[i].B} {
			if n >= 0 {
				side := c.side(s)
				side.Textures, side.TextureBytes = side.Textures+1, side.TextureBytes+n
			}
		}
		if found[i] != nil {
			c.result.Textures = append(c.result.Textures, *found[i])
		}
	}
	return nil
}

// compareTexture compares a texture that payloads name: what their records say, and
// the files. It is nil if there is no difference. Sizes are -1 where there is no file.
func (c *comparer) compareTexture(uri string, a, b *seenTexture) (*Texture, Pair) {
	t := &Texture{URI: uri, Change: Changed, Bytes: Pair{-1, -1}}
	var files [2]*os.File
	size := [2]*int64{&t.Bytes.A, &t.Bytes.B}
	for s, x := range [2]*seenTexture{a, b} {
		if x == nil {
			continue
		}
		f, err := c.openTexture(s, uri, x.file)
		if err == nil && f != nil {
			defer f.Close()
			var st os.FileInfo
			if st, err = f.Stat(); err == nil {
				files[s], *size[s] = f, st.Size()
			}
		}
		if err != nil {
			c.fail(s, filepath.Join(c.dir[s], filepath.FromSlash(x.file)), err)
		}
	}
	switch {
	case a == nil:
		t.Change, t.Content = Added, true
	case b == nil:
		t.Change, t.Content = Removed, true
	default:
		if a.key != b.key {
			t.Fields = compareValues(a.values, b.values, 0)
		}
		t.Content = (files[0] == nil) != (files[1] == nil)
		if files[0] != nil && files[1] != nil {
			same, err := sameFile(files[0], files[1])
			if err != nil {
				c.fail(0, files[0].Name(), err)
			}
			t.Content = !same
		}
		if !t.Content && len(t.Fields) == 0 {
			return nil, t.Bytes
		}
	}
	return t, t.Bytes
}

// openTexture opens the file of a texture; nil if there is none, which validate
// reports. Names that lead elsewhere are not followed.
func (c *comparer) openTexture(s int, uri, file string) (*os.File, error) {
	if records.URIEscape(uri) != "" {
		return nil, nil
	}
	f, err := c.open(s, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}
