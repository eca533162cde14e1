package manifestbuild

import (
	"math"
	"path"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/band"
	"github.com/untoldkit/untold/manifest/tileid"
	"github.com/untoldkit/untold/partition"
)

// assemble makes the manifest.
func (b *builder) assemble() {
	m := b.base()
	b.result.Manifest = m
	m.PayloadDir = b.payloadDir()
	bounds := b.sceneBounds()
	m.SceneBounds = &bounds
	halfDiag := partition.HalfDiagonal(bounds.Box())
	if b.opts.From == nil {
		b.fresh(m, halfDiag)
	}
	radii := b.tierRadii(halfDiag)
	base := b.floorBase()
	m.Tiles = make([]manifest.Tile, 0, len(b.entries))
	for _, e := range b.entries {
		t := b.tile(m, e, radii, base)
		b.levels(m, &t, e)
		m.Tiles = append(m.Tiles, t)
	}
	m.SharedBucket = b.bucket(halfDiag)
	b.pyramid(m)
	b.interior(m)
	b.missing(m)
}

// base is the older manifest without its tiles, or an empty one.
func (b *builder) base() *manifest.Manifest {
	m := &manifest.Manifest{AxisConvention: manifest.EngineAxes(), Units: manifest.UnitsMetres}
	if b.opts.From != nil {
		copied := *b.opts.From
		m = &copied
	}
	m.DryRun, m.PartitioningMode = false, b.mode
	if m.Version = manifest.VersionGrid; m.HasFloors() {
		m.Version = manifest.VersionFloor
	}
	if b.opts.Generator != "" {
		parity := m.Parity()
		if m.Generator = b.opts.Generator; parity && !m.Parity() {
			m.Generator += manifest.GeneratorParity
		}
	}
	if side := b.opts.TileSide; side > 0 && b.opts.From != nil {
		size := manifest.Vec3Size{X: side, Y: partition.DefaultTileHeight, Z: side}
		if m.TileSize != nil {
			size.Y = m.TileSize.Y
		}
		m.TileSize, m.TileSizeMode = &size, "manual"
	}
	return m
}

// payloadDir is the folder that all tiles lie in, the older manifest's when
// they still do.
func (b *builder) payloadDir() string {
	dirs := map[string]bool{}
	for _, e := range b.entries {
		dirs[path.Dir(e.full.path)] = true
	}
	if b.shared != nil {
		dirs[path.Dir(b.shared.path)] = true
	}
	if from := b.opts.From; from != nil && (dirs[from.PayloadDir] || len(dirs) != 1) {
		return from.PayloadDir
	}
	if len(dirs) == 1 {
		for d := range dirs {
			return d
		}
	}
	return "."
}

// sceneBounds is the older manifest's box, grown where files stick out of it
// by more than the rounding to single precision, else that of the files.
func (b *builder) sceneBounds() manifest.Bounds {
	box := geom.EmptyBox()
	if from := b.opts.From; from != nil && from.SceneBounds != nil {
		box = from.SceneBounds.Box()
	}
	grow := func(p *payload) {
		for a := range 3 {
			slack := 1e-4 + float64(1e-6*max(math.Abs(p.bounds.Min[a]), math.Abs(p.bounds.Max[a])))
			if !(p.bounds.Min[a] >= box.Min[a]-slack) {
				box.Min[a] = p.bounds.Min[a]
			}
			if !(p.bounds.Max[a] <= box.Max[a]+slack) {
				box.Max[a] = p.bounds.Max[a]
			}
		}
	}
	for _, e := range b.entries {
		grow(e.full)
	}
	if b.shared != nil {
		grow(b.shared)
	}
	return manifest.BoundsOf(box)
}

// fresh fills in what an older manifest would have: sizes and radii by the
// formulas by which cook chooses them.
func (b *builder) fresh(m *manifest.Manifest, halfDiag float64) {
	side := b.tileSide()
	m.TileSizeMode, m.TileSize = "manual", &manifest.Vec3Size{X: side, Y: partition.DefaultTileHeight, Z: side}
	base := side
	if m.HasFloors() {
		base = partition.DefaultTileSide
		if b.opts.TileSide > 0 {
			base = b.opts.TileSide
		}
		m.StreamingProfile = &manifest.Profile{
			Requested: b.profile(), Resolved: b.profile(), SceneHalfDiag: geom.Round(halfDiag, 3),
			Radii: partition.TierRadii(b.profile(), halfDiag),
		}
	}
	r := partition.GridRadii(base, halfDiag)
	bands := band.Fit(r.Streaming, r.Unload, nil, nil).Bands
	m.StreamingDefaults = manifest.StreamingDefaults{StreamingRadius: bands.Streaming, UnloadRadius: bands.Unload, Priority: r.Priority}
	m.FailedTiles = []manifest.FailedTile{}
	b.lost(m)
}

