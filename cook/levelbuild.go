package cook

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/cook/palette"
	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/internal/geom"
)

// buildLevels simplifies a tile's geometry into its levels, from fine to
// coarse, and writes those that pay.
func (c *scenePlan) buildLevels(ctx context.Context, b *tileBuilder, p *payload, src *levelSource) error {
	full := src.triangles()
	finer, name := full, "the full tile"
	least, most := c.opts.LODMinTriangles, 0.0
	pays := func(triangles int) bool { return triangles >= least && float64(triangles) <= most }
	chain := newLevelChain(c.opts, src, p.cell, b.labels(src))
	if !c.opts.Compat {
		chain.look = func() (*appearance.Reference, error) { return b.newReference(src) }
		if c.opts.FitDistances {
			is := make([]bool, len(src.names))
			for g := range src.names {
				is[g] = isFoliage(&b.materials[src.names[g].material])
			}
			chain.foliage = newFoliage(src.mesh(), is)
		}
		chain.palettes = func() (*palette.Palettes, error) { return b.findPalettes(src) }
	}
	for i := range p.levels {
		l := &p.levels[i]
		target := atLeast(l.ratio, full)
		if target < least {
			p.drop(l, "it would keep %d of %d triangles; a level needs %d", target, full, least)
			continue
		}
		if c.opts.DryRun && !c.opts.FitDistances {
			l.made = true
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		most = c.opts.mostTriangles(finer)
		r, err := chain.reduce(l, target, pays)
		if err != nil {
			return fmt.Errorf("%s: %s of %s: %w", c.path, l.name, p.name, err)
		}
		switch {
		case r.all() < least:
			p.drop(l, "it keeps %d of %d triangles; a level needs %d", r.all(), full, least)
			continue
		case !pays(r.all()):
			p.drop(l, "its %d triangles save too few of the %d of %s: a level has at most %.0f (%s)", r.all(), finer, name, max(0, math.Floor(most)), r)
			continue
		case chain.keepsColor() && r.drift > mostDrift:
			p.drop(l, "its mean colour is off by %.3g of 255; at most %v are allowed", r.drift, mostDrift)
			continue
		case c.opts.tooCoarse(r.err, l.distance):
			p.drop(l, "%s", c.opts.describeError(r.err, l.distance))
			continue
		}
		if err := chain.keep(l, r); err != nil {
			return fmt.Errorf("%s: %s of %s: %w", c.path, l.name, p.name, err)
		}
		if err := c.writeLevel(b, p, l, src, chain.close(l, r)); err != nil {
			return err
		}
		finer, name = l.triangles, l.name
	}
	return nil
}

// simplification returns the simplifier's options for a level. Loose parts may
// vanish whatever their size: they go in the order of what that costs, like
// everything else, and a bench goes before a wall bends.
func (o *Options) simplification(l *level, locked []bool) simplify.Options {
	s := simplify.Options{Locked: locked, PruneBelow: math.Inf(1)}
	if l.hlod {
		s.Seams, s.Sloppy = simplify.SeamsWeld, true
	}
	return s
}

func (p *payload) drop(l *level, format string, args ...any) {
	p.drops = append(p.drops, Drop{Tile: p.tile, Level: l.name, Reason: fmt.Sprintf(format, args...)})
}

// writeLevel packs a simplified tile and writes its container.
func (c *scenePlan) writeLevel(b *tileBuilder, p *payload, l *level, src *levelSource, m *simplify.Mesh) error {
	parts, shapes := src.names, src.take(m)
	if l.hlod && c.opts.HLODAtlas && !c.opts.DryRun {
		var err error
		if parts, shapes, err = c.bakeAtlas(b, p.tile, parts, shapes); err != nil {
			return fmt.Errorf("%s: %s of %s: %w", c.path, l.name, p.name, err)
		}
	}
	// The distances of other cooks are their users', and so are errors.
	step, cell := 0.0, geom.EmptyBox()
	if c.opts.FitDistances && !c.opts.Compat {
		step = gridStep(l.seen, levelGridParts)
		l.err += gridError(step)
	}
	if p.cell != nil {
		cell = p.cell.Box
	}
	var all []drawable
	for g, shape := range shapes {
		if shape == nil {
			continue
		}
		d := parts[g]
		toGrid(shape, step, cell)
		var err error
		if d.atlas != nil {
			l.atlasBytes += d.atlas.file.Size
			l.atlasGPU += d.atlas.file.GPU
			l.atlas = &d.atlas.written
		}
		if d.packed, err = b.packLevel(shape, &d); err != nil {
			return fmt.Errorf("%s: %s of %s: %w", c.path, l.name, p.name, err)
		}
		if len(d.packed.Indices) > 0 {
			all = append(all, d)
		}
	}
	if b.classes != nil {
		all = merge(all, b.classes)
	}
	staged := b.staged
	if l.hlod {
		staged = b.small
	}
	var order orderStats
	f, err := b.write(l.fileType(), all, staged, &order)
	if err != nil {
		return err
	}
	l.triangles, l.textures, l.made = triangles(f), texturesOf(f), true
	l.scales = textureScales(f)
	l.gpuBytes = int64(len(f.Vertices) + len(f.Indices))
	if c.opts.DryRun {
		return nil
	}
	l.written, err = b.out.write(l.file, func(w io.Writer) error {
		_, err := f.WriteTo(w, c.opts.containers())
		return err
	})
	return err
}

// packLevel quantises a part of a level. Tangents are made anew where a normal
// map needs them.
func (b *tileBuilder) packLevel(shape *mesh.Mesh, d *drawable) (*mesh.Packed, error) {
	if t := &b.materials[d.material].NormalTex; d.atlas == nil && t.Image >= 0 && b.staged[t.Image].File != "" && shape.UV[0] != nil {
		shape.GenerateTangents()
	}
	return shape.Pack(mesh.PackOptions{})
}
