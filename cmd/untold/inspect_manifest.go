package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/manifest"
)

// inspectManifest shows the scene summary of the manifest in a file; name is
// what the user calls it.
func inspectManifest(ctx context.Context, a *app, path, name string, f *inspectFlags) error {
	if f.chunk != "" || f.mesh >= 0 || f.strings || f.stats {
		return errors.New("--chunk, --mesh, --strings and --stats go with a container; name one of the manifest's .untold files")
	}
	if f.levels {
		return inspectLevels(ctx, a, path, f)
	}
	m, err := manifest.LoadPlanned(path)
	var e *manifest.DecodeError
	switch {
	case errors.As(err, &e) && name != path:
		return &badFile{fmt.Errorf("%s: %w", name, e)} // without the path of the copy
	case e != nil:
		return &badFile{err}
	case err != nil:
		return err
	}
	if f.plan.file != "" {
		if err := drawMap(a, m, &f.plan); err != nil {
			return err
		}
		if !f.asJSON {
			return nil
		}
	}
	s := summarize(name, m)
	if f.asJSON {
		return writeJSON(a.stdout, s)
	}
	printSummary(a, m, s, f)
	return nil
}

// sceneSummary is what inspect says about a manifest.
type sceneSummary struct {
	Path             string           `json:"path"`
	Version          int              `json:"version"`
	Mode             string           `json:"partitioning_mode"`
	Source           string           `json:"source_scene_name"`
	Generator        string           `json:"generator"`
	DryRun           bool             `json:"dry_run"`
	SceneBounds      *manifest.Bounds `json:"scene_bounds"`
	OriginOffset     *[3]float64      `json:"origin_offset,omitempty"`
	Tiles            int              `json:"tiles"`
	FailedTiles      int              `json:"failed_tiles"`
	Levels           int              `json:"lod_and_hlod_files"`
	SharedObjects    int              `json:"shared_objects"`
	PayloadBytes     int64            `json:"payload_bytes"`
	MemoryBytes      int64            `json:"estimated_memory_bytes"`
	Triangles        int              `json:"triangles"`
	LargestTile      string           `json:"largest_tile"`
	LargestTileBytes int64            `json:"largest_tile_bytes"`
	StreamingRadius  float64          `json:"streaming_radius"`
	UnloadRadius     float64          `json:"unload_radius"`
	Lights           int              `json:"lights"`
	Cameras          int              `json:"cameras"`
	// Grade is the colour table for the finished picture.
	Grade            *manifest.GradeLUT `json:"grade,omitempty"`
	TileList         []tileSummary      `json:"tile_list"`
	PyramidNodes     int                `json:"pyramid_nodes,omitempty"`
	PyramidBytes     int64              `json:"pyramid_bytes,omitempty"` // of payload_bytes
	PyramidTriangles int                `json:"pyramid_triangles,omitempty"`

	// On the GPU, textures included: all nodes, and the roots, which are always there.
	PyramidMemory int64 `json:"pyramid_memory_bytes,omitempty"`
	Roots         int   `json:"pyramid_roots,omitempty"`
	RootBytes     int64 `json:"pyramid_root_bytes,omitempty"` // of pyramid_bytes
	RootMemory    int64 `json:"pyramid_root_memory_bytes,omitempty"`
}

type tileSummary struct {
	ID        string          `json:"tile_id"`
	Path      string          `json:"path"`
	Bytes     int64           `json:"file_size_bytes"`
	Triangles int             `json:"triangle_count"`
	Objects   int             `json:"object_count"`
	Streaming float64         `json:"streaming_radius"`
	Unload    float64         `json:"unload_radius"`
	Priority  int             `json:"priority"`
	Levels    int             `json:"levels"`
	Tier      string          `json:"semantic_tier,omitempty"`
	Bounds    manifest.Bounds `json:"bounds"`
}

