package memory

import (
	"time"
)

// When memory is short. Stalls are shares of time in percent, as in
// /proc/pressure; room is the free part of the machine or the control group. A
// signal that is there stays until the value is past its second bound.
const (
	warnStall, warnStallEnd         = 7.5, 3.75
	criticalStall, criticalStallEnd = 10, 5
	warnRoom, warnRoomEnd           = 0.10, 0.15
	criticalRoom, criticalRoomEnd   = 0.05, 0.075
	// reclaimRoom is the room below which reclaiming in the control group is a
	// sign of pressure: reading many files makes the kernel reclaim as well.
	reclaimRoom = 0.25
)

// Times of a Monitor.
const (
	// holdTime is how long a level stays after its last signal.
	holdTime = 10 * time.Second
	// repeatTime is how often a signal that goes on is reported: every report
	// makes the Streamer evict once more.
	repeatTime = 2 * time.Second
)

// judge turns samples into levels.
type judge struct {
	warnStalled, criticalStalled bool
	warnTight, criticalTight     bool
	seen                         bool // there was a sample
	reclaims, kills              int64

	gauge    PressureLevel // what the last sample says
	level    PressureLevel // reported, and not over yet
	signalAt [PressureCritical + 1]time.Duration
	told     PressureLevel
	toldAt   time.Duration
}

// latch turns on at or above enter and off below leave.
func latch(on bool, v, enter, leave float64) bool { return v >= enter || on && v >= leave }

// sample judges a sample, at time now. stalls says whether there is a pressure
// file.
func (j *judge) sample(now time.Duration, s *Sample, stalls bool) (tell PressureLevel, ok bool) {
	j.warnStalled = stalls && latch(j.warnStalled, s.Some, warnStall, warnStallEnd)
	j.criticalStalled = stalls && latch(j.criticalStalled, s.Full, criticalStall, criticalStallEnd)
	share := s.Share()
	j.warnTight = latch(j.warnTight, -share, -warnRoom, -warnRoomEnd)
	j.criticalTight = latch(j.criticalTight, -share, -criticalRoom, -criticalRoomEnd)
	killed := j.seen && s.Kills > j.kills
	reclaimed := j.seen && s.Reclaims > j.reclaims && share < reclaimRoom
	j.seen, j.reclaims, j.kills = true, s.Reclaims, s.Kills

	j.gauge = PressureNone
	switch {
	case j.criticalStalled, j.criticalTight:
		j.gauge = PressureCritical
	case j.warnStalled, j.warnTight:
		j.gauge = PressureWarning
	}
	signal := j.gauge
	switch {
	case killed:
		signal = PressureCritical
	case reclaimed:
		signal = max(signal, PressureWarning)
	}
	return j.signal(now, signal)
}

// signal takes the signal of a sample and says whether to report, and what.
func (j *judge) signal(now time.Duration, signal PressureLevel) (tell PressureLevel, ok bool) {
	for l := PressureWarning; l <= signal; l++ {
		j.signalAt[l] = now
	}
	was := j.level
	j.level = max(j.level, signal)
	for j.level > signal && now-j.signalAt[j.level] >= holdTime {
		j.level--
	}
	switch {
	case j.level == PressureNone && was != PressureNone:
		j.told = PressureNone
		return PressureNone, true
	case signal == PressureNone:
		return 0, false
	case signal <= j.told && now-j.toldAt < repeatTime:
		return 0, false
	}
	j.told, j.toldAt = signal, now
	return signal, true
}
