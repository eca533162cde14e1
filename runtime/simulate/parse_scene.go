package simulate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
)

// The values of a scene that says nothing about streaming.
const (
	defaultStreamingRadius = 80
	defaultUnloadRadius    = 120
	defaultFileSize        = 1 << 20
)

// scene reads the scene object: a manifest with less ceremony.
func (s *Scenario) scene(d *decoder, n *node) {
	m := &manifest.Manifest{
		PartitioningMode: manifest.ModeUniformGrid,
		StreamingDefaults: manifest.StreamingDefaults{
			StreamingRadius: defaultStreamingRadius, UnloadRadius: defaultUnloadRadius, Priority: manifest.DefaultPriority,
		},
	}
	s.Tiles = map[string]Extra{}
	if list := n.member("textures"); list != nil { // before the tiles that name them
		d.within("textures", func() { s.textures(d, list) })
	}
	tiles := n.member("tiles")
	if tiles != nil {
		m.Tiles = make([]manifest.Tile, 0, len(tiles.items))
	}
	var version int64
	d.object(n, fields{
		"version":            d.count(&version),
		"name":               d.text(new(string)),
		"note":               d.text(new(string)),
		"partitioning_mode":  d.oneOf(&m.PartitioningMode, manifest.ModeUniformGrid, manifest.ModeQuadtreeFloor, manifest.ModeKDTreeFloor),
		"tile_size":          func(n *node) { m.TileSize = d.size(n) },
		"streaming_defaults": func(n *node) { d.defaults(n, &m.StreamingDefaults) },
		"interior_zone":      d.boundsPtr(&m.InteriorZone),
		"textures":           func(*node) {},
		"shared_bucket": func(n *node) {
			if n.kind != 'n' {
				m.SharedBucket = &manifest.SharedBucket{}
				s.tile(d, n, &m.SharedBucket.Tile, manifest.SharedTileID)
			}
		},
		"tiles": func(n *node) {
			d.array(n, func(n *node) {
				m.Tiles = append(m.Tiles, manifest.Tile{})
				s.tile(d, n, &m.Tiles[len(m.Tiles)-1], "")
			})
		},
	}, "tiles")
	m.Version = int(min(version, 1<<30))
	if total := s.totalNodes(); d.err == nil && total > maxTotalNodes {
		d.fail(n, fmt.Sprintf("%d nodes are too many", total), fmt.Sprintf("at most %d in all tiles", maxTotalNodes))
	}
	if version == 0 {
		m.Version = manifest.VersionGrid
		if m.HasFloors() {
			m.Version = manifest.VersionFloor
		}
	}
	s.Manifest = m
}

func (d *decoder) defaults(n *node, v *manifest.StreamingDefaults) {
	d.object(n, fields{
		"streaming_radius": d.float(&v.StreamingRadius, 0, math.MaxFloat32),
		"unload_radius":    d.float(&v.UnloadRadius, 0, math.MaxFloat32),
		"priority":         d.int(&v.Priority),
		"prefetch_radius":  d.floatPtr(&v.PrefetchRadius),
	})
}

// tile reads a tile: any key of a manifest, and ours. What a manifest requires
// has a default here: center is the middle of the bounds, the payloads have
// made-up paths, a megabyte each.
func (s *Scenario) tile(d *decoder, n *node, t *manifest.Tile, id string) {
	var x Extra
	t.ID, t.FileSizeBytes = id, defaultFileSize
	initial := ""
	f := s.tileFields(d, t)
	f["nodes"] = func(n *node) { s.meshes(d, n, &x) }
	f["textures"] = func(n *node) { x.Textures = s.textureNames(d, n) }
	f["gpu_bytes"] = d.count(&x.GPUBytes)
	f["initial"] = d.oneOf(&initial, "parsed", "unloaded")
	f["hlod_levels"] = func(n *node) {
		bytes, names := s.levels(d, n, &t.HLODLevels)
		if len(bytes) > 0 {
			x.HLOD, x.HLODTextures = bytes[0], names[0]
		}
	}
	f["lod_levels"] = func(n *node) {
		gpu, names := s.levels(d, n, &t.LODLevels)
		if slices.ContainsFunc(names, func(list []string) bool { return list != nil }) {
			x.LODTextures = sortLODs(slices.Clone(t.LODLevels), names)
		}
		x.LODs = sortLODs(t.LODLevels, gpu)
	}
	required := []string{"tile_id", "bounds"}
	if id != "" {
		required = required[1:]
	}
	d.object(n, f, required...)
	if d.err != nil {
		return
	}
	if n.member("center") == nil {
		t.Center = t.Bounds.Center()
	}
	if t.Path == "" {
		t.Path = "tiles/" + t.ID + ".untold"
	}
	fillPaths(t.HLODLevels, t.ID, "hlod")
	fillPaths(t.LODLevels, t.ID, "lod")
	x.Parsed = initial == "parsed"
	if _, ok := s.Tiles[t.ID]; ok || t.ID == "" {
		d.fail(n, fmt.Sprintf("the tile_id %q is empty or stands twice", clip(t.ID)), "")
	}
	s.Tiles[t.ID] = x
}

