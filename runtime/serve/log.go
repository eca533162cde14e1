package serve

import (
	"net/http"
	"time"
)

// Entry describes a response, for the request log. It is a line of the JSON log.
type Entry struct {
	Time     time.Time `json:"time"` // of the request
	Remote   string    `json:"remote"`
	Proto    string    `json:"proto"`
	Method   string    `json:"method"`
	Path     string    `json:"path"`                // with the query, escaped as it came
	Range    string    `json:"range,omitempty"`     // the Range header
	Status   int       `json:"status"`              // 0: none was sent
	Bytes    int64     `json:"bytes"`               // of the body
	Millis   float64   `json:"ms"`                  // from the request to the end of the response
	Fault    Fault     `json:"fault,omitempty"`     // injected
	CutShort bool      `json:"cut_short,omitempty"` // the client went away, or stopped reading
	Reason   string    `json:"reason,omitempty"`    // why a file is not served, for the operator
}

// Conditional reports whether the client's copy was still good.
func (e *Entry) Conditional() bool { return e.Status == http.StatusNotModified }

// Stats counts the responses of a Handler.
type Stats struct {
	Requests    int64 `json:"requests"`
	Bytes       int64 `json:"bytes"` // of bodies
	NotModified int64 `json:"not_modified"`
	Partial     int64 `json:"partial"`   // byte ranges
	NotFound    int64 `json:"not_found"` // hidden and outside ones included
	Faults      int64 `json:"faults"`    // injected
	CutShort    int64 `json:"cut_short"` // given up by clients
}

// count adds a response.
func (s *Stats) count(e *Entry) {
	s.Requests++
	s.Bytes += e.Bytes
	switch {
	case e.Fault != NoFault:
		s.Faults++
	case e.Status == http.StatusNotModified:
		s.NotModified++
	case e.Status == http.StatusPartialContent:
		s.Partial++
	case e.Status == http.StatusNotFound:
		s.NotFound++
	}
	if e.CutShort {
		s.CutShort++
	}
}
