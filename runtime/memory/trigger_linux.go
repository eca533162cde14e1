package memory

import (
	"errors"
	"fmt"
	"path"

	"golang.org/x/sys/unix"

	"github.com/untoldkit/untold/runtime"
)

// Triggers of pressure stall information. Without CAP_SYS_RESOURCE the kernel
// takes only windows that are multiples of 2 s.
const (
	warnTrigger     = "some 150000 2000000"
	criticalTrigger = "full 200000 2000000"
)

// trigger is a file descriptor that poll(2) reports when memory is short.
type trigger struct {
	fd     int
	file   int // that the trigger depends on, -1: fd alone
	events int16
	level  runtime.PressureLevel
}

// triggers are all triggers of a Monitor and what ends the wait for them.
type triggers struct {
	list   []trigger
	stalls bool // there is a trigger on every pressure file that there is
	wake   int  // eventfd
}

// openTriggers arms what the kernel allows. It returns nil without a single
// trigger, and notes that say what is armed and what is not.
func openTriggers(r *reader) (*triggers, []string) {
	t := &triggers{}
	var notes []string
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, []string{fmt.Sprintf("no triggers: eventfd: %v", err)}
	}
	t.wake = wake
	armed, refused := 0, 0
	for _, name := range r.psi {
		if err := t.addStalls(r.files.path(name)); err != nil {
			if !errors.Is(err, unix.ENOENT) {
				refused++
			}
			notes = append(notes, fmt.Sprintf("no trigger on %s: %v", name, err))
		} else {
			armed++
			notes = append(notes, "trigger on "+name)
		}
	}
	t.stalls = armed > 0 && refused == 0
	for _, g := range r.groups {
		if g.version != 1 {
			continue
		}
		if err := t.addLevels(r.files.path(g.dir)); err != nil {
			notes = append(notes, fmt.Sprintf("no trigger on %s: %v", path.Join(g.dir, "memory.pressure_level"), err))
		} else {
			notes = append(notes, "trigger on "+path.Join(g.dir, "memory.pressure_level"))
		}
		break
	}
	if len(t.list) == 0 {
		t.close()
		return nil, notes
	}
	return t, notes
}

// addStalls arms both triggers of a pressure file.
func (t *triggers) addStalls(name string) error {
	for _, x := range []trigger{{level: runtime.PressureWarning}, {level: runtime.PressureCritical}} {
		fd, err := openFile(name, unix.O_RDWR|unix.O_NONBLOCK)
		if err != nil {
			return err
		}
		text := warnTrigger
		if x.level == runtime.PressureCritical {
			text = criticalTrigger
		}
		if _, err := retry(func() (int, error) { return unix.Write(fd, append([]byte(text), 0)) }); err != nil {
			unix.Close(fd)
			return err
		}
		x.fd, x.file, x.events = fd, -1, unix.POLLPRI
		t.list = append(t.list, x)
	}
	return nil
}

// addLevels registers for the pressure levels of a control group of version 1.
func (t *triggers) addLevels(dir string) error {
	for _, x := range []struct {
		name  string
		level runtime.PressureLevel
	}{{"medium", runtime.PressureWarning}, {"critical", runtime.PressureCritical}} {
		if err := t.addLevel(dir, x.name, x.level); err != nil {
			return err
		}
	}
	return nil
}

func (t *triggers) addLevel(dir, name string, level runtime.PressureLevel) error {
	file, err := openFile(path.Join(dir, "memory.pressure_level"), unix.O_RDONLY)
	if err != nil {
		return err
	}
	control, err := openFile(path.Join(dir, "cgroup.event_control"), unix.O_WRONLY|unix.O_APPEND)
	if err != nil {
		unix.Close(file)
		return err
	}
	defer unix.Close(control)
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err == nil {
		_, err = retry(func() (int, error) {
			return unix.Write(control, fmt.Appendf(nil, "%d %d %s\n", fd, file, name))
		})
		if err != nil {
			unix.Close(fd)
		}
	}
	if err != nil {
		unix.Close(file)
		return err
	}
	t.list = append(t.list, trigger{fd: fd, file: file, events: unix.POLLIN, level: level})
	return nil
}

// run waits until wakeUp, or until fire says no, and calls fire with the level
// of what goes off.
func (t *triggers) run(fire func(runtime.PressureLevel) bool) {
	fds := make([]unix.PollFd, 0, len(t.list)+1)
	for {
		fds = append(fds[:0], unix.PollFd{Fd: int32(t.wake), Events: unix.POLLIN})
		for i := range t.list {
			fds = append(fds, unix.PollFd{Fd: int32(t.list[i].fd), Events: t.list[i].events})
		}
		if _, err := retry(func() (int, error) { return unix.Poll(fds, -1) }); err != nil {
			return
		}
		if fds[0].Revents != 0 {
			return
		}
		worst := runtime.PressureNone
		for i := len(t.list) - 1; i >= 0; i-- {
			got := fds[i+1].Revents
			if got&(unix.POLLERR|unix.POLLNVAL|unix.POLLHUP) != 0 { // the control group is gone
				t.drop(i)
			} else if got&t.list[i].events != 0 {
				worst = max(worst, t.list[i].level)
				t.list[i].clear()
			}
		}
		if worst != runtime.PressureNone && !fire(worst) {
			return
		}
	}
}

// clear takes back what an eventfd counts; those of stalls clear themselves.
func (x *trigger) clear() {
	if x.events == unix.POLLIN {
		var count [8]byte
		_, _ = retry(func() (int, error) { return unix.Read(x.fd, count[:]) })
	}
}

// wakeUp ends run.
func (t *triggers) wakeUp() {
	one := [8]byte{1, 1, 1, 1, 1, 1, 1, 1} // not 0 in either byte order
	_, _ = retry(func() (int, error) { return unix.Write(t.wake, one[:]) })
}

func (t *triggers) drop(i int) {
	x := t.list[i]
	unix.Close(x.fd)
	if x.file >= 0 {
		unix.Close(x.file)
	}
	t.list = append(t.list[:i], t.list[i+1:]...)
}

// close disarms the triggers; run must have ended.
func (t *triggers) close() {
	for len(t.list) > 0 {
		t.drop(len(t.list) - 1)
	}
	unix.Close(t.wake)
}

func openFile(name string, flags int) (int, error) {
	return retry(func() (int, error) { return unix.Open(name, flags|unix.O_CLOEXEC, 0) })
}

// retry repeats a call that a signal has interrupted.
func retry(f func() (int, error)) (int, error) {
	for {
		n, err := f()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
