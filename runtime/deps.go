package runtime

import (
	"log/slog"
	"time"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

// Deps holds what a Streamer uses of the world. Nil fields get the defaults.
type Deps struct {
	Clock       Clock           // default: the monotonic clock of the system
	Loader      payload.Loader  // default: NewFileLoader(0); a MeshCache stands in front of it, see config.MemoryLimits
	Fetcher     payload.Fetcher // default: none, payloads lie beside the manifest
	Device      Device          // default: NullDevice
	Visibility  Visibility      // default: drawable as soon as uploaded
	Packer      Packer          // default: none, geometry takes on the Device what it does in files
	MemoryProbe MemoryProbe     // default: the system's memory when Config has no budgets
	Prewarmer   Prewarmer       // default: none, textures are the Device's business
	Textures    TextureRelief   // default: none, texture memory is never asked for
	// Background runs what takes time beside the frames and is no Loader's or
	// Fetcher's work: a manifest is read again. It is called on the owner
	// goroutine and must return at once. What the task brings counts from the
	// Update on that begins after its end. Default: a goroutine for each, which
	// Close waits for; tasks of another one end soon when the Streamer has been
	// closed.
	Background func(task func())
	Logger     *slog.Logger // default: silent
}

// Clock tells the time.
type Clock interface {
	// Now returns the time since an arbitrary but fixed origin. It never goes
	// back.
	Now() time.Duration
}

// systemClock is the default Clock; nothing else in this package reads the
// time.
type systemClock struct{ start time.Time }

func (c systemClock) Now() time.Duration { return time.Since(c.start) }

// Device holds the uploaded buffers. Its methods are called on the owner
// goroutine and must not block: a device that needs time queues the work and
// says through Visibility when the representation can be drawn.
type Device interface {
	// Upload takes over a decoded representation; the device calls
	// asset.Release when it has copied the buffers. asset may be nil if the
	// Loader gave none. An error counts as a failed load, and the Streamer
	// releases the asset.
	Upload(key payload.Key, asset *payload.Asset) error
	// Release frees an uploaded representation.
	Release(key payload.Key)
}

// Visibility says when an uploaded representation can be drawn.
type Visibility interface {
	// Drawable reports whether a representation that was uploaded can be drawn
	// from this frame on. Once true it stays true until the Release.
	Drawable(key payload.Key) bool
}

// Packer says what geometry takes on a Device that stores it in fewer bytes than files do:
// budgets count that. Its methods are called on the owner goroutine.
type Packer interface {
	// Estimate returns about how many bytes on the Device become of bytes of vertices and
	// indices in files. It counts for what was not loaded yet.
	Estimate(bytes int64) int64
	// Packed returns how many bytes a representation takes that was uploaded, of which the
	// Loader told how many it takes in its file.
	Packed(key payload.Key, bytes int64) int64
}

// MemoryProbe tells budgets and the use that does not come from this Streamer.
type MemoryProbe interface {
	// Memory is called once per tick, on the owner goroutine, and must not do
	// I/O.
	Memory() memory.Memory
}

// fixedMemory is a MemoryProbe of constant budgets and no outside use.
type fixedMemory memory.Memory

// Memory returns the budgets.
func (m fixedMemory) Memory() memory.Memory { return memory.Memory(m) }

// systemMemory probes the machine once. Budgets that the configuration names are
// left to it.
func systemMemory(cfg *config.Config) MemoryProbe {
	m := memory.NewProbe(memory.ProbeOptions{Interval: -1}).Memory()
	if cfg.GeometryBudget > 0 {
		m.GeometryBudget = 0
	}
	if cfg.TextureBudget > 0 {
		m.TextureBudget = 0
	}
	return fixedMemory(m)
}
