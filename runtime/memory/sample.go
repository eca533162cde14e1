package memory

import (
	"os"
	"path"
	"strings"
)

// Sample is what the system says about memory, in bytes. Fields are 0 where it
// says nothing.
type Sample struct {
	Total     int64 // MemTotal
	Available int64 // MemAvailable: what programs can have without swapping
	Swap      int64 // SwapFree
	Own       int64 // resident memory of this process

	// Of the control group with the least room, this process's or one above it;
	// without a limit both are 0.
	Limit int64 // the smaller of its limits
	Used  int64 // without file pages that have not been used for long

	// Parts of the last ten seconds in which some, or all, tasks waited for
	// memory, in percent.
	Some, Full float64

	// Counters of the limited control groups: how often the kernel had to
	// reclaim memory to keep within the limit, and could not.
	Reclaims, Kills int64
}

// Room returns the bytes that this process could still take, 0 when unknown.
func (s *Sample) Room() int64 {
	room := s.Available
	if s.Limit > 0 && (s.Total == 0 || s.Limit-s.Used < room) {
		room = max(0, s.Limit-s.Used)
	}
	return room
}

// Share returns the free part of the memory, 0 to 1, of the machine or the
// control group, whichever has less; 1 when unknown.
func (s *Sample) Share() float64 {
	share := 1.0
	if s.Total > 0 {
		share = min(share, float64(s.Available)/float64(s.Total))
	}
	if s.Limit > 0 {
		share = min(share, float64(max(0, s.Limit-s.Used))/float64(s.Limit))
	}
	return share
}

// known reports whether anything was to be read.
func (s *Sample) known() bool { return s.Total > 0 || s.Limit > 0 }

// reader takes samples.
type reader struct {
	files  files
	groups []string // folders of control groups, the process's own first
	psi    []string // pressure files of which one is read
}

func newReader(root string) *reader {
	if root == "" {
		root = "/"
	}
	r := &reader{files: files(root)}
	r.groups = r.files.groups()
	if len(r.groups) > 0 {
		r.psi = append(r.psi, path.Join(r.groups[0], "memory.pressure"))
	}
	r.psi = append(r.psi, "/proc/pressure/memory")
	return r
}

// sample reads all files once; about 0.1 ms.
func (r *reader) sample() (s Sample) {
	text := r.files.read("/proc/meminfo")
	if v, ok := field(text, "MemTotal:"); ok && v < unlimited>>10 {
		s.Total = v << 10
	}
	if v, ok := field(text, "MemAvailable:"); ok && v < unlimited>>10 {
		s.Available = min(v<<10, s.Total)
	} else {
		s.Total = 0 // one without the other says nothing
	}
	if v, ok := field(text, "SwapFree:"); ok && v < unlimited>>10 {
		s.Swap = v << 10
	}
	if f := strings.Fields(r.files.read("/proc/self/statm")); len(f) > 1 {
		if v, ok := parseNumber(f[1]); ok && v < unlimited>>16 {
			s.Own = v * int64(os.Getpagesize())
		}
	}
	for _, g := range r.groups {
		limit, used, ok := r.files.limits(g)
		if !ok {
			continue
		}
		reclaims, kills := r.files.events(g)
		s.Reclaims, s.Kills = s.Reclaims+reclaims, s.Kills+kills
		if s.Limit == 0 || limit-used < s.Limit-s.Used {
			s.Limit, s.Used = limit, used
		}
	}
	for _, name := range r.psi {
		text := r.files.read(name)
		some, _ := avg10(text, "some")
		full, _ := avg10(text, "full")
		s.Some, s.Full = max(s.Some, some), max(s.Full, full)
	}
	return s
}

// hasStalls reports whether there is a pressure file to be read.
func (r *reader) hasStalls() bool {
	for _, name := range r.psi {
		if _, ok := avg10(r.files.read(name), "some"); ok {
			return true
		}
	}
	return false
}
