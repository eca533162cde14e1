//go:build unix

package remote

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
)

// smallDisk makes the folder of a cache lie on a disk of so many bytes.
func smallDisk(c *Cache) *atomic.Int64 {
	room := &atomic.Int64{}
	c.full = func(n int) error {
		used := int64(0)
		_ = filepath.WalkDir(c.Dir(), func(_ string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				if info, err := d.Info(); err == nil {
					used += info.Size()
				}
			}
			return nil
		})
		if used+int64(n) > room.Load() {
			return fmt.Errorf("write: %w", syscall.ENOSPC)
		}
		return nil
	}
	return room
}

// A disk that is smaller than the budget holds what was used last.
func TestFullDisk(t *testing.T) {
	r := newRig(t)
	room := smallDisk(r.Cache())
	room.Store(1_000_000)
	at := func(i int) string { return fmt.Sprintf("%stiles/%d.bin", sceneBase, i) }
	for i := range 20 {
		data := body(200_000 + i)
		r.origin.put(at(i), data)
		r.mustGet(at(i), Want{int64(len(data)), hashOf(data)}, data)
		r.clock.Advance(pinFor)
	}
	st := r.Cache().Stat()
	if st.Files < 2 || st.Files > 4 || st.Evictions != int64(20-st.Files) {
		t.Errorf("%+v", st)
	}
	n := len(r.origin.requests())
	r.mustGet(at(19), Want{}, body(200_019))
	if got := len(r.origin.requests()); got != n {
		t.Error("what has come last is gone")
	}
	if list := temporary(files(t, r.Cache().Dir())); len(list) != 0 {
		t.Errorf("%q", list)
	}
	if bad, err := r.Cache().Verify(t.Context(), true); len(bad) != 0 || err != nil {
		t.Errorf("%v, %v", bad, err)
	}
	r.restart()
	if st := r.Cache().Stat(); st.Files < 2 {
		t.Errorf("after a restart: %+v", st)
	}
}

// Where others have taken all of the room a download fails and says so. What is
// there serves, and closing is no failure.
func TestDiskWithoutAnyRoom(t *testing.T) {
	r := newRig(t, func(o *Options) { o.HTTP = oneAttempt })
	data := body(10_000)
	for _, name := range []string{"b", "c"} {
		r.origin.put(sceneBase+name, data)
	}
	for i := range 20 {
		r.origin.put(sceneBase+fmt.Sprint(i), data)
		r.mustGet(sceneBase+fmt.Sprint(i), Want{}, data)
	}
	r.mustGet(sceneBase+"b", Want{}, data) // pinned like all others: these may not go
	room := smallDisk(r.Cache())
	if _, err := r.get(sceneBase+"c", Want{}); !errors.Is(err, ErrCache) || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v", err)
	}
	if st := r.Cache().Stat(); st.Files != 21 {
		t.Errorf("%+v", st)
	}
	r.clock.Advance(pinFor)
	if _, err := r.get(sceneBase+"c", Want{}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v", err)
	}
	if st := r.Cache().Stat(); st.Files != 8 {
		t.Errorf("%+v", st)
	}
	room.Store(1 << 20)
	r.mustGet(sceneBase+"c", Want{}, data)
	r.clock.Advance(pinFor)
	r.mustGet(sceneBase+"c", Want{}, data) // the time of use is to be written
	room.Store(0)
	// newRig closes, and looks at the error.
}

// A disk may be full of files, too: then there is no room for a folder.
func TestDiskFullOfFiles(t *testing.T) {
	r := newRig(t, func(o *Options) { o.HTTP = oneAttempt })
	r.Cache().full = func(n int) error {
		if n == 0 && r.Cache().Stat().Files >= 8 { // nobody holds mu then
			return fmt.Errorf("mkdir: %w", syscall.ENOSPC)
		}
		return nil
	}
	base, err := parseBase(sceneBase)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		s, err := textureSource(payload{url: base, folder: textureFolder(base)}, fmt.Sprintf("%d/wall.png", i))
		if err != nil {
			t.Fatal(err)
		}
		r.origin.put(s.url.String(), body(100+i))
		if _, err := r.bring(t.Context(), s); err != nil {
			t.Error(err)
		}
		r.clock.Advance(pinFor)
	}
	if st := r.Cache().Stat(); st.Files < 6 || st.Files > 8 || st.Evictions != int64(20-st.Files) {
		t.Errorf("%+v", st)
	}
}

// Parts make room for each other, too.
func TestFullDiskForParts(t *testing.T) {
	r, data := newPartsRig(t, func(o *Options) { o.HTTP = oneAttempt })
	room := smallDisk(r.Cache())
	// The sizes of partial files are those of the last byte, holes included.
	room.Store(int64(len(data))*3/2 + 100_000)
	for i := range 6 {
		req := partsRequest(data)
		req.Path = fmt.Sprintf("tiles/p%d.untold", i)
		r.origin.put(sceneBase+req.Path, data)
		x := r.openParts(req)
		for _, mesh := range []int{3, 19} {
			spans := spansOf(t, data, mesh)
			if err := x.Bring(t.Context(), spans); err != nil {
				t.Fatalf("file %d: %v", i, err)
			}
			mustRead(t, x, data, int(spans[0].From), int(spans[0].To))
		}
		r.clock.Advance(pinFor)
	}
	if st := r.Cache().Stat(); st.Partial != 1 || st.Evictions != 5 {
		t.Errorf("%+v", st)
	}
}
