package partition

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
)

// The errors of this package, for errors.Is.
var (
	// ErrNoObjects: there is nothing to partition. Typically an empty scene,
	// or one whose objects are all without geometry.
	ErrNoObjects = errors.New("partition: no objects with geometry")
	// ErrBadBox: an object's box is not finite. Typically a broken transform.
	ErrBadBox = errors.New("partition: bounding box is not finite")
	// ErrBadOptions: an option is outside its range.
	ErrBadOptions = errors.New("partition: bad option")
	// ErrTooManyCells: the tiles are far too small for the scene.
	ErrTooManyCells = errors.New("partition: too many cells")
)

// Object is what the partition needs to know about one object of the scene.
type Object struct {
	// ID tells objects apart and decides their order in tiles; use the order
	// of the scene. Objects with the same ID are ordered by name, then by
	// their place in the slice.
	ID   int
	Name string // need not be unique
	// Box holds the geometry, in engine space. Objects with an empty box are
	// left out; see Plan.Skipped.
	Box       geom.Box
	Triangles int
	Materials []string // names of the materials, for the semantic tiers
	Policy    Policy
	// PriorityHint raises the load priority of the object's tiles to at least
	// this; 0 is no hint.
	PriorityHint int
	// Tier overrides the semantic tier; TierNone leaves it to be found out.
	// Only floors have tiers.
	Tier Tier
	// Annotation places the object in a floor's tree; nil is none. The name's
	// suffix counts too.
	Annotation *Annotation
}

// Policy overrides where an object goes: the property untold_tile_policy.
type Policy uint8

// The policies.
const (
	PolicyNone        Policy = iota // by size
	PolicyForceLocal                // into the tiles it overlaps, however large
	PolicyForceShared               // into the shared bucket
)

var policyNames = [...]string{"none", "force_local", "force_shared"}

// String returns none, force_local or force_shared.
func (p Policy) String() string {
	if int(p) < len(policyNames) {
		return policyNames[p]
	}
	return fmt.Sprintf("Policy(%d)", uint8(p))
}

// ParsePolicy reads the value of the property untold_tile_policy.
func ParsePolicy(s string) (Policy, error) {
	for i, name := range policyNames {
		if s == name {
			return Policy(i), nil
		}
	}
	return PolicyNone, fmt.Errorf("partition: unknown tile policy %q: use force_local, force_shared or none", s)
}

// maxCoordinate is beyond what single precision could tell apart in any useful
// way, and keeps the arithmetic on boxes far from overflow.
const maxCoordinate = 1e30

// checkBox refuses boxes that no rule is made for.
func checkBox(o *Object) error {
	if o.Box.IsEmpty() && !hasNaN(o.Box) {
		return nil
	}
	for i := range 3 {
		if !(math.Abs(o.Box.Min[i]) <= maxCoordinate && math.Abs(o.Box.Max[i]) <= maxCoordinate) {
			return fmt.Errorf("%w: object %d %q: %v to %v: check its transform and its vertices",
				ErrBadBox, o.ID, o.Name, o.Box.Min, o.Box.Max)
		}
	}
	return nil
}

func hasNaN(b geom.Box) bool {
	for i := range 3 {
		if math.IsNaN(b.Min[i]) || math.IsNaN(b.Max[i]) {
			return true
		}
	}
	return false
}

// canonical returns the indices of the objects in the order that does not
// depend on the order of the slice.
func canonical(objects []Object) []int32 {
	order := make([]int32, len(objects))
	for i := range order {
		order[i] = int32(i)
	}
	before := func(a, b int32) int {
		x, y := &objects[a], &objects[b]
		if c := cmp.Compare(x.ID, y.ID); c != 0 {
			return c
		}
		return cmp.Compare(x.Name, y.Name)
	}
	if !slices.IsSortedFunc(order, before) {
		slices.SortStableFunc(order, before)
	}
	return order
}
