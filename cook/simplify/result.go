package simplify

import "fmt"

// StopReason says why Reduce returned.
type StopReason uint8

// The reasons.
const (
	// Reached: there are no more triangles than asked for.
	Reached StopReason = iota
	// ErrorBound: every further collapse exceeds the error limit.
	ErrorBound
	// LockedVertices: what is left hangs on locked vertices.
	LockedVertices
	// Seams: further collapses would join the sides of seams, which
	// SeamsKeep forbids.
	Seams
	// Components: every component is down to its last triangles; only
	// PruneBelow could remove more.
	Components
	// Topology: further collapses would fold the surface.
	Topology
)

var stopText = [...]string{
	Reached:        "the target is reached",
	ErrorBound:     "further collapses exceed the error limit",
	LockedVertices: "the rest hangs on locked vertices",
	Seams:          "further collapses would join the sides of seams",
	Components:     "every component is down to its last triangles",
	Topology:       "further collapses would fold the surface",
}

// String returns the reason in words.
func (r StopReason) String() string {
	if int(r) < len(stopText) {
		return stopText[r]
	}
	return fmt.Sprintf("StopReason(%d)", uint8(r))
}

// Result tells what Reduce achieved. All numbers refer to the mesh that New
// got, not to the previous level.
type Result struct {
	Triangles int // left
	Source    int // triangles of the source
	Target    int // asked for

	// Error is the achieved geometric error in metres: the greatest distance
	// of a source vertex from the triangles that replace its surroundings. As
	// these need not hold the nearest point, it is at least the one-sided
	// Hausdorff distance from source vertices to the result. Components that
	// were pruned count with their diagonal. With NoRefine it is estimated
	// from quadrics instead.
	Error float64
	// MeanError is the root mean square of the same distances, weighted by the
	// area around the vertices.
	MeanError float64
	// RelativeError is Error over the diagonal of the source's bounding box.
	RelativeError float64

	Stop    StopReason
	Pruned  int  // components removed
	Creases int  // vertices added for second normals, see Options.Creases
	Relaxed bool // sides of seams were joined
	Sloppy  bool // the result comes from clustering
}

// String explains the result in one line.
func (r Result) String() string {
	s := fmt.Sprintf("%d of %d triangles (target %d), error %.4g m (rms %.4g m): %s",
		r.Triangles, r.Source, r.Target, r.Error, r.MeanError, r.Stop)
	if r.Pruned > 0 {
		s += fmt.Sprintf("; %d components pruned", r.Pruned)
	}
	if r.Relaxed {
		s += "; seams relaxed"
	}
	if r.Sloppy {
		s += "; clustered"
	}
	return s
}
