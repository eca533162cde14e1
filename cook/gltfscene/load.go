package gltfscene

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/scratch"
)

// DefaultScene as Options.Scene means the file's default scene: the one that
// its property scene names, else the first.
const DefaultScene = -1

// Options control Load. DefaultOptions returns useful ones; note that the
// zero value asks for scene 0.
type Options struct {
	// Scene is the index of the scene to load, DefaultScene for the file's.
	Scene int
	// AllowParentPaths permits URIs with ".." and links that leave the
	// file's folder. Set it only for files that you trust.
	AllowParentPaths bool
	// AllowMissingImages turns a missing image into a warning note and an
	// empty texture slot.
	AllowMissingImages bool
	// Jobs is how many goroutines decode; 0 means GOMAXPROCS. The result does
	// not depend on it.
	Jobs int
	// MaxFileBytes limits each file that is read; 0 means 16 GiB.
	MaxFileBytes int64
	// MaxTriangles limits how many triangles the scene places, those
	// of a mesh once for every node that shows it, at any level of detail; 0
	// means any number. It is judged before
	// the geometry is decoded.
	MaxTriangles int64
	// MaxDecodedBytes limits the memory of the decoded geometry, which a small
	// file can blow up by overlapping accessors; 0 means 64 MiB plus 32 times
	// the size of the file and its buffers.
	MaxDecodedBytes int64
	// MaxMeshBytes limits the memory of a single mesh that is decoded, and of those that are
	// decoded at a time, which wait for each other; 0 means any. It is judged before
	// the geometry is decoded.
	MaxMeshBytes int64
	// Placements repeat the whole scene, once for each, below a node of their own; nil
	// stands for one without such a node.
	Placements []Placement
	// MaxNodes limits how many nodes Placements make; 0 means any number.
	MaxNodes int64
	// Cache, when set, is shared by several scenes; Open's keep does not count then.
	Cache *Cache
	// Read, when set, counts the bytes that are read of the scene's files.
	Read *atomic.Int64
}

// DefaultOptions returns the options of a plain load: the file's default
// scene, and all files within its folder.
func DefaultOptions() Options { return Options{Scene: DefaultScene} }

func (o Options) maxFile() int64 {
	if o.MaxFileBytes > 0 {
		return min(o.MaxFileBytes, math.MaxInt)
	}
	return min(16<<30, math.MaxInt)
}

func (o Options) jobs() int {
	if o.Jobs > 0 {
		return o.Jobs
	}
	return runtime.GOMAXPROCS(0)
}

// Load reads the .gltf or .glb at name with its geometry. Images are looked up
// but read only by Image.Bytes, unless they lie in the file itself. The error is an
// *Error, or ctx's.
//
// A file whose scene has no triangles loads: Scene.Notes says what was left
// out.
func Load(ctx context.Context, name string, opts Options) (*Scene, error) {
	f, info, src, err := openMain(name, &opts)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := loadFrom(ctx, name, f, info, src, opts)
	if s != nil {
		s.listFiles(src.path(filepath.Base(name)))
	}
	return s, err
}

// openMain opens a file and what reads those beside it.
func openMain(name string, opts *Options) (*os.File, fs.FileInfo, dirSource, error) {
	dir, _ := filepath.Split(name)
	if dir == "" {
		dir = "."
	}
	f, info, err := OpenFile(name)
	if err != nil {
		return nil, nil, dirSource{}, err
	}
	return f, info, dirSource{dir: dir, parents: opts.AllowParentPaths}, nil
}

// LoadFS is Load from a file system.
func LoadFS(ctx context.Context, fsys fs.FS, name string, opts Options) (*Scene, error) {
	src := fsSource{fsys: fsys, dir: path.Dir(name)}
	f, info, err := src.open(path.Base(name))
	if err != nil {
		return nil, named(name, sceneError(err))
	}
	defer f.Close()
	return loadFrom(ctx, name, f, info, src, opts)
}

// LoadBytes loads a file that is already in memory; name serves for messages
// and Scene.Name. External buffers and images count as missing. The scene
// does not refer to data afterwards.
func LoadBytes(ctx context.Context, name string, data []byte, opts Options) (*Scene, error) {
	return loadAll(ctx, name, &inMemory{data}, int64(len(data)), noSource{}, opts)
}

// loadFrom loads an open file.
func loadFrom(ctx context.Context, name string, f file, info fs.FileInfo, src source, opts Options) (*Scene, error) {
	if err := opts.fits(name, info.Size()); err != nil {
		return nil, err
	}
	return loadAll(ctx, name, &inFile{f, path.Base(filepath.ToSlash(name))}, info.Size(), src, opts)
}

// fits refuses a main file that is too large.
func (o *Options) fits(name string, size int64) error {
	if size <= o.maxFile() {
		return nil
	}
	return &Error{
		File: name, Reason: fmt.Sprintf("the file has %d bytes, the limit is %d", size, o.maxFile()),
		Hint: "raise Options.MaxFileBytes", Err: ErrTooLarge,
	}
}

