package gltfexport

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // so that image.DecodeConfig knows it
	_ "image/png"  // likewise
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/glb"
	"github.com/untoldkit/untold/internal/ktx2"
	"github.com/untoldkit/untold/internal/picture"
	"github.com/untoldkit/untold/manifest/payloadpath"
)

// textures brings texture files into the output, each content once.
type textures struct {
	e        *exporter
	byPath   map[texturePath]int // texture of the document, -1 for an empty slot
	byHash   map[contentKey]int
	combined map[combination]int
	copies   []copyJob
	names    map[string]bool // of copies, in lower case
	memory   *picture.Budget // of what is decoded
	fitted   *fittedCutoffs
	sums     map[int][sha256.Size]byte // contents, by texture of the document
}

// texturePath is a texture file as a container names it, and what it is for, where that
// decides what is written.
type texturePath struct {
	dir, uri string
	role     texture.Role
}

// contentKey is what is written of a file.
type contentKey struct {
	sum  [sha256.Size]byte
	role texture.Role
}

// copyJob is a file that goes beside a .gltf.
type copyJob struct {
	from   texturePath
	name   string
	hash   [sha256.Size]byte // of the file
	decode bool
}

func newTextures(e *exporter) *textures {
	memory, fitted := picture.NewBudget(largest), &fittedCutoffs{}
	if e.opts.Textures != nil {
		memory, fitted = e.opts.Textures.memory, e.opts.Textures.fitted
	}
	return &textures{
		e: e, byPath: map[texturePath]int{}, byHash: map[contentKey]int{},
		combined: map[combination]int{}, names: map[string]bool{}, sums: map[int][sha256.Size]byte{},
		memory: memory, fitted: fitted,
	}
}

// texture returns the document's texture for a record in a role, -1 for an empty slot.
func (c *container) texture(record uint32, role texture.Role) (int, error) {
	if record == records.NoIndex {
		return -1, nil
	}
	t := &c.r.Textures()[record]
	if !c.opts.KTX2 {
		role = texture.Role{} // the file is the same for all
	}
	at := texturePath{c.dir, c.r.String(t.URIOffset), role}
	if k, ok := c.tex.byPath[at]; ok {
		return k, nil
	}
	k, err := c.tex.add(at, c.text(t.NameOffset))
	if err != nil {
		return -1, err
	}
	c.tex.byPath[at] = k
	return k, nil
}

// add brings a file into the document. Files that cannot be used are noted and
// leave an empty slot; errors are those of the output.
func (t *textures) add(at texturePath, name string) (int, error) {
	f := t.open(at)
	if f == nil {
		return -1, nil
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		t.e.notes.add("texture-damaged", 1, at.uri)
		return -1, nil
	}
	sum := [sha256.Size]byte(h.Sum(nil))
	if k, ok := t.byHash[contentKey{sum, at.role}]; ok {
		return k, nil
	}
	if name == "" {
		name = path.Base(at.uri)
	}
	k, err := t.place(f, imageJSON{Name: name}, at, sum, n)
	if err == nil && k >= 0 {
		t.byHash[contentKey{sum, at.role}], t.sums[k] = k, sum
	}
	return k, err
}

// place puts an open file of n bytes where the document can name it: into the
// buffer, or beside the .gltf unless it is there already.
func (t *textures) place(f *opened, img imageJSON, at texturePath, sum [sha256.Size]byte, n int64) (int, error) {
	var err error
	switch {
	case t.e.opts.KTX2:
		n, err = t.basis(&img, f, at, sum)
	case t.e.opts.Textures != nil:
		n, err = t.shareFile(&img, f, path.Base(at.uri), sum)
	case f.blocks():
		img.Name = decodedName(img.Name)
		if !t.e.doc.Binary() {
			img.URI, n = t.plan(copyJob{at, decodedName(path.Base(at.uri)), sum, true}), 0 // counted when it is written
			break
		}
		img.MimeType = "image/png"
		n, err = t.embed(&img, func(w io.Writer) error { return t.writePNG(w, f) })
	case t.e.doc.Binary():
		img.MimeType = f.mime
		_, err = t.embed(&img, func(w io.Writer) error {
			_, err := io.CopyN(w, f, n)
			return err
		})
	default:
		if img.URI = t.reference(f.Name()); img.URI == "" {
			img.URI = t.plan(copyJob{at, path.Base(at.uri), sum, false})
		}
	}
	if errors.Is(err, errDamaged) {
		t.e.notes.add("texture-damaged", 1, at.uri)
		return -1, nil
	}
	if err != nil {
		return -1, err
	}
	t.e.res.TextureBytes += n
	return t.document(img)
}

// document adds an image and a texture that shows it.
func (t *textures) document(img imageJSON) (int, error) {
	i, err := t.e.doc.add(glb.Images, img)
	if err != nil {
		return -1, err
	}
	if t.e.opts.KTX2 {
		t.e.doc.basis = true
		return t.e.doc.add(glb.Textures, textureJSON{Extensions: &textureExtraJSON{sourceJSON{i}}})
	}
	return t.e.doc.add(glb.Textures, textureJSON{Source: &i})
}

