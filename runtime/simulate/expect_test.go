package simulate

import (
	"strings"
	"testing"
	"time"
)

func rec(ms int, event string, keys ...Key) Record {
	t := time.Duration(ms) * time.Millisecond
	return Record{T: t, Frame: uint64(ms / 100), Event: event, Keys: keys}
}

func tileKey(id string) Key { return Key{"tile", id} }

func want(ms int, event string, keys ...Key) Expectation {
	return Expectation{T: time.Duration(ms) * time.Millisecond, Event: event, Keys: keys}
}

func TestCheck(t *testing.T) {
	a, b := tileKey("a"), tileKey("b")
	for _, c := range []struct {
		name    string
		s       Scenario
		records []Record
		samples []CounterSample
		want    string
	}{
		{name: "nothing", want: ""},
		{
			name:    "within half a frame",
			s:       Scenario{Exact: true, Expect: []Expectation{want(250, "tile.parsed", a), want(0, "tile.dispatch")}},
			records: []Record{rec(0, "tile.dispatch", a), rec(300, "tile.parsed", a)},
		},
		{
			name:    "too late",
			s:       Scenario{Exact: true, Expect: []Expectation{want(200, "tile.parsed", a)}},
			records: []Record{rec(300, "tile.parsed", a)},
			want: "- 0.2  tile.parsed tile=a  it came at 0.3\n" +
				"+ 0.3  tile.parsed tile=a  not expected\n",
		},
		{
			name:    "missing, other tile",
			s:       Scenario{Expect: []Expectation{want(0, "tile.dispatch", a)}},
			records: []Record{rec(0, "tile.dispatch", b)},
			want:    "- 0  tile.dispatch tile=a  missing\n",
		},
		{
			name: "every expectation needs an event of its own",
			s:    Scenario{Expect: []Expectation{want(0, "tile.parsed"), want(0, "tile.parsed", a)}},
			// The vague one must not take a's event.
			records: []Record{rec(0, "tile.parsed", a), rec(0, "tile.parsed", b)},
		},
		{
			name:    "once is not twice",
			s:       Scenario{Expect: []Expectation{want(0, "tile.dispatch", a), want(0, "tile.dispatch", a)}},
			records: []Record{rec(0, "tile.dispatch", a)},
			want:    "- 0  tile.dispatch tile=a  missing\n",
		},
		{
			name:    "exact is about tiles and levels",
			s:       Scenario{Exact: true},
			records: []Record{rec(0, "scene.load"), rec(0, "drawn", a, Key{"rep", "full"}), rec(0, "warn"), rec(0, "lod.load", a, Key{"level", 1.0})},
			want:    "+ 0  lod.load tile=a level=1  not expected\n",
		},
		{
			name:    "forbidden",
			s:       Scenario{ExpectNone: []Expectation{{AnyT: true, Event: "tile.dispatch", Keys: []Key{b}, line: 7}, want(0, "tile.grace")}},
			records: []Record{rec(100, "tile.dispatch", a), rec(900, "tile.dispatch", b), rec(100, "tile.grace", a)},
			want:    "+ 0.9  tile.dispatch tile=b  line 7: must not happen\n",
		},
		{
			name:    "order of dispatches",
			s:       Scenario{Expect: []Expectation{want(0, "tile.dispatch", a), want(0, "tile.dispatch", b), want(0, "tile.grace", a), want(0, "tile.grace", b)}},
			records: []Record{rec(0, "tile.dispatch", b), rec(0, "tile.grace", b), rec(0, "tile.grace", a), rec(0, "tile.dispatch", a)},
			want:    "! 0  tile.dispatch tile=b  came before tile.dispatch tile=a\n",
		},
		{
			name: "numbers",
			s: Scenario{Expect: []Expectation{
				want(0, "tile.failed", a, Key{"retry_in", 5.0}, Key{"frame", 0.0}), want(100, "tile.failed", a, Key{"attempt", 2.0}),
			}},
			records: []Record{rec(0, "tile.failed", a, Key{"retry_in", 5.0000000001}), rec(100, "tile.failed", a, Key{"attempt", 3.0})},
			want:    "- 0.1  tile.failed tile=a attempt=2  missing\n",
		},
		{
			name:    "counters",
			s:       Scenario{ExpectStats: []StatExpectation{{T: 0, Counter: "loads", Value: 1}, {T: time.Second, Counter: "loads", Value: 2, line: 3}, {T: 9 * time.Second, Counter: "loads"}}},
			samples: []CounterSample{{0, "loads", 1}, {time.Second, "loads", 3}},
			want: "! 1  counter loads is 3, not 2  line 3\n" +
				"- 9  counter loads              the run has no frame at this time\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.s.DT = 100 * time.Millisecond
			if got := Diff(Check(&c.s, c.records, c.samples)); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

func TestRecordJSON(t *testing.T) {
	r := rec(300, "tile.failed", tileKey("a\"<b>\u2028"), Key{"attempt", 1.0}, Key{"retry_in", 2.5})
	got := string(r.AppendJSON(nil))
	want := `{"t":0.3,"frame":3,"event":"tile.failed","tile":"a\"<b>\u2028","attempt":1,"retry_in":2.5}`
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	long := Record{T: 123456789 * time.Second, Event: "warn"}
	if got := string(long.AppendJSON(nil)); !strings.HasPrefix(got, `{"t":123456789,`) {
		t.Errorf("got %s", got)
	}
}

func TestCondition(t *testing.T) {
	r := &Report{Undrawn: 2, UpdateMSP99: 0.5}
	for s, holds := range map[string]bool{
		"undrawn>0": true, "undrawn >= 2": true, " undrawn == 2 ": true, "undrawn<2": false, "undrawn<=1e0": false, "update_ms_p99>0.2": true,
	} {
		c, err := ParseCondition(s)
		if err != nil || c.Holds(r) != holds {
			t.Errorf("%s: %v, %v", s, c.Holds(r), err)
		}
	}
	for s, text := range map[string]string{
		"undrawn":       "has no comparison",
		"undrawn!=0":    "the comparisons are",
		"undrawn=0":     "the comparisons are",
		"undrwan>0":     `did you mean "undrawn"?`,
		"zzzzzzzzz>0":   "the figures are frames, update_ms_p50",
		"undrawn>many":  `"many" is no number`,
		"undrawn>":      "is no number",
		"undrawn > nan": "is no number",
	} {
		if _, err := ParseCondition(s); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", s, err)
		}
	}
	if c := (Condition{Key: "undrawn", Op: ">=", Value: 0.5}); c.String() != "undrawn>=0.5" {
		t.Error(c)
	}
}

// TestReportKeys: the keys are a contract.
func TestReportKeys(t *testing.T) {
	want := "frames update_ms_p50 update_ms_p99 update_ms_max bytes_requested bytes_loaded peak_geometry_bytes peak_texture_bytes " +
		"loads cancels failures retries timeouts evictions undrawn double_drawn uncovered uncovered_budget representation_changes_per_tile_minute " +
		"time_to_full_p50 time_to_full_p95 time_to_open time_to_picture time_to_8px over_8px stall_seconds mesh_loads mesh_unloads mesh_failures mesh_evictions lod_switches peak_cpu_bytes given_up geometry_reach_min limited_memory limited_triangles " +
		"error_px_p50 error_px_p99 error_px_max pyramid_nodes pyramid_bytes_peak pops view_triangles_p50 view_triangles_max " +
		"texture_loads texture_upgrades texture_downgrades texture_failures texture_sheds texture_refusals texture_bytes_loaded " +
		"texture_bytes_read peak_texture_reserved textures_minimum textures_medium textures_full textures_missing"
	if got := strings.Join(ReportKeys(), " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestQuantile(t *testing.T) {
	list := []float64{1, 2, 3, 4}
	for q, want := range map[float64]float64{0: 1, 0.25: 1, 0.5: 2, 0.51: 3, 0.99: 4, 1: 4} {
		if got := quantile(list, q); got != want {
			t.Errorf("%v: %v, want %v", q, got, want)
		}
	}
	if quantile(nil, 0.5) != 0 {
		t.Error("a quantile of nothing")
	}
}
