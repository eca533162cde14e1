package main

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"

	"github.com/untoldkit/untold/runtime/memory"
)

// memoryAt returns the bytes of main memory that a cook may count on, by the
// system files below root: what the machine or a control group leaves free,
// with the swap space of a machine, or what its limit of address space leaves. It is 0 where nothing is known.
func memoryAt(root string) int64 {
	p := memory.NewProbe(memory.ProbeOptions{Root: root, Interval: -1})
	defer p.Close()
	s := p.Sample()
	room := s.Room()
	if room == s.Available && room > 0 {
		room += s.Swap
	}
	if space := addressSpace(root); space < room || room == 0 && space < math.MaxInt64 {
		room = space
	}
	return room
}

// collectWithin has the garbage collector keep what is in use and garbage within
// room bytes of memory, 0 for any. Without it garbage takes a part of what is in use
// on top of that, and a cook that fits is ended by the system. Below that, garbage may
// take a part of what is in use, and at least a part of the room: a cook that streams a
// scene has little in use and makes much garbage, and would collect all the time. GOGC
// and GOMEMLIMIT win. The result undoes it.
func collectWithin(room int64) (undo func()) {
	limit := int64(-1) // no other
	if room > 0 && os.Getenv("GOMEMLIMIT") == "" {
		limit = room - max(room/restShare, min(programFile+room/32, room/2))
	}
	old := debug.SetMemoryLimit(limit)
	if os.Getenv("GOGC") != "" {
		return func() { debug.SetMemoryLimit(old) }
	}
	least := int64(mostGarbage)
	if room > 0 {
		least = min(least, room/4)
	}
	p := &pacer{least: least}
	percent := debug.SetGCPercent(leastGC)
	p.watch()
	return func() {
		p.end()
		debug.SetMemoryLimit(old)
		debug.SetGCPercent(percent)
	}
}

const (
	// restShare is the part of the memory that is for stacks, files and what else is no
	// garbage.
	restShare = 10
	// programFile is how much of the program's own file is in memory, which the collector does
	// not see, in bytes.
	programFile = 32 << 20
	// leastGC is how much garbage, in percent of what is in use, may be before it is
	// collected.
	leastGC = 50
	// mostGarbage is how much, in bytes, is never worth collecting where there is room.
	mostGarbage = 512 << 20
)

// pacer sets after every collection how much garbage may be until the next one.
type pacer struct {
	least int64

	mu    sync.Mutex
	now   int
	ended bool
}

// watch has pace called when the garbage of now is collected.
func (p *pacer) watch() {
	type mark struct{ _ [16]byte }
	runtime.SetFinalizer(&mark{}, func(*mark) { p.pace() })
}

func (p *pacer) pace() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	percent := p.percent(live[0].Value.Uint64())
	if d := percent - p.now; p.now == 0 || d > p.now/8 || -d > p.now/8 {
		p.now = percent
		debug.SetGCPercent(percent)
	}
	p.watch()
}

// percent is how much garbage may be beside so many bytes in use.
func (p *pacer) percent(live uint64) int {
	return int(min(max(100*float64(p.least)/float64(max(live, 1)), leastGC), 2000))
}

func (p *pacer) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
}
