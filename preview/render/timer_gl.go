//go:build cgo && !nopreview

package render

import (
	"time"

	"github.com/go-gl/gl/v4.1-core/gl"
)

// timer measures the GPU's time of a frame. Software renderers do their work
// later than the query ends, so they are not asked.
type timer struct {
	on      bool
	queries [inFlight]uint32
	asked   [inFlight]bool
	last    time.Duration
}

func (t *timer) init(on bool) {
	if t.on = on; on {
		gl.GenQueries(inFlight, &t.queries[0])
	}
}

// begin reads the result of the frame that used the same query, which is there
// already, and starts the next one.
func (t *timer) begin(at int) {
	if !t.on {
		return
	}
	if t.asked[at] {
		var ns uint64
		gl.GetQueryObjectui64v(t.queries[at], gl.QUERY_RESULT, &ns)
		t.last = time.Duration(ns)
	}
	gl.BeginQuery(gl.TIME_ELAPSED, t.queries[at])
}

func (t *timer) end(at int) {
	if t.on {
		gl.EndQuery(gl.TIME_ELAPSED)
		t.asked[at] = true
	}
}

func (t *timer) close() {
	if t.on {
		gl.DeleteQueries(inFlight, &t.queries[0])
	}
}