func summarize(path string, m *manifest.Manifest) *sceneSummary {
	s := &sceneSummary{
		Path: path, Version: m.Version, Mode: m.PartitioningMode, Generator: m.Generator, DryRun: m.DryRun, SceneBounds: m.SceneBounds, OriginOffset: m.OriginOffset,
		Tiles: len(m.Tiles), FailedTiles: len(m.FailedTiles), StreamingRadius: m.StreamingDefaults.StreamingRadius,
		UnloadRadius: m.StreamingDefaults.UnloadRadius, Lights: len(m.SceneLights), Cameras: len(m.SceneCameras), Grade: m.ColorGradeLUT, TileList: []tileSummary{},
	}
	if m.SourceSceneName != nil {
		s.Source = *m.SourceSceneName
	}
	for i := range m.Tiles {
		s.add(m, &m.Tiles[i])
	}
	if m.SharedBucket != nil {
		s.SharedObjects = len(m.SharedBucket.Members)
		s.add(m, &m.SharedBucket.Tile)
	}
	if m.Pyramid != nil {
		s.addPyramid(m.Pyramid)
	}
	return s
}

func (s *sceneSummary) addPyramid(p *manifest.Pyramid) {
	s.PyramidNodes = len(p.Nodes)
	for i := range p.Nodes {
		n := &p.Nodes[i]
		s.PyramidBytes += n.FileSizeBytes
		s.PyramidMemory += n.EstimatedMemoryBytes
		s.PyramidTriangles += n.TriangleCount
	}
	s.PayloadBytes += s.PyramidBytes
	for _, i := range rootsOf(p) {
		s.Roots++
		s.RootBytes += p.Nodes[i].FileSizeBytes
		s.RootMemory += p.Nodes[i].EstimatedMemoryBytes
	}
}

// rootsOf returns the indices of the nodes that have no parent.
func rootsOf(p *manifest.Pyramid) (roots []int) {
	below := map[string]bool{}
	for i := range p.Nodes {
		for _, id := range p.Nodes[i].Children {
			below[id] = true
		}
	}
	for i := range p.Nodes {
		if !below[p.Nodes[i].ID] {
			roots = append(roots, i)
		}
	}
	return roots
}

func (s *sceneSummary) add(m *manifest.Manifest, t *manifest.Tile) {
	b := m.BandsOf(t)
	row := tileSummary{
		ID: t.ID, Path: t.Path, Bytes: t.FileSizeBytes, Triangles: t.TriangleCount, Streaming: b.Streaming, Unload: b.Unload,
		Priority: m.PriorityOf(t), Levels: len(t.HLODLevels) + len(t.LODLevels), Tier: t.SemanticTier, Bounds: t.Bounds,
	}
	if t.ObjectCount != nil {
		row.Objects = *t.ObjectCount
	}
	s.TileList = append(s.TileList, row)
	s.Levels += row.Levels
	s.PayloadBytes += t.FileSizeBytes
	for _, levels := range [][]manifest.Level{t.HLODLevels, t.LODLevels} {
		for _, l := range levels {
			s.PayloadBytes += l.FileSizeBytes
		}
	}
	if t.EstimatedMemoryBytes != nil {
		s.MemoryBytes += *t.EstimatedMemoryBytes
	}
	s.Triangles += t.TriangleCount
	if t.FileSizeBytes > s.LargestTileBytes {
		s.LargestTile, s.LargestTileBytes = t.ID, t.FileSizeBytes
	}
}

