package format

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/untoldkit/untold/format/records"
)

// withRoot patches the root transform of an encoded file; the content hash
// covers payloads only.
func withRoot(b []byte, m [16]float32) []byte {
	out := append([]byte(nil), b...)
	for i, v := range m {
		binary.LittleEndian.PutUint32(out[76+4*i:], math.Float32bits(v))
	}
	return out
}

func reader(t *testing.T, b []byte) *Reader {
	t.Helper()
	r, err := NewBytesReader(b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// moved2 doubles, turns by 90 degrees about +Y and moves by (10, 20, 30):
// (x, y, z) -> (2z+10, 2y+20, -2x+30).
var moved2 = [16]float32{2: -2, 5: 2, 8: 2, 12: 10, 13: 20, 14: 30, 15: 1}

func TestPlaced(t *testing.T) {
	f := triangleFile(t)
	child := f.Entities[0]
	child.ID, child.ParentID, child.LocalTransform[12] = 5, 7, 3
	parent := f.Entities[0]
	parent.ID, parent.MeshCount, parent.LocalTransform[13] = 7, 0, 1
	f.Entities = []records.Entity{child, parent}
	f.Meshes[0].EntityID = 5
	plain := mustEncode(t, f, ModeNone)

	r := reader(t, plain)
	entities, world := r.Placed()
	if world != r.Header().WorldBounds || &entities[0] != &r.Entities()[0] {
		t.Errorf("a file without a root transform is changed: %+v", world)
	}

	r = reader(t, withRoot(plain, moved2))
	entities, world = r.Placed()
	if r.Entities()[1].LocalTransform != parent.LocalTransform {
		t.Error("the table has been changed")
	}
	if entities[0].LocalTransform != child.LocalTransform || entities[0].ParentID != 7 {
		t.Errorf("what hangs on another is moved twice: %v", entities[0].LocalTransform)
	}
	want := moved2
	want[13] = 22 // the parent's own metre, doubled
	if entities[1].LocalTransform != want {
		t.Errorf("%v, want %v", entities[1].LocalTransform, want)
	}
	// The triangle covers x 0..1, y 0..1; 3 and 1 farther below its parents.
	box := records.Bounds{Min: [3]float32{10, 22, 22}, Max: [3]float32{10, 24, 24}}
	if entities[0].WorldBounds != box || world != box {
		t.Errorf("%v and %v, want %v", entities[0].WorldBounds, world, box)
	}
	m := r.WorldTransforms()[0]
	if p := [3]float64{m[12], m[13], m[14]}; p != [3]float64{10, 22, 24} {
		t.Errorf("the origin goes to %v", p)
	}
	again, err := r.ToFile()
	if err != nil {
		t.Fatal(err)
	}
	back := reader(t, mustEncode(t, again, ModeNone))
	if got := back.Header(); got.RootTransform != identity || got.WorldBounds != box || back.WorldTransforms()[0] != m {
		t.Errorf("written again: %+v", got)
	}
}

// What makes no sense neither panics nor hides the file.
func TestPlacedHostile(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, change := range map[string]func(f *File, root *[16]float32){
		"not a number":   func(_ *File, root *[16]float32) { root[3] = nan },
		"infinite":       func(_ *File, root *[16]float32) { root[0] = inf },
		"overflow":       func(f *File, root *[16]float32) { root[0] = 3e38; f.Entities[0].LocalTransform[0] = 3e38 },
		"a box of lies":  func(f *File, _ *[16]float32) { f.Meshes[0].LocalBounds.Min[0] = nan },
		"no local":       func(f *File, _ *[16]float32) { f.Entities[0].LocalTransform[5] = inf },
		"its own parent": func(f *File, _ *[16]float32) { f.Entities[0].ParentID = f.Entities[0].ID },
		"mesh range":     func(f *File, _ *[16]float32) { f.Entities[0].MeshCount = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			f, root := triangleFile(t), moved2
			was := f.Entities[0].WorldBounds
			b := mustEncode(t, f, ModeNone)
			change(f, &root)
			if c := encodeRaw(t, f); c != nil {
				b = c
			}
			r, err := NewBytesReader(withRoot(b, root))
			if err != nil {
				t.Skip(err) // the reader refuses it
			}
			entities, _ := r.Placed()
			if len(entities) != 1 || len(r.WorldTransforms()) != 1 {
				t.Fatal("entities are lost")
			}
			if entities[0].WorldBounds != was {
				t.Errorf("%+v", entities[0].WorldBounds)
			}
		})
	}
}

// encodeRaw encodes what a careful writer would refuse; nil when it does.
func encodeRaw(t *testing.T, f *File) []byte {
	t.Helper()
	b, err := f.Encode(WriteOptions{})
	if err != nil {
		return nil
	}
	return b
}
