package simulate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// eventNames are the kinds of events of the stream, and whether an exact
// scenario lists all of their kind.
var eventNames = func() map[string]bool {
	m := map[string]bool{}
	for _, list := range []struct {
		prefix, names string
		exact         bool
	}{
		{"tile.", "dispatch parsed failed timeout retry grace grace_cleared cancel discard unload", true},
		{"hlod.", "load loaded failed unload", true},
		{"lod.", "load loaded failed unload", true},
		{"mesh.", "load loaded failed unload", false},
		{"evict.", "lru tile shed", false},
		{"tex.", "start load upgrade downgrade fail missing release", false},
		{"scene.", "load unload", false},
		{"", "drawn warn", false},
	} {
		for _, n := range strings.Fields(list.names) {
			m[list.prefix+n] = list.exact
		}
	}
	return m
}()

// readExpectation reads an entry of expect or expect_none.
func readExpectation(d *decoder, n *node, timed bool) Expectation {
	e := Expectation{AnyT: true}
	e.line = d.lineOf(n)
	f := fields{
		"t": func(n *node) { d.seconds(&e.T)(n); e.AnyT = false },
		"event": func(n *node) {
			d.text(&e.Event)(n)
			if _, known := eventNames[e.Event]; !known {
				d.fail(n, fmt.Sprintf("%q is no event", clip(e.Event)), nearest(e.Event, eventNames))
			}
		},
		"note": d.text(new(string)),
	}
	for _, key := range [...]string{"tile", "rep", "error", "message", "mesh", "texture"} {
		f[key] = func(n *node) {
			var v string
			d.text(&v)(n)
			e.Keys = append(e.Keys, Key{key, v})
		}
	}
	for _, key := range [...]string{"frame", "level", "attempt", "retry_in", "count", "to"} {
		f[key] = func(n *node) {
			e.Keys = append(e.Keys, Key{key, d.number(n, -math.MaxFloat64, math.MaxFloat64)})
		}
	}
	if timed {
		d.object(n, f, "t", "event")
	} else {
		d.object(n, f, "event")
	}
	return e
}

// String describes the expectation as Record.String does a record.
func (e *Expectation) String() string { return describeEvent(e.Event, e.Keys) }

// sameEvent reports whether a record agrees in all but the time.
func (e *Expectation) sameEvent(r *Record) bool {
	if e.Event != r.Event {
		return false
	}
	for _, k := range e.Keys {
		if k.Name == "frame" {
			if k.Value != float64(r.Frame) {
				return false
			}
			continue
		}
		have, ok := r.value(k.Name)
		if !ok {
			return false
		}
		want, number := k.Value.(float64)
		if got, ok := have.(float64); number && ok {
			if math.Abs(got-want) > 1e-9 {
				return false
			}
		} else if have != k.Value {
			return false
		}
	}
	return true
}

// matches reports whether a record is what is expected, within half a frame.
func (e *Expectation) matches(r *Record, dt time.Duration) bool {
	return e.sameEvent(r) && (e.AnyT || (r.T-e.T).Abs() <= dt/2)
}

// starts are the events whose order within one frame is promised.
var starts = map[string]bool{"tile.dispatch": true, "hlod.load": true, "lod.load": true, "mesh.load": true, "tex.start": true}

// Difference is one line of what a run did otherwise than its scenario expects.
type Difference struct {
	T    time.Duration
	Sign byte // '-' expected and missing, '+' not expected, '!' other
	What string
	Note string
}

// Check compares a run with the expectations of its scenario. The result is
// sorted by time and empty when all agree.
func Check(s *Scenario, records []Record, counters []CounterSample) []Difference {
	c := checker{s: s, records: records, taken: make([]int, len(records))}
	c.expected()
	c.unexpected()
	c.forbidden()
	c.order()
	c.stats(counters)
	slices.SortStableFunc(c.out, func(a, b Difference) int { return cmp.Compare(a.T, b.T) })
	return c.out
}

type checker struct {
	s       *Scenario
	records []Record
	taken   []int // by record: the expectation that it fulfils, from 1
	found   []int // by expectation: its record, or -1
	out     []Difference
}

