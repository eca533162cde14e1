package gltfscene

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/cook/internal/planfile"
)

// upToImages is a plan of an empty scene that ends before its first image, of which it
// says there are so many.
func upToImages(images byte) []byte {
	raw := make([]byte, 0, 64)
	raw = append(raw, 0) // generator
	for range 4 {        // materials, lights, cameras, notes
		raw = append(raw, 8)
		raw = append(raw, "null"...)
	}
	raw = append(raw, 0, 0, 0)                  // meshes, LODs, nodes
	return append(raw, 2*images, 0, 0, 0, 0, 0) // index, name, place, URI, MIME
}

// TestPlannedNesting: what is packed lies in a file, not in what something packed holds,
// however deep: a plan of a few kilobytes cannot exhaust the stack.
func TestPlannedNesting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scene.glb")
	if err := os.WriteFile(path, seeds()[0].glb(), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, layer := range map[string][]byte{
		"views":   {2, 2 * storeUnpacked},
		"streams": {2, 2 * storeDraco, 2, 2 * storeStream},
	} {
		for _, deep := range []int{2, 1 << 22} {
			raw := append(upToImages(1), bytes.Repeat(layer, deep)...)
			if _, err := followPlan(t, path, raw, 1<<20); !errors.Is(err, planfile.ErrDamaged) {
				t.Errorf("%s, %d: %v", name, deep, err)
			}
		}
	}
}

// TestPlannedLimit: a plan that names the bytes of the main file often is not allowed more
// decoded geometry than one that names them once.
func TestPlannedLimit(t *testing.T) {
	const times = 1000
	p := planCoder{c: planfile.OpenRaw(bytes.Repeat([]byte{2, 2 * storeOwn}, times)), own: &inFile{}, size: 5}
	for range times {
		p.store(nil)
	}
	if err := p.c.End(); err != nil || p.plain != p.size {
		t.Errorf("%d bytes, %v", p.plain, err)
	}
}
