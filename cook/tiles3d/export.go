package tiles3d

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/untoldkit/untold/cook/gltfexport"
	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/clock"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/payloadpath"
)

// Options control Export. The zero value is useful.
type Options struct {
	// Place, when set, puts the scene's origin on the globe. Otherwise the root stands
	// at the origin of the source: where cook took an offset off, it is put back.
	Place *Place
	// Plain leaves geometry as it is, for viewers that do not know
	// EXT_meshopt_compression.
	Plain bool
	// KTX2 makes textures KTX2 files of Basis Universal, with mip levels that keep the
	// coverage of cutouts; otherwise they stay what they are, or become PNG, and cutouts get
	// a cutoff with which they keep it in the levels that viewers make themselves.
	KTX2 bool
	// Jobs is how many containers are converted at a time; 0: as many as processors.
	Jobs int
	// Generator is written into assets; empty means "untold".
	Generator string
	// Reuse takes over what an earlier Export has made of the same: the whole, which is then
	// not touched, or the files of a folder that what has changed does not concern. Nothing
	// is believed of a file that was changed since.
	Reuse bool
	// Verify, with Reuse, reads all files of the scene and of the earlier tileset instead of
	// going by their sizes, times and numbers.
	Verify bool
	// Progress, when set, is called as containers are done.
	Progress func(stage string, done, total int)

	// In tests: tiles in a file.
	maxTiles int
}

// maxTiles is how many tiles a tileset.json holds; larger trees go to several.
const maxTiles = 10_000

// textureFolder holds the textures of all contents.
const textureFolder = "textures"

// tilesetName is the file by which a tileset is opened.
const tilesetName = "tileset.json"

// Result tells what Export wrote.
type Result struct {
	Path         string            `json:"path"`      // tileset.json, or the archive
	Unchanged    bool              `json:"unchanged"` // it was there, and nothing was written
	Kept         int               `json:"kept"`      // files of the earlier tileset that stayed as they were
	Bytes        int64             `json:"bytes"`
	Tilesets     int               `json:"tilesets"` // tileset.json and those that it names
	Tiles        int               `json:"tiles"`
	Contents     int               `json:"contents"`      // GLB files; what agrees is written once
	ContentBytes int64             `json:"content_bytes"` // of them
	Triangles    int               `json:"triangles"`     // of all contents, drawn
	Textures     int               `json:"textures"`
	TextureBytes int64             `json:"texture_bytes"`
	Error        float64           `json:"geometric_error"` // of the root, metres
	Notes        []gltfexport.Note `json:"notes"`
}

// Errors that callers may want to tell apart.
var (
	// ErrOccupied says that the output would take the place of something else.
	ErrOccupied = errors.New("tiles3d: the output would take the place of something else")
	// ErrIDs says that ids of the manifest's tiles and nodes are used twice, or that a
	// node stands before one of its children.
	ErrIDs = errors.New("tiles3d: the ids of tiles and nodes contradict each other")
	// ErrNothing says that the scene has no triangles.
	ErrNothing = errors.New("tiles3d: nothing of the scene can be drawn")
)

// Export writes the scene of a manifest to out: a folder, which is replaced as a whole
// when it holds an older tileset of ours and nothing else, and must be empty otherwise, or
// one file when its extension is .3tz. What is there stays until the new tileset is
// complete. An output in whose place the scene itself lies matches ErrOccupied, too.
//
// Errors of containers and manifests are those of package gltfexport.
func Export(ctx context.Context, manifestPath, out string, opts Options) (*Result, error) {
	began := clock.System{}.Now().UnixNano()
	if opts.Generator == "" {
		opts.Generator = "untold"
	}
	if opts.Jobs <= 0 {
		opts.Jobs = runtime.GOMAXPROCS(0)
	}
	if opts.maxTiles <= 0 {
		opts.maxTiles = maxTiles
	}
	if opts.Place != nil {
		if err := opts.Place.Check(); err != nil {
			return nil, err
		}
	}
	m, err := manifest.Load(manifestPath)
	if err != nil {
		return nil, fmt.Errorf("tiles3d: %w", err)
	}
	if m.DryRun {
		return nil, fmt.Errorf("%w: %s", gltfexport.ErrNoPayload, manifestPath)
	}
	if err := checkIDs(m); err != nil {
		return nil, fmt.Errorf("tiles3d: %s: %w", manifestPath, err)
	}
	archive := IsArchive(out)
	place, err := resolve(manifestPath, out, m)
	if err != nil {
		return nil, err
	}
	e := exporter{ctx: ctx, opts: opts, archive: archive, scene: filepath.Dir(manifestPath)}
	if err := e.plan(m, manifestPath, place, began); err != nil {
		return nil, err
	}
	if opts.Reuse {
		if res := e.upToDate(place); res != nil {
			if res.Path = out; !archive {
				res.Path = filepath.Join(out, tilesetName)
			}
			sweep(place)
			return res, nil
		}
	}
	if err := os.MkdirAll(filepath.Dir(place), 0o777); err != nil {
		return nil, fmt.Errorf("tiles3d: %w", err)
	}
	// The stage lies beside the output, on the same file system.
	temp, removeTemp, err := makeTemp(place)
	if err != nil {
		return nil, ofOutput(err, place, out)
	}
	defer removeTemp()
	res, err := e.write(m, filepath.Join(temp, stageName), place)
	if err != nil {
		return nil, ofOutput(err, temp, out)
	}
	if res.Path = out; !archive {
		res.Path = filepath.Join(out, tilesetName)
	}
	sweep(place)
	return res, nil
}

