package manifest

import (
	"fmt"
	"slices"
)

// floats reads an array of numbers into dst and returns how many there were;
// numbers beyond the length of dst are ignored, as by the engine.
func (s *scanner) floats(dst []float64) int {
	n := 0
	if s.array("an array of numbers", "") {
		for i := -1; s.elem(&i); {
			v := s.float()
			if n = i + 1; i < len(dst) {
				dst[i] = v
			}
		}
	}
	return n
}

// bounds reads {min, max}. complete is false when an array is too short.
func (s *scanner) bounds() (b Bounds, complete bool) {
	s.space()
	start, seen := s.pos, uint32(0)
	complete = true
	if !s.object("an object with min and max", "") {
		return b, !s.failed()
	}
	for first := true; s.key(&first); {
		switch string(s.name) {
		case "min":
			s.once(&seen, 0)
			complete = s.floats(b.Min[:]) >= 3 && complete
		case "max":
			s.once(&seen, 1)
			complete = s.floats(b.Max[:]) >= 3 && complete
		default:
			s.skip()
		}
	}
	s.required(start, seen, "min", "max")
	return b, complete
}

// boundsPtr reads bounds that are left out when they are incomplete.
func (s *scanner) boundsPtr() *Bounds {
	notes := len(s.found) + len(s.notes) + s.dropped
	b, complete := s.bounds()
	if len(s.found)+len(s.notes)+s.dropped != notes {
		return nil
	}
	if !complete {
		if !s.failed() {
			s.note(codeIgnoredValue, int64(s.pos), "min or max has fewer than three numbers; the box is ignored")
		}
		return nil
	}
	return &b
}

func (s *scanner) defaults() (v StreamingDefaults) {
	s.space()
	start, seen := s.pos, uint32(0)
	if !s.object("an object", "") {
		return v
	}
	for first := true; s.key(&first); {
		switch string(s.name) {
		case "streaming_radius":
			s.once(&seen, 0)
			v.StreamingRadius = s.float()
		case "unload_radius":
			s.once(&seen, 1)
			v.UnloadRadius = s.float()
		case "priority":
			s.once(&seen, 2)
			v.Priority = s.count()
		case "prefetch_radius":
			optional(s, &v.PrefetchRadius, (*scanner).float)
		default:
			s.skip()
		}
	}
	s.required(start, seen, "streaming_radius", "unload_radius", "priority")
	return v
}

func (s *scanner) vec3Size() (v Vec3Size) {
	s.space()
	start, seen := s.pos, uint32(0)
	if !s.object("an object with x, y and z", `write {"x": N, "y": N, "z": N}`) {
		return v
	}
	for first := true; s.key(&first); {
		switch string(s.name) {
		case "x":
			s.once(&seen, 0)
			v.X = s.float()
		case "y":
			s.once(&seen, 1)
			v.Y = s.float()
		case "z":
			s.once(&seen, 2)
			v.Z = s.float()
		default:
			s.skip()
		}
	}
	s.required(start, seen, "x", "y", "z")
	return v
}

// tiles reads the tile list.
func (s *scanner) tiles(d *document) {
	d.manifest.Tiles, d.tiles = []Tile{}, nil
	if !s.array("an array", "") {
		return
	}
	for i := -1; s.elem(&i); {
		s.space()
		start := s.pos
		var t Tile
		complete := s.tile(&t, nil)
		if s.failed() {
			return
		}
		if !complete {
			s.note(codeShortVector, int64(start), fmt.Sprintf(
				"bounds or center of tile %q has fewer than three numbers; the tile is left out", t.ID))
			continue
		}
		if i == 0 {
			s.growTiles(d, s.pos-start)
		}
		d.manifest.Tiles = append(d.manifest.Tiles, t)
		d.tiles = append(d.tiles, tileOrigin{i, int64(start)})
	}
	d.manifest.Tiles = slices.Clip(d.manifest.Tiles)
}

// growTiles makes room for the tiles that the rest of the text may hold, going
// by the length of the first one, but for no more memory than a few times the
// text.
func (s *scanner) growTiles(d *document, length int) {
	const tileSize = 512 // about the size of a Tile in memory
	rest := len(s.data) - s.pos
	n := min(rest/max(length, 1), 4*rest/tileSize) + 1
	d.manifest.Tiles = make([]Tile, 0, n)
	d.tiles = make([]tileOrigin, 0, n)
}

