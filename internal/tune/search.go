package tune

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Setting is a value of a knob, such as compress: zstd.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Knob is a setting that may be turned.
type Knob struct {
	Name string
	// Values are tried from the first one on. With Along the next is tried only if the
	// one before helped: they lead away from the default.
	Values []string
	Along  bool
}

// Outcome is what a scene with some settings gives along all camera paths.
type Outcome struct {
	Bytes     int64   `json:"bytes"`         // fetched, geometry and textures, of all paths
	ByPath    []int64 `json:"bytes_by_path"` // the same of each path
	ErrorP50  float64 `json:"error_px_p50"`  // pixels, the worst path's
	ErrorP99  float64 `json:"error_px_p99"`  // the same
	Picture   float64 `json:"time_to_8px"`   // seconds, the worst path's
	Stalled   float64 `json:"stall_seconds"` // of all paths
	Peak      int64   `json:"peak_geometry_bytes"`
	Uncovered float64 `json:"uncovered"` // the worst path's
	Undrawn   int     `json:"undrawn"`   // of all paths
}

// Trial is one try.
type Trial struct {
	Settings []Setting `json:"settings"` // beside the defaults, in the order of the knobs
	Outcome
	// Wanting says what is worse than is allowed, "" for nothing.
	Wanting string `json:"wanting,omitempty"`
	Failed  string `json:"failed,omitempty"` // why it could not be tried
}

// Limits are what settings must keep. Zero values take those of the defaults, which are
// the first trial.
type Limits struct {
	ErrorPixels float64 // the greatest of ErrorP50
	Memory      int64   // the greatest Peak, bytes; 0: any
}

// What may be worse than with the defaults: time by a tenth and a little, since a frame
// more or less is chance, and errors that nobody sees.
const (
	unseen    = 2.0 // pixels
	tolerance = 1.1
	moment    = 0.1 // seconds
)

// judge says what is worse than the limits allow.
func (l *Limits) judge(o, base *Outcome) string {
	p50, p99 := max(base.ErrorP50, unseen), max(base.ErrorP99, unseen)
	if l.ErrorPixels > 0 {
		p99 = max(p99, p99/p50*l.ErrorPixels)
		p50 = l.ErrorPixels
	}
	seconds := func(v float64) float64 { return float64(v*tolerance) + moment }
	switch {
	case o.Undrawn > base.Undrawn:
		return "tiles vanish"
	case o.Uncovered > base.Uncovered:
		return "gaps"
	case l.Memory > 0 && o.Peak > l.Memory && o.Peak >= base.Peak:
		return "memory"
	case o.ErrorP50 > p50*tolerance:
		return "coarser"
	case o.ErrorP99 > p99*tolerance:
		return "coarser at times"
	case o.Picture > seconds(base.Picture):
		return "later picture"
	case o.Stalled > seconds(base.Stalled):
		return "later detail"
	}
	return ""
}

// better reports whether a trial is nearer to what is wanted than the best one so far.
func (l *Limits) better(t, best *Trial) bool {
	if t.Failed != "" || t.Wanting != "" {
		return false
	}
	if over := l.Memory > 0 && best.Peak > l.Memory; over {
		return t.Peak < best.Peak
	}
	// What helps along one path and harms along another is a matter of the paths.
	for i := range min(len(t.ByPath), len(best.ByPath)) {
		if float64(t.ByPath[i]) > float64(float64(best.ByPath[i])*(1+worthIt)) {
			return false
		}
	}
	return float64(t.Bytes) < float64(float64(best.Bytes)*(1-worthIt))
}

// worthIt is the part of the bytes that a setting must be worth.
const worthIt = 0.01

// Result is what a search has found.
type Result struct {
	Trials []Trial `json:"trials"` // in their order; the first one is of the defaults
	Best   int     `json:"best"`   // which of them is the best one
}

// Search tries settings until no knob helps, or most trials were made. An error of the
// first one, of the defaults, is the search's; of others it is noted, unless ctx has
// ended.
func Search(ctx context.Context, knobs []Knob, l Limits, most int, try func([]Setting) (Outcome, error), tried func(*Result)) (*Result, error) {
	s := &search{knobs: knobs, limits: l, most: max(most, 1), try: try, tried: tried, seen: map[string]bool{}}
	base, err := try(nil)
	if err != nil {
		return nil, err
	}
	s.add(Trial{Settings: []Setting{}, Outcome: base})
	s.seen[""] = true
	for turned := true; turned; {
		turned = false
		for i := range knobs {
			helped, err := s.turn(ctx, &knobs[i])
			if err != nil {
				return nil, err
			}
			turned = turned || helped
		}
	}
	return &s.Result, nil
}

type search struct {
	Result
	knobs  []Knob
	limits Limits
	most   int
	try    func([]Setting) (Outcome, error)
	tried  func(*Result)
	seen   map[string]bool
}

func (s *search) add(t Trial) {
	s.Trials = append(s.Trials, t)
	if s.tried != nil {
		s.tried(&s.Result)
	}
}

// turn tries the values of a knob from the best settings so far.
func (s *search) turn(ctx context.Context, k *Knob) (helped bool, err error) {
	for _, v := range k.Values {
		settings := s.with(k.Name, v)
		key := fmt.Sprint(settings)
		if s.seen[key] {
			if k.Along && !slices.Equal(settings, s.Trials[s.Best].Settings) {
				break
			}
			continue
		}
		if len(s.Trials) >= s.most {
			return helped, nil
		}
		s.seen[key] = true
		t := Trial{Settings: settings}
		if t.Outcome, err = s.try(settings); err != nil {
			if ctx.Err() != nil {
				return helped, err
			}
			t.Failed = err.Error()
		} else {
			t.Wanting = s.limits.judge(&t.Outcome, &s.Trials[0].Outcome)
		}
		good := s.limits.better(&t, &s.Trials[s.Best])
		if good {
			s.Best, helped = len(s.Trials), true
		}
		s.add(t)
		if !good && k.Along {
			break
		}
	}
	return helped, nil
}

// with returns the best settings with another value of a knob.
func (s *search) with(name, value string) []Setting {
	best := s.Trials[s.Best].Settings
	var out []Setting
	for i := range s.knobs {
		n := s.knobs[i].Name
		if slices.ContainsFunc(out, func(x Setting) bool { return x.Name == n }) {
			continue // one knob may be turned in two directions
		}
		at := slices.IndexFunc(best, func(x Setting) bool { return x.Name == n })
		switch {
		case n == name:
			out = append(out, Setting{n, value})
		case at >= 0:
			out = append(out, best[at])
		}
	}
	return out
}

// Text shows settings in a line.
func Text(settings []Setting) string {
	if len(settings) == 0 {
		return "defaults"
	}
	var b strings.Builder
	for i, s := range settings {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %s", s.Name, s.Value)
	}
	return b.String()
}
