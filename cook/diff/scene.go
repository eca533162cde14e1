package diff

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/manifest"
)

// bundle is a tile, the shared bucket or a node on both sides, with the jobs of its
// payloads.
type bundle struct {
	id, kind string
	change   Change // Added or Removed, "" if both sides have it
	settings []Field
	full     *job
	levels   []*levelJob
}

type levelJob struct {
	name     string
	settings []Field
	job      *job
}

// scenes compares two manifests and their payloads.
func (c *comparer) scenes(ctx context.Context) error {
	for s := range c.manifests {
		m, err := manifest.LoadPlanned(c.side(s).Path)
		if err != nil {
			return err
		}
		if m.DryRun {
			c.side(s).Kind = KindPlan
		}
		c.manifests[s] = m
	}
	c.bare = c.o.ManifestOnly || c.result.A.Kind == KindPlan || c.result.B.Kind == KindPlan
	a, b := c.manifests[0], c.manifests[1]
	c.result.Grids = gridsDiffer(a, b)
	if c.o.wants(PartSettings) {
		x, y := settingsOf(a, b)
		f, err := compareJSON(x, y, c.o.Tolerance, "tiles")
		if err != nil {
			return err
		}
		c.result.Settings = append(c.result.Settings, f...)
		if c.result.Grids == "" {
			c.result.Settings = append(c.result.Settings, layers(a, b)...)
		}
	}
	bundles, err := c.bundles()
	if err != nil {
		return err
	}
	var jobs []*job
	for _, x := range bundles {
		jobs = append(jobs, x.full)
		for _, l := range x.levels {
			jobs = append(jobs, l.job)
		}
	}
	jobs = slices.DeleteFunc(jobs, func(j *job) bool { return !c.needed(j) })
	if err := c.each(ctx, jobs); err != nil {
		return err
	}
	for _, x := range bundles {
		c.collect(x)
	}
	if c.bare {
		return nil
	}
	return c.inventories(ctx)
}

// settingsOf returns copies of two manifests without what is compared by itself, and
// without the objects that are classified alike, of which there may be a million.
func settingsOf(a, b *manifest.Manifest) (x, y *manifest.Manifest) {
	known := make(map[string]*manifest.Classification, len(a.ObjectClassification))
	for i := range a.ObjectClassification {
		o := &a.ObjectClassification[i]
		known[o.Name] = o
	}
	same := map[string]bool{}
	for i := range b.ObjectClassification {
		o := &b.ObjectClassification[i]
		if k := known[o.Name]; k != nil && reflect.DeepEqual(k, o) {
			same[o.Name] = true
		}
	}
	var out [2]*manifest.Manifest
	for s, m := range [2]*manifest.Manifest{a, b} {
		c := *m
		c.Tiles, c.SharedBucket, c.Pyramid = nil, nil, nil
		c.ObjectClassification = nil
		for _, o := range m.ObjectClassification {
			if !same[o.Name] {
				c.ObjectClassification = append(c.ObjectClassification, o)
			}
		}
		out[s] = &c
	}
	return out[0], out[1]
}

// needed reports whether a job has to be done: the materials and textures of all
// payloads count.
func (c *comparer) needed(j *job) bool {
	return c.o.wants(j.part) || !c.bare && (c.o.wants(PartMaterials) || c.o.wants(PartTextures))
}

// gridsDiffer says why tiles of the same id are not the same part of the world, ""
// if they are.
func gridsDiffer(a, b *manifest.Manifest) string {
	if a.PartitioningMode != b.PartitioningMode {
		return fmt.Sprintf("A is cut by %s, B by %s", a.PartitioningMode, b.PartitioningMode)
	}
	if x, y := a.TileSize, b.TileSize; x != nil && y != nil && *x != *y && !a.HasFloors() {
		size := func(v *manifest.Vec3Size) string {
			if x.Y == y.Y {
				return fmt.Sprintf("%g x %g m", v.X, v.Z)
			}
			return fmt.Sprintf("%g x %g x %g m", v.X, v.Y, v.Z)
		}
		return fmt.Sprintf("tiles of A are %s, those of B %s", size(x), size(y))
	}
	reason := ""
	eachCell(a, b, func(id string, x, y *manifest.Bounds) bool {
		for _, k := range [2]int{0, 2} {
			if !alike(x.Min[k], y.Min[k]) || !alike(x.Max[k], y.Max[k]) {
				reason = fmt.Sprintf("the cell of %s is x %g to %g, z %g to %g m in A, x %g to %g, z %g to %g m in B",
					id, x.Min[0], x.Max[0], x.Min[2], x.Max[2], y.Min[0], y.Max[0], y.Min[2], y.Max[2])
				return false
			}
		}
		return true
	})
	return reason
}

// alike reports whether two coordinates are the same but for rounding.
func alike(x, y float64) bool { return math.Abs(x-y) <= 1e-6*max(1, math.Abs(x), math.Abs(y)) }

