package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// World says where a scene is, and what streams beside it: entities without a
// tile, and regions, each of which is a scene of its own. The zero World has the
// scene where it was cooked, and nothing else.
type World struct {
	Transform *[16]float64 // of the scene at the start, column-major; nil: as cooked
	Entities  []runtime.Entity
	Regions   []runtime.Region

	inline map[string]bool         // regions whose scene stands in the file, by their ids
	extra  map[string]Extra        // of entities and the tiles of regions
	sizes  map[string]texfile.Size // of the textures that these name
}

// LoadWorld reads a file with the keys transform, entities and regions of a
// scenario, and the manifests that its regions name, relative to its folder.
func LoadWorld(path string) (*World, error) {
	data, err := readFile(path, MaxBytes)
	if err != nil {
		return nil, err
	}
	root, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	d, s := &decoder{data: data}, &Scenario{Tiles: map[string]Extra{}}
	d.object(root, fields{
		"name": d.text(new(string)), "note": d.text(new(string)),
		"transform": d.transform(&s.Transform), "entities": func(*node) {}, "regions": func(*node) {},
	})
	if d.err == nil {
		s.beside(d, root)
	}
	if d.err != nil {
		return nil, fmt.Errorf("%s: %w", path, d.err)
	}
	if err := s.readRegions(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s.extra, s.sizes = s.Tiles, s.Textures
	return &s.World, nil
}

// Place takes over a World. Manifests of regions that have not been read are read.
func (s *Scenario) Place(w *World) error {
	if s.Transform != nil || len(s.Entities)+len(s.Regions) > 0 {
		return errors.New("simulate: the scenario says itself where its scene is and what streams beside it: leave the other file out")
	}
	s.World = *w
	s.Regions = slices.Clone(w.Regions)
	s.Tiles = maps.Clone(s.Tiles)
	for id := range w.extra {
		if _, ok := s.Tiles[id]; ok {
			return fmt.Errorf("simulate: the id %q of an entity, or of a region's tile, is one of the scene's too: choose another one", clip(id))
		}
	}
	maps.Copy(s.Tiles, w.extra)
	s.Textures = maps.Clone(s.Textures)
	if s.Textures == nil {
		s.Textures = w.sizes
	}
	for name, size := range w.sizes {
		if own, ok := s.Textures[name]; ok && own != size {
			return fmt.Errorf("simulate: the texture %q has two sizes", clip(name))
		}
		s.Textures[name] = size
	}
	return s.readRegions("")
}

// readRegions reads the manifests of regions, as far as they are there by their
// paths alone, from a folder, and measures their tiles.
func (s *Scenario) readRegions(dir string) error {
	for i := range s.Regions {
		r := &s.Regions[i]
		if s.inline[r.ID] {
			continue
		}
		if r.Source.Manifest == nil {
			r.Source.Path = filepath.Join(dir, filepath.FromSlash(r.Source.Path))
			m, err := manifest.Load(r.Source.Path)
			if err != nil {
				return fmt.Errorf("region %q: %w", clip(r.ID), err)
			}
			r.Source.Manifest = m
		}
		for _, t := range s.tilesOf(r) {
			if s.Tiles == nil {
				s.Tiles = map[string]Extra{}
			}
			s.Tiles[t.ID] = measureTile(t)
		}
	}
	return nil
}

// Set puts a scene of a Streamer where the World has it and registers what is
// beside it. Files of entities, and of regions without a manifest of their own,
// are relative to the folder of the scene.
func (w *World) Set(s *runtime.Streamer, scene payload.SceneID, src runtime.Source) (entities payload.SceneID, regions *runtime.Regions, err error) {
	if w.Transform != nil {
		if err := s.SetSceneTransform(scene, *w.Transform); err != nil {
			return 0, nil, fmt.Errorf("transform: %w", err)
		}
	}
	dir := cmp.Or(src.Base, filepath.Dir(src.Path))
	if len(w.Entities) > 0 {
		if entities, err = s.AddEntities(dir, w.Entities...); err != nil {
			return 0, nil, err
		}
	}
	if len(w.Regions) == 0 {
		return entities, nil, nil
	}
	list := slices.Clone(w.Regions)
	for i := range list {
		if w.inline[list[i].ID] {
			list[i].Source.Base = dir
		}
	}
	regions, err = runtime.NewRegions(s, list...)
	return entities, regions, err
}

// transform reads a column-major matrix.
func (d *decoder) transform(dst **[16]float64) func(*node) {
	return func(n *node) {
		m, i := &[16]float64{}, 0
		d.array(n, func(n *node) {
			if v := d.number(n, -math.MaxFloat32, math.MaxFloat32); i < len(m) {
				m[i] = v
			}
			i++
		})
		if d.err == nil && i != len(m) {
			d.fail(n, fmt.Sprintf("a transform of %d numbers", i), "16: a 4 by 4 matrix, column by column")
		}
		*dst = m
	}
}

// beside reads the keys entities and regions. It comes after the scene, whose
// tiles have other ids.
func (s *Scenario) beside(d *decoder, root *node) {
	for _, k := range [...]struct {
		name string
		read func(*decoder, *node)
	}{{"entities", s.entity}, {"regions", s.region}} {
		if list := root.member(k.name); list != nil && d.err == nil {
			d.within(k.name, func() { d.array(list, func(n *node) { k.read(d, n) }) })
		}
	}
}

// entity reads a file that streams without a tile.
func (s *Scenario) entity(d *decoder, n *node) {
	var e runtime.Entity
	var x Extra
	d.object(n, fields{
		"entity_id":        d.text(&e.ID),
		"path":             d.text(&e.Path),
		"bounds":           d.bounds(&e.Bounds),
		"streaming_radius": d.float(&e.StreamingRadius, 0, math.MaxFloat32),
		"unload_radius":    d.float(&e.UnloadRadius, 0, math.MaxFloat32),
		"priority":         d.int(&e.Priority),
		"nodes":            func(n *node) { s.meshes(d, n, &x) },
		"textures":         func(n *node) { x.Textures = s.textureNames(d, n) },
		"gpu_bytes":        d.count(&x.GPUBytes),
		"note":             d.text(new(string)),
	}, "entity_id", "bounds")
	if d.err != nil {
		return
	}
	if e.Path == "" {
		e.Path = "entities/" + e.ID + ".untold"
	}
	s.addExtra(d, n, e.ID, x)
	s.Entities = append(s.Entities, e)
}

// region reads a scene that is opened when the camera comes near: one that
// stands there, or the path of its manifest.
func (s *Scenario) region(d *decoder, n *node) {
	var r runtime.Region
	main, tiles := s.Manifest, s.Tiles
	d.object(n, fields{
		"region_id":     d.text(&r.ID),
		"bounds":        d.bounds(&r.Bounds),
		"radius":        d.float(&r.Radius, 0, math.MaxFloat32),
		"unload_radius": d.float(&r.UnloadRadius, 0, math.MaxFloat32),
		"priority":      d.int(&r.Priority),
		"gpu_bytes":     d.count(&r.Bytes),
		"scene": func(n *node) {
			s.scene(d, n)
			r.Source.Manifest = s.Manifest
		},
		"manifest": d.text(&r.Source.Path),
		"note":     d.text(new(string)),
	}, "region_id", "bounds")
	own := s.Tiles
	s.Manifest, s.Tiles = main, tiles
	if d.err == nil && (r.Source.Manifest == nil) == (r.Source.Path == "") {
		d.fail(n, `a region has a "scene" or the path of a "manifest"`, "give one of them")
	}
	if d.err != nil {
		return
	}
	if r.Source.Manifest != nil {
		if s.inline == nil {
			s.inline = map[string]bool{}
		}
		s.inline[r.ID], r.Source.Path = true, r.ID
		for _, t := range s.tilesOf(&r) {
			id := t.ID
			if _, bucket := own[id]; !bucket {
				id = manifest.SharedTileID
			}
			s.addExtra(d, n, t.ID, own[id])
		}
	}
	s.Regions = append(s.Regions, r)
}

// addExtra adds what is known of an entity, or of a region's tile.
func (s *Scenario) addExtra(d *decoder, n *node, id string, x Extra) {
	if _, ok := s.Tiles[id]; ok || id == "" {
		d.fail(n, fmt.Sprintf("the id %q is empty or stands twice", clip(id)), "entities and the tiles of all scenes have different ids")
		return
	}
	if s.Tiles == nil { // of a manifest that is read later
		s.Tiles = map[string]Extra{}
	}
	s.Tiles[id] = x
}

// nameOf returns what an entity is called in events.
func nameOf(e *runtime.Entity) string { return cmp.Or(e.ID, e.Path) }

// tilesBeside lists what streams like a tile beside the scene.
func (s *Scenario) tilesBeside() (list []*manifest.Tile) {
	for i := range s.Entities {
		e := &s.Entities[i]
		list = append(list, &manifest.Tile{ID: nameOf(e), Path: e.Path, Bounds: e.Bounds})
	}
	for i := range s.Regions {
		list = append(list, s.tilesOf(&s.Regions[i])...)
	}
	return list
}

// tilesOf lists the tiles of a region, then its shared bucket, as the Streamer
// counts them. Those of a manifest, whose ids may be those of other scenes, are
// called REGION/TILE, as is every bucket.
func (w *World) tilesOf(r *runtime.Region) (list []*manifest.Tile) {
	m := r.Source.Manifest
	if m == nil {
		return nil
	}
	for i := range m.Tiles {
		t := m.Tiles[i]
		if !w.inline[r.ID] {
			t.ID = r.ID + "/" + t.ID
		}
		list = append(list, &t)
	}
	if m.SharedBucket != nil {
		t := m.SharedBucket.Tile
		t.ID = r.ID + "/" + t.ID
		list = append(list, &t)
	}
	return list
}

// folders returns where the files of tiles of regions are, by the tiles' ids.
func (w *World) folders() map[string]string {
	dirs := map[string]string{}
	for i := range w.Regions {
		r := &w.Regions[i]
		if w.inline[r.ID] {
			continue
		}
		for _, t := range w.tilesOf(r) {
			dirs[t.ID] = cmp.Or(r.Source.Base, filepath.Dir(r.Source.Path))
		}
	}
	return dirs
}

// place puts the scene where the scenario wants it and adds what is beside it.
func (r *run) place() error {
	r.scene = r.streamer.Scenes()[0]
	r.w.root = func(id payload.SceneID) geom.Mat4 {
		if m, ok := r.streamer.SceneTransform(id); ok {
			return m
		}
		return geom.Identity()
	}
	entities, regions, err := r.s.Set(r.streamer, r.scene, r.source())
	if err != nil {
		return fmt.Errorf("simulate: %w", err)
	}
	r.regions = regions
	if len(r.s.Entities)+len(r.s.Regions) == 0 {
		return nil
	}
	r.meter.scene = r.scene // measures the scene alone
	r.w.ids = map[payload.SceneID][]string{}
	for i := range r.s.Entities {
		id := nameOf(&r.s.Entities[i])
		r.w.ids[entities] = append(r.w.ids[entities], id)
		r.w.measureEntity(id)
	}
	return nil
}

// measureEntity takes the size of an entity that nothing is said of from its file.
func (w *model) measureEntity(id string) {
	x := w.sizes[id]
	file, _ := w.recordsOf(id, payload.RepFull)
	if x.GPUBytes > 0 || x.Nodes > 0 || file == nil {
		return
	}
	for _, c := range file.Chunks() {
		if c.Type == format.ChunkVertices || c.Type == format.ChunkIndices {
			x.GPUBytes += int64(c.UncompressedSize)
		}
	}
	w.sizes[id] = x
}

// visit opens and closes regions.
func (r *run) visit(camera runtime.Camera) {
	if r.regions == nil {
		return
	}
	r.regions.Update(camera, r.s.DT)
	for i := range r.s.Regions {
		_, id, _ := r.regions.State(r.s.Regions[i].ID)
		if id == 0 || r.w.ids[id] != nil {
			continue
		}
		for _, t := range r.s.tilesOf(&r.s.Regions[i]) {
			r.w.ids[id] = append(r.w.ids[id], t.ID)
		}
	}
}
