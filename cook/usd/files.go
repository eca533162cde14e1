package usd

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/beside"
	"github.com/untoldkit/untold/cook/usd/internal/layer"
)

// opened is a file that is read by ranges.
type opened interface {
	io.ReaderAt
	io.Closer
}

// folder is what lies beside the scene's file. Names are slash-separated and relative to it.
type folder interface {
	// open opens a regular file and returns its size and its absolute path.
	open(name string) (opened, int64, string, error)
	// find returns the name under which a file is there, whose letters may differ by
	// case; "" for none.
	find(name string) string
}

// disk is a folder of the operating system.
type disk struct{ *beside.Folder }

func (d disk) open(name string) (opened, int64, string, error) {
	f, at, err := d.Open(name)
	if err != nil {
		return nil, 0, "", err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, "", err
	}
	return f, st.Size(), at, nil
}

func (d disk) find(name string) string { return d.Find(name) }

// source is a file: of the folder, or of a package (.usdz) there.
type source struct {
	pkg  *archive // nil for the folder
	name string
}

// String names it for messages: "kit.usdz[chair.usdc]".
func (s source) String() string {
	if s.pkg == nil {
		return s.name
	}
	return s.pkg.name + "[" + s.name + "]"
}

// archive is an open package.
type archive struct {
	name  string
	files map[string]*zip.File // by their names, without case too
	first string               // the layer that the package stands for
	r     io.ReaderAt
}

// Bounds of packages.
const (
	maxEntries  = 1 << 16
	maxPackages = 16 // packages within packages
	// smallLayer is what a layer may have to be kept in memory, and not open.
	smallLayer = 4 << 20
)

