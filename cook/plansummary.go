package cook

import (
	"cmp"
	"slices"

	"github.com/untoldkit/untold/manifest"
)

// PlanSummary says how evenly the tiles share the scene.
type PlanSummary struct {
	Mode      string       `json:"partitioning_mode"`
	Objects   Distribution `json:"objects_per_tile"`
	Triangles Distribution `json:"triangles_per_tile"`
	Memory    Distribution `json:"memory_bytes_per_tile"` // estimated, on the GPU
	// Histogram counts tiles by objects; the last bar is open.
	Histogram []Bar `json:"histogram"`
	// Busiest are the tiles with the most objects, at most five.
	Busiest []BusyTile    `json:"busiest"`
	Floors  []FloorCount  `json:"floors,omitempty"`
	Tiers   []TierCount   `json:"tiers,omitempty"`
	Shared  *SharedCount  `json:"shared_bucket"`
	Levels  []LevelsCount `json:"levels,omitempty"`
}

// Distribution describes a number that every tile has.
type Distribution struct {
	Median int64 `json:"median"` // the lower of the two middle ones
	P95    int64 `json:"p95"`
	Max    int64 `json:"max"`
	Sum    int64 `json:"sum"`
}

// Bar counts the tiles with at most Objects objects, and more than the bar
// before.
type Bar struct {
	Objects int `json:"max_objects"` // 0: any number
	Tiles   int `json:"tiles"`
}

// BusyTile is a tile with many objects.
type BusyTile struct {
	ID        string `json:"tile_id"`
	Objects   int    `json:"objects"`
	Triangles int    `json:"triangles"`
}

// FloorCount counts what lies on a floor.
type FloorCount struct {
	Floor     int     `json:"floor_id"`
	Bottom    float64 `json:"bottom"` // metres, of the content
	Top       float64 `json:"top"`
	Tiles     int     `json:"tiles"`
	Objects   int     `json:"objects"`
	Triangles int     `json:"triangles"`
}

// TierCount counts what belongs to a semantic tier.
type TierCount struct {
	Tier      string  `json:"tier"`
	Tiles     int     `json:"tiles"`
	Objects   int     `json:"objects"`
	Triangles int     `json:"triangles"`
	Streaming float64 `json:"streaming_radius"`
	Unload    float64 `json:"unload_radius"`
}

// SharedCount says what the shared bucket holds.
type SharedCount struct {
	Objects   int     `json:"objects"`
	Triangles int     `json:"triangles"`
	Share     float64 `json:"triangle_share"` // of the triangles of all payloads, 0 to 1
}

// LevelsCount counts the files of a level.
type LevelsCount struct {
	Level     string `json:"level"`
	Tiles     int    `json:"tiles"`
	Triangles int    `json:"triangles"` // 0 in a dry run
	Bytes     int64  `json:"bytes"`     // 0 in a dry run
}

// histogramBars are the upper ends that the reference exporter's dry run uses.
var histogramBars = []int{1, 5, 10, 25, 50, 100, 250, 500, 0}

