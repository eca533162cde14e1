package serve

import (
	"errors"
	"io/fs"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/untoldkit/untold/internal/mediatype"
	"github.com/untoldkit/untold/manifest/scenelist"
)

// Handler serves the files of a folder. It is safe for concurrent use.
type Handler struct {
	opts   Options
	tree   *tree
	tags   *tags
	packs  packs
	faults *faults
	bucket *bucket // nil without a limit
	page   *page   // nil: "/" lists the scenes

	search chan struct{}    // held by the one search for scenes at a time
	known  map[string]known // by path; belongs to that search
	parsed int              // files read for it

	mu    sync.Mutex
	stats Stats
}

// New returns a handler for the files below a folder.
func New(dir string, opts Options) (*Handler, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	t, err := newTree(dir)
	if err != nil {
		return nil, err
	}
	var p *page
	if opts.Page != nil {
		if p, err = readPage(opts.Page); err != nil {
			return nil, err
		}
	}
	h := &Handler{
		page: p, packs: packs{known: map[string]*pack{}},
		opts: opts, tree: t, tags: &tags{clock: opts.Clock, known: map[string]*tag{}},
		search: make(chan struct{}, 1), known: map[string]known{},
		faults: &faults{rate: opts.FailRate, kinds: opts.FailWith, seed: opts.Seed, count: map[string]uint64{}},
	}
	if opts.Bandwidth > 0 {
		h.bucket = newBucket(opts.Bandwidth, opts.Clock)
	}
	return h, nil
}

// Stats returns the counters.
func (h *Handler) Stats() Stats {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stats
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &response{ResponseWriter: w, h: h, r: r, control: http.NewResponseController(w), limit: -1}
	start := h.opts.Clock.Now()
	x.entry = Entry{Time: start, Remote: r.RemoteAddr, Proto: r.Proto, Method: r.Method, Path: r.URL.RequestURI(), Range: r.Header.Get("Range")}
	// An abort is a panic for net/http, which passes here.
	defer func() { h.record(x, start) }()
	h.answer(x, r)
}

// record logs and counts a response that is over.
func (h *Handler) record(x *response, start time.Time) {
	e := &x.entry
	e.Millis = math.Round(float64(h.opts.Clock.Now().Sub(start))/1e3) / 1e3
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stats.count(e)
	if h.opts.Log != nil {
		h.opts.Log(e)
	}
}

func (h *Handler) answer(w *response, r *http.Request) {
	h.allow(w.Header())
	// No byte of the file may change on the way, and every use asks whether it
	// is still the same.
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if r.ContentLength != 0 {
		// Nobody reads the body; a slow one must not keep the connection.
		w.Header().Set("Connection", "close")
		_ = w.control.SetReadDeadline(time.Now().Add(time.Second))
		w.fail(http.StatusBadRequest, "requests have no body")
		return
	}
	if h.opts.Latency > 0 && h.opts.Clock.Sleep(r.Context(), h.opts.Latency) != nil {
		w.entry.CutShort = true
		return
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		w.Header().Set("Allow", methods)
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		w.Header().Set("Allow", methods)
		w.fail(http.StatusMethodNotAllowed, "use GET or HEAD")
		return
	}
	if r.URL.Path == "/" {
		w.Header().Add("Vary", "Accept")
		if wantsList(r) {
			h.list(w, r)
			return
		}
	}
	if name, ok := h.ofPage(r.URL.Path); ok {
		h.pageFile(w, r, name)
		return
	}
	if r.URL.Path == "/" {
		h.index(w, r)
		return
	}
	h.file(w, r, strings.TrimPrefix(r.URL.Path, "/"))
}

// file sends a file, or the fault that has its turn.
func (h *Handler) file(w *response, r *http.Request, name string) {
	f, st, err := h.tree.open(name)
	if scenelist.Is(name) && errors.Is(err, fs.ErrNotExist) {
		h.list(w, r)
		return
	}
	if err != nil {
		w.refuse(err)
		return
	}
	defer f.Close()
	w.fault = h.faults.choose(name, r.Header.Get("Range"))
	w.entry.Fault = w.fault
	if w.fault == FaultStatus {
		w.failInjected()
		return
	}
	tag, err := h.tags.of(r.Context(), name, f, st)
	switch {
	case r.Context().Err() != nil:
		w.entry.CutShort = true
		return
	case err != nil:
		w.unreadable(err)
		return
	}
	if tag != "" {
		w.Header().Set("ETag", tag)
	}
	kind := mediatype.Of(name)
	w.Header().Set("Content-Type", kind)
	if tag != "" && packable(kind, st.Size()) {
		w.Header().Add("Vary", "Accept-Encoding")
		// Half of a file is what a fault leaves, not half of a compressed one.
		if w.fault == NoFault && wantsPacked(r) {
			data, err := h.packs.of(r.Context(), tag, f)
			switch {
			case r.Context().Err() != nil:
				w.entry.CutShort = true
				return
			case err != nil:
				w.unreadable(err)
				return
			case data != nil:
				w.sendPacked(r, tag, st.ModTime(), data)
				return
			}
		}
	}
	settleRange(r, st.Size())
	http.ServeContent(w, r, "", st.ModTime(), f)
}

// refuse answers a request for a file that cannot be opened. What the client
// learns does not tell a hidden file from none.
func (w *response) refuse(err error) {
	if errors.Is(err, fs.ErrPermission) {
		w.entry.Reason = err.Error()
		w.fail(http.StatusForbidden, "the server may not read this file")
		return
	}
	// Besides files that are not there: a file in the place of a folder, a name
	// that is too long, a link to the outside that was put there at this moment.
	if !errors.Is(err, fs.ErrNotExist) {
		w.entry.Reason = err.Error()
	}
	w.fail(http.StatusNotFound, "there is no such file")
}

// unreadable answers a request for a file that was opened and cannot be read.
func (w *response) unreadable(err error) {
	w.entry.Reason = err.Error()
	w.fail(http.StatusInternalServerError, "the file cannot be read")
}

// failInjected answers with the status of injected failures.
func (w *response) failInjected() {
	if after := w.h.opts.RetryAfter; after > 0 {
		w.Header().Set("Retry-After", strconv.FormatFloat(math.Ceil(after.Seconds()), 'f', 0, 64))
	}
	w.fault = NoFault // the answer itself is sound
	w.fail(w.h.opts.FailStatus, "an injected failure")
}

// fail answers with a status and a sentence.
func (w *response) fail(status int, text string) {
	head := w.Header()
	for _, name := range []string{"ETag", "Last-Modified", "Accept-Ranges", "Content-Range", "Content-Encoding"} {
		head.Del(name)
	}
	body := text + "\n"
	head.Set("Content-Type", "text/plain; charset=utf-8")
	head.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if w.r.Method != http.MethodHead {
		_, _ = w.Write([]byte(body))
	}
}