// lost lists what no file tells.
func (b *builder) lost(m *manifest.Manifest) {
	l := []string{
		"source_scene_name", "textures: their sizes go by radii", "scene_lights", "scene_cameras", "colorLUT", "colorGradeLUT",
		"objects and object_count of the tiles and the shared bucket", "cell_bounds",
		"priorities from hints", "settings of the cook (classification, levels, partition quality)",
	}
	if b.opts.TileSide == 0 && !m.HasFloors() {
		l = append(l, "tile_size: estimated from the largest tile, and the radii with it")
	}
	if m.HasFloors() {
		l = append(l, "radii of tiers that were given")
		if b.opts.Profile == "" {
			l = append(l, "the scene profile: taken for indoor")
		}
	}
	if slices.ContainsFunc(b.entries, func(e *entry) bool { return len(e.lods)+len(e.hlods) > 0 }) {
		l = append(l, "geometric_error of the levels, and switch distances other than the defaults'")
	}
	b.result.Lost = l
}

// tileSide is the edge of a grid's tiles, or the footprint that nine of ten
// tiles of floors stay below. The content of a full cell is as wide as the
// cell, but for rounding.
func (b *builder) tileSide() float64 {
	if b.opts.TileSide > 0 {
		return b.opts.TileSide
	}
	sides := []float64{}
	for _, e := range b.entries {
		size := e.full.bounds.Box().Size()
		sides = append(sides, max(size[0], size[2]))
	}
	if len(sides) == 0 {
		return partition.DefaultTileSide
	}
	slices.Sort(sides)
	if b.mode != manifest.ModeUniformGrid {
		return max(1, sides[min(int(float64(.9*float64(len(sides)))), len(sides)-1)])
	}
	return max(1, geom.Round(sides[len(sides)-1], 3))
}

// profile is indoor or outdoor.
func (b *builder) profile() string {
	if b.opts.Profile != "" {
		return b.opts.Profile
	}
	if from := b.opts.From; from != nil && from.StreamingProfile != nil && from.StreamingProfile.Resolved != "" {
		return from.StreamingProfile.Resolved
	}
	return partition.ProfileIndoor
}

// tierRadii are the radii for tiles that the older manifest lacks: its own,
// else the formula's.
func (b *builder) tierRadii(halfDiag float64) map[string]manifest.TierRadius {
	out := map[string]manifest.TierRadius{}
	for _, r := range partition.TierRadii(b.profile(), halfDiag) {
		out[r.Tier] = r
	}
	if from := b.opts.From; from != nil && from.StreamingProfile != nil && b.opts.Profile == "" {
		for _, r := range from.StreamingProfile.Radii {
			if r.Priority == nil {
				r.Priority = out[r.Tier].Priority
			}
			out[r.Tier] = r
		}
	}
	return out
}

// floorBase is the number of the lowest floor's node less its floor_id: 1, or
// 0 in manifests of the reference exporter.
func (b *builder) floorBase() int {
	for _, e := range b.entries {
		if e.old != nil && e.old.FloorID != nil && e.tier != "" {
			return e.node.Floor - *e.old.FloorID
		}
	}
	return 1
}

// tile makes the entry of a tile but for its levels.
func (b *builder) tile(m *manifest.Manifest, e *entry, radii map[string]manifest.TierRadius, base int) manifest.Tile {
	var t manifest.Tile
	if e.old != nil {
		t = *e.old
	} else {
		t = b.newTile(m, e, radii, base)
	}
	// The reference exporter writes the cell as bounds; that stays.
	cells := t.CellBounds != nil && t.Bounds == *t.CellBounds && !m.HasFloors()
	before, center := t.Bounds, t.Center
	fill(&t, e.full)
	if e.old != nil && cells {
		t.Bounds, t.Center = before, center
	}
	return t
}

