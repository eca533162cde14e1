package main

import (
	"math"
	"os"
	"runtime/debug"

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
// on top of that, and a cook that fits is ended by the system. GOMEMLIMIT wins. The
// result undoes it.
func collectWithin(room int64) (undo func()) {
	if room <= 0 || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	const rest = 10 // one part in so many is for stacks, files and what else is no garbage
	old := debug.SetMemoryLimit(room - room/rest)
	return func() { debug.SetMemoryLimit(old) }
}
