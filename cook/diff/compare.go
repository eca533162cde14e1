package diff

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/plainfile"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/payloadpath"
	"github.com/untoldkit/untold/partition"
)

// Parts that Options.Only names.
const (
	PartTiles     = "tiles" // with the shared bucket; of containers, all records and triangles
	PartLevels    = "levels"
	PartNodes     = "nodes"
	PartMaterials = "materials"
	PartTextures  = "textures"
	PartSettings  = "settings" // of the manifest as a whole
)

// Parts lists the names that Options.Only may hold.
func Parts() []string {
	return []string{PartTiles, PartLevels, PartNodes, PartMaterials, PartTextures, PartSettings}
}

// Options control Compare. The zero value compares everything, bit for bit.
type Options struct {
	// Tolerance is how far positions, boxes and places may differ, in metres along
	// each axis. With 0 any byte counts; else bytes alone are no difference.
	Tolerance float64
	// ManifestOnly reads no payload: those differ whose hashes in the manifests do,
	// or whose sizes where there are no hashes.
	ManifestOnly bool
	// Only, if not empty, names the parts that are compared.
	Only []string
	// Jobs is how many payloads are compared at a time; at least 1.
	Jobs int
	// Progress, when set, is called after each payload, by one goroutine at a time.
	Progress func(done, total int)
}

func (o *Options) wants(part string) bool { return len(o.Only) == 0 || slices.Contains(o.Only, part) }

// ErrKinds says that a container was to be compared with a scene.
var ErrKinds = errors.New("diff: a container and a scene cannot be compared: name two of a kind")

// Compare compares two containers (.untold), or two manifests with their payloads.
// The error is about the inputs as a whole; payloads and textures that cannot be
// read are Failures of the result.
func Compare(ctx context.Context, a, b string, o Options) (*Result, error) {
	for _, part := range o.Only {
		if !slices.Contains(Parts(), part) {
			return nil, fmt.Errorf("diff: there is no part %q; there are %s", part, strings.Join(Parts(), ", "))
		}
	}
	if !(o.Tolerance >= 0) || math.IsInf(o.Tolerance, 1) {
		return nil, fmt.Errorf("diff: the tolerance is %v; it must be a number of metres from 0 on", o.Tolerance)
	}
	c := &comparer{o: &o, result: &Result{
		Tolerance: o.Tolerance, Only: o.Only, Settings: []Field{}, Items: []Item{}, NodeItems: []Item{}, Materials: []Material{}, Textures: []Texture{}, Failures: []Failure{},
	}}
	c.inventory = [2]*inventory{newInventory(), newInventory()}
	paths := [2]string{a, b}
	for s, p := range paths {
		side := c.side(s)
		side.Path, side.Kind = p, KindManifest
		if strings.EqualFold(filepath.Ext(p), partition.PayloadExt) {
			side.Kind = KindContainer
		}
		c.dir[s] = filepath.Dir(p)
	}
	var err error
	switch {
	case c.result.A.Kind != c.result.B.Kind:
		return nil, ErrKinds
	case c.result.A.Kind == KindContainer:
		err = c.containers(ctx)
	default:
		err = c.scenes(ctx)
	}
	if err != nil {
		return nil, err
	}
	c.finish()
	return c.result, nil
}

// comparer compares two inputs.
type comparer struct {
	o         *Options
	result    *Result
	dir       [2]string
	manifests [2]*manifest.Manifest
	inventory [2]*inventory
	bare      bool // no payload is read

	mu       sync.Mutex // guards what jobs note
	failures []Failure
}

func (c *comparer) side(s int) *Side {
	if s == 0 {
		return &c.result.A
	}
	return &c.result.B
}

// failJob notes a payload that cannot be compared.
func (c *comparer) failJob(j *job, s int, path string, err error) {
	c.fail(s, path, err)
	j.failed = true
	if j.change == "" {
		j.change = Changed
	}
}

