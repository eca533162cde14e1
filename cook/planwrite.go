package cook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/planfile"
	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/clock"
	"github.com/untoldkit/untold/internal/filestamp"
)

// PlanExt ends the names of the files that WritePlan writes.
const PlanExt = planfile.Ext

// planStage is raised whenever what is read of scenes, or the layout of plans, changes:
// plans of another number are refused.
const planStage = 7

// PlanFile tells what WritePlan wrote.
type PlanFile struct {
	Path      string `json:"plan_file"`
	Bytes     int64  `json:"bytes"`
	Objects   int    `json:"objects"`
	Triangles int    `json:"triangles"` // of the scene, each object once
	Payloads  int    `json:"payloads"`  // containers, of which shards have their shares
	Files     int    `json:"files"`     // of the scene
	Read      int64  `json:"read"`      // bytes of the scene's files that were read
	Notes     []Note `json:"notes"`
}

// WritePlan plans a scene and writes what that has found out to a file, whose name ends in
// PlanExt, for Options.Plan of later cooks with the same options. Nothing is cooked but
// the images, whose sizes containers name; they go to Options.Store if that is set.
func WritePlan(ctx context.Context, scene, file string, opts Options) (res *PlanFile, err error) {
	if filepath.Ext(file) != PlanExt {
		return nil, fmt.Errorf("cook: plan %s: its name must end in %s", file, PlanExt)
	}
	opts.DryRun, opts.NoSync, opts.Plan, opts.Explain, opts.Report = false, true, "", nil, false
	if err := opts.check(); err != nil {
		return nil, err
	}
	read := &atomic.Int64{}
	w := &planWriter{began: clock.System{}.Now().UnixNano(), seen: map[string]planSource{}}
	opts.planner, opts.read = w, read
	c, err := planScene(ctx, scene, &opts)
	if err != nil {
		return nil, err
	}
	defer c.scene.Close()
	dir, err := os.MkdirTemp("", "untold-plan-")
	if err != nil {
		return nil, fmt.Errorf("cook: %w", err)
	}
	defer os.RemoveAll(dir)
	out, err := openOutput(dir, &opts)
	if err != nil {
		return nil, err
	}
	defer out.discard()
	if opts.Store != nil {
		c.recall = newRecall(ctx, out, c.manifestFile(), &opts)
		defer c.recall.close()
	}
	c.pyramid = false // as of shards
	build, _, err := c.newBuilder(ctx, out)
	if err != nil {
		return nil, err
	}
	defer build.close()
	if c.recall != nil {
		if err := c.recall.shared.wait(); err != nil {
			c.ns.add("store-failed", 1, 0, err.Error())
		}
	}
	indexes, err := c.makeIndexes(ctx, build.b)
	if err != nil {
		return nil, err
	}
	sections, err := w.sections(&opts, indexes, build.images)
	if err != nil {
		return nil, fmt.Errorf("cook: plan: %w", err)
	}
	if err := errors.Join(c.scene.Unchanged(), ctx.Err()); err != nil {
		return nil, err
	}
	if err := atomicfile.Write(file, func(to io.Writer) error { return planfile.Write(to, sections) }); err != nil {
		return nil, fmt.Errorf("cook: plan: %w", err)
	}
	res = &PlanFile{
		Path: file, Objects: len(c.objects), Payloads: len(build.payloads), Files: len(c.scene.Files), Read: read.Load(),
		Notes: allNotes(c.scene, c.ns),
	}
	for i := range c.objects {
		res.Triangles += c.objects[i].triangles
	}
	if st, err := os.Stat(file); err == nil {
		res.Bytes = st.Size()
	}
	return res, nil
}

// planWriter gathers a plan while a scene is planned.
type planWriter struct {
	began  int64
	parts  [][]byte              // sections, one for each file that was opened
	items  sum                   // of what the parts are and where they stand
	side   float64               // see partition.Plan
	pieces []int64               // see countPieces
	held   int64                 // see countPieces
	seen   map[string]planSource // files, by path
}

