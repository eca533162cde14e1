package main

import "github.com/untoldkit/untold/runtime/memory"

// memoryAt returns the bytes of main memory that a cook may count on, by the
// system files below root: what the machine or a control group leaves free,
// with the swap space of a machine. It is 0 where nothing is known.
func memoryAt(root string) int64 {
	p := memory.NewProbe(memory.ProbeOptions{Root: root, Interval: -1})
	defer p.Close()
	s := p.Sample()
	room := s.Room()
	if room == s.Available && room > 0 {
		room += s.Swap
	}
	return room
}
