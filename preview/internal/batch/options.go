package batch

import (
	"math"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
)

// Limits bounds the work of one Update.
type Limits struct {
	Arrivals int // whole representations that come into cells; parts all come
	Cells    int // cells that are looked at
	Jobs     int // jobs that are started
	Results  int // results that are taken
	Releases int // retired batches that are released

	// Sums over the jobs started; the first one may exceed them.
	Vertices, Indices, Bytes int64

	// InFlight is how many jobs may be under way, whatever the Update.
	InFlight int
}

// DefaultLimits returns the reference engine's limits.
func DefaultLimits() Limits {
	return Limits{
		Arrivals: 16, Cells: 8, Jobs: 4, Results: 4, Releases: 8,
		Vertices: 120_000, Indices: 220_000, Bytes: 6 << 20, InFlight: 16,
	}
}

// Options configures a Batcher.
type Options struct {
	Builder Builder // required
	Device  Device  // required

	// Secondary batches LODs and HLODs too, and promotes what arrives as a whole
	// representation without waiting for quiescence.
	Secondary bool
	// StableFrames is how many frames a cell must be unchanged before it is
	// merged; 0 means 1.
	StableFrames int
	// VisibleFrames is for how many frames a cell counts as recently visible; 0
	// means 120.
	VisibleFrames int
	// RetireFrames is how many frames a batch that is not drawn any more is kept
	// for the GPU to finish; 0 means 3.
	RetireFrames int
	// Cells with more than this in their groups are drawn unbatched.
	MaxCellVertices, MaxCellIndices, MaxCellBytes int64
	// WideIndices says that the Device stores all indices with 32 bits: they count as such.
	WideIndices bool
	// MaxBytes bounds all batches together; 0 means no bound.
	MaxBytes int64
	// Limits bounds the work per Update; zero means DefaultLimits.
	Limits Limits
}

// OptionsOf returns the options that a configuration asks for. Whether to batch
// at all is up to the caller: Config.Batching.Enabled.
func OptionsOf(c *config.Config) Options {
	return Options{ // a bound of 0 is none of that, not the default
		Secondary:       c.BatchSecondaryTileRepresentations,
		MaxCellVertices: max(1, int64(c.Batching.MaxCellVertices)),
		MaxCellIndices:  max(1, int64(c.Batching.MaxCellIndices)),
		MaxCellBytes:    max(1, c.Batching.MaxCellBytes),
	}
}

// withDefaults fills what is 0.
func (o Options) withDefaults() Options {
	or := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	or64 := func(v *int64, d int64) {
		if *v <= 0 {
			*v = d
		}
	}
	or(&o.StableFrames, 1)
	or(&o.VisibleFrames, 120)
	or(&o.RetireFrames, 3)
	or64(&o.MaxCellVertices, 160_000)
	or64(&o.MaxCellIndices, 300_000)
	or64(&o.MaxCellBytes, 8<<20)
	or64(&o.MaxBytes, math.MaxInt64)
	d := DefaultLimits()
	l := &o.Limits
	or(&l.Arrivals, d.Arrivals)
	or(&l.Cells, d.Cells)
	or(&l.Jobs, d.Jobs)
	or(&l.Results, d.Results)
	or(&l.Releases, d.Releases)
	or(&l.InFlight, d.InFlight)
	or64(&l.Vertices, d.Vertices)
	or64(&l.Indices, d.Indices)
	or64(&l.Bytes, d.Bytes)
	// What a batch can address.
	o.MaxCellVertices = min(o.MaxCellVertices, math.MaxUint32)
	o.MaxCellIndices = min(o.MaxCellIndices, math.MaxUint32)
	return o
}

// CellSize returns the edge of a scene's cells in metres: the larger of the
// tile size's x and z, or the streaming radius where there is none.
func CellSize(m *manifest.Manifest) float64 {
	if m.TileSize != nil {
		if edge := max(m.TileSize.X, m.TileSize.Z); edge > 0 {
			return edge
		}
	}
	return m.StreamingDefaults.StreamingRadius
}
