package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/budget"
	"github.com/untoldkit/untold/internal/plainfile"
)

// Verdict says in a word what became of a row.
type Verdict string

// The verdicts. A row is faster or slower where the medians of its times differ by more
// than Tolerance and the spread of the runs, and the ranges of these do not overlap. Other
// differences beyond Tolerance, and those to or from one run alone, are noise, of which
// nothing follows.
const (
	Faster Verdict = "faster"
	Slower Verdict = "slower"
	Same   Verdict = "same"
	Noise  Verdict = "noise"
)

// Tolerance is how much times may differ, as a part of the earlier ones, without being
// others.
const Tolerance = 0.1

// Ratios are those of a row to the same of an earlier report: 1 is as much, 2 is twice as
// much. Null is not known.
type Ratios struct {
	Row     Row      `json:"row"`
	Wall    *float64 `json:"wall_ratio"`
	CPU     *float64 `json:"cpu_ratio"`
	Memory  *float64 `json:"memory_ratio"`
	Spread  *float64 `json:"spread"`  // from the fastest to the slowest run as a part of their median, the larger of the two reports; null with one run
	Verdict Verdict  `json:"verdict"` // by processor time, or by the wall clock where that is not known
}

// Comparison holds two reports of the same scene against each other.
type Comparison struct {
	With        Program  `json:"with"`         // the earlier one
	SameMachine bool     `json:"same_machine"` // system, architecture and processors are the same; else ratios tell of machines
	SameCooked  bool     `json:"same_cooked"`  // the cooked files are the same
	CookedBytes *float64 `json:"cooked_bytes_ratio"`
	Flight      *float64 `json:"flight_bytes_ratio"`
	Rows        []Ratios `json:"rows"`    // that both have
	Verdict     Verdict  `json:"verdict"` // slower where any row is, faster where any is and none is slower, else same
}

// maxReport bounds the files of reports, in bytes.
const maxReport = 1 << 20

// Load reads a report that was printed as JSON.
func Load(path string) (*Report, error) {
	data, err := plainfile.Read(path, maxReport)
	if err != nil {
		return nil, err
	}
	var r Report
	if err := json.Unmarshal(data, &r); err != nil || r.Cooked.SHA256 == "" || len(r.Measured) == 0 {
		return nil, fmt.Errorf("%s is no report of untold bench --json", path)
	}
	return &r, nil
}

// ErrOther says that two reports are of different scenes.
var ErrOther = errors.New("another scene was measured")

// Compare holds a report against an earlier one. The error matches ErrOther when their
// scenes are not the same.
func (r *Report) Compare(old *Report) (*Comparison, error) {
	switch {
	case r.Scene != nil && old.Scene != nil && r.Scene.SHA256 != old.Scene.SHA256:
		return nil, fmt.Errorf("%w: %s with the SHA-256 %.12s, here %s with %.12s", ErrOther, old.Scene.Name, old.Scene.SHA256, r.Scene.Name, r.Scene.SHA256)
	case (r.Scene == nil || old.Scene == nil) && r.Cooked.SHA256 != old.Cooked.SHA256:
		return nil, fmt.Errorf("%w: its cooked files have the SHA-256 %.12s, those here %.12s", ErrOther, old.Cooked.SHA256, r.Cooked.SHA256)
	}
	c := &Comparison{With: old.Program, Rows: []Ratios{}, Verdict: Same}
	p, q := r.Program, old.Program
	c.SameMachine = p.OS == q.OS && p.Arch == q.Arch && p.Processors == q.Processors
	c.SameCooked = r.Cooked.SHA256 == old.Cooked.SHA256
	c.CookedBytes = ratio(float64(r.Cooked.Bytes), float64(old.Cooked.Bytes))
	if r.Flight != nil && old.Flight != nil {
		c.Flight = ratio(float64(r.Flight.BytesLoaded+r.Flight.TextureBytesRead), float64(old.Flight.BytesLoaded+old.Flight.TextureBytesRead))
	}
	for i := range r.Measured {
		m := &r.Measured[i]
		o := old.Find(m.Row)
		if o == nil {
			continue
		}
		x := Ratios{Row: m.Row, Wall: ratio(m.Wall.Median, o.Wall.Median), CPU: medians(m.CPU, o.CPU), Memory: medians(m.PeakMemory, o.PeakMemory)}
		now, before := &m.Wall, &o.Wall
		if m.CPU != nil && o.CPU != nil {
			now, before = m.CPU, o.CPU
		}
		x.Verdict = judge(now, before)
		if m.Runs > 1 && o.Runs > 1 {
			x.Spread = new(max(now.part(), before.part()))
			if q := ratio(now.Median, before.Median); q != nil && x.Verdict != Same && math.Abs(*q-1) <= *x.Spread {
				x.Verdict = Noise
			}
		} else if x.Verdict != Same {
			x.Verdict = Noise
		}
		c.Rows = append(c.Rows, x)
		if x.Verdict == Slower || x.Verdict == Faster && c.Verdict == Same {
			c.Verdict = x.Verdict
		}
	}
	return c, nil
}

