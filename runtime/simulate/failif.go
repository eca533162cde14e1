package simulate

import (
	"fmt"
	"strconv"
	"strings"
)

// Condition is a comparison of a key of the report with a number, such as
// undrawn>0.
type Condition struct {
	Key   string
	Op    string // one of < <= > >= ==
	Value float64
}

// ParseCondition reads a condition; blanks around its parts are allowed. An
// unknown key is an error that names the nearest one.
func ParseCondition(s string) (Condition, error) {
	at := strings.IndexAny(s, "<>=!")
	if at < 0 {
		return Condition{}, fmt.Errorf("simulate: condition %q has no comparison: write undrawn>0, with < <= > >= or ==", s)
	}
	c := Condition{Key: strings.TrimSpace(s[:at])}
	rest := s[at:]
	for _, op := range [...]string{"<=", ">=", "==", "<", ">"} {
		if v, ok := strings.CutPrefix(rest, op); ok {
			c.Op, rest = op, strings.TrimSpace(v)
			break
		}
	}
	if c.Op == "" {
		return Condition{}, fmt.Errorf("simulate: condition %q: the comparisons are < <= > >= and ==", s)
	}
	if _, err := (&Report{}).Value(c.Key); err != nil {
		return Condition{}, fmt.Errorf("simulate: condition %q: %w", s, err)
	}
	v, err := strconv.ParseFloat(rest, 64)
	if err != nil || v != v {
		return Condition{}, fmt.Errorf("simulate: condition %q: %q is no number", s, rest)
	}
	c.Value = v
	return c, nil
}

// String returns the condition as it is read.
func (c Condition) String() string {
	return c.Key + c.Op + strconv.FormatFloat(c.Value, 'g', -1, 64)
}

// Holds reports whether a report fulfils the condition.
func (c Condition) Holds(r *Report) bool {
	v, err := r.Value(c.Key)
	if err != nil {
		return false
	}
	switch c.Op {
	case "<":
		return v < c.Value
	case "<=":
		return v <= c.Value
	case ">":
		return v > c.Value
	case ">=":
		return v >= c.Value
	}
	return v == c.Value
}
