package remote

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/untoldkit/untold/runtime/remote/internal/diskcache"
)

// errStopped is the answer to every call after the program has ended.
var errStopped = errors.New("the program has ended")

// faults say which calls of a disk fail.
type faults struct {
	err   error
	at    int  // the call that fails, 0 for none
	every int  // every so many-th call fails, 0 for none
	stop  int  // the call at which the program ends, 0 for none
	late  bool // the call fails although it has worked
	kind  string
}

// faultDisk is the folder of a cache on a disk that fails, and which knows what of
// it a power failure would take: the bytes of a file since it was last flushed, and
// changes of names, which the cache never flushes.
type faultDisk struct {
	diskcache.Disk
	dir string
	faults

	mu    sync.Mutex
	calls int
	trace []string
	quiet bool // the trace is not wanted

	start map[string]*blob // the names when it was made
	names map[string]*blob
	log   []renaming
}

// blob is the content of a file.
type blob struct {
	flushed []byte
	dirty   bool
	last    []byte // what it held when it lost its name
	gone    bool
}

// renaming is one change of names: from "" makes a file, to "" removes it.
type renaming struct {
	from, to string
	blob     *blob
}

func newFaultDisk(t testing.TB, d diskcache.Disk, dir string, f faults) *faultDisk {
	t.Helper()
	x := &faultDisk{Disk: d, dir: dir, faults: f, start: map[string]*blob{}, names: map[string]*blob{}}
	for _, name := range diskFiles(t, dir) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		b := &blob{flushed: data}
		x.start[name], x.names[name] = b, b
	}
	return x
}

