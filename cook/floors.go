package cook

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/partition"
)

// The values of Options.Partition.
const (
	PartitionGrid     = "grid"
	PartitionQuadtree = "quadtree"
	PartitionKDTree   = "kdtree"
)

// hasFloors tells the partitions by floors from grids.
func (o *Options) hasFloors() bool {
	return o.Partition == PartitionQuadtree || o.Partition == PartitionKDTree
}

// planFloors partitions the objects by floors.
func (o *Options) planFloors(inputs []partition.Object) (*partition.Plan, error) {
	f := o.Floors
	if f.TileSide == 0 {
		f.TileSide = max(o.TileSize[0], o.TileSize[2])
	}
	f.Compat = f.Compat || o.Compat
	if o.Partition == PartitionKDTree {
		return partition.KDTree(inputs, f)
	}
	return partition.Quadtree(inputs, f)
}

// annotate adds what only floors look at: materials and the node's extras.
func (c *scenePlan) annotate(in *partition.Object, e extras) error {
	o := &c.objects[in.ID]
	for _, at := range o.placed {
		mesh := &c.scene.Meshes[at.mesh]
		for _, p := range mesh.Parts {
			if m := p.Material; m >= 0 && m < len(c.scene.Materials) {
				in.Materials = append(in.Materials, c.scene.Materials[m].Name)
			}
		}
	}
	var err error
	if in.Tier, err = partition.ParseTier(c.extra(e, o, extraTier)); err != nil {
		return badExtra(o, extraTier, err)
	}
	node := e.text("untold_quadtree_node_id")
	if node == "" {
		return nil
	}
	a := &partition.Annotation{Node: node, Floor: int(e.number("untold_floor_id", 0)), Depth: int(e.number("untold_quadtree_depth", 0))}
	a.Spanning = strings.EqualFold(e.text("untold_spatial_class"), "spanning")
	// A guess that is no tier is none: other tools may write their own words.
	if a.Tier, err = partition.ParseTier(e.text("untold_semantic_guess")); err != nil {
		a.Tier = partition.TierNone
	}
	a.Confidence = e.number("untold_semantic_confidence", 1)
	in.Annotation = a
	if !a.Valid() {
		c.ns.add("annotation-unreadable", 1, o.node, o.name)
	}
	return nil
}

// The node extras that override what would be guessed.
const (
	extraTier     = "untold_semantic_override"
	extraPriority = "untold_streaming_priority_hint"
)

// hint reads an object's priority.
func (c *scenePlan) hint(o *object, e extras) (int, error) {
	n, err := partition.ParsePriorityHint(c.extra(e, o, extraPriority))
	if err != nil {
		return 0, badExtra(o, extraPriority, err)
	}
	return n, nil
}

func badExtra(o *object, key string, err error) error {
	return fmt.Errorf("node %q, extra %s: %w (%w)", o.name, key, err, ErrBadInput)
}

// extra returns the text of an extra, and notes one that is no text.
func (c *scenePlan) extra(e extras, o *object, key string) string {
	if v, ok := e.raw(key); ok && json.Unmarshal(v, new(string)) != nil {
		c.ns.add("extra-ignored", 1, o.node, o.name+": "+key)
	}
	return e.text(key)
}

// noteAnnotations says that a scene's own nodes were taken, and what lacks one.
func (c *scenePlan) noteAnnotations() {
	p := c.planned
	if !p.PreAnnotated {
		return
	}
	for i := range p.Objects {
		switch {
		case p.Objects[i].Reasons&partition.NotAnnotated != 0:
			c.ns.add("annotation-missing", 1, c.objects[i].node, c.objects[i].name)
		case p.Objects[i].Export != partition.ExportSkipped:
			c.ns.add("annotations-followed", 1, c.objects[i].node, c.objects[i].name)
		}
	}
}

// extras are the properties of a node; values may be of any kind.
type extras map[string]json.RawMessage

func readExtras(raw json.RawMessage) extras {
	if len(raw) == 0 {
		return nil // as most nodes have it
	}
	var e extras
	if json.Unmarshal(raw, &e) != nil {
		return nil
	}
	return e
}

// raw returns a property, also one that came through a tool which puts
// userProperties: before the name.
func (e extras) raw(key string) (json.RawMessage, bool) {
	if len(e) == 0 { // as most nodes have it: no name is put together
		return nil, false
	}
	v, ok := e[key]
	if !ok {
		v, ok = e["userProperties:"+key]
	}
	return v, ok
}

// text returns the empty text for what is absent or no text.
func (e extras) text(key string) string {
	v, ok := e.raw(key)
	if !ok {
		return ""
	}
	var text string // declared here, so that what is absent allocates nothing
	if json.Unmarshal(v, &text) != nil {
		return ""
	}
	return text
}

// number returns def for what is absent, no number, or beyond 2^20.
func (e extras) number(key string, def float64) float64 {
	v, ok := e.raw(key)
	if !ok {
		return def
	}
	var number float64
	if json.Unmarshal(v, &number) != nil || !(number >= -1<<20 && number <= 1<<20) {
		return def
	}
	return number
}

// flag reports whether a property is true, which some tools write as 1.
func (e extras) flag(key string) bool {
	v, ok := e.raw(key)
	if !ok {
		return false
	}
	var yes bool
	return json.Unmarshal(v, &yes) == nil && yes || e.number(key, 0) != 0
}

// describeFloors turns the manifest of a grid into one of floors: version 4.
func (c *scenePlan) describeFloors(m *manifest.Manifest) {
	p := c.planned
	m.Version, m.PartitioningMode = manifest.VersionFloor, p.Mode
	m.ObjectClassification = nil
	m.StreamingProfile = &manifest.Profile{
		Requested: p.ProfileRequested, Resolved: p.Profile, SceneHalfDiag: geom.Round(p.HalfDiag, 3),
		Overrides: c.opts.Floors.TierRadii, Radii: p.TierRadii,
	}
	m.PartitionQualityConfig = &manifest.PartitionQualityConfig{
		CollapseUnderfilled: !p.PreAnnotated && p.MinObjects > 1, MinObjectsPerTileTier: p.MinObjects,
	}
	if p.InteriorZone != nil {
		zone := manifest.BoundsOf(*p.InteriorZone)
		m.InteriorZone = &zone
	}
	for i := range m.FailedTiles {
		m.FailedTiles[i].GridCoord = nil
	}
	if b := m.SharedBucket; b != nil {
		for i := range b.Members {
			b.Members[i] = manifest.BucketObject{Name: b.Members[i].Name}
		}
	}
}

// describeFloorTile sets the keys that only tiles of floors have.
func (c *scenePlan) describeFloorTile(e *manifest.Tile, t *partition.Tile) {
	floor := t.Floor
	e.GridCoord, e.Objects = nil, nil
	e.FloorID, e.QuadtreeNodeID, e.SemanticTier = &floor, t.NodeID, t.Tier.String()
	bands := c.radii(t.Radii)
	e.StreamingRadius, e.UnloadRadius = &bands.Streaming, &bands.Unload
	e.Interior = t.Interior
	e.SecondaryRepresentationPolicy = "normal"
	if t.Spanning {
		e.SecondaryRepresentationPolicy = "none_spanning_group"
	}
}
