package cook

import (
	"fmt"
	"strings"

	"github.com/untoldkit/untold/cook/report"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/partition"
)

// report gathers what there is to say about the cook: where every object went
// and why, what every tile costs, and what --compat engine would have done.
func (c *scenePlan) report(m *manifest.Manifest, res *Result) *report.Report {
	r := report.New(m, c.planned, c.inputs)
	r.Clip = c.opts.Clip && !c.opts.hasFloors()
	r.Options = c.opts.list()
	r.Totals.Textures, r.Totals.TextureBytes = res.Textures, res.TextureBytes
	t := &res.TextureTotals
	r.Totals.TextureMode, r.Totals.TextureGPUBytes = t.Mode, t.GPUBytes
	r.Totals.Images, r.Totals.ImagePixels, r.Totals.ImageBytes = t.Images, t.Pixels, t.SourceBytes
	r.Totals.VertexCache = report.VertexCache(res.VertexCache)
	for _, d := range res.Dropped {
		e := report.DroppedLevel{Tile: d.Tile, Level: d.Level, Stage: report.StageGeometry, Reason: d.Reason}
		if d.Bands {
			e.Stage = report.StageBands
		}
		if d.Tier != "" {
			e.Reason = d.Tier + ": " + d.Reason
		}
		r.Dropped = append(r.Dropped, e)
	}
	for _, n := range res.Notes {
		r.Notes = append(r.Notes, report.Note(n))
	}
	// The engine's way may need more tiles than there is room for; then there
	// is nothing to compare with.
	if engine, err := c.enginePlan(); err == nil {
		r.Compat = report.NewCompat(m, c.planned, engine, c.inputs)
	}
	return r
}

// enginePlan partitions the objects as --compat engine does.
func (c *scenePlan) enginePlan() (*partition.Plan, error) {
	o := *c.opts
	e := EngineOptions()
	o.Compat, o.Clip = e.Compat, e.Clip
	o.Floors.Matching, o.Floors.Balance = partition.MatchDefault, partition.BalanceDefault
	return o.partitionWith(c.inputs, o.SplitMaxTiles, c.planned.Side)
}

// list returns the options by their flags' names, for people.
func (o *Options) list() []report.KV {
	var out []report.KV
	add := func(key string, v any) { out = append(out, report.KV{Key: key, Value: fmt.Sprint(v)}) }
	mode := o.Partition
	if mode == "" {
		mode = PartitionGrid
	}
	add("partition", mode)
	if o.Compat {
		add("compat", "engine")
	}
	switch r := o.Recenter; {
	case r.Auto:
		add("recenter", "auto")
	case r.Offset != (geom.Vec3{}):
		add("recenter", coordinates(r.Offset))
	}
	if o.hasFloors() {
		o.listFloors(add)
	} else {
		if o.AutoTileSize {
			add("auto-tile-size", true)
		} else {
			add("tile-size", fmt.Sprintf("%v x %v m, %v m high", o.TileSize[0], o.TileSize[2], o.TileSize[1]))
		}
		add("clip", o.Clip)
		add("split-max-tiles", o.SplitMaxTiles)
		if o.SampleFraction > 0 {
			add("sample-fraction", o.SampleFraction)
		}
		if o.PerimeterDepth > 0 {
			add("perimeter-depth", o.PerimeterDepth)
		}
	}
	for _, r := range o.Floors.TierRadii {
		add("tier-radius", fmt.Sprintf("%s=%v,%v", r.Tier, r.Streaming, r.Unload))
	}
	o.listLevels(add)
	add("merge", o.Merge)
	add("instances", o.Instances)
	add("compress", o.Compress)
	if o.ContainerVersion > 1 {
		add("container-version", o.ContainerVersion)
	}
	add("textures", o.Textures)
	if b := o.ASTC.Block; b != [2]int{} {
		add("astc-block", fmt.Sprintf("%dx%d", b[0], b[1]))
	}
	if o.ASTC.High {
		add("texture-quality", "high")
	}
	if m := o.maxTexture(); m > 0 {
		add("max-texture", m)
	}
	return out
}

func (o *Options) listFloors(add func(string, any)) {
	f := &o.Floors
	orAuto := func(v any, set bool) any {
		if set {
			return v
		}
		return "auto"
	}
	add("scene-profile", orAuto(f.Profile, f.Profile != ""))
	add("floor-count", orAuto(f.FloorCount, f.FloorCount > 0))
	add("floor-band-height", orAuto(f.FloorBandHeight, f.FloorBandHeight > 0))
	add("min-objects-per-tile-tier", f.MinObjects)
}

func (o *Options) listLevels(add func(string, any)) {
	var levels []string
	for _, l := range o.LODs {
		levels = append(levels, fmt.Sprintf("%v:%v", l.SwitchDistance, l.DecimateRatio))
	}
	if len(levels) > 0 {
		add("lod-level", strings.Join(levels, ", "))
	}
	levels = nil
	for _, l := range o.HLODs {
		levels = append(levels, fmt.Sprintf("%s:%v:%v", l.Suffix, l.SwitchDistance, l.ReductionRatio))
	}
	if len(levels) > 0 {
		add("hlod-level", strings.Join(levels, ", "))
		add("hlod-max-texture", o.HLODMaxTexture)
	}
	if o.LODErrorPixels > 0 {
		add("lod-error-pixels", fmt.Sprintf("%v (%v degrees, %d lines)", o.LODErrorPixels, o.LevelFovY, o.LevelHeight))
	}
}