// diskFiles lists the plain files below a folder but those that hold its locks.
func diskFiles(t testing.TB, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == ".lock" || d.Name() == ".users" {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		list = append(list, rel)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return list
}

// do counts a call, and makes it unless it fails.
func (d *faultDisk) do(what, name string, call func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.kind != "" && !strings.Contains(" "+d.kind+" ", " "+what+" ") {
		return call()
	}
	d.calls++
	if !d.quiet {
		d.trace = append(d.trace, what+" "+name)
	}
	if d.stop > 0 && d.calls >= d.stop {
		return &fs.PathError{Op: what, Path: name, Err: errStopped}
	}
	if d.at != d.calls && (d.every == 0 || d.calls%d.every != 0) {
		return call()
	}
	if d.late {
		if err := call(); err != nil {
			return err
		}
	}
	return &fs.PathError{Op: what, Path: name, Err: d.err}
}

func (d *faultDisk) read(name string) []byte {
	data, _ := os.ReadFile(filepath.Join(d.dir, name))
	return data
}

// lose notes that what has a name is about to lose it.
func (d *faultDisk) lose(name string) {
	if b := d.names[name]; b != nil {
		b.last, b.gone = d.read(name), true
	}
}

func (d *faultDisk) Open(name string) (diskcache.File, error) {
	return d.OpenFile(name, os.O_RDONLY, 0)
}

func (d *faultDisk) OpenFile(name string, flag int, perm fs.FileMode) (f diskcache.File, err error) {
	err = d.do("open", name, func() (err error) {
		if f, err = d.Disk.OpenFile(name, flag, perm); err != nil {
			return err
		}
		b := d.names[name]
		if b == nil {
			b = &blob{}
			d.names[name] = b
			d.log = append(d.log, renaming{to: name, blob: b})
		}
		b.dirty = b.dirty || flag&(os.O_CREATE|os.O_TRUNC) != 0
		f = &faultFile{File: f, d: d, name: name, blob: b}
		return nil
	})
	if err != nil && f != nil {
		f.(*faultFile).File.Close()
	}
	return f, err
}

func (d *faultDisk) ReadFile(name string) (data []byte, err error) {
	err = d.do("read", name, func() (err error) { data, err = d.Disk.ReadFile(name); return err })
	return data, err
}

// WriteFile takes the steps of one that is made of other calls.
func (d *faultDisk) WriteFile(name string, data []byte, perm fs.FileMode) error {
	f, err := d.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

func (d *faultDisk) ReadDir(name string) (list []fs.DirEntry, err error) {
	err = d.do("readdir", name, func() (err error) { list, err = d.Disk.ReadDir(name); return err })
	return list, err
}

func (d *faultDisk) Lstat(name string) (info fs.FileInfo, err error) {
	err = d.do("stat", name, func() (err error) { info, err = d.Disk.Lstat(name); return err })
	return info, err
}

func (d *faultDisk) MkdirAll(name string, perm fs.FileMode) error {
	return d.do("mkdir", name, func() error { return d.Disk.MkdirAll(name, perm) })
}

func (d *faultDisk) Rename(from, to string) error {
	return d.do("rename", from+" "+to, func() error {
		d.lose(to)
		if err := d.Disk.Rename(from, to); err != nil {
			return err
		}
		b := d.names[from]
		delete(d.names, from)
		d.names[to] = b
		d.log = append(d.log, renaming{from, to, b})
		return nil
	})
}

func (d *faultDisk) Remove(name string) error {
	return d.do("remove", name, func() error {
		d.lose(name)
		err := d.Disk.Remove(name)
		if b := d.names[name]; err == nil && b != nil {
			delete(d.names, name)
			d.log = append(d.log, renaming{from: name, blob: b})
		}
		return err
	})
}

// faultFile is an open file of a faultDisk.
type faultFile struct {
	diskcache.File
	d    *faultDisk
	name string
	blob *blob
}

func (f *faultFile) Read(p []byte) (n int, err error) {
	if e := f.d.do("read", f.name, func() error { n, err = f.File.Read(p); return nil }); e != nil {
		return 0, e
	}
	return n, err
}

func (f *faultFile) ReadAt(p []byte, off int64) (n int, err error) {
	if e := f.d.do("read", f.name, func() error { n, err = f.File.ReadAt(p, off); return nil }); e != nil {
		return 0, e
	}
	return n, err
}

// Write leaves half of the bytes when it fails.
func (f *faultFile) Write(p []byte) (n int, err error) {
	f.d.mu.Lock()
	f.blob.dirty = true
	f.d.mu.Unlock()
	if err = f.d.do("write", f.name, func() (err error) { n, err = f.File.Write(p); return err }); err != nil && !f.d.late && !errors.Is(err, errStopped) {
		n, _ = f.File.Write(p[:len(p)/2])
	}
	return n, err
}

func (f *faultFile) WriteAt(p []byte, off int64) (n int, err error) {
	f.d.mu.Lock()
	f.blob.dirty = true
	f.d.mu.Unlock()
	if err = f.d.do("write", f.name, func() (err error) { n, err = f.File.WriteAt(p, off); return err }); err != nil && !f.d.late && !errors.Is(err, errStopped) {
		n, _ = f.File.WriteAt(p[:len(p)/2], off)
	}
	return n, err
}

func (f *faultFile) Truncate(size int64) error {
	return f.d.do("write", f.name, func() error { f.blob.dirty = true; return f.File.Truncate(size) })
}

func (f *faultFile) Stat() (info fs.FileInfo, err error) {
	err = f.d.do("stat", f.name, func() (err error) { info, err = f.File.Stat(); return err })
	return info, err
}

func (f *faultFile) Sync() error {
	return f.d.do("sync", f.name, func() error {
		if f.d.names[f.name] == f.blob {
			f.blob.flushed, f.blob.dirty = f.d.read(f.name), false
		}
		return nil // the test's own disk has its time
	})
}

// Close closes the file whether it fails or not, as systems do.
func (f *faultFile) Close() error {
	err := f.File.Close()
	return errors.Join(f.d.do("close", f.name, func() error { return nil }), err)
}

// loss says what a power failure takes.
type loss struct {
	name  string
	keep  func() bool // whether a change of names lasts
	bytes func(flushed, current []byte) []byte
}

// losses are a kill, which takes nothing, and power failures.
func losses(seed uint64) []loss {
	random := rand.New(rand.NewPCG(seed, 9))
	yes, no := func() bool { return true }, func() bool { return false }
	current := func(_, c []byte) []byte { return c }
	flushed := func(f, _ []byte) []byte { return f }
	some := func(f, c []byte) []byte {
		switch random.IntN(4) {
		case 0:
			return f
		case 1:
			return c
		case 2:
			return c[:len(c)/2]
		}
		return make([]byte, len(c))
	}
	return []loss{
		{"kill", yes, current},
		{"all that was not flushed is lost", no, flushed},
		{"names last, bytes do not", yes, flushed},
		{"names last, bytes are zero", yes, func(_, c []byte) []byte { return make([]byte, len(c)) }},
		{"bytes last, names do not", no, current},
		{"some is lost", func() bool { return random.IntN(2) == 0 }, some},
	}
}

// lost makes of the folder what is left of it. A file that is not what it was
// keeps its time, so that nothing but its bytes tells.
func (d *faultDisk) lost(t testing.TB, l loss) {
	t.Helper()
	if l.name == "kill" {
		return
	}
	names := map[string]*blob{}
	for n, b := range d.start {
		names[n] = b
	}
	for _, c := range d.log {
		if !l.keep() || c.from != "" && names[c.from] != c.blob {
			continue
		}
		delete(names, c.from)
		if c.to != "" {
			names[c.to] = c.blob
		}
	}
	now := map[string][]byte{}
	for n, b := range names {
		data := b.last
		if !b.gone {
			for at, x := range d.names {
				if x == b {
					data = d.read(at)
				}
			}
		}
		if b.dirty {
			data = l.bytes(b.flushed, data)
		}
		now[n] = slices.Clone(data)
	}
	for _, n := range diskFiles(t, d.dir) {
		if _, ok := now[n]; !ok {
			os.Remove(filepath.Join(d.dir, n))
		}
	}
	for n, data := range now {
		file := filepath.Join(d.dir, n)
		if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, data) {
			continue
		}
		info, statErr := os.Stat(file)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if statErr == nil {
			if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
		}
	}
}
