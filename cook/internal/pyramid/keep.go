package pyramid

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"image"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"

	"github.com/untoldkit/untold/cook/internal/bake"
	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/internal/geom"
)

// kept is what a model above another one is made of.
type kept struct {
	Positions []geom.Vec3
	Normals   [][3]float32
	Tangents  [][4]float32
	UV        [][2]float32
	Indices   []uint32
	Solid     int // triangles before those of cards

	Color, Normal, ORM, Emissive *image.NRGBA
	Roughness, Metallic          float32
	EmissiveColor                [3]float32
	Coverage, DoubleSided        bool
	Geometric, Visual            float64
}

// maxKept bounds what a model takes, bytes: far more than any does.
const maxKept = 256 << 20

// Keep writes as much of a model as Join needs.
func (m *Model) Keep() ([]byte, error) {
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, err
	}
	err = gob.NewEncoder(z).Encode(m.kept())
	err = errors.Join(err, z.Close())
	return out.Bytes(), err
}

var errKept = errors.New("not a model that was kept, or a damaged one")

// Restore reads what Keep has written. The model serves Join alone.
func Restore(data []byte) (*Model, error) {
	z, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxKept))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	var k kept
	if err := gob.NewDecoder(io.LimitReader(z, maxKept)).Decode(&k); err != nil {
		return nil, fmt.Errorf("%w: %w", errKept, err)
	}
	if !k.valid() {
		return nil, errKept
	}
	return k.model(), nil
}

// Joinable returns the model without what Join and Keep do without, which is most of its memory.
func (m *Model) Joinable() *Model { return m.kept().model() }

func (m *Model) kept() *kept {
	a := m.Atlas
	return &kept{
		Positions: m.Mesh.Positions, Normals: m.Mesh.Normals, Tangents: m.Mesh.Tangents, UV: m.Mesh.UV[0], Indices: m.Mesh.Indices, Solid: m.solid,
		Color: a.Color, Normal: a.Normal, ORM: a.ORM, Emissive: a.Emissive, Roughness: a.Roughness, Metallic: a.Metallic,
		EmissiveColor: a.EmissiveColor, Coverage: a.Coverage, DoubleSided: m.DoubleSided, Geometric: m.Geometric, Visual: m.Visual,
	}
}

func (k *kept) model() *Model {
	return &Model{
		Mesh: mesh.Mesh{Positions: k.Positions, Normals: k.Normals, Tangents: k.Tangents, UV: [2][][2]float32{k.UV}, Indices: k.Indices},
		Atlas: &bake.Atlas{
			Color: k.Color, Normal: k.Normal, ORM: k.ORM, Emissive: k.Emissive, Roughness: k.Roughness, Metallic: k.Metallic,
			EmissiveColor: k.EmissiveColor, Coverage: k.Coverage,
		},
		DoubleSided: k.DoubleSided, Geometric: k.Geometric, Visual: k.Visual, solid: k.Solid,
	}
}

func finite(list ...float32) bool {
	for _, v := range list {
		if v-v != 0 {
			return false
		}
	}
	return true
}

func (k *kept) valid() bool {
	n := len(k.Positions)
	if n == 0 || len(k.Normals) != n || len(k.Tangents) != n || len(k.UV) != n || len(k.Indices)%3 != 0 || k.Solid < 0 || k.Solid > len(k.Indices)/3 || k.Color == nil {
		return false
	}
	for _, v := range k.Indices {
		if int(v) >= n {
			return false
		}
	}
	for i := range k.Positions {
		at := k.Positions[i].F32()
		if !finite(at[:]...) || !finite(k.Normals[i][:]...) || !finite(k.Tangents[i][:]...) || !finite(k.UV[i][:]...) {
			return false
		}
	}
	if !finite(k.Roughness, k.Metallic) || !finite(k.EmissiveColor[:]...) || !(k.Geometric >= 0 && k.Geometric <= math.MaxFloat32 && k.Visual >= 0 && k.Visual <= math.MaxFloat32) {
		return false
	}
	for _, img := range []*image.NRGBA{k.Color, k.Normal, k.ORM, k.Emissive} {
		if img == nil {
			continue
		}
		size := img.Rect.Size()
		if img.Rect.Min != (image.Point{}) || size.X < 1 || size.Y < 1 || size.X > 1<<14 || size.Y > 1<<14 || img.Stride != 4*size.X || len(img.Pix) != img.Stride*size.Y {
			return false
		}
	}
	return true
}