// write makes the tileset in a stage, which is no folder yet, and puts it in its place.
func (e *exporter) write(m *manifest.Manifest, stage, place string) (*Result, error) {
	if err := os.Mkdir(stage, 0o777); err != nil { // for everybody, which the temporary folder is not
		return nil, fmt.Errorf("tiles3d: %w", err)
	}
	e.stage = stage
	res, err := e.tileset(m)
	if err != nil {
		return nil, err
	}
	if e.archive {
		res.Bytes, err = pack(e.ctx, stage, place)
		return res, err
	}
	if res.Kept, err = e.remember(e.list); err != nil {
		return nil, fmt.Errorf("tiles3d: %w", err)
	}
	return res, replace(stage, place)
}

// exporter is the state of one Export.
type exporter struct {
	ctx          context.Context
	opts         Options
	archive      bool
	scene, stage string
	textures     *gltfexport.TextureFolder
	step         float64 // of positions, metres; 0 in plain contents

	root    *node
	list    []*content
	sources *sources
	source  string   // hash of all that decides the bytes; "" where something cannot be read
	earlier *earlier // without files where nothing is reused
}

// plan makes the tree of a scene and finds what its contents are made of.
func (e *exporter) plan(m *manifest.Manifest, manifestPath, place string, began int64) error {
	if !e.opts.Plain {
		e.step = gltfexport.StepFor(m)
	}
	// Half the diagonal of a cell of positions.
	e.root = buildTree(m, e.step*0.8661)
	e.list = list(e.root)
	dir := ""
	if e.opts.Reuse && !e.archive {
		dir = place
	}
	e.earlier = openEarlier(dir, e.opts.Verify)
	e.sources = &sources{manifest: manifestPath, scene: e.scene, began: began, verify: e.opts.Verify, before: e.earlier.sources()}
	payloads := make([]string, len(e.list))
	for i, c := range e.list {
		payloads[i] = c.payload
	}
	if err := e.sources.look(e.ctx, payloads, e.opts.Jobs); err != nil {
		return fmt.Errorf("tiles3d: %w", err)
	}
	for _, c := range e.list {
		c.key = e.sources.key(&e.opts, e.step, c)
	}
	e.source = e.sources.whole(&e.opts, e.list)
	return nil
}

// tileset writes the tileset into the stage.
func (e *exporter) tileset(m *manifest.Manifest) (*Result, error) {
	root, contents := e.root, e.list
	if err := e.contents(contents); err != nil {
		return nil, err
	}
	res := &Result{Notes: []gltfexport.Note{}}
	if n := len(m.FailedTiles); n > 0 {
		res.Notes = append(res.Notes, gltfexport.FailedTiles(n, m.FailedTiles[0].ID))
	}
	if err := e.settle(contents, res); err != nil {
		return nil, err
	}
	if !e.sources.still() {
		e.source = "" // what has been read need not be what was hashed
		for _, c := range contents {
			c.key = ""
		}
	}
	if !root.prune() {
		return nil, fmt.Errorf("%w: %s", ErrNothing, e.scene)
	}
	root.bound()
	root.raise()
	root.each(func(*node) { res.Tiles++ })
	res.Error = root.err
	files := split(root, e.opts.maxTiles)
	res.Tilesets = len(files)
	res.Textures, res.TextureBytes = e.textures.Files()
	made := res.made(e.source)
	// The first file, which says how long all of them are, comes last.
	for i, f := range slices.Backward(files) {
		about := untoldJSON{Generator: e.opts.Generator}
		var transform *geom.Mat4
		if i == 0 {
			transform, about.Made = e.transform(m), made
		}
		data, err := encode(f.root, transform, about)
		for err == nil && about.Made != nil && made.TilesetBytes != res.Bytes+int64(len(data)) {
			made.TilesetBytes = res.Bytes + int64(len(data)) // which may take more digits
			data, err = encode(f.root, transform, about)
		}
		if err != nil {
			return nil, err
		}
		if err := e.tilesetFile(f.name, data); err != nil {
			return nil, fmt.Errorf("tiles3d: %w", err)
		}
		res.Bytes += int64(len(data))
	}
	res.Bytes += res.ContentBytes + res.TextureBytes
	return res, nil
}

// transform returns the root's, nil for none.
func (e *exporter) transform(m *manifest.Manifest) *geom.Mat4 {
	if e.opts.Place != nil {
		t := e.opts.Place.transform()
		return &t
	}
	if o := m.OriginOffset; o != nil && *o != [3]float64{} {
		t := geom.Identity()
		t[12], t[13], t[14] = o[0], 0-o[2], o[1]
		return &t
	}
	return nil
}

