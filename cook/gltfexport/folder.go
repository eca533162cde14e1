package gltfexport

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

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
	fitted *fittedCutoffs  // likewise

	// Earlier, when set before the first use, puts a file of this name that was made
	// before at path and returns its bytes; false when there is none, and it is made.
	Earlier func(name, path string) (bytes int64, ok bool)

	mu   sync.Mutex
	made map[string]*sharedTexture // by name
}

// sharedTexture is a file of the folder, which one of those who want it makes.
type sharedTexture struct {
	once  sync.Once
	bytes int64
	err   error // errDamaged: there is none
}

// NewTextureFolder returns the folder at dir, which is made when it gets its first file.
func NewTextureFolder(dir string) *TextureFolder {
	return &TextureFolder{dir: dir, final: dir, memory: picture.NewBudget(largest), fitted: &fittedCutoffs{}, made: map[string]*sharedTexture{}}
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
		if f.err != nil {
			continue // of a damaged texture: others end the export
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
		if f.err == nil {
			n, size = n+1, size+f.bytes
		}
	}
	return n, size
}

// Keep adds a file that was made before, by Earlier, and is false when there is none.
func (d *TextureFolder) Keep(name string) bool { return d.put(name, nil).err == nil }

// errNotKept is of a file that only Keep has asked for, and that was not made before.
var errNotKept = errors.New("gltfexport: the texture was not made before")

// put writes a file unless it is there; without write it has to be one that was made before.
func (d *TextureFolder) put(name string, write func(io.Writer) error) *sharedTexture {
	for {
		f := d.only(name, write)
		if write == nil || !errors.Is(f.err, errNotKept) {
			return f
		}
		// Somebody else asked for it without making it: it is forgotten by now.
	}
}

// only writes a file, or waits for who does.
func (d *TextureFolder) only(name string, write func(io.Writer) error) *sharedTexture {
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
		if d.Earlier != nil {
			var kept bool
			if f.bytes, kept = d.Earlier(name, filepath.Join(d.dir, name)); kept {
				return
			}
		}
		if write == nil {
			f.err = errNotKept
			d.mu.Lock()
			delete(d.made, name) // whoever needs it makes it
			d.mu.Unlock()
			return
		}
		f.err = atomicfile.WriteWith(filepath.Join(d.dir, name), atomicfile.Options{NoSync: true}, func(w io.Writer) error {
			c := counter{w: w}
			err := write(&c)
			f.bytes = c.n
			return err
		})
	})
	return f
}

// sharedName names a file by its content, so that no other content has the name.
func sharedName(stem string, sum [sha256.Size]byte, ext string) string {
	stem = strings.ToValidUTF8(stem[:min(len(stem), 150)], "")
	return stem + "_" + hex.EncodeToString(sum[:16]) + strings.ToLower(ext[:min(len(ext), 16)])
}

// errDamaged is of textures that cannot be read; their slots stay empty.
var errDamaged = errors.New("gltfexport: the texture is damaged")

// share puts a file that write writes into the shared folder, under a name of its content,
// and returns its bytes. What cannot be read is errDamaged.
func (t *textures) share(img *imageJSON, name string, write func(io.Writer) error) (n int64, err error) {
	s := t.e.opts.Textures.put(name, write)
	if s.err != nil {
		return 0, s.err
	}
	t.e.res.Shared = append(t.e.res.Shared, name)
	img.URI, err = t.uri(name)
	return s.bytes, err
}

// shareFile puts an open texture file into the shared folder.
func (t *textures) shareFile(img *imageJSON, f *opened, name string, sum [sha256.Size]byte) (n int64, err error) {
	if f.blocks() {
		name = decodedName(name)
	}
	ext := path.Ext(name)
	return t.share(img, sharedName(name[:len(name)-len(ext)], sum, ext), func(w io.Writer) error {
		if !f.blocks() {
			_, err := io.Copy(w, f)
			return err
		}
		return t.writePNG(w, f)
	})
}

// pairName names a texture that is made of two by their contents.
func (t *textures) pairName(rough, metal source) string {
	h := sha256.New()
	for _, s := range []source{rough, metal} {
		sum := t.sums[s.texture] // zero for none
		fmt.Fprintf(h, "%x %d\n", sum, s.channel)
	}
	ext := ".png"
	if t.e.opts.KTX2 {
		ext = ktx2Ext
	}
	return sharedName("metallicRoughness", [sha256.Size]byte(h.Sum(nil)), ext)
}

// uri leads from the output to a file of the folder.
func (t *textures) uri(name string) (string, error) {
	rel, err := filepath.Rel(filepath.Dir(t.e.doc.Path()), filepath.Join(t.e.opts.Textures.final, name))
	if err != nil {
		return "", fmt.Errorf("gltfexport: %w", err)
	}
	return glb.EscapeURI(filepath.ToSlash(rel)), nil
}