// loadAll loads a scene with its geometry and the images in its main file.
func loadAll(ctx context.Context, name string, main store, size int64, src source, opts Options) (*Scene, error) {
	var s *Scene
	s, err := load(ctx, name, main, size, src, opts, math.MaxInt64, func(of *Scene, mesh int, list []Primitive) error {
		of.Meshes[mesh].Primitives = list
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.geometry = nil
	for i := range s.Images {
		if im := &s.Images[i]; im.URI == "" {
			data, err := im.Bytes()
			if err != nil {
				return nil, named(name, err)
			}
			im.at = memoryExtent(bytes.Clone(data))
		}
	}
	return s, nil
}

// named puts the file's name into err.
func named(name string, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err // a context's
	}
	c := *e
	c.File = name
	return &c
}

// session is what all parts of a load share: the file, what the caller wants of it,
// the scene that comes of it, and what is said about both.
type session struct {
	ctx   context.Context
	opts  Options
	src   source
	doc   *document
	ext   extensionUse
	scene *Scene
	notes notebook
}

// importer is one load. Its parts have state of their own and work one after the
// other on the session.
type importer struct {
	session
	data      dataReader
	nodes     nodePlacer
	meshes    meshPlanner
	materials materialReader
}

// load imports a main file of a size. Decoded geometry is kept up to a limit, in bytes,
// and shown to look, mesh by mesh.
func load(ctx context.Context, name string, main store, size int64, src source, opts Options, limit int64, look func(s *Scene, mesh int, list []Primitive) error) (*Scene, error) {
	im := newImporter(ctx, name, size, src, opts, limit)
	if err := im.finish(name, func() (container, error) { return openContainer(main, size) }, look); err != nil {
		return nil, err
	}
	return im.scene, nil
}

// newImporter begins a load; size is that of the main file.
func newImporter(ctx context.Context, name string, size int64, src source, opts Options, limit int64) *importer {
	base, stem := baseName(name)
	if opts.Read != nil {
		src = countedSource{src, opts.Read}
	}
	im := &importer{session: session{ctx: ctx, opts: opts, src: src, scene: &Scene{Name: stem, Source: base}}}
	im.data = newDataReader(&im.session, size, opts.cache(limit))
	im.nodes = nodePlacer{
		session: &im.session, data: &im.data, cameras: make(map[int]memo[Camera]), binds: make(map[int]memo[[]geom.Mat4]),
	}
	im.meshes = newMeshPlanner(&im.session, &im.data)
	im.materials = materialReader{
		session: &im.session, data: &im.data,
		sources: make(map[int]int), materials: make(map[int]int), images: make(map[int]int), baked: make(map[string]int),
	}
	return im
}

// finish imports what a container holds. Errors name the file.
func (im *importer) finish(name string, open func() (container, error), look func(s *Scene, mesh int, list []Primitive) error) error {
	err := im.run(open, look)
	if err == nil {
		return nil
	}
	scratch.Close(im.data.spills...)
	if im.ctx.Err() != nil && errors.Is(err, im.ctx.Err()) {
		return im.ctx.Err()
	}
	return named(name, err)
}

// run performs the steps of the import in order. Nodes come first: only what they
// show is planned, and only what is planned needs materials. Geometry is decoded
// last, when the plans say how much memory it takes and all else is forgotten.
func (im *importer) run(open func() (container, error), look func(s *Scene, mesh int, list []Primitive) error) (err error) {
	if err := im.ctx.Err(); err != nil {
		return err
	}
	box, err := open()
	if err != nil {
		return err
	}
	im.data.box = box
	if im.doc, err = parseDocument(box.json); err != nil {
		return err
	}
	im.doc.images.places = box.images
	im.scene.Generator = cleanName(im.doc.asset.Generator)
	if box.padded {
		im.notes.info("glb-json-padding", "", "the JSON chunk is padded with zero bytes instead of spaces")
	}
	if box.marked {
		im.notes.info("byte-order-mark", "", "a byte order mark before the JSON, which glTF forbids, was skipped")
	}
	if box.odd {
		im.notes.info("glb-unaligned", "", "the length of a chunk is no multiple of 4, which glTF demands")
	}
	if box.trailing > 0 {
		im.notes.info("glb-trailing-bytes", "", "bytes after the end of the GLB were ignored")
	}
	for _, step := range []func() error{
		im.checkExtensions,
		im.nodes.placeNodes,
		im.nodes.poseNodes,
		im.nodes.repeat,
		func() error { return im.meshes.planMeshes(im.nodes.root, im.nodes.poses) },
		func() error {
			im.scene.demoteLODs()
			return im.materials.loadMaterials(im.meshes.plans)
		},
		im.wrap,
		func() error {
			g := newGeometry(im.data.cache, im.scene, im.meshes.plans, im.meshes.jobs)
			im.scene.geometry, g.spills = g, im.data.spills
			im.forget()
			return g.survey(&im.session, im.materials.materials, func(mesh int, list []Primitive) error {
				return look(im.scene, mesh, list)
			})
		},
	} {
		if err := step(); err != nil {
			return err
		}
		if err := im.ctx.Err(); err != nil {
			return err
		}
	}
	im.audit()
	im.scene.Notes = im.notes.list
	return nil
}

// forget drops what only the planning needs, before the decoding allocates.
func (im *importer) forget() {
	im.data.accessors, im.data.views = nil, nil
	im.nodes.placed, im.nodes.lodOwners, im.nodes.poses = nil, nil, nil
	im.meshes.posed = nil
	im.meshes.jobOf, im.meshes.storeOf, im.meshes.streams, im.meshes.plans, im.meshes.jobs = nil, nil, nil, nil, nil
	for _, t := range im.doc.tables() {
		t.forget()
	}
}

// clone copies JSON that outlives the file's bytes.
func clone(raw []byte) []byte { return slices.Clip(bytes.Clone(raw)) }
