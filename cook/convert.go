package cook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/cook/meshfile"
	"github.com/untoldkit/untold/cook/usd"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/partition"
)

// ConvertResult tells what Convert wrote.
type ConvertResult struct {
	Path          string         `json:"path"`
	Bytes         int64          `json:"bytes"`
	Objects       int            `json:"objects"`
	Meshes        int            `json:"meshes"`
	Vertices      int            `json:"vertices"`
	Triangles     int            `json:"triangles"`
	Materials     int            `json:"materials"`
	Textures      int            `json:"textures"`
	TextureBytes  int64          `json:"texture_bytes"`
	TextureTotals TextureTotals  `json:"texture_totals"`
	Bounds        records.Bounds `json:"bounds"`
	VertexCache   VertexCache    `json:"vertex_cache"`
	Notes         []Note         `json:"notes"`
}

// Convert turns one model into one container at out, with the textures in the
// folder Textures beside it. The error matches ErrNothing when the model has
// no triangles.
func Convert(ctx context.Context, model, out string, opts Options) (*ConvertResult, error) {
	if opts.PayloadDir == "" {
		opts.PayloadDir = DefaultOptions().PayloadDir
	}
	if err := opts.checkTextures(); err != nil {
		return nil, err
	}
	opts.HLODs = nil // levels are for scenes
	if err := checkOutputFile(model, out); err != nil {
		return nil, err
	}
	ns := &notes{}
	scene, _, objects, err := load(ctx, model, &opts, ns)
	if err != nil {
		return nil, err
	}
	defer scene.Close()
	o, err := newOutput(filepath.Dir(out), opts.output())
	if err != nil {
		return nil, err
	}
	defer o.endHolds()
	if err := o.finishOthers(); err != nil {
		o.discard()
		return nil, err
	}
	res, err := convertInto(ctx, model, scene, objects, o, filepath.Base(out), &opts, ns)
	if err != nil {
		o.discard()
		return nil, err
	}
	old, err := o.texturesIn(filepath.Base(out))
	if err == nil {
		err = o.move(filepath.Base(out))
	}
	if err != nil {
		o.discard()
		return nil, err
	}
	if err := o.removeUnnamed(ctx, filepath.Base(out), old, model, scene); err != nil {
		return nil, fmt.Errorf("cook: %s is written, but textures of the one before could not be removed: %w", out, err)
	}
	res.Path = out
	return res, nil
}

