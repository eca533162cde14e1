package cook

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/format"
)

// tileStage is raised whenever the bytes of a tile, its levels or its record change for
// the same input: what was made under another number is not taken. TestStages fails when
// bytes change and the number does not.
const tileStage = 2

// Parts of a key, in the order in which they are said to have changed.
const (
	partCode      = "code"      // the number of the stage
	partOptions   = "options"   // those that matter for tiles
	partPlace     = "place"     // the tile: its name, and the cell that it is cut to
	partObjects   = "objects"   // geometry and transforms of what lies in it
	partMaterials = "materials" // of these, with their images
	partLevels    = "levels"    // which levels, and the options that matter for them
	partBorder    = "border"    // how much lies in the tiles beside it
)

var keyParts = []string{partCode, partOptions, partPlace, partObjects, partMaterials, partLevels, partBorder}

// key is derived from all that decides the bytes of a payload.
type key struct {
	sum   sum
	parts map[string]sum // by their names
}

func newKey(parts map[string]sum) key {
	d := newDigest()
	for _, name := range keyParts {
		if s, ok := parts[name]; ok {
			d.text(name)
			d.add(s)
		}
	}
	return key{d.sum(), parts}
}

// keyer derives the keys of a scene's payloads. What many payloads share is hashed once.
type keyer struct {
	c         *scenePlan
	b         *tileBuilder
	first     []int                  // by object: see firstUse
	meshes    []sum                  // by Scene.Meshes
	images    []sum                  // by Scene.Images
	materials []sum                  // by tileBuilder.materials
	uses      map[string]texture.Use // of what atlases are drawn from, by staged files
	options   sum
	levels    sum // the options that matter for levels
}

// newKeyer hashes materials.
func (c *scenePlan) newKeyer(b *tileBuilder, images *textures, first []int) (*keyer, error) {
	y := &keyer{c: c, b: b, first: first, meshes: c.seen.sums, images: images.sums}
	y.uses = images.atlasUses()
	for i := range b.materials {
		y.materials = append(y.materials, y.materialSum(&b.materials[i], images))
	}
	return y, y.hashOptions()
}

// hashOptions hashes the options that decide bytes. All count but those that are known
// not to: one that is new counts until it stands here.
func (y *keyer) hashOptions() error {
	o := *y.c.opts
	grid, levels, out := o.GridOptions, o.LevelOptions, o.OutputOptions
	// Where tiles and what levels there are is part of the plan.
	grid.Floors, grid.TileSize, grid.TileTriangles, grid.AutoTileSize, grid.SplitMaxTiles = Options{}.Floors, Options{}.TileSize, 0, false, 0
	grid.SampleFraction, grid.PerimeterDepth = 0, 0
	levels.WholeLimit, levels.ViewDistance, levels.LODs, levels.HLODs, levels.Pyramid, levels.AutoPyramid = 0, 0, nil, nil, false, false
	out.Generator, out.DryRun, out.Report, out.NoSync = "", false, false, false
	out.Full, out.Verify, out.Grade = false, false, nil
	for _, part := range []struct {
		sum    *sum
		values []any
	}{{&y.options, []any{grid, o.TextureOptions, out, o.Compat}}, {&y.levels, []any{levels}}} {
		text, err := json.Marshal(part.values)
		if err != nil {
			return err
		}
		d := newDigest()
		d.text(string(text))
		*part.sum = d.sum()
	}
	return nil
}

// addStage hashes the number of a stage, with those of the code that makes its pictures.
func (y *keyer) addStage(d *digest, stage int) {
	d.int(stage)
	for _, n := range y.c.opts.stages() {
		d.int(n)
	}
}

// zstdStage and deltaStage are for the bytes of zstd and of delta what tileStage is for
// those of all others.
const (
	zstdStage  = 3
	deltaStage = 3
)

// stages are the numbers of the code that some options alone use.
func (o *Options) stages() []int {
	pictures := o.Textures.Stages()
	list := pictures[:]
	switch o.Compress {
	case format.ModeZstd:
		list = append(list, zstdStage)
	case format.ModeDelta:
		list = append(list, zstdStage, deltaStage)
	}
	return list
}

func meshSum(name string, list []gltfscene.Primitive) sum {
	d := newDigest()
	d.text(name)
	d.int(len(list))
	for k := range list {
		p := &list[k]
		d.int(p.Slot)
		attribute(d, p.Positions)
		attribute(d, p.Normals)
		attribute(d, p.Tangents)
		attribute(d, p.UV[0])
		attribute(d, p.UV[1])
		attribute(d, p.Colors)
		d.indices(p.Indices)
	}
	return d.sum()
}

