package gltfexport

import (
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"testing"
)

// TestKeepBesidePut: who makes a texture while somebody else looks for an earlier one in
// vain gets it all the same, and it counts once.
func TestKeepBesidePut(t *testing.T) {
	d := NewTextureFolder(filepath.Join(t.TempDir(), "textures"))
	var g sync.WaitGroup
	defer g.Wait()
	put := func(name string) {
		s := d.put(name, func(w io.Writer) error {
			_, err := io.WriteString(w, name)
			return err
		})
		if s.err != nil || s.bytes != int64(len(name)) {
			t.Errorf("%s: %d bytes, %v", name, s.bytes, s.err)
		}
	}
	// Those who come while Earlier looks wait for it.
	d.Earlier = func(name, _ string) (int64, bool) {
		began := make(chan struct{})
		g.Go(func() {
			close(began)
			put(name)
		})
		<-began
		return 0, false
	}
	const n = 50
	for i := range n {
		g.Go(func() {
			name := fmt.Sprintf("%02d.png", i)
			if d.Keep(name) {
				t.Logf("%s was made meanwhile", name)
			}
			put(name)
		})
	}
	g.Wait()
	if files, size := d.Files(); files != n || size != n*6 {
		t.Errorf("%d files, %d bytes", files, size)
	}
	d.Earlier = nil
	if d.Keep("gone.png") {
		t.Error("there is none")
	}
	if files, _ := d.Files(); files != n {
		t.Errorf("%d files", files)
	}
}
