package cook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/planfile"
	"github.com/untoldkit/untold/internal/filestamp"
	"github.com/untoldkit/untold/internal/plainfile"
)

// ErrStalePlan says that Options.Plan was made of another scene, with other options or by
// another version.
var ErrStalePlan = errors.New("write the plan anew, with the flags of the cook: untold cook SCENE --dry-run --plan FILE")

// ErrDamagedPlan says that Options.Plan is no plan, or a damaged one.
var ErrDamagedPlan = planfile.ErrDamaged

// stalePlan is an error that says why a plan does not serve.
func stalePlan(path, reason string) error {
	return fmt.Errorf("cook: plan %s does not fit: %s; %w", path, reason, ErrStalePlan)
}

// plannedScene is a plan that a cook follows.
type plannedScene struct {
	path   string
	head   planHead
	parts  [][]byte // sections of files of the scene
	next   int      // of parts
	cut    []byte   // a section: what is known of objects that are cut
	images []byte   // a section
	files  map[string]source
}

// readPlan reads a plan and holds it against the options.
func readPlan(path string, o *Options) (*plannedScene, error) {
	sections, err := planfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("cook: plan %w", err)
	}
	p := &plannedScene{path: path, files: map[string]source{}}
	if len(sections) < 4 {
		return nil, p.damaged(planfile.ErrDamaged)
	}
	last := len(sections) - 1
	p.parts, p.cut, p.images = sections[1:last-1], sections[last-1], sections[last]
	if err := p.section(sections[0], p.head.code); err != nil {
		return nil, err
	}
	now, err := o.planSettings()
	if err != nil {
		return nil, fmt.Errorf("cook: %w", err)
	}
	if err := p.head.fits(path, now); err != nil {
		return nil, err
	}
	if o.choosesSide() != (p.head.side > 0) {
		return nil, p.damaged(planfile.ErrDamaged)
	}
	return p, nil
}

func (p *plannedScene) damaged(err error) error { return fmt.Errorf("cook: plan %s: %w", p.path, err) }

// section reads all of a section.
func (p *plannedScene) section(data []byte, read func(c *planfile.Coder)) error {
	c, err := planfile.Open(data)
	if err != nil {
		return p.damaged(err)
	}
	defer c.Close()
	if read(c); c.End() != nil {
		return p.damaged(c.Err())
	}
	return nil
}

// indexes returns what the plan knows of the scene's objects that are cut.
func (p *plannedScene) indexes(c *scenePlan) (list cellIndexes, err error) {
	err = p.section(p.cut, func(from *planfile.Coder) { codeIndexes(from, (*[]cellIndex)(&list)) })
	if err == nil && !list.check(c) {
		err = p.damaged(planfile.ErrDamaged)
	}
	return list, err
}

// items holds what the scene consists of against the plan.
func (o *Options) planItems(scene string, items []Item) error {
	if o.planner == nil && o.planned == nil {
		return nil
	}
	s, err := itemsSum(scene, items)
	switch {
	case err != nil:
		return fmt.Errorf("cook: %w", err)
	case o.planner != nil:
		o.planner.items = s
	case s != o.planned.head.items:
		return stalePlan(o.planned.path, "the scene consists of other files, or they stand elsewhere")
	}
	return nil
}

// openPart is openSource that looks at meshes with a survey, or takes from a plan what was
// seen, or writes that to one.
func openPart(ctx context.Context, path, name string, opts *Options, scene gltfscene.Options, v *survey) (*gltfscene.Scene, error) {
	if opts.planned != nil {
		return opts.planned.open(ctx, path, name, opts, scene, v)
	}
	s, err := openSource(ctx, path, name, opts, scene, v.look)
	if err == nil && opts.planner != nil {
		if err = opts.planner.add(path, s, v); err != nil {
			s.Close()
			return nil, err
		}
	}
	return s, err
}