// materialSum hashes a material with its images: what they show, and the names, sizes
// and formats of the files that serve it.
func (y *keyer) materialSum(m *gltfscene.Material, images *textures) sum {
	d := newDigest()
	plain := *m
	plain.Index = 0
	for _, t := range slots(&plain) {
		image := t.Image
		t.Image = min(image, 0)
		if image < 0 {
			continue
		}
		d.add(y.images[image])
		d.text(fmt.Sprint(images.roles[image], images.smallRoles[image]))
		d.int(int(y.uses[images.staged[image].File]))
		for _, list := range [][]texture.Staged{images.staged, images.small, images.shrunk} {
			d.bool(list != nil)
			if list == nil {
				continue
			}
			s := &list[image]
			d.bool(s.Err == nil)
			for use := range s.Cooked {
				f := s.As(texture.Use(use))
				d.text(f.File)
				for _, n := range []int{f.Width, f.Height, f.Levels, int(f.Format), int(f.Size), int(f.GPU)} {
					d.int(n)
				}
			}
		}
	}
	d.text(fmt.Sprintf("%+v", plain))
	return d.sum()
}

// payload derives the key of a payload.
func (y *keyer) payload(i int, p *payload) key {
	parts := map[string]sum{partOptions: y.options, partPlace: y.place(p), partObjects: y.objects(i, p), partMaterials: y.materialsOf(p)}
	d := newDigest()
	y.addStage(d, tileStage)
	parts[partCode] = d.sum()
	if len(p.levels) > 0 {
		parts[partLevels] = y.levelsOf(p)
		if p.cell != nil {
			d := newDigest()
			d.floats(p.cell.Width)
			d.floats(p.cell.Beside[:]...)
			for _, alone := range p.cell.Alone {
				d.bool(alone)
			}
			parts[partBorder] = d.sum()
		}
	}
	return newKey(parts)
}

func (y *keyer) place(p *payload) sum {
	d := newDigest()
	d.text(p.name)
	d.text(p.tile)
	d.int(int(p.typ))
	d.bool(p.coord != nil)
	if p.coord != nil {
		for _, v := range p.coord {
			d.int(v)
		}
	}
	d.bool(p.border != nil)
	if p.border != nil {
		d.box(*p.border)
		d.floats(y.c.planned.Origin[:]...)
		d.floats(y.c.planned.TileSize[:]...)
	}
	return d.sum()
}

// objects hashes the members of a payload in their order.
func (y *keyer) objects(payload int, p *payload) sum {
	c := y.c
	d := newDigest()
	d.int(len(p.members))
	number := map[int]int{} // of meshes within the payload: instances show the same one
	for _, i := range p.members {
		o := &c.objects[i]
		d.bool(o.identity)
		d.bool(o.group > 0)
		if o.group > 0 {
			d.text(c.scene.LODs[o.group-1].Name)
		}
		d.bool(y.first[i] == payload)
		cut := c.isCut(i) && p.coord != nil
		d.bool(cut)
		if cut {
			cells := c.planned.Objects[i].Cells
			for a := range cells.Min {
				d.int(int(cells.Min[a]))
				d.int(int(cells.Max[a]))
			}
		}
		d.int(len(o.placed))
		for _, at := range o.placed {
			if _, ok := number[at.mesh]; !ok {
				number[at.mesh] = len(number)
			}
			n := &c.scene.Nodes[at.node]
			d.int(at.level)
			d.text(n.Name)
			d.floats(n.World[:]...)
			d.int(number[at.mesh])
			d.add(y.meshes[at.mesh])
		}
	}
	return d.sum()
}

// materialsOf hashes the materials of a payload, which parts show which, and which of
// them look alike.
func (y *keyer) materialsOf(p *payload) sum {
	c, d := y.c, newDigest()
	var used, shown []int
	for _, i := range p.members {
		for _, at := range c.objects[i].placed {
			for _, p := range c.scene.Meshes[at.mesh].Parts {
				shown = append(shown, y.b.material(p.Material))
			}
		}
	}
	used = append(used, shown...)
	slices.Sort(used)
	used = slices.Compact(used)
	class := func(m int) int {
		if y.b.classes != nil {
			return y.b.classes[m]
		}
		return m
	}
	var classes []int
	for _, m := range used {
		classes = append(classes, class(m))
	}
	slices.Sort(classes)
	classes = slices.Compact(classes)
	rank := func(list []int, v int) int {
		k, _ := slices.BinarySearch(list, v)
		return k
	}
	d.int(len(used))
	for _, m := range used {
		d.add(y.materials[m])
		d.add(y.materials[class(m)])
		d.int(rank(classes, class(m)))
	}
	for _, m := range shown {
		d.int(rank(used, m))
	}
	if c.opts.HLODAtlas { // its texture has a name that no other has
		for _, list := range [][]texture.Staged{y.b.staged, y.b.small} {
			for i := range list {
				d.text(list[i].File)
			}
		}
	}
	return d.sum()
}

// levelsOf hashes what levels are wanted of a payload.
func (y *keyer) levelsOf(p *payload) sum {
	d := newDigest()
	d.add(y.levels)
	d.int(len(p.levels))
	for k := range p.levels {
		l := &p.levels[k]
		d.bool(l.hlod)
		d.text(l.name)
		d.text(l.file)
		d.floats(l.ratio, l.distance)
	}
	return d.sum()
}
