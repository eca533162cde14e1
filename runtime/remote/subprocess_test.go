package remote

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// subprocess is what this test binary does when started by a test.
func subprocess(task string) {
	what, rest, _ := strings.Cut(task, " ")
	var err error
	switch what {
	case "write":
		err = writeForever(rest)
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

// sealed is a body that carries its own hash, so that any half or mixed file
// shows.
func sealed(i, version, size int) []byte {
	body := make([]byte, sha256.Size+8+size)
	binary.LittleEndian.PutUint32(body[sha256.Size:], uint32(i))
	binary.LittleEndian.PutUint32(body[sha256.Size+4:], uint32(version))
	for k := range size {
		body[sha256.Size+8+k] = byte(k * (version + 1))
	}
	sum := sha256.Sum256(body[sha256.Size:])
	copy(body, sum[:])
	return body
}

func unbroken(body []byte, i int) bool {
	if len(body) < sha256.Size+8 || binary.LittleEndian.Uint32(body[sha256.Size:]) != uint32(i) {
		return false
	}
	sum := sha256.Sum256(body[sha256.Size:])
	return bytes.Equal(sum[:], body[:sha256.Size])
}

const crashFiles = 12

// writeForever replaces, uses and evicts files until it is killed.
func writeForever(dir string) error {
	c, err := OpenCache(dir, CacheOptions{Budget: 400_000, NoSync: true})
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(uint64(os.Getpid()), 1))
	for n := 0; ; n++ {
		i := rng.IntN(crashFiles)
		st, err := c.stage(name(i))
		if err != nil {
			return err
		}
		for part := sealed(i, n, rng.IntN(100_000)); len(part) > 0; part = part[min(len(part), 4096):] {
			if _, err := st.Write(part[:min(len(part), 4096)]); err != nil {
				return err
			}
		}
		if _, err := st.commit(Entry{Name: name(i), URL: address(i), ETag: fmt.Sprintf(`"%d"`, n)}); err != nil {
			return err
		}
		c.lookup(name(rng.IntN(crashFiles)))
		if err := writeParts(c, rng, n); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// partBody is what version n of a file has that comes in parts.
func partBody(n int) []byte { return sealed(0, n, 20*blockSize) }

// writeParts begins a partial file, or adds blocks to one.
func writeParts(c *Cache, rng *rand.Rand, n int) error {
	part := partName(name(crashFiles + rng.IntN(4)))
	h, ok := c.loadPart(part)
	if !ok || rng.IntN(8) == 0 {
		var err error
		h, err = c.beginPart(Entry{Name: part, URL: address(0), Whole: int64(len(partBody(n))), ETag: fmt.Sprintf(`"%d"`, n)})
		if err != nil {
			return err
		}
	}
	version, err := strconv.Atoi(strings.Trim(h.entry.ETag, `"`))
	if err != nil {
		return err
	}
	data, b := partBody(version), rng.Int64N(20)
	piece := data[b*blockSize : min((b+3)*blockSize, int64(len(data)))]
	var sums []uint32
	for block := range slices.Chunk(piece, blockSize) {
		sums = append(sums, crc32.Checksum(block, castagnoli))
	}
	if err := c.writePart(part, piece, b*blockSize); err != nil {
		return err
	}
	if err := c.keepPart(&h, b, sums); err != nil && !errors.Is(err, errPartGone) {
		return err
	}
	return nil
}

// checkParts reads all blocks that a cache claims to have, and returns how many
// these are.
func checkParts(t *testing.T, c *Cache) (n int) {
	t.Helper()
	for i := range 4 {
		part := partName(name(crashFiles + i))
		h, ok := c.loadPart(part)
		if !ok {
			if e, known := c.peek(part); known {
				t.Fatalf("%+v has no list of its parts", e)
			}
			continue
		}
		version, err := strconv.Atoi(strings.Trim(h.entry.ETag, `"`))
		if err != nil || h.entry.Size != h.bytes {
			t.Fatalf("%+v, %v; %d bytes", h.entry, err, h.bytes)
		}
		data := partBody(version)
		for b := range h.sums {
			got := make([]byte, blockBytes(h.entry.Whole, b))
			bad, err := c.readPart(part, &h, got, b*blockSize)
			if err != nil || len(bad) != 0 || !bytes.Equal(got, data[b*blockSize:][:len(got)]) {
				t.Fatalf("block %d of version %d: %v, %v", b, version, bad, err)
			}
			n++
		}
	}
	return n
}

// A process is killed in the middle of writing, again and again: what the cache
// serves afterwards is whole.
func TestKilledWhileWriting(t *testing.T) {
	dir := t.TempDir()
	rounds := 25
	if testing.Short() {
		rounds = 5
	}
	rng := rand.New(rand.NewPCG(7, 7))
	served, blocks := 0, 0
	for round := range rounds {
		cmd, out := start(t, "write "+dir)
		for range 1 + rng.IntN(40) {
			if !out.Scan() {
				t.Fatal("the writer ended by itself")
			}
		}
		// The next store is under way now, at some point of it.
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for out.Scan() {
		}
		cmd.Wait()

		c, err := OpenCache(dir, CacheOptions{Budget: 400_000, NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		if !c.alone {
			t.Fatal("the lock of a dead process holds")
		}
		for i := range crashFiles {
			e, ok := c.lookup(name(i))
			if !ok {
				continue
			}
			served++
			body, err := os.ReadFile(c.path(e.Name))
			if err != nil || !unbroken(body, i) || hashOf(body) != e.SHA256 {
				t.Fatalf("round %d: file %d is served and broken: %v", round, i, err)
			}
			if want := fmt.Sprintf(`"%d"`, binary.LittleEndian.Uint32(body[sha256.Size+4:])); e.ETag != want {
				t.Fatalf("round %d: file %d has the ETag %s of other bytes, %s are there", round, i, e.ETag, want)
			}
		}
		blocks += checkParts(t, c)
		// A file that has its name but not yet its entry may be there; it does not
		// serve without a declared hash.
		bad, err := c.Verify(context.Background(), false)
		if err != nil || len(bad) > 1 || len(bad) == 1 && bad[0].Entry.SHA256 != "" && !strings.Contains(bad[0].Reason, "bytes") && !strings.Contains(bad[0].Reason, "hash") {
			t.Fatalf("round %d: %v, %v", round, bad, err)
		}
		if list := temporary(files(t, dir)); len(list) != 0 {
			t.Fatalf("round %d: %v", round, list)
		}
		// Between a store and its eviction the sum is larger; the next store sees to it.
		put(t, c, crashFiles+10, []byte("next"))
		sum := int64(0)
		for _, e := range c.Entries() {
			sum += e.Size
		}
		if sum > 400_000 {
			t.Fatalf("round %d: %d bytes", round, sum)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if blocks < rounds {
		t.Errorf("only %d blocks of partial files were looked at", blocks)
	}
	if served < rounds {
		t.Errorf("only %d files were looked at", served)
	}
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
				want := sealed(i, 0, 10_000)
				file, err := f.Local(context.Background(), fmt.Sprintf("%s/%d.untold", base, i), Want{int64(len(want)), hashOf(want)})
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
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(sealed(i, 0, 10_000)))
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
	if len(count) != sharedFiles {
		t.Errorf("%d files were asked for", len(count))
	}
	for path, n := range count {
		if n > 3 {
			t.Errorf("%s was asked for %d times", path, n)
		}
	}
	c := openCache(t, dir, SystemClock{}, 0)
	if bad, err := c.Verify(t.Context(), true); err != nil || len(bad) != 0 || c.Stat().Files != sharedFiles {
		t.Errorf("%v, %v, %+v", bad, err, c.Stat())
	}
}
