package cook

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/untoldkit/untold/internal/filestamp"
	"github.com/untoldkit/untold/internal/holding"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/partition"
)

// digest hashes all options that what is written, or said about it, follows from, and the
// numbers of the code.
func (o *Options) digest() (string, error) {
	out := o.OutputOptions
	out.NoSync, out.Full, out.Verify, out.DryRun, out.Report = false, false, false, false, false
	in := o.InputOptions
	in.Items = absolute(in.Items)
	text, err := json.Marshal([]any{
		in, o.GridOptions, o.LevelOptions, o.TextureOptions, out, o.Compat, o.nodeTexels,
		tileStage, nodeStage, o.stages(), sceneStage,
	})
	return hashOf(text), err
}

// sceneStage is for the manifest, and what a cook says about it, what tileStage is for
// tiles.
const sceneStage = 13

// upToDate returns what the last cook said, if nothing has changed since: not the scene's
// files, not the options, and no file of the output. Then nothing is read but the state
// and the manifest, and nothing is written. It returns nil if there is something to do.
func upToDate(ctx context.Context, scene, dir string, o *Options) (*Result, error) {
	if o.DryRun || o.Report || o.Full || len(o.Explain) > 0 {
		return nil, nil
	}
	base := filepath.Base(scene)
	file := partition.ManifestFile(partition.Sanitize(strings.TrimSuffix(base, filepath.Ext(base))))
	if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(stateFile(file)))); err != nil {
		return nil, nil
	}
	if pending, err := journal.Pending(dir); pending || err != nil {
		return nil, nil // the way that writes finishes it, or says what is wrong
	}
	release, held, err := holding.Folder(dir)
	if err != nil || held == holding.Busy {
		return nil, nil
	}
	defer release()
	root, err := journal.OpenDir(dir, true)
	if err != nil {
		return nil, nil
	}
	defer root.Close()
	s := loadState(root, file)
	first := scene
	if len(o.Items) > 0 {
		first = o.Items[0].path()
	}
	if s == nil || len(s.Sources) == 0 || !sameFile(s.Sources[0].Path, first) {
		return nil, nil
	}
	if d, err := o.digest(); err != nil || d != s.Options {
		return nil, nil
	}
	if leftStages(root) {
		return nil, nil
	}
	if same, err := unchanged(ctx, root, s, o); !same {
		return nil, err
	}
	res := &Result{}
	if json.Unmarshal(s.Result, res) != nil {
		return nil, nil
	}
	if res.Manifest, err = manifest.Load(filepath.Join(dir, file)); err != nil {
		return nil, nil
	}
	if res.Plan == nil || res.Needs == nil || res.Tiles != len(res.Manifest.Tiles) {
		return nil, nil // this is no result of the scene that is there
	}
	res.ManifestPath, res.Unchanged = filepath.Join(dir, file), true
	for i := range s.Sources {
		res.Files = append(res.Files, s.Sources[i].Path)
	}
	res.countFigures()
	return res, nil
}

// leftStages reports whether a killed cook has left something to clear away.
func leftStages(f journal.FS) bool {
	entries, err := f.ReadDir(journal.Folder)
	return err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return journal.IsStage(e.Name()) })
}

func sameFile(recorded, scene string) bool {
	abs, err := filepath.Abs(scene)
	return err == nil && abs == recorded
}

// unchanged looks at the files of a scene and of its output.
func unchanged(ctx context.Context, f journal.FS, s *state, o *Options) (bool, error) {
	r := &recall{out: &output{files: f}, verify: o.Verify, places: map[string]delivered{}}
	for _, d := range s.Outputs {
		r.places[d.Name] = d
	}
	changed := errors.New("changed")
	g, going := errgroup.WithContext(ctx)
	g.SetLimit(o.jobs())
	for _, src := range s.Sources {
		g.Go(func() error {
			if going.Err() == nil && src.unchanged(o.Verify) {
				return nil
			}
			return changed
		})
	}
	for _, d := range s.Outputs {
		g.Go(func() error {
			if going.Err() == nil && r.inPlace(fileRecord{d.Name, d.Size, d.SHA256}) {
				return nil
			}
			return changed
		})
	}
	if g.Wait() != nil {
		return false, nil
	}
	return true, ctx.Err()
}

// unchanged reports whether a file of the scene is as it was.
func (s *source) unchanged(verify bool) bool {
	st, err := os.Stat(s.Path)
	if err != nil || !st.Mode().IsRegular() || st.Size() != s.Size {
		return false
	}
	if !verify && !s.Racy {
		return filestamp.Of(st) == s.Stamp
	}
	now, err := readSource(s.Path, 0)
	return err == nil && now.SHA256 == s.SHA256
}

// seenFile is a file of the scene as it was when the scene had been read.
type seenFile struct {
	name  string
	stamp filestamp.Stamp // zero: it is not there any more
}

// lookAt notes how the files of a scene are.
func lookAt(names []string) []seenFile {
	out := make([]seenFile, len(names))
	for i, name := range names {
		out[i].name = name
		if st, err := os.Stat(name); err == nil {
			out[i].stamp = filestamp.Of(st)
		}
	}
	return out
}

// saveResult remembers what a cook has made, and of what. The scene was read after began;
// hashed are files of it whose content is known.
func (r *recall) saveResult(res *Result, scene []seenFile, hashed map[string]source, o *Options, began int64, files []fileRecord) {
	slices.SortFunc(files, func(a, b fileRecord) int { return strings.Compare(a.Name, b.Name) })
	s := &state{}
	var err error
	if s.Options, err = o.digest(); err != nil {
		return
	}
	said := *res
	said.Explained = nil
	said.Notes = slices.DeleteFunc(slices.Clone(res.Notes), func(n Note) bool { return n.Code == "store-failed" }) // it is of this moment
	if s.Result, err = json.Marshal(said); err != nil {
		return
	}
	s.Sources = make([]source, len(scene))
	var g errgroup.Group
	g.SetLimit(o.jobs())
	before := map[string]source{}
	for _, was := range r.last.Sources {
		before[was.Path] = was
	}
	for i, seen := range scene {
		g.Go(func() error {
			// What the stamp says to be as it was need not be read for its hash.
			if was := before[seen.name]; was.Stamp == seen.stamp && !was.Racy && !r.verify && was.Path != "" && was.unchanged(false) {
				s.Sources[i] = was
				return nil
			}
			var err error
			if was := hashed[seen.name]; was.Path != "" && was.Stamp == seen.stamp && !r.verify && was.unchanged(false) {
				was.Racy = was.Stamp.Racy(began)
				s.Sources[i] = was
			} else {
				s.Sources[i], err = readSource(seen.name, began)
			}
			if err == nil && (s.Sources[i].Time >= began || s.Sources[i].Stamp != seen.stamp) {
				err = errors.New("it changed while it was read")
			}
			return err
		})
	}
	if g.Wait() != nil || slices.ContainsFunc(res.Notes, func(n Note) bool { return n.Code == "image-missing" || n.Code == "materials-missing" }) {
		s.Sources = nil // the results serve, but something has to be looked at
	}
	r.save(s, files)
}
