package model

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/untoldkit/untold/cook/mesh"
)

// made are the models that other commands of this repository write.
var made = map[string]struct {
	// command returns the package below scripts and its arguments.
	command func(assets string, small bool) []string
	tile    float64 // metres: only a square from the origin is taken; 0 is all
}{
	"kit": {command: func(assets string, small bool) []string {
		return []string{"assemble", "-q", "-kit", filepath.Join(assets, "..", "kits", "kaykit-city"), "-cells", pick(small, "3", "6")}
	}},
	"city": {command: func(_ string, small bool) []string {
		return []string{"gen", "-kind", "city", "-blocks", pick(small, "1", "4")}
	}, tile: 128},
}

// makeModel runs the command that makes a model, and loads it.
func makeModel(name, assets string, small bool) (*Mesh, error) {
	dir, err := os.MkdirTemp("", "lodbench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, name+".glb")
	args := made[name].command(assets, small)
	cmd := exec.Command("go", append([]string{"run", "github.com/untoldkit/untold/scripts/" + args[0], "-o", path}, args[1:]...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", cmd, err, out)
	}
	m, err := load(name, path)
	if side := made[name].tile; err == nil && side > 0 {
		m.crop(side)
	}
	return m, err
}

// crop cuts out what lies between 0 and side along x and z.
func (m *Mesh) crop(side float64) {
	grid := mesh.ClipGrid{Planes: [3][]float64{{0, side}, {}, {-side, 0}}} // along x, y and -z
	old := *m
	*m = Mesh{Name: old.Name, Materials: old.Materials}
	for group := range old.Materials {
		part := &mesh.Mesh{Positions: old.Positions, Normals: old.Normals, UV: [2][][2]float32{old.UV}, Colors: old.Colors}
		for t, g := range old.Groups {
			if int(g) == group {
				part.Indices = append(part.Indices, old.Indices[3*t:3*t+3]...)
			}
		}
		for _, piece := range part.Split(grid) {
			if piece.Cell == [3]int{1, 0, 1} {
				m.join(piece.Mesh, int32(group))
			}
		}
	}
	*m = *m.finish()
}

// join appends a piece whose triangles are of one group, with the vertices that
// they use.
func (m *Mesh) join(piece *mesh.Mesh, group int32) {
	moved := map[uint32]uint32{}
	for _, v := range piece.Indices {
		to, ok := moved[v]
		if !ok {
			to = uint32(len(m.Positions))
			moved[v] = to
			m.Positions, m.Normals = append(m.Positions, piece.Positions[v]), append(m.Normals, piece.Normals[v])
			if piece.UV[0] != nil {
				m.UV = append(m.UV, piece.UV[0][v])
			}
			if piece.Colors != nil {
				m.Colors = append(m.Colors, piece.Colors[v])
			}
		}
		m.Indices = append(m.Indices, to)
	}
	for range piece.Triangles() {
		m.Groups = append(m.Groups, group)
	}
}