// fail notes a file that cannot be compared.
func (c *comparer) fail(s int, path string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures = append(c.failures, Failure{Side: [2]string{"a", "b"}[s], Path: path, Error: err.Error(), err: err})
}

// containers compares two files. That they open is no matter of single payloads.
func (c *comparer) containers(ctx context.Context) error {
	j := &job{kind: KindContainer, part: PartTiles}
	for s := range j.entry {
		// Not below the folder of a manifest: any path will do.
		f, _, err := plainfile.Open(c.side(s).Path)
		if err != nil {
			return err
		}
		defer f.Close()
		j.entry[s], j.file[s] = &entry{path: filepath.Base(c.side(s).Path)}, f
	}
	c.do(ctx, j)
	if len(c.failures) > 0 {
		return c.failures[0].err
	}
	for s := range j.entry {
		side := c.side(s)
		side.Tiles, side.Bytes, side.Triangles = 1, j.bytes[s], j.triangles[s]
	}
	c.result.Tiles.add(j.change)
	if j.payload != nil && j.change != "" {
		c.result.Items = append(c.result.Items, Item{Kind: KindContainer, Change: j.change, Payload: j.payload})
	}
	c.count(j)
	return c.inventories(ctx)
}

// finish sorts what jobs noted and judges.
func (c *comparer) finish() {
	r := c.result
	slices.SortFunc(c.failures, func(x, y Failure) int { return strings.Compare(x.Path+"\x00"+x.Side, y.Path+"\x00"+y.Side) })
	for i, f := range c.failures {
		if i == 0 || f.Path != c.failures[i-1].Path || f.Side != c.failures[i-1].Side {
			r.Failures = append(r.Failures, f)
		}
	}
	r.Triangles.Moves = gather(r.Triangles.Moves)
	r.Differ = r.Grids != "" || r.Tiles.differ() || r.Levels.differ() || r.Nodes.differ() ||
		len(r.Settings)+len(r.Materials)+len(r.Textures) > 0
}

// gather adds up moves by the same vector.
func gather(list []Move) []Move {
	m := match{moves: map[moveKey]int64{}}
	for _, v := range list {
		k := moveKey{turned: v.By == nil}
		if v.By != nil {
			k.by = *v.By
		}
		m.moves[k] += v.Triangles
	}
	return m.listMoves()
}

// count adds up the triangles of a job.
func (c *comparer) count(j *job) {
	t := &c.result.Triangles
	switch {
	case j.payload != nil && j.payload.Triangles != nil:
		t.join(j.payload.Triangles)
	case j.change == Added:
		t.Added += j.triangles[1]
	case j.change == Removed:
		t.Removed += j.triangles[0]
	case j.change == "":
		t.Same += j.triangles[0]
	}
}

// entry is what a manifest says of a payload.
type entry struct {
	path      string // from the folder of the manifest
	bytes     int64
	sha256    string
	triangles int64
}

// job is a pair of payloads, of which one may be absent.
type job struct {
	kind  string
	part  string
	entry [2]*entry   // nil for none
	file  [2]*os.File // open already, else nil

	change    Change // "" if the payload is the same
	failed    bool   // a file could not be read
	payload   *Payload
	bytes     [2]int64
	triangles [2]int64
}

// do compares the payloads of a job.
func (c *comparer) do(ctx context.Context, j *job) {
	for s, e := range j.entry {
		if e != nil {
			j.bytes[s], j.triangles[s] = e.bytes, e.triangles
		}
	}
	switch {
	case j.entry[0] == nil:
		j.change = Added
	case j.entry[1] == nil:
		j.change = Removed
	}
	if c.bare {
		c.byManifest(j)
		return
	}
	if ctx.Err() != nil {
		return
	}
	for s, e := range j.entry {
		if e == nil || j.file[s] != nil {
			continue
		}
		f, err := c.open(s, e.path)
		if err != nil {
			c.failJob(j, s, filepath.Join(c.dir[s], filepath.FromSlash(e.path)), err)
			return
		}
		defer f.Close()
		j.file[s] = f
	}
	c.compareFiles(j)
}

