package cook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/internal/geom"
)

// Item is one of several things that a scene consists of: a file, and where it stands.
type Item struct {
	// File is the path of a file in any format that is cooked, and its name in messages.
	File string
	// Name is that of a node above what the file holds; empty is the file's name without
	// its ending. A file with a single mesh gives it that name, too.
	Name string `json:",omitempty"`
	// Position is in metres, y upwards. Rotation is a quaternion x, y, z, w; all zeros is
	// none. Scale of zeros is 1.
	Position geom.Vec3  `json:",omitzero"`
	Rotation [4]float64 `json:",omitzero"`
	Scale    geom.Vec3  `json:",omitzero"`
	// Extras is a JSON object that the nodes with meshes get beside their own, or nil.
	Extras json.RawMessage `json:",omitempty"`

	// At is where the file lies, if that is not File: what was downloaded.
	At string `json:"-"`
}

// path is where the file lies.
func (i *Item) path() string {
	if i.At != "" {
		return i.At
	}
	return i.File
}

// world leads from the file's space to the scene's.
func (i *Item) world() geom.Mat4 {
	s := i.Scale
	if s == (geom.Vec3{}) {
		s = geom.Vec3{1, 1, 1}
	}
	return geom.TRS(i.Position, i.Rotation, s)
}

// plain reports whether the item says nothing but the file.
func (i *Item) plain() bool {
	return i.Name == "" && i.Position == (geom.Vec3{}) && i.Rotation == [4]float64{} && i.Scale == (geom.Vec3{}) && i.Extras == nil
}

// stem is a file's name without folder and ending.
func stem(file string) string {
	base := filepath.Base(file)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// nodeBytes is about what a placed node takes until a scene is cooked.
const nodeBytes = 600

// mostNodes is how many nodes several files may have together.
func (o *Options) mostNodes() int64 { return o.memory() / 2 / nodeBytes }

// opened is a scene with what was seen of it.
type opened struct {
	scene *gltfscene.Scene
	seen  *survey
}

// openItems makes one scene of several files. Each is opened once, wherever it stands;
// files come in the order in which they are named first, and what each shows in the order
// of its items.
func openItems(ctx context.Context, scene string, items []Item, opts *Options) (*opened, error) {
	if err := opts.planItems(scene, items); err != nil {
		return nil, err
	}
	var order []string
	byFile := map[string][]*Item{}
	for i := range items {
		at := items[i].path()
		if byFile[at] == nil {
			order = append(order, at)
		}
		byFile[at] = append(byFile[at], &items[i])
	}
	var parts []*gltfscene.Scene
	done := false
	defer func() {
		for _, p := range parts {
			if !done {
				p.Close()
			}
		}
	}()
	all := &survey{}
	cache := gltfscene.NewCache(opts.memory() / geometryShare)
	nodes, triangles := opts.mostNodes(), int64(max(0, opts.MaxTriangles))
	for n, at := range order {
		opts.progress("load", n, len(order))
		list := byFile[at]
		o := opts.sceneOptions()
		o.Cache, o.MaxNodes, o.MaxTriangles = cache, max(1, nodes), triangles
		if len(items) > 1 || !list[0].plain() {
			for _, it := range list {
				name := it.Name
				if name == "" {
					name = stem(it.File)
				}
				o.Placements = append(o.Placements, gltfscene.Placement{Name: name, World: it.world(), Extras: it.Extras})
			}
		}
		v := &survey{jobs: opts.jobs(), keys: !opts.DryRun}
		s, err := openPart(ctx, at, list[0].File, opts, o, v)
		if err != nil {
			return nil, renamed(err, at, list[0].File)
		}
		s.Source = filepath.Base(list[0].File)
		parts = append(parts, s)
		nodes -= int64(len(s.Nodes))
		if triangles > 0 {
			triangles = max(1, triangles-int64(s.Triangles()))
		}
		all.append(v, s)
	}
	done = true
	base := filepath.Base(scene)
	if len(parts) == 1 {
		parts[0].Name, parts[0].Source = stem(scene), base
		return &opened{parts[0], all}, nil
	}
	return &opened{gltfscene.Join(stem(scene), base, parts), all}, nil
}

// append puts what was seen of another scene behind.
func (v *survey) append(of *survey, s *gltfscene.Scene) {
	if of.boxes == nil { // without a mesh nothing is seen
		of.boxes = make([]geom.Box, len(s.Nodes))
	}
	v.boxes, v.sums = append(v.boxes, of.boxes...), append(v.sums, of.sums...)
}

// renamed gives an error about a file that was brought from elsewhere the name that the
// user knows.
func renamed(err error, at, file string) error {
	var e *gltfscene.Error
	if at == file || !errors.As(err, &e) {
		return err
	}
	c := *e
	if c.File == at {
		c.File = file
	}
	c.Hint = strings.ReplaceAll(c.Hint, filepath.Dir(at)+string(filepath.Separator), "")
	return &c
}

// absolute makes paths independent of the working folder.
func absolute(items []Item) []Item {
	out := make([]Item, len(items))
	for i := range items {
		out[i] = items[i]
		if abs, err := filepath.Abs(out[i].File); err == nil && out[i].At == "" {
			out[i].File = abs
		}
	}
	return out
}

// checkItems refuses items that cannot be placed.
func (o *Options) checkItems() error {
	for i := range o.Items {
		if err := o.Items[i].check(); err != nil {
			return fmt.Errorf("cook: item %d (%s): %w", i, o.Items[i].File, err)
		}
	}
	return nil
}

func (i *Item) check() error {
	if i.File == "" {
		return errors.New("names no file")
	}
	for _, v := range append(append(i.Position[:], i.Rotation[:]...), i.Scale[:]...) {
		if !(v >= -1e12 && v <= 1e12) {
			return fmt.Errorf("%v is not between -1e12 and 1e12", v)
		}
	}
	zero := 0
	for _, v := range i.Scale {
		if v == 0 {
			zero++
		}
	}
	if zero == 1 || zero == 2 {
		return fmt.Errorf("the scale %v flattens it", i.Scale)
	}
	if len(i.Extras) > 0 && (!json.Valid(i.Extras) || i.Extras[0] != '{') {
		return errors.New("its extras are no JSON object")
	}
	return nil
}

// within refuses a file of a list that lies outside of the list's folder, also behind a
// link.
func within(root *os.Root, dir, file string) error {
	_, err := root.Stat(filepath.FromSlash(file))
	if err == nil {
		return nil
	}
	if _, there := os.Stat(filepath.Join(dir, filepath.FromSlash(file))); there == nil {
		return &gltfscene.Error{
			Reason: fmt.Sprintf("file %q is reached by a link that leaves the list's folder", file),
			Hint:   "Options.AllowParentPaths permits it for files that you trust", Err: gltfscene.ErrOutsideFolder,
		}
	}
	return nil // opening it says what is wrong
}