// open opens the next part of the scene.
func (p *plannedScene) open(ctx context.Context, path, name string, opts *Options, scene gltfscene.Options, v *survey) (*gltfscene.Scene, error) {
	if p.next == len(p.parts) {
		return nil, stalePlan(p.path, "the scene consists of more files")
	}
	c, err := planfile.Open(p.parts[p.next])
	if err != nil {
		return nil, p.damaged(err)
	}
	defer c.Close()
	p.next++
	var files []planSource
	codeFiles(c, &files)
	v.code(c)
	if c.Err() != nil || len(files) == 0 {
		return nil, p.damaged(errors.Join(c.Err(), planfile.ErrDamaged))
	}
	in := gltfscene.Planned{Name: path, Plan: c}
	if in.Files, err = p.check(ctx, path, name, files, opts); err != nil {
		return nil, err
	}
	if in.Main, in.Info, err = gltfscene.OpenFile(path); err != nil {
		return nil, err
	}
	if in.Made, err = makeScene(ctx, path, name, in.Main, opts); err != nil {
		in.Main.Close()
		return nil, err
	}
	if in.Made != nil && opts.read != nil {
		opts.read.Add(in.Info.Size())
	}
	foreign := func(what string) error {
		return stalePlan(p.path, fmt.Sprintf("%s of %s is not what it was", what, filepath.Base(name)))
	}
	s, err := gltfscene.OpenPlanned(ctx, in, scene, opts.memory()/geometryShare, func(s *gltfscene.Scene, mesh int, list []gltfscene.Primitive) error {
		if meshSum(s.Meshes[mesh].Name, list) != v.sums[mesh] {
			return foreign("the geometry")
		}
		return nil
	})
	switch {
	case errors.Is(err, planfile.ErrDamaged):
		return nil, p.damaged(err)
	case err != nil:
		return nil, err
	case c.End() != nil || len(v.boxes) != 0 && len(v.boxes) != len(s.Nodes) || len(v.boxes) == 0 && len(s.Meshes) > 0 || len(v.sums) != len(s.Meshes):
		s.Close()
		return nil, p.damaged(errors.Join(c.Err(), planfile.ErrDamaged))
	}
	return s, nil
}

// check holds the files of a part against the plan, and returns their paths. What has the
// size and the time that it had is taken for the same, as everywhere in a cook; else its
// content decides, so that copies on other machines serve.
func (p *plannedScene) check(ctx context.Context, path, name string, files []planSource, opts *Options) ([]string, error) {
	main, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("cook: %w", err)
	}
	paths := make([]string, len(files))
	for i, f := range files {
		at := filepath.FromSlash(f.path)
		if !filepath.IsAbs(at) {
			at = filepath.Join(filepath.Dir(main), at)
		}
		if i == 0 {
			at = main // whatever it is called
		}
		paths[i] = at
		if _, known := p.files[at]; known {
			continue
		}
		st, err := os.Stat(at)
		if err != nil {
			return nil, fmt.Errorf("cook: plan %s: %w", p.path, err)
		}
		stamp := filestamp.Of(st)
		if stamp.Size != f.stamp.Size {
			return nil, stalePlan(p.path, fmt.Sprintf("%s has %d bytes, and had %d", at, stamp.Size, f.stamp.Size))
		}
		if stamp.Time != f.stamp.Time || f.racy || opts.Verify {
			src, err := readSource(at, 0)
			if err != nil {
				return nil, fmt.Errorf("cook: plan %s: %w", p.path, err)
			}
			if opts.read != nil {
				opts.read.Add(src.Size)
			}
			if got, _ := parseSum(src.SHA256); got != f.sum {
				return nil, stalePlan(p.path, fmt.Sprintf("%s has another content", at))
			}
			stamp = src.Stamp
		}
		p.files[at] = source{Path: at, SHA256: f.sum.String(), Stamp: stamp}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// IsPlan tells whether a file is one that WritePlan has written, or the beginning of one.
func IsPlan(path string) bool {
	f, _, err := plainfile.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, planfile.MagicBytes)
	_, err = io.ReadFull(f, head)
	return err == nil && planfile.Is(head)
}