// tileFields returns the keys that go straight into a manifest's tile. Keys
// that no runtime looks at are checked for their type and left out.
func (s *Scenario) tileFields(d *decoder, t *manifest.Tile) fields {
	return fields{
		"tile_id":                   d.text(&t.ID),
		"path_relative_to_manifest": d.text(&t.Path),
		"file_size_bytes":           d.count(&t.FileSizeBytes),
		"estimated_memory_bytes": func(n *node) {
			t.EstimatedMemoryBytes = new(int64)
			d.count(t.EstimatedMemoryBytes)(n)
		},
		"bounds":                          d.bounds(&t.Bounds),
		"cell_bounds":                     d.boundsPtr(&t.CellBounds),
		"center":                          d.vec3((*geom.Vec3)(&t.Center)),
		"streaming_radius":                d.floatPtr(&t.StreamingRadius),
		"unload_radius":                   d.floatPtr(&t.UnloadRadius),
		"prefetch_radius":                 d.floatPtr(&t.PrefetchRadius),
		"priority":                        d.intPtr(&t.Priority),
		"floor_id":                        d.intPtr(&t.FloorID),
		"quadtree_node_id":                d.text(&t.QuadtreeNodeID),
		"semantic_tier":                   d.text(&t.SemanticTier),
		"interior":                        d.boolean(&t.Interior),
		"sha256":                          d.text(&t.SHA256),
		"triangle_count":                  d.int(&t.TriangleCount),
		"secondary_representation_policy": d.text(&t.SecondaryRepresentationPolicy),
		"object_count":                    d.intPtr(&t.ObjectCount),
		"grid_coord":                      func(n *node) { d.array(n, func(n *node) { d.integer(n, -1<<31, 1<<31) }) },
		"objects":                         func(n *node) { d.array(n, func(n *node) { d.text(new(string))(n) }) },
		"note":                            d.text(new(string)),
		"name":                            d.text(new(string)),
	}
}

// levels reads hlod_levels or lod_levels and returns their GPU bytes and
// textures.
func (s *Scenario) levels(d *decoder, n *node, dst *[]manifest.Level) (gpu []int64, textures [][]string) {
	*dst = []manifest.Level{}
	d.array(n, func(n *node) {
		l := manifest.Level{FileSizeBytes: defaultFileSize}
		var bytes int64
		var names []string
		d.object(n, fields{
			"path":            d.text(&l.Path),
			"switch_distance": d.float(&l.SwitchDistance, 0, math.MaxFloat32),
			"file_size_bytes": d.count(&l.FileSizeBytes),
			"sha256":          d.text(&l.SHA256),
			"triangle_count":  d.int(&l.TriangleCount),
			"geometric_error": d.floatPtr(&l.GeometricError),
			"visual_error":    d.floatPtr(&l.VisualError),
			"gpu_bytes":       d.count(&bytes),
			"textures":        func(n *node) { names = s.textureNames(d, n) },
			"note":            d.text(new(string)),
		}, "switch_distance")
		*dst, gpu, textures = append(*dst, l), append(gpu, bytes), append(textures, names)
	})
	return gpu, textures
}

// sortLODs puts levels and what belongs to each, such as their GPU bytes, in the
// order in which the runtime counts them, the finest first.
func sortLODs[T any](levels []manifest.Level, gpu []T) []T {
	type entry struct {
		level manifest.Level
		gpu   T
	}
	list := make([]entry, len(levels))
	for i := range levels {
		list[i] = entry{levels[i], gpu[i]}
	}
	slices.SortStableFunc(list, func(a, b entry) int { return cmp.Compare(a.level.SwitchDistance, b.level.SwitchDistance) })
	for i, e := range list {
		levels[i], gpu[i] = e.level, e.gpu
	}
	return gpu
}

func fillPaths(levels []manifest.Level, id, kind string) {
	for i := range levels {
		if levels[i].Path == "" {
			levels[i].Path = fmt.Sprintf("tiles/%s_%s%d.untold", id, kind, i)
		}
	}
}

func (d *decoder) bounds(dst *manifest.Bounds) func(*node) {
	return func(n *node) {
		d.object(n, fields{
			"min": d.vec3((*geom.Vec3)(&dst.Min)),
			"max": d.vec3((*geom.Vec3)(&dst.Max)),
		}, "min", "max")
		if d.err == nil && dst.Box().IsEmpty() {
			d.fail(n, "min is above max", "")
		}
	}
}

func (d *decoder) boundsPtr(dst **manifest.Bounds) func(*node) {
	return func(n *node) {
		if n.kind != 'n' {
			*dst = new(manifest.Bounds)
			d.bounds(*dst)(n)
		}
	}
}

func (d *decoder) size(n *node) *manifest.Vec3Size {
	v := new(manifest.Vec3Size)
	d.object(n, fields{
		"x": d.float(&v.X, 0, math.MaxFloat32), "y": d.float(&v.Y, 0, math.MaxFloat32), "z": d.float(&v.Z, 0, math.MaxFloat32),
	}, "x", "y", "z")
	return v
}

// floatPtr reads a distance that may be null.
func (d *decoder) floatPtr(dst **float64) func(*node) {
	return func(n *node) {
		if n.kind != 'n' {
			*dst = new(float64)
			d.float(*dst, 0, math.MaxFloat32)(n)
		}
	}
}

func (d *decoder) int(dst *int) func(*node) {
	return func(n *node) { *dst = int(d.integer(n, -1<<31, 1<<31-1)) }
}

func (d *decoder) intPtr(dst **int) func(*node) {
	return func(n *node) {
		if n.kind != 'n' {
			*dst = new(int)
			d.int(*dst)(n)
		}
	}
}
