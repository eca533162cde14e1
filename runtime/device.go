package runtime

import (
	"time"

	"github.com/untoldkit/untold/runtime/payload"
)

// device is the Device, the Visibility of its uploads, and how long its last
// calls took.
type device struct {
	Device
	visibility              Visibility // nil: as soon as they are uploaded
	packer                  Packer     // nil: geometry takes what it does in files
	clock                   Clock
	lastUpload, lastRelease time.Duration
}

// estimate returns what geometry of so many bytes in files may take.
func (d *device) estimate(bytes int64) int64 {
	if d == nil || d.packer == nil {
		return bytes
	}
	return max(0, d.packer.Estimate(bytes))
}

// packed returns what a representation takes that was uploaded.
func (d *device) packed(key payload.Key, bytes int64) int64 {
	if d == nil || d.packer == nil {
		return bytes
	}
	return max(0, d.packer.Packed(key, bytes))
}

// noteUpload notes how long uploads have taken since a time.
func (d *device) noteUpload(since time.Duration) { d.lastUpload = d.clock.Now() - since }

// noteRelease notes how long releases have taken since a time.
func (d *device) noteRelease(since time.Duration) { d.lastRelease = d.clock.Now() - since }

// NullDevice takes every representation and shows none: for headless use.
type NullDevice struct{}

// Upload releases the asset at once.
func (NullDevice) Upload(_ payload.Key, asset *payload.Asset) error {
	asset.Release()
	return nil
}

// Release does nothing.
func (NullDevice) Release(payload.Key) {}
