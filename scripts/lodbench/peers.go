package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/untoldkit/untold/cook/measure"
	"github.com/untoldkit/untold/scripts/lodbench/model"
)

// export writes the models to folder as NAME.mesh for the programs of
// scripts/lodpeers.
func export(o *options, folder string, log io.Writer) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, name := range o.models {
		m, err := model.Get(name, o.assets, o.small)
		if err != nil {
			return err
		}
		if err := writeMesh(filepath.Join(folder, name+".mesh"), m); err != nil {
			return err
		}
		fmt.Fprintf(log, "%s: %d triangles, %d vertices\n", name, m.Triangles(), len(m.Positions))
	}
	return nil
}

func writeMesh(path string, m *model.Mesh) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return model.Write(f, m)
}

func readMesh(path string) (*model.Mesh, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := model.Read(bufio.NewReader(f))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// peerFile names what another simplifier made of a model.
func peerFile(name, peer string, ratio float64) string {
	return fmt.Sprintf("%s.%s.%d.mesh", name, peer, percent(ratio))
}

// measurePeers measures the results of other simplifiers in folder, named
// MODEL.PEER.PERCENT.mesh, against MODEL.mesh. Missing results are skipped.
func measurePeers(o *options, folder string, log io.Writer) ([]peerCell, error) {
	var cells []peerCell
	for _, name := range o.models {
		original, err := readMesh(filepath.Join(folder, name+".mesh"))
		if err != nil {
			return nil, err
		}
		m, err := model.Get(name, o.assets, o.small)
		if err != nil {
			return nil, err
		}
		s := newSubject(m)
		if len(original.Positions) != len(m.Positions) || original.Triangles() != m.Triangles() {
			return nil, fmt.Errorf("%s is not the model as it is now: export it again", filepath.Join(folder, name+".mesh"))
		}
		scale := 100 / s.diagonal
		for _, peer := range peerNames {
			for _, ratio := range o.ratios {
				path := filepath.Join(folder, peerFile(name, peer, ratio))
				result, err := readMesh(path)
				if errors.Is(err, fs.ErrNotExist) {
					continue
				}
				if err != nil {
					return nil, err
				}
				r := measure.Compare(s.index, measure.NewIndex(surface(result)), o.samples)
				c := peerCell{Model: name, Ratio: ratio, Peer: peer, Source: original.Triangles(), Triangles: result.Triangles(), RMS: round(r.RMS*scale, 5), Max: round(r.Max*scale, 3)}
				if !math.IsNaN(r.Normal) {
					n := round(r.Normal, 2)
					c.Normal = &n
				}
				if peer != attr {
					if c.Seen, err = s.viewer.ladder(asSeen(result)); err != nil {
						return nil, fmt.Errorf("%s: %w", path, err)
					}
				}
				cells = append(cells, c)
				fmt.Fprintf(log, "%-12s %-12s %4.0f %%  %8d triangles  RMS %.5f  max %.3f  normals %s\n", name, peer, 100*ratio, c.Triangles, c.RMS, c.Max, figure(c.Normal, 2))
			}
		}
	}
	return cells, nil
}

func surface(m *model.Mesh) *measure.Surface {
	return &measure.Surface{Positions: m.Positions, Normals: m.Normals, Indices: m.Indices}
}

func percent(ratio float64) int { return int(math.Round(100 * ratio)) }

// round keeps the given number of decimals.
func round(v float64, decimals int) float64 {
	p := math.Pow10(decimals)
	return math.Round(v*p) / p
}
