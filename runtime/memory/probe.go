package memory

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// What a Probe grants.
const (
	Share     = 0.4       // of the memory that is to be had
	MinBudget = 512 << 20 // bytes
	MaxBudget = 3 << 30
)

// ProbeOptions configures a Probe. The zero value reads the system.
type ProbeOptions struct {
	// Root is the folder that stands for "/"; empty means "/".
	Root string
	// Interval is how often the system is read; 0 means 5 s. When negative it is
	// read once, and there is no goroutine.
	Interval time.Duration
	// Clock is the clock of Interval; nil means the system's.
	Clock Clock
	// GPU returns the bytes of graphics memory that this program can have, 0
	// when it cannot tell. It is called off the owner goroutine: a hook for
	// OpenGL returns what was asked in its own thread. Nil, or 0, means that
	// graphics memory is main memory.
	GPU func() int64
	// Fixed holds budgets that are decided already, in bytes: fields above 0 are
	// reported as they are.
	Fixed Memory
	// Used returns the bytes of geometry and textures on the device that are not
	// the Streamer's, static batches for one. It is called once per tick and
	// must not do I/O. Nil means none.
	Used func() (geometry, textures int64)
}

// Probe is a runtime.MemoryProbe: it grants 40 % of what can be had, within
// [512 MiB, 3 GiB], split 60/40 between geometry and textures. What can be had
// is the graphics memory, or else the room that the machine and the control
// groups leave, plus what the process uses already, so that a budget does not
// shrink because it is used. A budget moves only when the probed one differs
// by an eighth or more.
type Probe struct {
	options ProbeOptions
	clock   Clock
	reader  *reader
	last    atomic.Pointer[probed]
	stop    chan struct{}
	once    sync.Once
	done    sync.WaitGroup
}

// probed is one reading.
type probed struct {
	sample Sample
	gpu    int64
	grant  int64 // what the budgets are made of
	budget Memory
}

// NewProbe reads the system once and goes on in the background until Close.
func NewProbe(o ProbeOptions) *Probe {
	p := &Probe{options: o, clock: clockOr(o.Clock), reader: newReader(o.Root), stop: make(chan struct{})}
	p.read()
	if o.Interval >= 0 {
		if o.Interval == 0 {
			p.options.Interval = 5 * time.Second
		}
		p.done.Go(p.run)
	}
	return p
}

func (p *Probe) run() {
	for {
		select {
		case <-p.stop:
			return
		case <-p.clock.After(p.options.Interval):
			p.read()
		}
	}
}

// Close ends the readings. Memory goes on returning the last one. It may be
// called more than once.
func (p *Probe) Close() error {
	p.once.Do(func() { close(p.stop) })
	p.done.Wait()
	return nil
}

// Memory returns the budgets as of the last reading; it does no I/O.
func (p *Probe) Memory() Memory {
	m := p.last.Load().budget
	if p.options.Used != nil {
		m.GeometryUsed, m.TextureUsed = p.options.Used()
	}
	return m
}

// Sample returns the last reading.
func (p *Probe) Sample() Sample { return p.last.Load().sample }

// String says what the budgets are made of, in one line.
func (p *Probe) String() string {
	const mib = 1 << 20
	l := p.last.Load()
	from := "nothing is known about the memory here"
	s := &l.sample
	switch {
	case l.gpu > 0:
		from = fmt.Sprintf("%d MiB of graphics memory", l.gpu/mib)
	case s.Limit > 0 && (s.Total == 0 || s.Limit-s.Used < s.Available):
		from = fmt.Sprintf("the control group leaves %d of %d MiB, %d are used here", s.Room()/mib, s.Limit/mib, s.Own/mib)
	case s.Total > 0:
		from = fmt.Sprintf("%d of %d MiB are available, %d are used here", s.Available/mib, s.Total/mib, s.Own/mib)
	}
	return fmt.Sprintf("geometry %d MiB, textures %d MiB: %s", l.budget.GeometryBudget/mib, l.budget.TextureBudget/mib, from)
}

// read takes a reading and publishes it.
func (p *Probe) read() {
	next := &probed{sample: p.reader.sample()}
	had := next.sample.Room()
	if had > 0 || next.sample.known() {
		had += next.sample.Own
	}
	if p.options.GPU != nil {
		if next.gpu = max(0, p.options.GPU()); next.gpu > 0 {
			had = next.gpu
		}
	}
	next.grant = grantOf(had)
	if old := p.last.Load(); old != nil {
		if diff := max(next.grant-old.grant, old.grant-next.grant); diff < old.grant/8 {
			next.grant = old.grant
		}
	}
	next.budget = split(next.grant, p.options.Fixed)
	p.last.Store(next)
}

// grantOf returns the budget of so much memory, in whole MiB.
func grantOf(had int64) int64 {
	grant := int64(float64(max(0, had)) * Share)
	return max(MinBudget, min(MaxBudget, grant)) &^ (1<<20 - 1)
}

// split divides a budget as config.Config.SetMemoryBudget does. Budgets that are fixed
// take no part.
func split(grant int64, fixed Memory) Memory {
	m := Memory{GeometryBudget: grant / 5 * 3}
	m.TextureBudget = grant - m.GeometryBudget
	if fixed.GeometryBudget > 0 {
		m.GeometryBudget = fixed.GeometryBudget
	}
	if fixed.TextureBudget > 0 {
		m.TextureBudget = fixed.TextureBudget
	}
	return m
}
