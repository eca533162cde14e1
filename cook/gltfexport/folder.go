package gltfexport

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image/png"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/glb"
	"github.com/untoldkit/untold/internal/picture"
)

// TextureFolder is a folder in which several outputs keep their textures, each
// content once. Names tell the content, so that they do not depend on who came first.
// It may be used by several exports at a time.
type TextureFolder struct {
	dir    string          // where files are written
	final  string          // where they will be
	memory *picture.Budget // of what is decoded, by all together

	mu   sync.Mutex
	made map[string]*sharedTexture // by name
}

// sharedTexture is a file of the folder, which one of those who want it makes.
type sharedTexture struct {
	once    sync.Once
	bytes   int64
	damaged bool
	err     error
}

// NewTextureFolder returns the folder at dir, which is made when it gets its first file.
func NewTextureFolder(dir string) *TextureFolder {
	return &TextureFolder{dir: dir, final: dir, memory: picture.NewBudget(largest), made: map[string]*sharedTexture{}}
}

// stagedFolder returns a folder whose files appear at dir with commit alone.
func stagedFolder(dir string) (*TextureFolder, error) {
	stage, err := os.MkdirTemp(filepath.Dir(dir), ".textures-*")
	if err != nil {
		return nil, fmt.Errorf("gltfexport: %w", err)
	}
	d := NewTextureFolder(stage)
	d.final = dir
	return d, nil
}

// commit moves the files of a staged folder to their place.
func (d *TextureFolder) commit() error {
	for name, f := range d.made {
		if f.damaged {
			continue
		}
		if err := os.MkdirAll(d.final, 0o777); err != nil {
			return fmt.Errorf("gltfexport: %w", err)
		}
		if err := os.Rename(filepath.Join(d.dir, name), filepath.Join(d.final, name)); err != nil {
			return fmt.Errorf("gltfexport: %w", err)
		}
	}
	return nil
}

// drop removes what is left of a staged folder.
func (d *TextureFolder) drop() { os.RemoveAll(d.dir) }

// Files returns how many files were written, and their bytes.
func (d *TextureFolder) Files() (n int, size int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range d.made {
		if !f.damaged && f.err == nil {
			n, size = n+1, size+f.bytes
		}
	}
	return n, size
}

// put writes a file unless it is there. write says whether its source is damaged.
func (d *TextureFolder) put(name string, write func(io.Writer) (damaged bool, err error)) *sharedTexture {
	d.mu.Lock()
	f := d.made[name]
	if f == nil {
		f = &sharedTexture{}
		d.made[name] = f
	}
	d.mu.Unlock()
	f.once.Do(func() {
		if f.err = os.MkdirAll(d.dir, 0o777); f.err != nil {
			return
		}
		f.err = atomicfile.WriteWith(filepath.Join(d.dir, name), atomicfile.Options{NoSync: true}, func(w io.Writer) error {
			c := counter{w: w}
			damaged, err := write(&c)
			f.bytes, f.damaged = c.n, damaged
			if damaged {
				return errDamaged
			}
			return err
		})
		if f.damaged {
			f.err = nil
		}
	})
	return f
}

// sharedName names a file by its content, so that no other content has the name.
func sharedName(stem string, sum [sha256.Size]byte, ext string) string {
	stem = strings.ToValidUTF8(stem[:min(len(stem), 150)], "")
	return stem + "_" + hex.EncodeToString(sum[:16]) + strings.ToLower(ext[:min(len(ext), 16)])
}

// errDamaged is of textures that cannot be read; their slots stay empty.
var errDamaged = fmt.Errorf("gltfexport: the texture is damaged")

// share puts an open texture file into the folder and returns the uri from the output.
func (t *textures) share(f *opened, name string, sum [sha256.Size]byte) (uri string, n int64, damaged bool, err error) {
	if f.utex != nil {
		name = decodedName(name)
	}
	ext := path.Ext(name)
	name = sharedName(name[:len(name)-len(ext)], sum, ext)
	s := t.e.opts.Textures.put(name, func(w io.Writer) (bool, error) {
		if f.utex == nil {
			_, err := io.Copy(w, f)
			return false, err
		}
		free, err := t.room(f.utex)
		if err != nil {
			return false, err
		}
		defer free()
		pixels, err := decodeUtex(f.utex)
		if err != nil {
			return true, nil
		}
		return false, png.Encode(w, pixels)
	})
	if s.damaged || s.err != nil {
		return "", 0, s.damaged, s.err
	}
	uri, err = t.uri(name)
	return uri, s.bytes, false, err
}

// sharePair puts a texture into the folder that is made of two.
func (t *textures) sharePair(c *container, rough, metal source) (uri string, n int64, damaged bool, err error) {
	h := sha256.New()
	for _, s := range []source{rough, metal} {
		sum := t.sums[s.texture] // zero for none
		fmt.Fprintf(h, "%x %d\n", sum, s.channel)
	}
	ext := ".png"
	if t.e.opts.KTX2 {
		ext = ktx2Ext
	}
	name := sharedName("metallicRoughness", [sha256.Size]byte(h.Sum(nil)), ext)
	s := t.e.opts.Textures.put(name, func(w io.Writer) (bool, error) {
		out := c.combined(rough, metal)
		if out == nil {
			return true, nil
		}
		if t.e.opts.KTX2 {
			return false, texture.WriteKTX2(t.e.ctx, w, out, dataRole)
		}
		return false, png.Encode(w, out)
	})
	if s.damaged || s.err != nil {
		return "", 0, s.damaged, s.err
	}
	uri, err = t.uri(name)
	return uri, s.bytes, false, err
}

// uri leads from the output to a file of the folder.
func (t *textures) uri(name string) (string, error) {
	rel, err := filepath.Rel(filepath.Dir(t.e.doc.Path()), filepath.Join(t.e.opts.Textures.final, name))
	if err != nil {
		return "", fmt.Errorf("gltfexport: %w", err)
	}
	return glb.EscapeURI(filepath.ToSlash(rel)), nil
}