// content is a container that becomes a GLB.
type content struct {
	payload string
	uri     string  // its file in the tileset
	nodes   []*node // that show it
	result  *gltfexport.Result
	key     string // hash of all that decides its bytes; "" where something cannot be read
	hash    string // of its bytes
}

// list returns the contents of a tree, each once, and names their files: no two alike on
// file systems that ignore case, none like a folder.
func list(root *node) []*content {
	var out []*content
	known := map[string]*content{}
	root.each(func(n *node) {
		if n.payload == "" {
			return
		}
		clean := path.Clean(n.payload)
		c := known[clean]
		if c == nil {
			c = &content{payload: clean}
			known[clean] = c
			out = append(out, c)
		}
		c.nodes = append(c.nodes, n)
	})
	taken := map[string]bool{}
	for _, c := range out {
		for dir := path.Dir(c.payload); dir != "." && dir != "/" && !taken[strings.ToLower(dir)]; dir = path.Dir(dir) {
			taken[strings.ToLower(dir)] = true
		}
	}
	for _, c := range out {
		stem := strings.TrimSuffix(c.payload, path.Ext(c.payload))
		c.uri = stem + ".glb"
		for k := 2; taken[strings.ToLower(c.uri)]; k++ {
			c.uri = fmt.Sprintf("%s_%d.glb", stem, k)
		}
		taken[strings.ToLower(c.uri)] = true
	}
	return out
}

// contents converts all containers.
func (e *exporter) contents(all []*content) error {
	e.textures = gltfexport.NewTextureFolder(filepath.Join(e.stage, textureFolder))
	e.textures.Earlier = e.texture
	group, ctx := errgroup.WithContext(e.ctx)
	group.SetLimit(e.opts.Jobs)
	var mu sync.Mutex
	done := 0
	progress := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		if done += n; e.opts.Progress != nil {
			e.opts.Progress("export", done, len(all))
		}
	}
	progress(0)
	for _, c := range all {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := e.content(ctx, c); err != nil {
				return err
			}
			progress(1)
			return nil
		})
	}
	return group.Wait()
}

// content converts one container.
func (e *exporter) content(ctx context.Context, c *content) error {
	if err := payloadpath.Check(c.payload); err != nil {
		return fmt.Errorf("tiles3d: %w", err)
	}
	file := filepath.Join(e.stage, filepath.FromSlash(c.uri))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return fmt.Errorf("tiles3d: %w", err)
	}
	if e.recall(c, file) {
		return nil
	}
	var err error
	c.result, err = gltfexport.Part(ctx, e.scene, c.payload, file, gltfexport.Options{
		Compress: !e.opts.Plain, KTX2: e.opts.KTX2, FitCutoffs: true, Step: e.step, Textures: e.textures, Generator: e.opts.Generator,
	})
	if err != nil {
		return err
	}
	slices.Sort(c.result.Shared)
	c.result.Shared = slices.Compact(c.result.Shared)
	if c.hash, err = hashFile(file); err != nil {
		return fmt.Errorf("tiles3d: %w", err)
	}
	return nil
}

// drawsNothing reports whether a container has become a file that no tile needs.
func drawsNothing(r *gltfexport.Result) bool { return r.Triangles == 0 || r.Bounds == nil }

// settle gives nodes their files and boxes. Contents that agree share the first one's file,
// those without triangles have none.
func (e *exporter) settle(all []*content, res *Result) error {
	first := map[string]string{}
	for _, c := range all {
		uri := c.uri
		switch same, known := first[c.hash]; {
		case drawsNothing(c.result):
			uri = ""
		case known:
			uri = same
		default:
			first[c.hash] = uri
			res.Contents++
			res.ContentBytes += c.result.Bytes
			res.Triangles += c.result.Triangles
		}
		if uri != c.uri {
			err := os.Remove(filepath.Join(e.stage, filepath.FromSlash(c.uri)))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("tiles3d: %w", err)
			}
		}
		for _, n := range c.nodes {
			if n.uri = uri; uri == "" {
				n.own = geom.Box{}
			} else {
				n.own = c.result.Bounds.Box()
			}
		}
		res.Notes = merge(res.Notes, c.result.Notes)
	}
	return nil
}

// merge adds notes of the same code up.
func merge(all, more []gltfexport.Note) []gltfexport.Note {
next:
	for _, n := range more {
		for i := range all {
			if all[i].Code == n.Code {
				all[i].Count += n.Count
				continue next
			}
		}
		all = append(all, n)
	}
	return all
}

// pack writes a folder as a 3D Tiles archive and returns its bytes.
func pack(ctx context.Context, dir, out string) (n int64, err error) {
	err = atomicfile.WriteWith(out, atomicfile.Options{}, func(w io.Writer) error {
		p, err := packedIn(dir)
		if err == nil {
			n, err = p.write(ctx, w)
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("tiles3d: %w", err)
	}
	return n, nil
}
