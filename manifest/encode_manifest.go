package manifest

import "github.com/untoldkit/untold/internal/human"

// manifest writes the top level. The order of the keys is that of the
// exporter.
func (e *encoder) manifest(m *Manifest) {
	const in = "  "
	e.where = "the top level"
	e.open('{')
	e.line(in, "version").integer(m.Version)
	e.line(in, "partitioning_mode").str(m.PartitioningMode)
	e.line(in, "dry_run").boolean(m.DryRun)
	e.line(in, "debug_aabb_only").boolean(m.DebugAABBOnly)
	e.line(in, "source_scene_name").strOrNull(m.SourceSceneName)
	e.line(in, "payload_dir_relative_to_manifest").str(m.PayloadDir)
	if v := m.AxisConvention; v != nil {
		e.line(in, "axis_convention").object(func() {
			e.key("up").str(v.Up)
			e.key("forward").str(v.Forward)
			e.key("tile_plane").str(v.TilePlane)
		})
	}
	if m.Generator != "" {
		e.line(in, "generator").str(m.Generator)
	}
	if m.Units != "" {
		e.line(in, "units").str(m.Units)
	}
	if m.TileSizeMode != "" {
		e.line(in, "tile_size_mode").str(m.TileSizeMode)
	}
	if v := m.TileSize; v != nil {
		e.line(in, "tile_size").object(func() {
			e.key("x").float(v.X)
			e.key("y").float(v.Y)
			e.key("z").float(v.Z)
		})
	}
	if m.SceneBounds != nil {
		e.line(in, "scene_bounds").bounds(m.SceneBounds)
	}
	if m.OriginOffset != nil {
		e.line(in, "origin_offset").vec3(m.OriginOffset)
	}
	if m.ContentBounds != nil {
		e.line(in, "content_bounds").bounds(m.ContentBounds)
	}
	if len(m.Textures) > 0 {
		lines(e.line(in, "textures"), in, m.Textures, func(t *Texture) {
			e.object(func() {
				e.key("uri").str(t.URI)
				e.key("uv_per_metre").float(t.UVPerMetre)
			})
		})
	}
	lines(e.line(in, "scene_lights"), in, m.SceneLights, e.light)
	lines(e.line(in, "scene_cameras"), in, m.SceneCameras, e.camera)
	e.line(in, "colorLUT").colorLUT(m.ColorLUT)
	if g := m.ColorGradeLUT; g != nil {
		e.line(in, "colorGradeLUT").object(func() {
			e.key("lutUri").path(g.URI)
			e.key("lutSize").integer(g.Size)
		})
	}
	e.settings(m)
	e.line(in, "shared_bucket").sharedBucket(m.SharedBucket, m.HasFloors())
	lines(e.line(in, "failed_tiles"), in, m.FailedTiles, e.failedTile)
	lines(e.line(in, "tiles"), in, m.Tiles, func(t *Tile) { e.tile(t, m.HasFloors()) })
	e.where = "the top level"
	if m.InteriorZone != nil {
		e.line(in, "interior_zone").bounds(m.InteriorZone)
	} else if m.HasFloors() {
		e.line(in, "interior_zone").raw("null")
	}
	if m.Pyramid != nil {
		e.line(in, "pyramid").pyramid(m.Pyramid)
	}
	e.raw("\n}\n")
}

// settings writes the keys that record how the scene was cooked, and the
// defaults among them.
func (e *encoder) settings(m *Manifest) {
	const in = "  "
	if m.StreamingProfile != nil {
		e.line(in, "streaming_profile").profile(m.StreamingProfile)
	}
	e.line(in, "streaming_defaults").object(func() {
		d := &m.StreamingDefaults
		e.key("streaming_radius").float(d.StreamingRadius)
		e.key("unload_radius").float(d.UnloadRadius)
		e.key("priority").integer(d.Priority)
		if d.PrefetchRadius != nil {
			e.key("prefetch_radius").float(*d.PrefetchRadius)
		}
	})
	if v := m.ClassificationConfig; v != nil {
		e.line(in, "classification_config").object(func() {
			e.key("spanning_threshold_tiles").float(v.SpanningThresholdTiles)
			if e.key("overlap_threshold"); v.OverlapThreshold != nil {
				e.integer(*v.OverlapThreshold)
			} else {
				e.raw("null")
			}
			e.key("future_split_tile_threshold").float(v.FutureSplitTileThreshold)
		})
	}
	if v := m.PartitionQualityConfig; v != nil {
		e.line(in, "partition_quality_config").object(func() {
			e.key("collapse_underfilled_tile_tiers").boolean(v.CollapseUnderfilled)
			e.key("min_objects_per_tile_tier").integer(v.MinObjectsPerTileTier)
			e.key("applies_to_preannotated_metadata").boolean(v.AppliesToPreannotated)
		})
	}
	if v := m.HLODGeneration; v != nil {
		e.line(in, "hlod_generation").object(func() {
			e.key("enabled").boolean(v.Enabled)
			each(e.key("levels"), v.Levels, e.hlodLevel)
			each(e.key("default_resolved_levels"), v.Resolved, e.hlodLevel)
		})
	}
	if v := m.LODGeneration; v != nil {
		e.line(in, "lod_generation").object(func() {
			e.key("enabled").boolean(v.Enabled)
			each(e.key("levels"), v.Levels, e.lodLevel)
			each(e.key("default_resolved_levels"), v.Resolved, e.lodLevel)
		})
	}
	// The exporter writes an empty object with floors.
	e.line(in, "object_classification").classifications(in, m.ObjectClassification)
}

