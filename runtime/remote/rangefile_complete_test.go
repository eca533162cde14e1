package remote

import (
	"bytes"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/remote/internal/diskcache"
	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
)

// slowDisk holds whoever reads a partial file from its beginning, as somebody does who
// is about to give it its final name.
type slowDisk struct {
	diskcache.Disk
	asked, goOn chan struct{}
}

func (d *slowDisk) Open(name string) (diskcache.File, error) {
	f, err := d.Disk.Open(name)
	if err == nil && strings.HasSuffix(name, ".part") {
		f = &slowFile{f, d}
	}
	return f, err
}

func (d *slowDisk) OpenFile(name string, flag int, perm fs.FileMode) (diskcache.File, error) {
	return d.Disk.OpenFile(name, flag, perm)
}

type slowFile struct {
	diskcache.File
	d *slowDisk
}

func (f *slowFile) Read(p []byte) (int, error) {
	f.d.asked <- struct{}{}
	<-f.d.goOn
	return f.File.Read(p)
}

// A caller that wants all of a file waits for the one that is giving it its final
// name; a caller that wants blocks of it does not.
func TestWholeFileWaitsForItsCompletion(t *testing.T) {
	d := &slowDisk{asked: make(chan struct{}, 99), goOn: make(chan struct{})}
	r, data := newPartsRig(t, func(o *Options) {
		o.disk = func(real diskcache.Disk) diskcache.Disk { d.Disk = real; return d }
	})
	x := r.openParts(partsRequest(data))
	mustRead(t, x, data, 0, len(data)/2)
	completing := async(func() error { return x.Bring(t.Context(), []payload.Span{{From: 0, To: int64(len(data))}}) })
	<-d.asked
	mustRead(t, x, data, 0, len(data)) // needs no final name
	got := async(func() error {
		file, err := r.Local(t.Context(), partsURL, Expected{int64(len(data)), remotetest.HashOf(data)})
		if err != nil {
			return err
		}
		if all, err := os.ReadFile(file); err != nil || !bytes.Equal(all, data) {
			t.Errorf("another file: %v", err)
		}
		return nil
	})
	close(d.goOn)
	for _, c := range []<-chan error{completing, got} {
		if err := <-c; err != nil {
			t.Error(err)
		}
	}
	if n := len(r.origin.requests()); n != 3 {
		t.Errorf("%d requests", n)
	}
}
