package manifest

import (
	"errors"
	"io/fs"

	"github.com/untoldkit/untold/internal/cube"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/manifest/payloadpath"
)

// grading checks the table for the finished picture, and its file.
func (v *validator) grading(g *GradeLUT) {
	const at = "/colorGradeLUT"
	if err := payloadpath.Check(g.URI); err != nil {
		v.path(err, at+"/lutUri")
		return
	}
	if g.Size < 2 || g.Size > cube.MaxCurve {
		v.add(codeColorTable, at+"/lutSize", "lutSize %d is not within 2 to %d", g.Size, cube.MaxCurve)
	}
	if !v.opts.CheckFiles || v.m.DryRun {
		return
	}
	t := v.cube(g.URI, at+"/lutUri")
	if t != nil && t.Size != g.Size {
		v.add(codeColorTable, at+"/lutSize", "lutSize is %d, %s has a size of %d", g.Size, human.Clip(g.URI, 200), t.Size)
	}
}

// cube reads a .cube file; nil: it cannot be used, which is a finding.
func (v *validator) cube(rel, pointer string) *cube.Table {
	dir := v.dir
	if dir == "" {
		dir = "."
	}
	f, err := payloadpath.Open(dir, rel)
	switch {
	case errors.Is(err, payloadpath.ErrEscapes):
		v.path(err, pointer)
		return nil
	case errors.Is(err, fs.ErrNotExist):
		v.add(codeFileMissing, pointer, "there is no file %s", human.Clip(rel, 200))
		return nil
	case err != nil:
		v.add(codeFileAccess, pointer, "%v", err)
		return nil
	}
	defer f.Close()
	data, err := cube.ReadAll(f)
	var t *cube.Table
	if err == nil {
		t, err = cube.Parse(data)
	}
	switch {
	case errors.Is(err, cube.ErrFormat):
		v.add(codeColorTable, pointer, "%s: %v", human.Clip(rel, 200), err)
	case err != nil:
		v.add(codeFileAccess, pointer, "%v", err)
	}
	return t
}