// eachCell calls visit for the cells of the tiles that both scenes have, by id,
// until it returns false.
func eachCell(a, b *manifest.Manifest, visit func(id string, x, y *manifest.Bounds) bool) {
	cells := map[string]*manifest.Bounds{}
	for i := range b.Tiles {
		cells[b.Tiles[i].ID] = b.Tiles[i].CellBounds
	}
	order := make([]int, len(a.Tiles))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return strings.Compare(a.Tiles[i].ID, a.Tiles[j].ID) })
	for _, i := range order {
		t := &a.Tiles[i]
		if y := cells[t.ID]; y != nil && t.CellBounds != nil && !visit(t.ID, t.CellBounds, y) {
			return
		}
	}
}

// layers compares the heights of cells, which follow the lowest point of the scene:
// they are told once, not for each tile.
func layers(a, b *manifest.Manifest) (out []Field) {
	eachCell(a, b, func(id string, x, y *manifest.Bounds) bool {
		if x.Min[1] == y.Min[1] && x.Max[1] == y.Max[1] {
			return true
		}
		out = []Field{{
			Key: "tiles." + id + ".cell_bounds (the first of those that differ in height)",
			A:   []any{x.Min[1], x.Max[1]}, B: []any{y.Min[1], y.Max[1]},
		}}
		return false
	})
	return out
}

// tileEntry is one side of a bundle.
type tileEntry struct {
	tile   *manifest.Tile
	whole  any // what is compared as JSON
	levels []namedLevel
}

type namedLevel struct {
	name  string
	level *manifest.Level
}

// levelsOf names a tile's levels: lod1, lod2, hlod, hlod2.
func levelsOf(t *manifest.Tile) (out []namedLevel) {
	for i := range t.LODLevels {
		out = append(out, namedLevel{"lod" + strconv.Itoa(i+1), &t.LODLevels[i]})
	}
	for i := range t.HLODLevels {
		name := "hlod"
		if i > 0 {
			name += strconv.Itoa(i + 1)
		}
		out = append(out, namedLevel{name, &t.HLODLevels[i]})
	}
	return out
}

