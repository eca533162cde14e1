package simulate

import (
	"fmt"
	"math"
	"path/filepath"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// A scenario may say where its scene is, and what streams beside it: entities
// without a tile and regions, each of which is a scene of its own.

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

// region reads a scene that is opened when the camera comes near.
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
		"scene":         func(n *node) { s.scene(d, n) },
		"note":          d.text(new(string)),
	}, "region_id", "bounds", "scene")
	r.Source = runtime.Source{Path: r.ID, Manifest: s.Manifest}
	own := s.Tiles
	s.Manifest, s.Tiles = main, tiles
	for i := 0; d.err == nil && i < len(r.Source.Manifest.Tiles); i++ {
		id := r.Source.Manifest.Tiles[i].ID
		s.addExtra(d, n, id, own[id])
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

// tilesBeside lists what streams like a tile beside the scene.
func (s *Scenario) tilesBeside() (list []*manifest.Tile) {
	for i := range s.Entities {
		e := &s.Entities[i]
		list = append(list, &manifest.Tile{ID: e.ID, Path: e.Path, Bounds: e.Bounds})
	}
	for i := range s.Regions {
		m := s.Regions[i].Source.Manifest
		for k := range m.Tiles {
			list = append(list, &m.Tiles[k])
		}
	}
	return list
}

// place puts the scene where the scenario wants it and adds what is beside it.
func (r *run) place() (err error) {
	r.scene = r.streamer.Scenes()[0]
	r.w.root = func(id payload.SceneID) geom.Mat4 {
		if m, ok := r.streamer.SceneTransform(id); ok {
			return m
		}
		return geom.Identity()
	}
	if m := r.s.Transform; m != nil {
		if err := r.streamer.SetSceneTransform(r.scene, *m); err != nil {
			return fmt.Errorf("simulate: transform: %w", err)
		}
	}
	if len(r.s.Entities)+len(r.s.Regions) == 0 {
		return nil
	}
	r.meter.scene = r.scene // measures the scene alone
	r.w.ids = map[payload.SceneID][]string{}
	if len(r.s.Entities) > 0 {
		dir := r.o.Base
		if dir == "" {
			dir = filepath.Dir(r.s.ManifestPath)
		}
		id, err := r.streamer.AddEntities(dir, r.s.Entities...)
		if err != nil {
			return fmt.Errorf("simulate: %w", err)
		}
		for i := range r.s.Entities {
			r.w.ids[id] = append(r.w.ids[id], r.s.Entities[i].ID)
		}
	}
	if len(r.s.Regions) > 0 {
		if r.regions, err = runtime.NewRegions(r.streamer, r.s.Regions...); err != nil {
			return fmt.Errorf("simulate: %w", err)
		}
	}
	return nil
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
		for _, t := range r.s.Regions[i].Source.Manifest.Tiles {
			r.w.ids[id] = append(r.w.ids[id], t.ID)
		}
	}
}
