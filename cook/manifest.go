package cook

import (
	"cmp"
	"math"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/band"
	"github.com/untoldkit/untold/partition"
)

// manifest describes the built payloads: version 3, uniform grid, or version
// 4, floors.
func (c *scenePlan) manifest(payloads []payload, nodes []node) *manifest.Manifest {
	p := c.planned
	source := c.scene.Source
	bounds := manifest.BoundsOf(p.SceneBounds)
	mode := "manual"
	if p.AutoTileSize {
		mode = "auto"
	}
	bands := c.radii(p.Defaults)
	m := &manifest.Manifest{
		Version: manifest.VersionGrid, PartitioningMode: manifest.ModeUniformGrid, DryRun: c.opts.DryRun,
		SourceSceneName: &source, PayloadDir: c.opts.PayloadDir, AxisConvention: manifest.EngineAxes(),
		Generator: c.opts.generator(), Units: manifest.UnitsMetres,
		TileSizeMode: mode, TileSize: &manifest.Vec3Size{X: p.TileSize[0], Y: p.TileSize[1], Z: p.TileSize[2]},
		SceneBounds: &bounds, SceneLights: lightsOf(c.scene), SceneCameras: camerasOf(c.scene),
		StreamingDefaults: manifest.StreamingDefaults{
			StreamingRadius: bands.Streaming, UnloadRadius: bands.Unload, Priority: p.Defaults.Priority,
		},
		StreamingProfile: &manifest.Profile{
			Requested: "auto", Resolved: partition.ProfileIndoor, SceneHalfDiag: geom.Round(p.HalfDiag, 3),
			Radii: partition.TierRadii(partition.ProfileIndoor, p.HalfDiag),
		},
		ClassificationConfig: &manifest.ClassificationConfig{
			SpanningThresholdTiles: partition.DefaultSpanningTiles, FutureSplitTileThreshold: partition.FutureSplitTiles,
		},
		PartitionQualityConfig: &manifest.PartitionQualityConfig{MinObjectsPerTileTier: 4},
		FailedTiles:            []manifest.FailedTile{},
		Tiles:                  []manifest.Tile{},
	}
	if c.offset != (geom.Vec3{}) {
		offset := [3]float64(c.offset)
		m.OriginOffset = &offset
	}
	c.describeContent(m)
	c.describeLevels(m)
	if !c.opts.hasFloors() && c.listsObjects() { // only grids judge objects by size
		for i := range p.Objects {
			m.ObjectClassification = append(m.ObjectClassification, p.Objects[i].Entry(c.objects[i].name))
		}
	}
	for i := range p.Tiles {
		c.addTile(m, &p.Tiles[i], &payloads[i])
	}
	if n := len(p.Tiles); n < len(payloads) && !payloads[n].empty {
		m.SharedBucket = c.bucket(&payloads[n])
	}
	if c.opts.hasFloors() {
		c.describeFloors(m)
	}
	if len(nodes) > 0 {
		m.Pyramid = &manifest.Pyramid{}
		for i := range nodes {
			m.Pyramid.Nodes = append(m.Pyramid.Nodes, nodes[i].PyramidNode)
		}
	}
	c.describeTextures(m, payloads, nodes)
	c.describeGrade(m)
	return m
}

// describeContent says where most of the triangles are, unless that is most of
// the scene.
func (c *scenePlan) describeContent(m *manifest.Manifest) {
	if c.opts.Compat {
		return
	}
	boxes, triangles := make([]geom.Box, len(c.objects)), make([]float64, len(c.objects))
	for i := range c.objects {
		boxes[i], triangles[i] = c.objects[i].box, float64(c.objects[i].triangles)
	}
	b := geom.Bulk(boxes, triangles)
	if !b.IsEmpty() && b != c.planned.SceneBounds {
		bounds := manifest.BoundsOf(b)
		m.ContentBounds = &bounds
	}
}

// listedObjects is up to how many objects a manifest names each and says how it was judged:
// of more that would be most of its text, which every viewer has to fetch and read before it
// shows anything. No reader of a scene needs it.
const listedObjects = 10_000

func (c *scenePlan) listsObjects() bool {
	return len(c.planned.Objects) <= cmp.Or(c.opts.listed, listedObjects)
}

// addTile lists a tile, or says why it could not be written.
func (c *scenePlan) addTile(m *manifest.Manifest, t *partition.Tile, b *payload) {
	coord := t.Coord
	if b.empty && c.opts.Clip && !c.opts.hasFloors() {
		return // the boxes of its objects reach into it, their triangles do not
	}
	if b.empty {
		f := manifest.FailedTile{
			ID: t.ID, GridCoord: &coord, Path: b.name, Error: "no triangle of its objects has an area",
			CandidateObjectCount: len(t.Objects),
		}
		if c.opts.hasFloors() {
			floor := t.Floor
			f.FloorID, f.QuadtreeNodeID, f.SemanticTier = &floor, t.NodeID, t.Tier.String()
		}
		m.FailedTiles = append(m.FailedTiles, f)
		return
	}
	cell := manifest.BoundsOf(t.Cell)
	priority := t.Priority
	e := manifest.Tile{ID: t.ID, GridCoord: &coord, Priority: &priority, CellBounds: &cell}
	if c.listsObjects() {
		for _, o := range b.present {
			e.Objects = append(e.Objects, c.objects[o].name)
		}
	}
	if c.opts.hasFloors() {
		c.describeFloorTile(&e, t)
	}
	c.fill(&e, b)
	c.listLevels(&e, b, c.tileRadii(t))
	if c.opts.Compat && !c.opts.hasFloors() {
		e.Bounds, e.Center = cell, cell.Center()
	}
	m.Tiles = append(m.Tiles, e)
}

