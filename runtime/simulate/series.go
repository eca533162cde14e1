package simulate

import (
	"maps"
	"slices"
	"time"

	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// maxSamples bounds a series: of a longer run every second, third, ... frame is
// kept, several for each pixel of a plot.
const maxSamples = 4000

// Series is what a plot shows: the states of tiles and of the whole over time.
// Its frames are samples, every frames of the run apart.
type Series struct {
	s       *Scenario
	every   int
	rows    map[int32]*row // by index in the manifest's tiles
	nearest []int32        // by frame, -1 for none
	memory  []int64        // geometry in use, by frame, bytes
	budget  []int64
	texture []int64 // textures in use, by frame, bytes
	texCap  []int64 // their budget
	active  []int   // loads under way, by frame
	backlog []int   // candidates that found no slot
	live    []int32
}

// row is the history of one tile.
type row struct {
	spans []span
	seen  int // frames up to the last one in which it was not idle
}

// span is a state that lasts until the next one begins.
type span struct {
	from     int // frame
	wanted   payload.Rep
	resident payload.RepSet
	drawn    payload.Rep
	loading  bool
}

func newSeries(s *Scenario) *Series {
	return &Series{s: s, rows: map[int32]*row{}, every: 1 + int(s.Duration/s.DT)/maxSamples}
}

// frame adds the state after an update.
func (p *Series) frame(snap *runtime.Snapshot, scene payload.SceneID, nearest int32, t *textureTier) {
	k := len(p.nearest)
	p.nearest = append(p.nearest, nearest)
	p.memory = append(p.memory, snap.Stats.GeometryUsed)
	p.budget = append(p.budget, snap.Stats.GeometryBudget)
	used := snap.Stats.TextureUsed
	if t != nil {
		used += t.used
	}
	p.texture = append(p.texture, used)
	p.texCap = append(p.texCap, snap.Stats.TextureBudget)
	p.active = append(p.active, snap.Stats.ActiveLoads)
	p.backlog = append(p.backlog, snap.Stats.PendingLoadBacklog)
	was := p.live
	p.live = nil
	for i := range snap.Tiles {
		t := &snap.Tiles[i]
		if t.Scene != scene {
			continue
		}
		r := p.rows[t.Tile]
		if r == nil {
			r = &row{}
			p.rows[t.Tile] = r
		}
		r.add(span{k, t.Wanted, t.Resident, t.Drawn, t.State == runtime.TileParsing})
		r.seen = k + 1
		p.live = append(p.live, t.Tile)
	}
	for _, tile := range was {
		if r := p.rows[tile]; r.seen <= k {
			r.add(span{from: k})
		}
	}
}

func (r *row) add(s span) {
	if n := len(r.spans); n > 0 {
		last := r.spans[n-1]
		last.from = s.from
		if last == s {
			return
		}
	}
	r.spans = append(r.spans, s)
}

// pick chooses the tiles to show: all if there are few, else those that were
// the nearest at even times.
func (p *Series) pick(limit int) []int32 {
	if n := len(p.s.Manifest.Tiles); n <= limit {
		all := make([]int32, n)
		for i := range all {
			all[i] = int32(i)
		}
		return all
	}
	var list []int32
	for i := range 4 * limit {
		at := p.nearest[i*len(p.nearest)/(4*limit)]
		if at >= 0 && !slices.Contains(list, at) {
			list = append(list, at)
		}
	}
	if len(list) == 0 {
		list = slices.Sorted(maps.Keys(p.rows))
		// The shared bucket comes behind the tiles.
		list = slices.DeleteFunc(list, func(i int32) bool { return int(i) >= len(p.s.Manifest.Tiles) })
	}
	for len(list) > limit {
		// Every other one goes, from the end, until enough are gone.
		for i := len(list) - 2; i > 0 && len(list) > limit; i -= 2 {
			list = slices.Delete(list, i, i+1)
		}
	}
	return list
}

func (p *Series) frames() int { return len(p.nearest) }

func (p *Series) time(frame int) time.Duration { return time.Duration(frame*p.every) * p.s.DT }
