package memory

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// free is a sample with so much of the memory free, in percent.
func free(percent float64) Sample { return Sample{Total: 1000, Available: int64(percent * 10)} }

func TestJudge(t *testing.T) {
	type step struct {
		at float64 // s
		s  Sample
	}
	stall := func(some, full float64) Sample {
		s := free(50)
		s.Some, s.Full = some, full
		return s
	}
	group := func(percent float64, reclaims, kills int64) Sample {
		s := free(percent)
		s.Reclaims, s.Kills = reclaims, kills
		return s
	}
	for _, c := range []struct {
		name  string
		steps []step
		want  string
	}{
		{"calm", []step{{0, free(50)}, {1, free(11)}, {2, stall(7.4, 9.9)}}, ""},
		{"unknown", []step{{0, Sample{}}, {1, Sample{}}}, ""},
		{
			"free memory, with hysteresis",
			[]step{{0, free(9)}, {1, free(9)}, {2, free(14)}, {3, free(14)}, {4, free(14)}, {5, free(15.1)}, {6, free(14)}, {13.9, free(14)}, {14, free(14)}},
			"0 warning; 2 warning; 4 warning; 14 none",
		},
		{
			"critical goes down through warning",
			[]step{{0, free(4)}, {1, free(7)}, {2, free(7)}, {3, free(8)}, {4, free(8)}, {5, free(16)}, {14, free(16)}},
			"0 critical; 2 critical; 4 warning; 14 none",
		},
		{
			"rises at once",
			[]step{{0, free(9)}, {0.1, free(4)}, {0.2, free(4)}},
			"0 warning; 0.1 critical",
		},
		{
			"stalls, with hysteresis",
			[]step{{0, stall(7.5, 0)}, {2, stall(4, 0)}, {4, stall(3.7, 0)}, {6, stall(20, 10)}, {8, stall(20, 5)}, {10, stall(0, 4.9)}, {18, stall(0, 0)}},
			"0 warning; 2 warning; 6 critical; 8 critical; 18 none",
		},
		{
			"the counts of the past say nothing",
			[]step{{0, group(20, 100, 5)}, {1, group(20, 100, 5)}},
			"",
		},
		{
			"reclaims count where room is short",
			[]step{{0, group(50, 100, 0)}, {1, group(50, 200, 0)}, {2, group(24, 201, 0)}, {3, group(24, 201, 0)}, {12, group(24, 201, 0)}},
			"2 warning; 12 none",
		},
		{
			"out of memory",
			[]step{{0, group(50, 0, 0)}, {1, group(50, 0, 1)}, {10.9, group(50, 0, 1)}, {11, group(50, 0, 1)}},
			"1 critical; 11 none",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var j judge
			var got []string
			for _, s := range c.steps {
				if l, ok := j.sample(time.Duration(s.at*1e9), &s.s, true); ok {
					got = append(got, fmt.Sprintf("%v %v", s.at, l))
				}
			}
			if g := strings.Join(got, "; "); g != c.want {
				t.Errorf("got  %s\nwant %s", g, c.want)
			}
		})
	}
}

// TestJudgeProperties: a report is never more than what is signalled, rises are
// reported at once, reports repeat at most every 2 s, and a level ends.
func TestJudgeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var j judge
		now, lastReport, lastSignal := time.Duration(0), time.Duration(-1<<62), time.Duration(-1<<62)
		reported := PressureNone
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			now += time.Duration(rapid.IntRange(0, 4000).Draw(t, "ms")) * time.Millisecond
			signal := PressureLevel(max(0, rapid.IntRange(-3, 2).Draw(t, "signal")))
			before := j.level
			tell, ok := j.signal(now, signal)
			if signal > PressureNone {
				lastSignal = now
			}
			if ok && tell > signal {
				t.Fatalf("%v reported at a signal of %v", tell, signal)
			}
			if signal > before && (!ok || tell != signal) {
				t.Fatalf("rise to %v from %v: reported %v, %v", signal, before, tell, ok)
			}
			if ok && tell != PressureNone {
				if tell <= reported && now-lastReport < repeatTime {
					t.Fatalf("%v again after %v", tell, now-lastReport)
				}
				lastReport = now
			}
			if ok {
				reported = tell
			}
			if (j.level == PressureNone) != (now-lastSignal >= holdTime) && j.level == PressureNone {
				t.Fatalf("none %v after a signal", now-lastSignal)
			}
			if signal == PressureNone && now-lastSignal >= holdTime && j.level != PressureNone {
				t.Fatalf("%v %v after the last signal", j.level, now-lastSignal)
			}
		}
	})
}