// open opens a payload or a texture of a side.
func (c *comparer) open(s int, rel string) (*os.File, error) {
	f, err := payloadpath.Open(c.dir[s], rel)
	if errors.Is(err, fs.ErrNotExist) {
		// The path as the user knows it.
		err = &fs.PathError{Op: "open", Path: filepath.Join(c.dir[s], filepath.FromSlash(rel)), Err: fs.ErrNotExist}
	}
	return f, err
}

// byManifest goes by what the manifests say.
func (c *comparer) byManifest(j *job) {
	a, b := j.entry[0], j.entry[1]
	if j.change == "" {
		same := a.sha256 == b.sha256
		if a.sha256 == "" || b.sha256 == "" {
			same = a.bytes == b.bytes && a.triangles == b.triangles
		}
		if same && a.triangles == b.triangles {
			return
		}
		j.change = Changed
	}
	j.payload = sizesOnly(j)
}

// sizesOnly is a payload of which no more is told.
func sizesOnly(j *job) *Payload {
	return &Payload{Bytes: Pair{j.bytes[0], j.bytes[1]}, Counts: Pair{j.triangles[0], j.triangles[1]}}
}

// compareFiles compares the open files of a job, or reads the one that there is.
func (c *comparer) compareFiles(j *job) {
	same, apart := false, c.result.Grids != "" || !c.o.wants(j.part)
	if j.change == "" && !apart {
		var err error
		if same, err = sameFile(j.file[0], j.file[1]); err != nil {
			c.failJob(j, 0, j.file[0].Name(), err)
			return
		}
	}
	var readers [2]*format.Reader
	for s, f := range j.file {
		if f == nil || same && s == 1 {
			continue
		}
		r, err := openContainer(f)
		if err != nil {
			if same {
				return // whatever it is: there is no difference
			}
			c.failJob(j, s, f.Name(), err)
			continue
		}
		defer r.Close()
		readers[s] = r
		j.bytes[s], j.triangles[s] = r.Size(), trianglesOf(r)
		if c.o.wants(PartMaterials) || c.o.wants(PartTextures) {
			c.inventory[s].add(r, j.entry[s].path)
		}
	}
	switch {
	case same:
		j.bytes[1], j.triangles[1] = j.bytes[0], j.triangles[0]
		if c.o.wants(PartMaterials) || c.o.wants(PartTextures) {
			c.inventory[1].add(readers[0], j.entry[1].path)
		}
		return
	case j.failed:
		return
	case j.change == Added || j.change == Removed:
		j.payload = sizesOnly(j)
		return
	case apart:
		return
	}
	p, err := compareReaders(readers[0], readers[1], c.o)
	if err != nil {
		s := 0
		if e := (*sideError)(nil); errors.As(err, &e) {
			s, err = e.side, e.err
		}
		c.failJob(j, s, j.file[s].Name(), fmt.Errorf("%s: %w", j.file[s].Name(), err))
		return
	}
	if c.o.Tolerance > 0 && !p.differs() {
		return
	}
	j.change, j.payload = Changed, p
}

// openContainer opens a container that is open as a file.
func openContainer(f *os.File) (*format.Reader, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	r, err := format.NewReader(f, st.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return r, nil
}

// each does all jobs, several at a time.
func (c *comparer) each(ctx context.Context, jobs []*job) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(c.o.Jobs, 1))
	var mu sync.Mutex
	done := 0
	for _, j := range jobs {
		g.Go(func() error {
			c.do(ctx, j)
			for s := range j.file {
				j.file[s] = nil
			}
			if c.o.Progress == nil {
				return ctx.Err()
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			c.o.Progress(done, len(jobs))
			return ctx.Err()
		})
	}
	return g.Wait()
}
