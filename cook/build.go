package cook

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/untoldkit/untold/cook/internal/border"
	"github.com/untoldkit/untold/cook/internal/pyramid"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/workpool"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/partition"
)

// payload is a container to build: a tile, or the shared bucket behind them.
type payload struct {
	name    string // file name with slashes, relative to the output folder
	tile    string // id
	typ     format.FileType
	members []int
	coord   *[3]int      // of a grid tile, nil for the bucket
	border  *geom.Box    // where geometry is cut, nil where it is not
	cell    *border.Cell // the same for levels
	levels  []level      // from fine to coarse
	above   bool         // nodes of the pyramid stand in for it
	// levelsMade: they are made although those of other payloads are estimated.
	levelsMade bool
	guessed    bool // levels are estimated, or left out by an estimate
	share      geometryLoad
	// predicted are the triangles that it is likely to have, whatever the memory.
	predicted int64

	// results
	present   []int // members that have geometry here
	written   written
	bounds    records.Bounds
	triangles int
	textures  []string           // file names in the folder of textures
	scales    map[string]float64 // textureScales, by these names
	gpuBytes  int64
	full      int     // triangles of the finest geometry; with estimates
	area      float64 // of these, square metres; with estimates
	order     orderStats
	empty     bool
	drops     []Drop
	notes     []memberNote // Member is the object
}

// simplified reports whether something coarser is made of it.
func (p *payload) simplified() bool { return len(p.levels) > 0 || p.above }

func (c *scenePlan) payloads() []payload {
	var out []payload
	cells := c.cutCells()
	for i := range c.planned.Tiles {
		t := &c.planned.Tiles[i]
		b := payload{name: c.opts.PayloadDir + "/" + partition.TileFile(t.ID), tile: t.ID, typ: format.FileTile, members: t.Objects}
		// What is wanted only from within is no part of what is seen from afar.
		b.above = c.makesPyramid() && !t.Interior
		if !c.opts.hasFloors() {
			b.coord = &t.Coord
			if c.opts.Clip {
				b.border = &t.Cell
				b.cell = cells[i]
			}
		}
		out = append(out, b)
	}
	if len(c.planned.Shared) > 0 {
		out = append(out, payload{name: c.opts.PayloadDir + "/" + partition.SharedFile(c.name), tile: manifest.SharedTileID, typ: format.FileShared, members: c.planned.Shared})
	}
	return out
}

// builder makes the containers of a scene, several at a time. Every payload has a slot of
// its own, so the result does not depend on the order of the workers.
type builder struct {
	c        *scenePlan
	b        *tileBuilder
	room     *room
	payloads []payload
	images   *textures
	first    []int // by object: see firstUse
	split    *splitter
	keyer    *keyer       // nil for a dry run
	keys     []*key       // by payload, once they are known
	nodes    *nodeBuilder // nil if there are none
}

// newBuilder plans the payloads, with their levels and what they take, and prepares the
// images. It returns the levels that are not to be made, too.
func (c *scenePlan) newBuilder(ctx context.Context, out *output) (y *builder, dropped []Drop, err error) {
	y = &builder{c: c, payloads: c.payloads()}
	dropped = c.planLevels(y.payloads)
	if y.room, err = c.weigh(y.payloads); err != nil {
		return nil, nil, err
	}
	if c.opts.estimates() {
		c.chooseMade(y.payloads)
	}
	folder := filepath.Join(out.stage, filepath.FromSlash(c.opts.PayloadDir))
	if c.opts.planned != nil && c.share && !c.opts.HLODAtlas { // atlases are drawn from the files
		y.images, err = plannedTextures(c.scene, c.opts, c.ns)
	} else {
		y.images, err = newTextures(ctx, c.scene, folder, c.opts, c.ns, c.recall.madeImages(c.opts))
	}
	if err != nil {
		return nil, nil, err
	}
	y.first = c.firstUse(y.payloads)
	y.b = newTileBuilder(c.scene, c.objects, y.images.staged, c.opts, c.ns)
	y.b.out, y.b.small, y.b.shrunk = out, y.images.small, y.images.shrunk
	y.b.images.dir = y.images.from
	if y.split, err = c.newSplitter(y.b, y.room); err != nil {
		return nil, nil, err
	}
	if c.recall == nil {
		return y, dropped, nil
	}
	y.keys = make([]*key, len(y.payloads))
	y.keyer, err = c.newKeyer(y.b, y.images, y.first)
	return y, dropped, err
}

// close removes temporary files.
func (y *builder) close() { y.split.close() }

// key returns the key of a payload, nil for a dry run. Each payload is of one goroutine
// at a time.
func (y *builder) key(i int) *key {
	if y.keyer == nil {
		return nil
	}
	if y.keys[i] == nil {
		k := y.keyer.payload(i, &y.payloads[i])
		y.keys[i] = &k
	}
	return y.keys[i]
}

