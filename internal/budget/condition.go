package budget

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/internal/human"
)

// Valuer has figures by their names: the report of a run.
type Valuer interface {
	// Value returns a figure. A name that there is not, and a figure that is not known
	// here, are errors that say so.
	Value(name string) (float64, error)
}

// Condition compares a figure with a number, such as undrawn>0. A run whose report
// fulfils it has failed.
type Condition struct {
	Key   string  // name of the figure
	Op    string  // one of < <= > >= ==
	Value float64 // in the unit of the figure
	Text  string  // the number as it was written, such as 200k; may be empty
}

// longest is how many bytes a condition may have: messages repeat it.
const longest = 200

// Parse reads a condition on one of the figures that names lists; blanks around its
// parts are allowed. The number may have a unit of the figure's (ParseNumber). A name
// that is not listed is an error that lists near ones.
func Parse(s string, names []string) (Condition, error) {
	if len(s) > longest {
		return Condition{}, fmt.Errorf("condition %q is longer than any: write undrawn>0", human.Clip(s, longest))
	}
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
	if err := known(c.Key, names); err != nil {
		return Condition{}, fmt.Errorf("condition %q: %w", s, err)
	}
	var err error
	if c.Value, err = ParseNumber(rest, UnitOf(c.Key)); err != nil {
		return Condition{}, fmt.Errorf("condition %q: %w", s, err)
	}
	c.Text = rest
	return c, nil
}

// String returns the condition as it is read.
func (c Condition) String() string {
	if c.Text != "" {
		return c.Key + c.Op + c.Text
	}
	return c.Key + c.Op + strconv.FormatFloat(c.Value, 'g', -1, 64)
}

// Holds reports whether a report fulfils the condition. A figure that the report
// does not know fulfils none.
func (c Condition) Holds(r Valuer) bool {
	v, err := r.Value(c.Key)
	return err == nil && c.compare(v)
}

func (c Condition) compare(v float64) bool {
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
