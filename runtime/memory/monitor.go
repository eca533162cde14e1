package memory

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// MonitorOptions configures a Monitor. The zero value watches the system.
type MonitorOptions struct {
	// Root is the folder that stands for "/"; empty means "/".
	Root string
	// Interval is how often the system is read; 0 means 1 s.
	Interval time.Duration
	// Clock is the clock of Interval and of all delays; nil means the system's.
	Clock Clock
}

// Monitor reports when the system wants memory back. Once per Interval it reads
// the free memory and the pressure stall information of the machine and of the
// control group (version 2):
//
//	                                  warning          critical
//	waiting for memory, of 10 s       some >= 7.5 %    full >= 10 %
//	free part of machine or group     < 10 %           < 5 %
//	control group                     reclaims, with   out of memory
//	                                  < 25 % free
//
// A warning that came by the free part stays until that is 15 %, a critical one
// until 7.5 %, those by waiting until that is half.
type Monitor struct {
	clock    Clock
	interval time.Duration
	report   func(PressureLevel)
	reader   *reader
	notes    []string
	judge    judge
	level    atomic.Uint32
	stop     chan struct{}
	once     sync.Once
	done     sync.WaitGroup
}

// Watch starts to watch and calls report on a goroutine of the Monitor:
// whenever the level rises, every 2 s while what raised it goes on, and once
// with PressureNone when there has been no sign for 10 s. report must
// not block and not call Close; Streamer.NotifyMemoryPressure is made for it. Where nothing
// can be watched no goroutine is started, and String says why.
func Watch(o MonitorOptions, report func(PressureLevel)) *Monitor {
	m := &Monitor{
		clock: clockOr(o.Clock), interval: o.Interval, report: report, reader: newReader(o.Root),
		stop: make(chan struct{}),
	}
	if m.interval <= 0 {
		m.interval = time.Second
	}
	s := m.reader.sample()
	stalls := m.reader.hasStalls()
	if s.known() {
		m.notes = append(m.notes, "polling free memory")
	}
	if stalls {
		m.notes = append(m.notes, "polling stalls")
	}
	if !s.known() && !stalls {
		m.notes = append(m.notes, "there is no /proc/meminfo, no control group with a limit and no /proc/pressure: memory pressure is not watched here")
		return m
	}
	m.done.Go(func() { m.run(stalls) })
	return m
}

func (m *Monitor) run(stalls bool) {
	for {
		s := m.reader.sample()
		if level, ok := m.judge.sample(m.clock.Now(), &s, stalls); ok {
			m.tell(level)
		}
		m.level.Store(uint32(m.judge.level))
		select {
		case <-m.stop:
			return
		case <-m.clock.After(m.interval):
		}
	}
}

// tell reports unless the Monitor is being closed.
func (m *Monitor) tell(level PressureLevel) {
	m.level.Store(uint32(m.judge.level))
	select {
	case <-m.stop:
	default:
		m.report(level)
	}
}

// Level returns the level now. It falls when there has been no sign of it for
// 10 s.
func (m *Monitor) Level() PressureLevel { return PressureLevel(m.level.Load()) }

// String says what is watched, and what is not and why, in one line.
func (m *Monitor) String() string { return strings.Join(m.notes, "; ") }

// Close ends watching; report is not called any more when it returns. It may be
// called more than once.
func (m *Monitor) Close() error {
	m.once.Do(func() { close(m.stop) })
	m.done.Wait()
	return nil
}
