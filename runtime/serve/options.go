package serve

import (
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"time"

	"github.com/untoldkit/untold/internal/clock"
)

// Options change a Handler. The zero value serves faithfully.
type Options struct {
	// Latency passes before every response begins.
	Latency time.Duration
	// Bandwidth, in bytes per second, is shared evenly by all bodies under way;
	// 0 is unlimited. Headers do not count.
	Bandwidth float64
	// FailRate is the share of requests for files that fail, from 0 to 1.
	FailRate float64
	// FailWith are the faults to choose from; none: FaultStatus.
	FailWith []Fault
	// FailStatus is the status of FaultStatus, from 400 to 599; 0: 503.
	FailStatus int
	// RetryAfter, when set, is sent with FaultStatus, in whole seconds.
	RetryAfter time.Duration
	// Seed picks one of many choices of the requests that fail.
	Seed uint64
	// AllowOrigin is the origin whose pages may read the files, "*" for all; "":
	// no CORS headers are sent.
	AllowOrigin string
	// StallTimeout is how long a client may take to accept the next 256 KiB
	// before its connection ends; 0: 60 s.
	StallTimeout time.Duration
	// Log, when set, is called at the end of every response, by one goroutine at
	// a time.
	Log func(*Entry)
	// Page, when set, is what "/" shows: index.html, whose other files are below
	// .viewer/. It is read once. Page files are html, css, js, svg and gz.
	Page fs.FS
	// Clock is the time; nil: that of the machine.
	Clock Clock
}

const defaultStallTimeout = 60 * time.Second

// withDefaults fills zero fields in and refuses senseless ones.
func (o Options) withDefaults() (Options, error) {
	switch {
	case o.Latency < 0 || o.RetryAfter < 0 || o.StallTimeout < 0:
		return o, fmt.Errorf("serve: latency, retry-after and stall timeout must not be negative: %v, %v, %v", o.Latency, o.RetryAfter, o.StallTimeout)
	case !(o.Bandwidth >= 0) || math.IsInf(o.Bandwidth, 1) || o.Bandwidth > 0 && o.Bandwidth < 1:
		return o, fmt.Errorf("serve: the bandwidth is %v bytes per second; use 0 for no limit, or at least 1", o.Bandwidth)
	case !(o.FailRate >= 0 && o.FailRate <= 1):
		return o, fmt.Errorf("serve: the fail rate is %v; use 0 to 1", o.FailRate)
	case o.FailStatus != 0 && (o.FailStatus < 400 || o.FailStatus > 599):
		return o, fmt.Errorf("serve: the status of failures is %d; use 400 to 599", o.FailStatus)
	}
	for _, f := range o.FailWith {
		if _, err := ParseFaults(string(f)); err != nil {
			return o, err
		}
	}
	if len(o.FailWith) == 0 {
		o.FailWith = []Fault{FaultStatus}
	}
	if o.FailStatus == 0 {
		o.FailStatus = http.StatusServiceUnavailable
	}
	if o.StallTimeout == 0 {
		o.StallTimeout = defaultStallTimeout
	}
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	return o, nil
}

// Clock tells the time and waits: Now returns the time of day, and Sleep nil when a
// duration has passed, or the error of its context when that ends first. Its methods
// are called from many goroutines.
type Clock = clock.Clock
