package serve

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// outcomes asks n times for each file and notes the statuses by file.
func outcomes(t *testing.T, h http.Handler, order []string, n int) map[string]string {
	t.Helper()
	got := map[string]string{}
	for range n {
		for _, name := range order {
			got[name] += fmt.Sprint(ask(t, h, "GET", "/"+name).StatusCode) + " "
		}
	}
	return got
}

// TestFaultsDoNotDependOnOrder: the same requests for a file fail, whatever
// comes between them.
func TestFaultsDoNotDependOnOrder(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("tiles/%d.untold", i)] = digits
	}
	dir := folder(t, files)
	names := slices.Sorted(maps.Keys(files))
	o := Options{FailRate: 0.3, Seed: 7}
	want := outcomes(t, handler(t, dir, o), names, 10)
	slices.Reverse(names)
	if got := outcomes(t, handler(t, dir, o), names, 10); !maps.Equal(got, want) {
		t.Errorf("%v\n%v", got, want)
	}
	failed := strings.Count(strings.Join(slices.Collect(maps.Values(want)), ""), "503")
	if failed < 60 || failed > 120 {
		t.Errorf("%d of 300 fail, want some 90", failed)
	}
	o.Seed = 8
	if got := outcomes(t, handler(t, dir, o), names, 10); maps.Equal(got, want) {
		t.Error("another seed makes the same choice")
	}
	// The first choices of seed 0 at 5 %, so that a change does not go unnoticed.
	f := &faults{rate: 0.05, kinds: Faults(), count: map[string]uint64{}}
	var got []string
	for i := range 200 {
		if k := f.choose("city.json", ""); k != NoFault {
			got = append(got, fmt.Sprint(i, " ", k))
		}
	}
	if text := strings.Join(got, ", "); text != firstFaults {
		t.Errorf("now %s", text)
	}
}

const firstFaults = "23 abort, 38 status, 40 abort, 49 truncate, 74 status, 94 status, 105 abort, 111 truncate, 122 status, 140 abort, " +
	"160 abort, 161 abort, 168 truncate, 181 truncate, 187 abort"

// TestFailRate holds the rate for any seed and rate.
func TestFailRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0, 1).Draw(t, "rate")
		f := &faults{rate: rate, kinds: Faults(), seed: rapid.Uint64().Draw(t, "seed"), count: map[string]uint64{}}
		const n = 4000
		count := map[Fault]int{}
		for i := range n {
			count[f.choose(fmt.Sprint(i%40), "")]++
		}
		deviation := 6 * math.Sqrt(n*rate*(1-rate)) // six sigma
		if got := float64(n - count[NoFault]); math.Abs(got-n*rate) > deviation+1 {
			t.Errorf("%v of %d fail at a rate of %v", got, n, rate)
		}
		for _, k := range Faults() {
			if got, want := float64(count[k]), n*rate/3; math.Abs(got-want) > 6*math.Sqrt(want)+1 {
				t.Errorf("%v times %s, want some %v", got, k, want)
			}
		}
	})
	f := &faults{rate: 1, kinds: Faults(), count: map[string]uint64{}}
	for i := range 2 * maxCounted {
		if f.choose(fmt.Sprint(i), "") == NoFault || len(f.count) > maxCounted {
			t.Fatal(i, len(f.count))
		}
	}
}

// TestFaultKeysAreShort: what a client sends as a range is not kept, and the
// choice is made by all of it.
func TestFaultKeysAreShort(t *testing.T) {
	f := &faults{rate: 0.5, kinds: Faults(), count: map[string]uint64{}}
	long := strings.Repeat("0-1,", 1<<14)
	seen := map[Fault]bool{}
	for i := range 64 {
		seen[f.choose("a.untold", fmt.Sprint("bytes=", long, i))] = true
	}
	if len(seen) < 2 || len(f.count) != 64 {
		t.Errorf("%v, %d counters", seen, len(f.count))
	}
	for key := range f.count {
		if len(key) > maxKey {
			t.Fatalf("a key of %d bytes", len(key))
		}
	}
}

