package serve_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"github.com/untoldkit/untold/runtime/serve"
)

// Every second request for a file fails, on average; the seed says which.
func Example() {
	dir, err := os.MkdirTemp("", "scene-*")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "tile.untold"), []byte("bytes of a tile"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	h, err := serve.New(dir, serve.Options{FailRate: 0.5, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- serve.Serve(ctx, l, h, serve.ServerOptions{}) }()
	for range 4 {
		res, err := http.Get("http://" + l.Addr().String() + "/tile.untold")
		if err != nil {
			fmt.Println(err)
			break
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		fmt.Printf("%d %q\n", res.StatusCode, body)
	}
	http.DefaultClient.CloseIdleConnections()
	stop()
	fmt.Println(<-ended, h.Stats().Faults)
	// Output:
	// 200 "bytes of a tile"
	// 503 "an injected failure\n"
	// 200 "bytes of a tile"
	// 200 "bytes of a tile"
	// <nil> 1
}
