package diskcache

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
)

// A log that does not end like one is read line by line, and no farther than a
// log can be damaged: a file of holes is as long as its maker likes.
func TestIndexWithoutEnd(t *testing.T) {
	dir, clock := t.TempDir(), newClock()
	c := openCache(t, dir, clock, 0)
	put(t, c, 0, []byte("data"))
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, indexName)
	whole := remotetest.Text(t, log)
	const length = 4 * maxSalvage
	if err := os.Truncate(log, length); err != nil {
		t.Skip(err) // a file system without holes
	}
	c = openCache(t, dir, clock, 0)
	if e, ok := c.Lookup(name(0)); !ok || e.SHA256 != remotetest.HashOf([]byte("data")) {
		t.Error("what stands before the holes is lost")
	}
	put(t, c, 1, []byte("data"))
	if st, err := os.Stat(log); err != nil || st.Size() > int64(len(whole))+1<<12 {
		t.Errorf("the log has %d bytes after a change, %d before it (%v)", st.Size(), len(whole), err)
	}
	c.Close()
	c = openCache(t, dir, clock, 0)
	for i := range 2 {
		if _, ok := c.Lookup(name(i)); !ok {
			t.Error("lost", i)
		}
	}
}

// holes has no end, within reason.
type holes struct{ read int64 }

func (e *holes) Read(p []byte) (int, error) {
	if e.read += int64(len(p)); e.read > 2*maxSalvage {
		return 0, errors.New("read on and on")
	}
	clear(p)
	return len(p), nil
}

// A stretch that is no line, as a disk leaves after a power failure, costs what
// stood there and not what comes after.
func TestIndexWithAHole(t *testing.T) {
	line := func(i int) string {
		return string(appendChange(nil, &change{Op: "make", Name: name(i)}))
	}
	log := line(0) + strings.Repeat("\x00", 3*maxIndexLine) + "\n" + line(1) + strings.Repeat("\x00", maxIndexLine) + line(2) + line(3) + line(4)[:20]
	x := newIndex()
	if err := x.replay(strings.NewReader(log)); err != nil {
		t.Fatal(err)
	}
	if !x.made[name(0)] || !x.made[name(1)] || x.made[name(2)] || !x.made[name(3)] || x.damaged != 2 || x.read != int64(len(log)-20) {
		t.Errorf("%v, %d damaged, read to %d of %d", x.made, x.damaged, x.read, len(log))
	}
	if err := x.replay(io.MultiReader(strings.NewReader(line(4)), new(holes))); err != nil {
		t.Error(err)
	}
	if want := int64(len(log) - 20 + len(line(4))); !x.made[name(4)] || x.read != want {
		t.Errorf("%v, read to %d, not %d", x.made, x.read, want)
	}
}
