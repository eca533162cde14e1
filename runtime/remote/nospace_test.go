//go:build unix

package remote

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/untoldkit/untold/runtime/remote/internal/diskcache"
	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
	"github.com/untoldkit/untold/runtime/remote/internal/weburl"
)

// fullDisk is the folder of a cache on a disk that has no room for some writes.
type fullDisk struct {
	diskcache.Disk
	room func(n int) error // asked before n bytes are written, and with 0 before a folder is made
}

// onDisk puts the cache of a rig on a disk that asks room.
func onDisk(room func(n int) error) rigOption {
	return func(o *Options) {
		o.disk = func(d diskcache.Disk) diskcache.Disk { return &fullDisk{d, room} }
	}
}

func (d *fullDisk) OpenFile(name string, flag int, perm fs.FileMode) (diskcache.File, error) {
	f, err := d.Disk.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &fullFile{f, d}, nil
}

func (d *fullDisk) WriteFile(name string, data []byte, perm fs.FileMode) error {
	if err := d.room(len(data)); err != nil {
		return err
	}
	return d.Disk.WriteFile(name, data, perm)
}

func (d *fullDisk) MkdirAll(name string, perm fs.FileMode) error {
	if err := d.room(0); err != nil {
		return err
	}
	return d.Disk.MkdirAll(name, perm)
}

// fullFile is an open file of a fullDisk.
type fullFile struct {
	diskcache.File
	d *fullDisk
}

func (f *fullFile) Write(p []byte) (int, error) {
	if err := f.d.room(len(p)); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

func (f *fullFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.d.room(len(p)); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, off)
}

// smallDisk puts the cache of a rig on a disk of so many bytes.
func smallDisk(room *atomic.Int64) rigOption {
	return func(o *Options) {
		onDisk(func(n int) error {
			used := int64(0)
			for _, name := range allFiles(o.CacheDir) {
				if info, err := os.Stat(name); err == nil {
					used += info.Size()
				}
			}
			if used+int64(n) > room.Load() {
				return fmt.Errorf("write: %w", syscall.ENOSPC)
			}
			return nil
		})(o)
	}
}

// allFiles lists the paths of the plain files below a folder.
func allFiles(dir string) (list []string) {
	_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, p)
		}
		return nil
	})
	return list
}

// A disk that is smaller than the budget holds what was used last.
func TestFullDisk(t *testing.T) {
	var room atomic.Int64
	room.Store(1_000_000)
	r := newRig(t, smallDisk(&room))
	at := func(i int) string { return fmt.Sprintf("%stiles/%d.bin", sceneBase, i) }
	for i := range 20 {
		data := remotetest.Body(200_000 + i)
		r.origin.put(at(i), data)
		r.mustGet(at(i), Expected{int64(len(data)), remotetest.HashOf(data)}, data)
		r.clock.Advance(diskcache.PinFor)
	}
	st := r.Cache().Stat()
	if st.Files < 2 || st.Files > 4 || st.Evictions != int64(20-st.Files) {
		t.Errorf("%+v", st)
	}
	n := len(r.origin.requests())
	r.mustGet(at(19), Expected{}, remotetest.Body(200_019))
	if got := len(r.origin.requests()); got != n {
		t.Error("what has come last is gone")
	}
	if list := remotetest.Temporary(remotetest.Files(t, r.Cache().Dir())); len(list) != 0 {
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

// Where others have taken all of the room a download fails and says so. Files that are
// there serve, and closing is no failure.
func TestDiskWithoutAnyRoom(t *testing.T) {
	var room atomic.Int64
	room.Store(1 << 30)
	r := newRig(t, smallDisk(&room), func(o *Options) { o.HTTP = oneAttempt })
	data := remotetest.Body(10_000)
	for _, name := range []string{"b", "c"} {
		r.origin.put(sceneBase+name, data)
	}
	for i := range 20 {
		r.origin.put(sceneBase+fmt.Sprint(i), data)
		r.mustGet(sceneBase+fmt.Sprint(i), Expected{}, data)
	}
	r.mustGet(sceneBase+"b", Expected{}, data) // pinned like all others: these may not go
	room.Store(0)
	if _, err := r.get(sceneBase+"c", Expected{}); !errors.Is(err, ErrCache) || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v", err)
	}
	if st := r.Cache().Stat(); st.Files != 21 {
		t.Errorf("%+v", st)
	}
	r.clock.Advance(diskcache.PinFor)
	if _, err := r.get(sceneBase+"c", Expected{}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v", err)
	}
	if st := r.Cache().Stat(); st.Files != 8 {
		t.Errorf("%+v", st)
	}
	room.Store(1 << 20)
	r.mustGet(sceneBase+"c", Expected{}, data)
	r.clock.Advance(diskcache.PinFor)
	r.mustGet(sceneBase+"c", Expected{}, data) // the time of use is to be written
	room.Store(0)
	// newRig closes, and looks at the error.
}

// A disk may be full of files, too: then there is no room for a folder.
func TestDiskFullOfFiles(t *testing.T) {
	var r *rig
	r = newRig(t, func(o *Options) { o.HTTP = oneAttempt }, onDisk(func(n int) error {
		if n == 0 && r.Cache().Stat().Files >= 8 { // nobody holds the lock of the index then
			return fmt.Errorf("mkdir: %w", syscall.ENOSPC)
		}
		return nil
	}))
	base, err := weburl.ParseFolder(sceneBase)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		s, err := textureSource(&containerFile{url: base, folder: diskcache.TextureFolder(base)}, fmt.Sprintf("%d/wall.png", i))
		if err != nil {
			t.Fatal(err)
		}
		r.origin.put(s.url.String(), remotetest.Body(100+i))
		if _, err := r.ensure(t.Context(), s); err != nil {
			t.Error(err)
		}
		r.clock.Advance(diskcache.PinFor)
	}
	if st := r.Cache().Stat(); st.Files < 6 || st.Files > 8 || st.Evictions != int64(20-st.Files) {
		t.Errorf("%+v", st)
	}
}

// Parts make room for each other, too.
func TestFullDiskForParts(t *testing.T) {
	var room atomic.Int64
	room.Store(1 << 30)
	r, data := newPartsRig(t, smallDisk(&room), func(o *Options) { o.HTTP = oneAttempt })
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
		r.clock.Advance(diskcache.PinFor)
	}
	if st := r.Cache().Stat(); st.Partial != 1 || st.Evictions != 5 {
		t.Errorf("%+v", st)
	}
}