// planSource is a file of a scene as a plan knows it.
type planSource struct {
	path  string // relative to the folder of the part's main file where that is possible, with slashes
	sum   sum
	stamp filestamp.Stamp
	racy  bool
}

func (f *planSource) code(c *planfile.Coder) {
	c.Text(&f.path)
	c.Sum((*[32]byte)(&f.sum))
	c.Int64(&f.stamp.Size)
	c.Int64(&f.stamp.Time)
	c.Bool(&f.racy)
}

// add takes down a part of the scene that was opened from a path.
func (w *planWriter) add(path string, s *gltfscene.Scene, v *survey) error {
	var files []planSource
	for _, name := range s.Files {
		f, ok := w.seen[name]
		if !ok {
			src, err := readSource(name, w.began)
			if err != nil {
				return fmt.Errorf("cook: plan: %w", err)
			}
			if f.sum, ok = parseSum(src.SHA256); !ok || src.Time >= w.began {
				return &gltfscene.Error{File: name, Reason: "the file has changed while the scene was planned", Hint: "try again when it is complete", Err: gltfscene.ErrChanged}
			}
			f.stamp, f.racy = src.Stamp, src.Racy
			w.seen[name] = f
		}
		f.path = relativeTo(path, name)
		files = append(files, f)
	}
	c := planfile.NewWriter()
	codeFiles(c, &files)
	v.code(c)
	if err := s.Record(c); err != nil {
		return fmt.Errorf("cook: plan: %w", err)
	}
	section, err := c.Section()
	w.parts = append(w.parts, section)
	return err
}

func codeFiles(c *planfile.Coder, files *[]planSource) {
	planfile.List(c, files, 36, func(_ int, f *planSource) { f.code(c) })
}

// code writes or reads what was seen of one file.
func (v *survey) code(c *planfile.Coder) {
	planfile.List(c, &v.boxes, 48, func(_ int, b *boxOf) {
		c.Floats(b.Min[:])
		c.Floats(b.Max[:])
	})
	planfile.List(c, &v.sums, 32, func(_ int, s *sum) { c.Sum((*[32]byte)(s)) })
}

// relativeTo returns the path of a file from the folder of another on, or as it is.
func relativeTo(main, name string) string {
	abs, err := filepath.Abs(main)
	if err != nil {
		return name
	}
	rel, err := filepath.Rel(filepath.Dir(abs), name)
	if err != nil {
		return name
	}
	return filepath.ToSlash(rel)
}

// sections returns the parts of the file: the head, the scene's files, what is known of
// objects that are cut, and the images.
func (w *planWriter) sections(o *Options, indexes cellIndexes, images *textures) ([][]byte, error) {
	head := planHead{items: w.items, side: w.side, pieces: w.pieces, held: min(w.held, mostHeld)}
	var err error
	if head.settings, err = o.planSettings(); err != nil {
		return nil, err
	}
	if _, err := head.encoded(); err != nil {
		return nil, err
	}
	c := planfile.NewWriter()
	head.code(c)
	first, err := c.Section()
	if err != nil {
		return nil, err
	}
	c = planfile.NewWriter()
	codeIndexes(c, (*[]cellIndex)(&indexes))
	cut, err := c.Section()
	if err != nil {
		return nil, err
	}
	c = planfile.NewWriter()
	images.code(c)
	last, err := c.Section()
	return append(append([][]byte{first}, w.parts...), cut, last), err
}

// knownPieces is countPieces, or what a plan knows of it.
func (c *scenePlan) knownPieces() (by []int64, held int64, err error) {
	if p := c.opts.planned; p != nil {
		if by = p.head.pieces; by != nil && len(by) != len(c.objects) {
			return nil, 0, p.damaged(planfile.ErrDamaged)
		}
		return by, p.head.held, nil
	}
	by, held, err = c.countPieces()
	if w := c.opts.planner; w != nil {
		w.pieces, w.held = by, held
	}
	return by, held, err
}
