package memory

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/untoldkit/untold/runtime"
)

// TestStallTriggers: what is written is what the kernel takes from a process
// without privileges.
func TestStallTriggers(t *testing.T) {
	root := copyOf(t, "v2")
	m, _, _ := watch(root, MonitorOptions{})
	defer m.Close()
	const want = "trigger on /sys/fs/cgroup/app.slice/viewer.service/memory.pressure; trigger on /proc/pressure/memory; polling free memory"
	if m.String() != want {
		t.Errorf("%s", m)
	}
	for _, name := range []string{"/proc/pressure/memory", "/sys/fs/cgroup/app.slice/viewer.service/memory.pressure"} {
		// Both triggers go to the same place of an ordinary file.
		if got := files(root).read(name); !strings.HasPrefix(got, criticalTrigger+"\x00") {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, text := range []string{warnTrigger, criticalTrigger} {
		var kind string
		var stall, window int
		if _, err := fmt.Sscan(text, &kind, &stall, &window); err != nil || window%2_000_000 != 0 || window > 10_000_000 || stall > window {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestRefusedTriggers: a pressure file that takes no trigger is polled, beside
// one that does.
func TestRefusedTriggers(t *testing.T) {
	root := copyOf(t, "v2")
	name := filepath.Join(root, "sys/fs/cgroup/app.slice/viewer.service/memory.pressure")
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(name, 0o755); err != nil { // cannot be opened for writing, even by root
		t.Fatal(err)
	}
	m, _, _ := watch(root, MonitorOptions{})
	defer m.Close()
	for _, want := range []string{"no trigger on /sys/fs/cgroup/app.slice/viewer.service/memory.pressure: is a directory", "trigger on /proc/pressure/memory", "polling stalls"} {
		if !strings.Contains(m.String(), want) {
			t.Errorf("%s", m)
		}
	}
}

// TestGroupTriggers plays the kernel: it writes to the event descriptors that
// the monitor has registered.
func TestGroupTriggers(t *testing.T) {
	root := copyOf(t, "v1")
	m, clock, reports := watch(root, MonitorOptions{})
	defer m.Close()
	const dir = "/sys/fs/cgroup/memory files/"
	if !strings.Contains(m.String(), "trigger on "+dir+"memory.pressure_level") {
		t.Fatalf("%s", m)
	}
	ch := <-clock.waits // the first reading is done
	events := map[string]int{}
	for line := range strings.Lines(files(root).read(dir + "cgroup.event_control")) {
		var event, file int
		var level string
		if _, err := fmt.Sscan(line, &event, &file, &level); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if got, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", file)); err != nil || filepath.Base(got) != "memory.pressure_level" {
			t.Errorf("descriptor %d is %s, %v", file, got, err)
		}
		events[level] = event
	}
	one := []byte{1, 1, 1, 1, 1, 1, 1, 1}
	for _, c := range []struct {
		name string
		want runtime.PressureLevel
	}{{"medium", runtime.PressureWarning}, {"critical", runtime.PressureCritical}} {
		if _, err := unix.Write(events[c.name], one); err != nil {
			t.Fatal(err)
		}
		if got := <-reports; got != c.want || m.Level() != c.want {
			t.Errorf("%s: %v, level %v", c.name, got, m.Level())
		}
	}
	clock.waits <- ch
}

// TestUrgentData: the event that stalls come by is POLLPRI; out-of-band data of
// a socket is the other thing that raises it.
func TestUrgentData(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[0])
	if err := unix.Sendto(pair[0], []byte{'!'}, unix.MSG_OOB, nil); err != nil {
		unix.Close(pair[1])
		t.Skip("this kernel has no out-of-band data on local sockets:", err)
	}
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	tr := &triggers{wake: wake, list: []trigger{{fd: pair[1], file: -1, events: unix.POLLPRI, level: runtime.PressureCritical}}}
	got := runtime.PressureNone
	tr.run(func(l runtime.PressureLevel) bool {
		got = l
		return false
	})
	tr.close()
	if got != runtime.PressureCritical {
		t.Error(got)
	}
}

// TestTriggersGoAway: a descriptor whose control group is removed reports an
// error, and is not asked again.
func TestTriggersGoAway(t *testing.T) {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	tr := &triggers{wake: wake, list: []trigger{{fd: pipe[0], file: -1, events: unix.POLLPRI, level: runtime.PressureCritical}}}
	unix.Close(pipe[1]) // hang-up
	done := make(chan bool)
	go func() {
		tr.run(func(runtime.PressureLevel) bool { t.Error("fired"); return false })
		close(done)
	}()
	tr.wakeUp()
	<-done
	tr.close()
}

// TestKernelTakesTheTriggers arms the real files where they are open to this
// process.
func TestKernelTakesTheTriggers(t *testing.T) {
	file, err := os.OpenFile("/proc/pressure/memory", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no /proc/pressure/memory to write to:", err)
	}
	file.Close()
	m := Watch(MonitorOptions{}, func(l runtime.PressureLevel) { t.Log("reported:", l) })
	defer m.Close()
	t.Log(m)
	switch refused := "no trigger on /proc/pressure/memory: "; {
	case strings.Contains(m.String(), refused+unix.EINVAL.Error()):
		t.Errorf("%s", m)
	case strings.Contains(m.String(), refused):
		t.Skip("this kernel takes no trigger from this process:", m)
	}
}
