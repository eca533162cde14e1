package runtime

import "fmt"

// DetailLimit says which budget makes detail coarser than errors and distances ask for.
type DetailLimit int

// LimitMemory is the budget of geometry memory, LimitTriangles that of triangles in view.
// Where both are short it is the one that asks for more.
const (
	LimitNone DetailLimit = iota
	LimitMemory
	LimitTriangles
)

var limitNames = [...]string{LimitNone: "none", LimitMemory: "memory", LimitTriangles: "triangles"}

func (l DetailLimit) String() string {
	if l < 0 || int(l) >= len(limitNames) {
		return fmt.Sprintf("DetailLimit(%d)", int(l))
	}
	return limitNames[l]
}

// MarshalText writes the name.
func (l DetailLimit) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// limit returns which budget binds.
func (a *budgetSplit) limit() DetailLimit {
	switch {
	case a.frame.stretch > 0 && !(a.scarce && a.stretch >= a.frame.stretch):
		return LimitTriangles
	case a.scarce:
		return LimitMemory
	}
	return LimitNone
}
