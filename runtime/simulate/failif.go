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

// Valuer has numbers by key: a Report, or that of another program.
type Valuer interface {
	// Value returns a number; an unknown key is an error that says what there is.
	Value(key string) (float64, error)
}

// ParseCondition reads a condition on a Report; blanks around its parts are
// allowed. An unknown key is an error that names the nearest one.
func ParseCondition(s string) (Condition, error) { return ParseConditionOn(s, &Report{}) }

// ParseConditionOn is ParseCondition for the keys of another report.
func ParseConditionOn(s string, report Valuer) (Condition, error) {
	at := strings.IndexAny(s, "<>=!")
	if at < 0 {
		return Condition{}, fmt.Errorf("condition %q has no comparison: write undrawn>0, with < <= > >= or ==", s)
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
		return Condition{}, fmt.Errorf("condition %q: the comparisons are < <= > >= and ==", s)
	}
	if _, err := report.Value(c.Key); err != nil {
		return Condition{}, fmt.Errorf("condition %q: %w", s, err)
	}
	v, err := strconv.ParseFloat(rest, 64)
	if err != nil || v != v {
		return Condition{}, fmt.Errorf("condition %q: %q is no number", s, rest)
	}
	c.Value = v
	return c, nil
}

// String returns the condition as it is read.
func (c Condition) String() string {
	return c.Key + c.Op + strconv.FormatFloat(c.Value, 'g', -1, 64)
}

// Holds reports whether a report fulfils the condition.
func (c Condition) Holds(r Valuer) bool {
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