// radii returns the distances that are written: the unload radius is widened
// where the engine would do it, but for --compat engine.
func (c *scenePlan) radii(r partition.Radii) band.Bands {
	if c.opts.Compat {
		return band.Bands{Streaming: r.Streaming, Unload: r.Unload}
	}
	return band.Fit(r.Streaming, r.Unload, nil, nil).Bands
}

// fill sets what tiles and the bucket have in common.
func (c *scenePlan) fill(e *manifest.Tile, b *payload) {
	count := len(b.present)
	e.Path, e.FileSizeBytes, e.SHA256 = b.name, b.written.size, b.written.sha256
	e.EstimatedMemoryBytes, e.TriangleCount, e.ObjectCount = &b.gpuBytes, b.triangles, &count
	e.HLODLevels = []manifest.Level{}
	e.Bounds = boundsOf(b.bounds)
	e.Center = e.Bounds.Center()
}

func boundsOf(b records.Bounds) manifest.Bounds {
	return manifest.BoundsOf(geom.Box{Min: geom.FromF32(b.Min), Max: geom.FromF32(b.Max)})
}

func (c *scenePlan) bucket(b *payload) *manifest.SharedBucket {
	r := c.planned.SharedRadii
	var prefetch *float64
	if c.opts.FitDistances {
		bands, _ := c.fitDistances(b, nil, r)
		r.Streaming, r.Unload, prefetch = bands.Streaming, bands.Unload, &bands.Prefetch
	}
	s := &manifest.SharedBucket{
		Tile: manifest.Tile{
			ID: manifest.SharedTileID, StreamingRadius: &r.Streaming, UnloadRadius: &r.Unload, PrefetchRadius: prefetch, Priority: &r.Priority,
		},
		ExportPolicy: partition.ExportShared.String(),
	}
	c.fill(&s.Tile, b)
	for _, o := range b.present {
		k := c.planned.Objects[o].Entry(c.objects[o].name)
		s.Members = append(s.Members, manifest.BucketObject{
			Name: k.Name, ExportPolicy: k.ExportPolicy, XZOverlapCount: &k.XZOverlapCount, Dimensions: &k.Dimensions, Reasons: k.Reasons,
		})
	}
	return s
}

// lightsOf maps KHR_lights_punctual lights. Their units are candela and lux,
// so the radiometric mark is off; angles become degrees.
func lightsOf(s *gltfscene.Scene) []manifest.Light {
	out := []manifest.Light{}
	for i := range s.Lights {
		l := &s.Lights[i]
		e := manifest.DefaultLight(l.Kind)
		e.Name, e.Color, e.Intensity, e.SourcePower = l.Name, l.Color, l.Intensity, l.Intensity
		e.Radius, e.Range = 0.001, l.Range
		right, up, back := basis(&l.World)
		e.Right, e.Up, e.Direction, e.Position = right, up, back.Scale(-1), l.World.Column(3)
		e.InnerCone, e.OuterCone = degrees(l.InnerCone), degrees(l.OuterCone)
		e.CastsShadow = l.Kind == manifest.LightDirectional
		e.LocalTransformRows = e.TransformRows()
		out = append(out, e)
	}
	return out
}

// camerasOf maps perspective cameras; orthographic ones have no place in the
// manifest. Glue for absent values is the engine's defaults.
func camerasOf(s *gltfscene.Scene) []manifest.Camera {
	out := []manifest.Camera{}
	for i := range s.Cameras {
		c := &s.Cameras[i]
		if c.Orthographic {
			continue
		}
		e := manifest.DefaultCamera()
		e.Name, e.FovYDegrees, e.NearClip = c.Name, degrees(c.FovY), max(c.Near, 0.001)
		if c.Far > 0 {
			e.FarClip = c.Far
		}
		if c.Aspect > 0 {
			e.AspectRatio = c.Aspect
		}
		right, up, back := basis(&c.World)
		e.Right, e.Up, e.Forward, e.Position = right, up, back.Scale(-1), c.World.Column(3)
		e.LocalTransformRows = e.TransformRows()
		out = append(out, e)
	}
	return out
}

// basis returns the unit axes of a node: scale does not move lights and
// cameras.
func basis(m *geom.Mat4) (x, y, z geom.Vec3) {
	return m.Column(0).Normalize(0, geom.Vec3{1, 0, 0}),
		m.Column(1).Normalize(0, geom.Vec3{0, 1, 0}),
		m.Column(2).Normalize(0, geom.Vec3{0, 0, 1})
}

func degrees(rad float64) float64 { return rad * 180 / math.Pi }
