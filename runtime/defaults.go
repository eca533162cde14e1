package runtime

import (
	"time"

	"github.com/untoldkit/untold/runtime/payload"
)

// systemClock is the default Clock; nothing else in this package reads the
// time.
type systemClock struct{ start time.Time }

func newSystemClock() systemClock { return systemClock{time.Now()} }

func (c systemClock) Now() time.Duration { return time.Since(c.start) }

// NullDevice takes every representation and shows none: for headless use.
type NullDevice struct{}

// Upload releases the asset at once.
func (NullDevice) Upload(_ payload.Key, asset *payload.Asset) error {
	asset.Release()
	return nil
}

// Release does nothing.
func (NullDevice) Release(payload.Key) {}