// Summarize reads a manifest as cook writes it.
func Summarize(m *manifest.Manifest) *PlanSummary {
	s := &PlanSummary{Mode: m.PartitioningMode, Histogram: []Bar{}, Busiest: []BusyTile{}}
	for _, n := range histogramBars {
		s.Histogram = append(s.Histogram, Bar{Objects: n})
	}
	var objects, triangles, memory []int64
	var busy []BusyTile
	for i := range m.Tiles {
		t := &m.Tiles[i]
		n := objectCount(t)
		objects, triangles = append(objects, int64(n)), append(triangles, int64(t.TriangleCount))
		if t.EstimatedMemoryBytes != nil {
			memory = append(memory, *t.EstimatedMemoryBytes)
		}
		bar := slices.IndexFunc(s.Histogram, func(b Bar) bool { return b.Objects == 0 || n <= b.Objects })
		s.Histogram[bar].Tiles++
		busy = append(busy, BusyTile{t.ID, n, t.TriangleCount})
		s.countFloor(t, n)
		s.countTier(m, t, n)
	}
	s.Objects, s.Triangles, s.Memory = distribution(objects), distribution(triangles), distribution(memory)
	slices.SortStableFunc(busy, func(a, b BusyTile) int { return cmp.Or(b.Objects-a.Objects, b.Triangles-a.Triangles) })
	s.Busiest = append(s.Busiest, busy[:min(5, len(busy))]...)
	slices.SortFunc(s.Floors, func(a, b FloorCount) int { return a.Floor - b.Floor })
	slices.SortFunc(s.Tiers, func(a, b TierCount) int {
		return cmp.Or(cmp.Compare(b.Streaming, a.Streaming), cmp.Compare(a.Tier, b.Tier))
	})
	if b := m.SharedBucket; b != nil {
		s.Shared = &SharedCount{Objects: len(b.Members), Triangles: b.TriangleCount}
		if all := float64(s.Triangles.Sum) + float64(b.TriangleCount); all > 0 {
			s.Shared.Share = float64(b.TriangleCount) / all
		}
	}
	return s
}

func objectCount(t *manifest.Tile) int {
	if t.ObjectCount != nil {
		return *t.ObjectCount
	}
	return len(t.Objects)
}

func (s *PlanSummary) countFloor(t *manifest.Tile, objects int) {
	if t.FloorID == nil {
		return
	}
	i := slices.IndexFunc(s.Floors, func(f FloorCount) bool { return f.Floor == *t.FloorID })
	if i < 0 {
		i = len(s.Floors)
		s.Floors = append(s.Floors, FloorCount{Floor: *t.FloorID, Bottom: t.Bounds.Min[1], Top: t.Bounds.Max[1]})
	}
	f := &s.Floors[i]
	f.Bottom, f.Top = min(f.Bottom, t.Bounds.Min[1]), max(f.Top, t.Bounds.Max[1])
	f.Tiles++
	f.Objects += objects
	f.Triangles += t.TriangleCount
}

func (s *PlanSummary) countTier(m *manifest.Manifest, t *manifest.Tile, objects int) {
	if t.SemanticTier == "" {
		return
	}
	i := slices.IndexFunc(s.Tiers, func(c TierCount) bool { return c.Tier == t.SemanticTier })
	if i < 0 {
		i = len(s.Tiers)
		b := m.BandsOf(t)
		s.Tiers = append(s.Tiers, TierCount{Tier: t.SemanticTier, Streaming: b.Streaming, Unload: b.Unload})
	}
	c := &s.Tiers[i]
	c.Tiles++
	c.Objects += objects
	c.Triangles += t.TriangleCount
}

// countLevels adds what is known of levels while their names are.
func (s *PlanSummary) countLevels(payloads []payload) {
	for i := range payloads {
		for k := range payloads[i].levels {
			l := &payloads[i].levels[k]
			if !l.made {
				continue
			}
			at := slices.IndexFunc(s.Levels, func(c LevelsCount) bool { return c.Level == l.name })
			if at < 0 {
				at = len(s.Levels)
				s.Levels = append(s.Levels, LevelsCount{Level: l.name})
			}
			c := &s.Levels[at]
			c.Tiles++
			c.Triangles += l.triangles
			c.Bytes += l.written.size
		}
	}
	slices.SortStableFunc(s.Levels, func(a, b LevelsCount) int { return cmp.Compare(b.Triangles, a.Triangles) })
}

// distribution sorts v.
func distribution(v []int64) Distribution {
	var d Distribution
	if len(v) == 0 {
		return d
	}
	slices.Sort(v)
	for _, x := range v {
		d.Sum += x
	}
	d.Median, d.P95, d.Max = v[(len(v)-1)/2], v[(len(v)-1)*95/100], v[len(v)-1]
	return d
}