func TestFailStatus(t *testing.T) {
	dir := folder(t, map[string]string{"a.untold": digits})
	h := handler(t, dir, Options{FailRate: 1, RetryAfter: 1500 * time.Millisecond})
	r := ask(t, h, "GET", "/a.untold")
	if r.StatusCode != 503 || r.Header.Get("Retry-After") != "2" || r.Header.Get("ETag") != "" || r.body != "an injected failure\n" {
		t.Errorf("%d %v %q", r.StatusCode, r.Header, r.body)
	}
	if r := ask(t, h, "GET", "/none"); r.StatusCode != 404 {
		t.Errorf("a missing file: %d", r.StatusCode)
	}
	if r := ask(t, h, "GET", "/"); r.StatusCode != 200 {
		t.Errorf("the index: %d", r.StatusCode)
	}
	if r := ask(t, handler(t, dir, Options{FailRate: 1, FailStatus: 404}), "HEAD", "/a.untold"); r.StatusCode != 404 || r.body != "" {
		t.Errorf("%d %q", r.StatusCode, r.body)
	}
	if s := h.Stats(); s.Faults != 1 || s.NotFound != 1 || s.Requests != 3 {
		t.Errorf("%+v", s)
	}
}

// TestCutBodies: over HTTP/1.1 and HTTP/2 an abort is an error for the client,
// a truncation is a sound response.
func TestCutBodies(t *testing.T) {
	text := strings.Repeat(digits, 20_000)
	dir := folder(t, map[string]string{"a.untold": text})
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		for _, c := range []struct {
			fault   Fault
			headers []string
			size    int // of the body that comes
			status  int
		}{
			{FaultTruncate, nil, len(text) / 2, 200},
			{FaultTruncate, []string{"Range: bytes=100-1099"}, 500, 206},
			{FaultAbort, nil, len(text) / 2, 200},
			{FaultAbort, []string{"Range: bytes=100-1099"}, 500, 206},
		} {
			var log Entry
			h := handler(t, dir, Options{FailRate: 1, FailWith: []Fault{c.fault}, Log: func(e *Entry) { log = *e }})
			s := startTLS(h, proto)
			r, err := fetch(t, s.Client(), s.URL+"/a.untold", c.headers...)
			if (err != nil) != (c.fault == FaultAbort) {
				t.Errorf("%s %s %v: %v", proto, c.fault, c.headers, err)
			}
			if r.Response == nil || r.StatusCode != c.status || len(r.body) != c.size || r.Proto != proto {
				t.Errorf("%s %s %v: %v, %d bytes", proto, c.fault, c.headers, r.Response, len(r.body))
			}
			s.Client().CloseIdleConnections()
			s.Close() // waits for the handler
			if log.Fault != c.fault || log.Bytes != int64(c.size) || log.Status != c.status {
				t.Errorf("%s: %+v", c.fault, log)
			}
		}
	}
}

// TestCutWithoutBody: what has no body cannot be cut short.
func TestCutWithoutBody(t *testing.T) {
	dir := folder(t, map[string]string{"a.untold": digits, "empty": ""})
	tag := ask(t, handler(t, dir, Options{}), "HEAD", "/a.untold").Header.Get("ETag")
	truncate := handler(t, dir, Options{FailRate: 1, FailWith: []Fault{FaultTruncate}})
	for _, r := range []answer{
		ask(t, truncate, "HEAD", "/a.untold"),
		ask(t, truncate, "GET", "/a.untold", "If-None-Match: "+tag),
		ask(t, truncate, "GET", "/empty"),
		ask(t, truncate, "GET", "/a.untold", "Range: bytes=50-60"),
	} {
		if r.StatusCode != 503 {
			t.Errorf("%d %v", r.StatusCode, r.Header)
		}
	}
	s := start(t, handler(t, dir, Options{FailRate: 1, FailWith: []Fault{FaultAbort}}))
	for _, header := range []string{"If-None-Match: " + tag, "Range: bytes=50-60"} {
		if r, err := fetch(t, s.Client(), s.URL+"/a.untold", header); !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v %v", header, r, err)
		}
	}
}

func TestParseFaults(t *testing.T) {
	if list, err := ParseFaults(" abort,status,abort"); err != nil || !slices.Equal(list, []Fault{FaultAbort, FaultStatus}) {
		t.Error(list, err)
	}
	for _, text := range []string{"", "fire", "status,", "status abort"} {
		if _, err := ParseFaults(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