// removeUnnamed removes textures that the replaced container named, and that no container in
// the folder does any more. While another conversion is at work there they stay: it may be
// about to name them. Beside models they stay, too: a texture that a model brought and one
// that a conversion has put there look the same.
func (o *output) removeUnnamed(ctx context.Context, container string, old []string, model string, s *gltfscene.Scene) error {
	if len(old) == 0 {
		return nil
	}
	stages, err := o.files.ReadDir(journal.Folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if slices.ContainsFunc(stages, func(d fs.DirEntry) bool { return journal.IsStage(d.Name()) }) {
		return nil
	}
	list, err := o.files.ReadDir(".")
	if err != nil {
		return err
	}
	sources := sourcesOf(s)
	own := "" // the model, where it brings nothing
	if strings.EqualFold(filepath.Ext(model), ".glb") && len(sources) == 0 {
		own = filepath.Base(model)
	}
	stays := map[string]bool{}
	for _, d := range list {
		if isModel(d.Name()) && d.Name() != own {
			return nil
		}
		if !strings.EqualFold(path.Ext(d.Name()), partition.PayloadExt) && d.Name() != container {
			continue
		}
		known, err := o.addNamed(d.Name(), stays)
		if err != nil || !known {
			return err // nobody can tell what it names
		}
	}
	for _, name := range old {
		if err := ctx.Err(); err != nil {
			return err
		}
		if stays[journal.Fold(path.Base(name))] {
			continue
		}
		if reached, err := journal.Reaches(o.files, name); err != nil || !reached {
			continue // behind a link nothing is ours
		}
		st, err := o.files.Lstat(name)
		if err != nil || slices.ContainsFunc(sources, func(x fs.FileInfo) bool { return os.SameFile(x, st) }) {
			continue
		}
		if err := o.files.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// addNamed adds, folded, the last elements of what a container names: readers look for
// these, too. known is false for a damaged container and for one behind a link.
func (o *output) addNamed(container string, to map[string]bool) (known bool, err error) {
	st, err := o.files.Lstat(container)
	if err != nil || !st.Mode().IsRegular() {
		return false, err
	}
	f, err := o.files.Open(container)
	if err != nil {
		return false, err
	}
	defer f.Close()
	r, err := format.NewReader(f, st.Size())
	if err != nil {
		return false, nil
	}
	for _, t := range r.Textures() {
		to[journal.Fold(path.Base(r.String(t.URIOffset)))] = true
	}
	return true, nil
}

// isModel reports whether a name ends like a file that may name textures of its own.
func isModel(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".gltf", ".glb", ".mtl", ".fbx", ".blend", ".dae":
		return true
	}
	return meshfile.FormatOf(name) != meshfile.None || usd.IsName(name)
}

// sourcesOf lists the files that the images of a scene are.
func sourcesOf(s *gltfscene.Scene) (list []fs.FileInfo) {
	for i := range s.Images {
		if file, _ := s.Images[i].External(); file != "" {
			if st, err := os.Stat(file); err == nil {
				list = append(list, st)
			}
		}
	}
	return list
}

// checkOutputFile refuses outputs that name no file, or the model itself.
func checkOutputFile(model, out string) error {
	if b := filepath.Base(out); out == "" || b == "." || b == ".." || os.IsPathSeparator(out[len(out)-1]) {
		return fmt.Errorf("cook: output %q names no file", out)
	}
	st, err := os.Stat(out)
	if err != nil {
		return nil // the usual case, or writing will tell
	}
	if st.IsDir() {
		return fmt.Errorf("cook: output %s is a folder; name a file such as %s", out, filepath.Join(out, "model.untold"))
	}
	if err := atomicfile.Replaceable(out); err != nil {
		return fmt.Errorf("cook: output: %w", err)
	}
	if in, err := os.Stat(model); err == nil && os.SameFile(in, st) {
		return fmt.Errorf("cook: output %s is the model itself; choose another name", out)
	}
	return nil
}

func convertInto(ctx context.Context, model string, s *gltfscene.Scene, objects []object, o *output, name string, opts *Options, ns *notes) (*ConvertResult, error) {
	members := make([]int, len(objects))
	for i := range members {
		members[i] = i
	}
	r := newRoom(s, objects, opts)
	whole, _ := r.load(members, func(int) int64 { return 1 }, nil)
	if err := r.check(model, name, members, whole, false); err != nil {
		return nil, err
	}
	images, err := newTextures(ctx, s, o.stage, opts, ns, nil)
	if err != nil {
		return nil, err
	}
	if err := images.publish(); err != nil {
		return nil, err
	}
	if err := o.nameTextures(images); err != nil {
		return nil, err
	}
	b := newTileBuilder(s, objects, images.staged, opts, ns)
	var counted []memberNote
	t, err := b.build(ctx, opts.FileType, members, func(i int) (member, error) {
		parts, err := b.bake(i)
		return member{object: i, parts: parts, notes: &counted}, err
	}, nil)
	if err != nil {
		return nil, err
	}
	ns.members(counted, objects)
	if t == nil {
		return nil, nothing(model, s, ns)
	}
	f := t.file
	w, err := o.write(name, func(w io.Writer) error {
		_, err := f.WriteTo(w, opts.containers())
		return err
	})
	if err != nil {
		return nil, err
	}
	res := &ConvertResult{
		Bytes: w.size, Objects: len(objects), Meshes: len(f.Meshes), Materials: len(f.Materials),
		Vertices: len(f.Vertices) / vertex.Size, Triangles: triangles(f),
		VertexCache: VertexCache{t.order.ACMRBefore, t.order.ACMRAfter, t.order.ATVRBefore, t.order.ATVRAfter},
		Notes:       allNotes(s, ns),
	}
	res.Bounds, _ = f.Bounds()
	if err := images.prune(usedTextures([]payload{{textures: texturesOf(f)}}, nil)); err != nil {
		return nil, err
	}
	res.TextureTotals = images.totals()
	res.Textures, res.TextureBytes = res.TextureTotals.Files, res.TextureTotals.Bytes
	return res, nil
}

func triangles(f *format.File) int {
	n := 0
	for i := range f.Meshes {
		n += int(f.Meshes[i].IndexCount) / 3
	}
	return n
}

// load opens the scene and finds its objects; a scene without triangles is
// ErrNothing. The caller closes the scene.
func load(ctx context.Context, path string, opts *Options, ns *notes) (*gltfscene.Scene, *survey, []object, error) {
	opts.progress("load", 0, 1)
	in, err := openInput(ctx, path, opts)
	if err != nil {
		return nil, nil, nil, err
	}
	s, v := in.scene, in.seen
	objects, err := objectsOf(s, v, ns)
	if err == nil && len(objects) == 0 {
		if n := len(opts.Items); n > 1 { // the path only names the scene
			path = fmt.Sprintf("%s (%s)", strings.TrimSuffix(path, filepath.Ext(path)), human.Plural(n, "file"))
		}
		err = nothing(path, s, ns)
	}
	if err != nil {
		s.Close()
		return nil, nil, nil, err
	}
	opts.progress("load", 1, 1)
	return s, v, objects, nil
}

// geometryShare is the part of the memory that decoded geometry may take which nothing
// needs at the moment.
const geometryShare = 4

// NothingError is ErrNothing with what was skipped.
type NothingError struct {
	Path  string // of the scene file
	Notes []Note // what was skipped and why
}

// Error names the file and the counts of what was skipped, on one line.
func (e *NothingError) Error() string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: nothing to cook: the scene has no triangles", e.Path)
	sep := " ("
	for _, n := range e.Notes {
		fmt.Fprintf(&b, "%s%d x %s", sep, n.Count, n.Message)
		if n.Where != "" {
			fmt.Fprintf(&b, ", first at %s", n.Where)
		}
		sep = "; "
	}
	if sep == "; " {
		b.WriteByte(')')
	}
	return b.String()
}

// Unwrap makes errors.Is(err, ErrNothing) hold.
func (e *NothingError) Unwrap() error { return ErrNothing }

func nothing(path string, s *gltfscene.Scene, ns *notes) error {
	return &NothingError{Path: path, Notes: allNotes(s, ns)}
}

// nameTextures names staged textures by their content: single models of one folder share its
// Textures, and the bytes of a container must not depend on what lies there.
func (o *output) nameTextures(t *textures) error {
	folder := filepath.Join(o.stage, texture.Folder)
	users := map[string][]*string{} // images of one content share names
	var order []string
	seen := map[*string]bool{} // so do the roles of one image
	for i := range t.staged {
		for _, name := range t.files(i) {
			if seen[name] {
				continue
			}
			seen[name] = true
			if users[*name] == nil {
				order = append(order, *name)
			}
			users[*name] = append(users[*name], name)
		}
	}
	// By way of names that no texture has: one may be called what another becomes.
	between := func(i int) string { return filepath.Join(folder, fmt.Sprintf(".named-%d", i)) }
	for i, name := range order {
		to, err := o.nameTexture(name)
		if err == nil {
			err = os.Rename(filepath.Join(folder, name), between(i))
		}
		if err != nil {
			return err
		}
		for _, n := range users[name] {
			*n = to
		}
	}
	for i, name := range order {
		if err := os.Rename(between(i), filepath.Join(folder, *users[name][0])); err != nil {
			return err
		}
	}
	return nil
}

// nameTexture returns the name of a staged texture. What the output folder has by that name
// must be the same.
func (o *output) nameTexture(name string) (string, error) {
	data, err := os.ReadFile(filepath.Join(o.stage, texture.Folder, name))
	if err != nil {
		return "", err
	}
	to := texture.ContentName(name, data)
	there := filepath.Join(o.dir, texture.Folder, to)
	st, err := os.Stat(there)
	if err != nil {
		return to, nil // the usual case, or writing will tell
	}
	if st.Mode().IsRegular() && st.Size() == int64(len(data)) {
		old, err := os.ReadFile(there)
		if err != nil {
			return "", err
		}
		if bytes.Equal(old, data) {
			return to, nil
		}
	}
	return "", fmt.Errorf("cook: %s is there, and is not the texture that its name says; remove it, or choose another folder", there)
}