func printSummary(a *app, m *manifest.Manifest, s *sceneSummary, f *inspectFlags) {
	w := a.stdout
	fmt.Fprintf(w, "%s\n", oneLine(s.Path))
	dry := ""
	if s.DryRun {
		dry = ", dry run"
	}
	fmt.Fprintf(w, "  manifest version %d, %s%s, from %q by %s\n", s.Version, oneLine(s.Mode), dry, s.Source, oneLine(s.Generator))
	if b := s.SceneBounds; b != nil {
		fmt.Fprintf(w, "  scene %.6g x %.6g x %.6g m, from (%.6g, %.6g, %.6g) to (%.6g, %.6g, %.6g)\n",
			b.Max[0]-b.Min[0], b.Max[1]-b.Min[1], b.Max[2]-b.Min[2], b.Min[0], b.Min[1], b.Min[2], b.Max[0], b.Max[1], b.Max[2])
	}
	if o := s.OriginOffset; o != nil {
		fmt.Fprintf(w, "  coordinates are those of the source less (%s) m\n", plainDigits(o[:]))
	}
	if t := m.TileSize; t != nil {
		fmt.Fprintf(w, "  tile size %.6g x %.6g x %.6g m (%s)\n", t.X, t.Y, t.Z, oneLine(m.TileSizeMode))
	}
	fmt.Fprintf(w, "  %s, %s, %s in the shared bucket, %s\n", human.Plural(s.Tiles, "tile"), human.Plural(s.Levels, "LOD or HLOD file"),
		human.Plural(s.SharedObjects, "object"), human.Plural(s.FailedTiles, "failed tile"))
	fmt.Fprintf(w, "  %s, %s of payloads, %s on the GPU when all is loaded\n", human.Plural(s.Triangles, "triangle"), human.Bytes(s.PayloadBytes), human.Bytes(s.MemoryBytes))
	if s.PyramidNodes > 0 {
		fmt.Fprintf(w, "  a pyramid of %s, %s, %s; on the GPU %s when all is loaded, %s always, for %s\n", human.Plural(s.PyramidNodes, "node"),
			human.Plural(s.PyramidTriangles, "triangle"), human.Bytes(s.PyramidBytes), human.Bytes(s.PyramidMemory), human.Bytes(s.RootMemory), human.Plural(s.Roots, "root"))
	}
	fmt.Fprintf(w, "  full within %s, wanted within %s; %s, %s\n",
		s.span(func(t *tileSummary) float64 { return t.Streaming }), s.span(func(t *tileSummary) float64 { return t.Unload }), human.Plural(s.Lights, "light"), human.Plural(s.Cameras, "camera"))
	if g := s.Grade; g != nil {
		fmt.Fprintf(w, "  pictures are graded by %s, of size %d\n", oneLine(g.URI), g.Size)
	}
	fmt.Fprintln(w)
	t := newTable(f.limit, "tile", ">objects", ">triangles", ">bytes", ">streaming", ">unload", ">priority", ">levels", "bounds")
	for _, x := range s.TileList {
		t.add(x.ID, x.Objects, human.Count(x.Triangles), x.Bytes, human.Distance(x.Streaming), human.Distance(x.Unload), x.Priority, x.Levels,
			fmt.Sprintf("(%.5g, %.5g, %.5g) .. (%.5g, %.5g, %.5g)", x.Bounds.Min[0], x.Bounds.Min[1], x.Bounds.Min[2], x.Bounds.Max[0], x.Bounds.Max[1], x.Bounds.Max[2]))
	}
	t.print(w)
}

// plainDigits writes coordinates without exponents.
func plainDigits(v []float64) string {
	var parts []string
	for _, x := range v {
		parts = append(parts, strconv.FormatFloat(x, 'f', -1, 64))
	}
	return strings.Join(parts, ", ")
}

// span names the least and the greatest of a distance of all tiles.
func (s *sceneSummary) span(of func(*tileSummary) float64) string {
	if len(s.TileList) == 0 {
		return "nothing"
	}
	lo, hi := math.Inf(1), 0.0
	for i := range s.TileList {
		d := of(&s.TileList[i])
		lo, hi = min(lo, d), max(hi, d)
	}
	if lo == hi {
		return human.Distance(lo)
	}
	return human.Distance(lo) + " to " + human.Distance(hi)
}