func (c *checker) differ(t time.Duration, sign byte, what, note string) {
	c.out = append(c.out, Difference{t, sign, what, note})
}

// expected gives every expectation an event of its own. Those that name more
// keys choose first, so that a vague one does not take what another needs.
func (c *checker) expected() {
	order := make([]int, len(c.s.Expect))
	c.found = make([]int, len(c.s.Expect))
	for i := range order {
		order[i], c.found[i] = i, -1
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(c.s.Expect[b].Keys) - len(c.s.Expect[a].Keys) })
	for _, i := range order {
		e := &c.s.Expect[i]
		for j := range c.records {
			if c.taken[j] == 0 && e.matches(&c.records[j], c.s.DT) {
				c.taken[j], c.found[i] = i+1, j
				break
			}
		}
	}
	for i, j := range c.found {
		if e := &c.s.Expect[i]; j < 0 {
			c.differ(e.T, '-', e.String(), lineNote(e.line)+c.hint(e))
		}
	}
}

// hint says when an event that is missing at its time did happen.
func (c *checker) hint(e *Expectation) string {
	best := -1
	for j := range c.records {
		if c.taken[j] == 0 && e.sameEvent(&c.records[j]) &&
			(best < 0 || (c.records[j].T-e.T).Abs() < (c.records[best].T-e.T).Abs()) {
			best = j
		}
	}
	if best < 0 {
		return "missing"
	}
	return "it came at " + secondsText(c.records[best].T)
}

func (c *checker) unexpected() {
	if !c.s.Exact {
		return
	}
	for j := range c.records {
		if r := &c.records[j]; c.taken[j] == 0 && eventNames[r.Event] {
			c.differ(r.T, '+', r.String(), "not expected")
		}
	}
}

func (c *checker) forbidden() {
	for i := range c.s.ExpectNone {
		e := &c.s.ExpectNone[i]
		for j := range c.records {
			if r := &c.records[j]; e.matches(r, c.s.DT) {
				c.differ(r.T, '+', r.String(), lineNote(e.line)+"must not happen")
			}
		}
	}
}

// order compares the order of starts that are expected for the same time.
func (c *checker) order() {
	last := map[string]int{}
	for i := range c.s.Expect {
		e := &c.s.Expect[i]
		if c.found[i] < 0 || !starts[e.Event] {
			continue
		}
		key := e.Event + "@" + secondsText(e.T)
		if before, ok := last[key]; ok && c.found[before] > c.found[i] {
			c.differ(e.T, '!', e.String(), fmt.Sprintf("%scame before %s", lineNote(e.line), c.s.Expect[before].String()))
		}
		last[key] = i
	}
}

func (c *checker) stats(samples []CounterSample) {
	for i := range c.s.ExpectStats {
		e := &c.s.ExpectStats[i]
		at := slices.IndexFunc(samples, func(s CounterSample) bool {
			return s.Counter == e.Counter && (s.T-e.T).Abs() <= c.s.DT/2
		})
		switch {
		case at < 0:
			c.differ(e.T, '-', "counter "+e.Counter, lineNote(e.line)+"the run has no frame at this time")
		case math.Abs(samples[at].Value-e.Value) > 1e-9:
			c.differ(e.T, '!', fmt.Sprintf("counter %s is %g, not %g", e.Counter, samples[at].Value, e.Value), lineNote(e.line))
		}
	}
}

// CounterSample is the value of a counter after a frame.
type CounterSample struct {
	T       time.Duration
	Counter string
	Value   float64
}

func lineNote(line int) string {
	if line == 0 {
		return ""
	}
	return fmt.Sprintf("line %d: ", line)
}

func secondsText(t time.Duration) string {
	return string(appendSeconds(nil, t))
}

// Diff writes differences in columns: the sign, the time in seconds, the event,
// the reason.
func Diff(list []Difference) string {
	var b strings.Builder
	time, width := 1, 0
	for i := range list {
		time = max(time, len(secondsText(list[i].T)))
		width = max(width, min(len(list[i].What), 60))
	}
	for i := range list {
		d := &list[i]
		line := fmt.Sprintf("%c %*s  %-*s  %s", d.Sign, time, secondsText(d.T), width, d.What, strings.TrimSuffix(d.Note, ": "))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}