// bundles pairs tiles, the shared bucket and nodes: sorted by id, the bucket behind
// the tiles, the nodes last.
func (c *comparer) bundles() (out []*bundle, err error) {
	var tiles [2]map[string]*tileEntry
	var shared [2]*tileEntry
	var nodes [2]map[string]*manifest.PyramidNode
	for s, m := range c.manifests {
		tiles[s], nodes[s] = map[string]*tileEntry{}, map[string]*manifest.PyramidNode{}
		for i := range m.Tiles {
			t := &m.Tiles[i]
			tiles[s][unusedID(tiles[s], t.ID)] = &tileEntry{t, t, levelsOf(t)}
		}
		if b := m.SharedBucket; b != nil {
			shared[s] = &tileEntry{&b.Tile, b, nil} // its levels are never used
		}
		if m.Pyramid != nil {
			for i := range m.Pyramid.Nodes {
				n := &m.Pyramid.Nodes[i]
				nodes[s][unusedID(nodes[s], n.ID)] = n
			}
		}
	}
	for _, id := range union(tiles[0], tiles[1]) {
		x, err := c.tileBundle(id, KindTile, tiles[0][id], tiles[1][id])
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	if shared[0] != nil || shared[1] != nil {
		x, err := c.tileBundle(manifest.SharedTileID, KindShared, shared[0], shared[1])
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	for _, id := range union(nodes[0], nodes[1]) {
		x := &bundle{id: id, kind: KindNode, full: &job{kind: KindNode, part: PartNodes}}
		p, q := nodes[0][id], nodes[1][id]
		for s, n := range [2]*manifest.PyramidNode{p, q} {
			if n != nil {
				x.full.entry[s] = &entry{n.Path, n.FileSizeBytes, n.SHA256, int64(n.TriangleCount)}
			}
		}
		if x.change = oneSided(p == nil, q == nil); x.change == "" {
			if x.settings, err = c.entryFields(p, q, "path_relative_to_manifest", p.Path, q.Path); err != nil {
				return nil, err
			}
		}
		out = append(out, x)
	}
	return out, nil
}

// unusedID tells apart ids that are there twice, which validate reports.
func unusedID[T any](known map[string]T, id string) string {
	name := id
	for n := 2; ; n++ {
		if _, taken := known[name]; !taken {
			return name
		}
		name = id + "#" + strconv.Itoa(n)
	}
}

// oneSided is the change of what one side lacks.
func oneSided(notA, notB bool) Change {
	switch {
	case notA:
		return Added
	case notB:
		return Removed
	}
	return ""
}

func (c *comparer) tileBundle(id, kind string, p, q *tileEntry) (*bundle, error) {
	x := &bundle{id: id, kind: kind, change: oneSided(p == nil, q == nil), full: &job{kind: kind, part: PartTiles}}
	names := []string{}
	for s, t := range [2]*tileEntry{p, q} {
		if t == nil {
			continue
		}
		x.full.entry[s] = &entry{t.tile.Path, t.tile.FileSizeBytes, t.tile.SHA256, int64(t.tile.TriangleCount)}
		for _, l := range t.levels {
			if !slices.Contains(names, l.name) {
				names = append(names, l.name)
			}
		}
	}
	var err error
	if x.change == "" {
		x.settings, err = c.entryFields(p.whole, q.whole, "path_relative_to_manifest", p.tile.Path, q.tile.Path, "lod_levels", "hlod_levels", "cell_bounds")
		if err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		l := &levelJob{name: name, job: &job{kind: "level", part: PartLevels}}
		var found [2]*manifest.Level
		for s, t := range [2]*tileEntry{p, q} {
			if t == nil {
				continue
			}
			if k := slices.IndexFunc(t.levels, func(v namedLevel) bool { return v.name == name }); k >= 0 {
				v := t.levels[k].level
				found[s], l.job.entry[s] = v, &entry{v.Path, v.FileSizeBytes, v.SHA256, int64(v.TriangleCount)}
			}
		}
		if found[0] != nil && found[1] != nil {
			if l.settings, err = c.entryFields(found[0], found[1], "path", found[0].Path, found[1].Path); err != nil {
				return nil, err
			}
		}
		x.levels = append(x.levels, l)
	}
	slices.SortStableFunc(x.levels, func(v, w *levelJob) int {
		return cmp.Or(cmp.Compare(w.name[0], v.name[0]), cmp.Compare(len(v.name), len(w.name)), strings.Compare(v.name, w.name))
	})
	return x, nil
}

// entryFields compares two entries of a manifest, without what is compared of their
// payloads, and without the folder of those, which is a setting of the scene.
func (c *comparer) entryFields(a, b any, key, x, y string, without ...string) ([]Field, error) {
	out, err := compareJSON(a, b, c.o.Tolerance, append(without, key, "file_size_bytes", "sha256", "triangle_count")...)
	if path.Base(x) != path.Base(y) {
		out = append(out, Field{Key: key, A: x, B: y})
	}
	return out, err
}

// collect brings what the jobs of a bundle found into the result.
func (c *comparer) collect(x *bundle) {
	r := c.result
	aligned := r.Grids == ""
	item := Item{ID: x.id, Kind: x.kind, Change: x.change}
	full := c.o.wants(x.full.part)
	if full {
		item.Settings, item.Payload, item.Failed = x.settings, x.full.payload, x.full.failed
		for s, e := range x.full.entry {
			if e == nil {
				continue
			}
			side := c.side(s)
			if x.kind == KindNode {
				side.Nodes, side.NodeBytes, side.NodeTriangles = side.Nodes+1, side.NodeBytes+x.full.bytes[s], side.NodeTriangles+x.full.triangles[s]
			} else {
				side.Tiles, side.Bytes, side.Triangles = side.Tiles+1, side.Bytes+x.full.bytes[s], side.Triangles+x.full.triangles[s]
			}
		}
		if x.kind != KindNode && aligned && !c.bare {
			c.count(x.full)
		}
	}
	entryOnly := x.full.change == ""
	for _, l := range x.levels {
		if !c.o.wants(PartLevels) {
			break
		}
		v := Level{Name: l.name, Change: l.job.change, Failed: l.job.failed, Settings: l.settings, Payload: l.job.payload}
		if v.Change == "" && len(v.Settings) > 0 {
			v.Change = Changed
		}
		for s, e := range l.job.entry {
			if e != nil {
				side := c.side(s)
				side.Levels, side.LevelBytes, side.LevelTriangles = side.Levels+1, side.LevelBytes+l.job.bytes[s], side.LevelTriangles+l.job.triangles[s]
			}
		}
		if aligned {
			r.Levels.add(v.Change)
			if v.Change == Changed && l.job.change == "" {
				r.Levels.Entries++
			}
		}
		entryOnly = entryOnly && l.job.change == ""
		if v.Change != "" {
			item.Levels = append(item.Levels, v)
		}
	}
	if !aligned || !full && len(item.Levels) == 0 {
		return
	}
	if item.Change == "" && (len(item.Settings)+len(item.Levels) > 0 || full && x.full.change != "") {
		item.Change = Changed
	}
	counts := &r.Tiles
	if x.kind == KindNode {
		counts = &r.Nodes
	}
	if full {
		counts.add(item.Change)
		if item.Change == Changed && entryOnly {
			counts.Entries++
		}
	}
	if item.Change == "" {
		return
	}
	if x.kind == KindNode {
		r.NodeItems = append(r.NodeItems, item)
	} else {
		r.Items = append(r.Items, item)
	}
}
