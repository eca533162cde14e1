package manifest

import "github.com/untoldkit/untold/internal/human"

// tile writes a tile on one line. Grids and floors share the order of the
// keys but for lod_levels, which comes last in grids and only when there are
// any.
func (e *encoder) tile(t *Tile, floors bool) {
	e.where = "tile " + human.Clip(t.ID, 80)
	e.open('{')
	e.key("tile_id").str(t.ID)
	if t.GridCoord != nil {
		e.key("grid_coord").coord(t.GridCoord)
	}
	if t.FloorID != nil {
		e.key("floor_id").integer(*t.FloorID)
	}
	if t.QuadtreeNodeID != "" {
		e.key("quadtree_node_id").str(t.QuadtreeNodeID)
	}
	if t.SemanticTier != "" {
		e.key("semantic_tier").str(t.SemanticTier)
	}
	e.key("path_relative_to_manifest").path(t.Path)
	e.radii(t)
	each(e.key("hlod_levels"), t.HLODLevels, e.level)
	if floors {
		each(e.key("lod_levels"), t.LODLevels, e.level)
	}
	if floors || t.Interior {
		e.key("interior").boolean(t.Interior)
	}
	e.payload(t)
	e.place(t)
	if t.ObjectCount != nil {
		e.key("object_count").integer(*t.ObjectCount)
	}
	if t.Objects != nil {
		e.key("objects").strs(t.Objects)
	}
	if !floors && len(t.LODLevels) > 0 {
		each(e.key("lod_levels"), t.LODLevels, e.level)
	}
	e.open('}')
}

func (e *encoder) coord(v *[3]int) {
	e.open('[')
	for _, x := range v {
		e.comma()
		e.integer(x)
	}
	e.open(']')
}

// radii writes the distances that override the defaults.
func (e *encoder) radii(t *Tile) {
	if t.StreamingRadius != nil {
		e.key("streaming_radius").float(*t.StreamingRadius)
	}
	if t.UnloadRadius != nil {
		e.key("unload_radius").float(*t.UnloadRadius)
	}
	if t.PrefetchRadius != nil {
		e.key("prefetch_radius").float(*t.PrefetchRadius)
	}
	if t.Priority != nil {
		e.key("priority").integer(*t.Priority)
	}
}

// payload writes what is known about the file.
func (e *encoder) payload(t *Tile) {
	e.key("file_size_bytes").int64(t.FileSizeBytes)
	if t.SHA256 != "" {
		e.key("sha256").str(t.SHA256)
	}
	if t.TriangleCount != 0 {
		e.key("triangle_count").integer(t.TriangleCount)
	}
	if t.EstimatedMemoryBytes != nil {
		e.key("estimated_memory_bytes").int64(*t.EstimatedMemoryBytes)
	}
}

// place writes where the tile is.
func (e *encoder) place(t *Tile) {
	e.key("bounds").bounds(&t.Bounds)
	if t.CellBounds != nil {
		e.key("cell_bounds").bounds(t.CellBounds)
	}
	if t.SecondaryRepresentationPolicy != "" {
		e.key("secondary_representation_policy").str(t.SecondaryRepresentationPolicy)
	}
	e.key("center").vec3(&t.Center)
}

func (e *encoder) level(l *Level) {
	e.open('{')
	e.key("path").path(l.Path)
	e.key("switch_distance").float(l.SwitchDistance)
	if l.FileSizeBytes != 0 {
		e.key("file_size_bytes").int64(l.FileSizeBytes)
	}
	if l.SHA256 != "" {
		e.key("sha256").str(l.SHA256)
	}
	if l.TriangleCount != 0 {
		e.key("triangle_count").integer(l.TriangleCount)
	}
	if l.GeometryBytes != 0 {
		e.key("geometry_bytes").int64(l.GeometryBytes)
	}
	if l.GeometricError != nil {
		e.key("geometric_error").float(*l.GeometricError)
	}
	if l.VisualError != nil {
		e.key("visual_error").float(*l.VisualError)
	}
	e.open('}')
}

// sharedBucket writes the bucket, or null. Its levels are not written: no
// reader uses them.
func (e *encoder) sharedBucket(b *SharedBucket, floors bool) {
	if b == nil {
		e.raw("null")
		return
	}
	e.where = "the shared bucket"
	e.open('{')
	e.key("tile_id").str(b.ID)
	e.key("path_relative_to_manifest").path(b.Path)
	if b.ExportPolicy != "" {
		e.key("export_policy").str(b.ExportPolicy)
	}
	e.radii(&b.Tile)
	e.payload(&b.Tile)
	e.place(&b.Tile)
	if b.ObjectCount != nil {
		e.key("object_count").integer(*b.ObjectCount)
	}
	lines(e.key("objects"), "  ", b.Members, func(o *BucketObject) { e.bucketObject(o, floors) })
	e.open('}')
}

func (e *encoder) bucketObject(o *BucketObject, floors bool) {
	e.object(func() {
		e.key("name").str(o.Name)
		if o.ExportPolicy != "" {
			e.key("export_policy").str(o.ExportPolicy)
		}
		if o.XZOverlapCount != nil {
			e.key("xz_overlap_count").integer(*o.XZOverlapCount)
		}
		if o.Dimensions != nil {
			e.key("dimensions").vec3(o.Dimensions)
		}
		if !floors || o.Reasons != nil {
			e.key("reasons").strs(o.Reasons)
		}
	})
}

func (e *encoder) failedTile(t *FailedTile) {
	e.where = "failed tile " + human.Clip(t.ID, 80)
	e.object(func() {
		e.key("tile_id").str(t.ID)
		if t.GridCoord != nil {
			e.key("grid_coord").coord(t.GridCoord)
		}
		if t.QuadtreeNodeID != "" {
			e.key("quadtree_node_id").str(t.QuadtreeNodeID)
		}
		if t.SemanticTier != "" {
			e.key("semantic_tier").str(t.SemanticTier)
		}
		if t.FloorID != nil {
			e.key("floor_id").integer(*t.FloorID)
		}
		e.key("path_relative_to_manifest").str(t.Path)
		e.key("error").str(t.Error)
		e.key("candidate_object_count").integer(t.CandidateObjectCount)
	})
}
