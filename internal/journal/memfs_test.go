package journal

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand"
	"path"
	"slices"
	"strings"
	"time"
)

var (
	errStopped = errors.New("stopped") // every call after a stop
	errFault   = errors.New("injected failure")
)

// disk is a folder in memory that knows what of it would survive a power
// failure: a file's bytes since its last flush, and the changes of names since
// the last flush of the folder they are in, may be lost.
type disk struct {
	start map[string]int // names at the last start -> inode, folders are 0
	names map[string]int
	data  [][]byte // current, by inode
	safe  [][]byte // flushed, by inode
	log   []change // of names since the start

	calls  int
	stopAt int  // the call that stops the program, 0 for none
	failAt int  // the call that fails, 0 for none
	late   bool // the failing call does its work all the same
	trace  []string
}

// change is one change of names.
type change struct {
	op       string // create, mkdir, rename, remove
	from, to string
	inode    int
	safe     bool
}

func newDisk(files map[string]string) *disk {
	d := &disk{start: map[string]int{".": 0}, names: map[string]int{".": 0}, data: [][]byte{nil}, safe: [][]byte{nil}}
	for name, text := range files {
		for _, p := range parents(name) {
			d.start[p], d.names[p] = 0, 0
		}
		d.data, d.safe = append(d.data, []byte(text)), append(d.safe, []byte(text))
		d.start[name], d.names[name] = len(d.data)-1, len(d.data)-1
	}
	return d
}

// call counts a call; the program may end here.
func (d *disk) call(what string) error {
	d.calls++
	d.trace = append(d.trace, what)
	if d.stopAt > 0 && d.calls >= d.stopAt {
		return errStopped
	}
	if d.calls == d.failAt && !d.late {
		return errFault
	}
	return nil
}

// after is for calls that fail although they have worked.
func (d *disk) after() error {
	if d.calls == d.failAt && d.late {
		return errFault
	}
	return nil
}

func missing(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist} }

// info describes a name of a disk.
type info struct {
	name string
	size int64
	mode fs.FileMode
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }

func (d *disk) info(name string) info {
	if i := d.names[name]; i != 0 {
		return info{path.Base(name), int64(len(d.data[i])), 0o644}
	}
	return info{path.Base(name), 0, fs.ModeDir | 0o755}
}

func (d *disk) Lstat(name string) (fs.FileInfo, error) {
	if err := d.call("lstat " + name); err != nil {
		return nil, err
	}
	if _, ok := d.names[name]; !ok {
		return nil, missing("lstat", name)
	}
	return d.info(name), nil
}

func (d *disk) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := d.call("readdir " + name); err != nil {
		return nil, err
	}
	if i, ok := d.names[name]; !ok || i != 0 {
		return nil, missing("readdir", name)
	}
	var out []fs.DirEntry
	for n := range d.names {
		if n != "." && path.Dir(n) == name {
			out = append(out, fs.FileInfoToDirEntry(d.info(n)))
		}
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return out, nil
}

func (d *disk) Open(name string) (File, error) {
	if err := d.call("open " + name); err != nil {
		return nil, err
	}
	i, ok := d.names[name]
	if !ok || i == 0 {
		return nil, missing("open", name)
	}
	return &diskFile{Reader: bytes.NewReader(d.data[i]), d: d, inode: i, name: name}, nil
}

func (d *disk) Create(name string) (File, error) {
	if err := d.call("create " + name); err != nil {
		return nil, err
	}
	if i, ok := d.names[path.Dir(name)]; !ok || i != 0 {
		return nil, missing("create", name)
	}
	if _, taken := d.names[name]; taken {
		return nil, &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	}
	d.data, d.safe = append(d.data, nil), append(d.safe, nil)
	i := len(d.data) - 1
	d.names[name] = i
	d.log = append(d.log, change{op: "create", to: name, inode: i})
	return &diskFile{Reader: bytes.NewReader(nil), d: d, inode: i, name: name}, d.after()
}

func (d *disk) Mkdir(name string) error {
	if err := d.call("mkdir " + name); err != nil {
		return err
	}
	if i, ok := d.names[path.Dir(name)]; !ok || i != 0 {
		return missing("mkdir", name)
	}
	if _, taken := d.names[name]; taken {
		return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrExist}
	}
	d.names[name] = 0
	d.log = append(d.log, change{op: "mkdir", to: name})
	return d.after()
}

func (d *disk) Rename(from, to string) error {
	if err := d.call("rename " + from + " " + to); err != nil {
		return err
	}
	i, ok := d.names[from]
	if p, there := d.names[path.Dir(to)]; !ok || i == 0 || !there || p != 0 {
		return missing("rename", from)
	}
	delete(d.names, from)
	d.names[to] = i
	d.log = append(d.log, change{op: "rename", from: from, to: to, inode: i})
	return d.after()
}

