package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/runtime/remote/internal/diskcache"
	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
)

// hurried is a clock whose pauses are over at once and whose timeouts never
// are.
type hurried struct{}

func (hurried) Now() time.Time { return time.Now() }

func (hurried) AfterFunc(d time.Duration, f func()) func() bool {
	if d > 10*time.Second {
		return func() bool { return true }
	}
	go f()
	return func() bool { return false }
}

// Many callers, many addresses, a fifth of the requests fail in some way: no
// wrong byte, one download an address, never two at a time, and the counters
// agree with what the server has seen.
func TestStress(t *testing.T) {
	const goroutines, addresses = 64, 500
	requests := 10_000
	switch {
	case testing.Short():
		requests = 200
	case race.Enabled:
		requests = 1000
	}
	bodies := make([][]byte, addresses)
	for i := range bodies {
		bodies[i] = bytes.Repeat(fmt.Appendf(nil, "file %d;", i), 1+i%300)
	}
	var sent, complete [addresses]atomic.Int64
	var open [addresses]atomic.Int64
	var overlap, faults atomic.Int64
	server := roundTripper(func(req *http.Request) (*http.Response, error) {
		var i int
		fmt.Sscanf(req.URL.Path, "/tiles/%d.untold", &i)
		sent[i].Add(1)
		if open[i].Add(1) > 1 {
			overlap.Add(1)
		}
		defer open[i].Add(-1)
		resp := reply(req, 200, http.Header{"Etag": {remotetest.ETagOf(bodies[i])}}, bodies[i])
		if rand.IntN(5) > 0 {
			complete[i].Add(1)
			return resp, nil
		}
		faults.Add(1)
		switch rand.IntN(5) {
		case 0:
			return nil, errors.New("connection reset")
		case 1:
			return reply(req, 503, nil, nil), nil
		case 2: // cut off
			resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(bodies[i][:len(bodies[i])/2]), failing{io.ErrUnexpectedEOF}))
		case 3: // the bytes of somebody else
			resp.Body = io.NopCloser(bytes.NewReader(bytes.ToUpper(bodies[i])))
		case 4: // another length
			return reply(req, 200, nil, bodies[i][1:]), nil
		}
		return resp, nil
	})
	f, err := New(Options{
		CacheDir: filepath.Join(t.TempDir(), "cache"), Transport: server, Clock: hurried{}, NoSync: true, HostRequests: 16,
	})
	if err != nil {
		t.Fatal(err)
	}
	wants := make([]Expected, addresses)
	for i := range wants {
		wants[i] = Expected{int64(len(bodies[i])), remotetest.HashOf(bodies[i])}
	}
	var group sync.WaitGroup
	var failures, good atomic.Int64
	for g := range goroutines {
		group.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 1))
			var buf []byte
			for range requests {
				i := rng.IntN(addresses)
				file, err := f.Local(context.Background(), address(i), wants[i])
				if err != nil {
					if !errors.Is(err, ErrMismatch) && !errors.Is(err, ErrStatus) && !errors.Is(err, io.ErrUnexpectedEOF) && !bytes.Contains([]byte(err.Error()), []byte("reset")) {
						t.Error(err)
					}
					failures.Add(1)
					continue
				}
				good.Add(1)
				if rng.IntN(8) > 0 {
					continue
				}
				if buf, err = readInto(buf, file); err != nil || !bytes.Equal(buf, bodies[i]) {
					t.Errorf("%d: wrong bytes, %v", i, err)
				}
			}
		})
	}
	group.Wait()
	total := int64(0)
	for i := range addresses {
		total += sent[i].Load()
		// After the download has succeeded nobody asks again.
		if n := complete[i].Load(); n > 1 || n == 0 && requests >= 500 {
			t.Errorf("%d was downloaded %d times", i, n)
		}
	}
	m := f.Metrics()
	if overlap.Load() != 0 {
		t.Errorf("%d times two requests for one address were open", overlap.Load())
	}
	if m.Requests != total || m.FailedAttempts != faults.Load() || m.Active != 0 || m.MaxActive > 16 {
		t.Errorf("%d requests, %d faults; counted: %+v", total, faults.Load(), m)
	}
	if m.Requests != m.CacheMisses+m.Retries {
		t.Errorf("requests %d, misses %d, retries %d", m.Requests, m.CacheMisses, m.Retries)
	}
	if got := m.CacheHits + m.CacheMisses + m.Joined; got != good.Load()+failures.Load() {
		t.Errorf("%d hits, %d misses and %d joined are not %d calls", m.CacheHits, m.CacheMisses, m.Joined, good.Load()+failures.Load())
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("%d calls, %d requests, %d faults, %d joined, %d failures", good.Load()+failures.Load(), total, faults.Load(), m.Joined, failures.Load())
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func readInto(buf []byte, file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return buf, err
	}
	defer f.Close()
	b := bytes.NewBuffer(buf[:0])
	_, err = b.ReadFrom(f)
	return b.Bytes(), err
}

// The same with a budget that is always too small: files come and go while they
// are read. What can be opened is whole.
func TestStressWithEviction(t *testing.T) {
	const addresses = 50
	requests := 200
	if testing.Short() {
		requests = 30
	}
	server := roundTripper(func(req *http.Request) (*http.Response, error) {
		var i int
		fmt.Sscanf(req.URL.Path, "/tiles/%d.untold", &i)
		return reply(req, 200, nil, remotetest.Sealed(i, 0, 1000*i)), nil
	})
	clock := &racing{}
	f, err := New(Options{CacheDir: filepath.Join(t.TempDir(), "cache"), CacheBudget: 200_000, Transport: server, Clock: clock, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	var gone atomic.Int64
	for g := range 16 {
		group.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 2))
			for range requests {
				i := rng.IntN(addresses)
				file, err := f.Local(context.Background(), address(i), Expected{})
				if err != nil {
					t.Error(err)
					return
				}
				body, err := os.ReadFile(file)
				if errors.Is(err, os.ErrNotExist) {
					gone.Add(1) // a reader asks again
				} else if err != nil || !remotetest.Unbroken(body, i) {
					t.Errorf("%d: %v", i, err)
				}
			}
		})
	}
	group.Wait()
	s := f.Cache().Stat()
	bad, err := f.Cache().Verify(context.Background(), true)
	if err != nil || len(bad) != 0 || s.Bytes > 200_000 || s.Evictions == 0 {
		t.Errorf("%v, %v, %+v", bad, err, s)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("%d evictions, %d of %d files gone before they were opened", s.Evictions, gone.Load(), 16*requests)
}

// racing is a clock on which every pin has run out at the next look.
type racing struct {
	hurried
	n atomic.Int64
}

func (c *racing) Now() time.Time { return time.Unix(c.n.Add(2*int64(diskcache.PinFor.Seconds())), 0) }
