package budget

import (
	"fmt"
	"io"
	"math"

	"github.com/untoldkit/untold/internal/human"
)

// Verdict is what became of a condition.
type Verdict struct {
	Figure string  `json:"figure"`
	FailIf string  `json:"fail_if"` // the condition, as it was written
	Unit   Unit    `json:"unit"`
	Value  float64 `json:"value"` // of the figure, in its unit
	Limit  float64 `json:"limit"` // the same
	Failed bool    `json:"failed"`
	// Used is how much of the limit the figure takes, 1 where it is at it; for the
	// least that a figure may be, how much of the figure the limit takes. Null where
	// that says nothing, as for == and over a limit of 0.
	Used *float64 `json:"used"`

	op string
}

// Judge evaluates conditions on a report. A figure that the report does not know is an
// error: what cannot be judged has not passed.
func Judge(conditions []Condition, r Valuer) ([]Verdict, error) {
	var out []Verdict
	for _, c := range conditions {
		v, err := r.Value(c.Key)
		if err != nil {
			return nil, fmt.Errorf("--fail-if %s cannot be judged: %w", c, err)
		}
		out = append(out, Verdict{
			Figure: c.Key, FailIf: c.String(), Unit: UnitOf(c.Key), Value: v, Limit: c.Value, Failed: c.compare(v), Used: c.used(v),
			op: c.Op,
		})
	}
	return out, nil
}

// used is Verdict.Used.
func (c Condition) used(v float64) *float64 {
	part, of := v, c.Value
	switch c.Op {
	case "==":
		return nil
	case "<", "<=":
		part, of = of, part
	}
	switch {
	case part < 0 || of < 0 || of == 0 && part > 0:
		return nil
	case of == 0:
		return new(float64) // nothing of nothing
	}
	u := part / of
	if math.IsInf(u, 0) {
		return nil
	}
	return &u
}

// Failed reports whether any condition holds.
func Failed(list []Verdict) bool {
	for i := range list {
		if list[i].Failed {
			return true
		}
	}
	return false
}

// closeness orders verdicts: by how much of their limit is used, those over a limit
// of 0 before all.
func (v *Verdict) closeness() float64 {
	switch {
	case v.Used != nil:
		return *v.Used
	case v.Failed:
		return math.Inf(1)
	}
	return math.Inf(-1)
}

// Closest returns the verdict closest to its limit, or farthest over one if any
// failed; nil if there is none to measure.
func Closest(list []Verdict) *Verdict {
	var best *Verdict
	failed := Failed(list)
	for i := range list {
		v := &list[i]
		if v.Failed != failed || math.IsInf(v.closeness(), -1) {
			continue
		}
		if best == nil || v.closeness() > best.closeness() {
			best = v
		}
	}
	return best
}

// String says how close a figure is to its limit.
func (v *Verdict) String() string {
	of := "of"
	if v.op == "<" || v.op == "<=" {
		of = "of at least"
	}
	s := fmt.Sprintf("%s %s %s %s", v.Figure, Text(v.Value, v.Unit), of, Text(v.Limit, v.Unit))
	if v.Used == nil || v.Limit == 0 {
		return s
	}
	percent := math.Floor(100 * *v.Used)
	if v.Failed { // more than all of it
		percent = math.Ceil(100 * *v.Used)
	}
	return s + fmt.Sprintf(" (%s %%)", human.Count(int64(math.Min(percent, 1e9))))
}

// Failure says in a line that a budget failed, and why.
func (v *Verdict) Failure() string {
	return fmt.Sprintf("%s is %s (--fail-if %s)", v.Figure, Text(v.Value, v.Unit), v.FailIf)
}

// Write prints the budgets that failed and, last, the one that is closest to its limit.
// paint colours a word that says that something failed. With brief the last line is
// left out where none failed.
func Write(w io.Writer, list []Verdict, brief bool, paint func(word string) string) {
	for i := range list {
		if list[i].Failed {
			fmt.Fprintf(w, "%s: %s\n", paint("failed"), list[i].Failure())
		}
	}
	failed := Failed(list)
	v := Closest(list)
	switch {
	case v == nil || brief && !failed:
	case failed:
		fmt.Fprintf(w, "farthest over its budget: %v\n", v)
	default:
		fmt.Fprintf(w, "closest budget: %v\n", v)
	}
}
