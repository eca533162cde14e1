package diskcache

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
)

const crashFiles = 12

// writeForever replaces, uses and evicts files until it is killed.
func writeForever(dir string) {
	c, err := Open(dir, Options{Budget: 400_000, NoSync: true})
	rng := rand.New(rand.NewPCG(uint64(os.Getpid()), 1))
	for n := 0; err == nil; n++ {
		if err = errors.Join(writeWhole(c, rng, n), writeParts(c, rng, n)); err == nil {
			fmt.Println(n)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// writeWhole stores a version of a file.
func writeWhole(c *Cache, rng *rand.Rand, n int) error {
	i := rng.IntN(crashFiles)
	w, err := c.Create(name(i))
	if err != nil {
		return err
	}
	for part := remotetest.Sealed(i, n, rng.IntN(100_000)); len(part) > 0; part = part[min(len(part), 4096):] {
		if _, err := w.Write(part[:min(len(part), 4096)]); err != nil {
			return err
		}
	}
	_, err = w.Commit(Entry{Name: name(i), URL: address(i), ETag: fmt.Sprintf(`"%d"`, n)})
	c.Lookup(name(rng.IntN(crashFiles)))
	return err
}

// partialBody is what version n of a file has that comes in parts.
func partialBody(n int) []byte { return remotetest.Sealed(0, n, 20*BlockSize) }

// writeParts begins a partial file, or adds blocks to one.
func writeParts(c *Cache, rng *rand.Rand, n int) error {
	file := name(crashFiles + rng.IntN(4))
	p, ok := c.Partial(file, func() {})
	if !ok || rng.IntN(8) == 0 {
		var err error
		p, err = c.CreatePartial(Entry{Name: file, URL: address(0), Whole: int64(len(partialBody(n))), ETag: fmt.Sprintf(`"%d"`, n)}, func() {})
		if err != nil {
			return err
		}
	}
	version, err := strconv.Atoi(strings.Trim(p.Entry().ETag, `"`))
	if err != nil {
		return err
	}
	data, b := partialBody(version), rng.Int64N(20)
	_, keep, err := p.Write(b, min(b+3, blocksOf(p.Size())), bytes.NewReader(data[b*BlockSize:]), make([]byte, pieceBytes))
	if err == nil {
		err = keep()
	}
	if errors.Is(err, ErrGone) {
		err = nil
	}
	return err
}

// checkParts reads all blocks that a cache claims to have, and returns how many
// these are.
func checkParts(t *testing.T, c *Cache) (n int) {
	t.Helper()
	for i := range 4 {
		file := name(crashFiles + i)
		p, ok := c.Partial(file, func() {})
		if !ok {
			if e, known := c.Peek(partialName(file)); known {
				t.Fatalf("%+v has no list of its parts", e)
			}
			continue
		}
		version, err := strconv.Atoi(strings.Trim(p.Entry().ETag, `"`))
		if err != nil || p.Entry().Size != p.Stored() {
			t.Fatalf("%+v, %v; %d bytes", p.Entry(), err, p.Stored())
		}
		data := partialBody(version)
		for b := range blocksOf(p.Size()) {
			if !p.Has(b) {
				continue
			}
			got := make([]byte, blockBytes(p.Size(), b))
			if _, err := p.ReadAt(got, b*BlockSize); err != nil || !bytes.Equal(got, data[b*BlockSize:][:len(got)]) {
				t.Fatalf("block %d of version %d: %v", b, version, err)
			}
			n++
		}
	}
	return n
}

// killedWriter lets another process write for a while and kills it at some point of a
// store.
func killedWriter(t *testing.T, dir string, stores int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "UNTOLD_DISKCACHE_DIR="+dir)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewScanner(pipe)
	for range stores {
		if !out.Scan() {
			t.Fatal("the writer ended by itself")
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for out.Scan() {
	}
	cmd.Wait()
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
		killedWriter(t, dir, 1+rng.IntN(40))
		c, err := Open(dir, Options{Budget: 400_000, NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		if !c.alone {
			t.Fatal("the lock of a dead process holds")
		}
		served += checkServed(t, c, round)
		blocks += checkParts(t, c)
		// A file that has its name but not yet its entry may be there; it does not
		// serve without a declared hash.
		bad, err := c.Verify(context.Background(), false)
		if err != nil || len(bad) > 1 || len(bad) == 1 && bad[0].Entry.SHA256 != "" && !strings.Contains(bad[0].Reason, "bytes") && !strings.Contains(bad[0].Reason, "hash") {
			t.Fatalf("round %d: %v, %v", round, bad, err)
		}
		if list := remotetest.Temporary(remotetest.Files(t, dir)); len(list) != 0 {
			t.Fatalf("round %d: %v", round, list)
		}
		// Between a store and its eviction the sum is larger; the next store sees to it.
		put(t, c, crashFiles+10, []byte("next"))
		if sum := c.Stat().Bytes; sum > 400_000 {
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

// checkServed reads the whole files that a cache serves, and returns how many these
// are.
func checkServed(t *testing.T, c *Cache, round int) (n int) {
	t.Helper()
	for i := range crashFiles {
		e, ok := c.Lookup(name(i))
		if !ok {
			continue
		}
		n++
		body, err := os.ReadFile(c.Path(e.Name))
		if err != nil || !remotetest.Unbroken(body, i) || remotetest.HashOf(body) != e.SHA256 {
			t.Fatalf("round %d: file %d is served and broken: %v", round, i, err)
		}
		if want := fmt.Sprintf(`"%d"`, binary.LittleEndian.Uint32(body[sha256.Size+4:])); e.ETag != want {
			t.Fatalf("round %d: file %d has the ETag %s of other bytes, %s are there", round, i, e.ETag, want)
		}
	}
	return n
}