// fill sets what the file tells.
func fill(t *manifest.Tile, p *payload) {
	memory := p.memory
	t.Path, t.FileSizeBytes, t.SHA256, t.TriangleCount, t.EstimatedMemoryBytes = p.path, p.size, p.sha256, p.triangles, &memory
	t.Bounds, t.Center = p.bounds, p.bounds.Center()
}

// newTile says about a tile what its id says.
func (b *builder) newTile(m *manifest.Manifest, e *entry, radii map[string]manifest.TierRadius, base int) manifest.Tile {
	if b.opts.From != nil {
		b.note("new-tile", e.id, false, "the older manifest does not have it")
	}
	t := manifest.Tile{ID: e.id, HLODLevels: []manifest.Level{}, GridCoord: e.coord}
	priority := m.StreamingDefaults.Priority
	if e.tier != "" && m.HasFloors() {
		floor, r := e.node.Floor-base, radii[e.tier]
		t.FloorID, t.QuadtreeNodeID, t.SemanticTier = &floor, e.nodeText(), e.tier
		bands := band.Fit(r.Streaming, r.Unload, nil, nil).Bands
		t.StreamingRadius, t.UnloadRadius = &bands.Streaming, &bands.Unload
		t.SecondaryRepresentationPolicy = "normal"
		if r.Priority != nil {
			priority = *r.Priority
		}
	}
	t.Priority = &priority
	return t
}

// bucket makes the entry of the shared bucket, nil when there is no file.
func (b *builder) bucket(halfDiag float64) *manifest.SharedBucket {
	var old *manifest.SharedBucket
	if b.opts.From != nil {
		old = b.opts.From.SharedBucket
	}
	switch {
	case b.shared == nil && old != nil:
		b.note("missing-file", old.Path, true, "the older manifest's shared bucket is not among the files: it is left out")
		return nil
	case b.shared == nil:
		return nil
	}
	r := partition.SharedRadii(halfDiag)
	s := &manifest.SharedBucket{
		Tile: manifest.Tile{
			ID: manifest.SharedTileID, StreamingRadius: &r.Streaming, UnloadRadius: &r.Unload, Priority: &r.Priority, HLODLevels: []manifest.Level{},
		},
		ExportPolicy: partition.ExportShared.String(),
	}
	if old != nil {
		copied := *old
		s = &copied
	}
	fill(&s.Tile, b.shared)
	return s
}

// interior marks the tiles that the older manifest does not speak of: those
// of an indoor scene that are no shell and lie within the shell's footprint. The
// zone is the box around the shell's tiles, or the bucket's where there are
// none.
func (b *builder) interior(m *manifest.Manifest) {
	if !m.HasFloors() {
		return
	}
	shell := geom.EmptyBox()
	for _, e := range b.entries {
		if e.tier == tileid.TierExteriorShell {
			shell = shell.Union(e.full.bounds.Box())
		}
	}
	union := shell
	if b.shared != nil {
		// What spans a floor and is in the bucket is shell.
		union = union.Union(b.shared.bounds.Box())
	}
	if shell.IsEmpty() {
		shell = union
	}
	if shell.IsEmpty() {
		return
	}
	if m.InteriorZone == nil && b.opts.From == nil {
		zone := manifest.BoundsOf(shell)
		m.InteriorZone = &zone
	}
	for i, e := range b.entries {
		if e.old == nil && e.tier != "" && m.InteriorZone != nil {
			m.Tiles[i].Interior = e.tier != tileid.TierExteriorShell && b.profile() == partition.ProfileIndoor &&
				partition.Indoors(e.full.bounds.Box(), union)
		}
	}
}

// missing notes the older manifest's tiles that have no file, and forgets
// failures that have one by now.
func (b *builder) missing(m *manifest.Manifest) {
	from := b.opts.From
	if from == nil {
		return
	}
	have := map[string]bool{}
	for _, e := range b.entries {
		have[e.id] = true
	}
	n, first := 0, ""
	for i := range from.Tiles {
		if t := &from.Tiles[i]; !have[t.ID] {
			if n++; n == 1 {
				first = t.ID
			}
		}
	}
	if n > 0 {
		b.note("missing-file", first, true, "%d tiles of the older manifest are not among the files: they are left out", n)
	}
	if b.lostLevels > 0 {
		b.note("missing-file", b.lostLevel, true, "%d levels of the older manifest are not among the files: they are left out", b.lostLevels)
	}
	m.FailedTiles = slices.DeleteFunc(slices.Clone(from.FailedTiles), func(f manifest.FailedTile) bool { return have[f.ID] })
}