func (e *encoder) bounds(b *Bounds) {
	e.open('{')
	e.key("min").vec3(&b.Min)
	e.key("max").vec3(&b.Max)
	e.open('}')
}

func (e *encoder) hlodLevel(l *HLODLevel) {
	e.object(func() {
		e.key("suffix").str(l.Suffix)
		e.key("reduction_ratio").float(l.ReductionRatio)
		e.key("switch_distance").float(l.SwitchDistance)
	})
}

func (e *encoder) lodLevel(l *LODLevel) {
	e.object(func() {
		e.key("decimate_ratio").float(l.DecimateRatio)
		e.key("switch_distance").float(l.SwitchDistance)
	})
}

func (e *encoder) profile(p *Profile) {
	e.object(func() {
		e.key("requested").str(p.Requested)
		e.key("resolved").str(p.Resolved)
		e.key("scene_half_diag").float(p.SceneHalfDiag)
		e.key("tier_radius_overrides").tierRadii(p.Overrides)
		e.key("tier_radii").tierRadii(p.Radii)
	})
}

func (e *encoder) tierRadii(v TierRadii) {
	e.object(func() {
		for _, r := range unique(v, func(r *TierRadius) string { return r.Tier }) {
			e.name(r.Tier)
			e.object(func() {
				e.key("streaming").float(r.Streaming)
				e.key("unload").float(r.Unload)
				if r.Priority != nil {
					e.key("priority").integer(*r.Priority)
				}
			})
		}
	})
}

// name starts a member whose key may need escapes.
func (e *encoder) name(v string) {
	e.comma()
	e.str(v)
	e.raw(": ")
}

// classifications writes an object with one line for each member.
func (e *encoder) classifications(indent string, v Classifications) {
	v = unique(v, func(c *Classification) string { return c.Name })
	e.open('{')
	for i := range v {
		if i > 0 {
			e.open(',')
		}
		e.raw("\n  " + indent)
		e.str(v[i].Name)
		e.raw(": ")
		e.classification(&v[i])
		if len(e.buf) >= flushAt {
			e.flush()
		}
	}
	if len(v) > 0 {
		e.raw("\n" + indent)
	}
	e.open('}')
}

func (e *encoder) classification(c *Classification) {
	e.where = "the classification of " + human.Clip(c.Name, 80)
	e.object(func() {
		e.key("export_policy").str(c.ExportPolicy)
		e.key("xz_overlap_count").integer(c.XZOverlapCount)
		e.key("dimensions").vec3(&c.Dimensions)
		e.key("dim_ratio").float(c.DimRatio)
		e.key("reasons").strs(c.Reasons)
	})
}

// MarshalJSON writes an object in the order of the slice.
func (v Classifications) MarshalJSON() ([]byte, error) {
	e := &encoder{}
	e.classifications("", v)
	return e.buf, e.err
}

// UnmarshalJSON reads an object and keeps its order. As everywhere, a value of
// a wrong type is no error in this key.
func (v *Classifications) UnmarshalJSON(data []byte) error {
	s := &scanner{data: data}
	loose(s, v, (*scanner).classifications)
	return s.asError()
}

// MarshalJSON writes an object in the order of the slice.
func (v TierRadii) MarshalJSON() ([]byte, error) {
	e := &encoder{}
	e.tierRadii(v)
	return e.buf, e.err
}

// UnmarshalJSON reads an object and keeps its order.
func (v *TierRadii) UnmarshalJSON(data []byte) error {
	s := &scanner{data: data}
	loose(s, v, (*scanner).tierRadii)
	return s.asError()
}

// asError returns err as an error that is nil when there is none.
func (s *scanner) asError() error {
	if s.err == nil {
		return nil
	}
	return s.err
}
