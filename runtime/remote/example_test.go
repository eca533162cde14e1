package remote_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/runtime/remote"
)

// A manifest is asked for at every open; what has not changed is not sent again.
func ExampleFetcher_OpenManifest() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "city.json", time.Time{}, bytes.NewReader([]byte(`{"version": 3}`)))
	}))
	defer server.Close()
	dir, err := os.MkdirTemp("", "untold-*")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	f, err := remote.New(remote.Options{CacheDir: dir})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	for range 2 {
		m, err := f.OpenManifest(context.Background(), server.URL+"/city/city.json")
		if err != nil {
			fmt.Println(err)
			return
		}
		text, _ := os.ReadFile(m.File)
		fmt.Println(string(text), "changed:", m.Changed, "payloads below the folder of the address:", m.Base == server.URL+"/city/")
	}
	s := f.Metrics()
	fmt.Println(s.Requests, "requests,", s.NotModified, "not modified")
	// Output:
	// {"version": 3} changed: true payloads below the folder of the address: true
	// {"version": 3} changed: false payloads below the folder of the address: true
	// 2 requests, 1 not modified
}

// The records of a remote container are read without its geometry.
func ExampleFetcher_OpenRange() {
	tile, err := format.NewBuilder(format.FileTile).File().Encode(format.WriteOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "tile.untold", time.Time{}, bytes.NewReader(tile))
	}))
	defer server.Close()
	dir, err := os.MkdirTemp("", "untold-*")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	f, err := remote.New(remote.Options{CacheDir: dir})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	file, err := f.OpenRange(context.Background(), server.URL+"/tile.untold", remote.Expected{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	r, err := format.NewReader(file, file.Size())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Header().FileType, "in", file.Stats().Requests, "request")
	// Output: tile in 1 request
}
