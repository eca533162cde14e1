package pyramid

import (
	"bytes"
	"errors"
	"image"
	"math"
	"reflect"
	"testing"

	"github.com/untoldkit/untold/cook/internal/bake"
	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/internal/geom"
)

func keptModel() *Model {
	img := image.NewNRGBA(image.Rect(0, 0, 4, 4))
	for i := range img.Pix {
		img.Pix[i] = byte(7 * i)
	}
	return &Model{
		Mesh: mesh.Mesh{
			Positions: []geom.Vec3{{0, 0, 0}, {1, 0, 0}, {0, 1, 1e-9}}, Normals: make([][3]float32, 3), Tangents: make([][4]float32, 3),
			UV: [2][][2]float32{make([][2]float32, 3)}, Indices: []uint32{0, 1, 2, 0, 2, 1},
		},
		Atlas:       &bake.Atlas{Color: img, ORM: img, Roughness: 0.5, Coverage: true, EmissiveColor: [3]float32{1, 2, 3}},
		DoubleSided: true, Geometric: 1.25, Visual: 0.1, Groups: []int32{0, 0}, solid: 1,
	}
}

// TestKeep: a node above a model that was kept gets the surface of the model itself.
func TestKeep(t *testing.T) {
	for _, m := range []*Model{keptModel(), built(t, Join([]Child{{Parts: grove(0, 0, 4, 6)}}), Options{Triangles: 100, Side: 64, Jobs: 1})} {
		data, err := m.Keep()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Restore(data)
		if err != nil {
			t.Fatal(err)
		}
		whole := Join([]Child{{Model: m}})
		for name, part := range map[string]*Model{"restored": got, "joinable": m.Joinable()} {
			if s := Join([]Child{{Model: part}}); !reflect.DeepEqual(whole, s) || s.cards == nil {
				t.Errorf("%s: %+v\n%+v", name, whole, s)
			}
		}
		if again, err := m.Joinable().Keep(); err != nil || !bytes.Equal(again, data) {
			t.Error("a joinable model keeps other bytes:", err)
		}
	}
}

// TestRestoreNumbers: what no model has is refused.
func TestRestoreNumbers(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, spoil := range map[string]func(m *Model){
		"position": func(m *Model) { m.Mesh.Positions[1][2] = nan }, "normal": func(m *Model) { m.Mesh.Normals[1][2] = float32(inf) },
		"tangent": func(m *Model) { m.Mesh.Tangents[1][3] = float32(nan) }, "uv": func(m *Model) { m.Mesh.UV[0][2][0] = float32(-inf) },
		"emission": func(m *Model) { m.Atlas.EmissiveColor[1] = float32(nan) }, "error": func(m *Model) { m.Geometric = inf },
		"seen": func(m *Model) { m.Visual = -1 }, "far": func(m *Model) { m.Mesh.Positions[0][0] = 1e300 },
	} {
		m := keptModel()
		spoil(m)
		data, err := m.Keep()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Restore(data); !errors.Is(err, errKept) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzRestore: what was not kept is refused or valid, and takes no more than it may.
func FuzzRestore(f *testing.F) {
	data, err := keptModel().Keep()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := Restore(data); err == nil {
			Join([]Child{{Model: m}})
		}
	})
}
