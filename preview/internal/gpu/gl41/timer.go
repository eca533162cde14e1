//go:build cgo && !nopreview

package gl41

import (
	"time"

	"github.com/go-gl/gl/v4.1-core/gl"

	"github.com/untoldkit/untold/preview/internal/gpu"
)

// timer measures the GPU's time of a frame. Software renderers do their work
// later than the query ends, so they are not asked.
type timer struct {
	on      bool
	queries [gpu.InFlight]uint32
	asked   [gpu.InFlight]bool
	now     int // place of the frame that is measured
	last    time.Duration
}

func (t *timer) init(on bool) {
	if t.on = on; on {
		gl.GenQueries(gpu.InFlight, &t.queries[0])
	}
}

// BeginTimer reads the result of the frame that used the same query, which is
// there already, and starts the next one.
func (d *Device) BeginTimer(at int) time.Duration {
	t := &d.timer
	if !t.on {
		return 0
	}
	if t.asked[at] {
		var ns uint64
		gl.GetQueryObjectui64v(t.queries[at], gl.QUERY_RESULT, &ns)
		t.last = time.Duration(ns)
	}
	gl.BeginQuery(gl.TIME_ELAPSED, t.queries[at])
	t.now = at
	return t.last
}

// EndTimer ends the query.
func (d *Device) EndTimer() {
	if t := &d.timer; t.on {
		gl.EndQuery(gl.TIME_ELAPSED)
		t.asked[t.now] = true
	}
}

func (t *timer) close() {
	if t.on {
		gl.DeleteQueries(gpu.InFlight, &t.queries[0])
	}
}