// opened is a texture file whose head has been checked.
type opened struct {
	*os.File
	mime string       // of what glTF takes as it is
	utex *utex.Reader // of what has to be decoded, or
	ktx2 *ktx2.File
}

// blocks reports whether glTF lacks the format, but for an extension.
func (o *opened) blocks() bool { return o.utex != nil || o.ktx2 != nil }

// open opens a texture and checks its head; it returns nil, and the reason is
// noted, when the file cannot be used.
func (t *textures) open(at texturePath) *opened {
	if records.URIEscape(at.uri) != "" {
		t.e.notes.add("texture-refused", 1, at.uri)
		return nil
	}
	// This refuses links that lead out of the folder.
	f, err := payloadpath.Open(at.dir, at.uri)
	if err != nil {
		code := "texture-damaged"
		if errors.Is(err, payloadpath.ErrEscapes) {
			code = "texture-refused"
		} else if errors.Is(err, fs.ErrNotExist) {
			code = "texture-missing"
		}
		t.e.notes.add(code, 1, at.uri)
		return nil
	}
	o, code := opened{File: f}, ""
	switch {
	case isUtex(f):
		o.utex, code = openUtex(f)
	case isKTX2(f):
		o.ktx2, code = openKTX2(f)
	default:
		o.mime, code = sniff(f)
	}
	if code == "" {
		if _, err := f.Seek(0, io.SeekStart); err == nil {
			return &o
		}
		code = "texture-damaged"
	}
	f.Close()
	t.e.notes.add(code, 1, at.uri)
	return nil
}

// sniff goes by the leading bytes, as loaders do, not by the name. code says
// why the file cannot be used.
func sniff(f io.ReadSeeker) (mime, code string) {
	head := make([]byte, picture.SniffBytes)
	n, err := io.ReadFull(f, head)
	if n < 8 || err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", "texture-damaged"
	}
	if mime = picture.Sniff(head[:n]).MIME; mime != "image/png" && mime != "image/jpeg" {
		return "", "texture-format"
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", "texture-damaged"
	}
	if c, _, err := image.DecodeConfig(f); err != nil || c.Width <= 0 || c.Height <= 0 {
		return "", "texture-damaged"
	}
	return mime, ""
}

// reference returns the uri of a file that lies below the output's folder, ""
// for others.
func (t *textures) reference(file string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(t.e.doc.Path()))
	if err != nil {
		return ""
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return ""
	}
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return ""
	}
	if real, err = filepath.Abs(real); err != nil {
		return ""
	}
	rel, err := filepath.Rel(dir, real)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return glb.EscapeURI(filepath.ToSlash(rel))
}

// folder is where copies go, beside the .gltf.
func (t *textures) folder() string { return t.e.doc.Stem() + "_textures" }

// plan notes that a file has to be copied, under the job's name or, when that is
// taken, another, and returns the copy's uri.
func (t *textures) plan(j copyJob) string {
	name := j.name
	ext := path.Ext(name)
	// File systems may ignore case.
	for k := 4; t.names[strings.ToLower(name)]; k += 4 {
		name = strings.TrimSuffix(j.name, ext) + "_" + hex.EncodeToString(j.hash[:min(k, len(j.hash))]) + ext
	}
	t.names[strings.ToLower(name)] = true
	j.name = name
	t.copies = append(t.copies, j)
	return glb.EscapeURI(filepath.Base(t.folder()) + "/" + name)
}

// commit copies, or decodes, what has been planned.
func (t *textures) commit() error {
	if len(t.copies) == 0 {
		return nil
	}
	if err := os.MkdirAll(t.folder(), 0o777); err != nil {
		return fmt.Errorf("gltfexport: %w", err)
	}
	for _, j := range t.copies {
		if err := t.e.ctx.Err(); err != nil {
			return err
		}
		if err := t.copy(j); err != nil {
			return fmt.Errorf("gltfexport: texture %q: %w", j.from.uri, err)
		}
	}
	return nil
}

func (t *textures) copy(j copyJob) error {
	f, err := payloadpath.Open(j.from.dir, j.from.uri)
	if err != nil {
		return err
	}
	defer f.Close()
	return atomicfile.WriteWith(filepath.Join(t.folder(), j.name), atomicfile.Options{NoSync: true}, func(w io.Writer) error {
		h := sha256.New()
		to := io.MultiWriter(w, h)
		if j.decode {
			to = h
		}
		if _, err := io.Copy(to, f); err != nil {
			return err
		}
		if [sha256.Size]byte(h.Sum(nil)) != j.hash {
			return errChanged
		}
		if j.decode {
			return t.writeDecoded(w, f)
		}
		return nil
	})
}