// tile reads a tile, or the shared bucket into bucket as well. complete is
// false when the engine would skip it.
func (s *scanner) tile(t *Tile, bucket *SharedBucket) (complete bool) {
	s.space()
	start, seen := s.pos, uint32(0)
	complete = true
	if !s.object("an object", "") {
		return !s.failed()
	}
	for first := true; s.key(&first); {
		switch string(s.name) {
		case "tile_id":
			s.once(&seen, 0)
			t.ID = s.str()
		case "path_relative_to_manifest":
			s.once(&seen, 1)
			t.Path = s.str()
		case "file_size_bytes":
			s.once(&seen, 2)
			t.FileSizeBytes = s.integer()
		case "bounds":
			s.once(&seen, 3)
			var ok bool
			t.Bounds, ok = s.bounds()
			complete = complete && ok
		case "center":
			s.once(&seen, 4)
			complete = s.floats(t.Center[:]) >= 3 && complete
		case "hlod_levels":
			value(s, &t.HLODLevels, parseLevels)
		case "lod_levels":
			value(s, &t.LODLevels, parseLevels)
		case "priority":
			optional(s, &t.Priority, (*scanner).count)
		case "streaming_radius":
			optional(s, &t.StreamingRadius, (*scanner).float)
		case "unload_radius":
			optional(s, &t.UnloadRadius, (*scanner).float)
		case "prefetch_radius":
			optional(s, &t.PrefetchRadius, (*scanner).float)
		case "floor_id":
			optional(s, &t.FloorID, (*scanner).count)
		case "quadtree_node_id":
			value(s, &t.QuadtreeNodeID, (*scanner).str)
		case "semantic_tier":
			value(s, &t.SemanticTier, (*scanner).str)
		case "interior":
			value(s, &t.Interior, (*scanner).boolean)
		case "cell_bounds":
			value(s, &t.CellBounds, (*scanner).boundsPtr)
		default:
			s.tileRest(t, bucket)
		}
	}
	s.required(start, seen, "tile_id", "path_relative_to_manifest", "file_size_bytes", "bounds", "center")
	return complete
}

// tileRest reads the keys of a tile or bucket that the engine ignores.
func (s *scanner) tileRest(t *Tile, bucket *SharedBucket) {
	switch string(s.name) {
	case "grid_coord":
		loose(s, &t.GridCoord, (*scanner).gridCoord)
	case "estimated_memory_bytes":
		loose(s, &t.EstimatedMemoryBytes, parseInt64Ptr)
	case "sha256":
		loose(s, &t.SHA256, (*scanner).str)
	case "triangle_count":
		loose(s, &t.TriangleCount, (*scanner).count)
	case "secondary_representation_policy":
		loose(s, &t.SecondaryRepresentationPolicy, (*scanner).str)
	case "object_count":
		loose(s, &t.ObjectCount, parseIntPtr)
	case "objects":
		if bucket != nil {
			loose(s, &bucket.Members, short(plain[BucketObject]))
		} else {
			loose(s, &t.Objects, parseStrings)
		}
	case "export_policy":
		if bucket != nil {
			loose(s, &bucket.ExportPolicy, (*scanner).str)
		} else {
			s.skip()
		}
	default:
		s.skip()
	}
}

// level reads one entry of hlod_levels or lod_levels.
func (s *scanner) level() (l Level) {
	s.space()
	start, seen := s.pos, uint32(0)
	if !s.object("an object with path and switch_distance", "") {
		return l
	}
	for first := true; s.key(&first); {
		switch string(s.name) {
		case "path":
			s.once(&seen, 0)
			l.Path = s.str()
		case "switch_distance":
			s.once(&seen, 1)
			l.SwitchDistance = s.float()
		case "file_size_bytes":
			loose(s, &l.FileSizeBytes, (*scanner).integer)
		case "sha256":
			loose(s, &l.SHA256, (*scanner).str)
		case "triangle_count":
			loose(s, &l.TriangleCount, (*scanner).count)
		case "geometry_bytes":
			loose(s, &l.GeometryBytes, (*scanner).integer)
		case "geometric_error":
			loose(s, &l.GeometricError, parseFloatPtr)
		case "visual_error":
			loose(s, &l.VisualError, parseFloatPtr)
		default:
			s.skip()
		}
	}
	s.required(start, seen, "path", "switch_distance")
	return l
}

// sharedBucket reads the bucket; nil when the engine would skip it.
func (s *scanner) sharedBucket() *SharedBucket {
	s.space()
	start := s.pos
	b := &SharedBucket{}
	if complete := s.tile(&b.Tile, b); !complete {
		if !s.failed() {
			s.note(codeShortVector, int64(start),
				"bounds or center of the shared bucket has fewer than three numbers; the bucket is left out")
		}
		return nil
	}
	return b
}

// gridCoord reads three integers; nil when there are not three.
func (s *scanner) gridCoord() *[3]int {
	var v [3]int
	n := 0
	if !s.array("an array of three integers", "") {
		return nil
	}
	for i := -1; s.elem(&i); {
		c := s.count()
		if n = i + 1; i < len(v) {
			v[i] = c
		}
	}
	if n != len(v) {
		s.noteShort("grid_coord", n)
		return nil
	}
	return &v
}
