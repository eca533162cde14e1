package gltfscene

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/untoldkit/untold/internal/filestamp"
	"github.com/untoldkit/untold/internal/scratch"
)

// Made is a scene that a program has made of a file of another format. Its URIs are
// relative to that file's folder.
type Made struct {
	JSON   []byte
	Buffer *os.File // the bytes of buffer 0, which has no URI; nil for none
	Size   int64    // of them
	// Files are what it was made of beside the named file: absolute paths.
	Files []string
	// Images are the places, such as "wood.mtl: line 12: map_Kd", that name the images of
	// JSON.
	Images []string
	// Notes come before those of the import.
	Notes []Note
}

// Close lets go of the buffer.
func (m *Made) Close() {
	if m.Buffer != nil {
		scratch.Close(m.Buffer)
		m.Buffer = nil
	}
}

// store is that of the buffer, nil for none.
func (m *Made) store() *inFile {
	if m.Buffer == nil {
		return nil
	}
	return &inFile{m.Buffer, "(temporary)"}
}

// OpenFile opens a file of a scene whose name a user gave, which may be a link to
// anywhere. The error is an *Error.
func OpenFile(name string) (*os.File, fs.FileInfo, error) {
	f, info, err := openRegular(name)
	if err != nil {
		return nil, nil, named(name, sceneError(err))
	}
	return f, info, nil
}

// OpenMade is Open for what was made of the file at name, which main is and whose place
// in messages it takes; info is what main was before it was read. It owns main and m, also
// when it fails.
func OpenMade(ctx context.Context, name string, main *os.File, info fs.FileInfo, m *Made, opts Options, keep int64, look func(s *Scene, mesh int, list []Primitive) error) (*Scene, error) {
	fail := func(err error) (*Scene, error) {
		main.Close()
		m.Close()
		return nil, err
	}
	dir, base := filepath.Split(name)
	if dir == "" {
		dir = "."
	}
	src := dirSource{dir: dir, parents: opts.AllowParentPaths}
	// What was made may be larger than the file; nothing of it overlaps.
	im := newImporter(ctx, name, int64(len(m.JSON))+m.Size, src, opts, keep)
	im.notes.take(m.Notes)
	box, own := container{json: m.JSON, images: m.Images}, m.store()
	if own != nil {
		box.hasBin, box.bin = true, extent{own, 0, int(m.Size)}
	}
	if look == nil {
		look = func(*Scene, int, []Primitive) error { return nil }
	}
	if err := im.finish(name, func() (container, error) { return box, nil }, look); err != nil {
		return fail(err)
	}
	s := im.scene
	if m.Buffer != nil {
		s.geometry.spills = append(s.geometry.spills, m.Buffer)
	}
	s.geometry.own, s.geometry.main, s.geometry.stamp = own, main, filestamp.Of(info)
	s.Files = append(append([]string{}, m.Files...), s.Files...)
	s.listFiles(src.path(base))
	return s, nil
}