func (d *disk) Remove(name string) error {
	if err := d.call("remove " + name); err != nil {
		return err
	}
	if _, ok := d.names[name]; !ok {
		return missing("remove", name)
	}
	for n := range d.names {
		if strings.HasPrefix(n, name+"/") {
			return &fs.PathError{Op: "remove", Path: name, Err: errors.New("not empty")}
		}
	}
	delete(d.names, name)
	d.log = append(d.log, change{op: "remove", from: name})
	return d.after()
}

func (d *disk) SyncFile(name string) error {
	if err := d.call("sync " + name); err != nil {
		return err
	}
	i, ok := d.names[name]
	if !ok {
		return missing("sync", name)
	}
	d.safe[i] = slices.Clone(d.data[i])
	return d.after()
}

// SyncDir makes what gave or took names in a folder last. A rename lasts with
// the folder that it leads to.
func (d *disk) SyncDir(name string) error {
	if err := d.call("syncdir " + name); err != nil {
		return err
	}
	if i, ok := d.names[name]; !ok || i != 0 {
		return missing("syncdir", name)
	}
	for i := range d.log {
		c := &d.log[i]
		at := c.to
		if c.op == "remove" {
			at = c.from
		}
		if path.Dir(at) == name {
			c.safe = true
		}
	}
	return d.after()
}

// diskFile is an open file of a disk.
type diskFile struct {
	*bytes.Reader
	d     *disk
	inode int
	name  string
}

func (f *diskFile) Write(b []byte) (int, error) {
	if err := f.d.call("write " + f.name); err != nil {
		// Half of it has reached the file.
		f.d.data[f.inode] = append(f.d.data[f.inode], b[:len(b)/2]...)
		return len(b) / 2, err
	}
	f.d.data[f.inode] = append(f.d.data[f.inode], b...)
	return len(b), f.d.after()
}

func (f *diskFile) Read(b []byte) (int, error) {
	if err := f.d.call("read " + f.name); err != nil {
		return 0, err
	}
	return f.Reader.Read(b)
}

func (f *diskFile) Close() error { return f.d.call("close " + f.name) }

func (f *diskFile) Stat() (fs.FileInfo, error) { return f.d.Lstat(f.name) }

// loss says what a stop takes.
type loss struct {
	name string
	// keep says whether a change of names that was not flushed lasts.
	keep func() bool
	// bytes says what remains of a file: flushed is nil when it never was.
	bytes func(flushed, current []byte) []byte
}

// losses are a kill, which takes nothing, and power failures.
func losses(random *rand.Rand) []loss {
	yes, no := func() bool { return true }, func() bool { return false }
	current := func(_, c []byte) []byte { return c }
	flushed := func(f, _ []byte) []byte { return f }
	some := func(f, c []byte) []byte {
		switch random.Intn(4) {
		case 0:
			return f
		case 1:
			return c
		case 2:
			return c[:len(c)/2]
		}
		return bytes.Repeat([]byte{0}, len(c))
	}
	out := []loss{
		{"kill", yes, current},
		{"all that was not flushed is lost", no, flushed},
		{"names last, bytes do not", yes, flushed},
		{"bytes last, names do not", no, current},
	}
	for range 3 {
		out = append(out, loss{"some is lost", func() bool { return random.Intn(2) == 0 }, some})
	}
	return out
}

// restart returns the disk as the next program finds it.
func (d *disk) restart(l loss) *disk {
	names := map[string]int{}
	for n, i := range d.start {
		names[n] = i
	}
	for _, c := range d.log {
		if !c.safe && !l.keep() {
			continue
		}
		if c.to != "" {
			if i, ok := names[path.Dir(c.to)]; !ok || i != 0 {
				continue // in a folder that is lost
			}
		}
		switch c.op {
		case "create", "mkdir":
			names[c.to] = c.inode
		case "rename":
			if names[c.from] != c.inode {
				continue // the file itself is lost
			}
			delete(names, c.from)
			names[c.to] = c.inode
		case "remove":
			empty := true
			for n := range names {
				empty = empty && !strings.HasPrefix(n, c.from+"/")
			}
			if empty {
				delete(names, c.from)
			}
		}
	}
	// What lies in a folder that is lost is lost.
	for n := range names {
		for _, p := range parents(n) {
			if i, ok := names[p]; !ok || i != 0 {
				delete(names, n)
			}
		}
	}
	files := map[string]string{}
	for n, i := range names {
		if i != 0 {
			b := d.data[i]
			if !bytes.Equal(d.safe[i], d.data[i]) {
				b = l.bytes(d.safe[i], d.data[i])
			}
			files[n] = string(b)
		}
	}
	next := newDisk(files)
	for n, i := range names {
		if i == 0 {
			next.start[n], next.names[n] = 0, 0
		}
	}
	return next
}

// files returns all files.
func (d *disk) files() map[string]string {
	out := map[string]string{}
	for n, i := range d.names {
		if i != 0 {
			out[n] = string(d.data[i])
		}
	}
	return out
}
