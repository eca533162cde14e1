package gltfscene

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/untoldkit/untold/cook/internal/planfile"
	"github.com/untoldkit/untold/internal/fuzzbound"
)

// upToImages is a plan of an empty scene that ends before its first image, of which it
// says there are so many.
func upToImages(images byte) []byte {
	raw := make([]byte, 0, 64)
	raw = append(raw, 0)                        // generator
	raw = append(raw, 0, 0, 0, 0)               // materials, lights, cameras, notes
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

// TestPlannedMemory: a plan that packs very well takes no more memory than its size allows,
// whatever it says that there is.
func TestPlannedMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scene.glb")
	if err := os.WriteFile(path, seeds()[0].glb(), 0o600); err != nil {
		t.Fatal(err)
	}
	const size = 1 << 16 // of the section, which unpacks to 256 times as much
	for name, before := range map[string]int{"materials": 1, "notes": 4, "meshes": 5, "LODs": 6, "nodes": 7, "images": 8, "jobs": 9, "plans": 10} {
		raw := binary.AppendVarint(make([]byte, before), 14*size) // things
		raw = append(raw, make([]byte, 224*size)...)
		pack, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		section := pack.EncodeAll(raw, binary.LittleEndian.AppendUint64(nil, uint64(len(raw))))
		section = append(section, make([]byte, max(0, size-len(section)))...)
		took := fuzzbound.Allocated(func() {
			var c *planfile.Coder
			if c, err = planfile.Open(section); err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, err = follow(t, path, c, 1<<20)
		})
		if !errors.Is(err, planfile.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		if most := uint64(96*size + 12<<20); took > most {
			t.Errorf("%s: a section of %d bytes allocates %d, at most %d", name, len(section), took, most)
		}
	}
}
