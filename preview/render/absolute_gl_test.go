//go:build cgo && !nopreview

package render

import (
	"bytes"
	"testing"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/preview/internal/gpu"
	"github.com/untoldkit/untold/preview/surface"
)

// poor is a surface whose device has no base vertex, and fails about commands that
// have one.
type poor struct {
	surface.Surface
	t testing.TB
}

type poorDevice struct {
	gpu.Device
	t testing.TB
}

func (s poor) Device(plain bool) gpu.Device { return poorDevice{s.Surface.Device(plain), s.t} }

func (d poorDevice) Caps() gpu.Caps {
	c := d.Device.Caps()
	c.BaseVertex = false
	return c
}

func (d poorDevice) SetCommands(at int, commands []uint32) {
	for i := 3; i < len(commands); i += gpu.CommandWords {
		if commands[i] != 0 {
			d.t.Fatalf("a command counts from vertex %d", int32(commands[i]))
		}
	}
	d.Device.SetCommands(at, commands)
}

func (d poorDevice) DrawCommands(first, count int, wide bool) int {
	if !wide {
		d.t.Fatal("indices of 16 bits")
	}
	return d.Device.DrawCommands(first, count, wide)
}

// TestIndicesWithoutBaseVertex: a device that has no base vertex shows the same
// picture, to the byte: of all materials, of ranges that meshes share, and of
// batches.
func TestIndicesWithoutBaseVertex(t *testing.T) {
	picture := func(lacking bool) []byte {
		s, err := surface.OpenHeadless(160, 120)
		if err != nil {
			t.Skipf("no OpenGL here: %v", err)
		}
		defer s.Close()
		on := Surface(s)
		if lacking {
			on = poor{s, t}
		}
		r, err := New(on, Options{Width: 160, Height: 120, ShadowSize: 256, Framebuffer: s.Framebuffer(), Warm: true})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		r.SetBatching(&BatchOptions{Sync: true})
		r.SetBatchScene(1, 1000)
		small := assemble([]part{quad(geom.Vec3{0, 3, -3}, geom.Vec3{1, 0, 0}, geom.Vec3{0, 1, 0})}, []records.Material{paint(9, 90, 200)})
		wide := assemble([]part{quad(geom.Vec3{-3, 3, -3}, geom.Vec3{1, 0, 0}, geom.Vec3{0, 1, 0})}, []records.Material{paint(200, 9, 9)})
		again := wide.Meshes[0]
		again.EntityID = 77 // instances of the same ranges
		wide.Meshes = append(wide.Meshes, again)
		f := Frame{Camera: boardCamera(), Drawn: put(t, r, append(batchBoard(t, t.TempDir(), 3), small, wide)...)}
		if st := settleBatches(t, r, f); st.BatchedMeshes == 0 {
			t.Fatal("nothing is batched")
		} else {
			took := int64(0)
			for _, n := range r.batches.have {
				took += n.bundles[0].at.bytes()
			}
			if grain := int64(indexUnit * len(r.batches.have)); st.BatchBytes > took || st.BatchBytes+grain < took {
				t.Errorf("batches count as %d bytes, and take %d", st.BatchBytes, took)
			}
		}
		r.exactShadows()
		r.Draw(f)
		return r.ReadPixels().Pix
	}
	if !bytes.Equal(picture(false), picture(true)) {
		t.Error("the pictures differ")
	}
}

// TestAbsoluteIndices: 16 and 32 bits become the same.
func TestAbsoluteIndices(t *testing.T) {
	want := []byte{7, 0, 0, 0, 8, 0, 0, 0, 6, 0, 0, 0}
	for kind, in := range map[vertex.IndexType][]byte{
		vertex.Index16: {2, 0, 3, 0, 1, 0}, vertex.Index32: {2, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0},
	} {
		if got := absoluteOf(in, kind, 5); !bytes.Equal(got, want) {
			t.Errorf("%v: %v", kind, got)
		}
	}
}