func ratio(now, before float64) *float64 {
	if !(before > 0) || !(now >= 0) {
		return nil
	}
	q := now / before
	return &q
}

func medians(now, before *Spread) *float64 {
	if now == nil || before == nil {
		return nil
	}
	return ratio(now.Median, before.Median)
}

func judge(now, before *Spread) Verdict {
	switch {
	case now.Median > before.Median*(1+Tolerance) && now.Min > before.Max:
		return Slower
	case now.Median < before.Median*(1-Tolerance) && now.Max < before.Min:
		return Faster
	case now.Median > before.Median*(1+Tolerance) || now.Median < before.Median*(1-Tolerance):
		return Noise
	}
	return Same
}

// part is how far the runs lie apart, as a part of their median.
func (s *Spread) part() float64 {
	if !(s.Median > 0) {
		return 0
	}
	return (s.Max - s.Min) / s.Median
}

// figures are those that budgets of a bench can be about: ratios to a baseline, and what
// a flight needs, by their names.
func (r *Report) figures() map[string]*float64 {
	out := map[string]*float64{"cooked_bytes_ratio": nil, "flight_bytes_ratio": nil}
	for _, row := range Rows {
		for _, kind := range [...]string{"wall", "cpu", "memory"} {
			out[string(row)+"_"+kind+"_ratio"] = nil
		}
	}
	if c := r.Compared; c != nil {
		out["cooked_bytes_ratio"], out["flight_bytes_ratio"] = c.CookedBytes, c.Flight
		for i := range c.Rows {
			x := &c.Rows[i]
			name := string(x.Row)
			out[name+"_wall_ratio"], out[name+"_cpu_ratio"], out[name+"_memory_ratio"] = x.Wall, x.CPU, x.Memory
		}
	}
	return out
}

// flightFigures are those of a flight, which has them with the names of a run.
var flightFigures = []string{"bytes_loaded", "texture_bytes_read", "peak_geometry_bytes", "error_px_p50", "error_px_p99", "undrawn", "time_to_8px"}

// FigureNames lists the figures of a report, in the order of the rows.
func FigureNames() []string {
	var names []string
	for _, row := range Rows {
		for _, kind := range [...]string{"wall", "cpu", "memory"} {
			names = append(names, string(row)+"_"+kind+"_ratio")
		}
	}
	return append(append(names, "cooked_bytes_ratio", "flight_bytes_ratio"), flightFigures...)
}

// Lacks refuses, before there is work, conditions on what will not be measured: ratios
// without an earlier report, and figures of the flight without one.
func Lacks(conditions []budget.Condition, compared, flight bool) error {
	for _, c := range conditions {
		inFlight := slices.Contains(flightFigures, c.Key)
		r := &Report{}
		if inFlight && flight || !inFlight && compared {
			continue
		}
		_, err := r.Value(c.Key)
		return fmt.Errorf("--fail-if %s cannot be judged: %w", c, err)
	}
	return nil
}

// Value returns a figure.
func (r *Report) Value(name string) (float64, error) {
	if v, ok := r.figures()[name]; ok {
		switch {
		case v != nil:
			return *v, nil
		case r.Compared == nil:
			return 0, fmt.Errorf("%s is a ratio to an earlier report: --compare OLD.json names it", name)
		}
		return 0, fmt.Errorf("%s is not known here: both reports must have measured it", name)
	}
	if r.Flight == nil {
		return 0, fmt.Errorf("%s is of the flight, which was not measured: --only leaves it out", name)
	}
	return budget.Value(r.Flight, name)
}
