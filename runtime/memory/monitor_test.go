package memory

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// watch starts a monitor on a fake clock; reports arrive in the channel.
func watch(root string, o MonitorOptions) (*Monitor, *fakeClock, chan PressureLevel) {
	clock := newFakeClock()
	reports := make(chan PressureLevel, 16)
	o.Root, o.Clock = root, clock
	return Watch(o, func(l PressureLevel) { reports <- l }), clock, reports
}

// after lets d pass and returns what is reported by the reading then.
func after(t *testing.T, clock *fakeClock, d time.Duration, reports chan PressureLevel) string {
	t.Helper()
	clock.pass(d)
	ch := <-clock.waits // the reading is done
	defer func() { clock.waits <- ch }()
	select {
	case l := <-reports:
		return l.String()
	default:
		return ""
	}
}

func TestMonitorPolls(t *testing.T) {
	root := copyOf(t, "bare")
	m, clock, reports := watch(root, MonitorOptions{})
	defer m.Close()
	if want := "polling free memory; polling stalls"; m.String() != want {
		t.Errorf("%q", m)
	}
	for i, c := range []struct {
		free  float64
		some  float64
		wait  time.Duration
		want  string
		level PressureLevel
	}{
		{50, 0, time.Second, "", PressureNone},
		{9, 0, time.Second, "warning", PressureWarning},
		{4, 0, time.Second, "critical", PressureCritical},
		{50, 0, time.Second, "", PressureCritical},
		{50, 0, 9 * time.Second, "none", PressureNone},
		{50, 8, time.Second, "warning", PressureWarning},
	} {
		put(t, root, "/proc/meminfo", meminfo(int64(c.free*float64(16*gib)/100)))
		put(t, root, "/proc/pressure/memory", fmt.Sprintf("some avg10=%.2f avg60=0 total=0\nfull avg10=0.00\n", c.some))
		if got := after(t, clock, c.wait, reports); got != c.want || m.Level() != c.level {
			t.Errorf("step %d: %q, level %v, want %q, %v", i, got, m.Level(), c.want, c.level)
		}
	}
}

func TestMonitorOfAGroup(t *testing.T) {
	root := copyOf(t, "v2")
	m, clock, reports := watch(root, MonitorOptions{})
	defer m.Close()
	const dir = "/sys/fs/cgroup/app.slice/"
	for i, c := range []struct {
		used   int64
		events int
		want   string
	}{
		{500, 3, ""}, {800, 3, ""}, {900, 900, ""}, {1400, 901, "warning"}, {1650, 901, "critical"},
	} {
		put(t, root, dir+"memory.current", fmt.Sprint(c.used*mib))
		put(t, root, dir+"memory.events", fmt.Sprintf("high %d\nmax 1\n", c.events))
		if got := after(t, clock, 3*time.Second, reports); got != c.want {
			t.Errorf("step %d: %q, want %q (%+v)", i, got, c.want, m.reader.sample())
		}
	}
}

// TestMonitorOfNothing: elsewhere nothing is watched, and it says so.
func TestMonitorOfNothing(t *testing.T) {
	m := Watch(MonitorOptions{Root: filepath.Join("testdata", "absent")}, func(PressureLevel) { t.Error("report") })
	if !strings.Contains(m.String(), "memory pressure is not watched here") {
		t.Errorf("%s", m)
	}
	if m.Level() != PressureNone {
		t.Error(m.Level())
	}
	m.Close()
	m.Close()
}

// TestCloseEndsReports: even while one is being made.
func TestCloseEndsReports(t *testing.T) {
	root := copyOf(t, "bare")
	put(t, root, "/proc/meminfo", meminfo(0))
	inside, leave := make(chan bool), make(chan bool)
	m := Watch(MonitorOptions{Root: root, Clock: newFakeClock()}, func(PressureLevel) {
		inside <- true
		<-leave
	})
	<-inside
	closed := make(chan bool)
	go func() { m.Close(); close(closed) }()
	select {
	case <-closed:
		t.Error("Close did not wait for the report")
	default:
	}
	leave <- true
	<-closed
}
