package serve

import "net/http"

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
