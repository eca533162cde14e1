package partition

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
)

// Radii holds the distances, in metres, at which tiles are loaded and let go.
type Radii struct {
	Streaming float64
	Unload    float64
	Priority  int // higher loads first
}

// HalfDiagonal returns half the diagonal of a box's footprint, in metres; the
// height does not count.
func HalfDiagonal(b geom.Box) float64 {
	size := b.Size()
	return 0.5 * math.Sqrt(float64(size[0]*size[0])+float64(size[2]*size[2]))
}

// GridRadii returns the streaming defaults of a scene: base is the longer
// horizontal side of a tile, halfDiag half the diagonal of the scene's
// footprint.
func GridRadii(base, halfDiag float64) Radii {
	streaming := min(2*base, 0.35*halfDiag)
	return Radii{
		Streaming: streaming,
		Unload:    max(min(3*base, 0.5*halfDiag), 1.5*streaming),
		Priority:  manifest.DefaultPriority,
	}
}

// SharedRadii returns the radii of the shared bucket.
func SharedRadii(halfDiag float64) Radii {
	return Radii{Streaming: halfDiag, Unload: 1.5 * halfDiag, Priority: manifest.DefaultPriority}
}
