package cook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/partition"
)

// judge says which files a journal may remove that was found in the output
// folder, and refuses one that would replace what no cook writes: the folder, and
// so the journal, may have been made by somebody else. What a cook would remove
// now, with the files as they are, may go. Nothing may when the new manifest has
// its place: removals come before it.
func (o *output) judge(j *journal.Journal) ([]string, error) {
	damaged := func(why string) error { return fmt.Errorf("%w (%s)", journal.ErrDamaged, why) }
	fresh := make([]string, len(j.Files))
	for i, e := range j.Files {
		if fresh[i] = e.Path; !isOurs(e.Path, i == len(j.Files)-1) {
			return nil, damaged(fmt.Sprintf("it moves %.200q, which no cook writes", e.Path))
		}
	}
	if len(fresh) == 0 {
		return nil, damaged("it has no manifest")
	}
	file := fresh[len(fresh)-1]
	if _, err := o.files.Lstat(path.Join(journal.Folder, j.Stage, file)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	others, err := otherScenes(o.dir, file, "")
	if err != nil {
		return nil, err
	}
	if err := others.check(fresh); err != nil {
		return nil, damaged(err.Error())
	}
	old, err := o.readOldScene(context.Background(), file, others, 1)
	if err != nil {
		return nil, err
	}
	if old == nil {
		if _, err := o.files.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
			return nil, damaged(fmt.Sprintf("it replaces %.200q, which is no manifest", file))
		}
	}
	return old.stale(context.Background(), fresh, 1)
}

// isOurs reports whether a cook writes files of such a name: the manifest,
// containers, and textures in their folder.
func isOurs(name string, last bool) bool {
	ext := path.Ext(name)
	switch {
	case last:
		return path.Dir(name) == "." && ext == ".json"
	case ext == partition.PayloadExt:
		return path.Dir(name) != "."
	case strings.HasSuffix(name, gradeEnd):
		return path.Dir(name) != "."
	}
	return path.Base(path.Dir(name)) == texture.Folder && slices.Contains(textureExts, strings.ToLower(ext))
}
