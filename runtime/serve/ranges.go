package serve

import (
	"fmt"
	"net/http"
	"strings"
)

// settleRange rewrites a request's Range header where net/http reads it in
// another way than RFC 9110 does: ranges are for GET alone, units that are not
// bytes are ignored and their case is of no matter, numbers have no sign, and the
// last 0 bytes are no bytes, which cannot be sent.
func settleRange(r *http.Request, size int64) {
	list := r.Header.Values("Range")
	if len(list) == 0 {
		return
	}
	unit, set, ok := strings.Cut(list[0], "=")
	if r.Method != http.MethodGet || ok && !strings.EqualFold(unit, "bytes") {
		r.Header.Del("Range")
		return
	}
	if !ok {
		return
	}
	if strings.Contains(set, "+") {
		set = "?" // numbers have no sign
	}
	var kept []string
	empty := false
	for part := range strings.SplitSeq(set, ",") {
		if n, suffix := strings.CutPrefix(strings.TrimSpace(part), "-"); suffix && n != "" && strings.Trim(n, "0") == "" {
			empty = true
			continue
		}
		kept = append(kept, part)
	}
	if empty && strings.TrimSpace(strings.Join(kept, "")) == "" {
		kept = []string{fmt.Sprintf("%d-", size)} // what begins behind the end cannot be sent either
	}
	r.Header.Set("Range", "bytes="+strings.Join(kept, ","))
}
