package batch

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/runtime/payload"
)

// The meshes of a file with a root transform are not in the space of the scene:
// they are drawn one by one, with their transform.
func TestRootTransformIsNotMerged(t *testing.T) {
	b := format.NewBuilder(format.FileTile)
	if err := b.AddObject(format.Object{
		Name: "a", MeshName: "a", Material: records.NoIndex, Indices: []uint32{0, 1, 2},
		Vertices: vertex.Append(nil, []vertex.Vertex{{}, {Position: [3]float32{1, 0, 0}}, {Position: [3]float32{0, 1, 0}}}),
	}); err != nil {
		t.Fatal(err)
	}
	data, err := b.File().Encode(format.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []float32{0, 10} {
		binary.LittleEndian.PutUint32(data[76+4*12:], math.Float32bits(x))
		r, err := format.NewBytesReader(data)
		if err != nil {
			t.Fatal(err)
		}
		a := payload.RecordsOf(r)
		if a.Geometry, err = r.ReadGeometry(format.Geometry{}); err != nil {
			t.Fatal(err)
		}
		if items := Items(a, anyMaterial); len(items) != 1 || items[0].Static != (x == 0) {
			t.Errorf("moved by %v m: %+v", x, items)
		}
	}
}