// all makes all payloads, and the nodes above them.
func (y *builder) all(ctx context.Context) ([]node, error) {
	var err error
	if y.nodes, err = y.c.newNodeBuilder(y.b, y.payloads); err != nil {
		return nil, err
	}
	y.findNodes()
	if err := y.some(ctx, y.nodes.order(len(y.payloads))); err != nil {
		return nil, err
	}
	if y.c.opts.estimates() {
		y.c.estimated = y.c.estimateLevels(y.payloads)
	}
	for i := range y.payloads {
		y.c.ns.members(y.payloads[i].notes, y.c.objects)
	}
	return y.nodes.all(), nil
}

// some makes the payloads of a list, in about its order.
func (y *builder) some(ctx context.Context, list []int) error {
	var mu sync.Mutex
	done := 0
	y.c.opts.progress("cook", 0, len(list))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(y.c.opts.jobs())
	errs := make([]error, len(y.payloads))
	for _, i := range list {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if errs[i] = y.one(ctx, i); errs[i] != nil {
				return errs[i]
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			y.c.opts.progress("cook", done, len(list))
			return nil
		})
	}
	return workpool.FirstFailure(errs, g.Wait())
}

// one makes a payload, or takes it from an earlier cook.
func (y *builder) one(ctx context.Context, i int) error {
	c, p := y.c, &y.payloads[i]
	k := y.key(i)
	known := k != nil && c.recall.restore(p, k)
	if !known && c.opts.RequireStore {
		return fmt.Errorf("%w: %s", ErrNotInStore, p.name)
	}
	wants := y.nodes.wants(i)
	if known && !wants {
		y.split.skip(p.members, p.coord)
		return y.nodes.put(ctx, i, nil)
	}
	if err := y.split.prepare(ctx, p.members, p.coord); err != nil {
		return err
	}
	free, err := y.room.take(ctx, p.share, p.simplified())
	if err != nil {
		return err
	}
	get := func(o int) (member, error) {
		parts, cut, err := y.split.parts(o, p.coord)
		m := member{object: o, parts: parts, cut: cut}
		if (cut || y.first[o] == i) && !known {
			m.notes = &p.notes
		}
		return m, err
	}
	var parts []pyramid.Part
	if known {
		parts, err = c.partsOf(ctx, y.b, p, get)
	} else {
		parts, err = c.buildOne(ctx, y.b, p, get, wants)
	}
	free()
	if err != nil {
		return err
	}
	if k != nil && !known {
		c.recall.remember(p.name, k, recordOf(p), false)
	}
	return y.nodes.put(ctx, i, parts)
}

// firstUse tells in which payload an object occurs first; notes count it
// there alone.
func (c *scenePlan) firstUse(payloads []payload) []int {
	first := make([]int, len(c.objects))
	for i := range first {
		first[i] = -1
	}
	for i := range payloads {
		for _, o := range payloads[i].members {
			if first[o] < 0 {
				first[o] = i
			}
		}
	}
	return first
}

// buildOne builds a tile and its levels, and returns what nodes of the pyramid are made of.
func (c *scenePlan) buildOne(ctx context.Context, b *tileBuilder, p *payload, get func(int) (member, error), wants bool) ([]pyramid.Part, error) {
	var src *levelSource
	t, err := b.build(ctx, p.typ, p.members, get, func(all []drawable) {
		if p.simplified() {
			src = newLevelSource(all)
		}
	})
	if err != nil {
		return nil, err
	}
	if t == nil {
		p.empty = true
		return nil, nil
	}
	if err := c.writeFull(b.out, p, t); err != nil || src == nil {
		return nil, err
	}
	if c.opts.estimates() {
		if p.full, p.area = src.triangles(), src.area(); !p.levelsMade {
			return nil, nil
		}
	}
	var parts []pyramid.Part
	if wants {
		if parts, err = b.nodeParts(src); err != nil {
			return nil, fmt.Errorf("%s: %s for the pyramid: %w", c.path, p.name, err)
		}
	}
	return parts, c.buildLevels(ctx, b, p, src)
}

// partsOf returns what nodes of the pyramid are made of, of a tile that is there already.
func (c *scenePlan) partsOf(ctx context.Context, b *tileBuilder, p *payload, get func(int) (member, error)) (parts []pyramid.Part, err error) {
	all, _, err := b.gather(ctx, p.members, get)
	if err == nil && len(all) > 0 {
		parts, err = b.nodeParts(newLevelSource(all))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s for the pyramid: %w", c.path, p.name, err)
	}
	return parts, nil
}

// writeFull writes a tile's full geometry and keeps what the manifest says
// about it.
func (c *scenePlan) writeFull(out *output, p *payload, t *tile) error {
	f := t.file
	p.present, p.order = t.present, t.order
	p.bounds, _ = f.Bounds()
	p.triangles, p.textures = triangles(f), texturesOf(f)
	p.scales = textureScales(f)
	// Instances share their ranges, so this is less than the records' sum.
	p.gpuBytes = int64(len(f.Vertices) + len(f.Indices))
	if c.opts.DryRun {
		return nil
	}
	var err error
	p.written, err = out.write(p.name, func(w io.Writer) error {
		_, err := f.WriteTo(w, c.opts.containers())
		return err
	})
	return err
}
