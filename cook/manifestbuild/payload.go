package manifestbuild

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/payloadpath"
)

// relative returns the path of a file from the manifest's folder, with
// slashes. The error matches payloadpath.ErrEscapes when it lies outside.
func relative(dir, file string) (string, error) {
	for _, real := range []bool{false, true} {
		rel, err := relativeTo(dir, file, real)
		if err != nil {
			return "", fmt.Errorf("manifestbuild: %w", err)
		}
		if filepath.IsLocal(rel) {
			rel = filepath.ToSlash(rel)
			return rel, payloadpath.Check(rel)
		}
	}
	return "", &payloadpath.Error{Path: file, Reason: fmt.Sprintf("is not in the manifest's folder %s", dir)}
}

// relativeTo compares the paths, with real behind all links to folders: a
// folder may have several names.
func relativeTo(dir, file string, real bool) (string, error) {
	folder, base := filepath.Split(file)
	if folder == "" {
		folder = "."
	}
	if real {
		var err error
		if dir, err = filepath.EvalSymlinks(dir); err != nil {
			return "", err
		}
		if folder, err = filepath.EvalSymlinks(folder); err != nil {
			return "", err
		}
	}
	from, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	return filepath.Rel(from, filepath.Join(to, base))
}

// payload is one container and what it tells.
type payload struct {
	path      string // from the manifest's folder, with slashes
	kind      format.FileType
	size      int64
	sha256    string
	triangles int
	memory    int64 // of the geometry, decoded
	bounds    manifest.Bounds
}

// stem is the file's name without the ending.
func (p *payload) stem() string {
	base := path.Base(p.path)
	return strings.TrimSuffix(base, path.Ext(base))
}

// read opens the container, checks its content hash and gathers its figures.
func (p *payload) read(dir string) error {
	f, err := payloadpath.Open(dir, p.path)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return fmt.Errorf("manifestbuild: %s: %w", p.path, err)
	}
	r, err := format.NewReader(f, st.Size(), format.VerifyOnOpen())
	if err != nil {
		return fmt.Errorf("manifestbuild: %s: %w", p.path, err)
	}
	h := sha256.New()
	if p.size, err = io.Copy(h, io.NewSectionReader(f, 0, st.Size())); err == nil && p.size != st.Size() {
		err = errors.New("the file changed while it was read")
	}
	if err != nil {
		return fmt.Errorf("manifestbuild: %s: %w", p.path, err)
	}
	p.sha256, p.kind = hex.EncodeToString(h.Sum(nil)), r.Header().FileType
	meshes := r.Meshes()
	for i := range meshes {
		p.triangles += int(meshes[i].IndexCount / 3)
	}
	for _, t := range []format.ChunkType{format.ChunkVertices, format.ChunkIndices} {
		if c, ok := r.Chunk(t); ok {
			p.memory += int64(c.UncompressedSize)
		}
	}
	_, b := r.Placed()
	p.bounds = manifest.BoundsOf(geom.Box{Min: geom.FromF32(b.Min), Max: geom.FromF32(b.Max)})
	for a := range 3 {
		lo, hi := p.bounds.Min[a], p.bounds.Max[a]
		if p.triangles == 0 || math.IsInf(lo, 0) || math.IsInf(hi, 0) || !(lo <= hi) {
			return fmt.Errorf("manifestbuild: %s: it has no geometry within finite bounds; leave the file out", p.path)
		}
	}
	return nil
}
