package serve

import (
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// stallPiece is how much of a body a client has to accept within
// Options.StallTimeout.
const stallPiece = 256 << 10

// response passes a response on: it counts, keeps to the bandwidth, cuts bodies
// short and gives up on clients that do not read.
type response struct {
	http.ResponseWriter
	h       *Handler
	r       *http.Request
	control *http.ResponseController
	entry   Entry

	fault Fault // that this response still has to suffer
	limit int64 // bytes of the body that are sent; -1: all
	wrote bool  // the header

	length int64 // of a compressed body; 0: it is not compressed
}

// Unwrap is for http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader sends the header, or what a fault makes of it.
func (w *response) WriteHeader(status int) {
	if status < 200 {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	if w.wrote {
		return
	}
	if w.length > 0 && status == http.StatusOK {
		w.Header().Set("Content-Length", strconv.FormatInt(w.length, 10))
	}
	if w.fault != NoFault && !w.cut(status) {
		return
	}
	w.wrote = true
	w.entry.Status = status
	w.extend()
	w.ResponseWriter.WriteHeader(status)
	w.flush()
}

// flush sends what is buffered when there is a bandwidth: buffers would hold
// back what has had its time on the line.
func (w *response) flush() {
	if w.h.bucket != nil {
		_ = w.control.Flush()
	}
}

// cut prepares a fault. It reports whether the header is still to be sent.
func (w *response) cut(status int) bool {
	size, err := strconv.ParseInt(w.Header().Get("Content-Length"), 10, 64)
	bare := err != nil || size == 0 || w.r.Method == http.MethodHead || status == http.StatusNotModified
	switch {
	case bare && w.fault == FaultAbort:
		panic(http.ErrAbortHandler)
	case bare:
		w.failInjected()
		w.limit = 0 // what the caller writes afterwards is not for the client
		return false
	}
	w.limit = size / 2
	if w.fault == FaultTruncate {
		w.Header().Set("Content-Length", strconv.FormatInt(w.limit, 10))
	}
	return true
}

// extend gives the client time for the next piece.
func (w *response) extend() {
	// A writer without deadlines, such as a test's, has none to extend.
	_ = w.control.SetWriteDeadline(time.Now().Add(w.h.opts.StallTimeout))
}

// Write sends a part of the body.
func (w *response) Write(p []byte) (int, error) {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	if w.limit < 0 {
		return w.send(p)
	}
	left := max(0, w.limit-w.entry.Bytes)
	if int64(len(p)) <= left {
		return w.send(p)
	}
	if _, err := w.send(p[:left]); err != nil {
		return 0, err
	}
	if w.fault == FaultAbort {
		_ = w.control.Flush() // the half must leave before the connection ends
		panic(http.ErrAbortHandler)
	}
	return len(p), nil
}

// send passes bytes on, at the pace of the line.
func (w *response) send(p []byte) (n int, err error) {
	piece := stallPiece
	if w.h.bucket != nil {
		piece = w.h.bucket.piece()
	}
	for len(p) > 0 && err == nil {
		part := p[:min(len(p), piece)]
		if w.h.bucket != nil {
			err = w.h.bucket.take(w.r.Context(), len(part))
		}
		if err == nil {
			var k int
			w.extend()
			k, err = w.ResponseWriter.Write(part)
			n += k
			w.entry.Bytes += int64(k)
			p = p[len(part):]
			w.flush()
		}
	}
	if err != nil {
		w.entry.CutShort = true
	}
	return n, err
}

// buffers are for bodies that do not go straight from the file to the socket.
var buffers = sync.Pool{New: func() any { b := make([]byte, maxPiece); return &b }}

// ReadFrom sends a body. Without a limit or a fault the system copies it from
// the file to the socket.
func (w *response) ReadFrom(src io.Reader) (n int64, err error) {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	fast, ok := w.ResponseWriter.(io.ReaderFrom)
	if w.h.bucket != nil || w.limit >= 0 || !ok {
		buf := buffers.Get().(*[]byte)
		defer buffers.Put(buf)
		return io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{src}, *buf)
	}
	// The system's copy looks for a file behind one LimitedReader, not two.
	whole, ok := src.(*io.LimitedReader)
	if !ok {
		whole = &io.LimitedReader{R: src, N: 1<<63 - 1}
	}
	for whole.N > 0 {
		part := &io.LimitedReader{R: whole.R, N: min(whole.N, stallPiece)}
		want := part.N
		w.extend()
		k, err := fast.ReadFrom(part)
		n += k
		whole.N -= k
		w.entry.Bytes += k
		if err != nil {
			w.entry.CutShort = true
			return n, err
		}
		if k < want {
			return n, nil // the end of src
		}
	}
	return n, nil
}

// methods are those that the server answers.
const methods = "GET, HEAD, OPTIONS"

// allow sets the headers by which a browser lets pages of other origins read
// the files: that of Options.AllowOrigin. A request to ask first (a preflight)
// gets the same ones: they grant all that the server understands.
func (h *Handler) allow(head http.Header) {
	origin := h.opts.AllowOrigin
	if origin == "" {
		return
	}
	head.Set("Access-Control-Allow-Origin", origin)
	head.Set("Access-Control-Allow-Methods", methods)
	head.Set("Access-Control-Allow-Headers", "Range, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, If-Range, Cache-Control")
	head.Set("Access-Control-Expose-Headers", "ETag, Last-Modified, Accept-Ranges, Content-Range, Content-Length, Retry-After")
	head.Set("Access-Control-Max-Age", "86400")
	// For pages that are isolated from other origins, as shared memory needs.
	head.Set("Cross-Origin-Resource-Policy", "cross-origin")
	head.Set("Timing-Allow-Origin", origin)
	if origin != "*" {
		head.Add("Vary", "Origin")
	}
}
