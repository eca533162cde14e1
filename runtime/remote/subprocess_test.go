package remote

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
)

// subprocess is what this test binary does when started by a test.
func subprocess(task string) {
	what, rest, _ := strings.Cut(task, " ")
	var err error
	switch what {
	case "fetch":
		dir, base, _ := strings.Cut(rest, " ")
		err = fetchAll(dir, base)
	default:
		err = fmt.Errorf("unknown task %q", task)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func start(t *testing.T, task string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "UNTOLD_REMOTE_TASK="+task)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

const sharedFiles = 40

// fetchAll brings all files twice through a shared folder.
func fetchAll(dir, base string) error {
	f, err := New(Options{CacheDir: dir, NoSync: true})
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(uint64(os.Getpid()), 1))
	for range 2 {
		var group sync.WaitGroup
		fail := make(chan error, sharedFiles)
		for _, i := range rng.Perm(sharedFiles) {
			group.Go(func() {
				want := remotetest.Sealed(i, 0, 10_000)
				file, err := f.Local(context.Background(), fmt.Sprintf("%s/%d.untold", base, i), Expected{int64(len(want)), remotetest.HashOf(want)})
				if err == nil {
					var body []byte
					if body, err = os.ReadFile(file); err == nil && !bytes.Equal(body, want) {
						err = fmt.Errorf("file %d is broken", i)
					}
				}
				if err != nil {
					fail <- err
				}
			})
		}
		group.Wait()
		select {
		case err := <-fail:
			return err
		default:
		}
	}
	if m := f.Metrics(); m.CacheHits < sharedFiles {
		return fmt.Errorf("%+v", m)
	}
	return f.Close()
}

// Three processes share one folder: each file is whole in all of them.
func TestProcessesShareAFolder(t *testing.T) {
	var mu sync.Mutex
	count := map[string]int{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		count[r.URL.Path]++
		mu.Unlock()
		var i int
		fmt.Sscanf(r.URL.Path, "/%d.untold", &i)
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(remotetest.Sealed(i, 0, 10_000)))
	}))
	defer srv.Close()
	dir := t.TempDir()
	var list []*exec.Cmd
	for range 3 {
		cmd, out := start(t, "fetch "+dir+" "+srv.URL)
		go io.Copy(io.Discard, readerFunc(func([]byte) (int, error) {
			for out.Scan() {
			}
			return 0, io.EOF
		}))
		list = append(list, cmd)
	}
	for _, cmd := range list {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	mu.Lock() // a process that ended orders nothing between the handlers' goroutines and this one
	defer mu.Unlock()
	if len(count) != sharedFiles {
		t.Errorf("%d files were asked for", len(count))
	}
	for path, n := range count {
		if n > 3 {
			t.Errorf("%s was asked for %d times", path, n)
		}
	}
	c, err := OpenCache(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if bad, err := c.Verify(t.Context(), true); err != nil || len(bad) != 0 || c.Stat().Files != sharedFiles {
		t.Errorf("%v, %v, %+v", bad, err, c.Stat())
	}
}
