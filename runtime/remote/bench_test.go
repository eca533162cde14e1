package remote

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/internal/hostqueue"
	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
)

func address(i int) string { return fmt.Sprintf("https://h/tiles/%d.untold", i) }

// BenchmarkCachedOpen compares opening a file through a warm cache with opening
// it by its path. overhead-us is what the cache adds.
func BenchmarkCachedOpen(b *testing.B) {
	r := newRig(b, func(o *Options) { o.Clock = SystemClock{} })
	const n = 1000
	var urls, paths [n]string
	want := make([]Expected, n)
	for i := range n {
		body := remotetest.Sealed(i, 0, 1000)
		urls[i], want[i] = address(i), Expected{int64(len(body)), remotetest.HashOf(body)}
		r.origin.put(urls[i], body)
		file, err := r.Local(context.Background(), urls[i], want[i])
		if err != nil {
			b.Fatal(err)
		}
		paths[i] = file
	}
	open := func(path string) {
		f, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
	var plain, cached time.Duration
	for i := 0; b.Loop(); i++ {
		begin := time.Now()
		open(paths[i%n])
		middle := time.Now()
		file, err := r.Local(context.Background(), urls[i%n], want[i%n])
		if err != nil {
			b.Fatal(err)
		}
		open(file)
		plain += middle.Sub(begin)
		cached += time.Since(middle)
	}
	b.ReportMetric(float64(plain.Nanoseconds())/1e3/float64(b.N), "plain-us")
	b.ReportMetric(float64((cached-plain).Nanoseconds())/1e3/float64(b.N), "overhead-us")
}

// benchTiles is how many tiles of 1 MB one round downloads.
const benchTiles = 100

// BenchmarkDownload brings tiles of 1 MB over loopback, 6 at a time: with a bare
// client that writes files and does nothing else, with the Fetcher, and with the
// Fetcher and fsync. x-base is the speed relative to the bare client in the same
// run.
func BenchmarkDownload(b *testing.B) {
	dir := b.TempDir()
	want := make([]Expected, benchTiles)
	for i := range want {
		body := remotetest.Sealed(i, 0, 1_000_000-40)
		want[i] = Expected{int64(len(body)), remotetest.HashOf(body)}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.untold", i)), body, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	srv := httptest.NewServer(http.FileServer(http.Dir(dir)))
	b.Cleanup(srv.Close)
	for _, noSync := range []bool{true, false} {
		b.Run(map[bool]string{true: "nosync", false: "fsync"}[noSync], func(b *testing.B) {
			var bare, fetched time.Duration
			for b.Loop() {
				bare += downloadBare(b, srv.URL)
				fetched += downloadFetched(b, srv.URL, want, noSync)
			}
			mb := float64(b.N * benchTiles)
			b.ReportMetric(mb/bare.Seconds(), "bare-MB/s")
			b.ReportMetric(mb/fetched.Seconds(), "MB/s")
			b.ReportMetric(bare.Seconds()/fetched.Seconds(), "x-base")
		})
	}
}

// sixAtATime calls f for every tile and returns how long it took.
func sixAtATime(f func(i int)) time.Duration {
	begin := time.Now()
	var group sync.WaitGroup
	next := make(chan int)
	for range hostqueue.DefaultRequests {
		group.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range benchTiles {
		next <- i
	}
	close(next)
	group.Wait()
	return time.Since(begin)
}

func downloadBare(b *testing.B, base string) time.Duration {
	dir := b.TempDir()
	defer os.RemoveAll(dir)
	transport := newTransport(hostqueue.DefaultRequests)
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	return sixAtATime(func(i int) {
		resp, err := client.Get(fmt.Sprintf("%s/%d.untold", base, i))
		if err != nil {
			b.Error(err)
			return
		}
		defer resp.Body.Close()
		f, err := os.Create(filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			b.Error(err)
			return
		}
		defer f.Close()
		if _, err := io.Copy(f, resp.Body); err != nil {
			b.Error(err)
		}
	})
}

func downloadFetched(b *testing.B, base string, want []Expected, noSync bool) time.Duration {
	dir := b.TempDir()
	defer os.RemoveAll(dir)
	f, err := New(Options{CacheDir: dir, NoSync: noSync})
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	return sixAtATime(func(i int) {
		if _, err := f.Local(context.Background(), fmt.Sprintf("%s/%d.untold", base, i), want[i]); err != nil {
			b.Error(err)
		}
	})
}
