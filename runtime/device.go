package runtime

import "time"

// device is the Device, what says when its uploads can be drawn, and how long
// the last calls of it took.
type device struct {
	Device
	visibility              Visibility // nil: as soon as they are uploaded
	clock                   Clock
	lastUpload, lastRelease time.Duration
}

// noteUpload notes how long uploads have taken that began at a time.
func (d *device) noteUpload(since time.Duration) { d.lastUpload = d.clock.Now() - since }

// noteRelease notes the same of releases.
func (d *device) noteRelease(since time.Duration) { d.lastRelease = d.clock.Now() - since }