// openArchive reads the list of what is in a package.
func openArchive(name string, r io.ReaderAt, size int64) (*archive, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, malformed(name, "is no package: %v", err)
	}
	if len(z.File) > maxEntries {
		return nil, malformed(name, "has %d files, more than %d", len(z.File), maxEntries)
	}
	a := &archive{name: name, files: map[string]*zip.File{}, r: r}
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		plain := path.Clean(strings.ReplaceAll(f.Name, `\`, "/"))
		for _, n := range []string{plain, strings.ToLower(plain)} {
			if a.files[n] == nil {
				a.files[n] = f
			}
		}
		if a.first == "" && (isLayer(plain) || isPackage(plain)) {
			a.first = plain
		}
	}
	if a.first == "" {
		return nil, malformed(name, "the package holds no layer (.usdc, .usda or .usd)")
	}
	return a, nil
}

// open returns the bytes of a file of a package.
func (a *archive) open(name string) (*io.SectionReader, error) {
	f := a.files[name]
	if f == nil {
		if f = a.files[strings.ToLower(name)]; f == nil {
			return nil, fs.ErrNotExist
		}
	}
	place := source{a, name}.String()
	if f.Method != zip.Store {
		return nil, &gltfscene.Error{
			Place: place, Reason: "is compressed within its package, which packages of USD do not allow",
			Hint: "unpack it and cook the layer in it", Err: gltfscene.ErrUnsupported,
		}
	}
	at, err := f.DataOffset()
	if err != nil {
		return nil, malformed(place, "is no file of the package: %v", err)
	}
	if f.Flags&1 != 0 || f.CompressedSize64 != f.UncompressedSize64 || f.UncompressedSize64 > 1<<62 {
		return nil, malformed(place, "has an impossible size, or is encrypted")
	}
	return io.NewSectionReader(a.r, at, int64(f.UncompressedSize64)), nil
}

// isLayer reports whether a file's name ends like that of a layer.
func isLayer(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".usd", ".usda", ".usdc":
		return true
	}
	return false
}

func isPackage(name string) bool { return strings.EqualFold(path.Ext(name), ".usdz") }

// errElsewhere refuses addresses.
var errElsewhere = errors.New("is at an address; nothing is fetched from a network")

// resolve finds the file that another one names.
func (r *reader) resolve(from source, name, place string) (source, error) {
	return r.resolveIn(from, name, place, 0)
}

// resolveIn is resolve for a name that stands in so many names of packages.
func (r *reader) resolveIn(from source, name, place string, depth int) (source, error) {
	if strings.Contains(name, "://") {
		return source{}, &gltfscene.Error{Place: place, Reason: fmt.Sprintf("file %q %v", clip(name), errElsewhere), Hint: "download it beside the scene", Err: gltfscene.ErrUnsupported}
	}
	name, _, _ = strings.Cut(name, ":SDF_FORMAT_ARGS:") // which layers of text and crates do not have
	outer, inner, within := name, "", false
	if strings.HasSuffix(name, "]") { // else brackets are part of a name
		outer, inner, within = strings.Cut(name, "[")
		inner = strings.TrimSuffix(inner, "]")
	}
	if from.pkg != nil {
		tidy := strings.ReplaceAll(outer, `\`, "/")
		for _, n := range []string{path.Join(path.Dir(from.name), tidy), path.Clean(tidy)} {
			if _, err := from.pkg.open(n); err == nil || !errors.Is(err, fs.ErrNotExist) {
				return r.into(source{from.pkg, n}, inner, within, place, depth)
			}
		}
		return source{}, &gltfscene.Error{Place: place, Reason: fmt.Sprintf("file %q is not in the package %s", clip(name), from.pkg.name), Err: gltfscene.ErrMissingFile}
	}
	tidy, absolute, err := beside.TidyName(path.Dir(from.name), outer, r.opts.AllowParentPaths)
	if err != nil {
		return source{}, &gltfscene.Error{
			Place: place, Reason: fmt.Sprintf("the name %q %v", clip(name), err),
			Hint: "Options.AllowParentPaths permits it for files that you trust", Err: gltfscene.ErrOutsideFolder,
		}
	}
	if absolute {
		r.note("absolute-names", false, place, "files are named by a path of another machine; they were looked for beside the file that names them")
	}
	found := r.beside.find(tidy)
	if found == "" {
		return source{}, &gltfscene.Error{Place: place, Reason: fmt.Sprintf("file %q is missing", clip(tidy)), Hint: "put it there, or leave it out with Options.AllowMissingImages", Err: errors.Join(gltfscene.ErrMissingFile, fs.ErrNotExist)}
	}
	return r.into(source{nil, found}, inner, within, place, depth)
}

// into goes on in a package, to its first layer where no other is named.
func (r *reader) into(s source, inner string, within bool, place string, depth int) (source, error) {
	if !isPackage(s.name) {
		return s, nil
	}
	if depth++; depth > maxPackages {
		return s, malformed(place, "packages nest more than %d levels", maxPackages)
	}
	a, err := r.archive(s)
	if err != nil {
		return s, err
	}
	if !within {
		return r.into(source{a, a.first}, "", false, place, depth)
	}
	return r.resolveIn(source{a, ""}, inner, place, depth)
}

// archive opens a package once.
func (r *reader) archive(s source) (*archive, error) {
	key := s.String()
	if a := r.archives[key]; a != nil {
		return a, nil
	}
	f, size, err := r.open(s)
	if err != nil {
		return nil, err
	}
	r.keep = append(r.keep, f)
	a, err := openArchive(key, f, size)
	if err != nil {
		return nil, err
	}
	r.archives[key] = a
	return a, nil
}

type noClose struct{ io.ReaderAt }

func (noClose) Close() error { return nil }

// open opens a file and lists it among those that the scene comes from.
func (r *reader) open(s source) (opened, int64, error) {
	if s.pkg != nil {
		f, err := s.pkg.open(s.name)
		if err != nil {
			return nil, 0, err
		}
		return noClose{f}, f.Size(), nil
	}
	if s.name == r.main.name {
		return noClose{r.mainFile}, r.mainSize, nil
	}
	f, size, at, err := r.beside.open(s.name)
	if err != nil {
		return nil, 0, &gltfscene.Error{Reason: fmt.Sprintf("file %q cannot be read: %v", s.name, plainReason(err)), Err: errors.Join(gltfscene.ErrMissingFile, err)}
	}
	if !r.listed[at] {
		r.listed[at] = true
		r.sources = append(r.sources, at)
	}
	return f, size, nil
}

// plainReason is an error of a file without the name.
func plainReason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// layer reads a layer once.
func (r *reader) layer(s source) (*loaded, error) {
	key := s.String()
	if l := r.layers[key]; l != nil {
		return l, nil
	}
	if len(r.layers) >= maxLayers {
		return nil, tooLarge(key, "the scene has more than %d layers", maxLayers)
	}
	f, size, err := r.open(s)
	if err != nil {
		return nil, err
	}
	l, kept, err := r.parse(f, size)
	if !kept {
		f.Close()
	} else {
		r.keep = append(r.keep, f)
	}
	if err != nil {
		return nil, layerError(key, s == r.main, err)
	}
	if r.parsed += l.Bytes; r.parsed > r.opts.memory() {
		return nil, tooLarge(key, "the prims of all layers take more than %d bytes", r.opts.memory())
	}
	out := &loaded{Layer: l, source: s, number: len(r.layers)}
	r.layers[key] = out
	return out, nil
}

// parse reads a layer by its first bytes; kept says that the file is still read.
func (r *reader) parse(f io.ReaderAt, size int64) (l *layer.Layer, kept bool, err error) {
	head := make([]byte, min(size, 16))
	if _, err := f.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, false, err
	}
	crate := layer.IsCrate(head)
	whole := !crate || size <= smallLayer && r.inMemory+size <= r.opts.memory()/4
	if !whole {
		l, err = layer.OpenCrate(r.ctx, f, size, r.opts.memory()/4)
		return l, true, err
	}
	if r.inMemory += size; r.inMemory > r.opts.memory()/2 {
		return nil, false, tooLarge("", "its text layers have more than %d bytes, half of the memory", r.opts.memory()/2)
	}
	data := make([]byte, size)
	if _, err := f.ReadAt(data, 0); err != nil && err != io.EOF {
		return nil, false, err
	}
	if crate {
		l, err = layer.OpenCrate(r.ctx, bytes.NewReader(data), size, r.opts.memory()/4)
	} else {
		l, err = layer.ParseText(r.ctx, data, r.opts.memory()-r.parsed)
	}
	return l, false, err
}

// layerError makes an error of a layer one of the import.
func layerError(name string, main bool, err error) error {
	var e *layer.Error
	if !errors.As(err, &e) {
		return err
	}
	kind := gltfscene.ErrMalformed
	switch {
	case errors.Is(err, layer.ErrUnsupported):
		kind = gltfscene.ErrUnsupported
	case errors.Is(err, layer.ErrTooLarge):
		kind = gltfscene.ErrTooLarge
	}
	out := &gltfscene.Error{Place: e.Place, Reason: e.Reason, Err: kind}
	if !main {
		if out.Place = name; e.Place != "" {
			out.Place += ": " + e.Place
		}
	}
	return out
}
