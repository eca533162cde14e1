package runtime

import "time"

// device is the Device, the Visibility of its uploads, and how long its last
// calls took.
type device struct {
	Device
	visibility              Visibility // nil: as soon as they are uploaded
	clock                   Clock
	lastUpload, lastRelease time.Duration
}

// noteUpload notes how long uploads have taken since a time.
func (d *device) noteUpload(since time.Duration) { d.lastUpload = d.clock.Now() - since }

// noteRelease notes how long releases have taken since a time.
func (d *device) noteRelease(since time.Duration) { d.lastRelease = d.clock.Now() - since }
