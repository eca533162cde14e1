package simulate

import "github.com/untoldkit/untold/internal/budget"

// Condition is a comparison of a key of the report with a number, such as
// undrawn>0. Its fields are Key, Op (one of < <= > >= ==), Value in the unit of the
// figure, and Text, the number as it was written. Holds reports whether a report
// fulfils it.
type Condition = budget.Condition

// ParseCondition reads a condition on a Report; blanks around its parts are allowed,
// and so are units of the figure: peak_geometry_bytes>64MiB, time_to_full_p95>500ms.
// An unknown key is an error that lists near ones.
func ParseCondition(s string) (Condition, error) { return budget.Parse(s, ReportKeys()) }
