package partition

import (
	"fmt"
	"strconv"
	"strings"
)

// Annotation is the place that an authoring tool has given to an object:
// properties untold_quadtree_node_id and its companions, or the suffix of the
// name. See ParseAnnotation.
type Annotation struct {
	// Node is the node's id, such as F02Q100 or F02_Q_1_0_0. An annotation
	// whose node does not have one of these forms counts as absent.
	Node string
	// Floor counts from 1, like the number in Node; 0 takes that number.
	Floor int
	// Depth of the node; 0 counts the digits behind the tree's letter.
	Depth      int
	Spanning   bool    // the object crosses the borders of the node's children
	Tier       Tier    // TierNone: to be guessed
	Confidence float64 // in Tier, 0 to 1; below 0.5 it counts as StructuralInterior
}

// annotatedConfidence is that of a tier in a name's suffix.
const annotatedConfidence = 0.75

// annotatedShare of the objects must be annotated for the annotations to be
// used.
const annotatedShare = 0.5

// maxNodeID limits the length of a node's id, in bytes: it becomes part of
// file names.
const maxNodeID = 64

// ParseAnnotation reads the suffix __UT_<node>_<L or other>_<ES|SI|RC|FP> of
// a name, such as __UT_F02Q100_L_SI or __UT_F02Q100_L_SI.001. L is an object inside its node, anything
// else one that spans.
func ParseAnnotation(name string) (Annotation, bool) {
	at := strings.LastIndex(name, "__UT_")
	if at < 0 {
		return Annotation{}, false
	}
	rest := name[at+len("__UT_"):]
	// Names that are made unique end in .001 and so on.
	if stem, number, ok := cutLast(rest, "."); ok && digits(number) == number {
		rest = stem
	}
	rest, code, ok := cutLast(rest, "_")
	if !ok {
		return Annotation{}, false
	}
	node, class, ok := cutLast(rest, "_")
	if !ok {
		return Annotation{}, false
	}
	a := Annotation{Node: node, Spanning: class != "L", Confidence: annotatedConfidence}
	for t, c := range tierCodes {
		if t > 0 && c == code {
			a.Tier = Tier(t)
		}
	}
	if a.Tier == TierNone || !a.normalise() {
		return Annotation{}, false
	}
	return a, true
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return "", "", false
	}
	return s[:i], s[i+len(sep):], true
}

// Valid reports whether the node's id has one of the forms of Node.
func (a Annotation) Valid() bool { return a.normalise() }

// ofKDTree tells the letter of a valid id's tree.
func (a *Annotation) ofKDTree() bool {
	return strings.HasPrefix(strings.TrimPrefix(a.Node[1+len(digits(a.Node[1:])):], "_"), "K")
}

// normalise fills in floor and depth; false when the node's id has neither
// form, so that ids are safe in file names.
func (a *Annotation) normalise() bool {
	s := a.Node
	if len(s) > maxNodeID || !strings.HasPrefix(s, "F") || int(a.Tier) >= len(tierNames) {
		return false
	}
	floor := digits(s[1:])
	s = s[1+len(floor):]
	s = strings.TrimPrefix(s, "_")
	if floor == "" || len(floor) > 6 || s == "" || (s[0] != 'Q' && s[0] != 'K') {
		return false
	}
	depth := 0
	for s = s[1:]; s != ""; depth++ {
		s = strings.TrimPrefix(s, "_")
		if s == "" || s[0] < '0' || s[0] > '3' {
			return false
		}
		s = s[1:]
	}
	if a.Floor <= 0 || a.Floor > maxFloors {
		n, err := strconv.Atoi(floor)
		if err != nil {
			return false
		}
		a.Floor = max(n, 1)
	}
	if a.Depth <= 0 {
		a.Depth = depth
	}
	return true
}

// digits returns the decimal digits that a text starts with.
func digits(s string) string {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return s[:n]
}

// annotation returns the object's usable annotation: its own, else its
// name's.
func (o *Object) annotation() *Annotation {
	if o.Annotation != nil {
		// A copy, for the caller's is not ours to fill in.
		if a := *o.Annotation; a.normalise() {
			return &a
		}
	}
	if a, ok := ParseAnnotation(o.Name); ok {
		found := a // a itself would be allocated for every name
		return &found
	}
	return nil
}

// The load priorities of the property untold_streaming_priority_hint.
var priorityHints = []struct {
	name     string
	priority int
}{{"Low", 3}, {"Normal", 8}, {"High", 12}, {"Critical", 15}}

// ParsePriorityHint reads the property untold_streaming_priority_hint: Low 3,
// Normal 8, High 12, Critical 15; Auto and the empty text are 0, no hint.
// Other texts match ErrBadOptions.
func ParsePriorityHint(s string) (int, error) {
	if s == "" || s == "Auto" {
		return 0, nil
	}
	for _, h := range priorityHints {
		if s == h.name {
			return h.priority, nil
		}
	}
	return 0, fmt.Errorf("%w: unknown priority hint %q: use Low, Normal, High or Critical", ErrBadOptions, s)
}
