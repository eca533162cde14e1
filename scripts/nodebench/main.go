// Command nodebench compares nodes of a pyramid with what other simplifiers make of the same
// geometry in as many triangles: simplifySloppy of meshoptimizer and Blender's Decimate
// (collapse). It rewrites the table of docs/lod.md with -update.
//
//	npm install --prefix out/nodebench meshoptimizer@1.3.0
//	go run ./scripts/nodebench -scene out/city/city.json
//
// It needs bin/untold, node, and Blender with numpy (Debian: blender python3-numpy nodejs npm);
// without Blender its columns stay empty. The scene is cooked with a pyramid; manifests of single
// nodes lie beside its own while they are exported.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/scripts/lodbench/model"
)

type options struct {
	scene, program, dir, document, pictures string
	nodes, least, most, samples, jobs       int
	update                                  bool
}

func main() {
	var o options
	flag.StringVar(&o.scene, "scene", "", "`manifest` of a scene with a pyramid")
	flag.StringVar(&o.program, "untold", filepath.Join("bin", "untold"), "the `program`")
	flag.StringVar(&o.dir, "dir", filepath.Join("out", "nodebench"), "`folder` of the meshes, with meshoptimizer in its node_modules")
	flag.IntVar(&o.nodes, "nodes", 12, "how many nodes are compared")
	flag.IntVar(&o.least, "least", 0, "fewest triangles that a node stands for")
	flag.IntVar(&o.most, "most", 300_000, "most triangles that a node stands for")
	flag.IntVar(&o.samples, "samples", 20_000, "samples of distances, in each direction")
	flag.StringVar(&o.pictures, "pictures", "", "write what is compared, from one side, into this `folder`")
	flag.IntVar(&o.jobs, "jobs", 2, "nodes at a time")
	flag.BoolVar(&o.update, "update", false, "rewrite the table of the document")
	flag.StringVar(&o.document, "document", filepath.Join("docs", "lod.md"), "`file` with the table")
	flag.Parse()
	if err := run(os.Stdout, &o); err != nil {
		fmt.Fprintln(os.Stderr, "nodebench:", err)
		os.Exit(1)
	}
}

func run(log io.Writer, o *options) error {
	if o.scene == "" {
		return errors.New("-scene names a manifest with a pyramid: untold cook city.glb -o out/city --pyramid --whole-limit 0")
	}
	m, err := manifest.Load(o.scene)
	if err != nil {
		return err
	}
	chosen, err := choose(m, o.nodes, o.least, o.most)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	if o.jobs < 1 {
		return fmt.Errorf("-jobs is %d, and one node at least is compared at a time", o.jobs)
	}
	cells := make([]cell, len(chosen))
	errs := make([]error, len(chosen))
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(o.jobs, len(chosen)) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(chosen); i = int(next.Add(1)) - 1 {
				if cells[i], errs[i] = compare(o, m, chosen[i]); errs[i] != nil {
					errs[i] = fmt.Errorf("%s: %w", chosen[i].ID, errs[i])
					continue
				}
				fmt.Fprintln(log, cells[i].row())
			}
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	fmt.Fprintln(log, verdict(cells))
	if o.update {
		return rewrite(o.document, cells)
	}
	return nil
}

// choose returns nodes with enough triangles to matter that stand for least to most,
// evenly over the manifest.
func choose(m *manifest.Manifest, count, least, most int) ([]*manifest.PyramidNode, error) {
	if m.Pyramid == nil {
		return nil, errors.New("the scene has no pyramid: cook it with --pyramid")
	}
	var all []*manifest.PyramidNode
	for i := range m.Pyramid.Nodes {
		n := &m.Pyramid.Nodes[i]
		full := 0
		for _, t := range below(m, n) {
			full += t.TriangleCount
		}
		if n.TriangleCount >= 500 && full >= max(least, 4*n.TriangleCount) && full <= most {
			all = append(all, n)
		}
	}
	if len(all) == 0 || count < 1 {
		return nil, errors.New("no node has 500 triangles and stands for four times as many, from -least to -most")
	}
	count = min(count, len(all))
	out := make([]*manifest.PyramidNode, count)
	for i := range out {
		out[i] = all[i*len(all)/count]
	}
	return out, nil
}

// below returns the tiles that a node stands for.
func below(m *manifest.Manifest, n *manifest.PyramidNode) []*manifest.Tile {
	wanted := map[string]bool{}
	for _, id := range n.Children {
		wanted[id] = true
	}
	// Children lie before their parents.
	for i := len(m.Pyramid.Nodes) - 1; i >= 0; i-- {
		if c := &m.Pyramid.Nodes[i]; wanted[c.ID] {
			for _, id := range c.Children {
				wanted[id] = true
			}
		}
	}
	var tiles []*manifest.Tile
	for i := range m.Tiles {
		if wanted[m.Tiles[i].ID] {
			tiles = append(tiles, &m.Tiles[i])
		}
	}
	return tiles
}

// load exports what a node stands for, and the node, and reads both.
func load(o *options, m *manifest.Manifest, n *manifest.PyramidNode) (full, node *model.Mesh, err error) {
	part := *m
	part.Pyramid, part.SharedBucket, part.Tiles = nil, nil, nil
	for _, t := range below(m, n) {
		part.Tiles = append(part.Tiles, *t)
	}
	scene := filepath.Dir(o.scene)
	path := filepath.Join(scene, "below-"+n.ID+".json")
	if err := part.Save(path); err != nil {
		return nil, nil, err
	}
	full, err = export(o, path, n.ID+"-full")
	// Another manifest would keep the folder from being cooked again.
	if err := errors.Join(err, os.Remove(path)); err != nil {
		return nil, nil, err
	}
	node, err = export(o, filepath.Join(scene, filepath.FromSlash(n.Path)), n.ID+"-node")
	return full, node, err
}

// export turns a scene or a container into a GLB file and reads it.
func export(o *options, path, name string) (*model.Mesh, error) {
	out := filepath.Join(o.dir, name+".glb")
	if err := call("", o.program, "export", path, "-o", out, "-q"); err != nil {
		return nil, err
	}
	return model.Get(out, "", false)
}

// call runs a program in a folder.
func call(dir, program string, args ...string) error {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %v: %w\n%s", program, args, err, text)
	}
	return nil
}

// peers are the other simplifiers, by the names of the files that they write.
var peers = []string{"sloppy", "blender"}

// simplify has the others make as many triangles of a mesh, and returns what they made by
// their names; without Blender it is missing.
func simplify(o *options, name string, full *model.Mesh, triangles int) (map[string]*model.Mesh, error) {
	dir, err := filepath.Abs(o.dir)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(forget(dir, name), writeMesh(filepath.Join(dir, name+".mesh"), full)); err != nil {
		return nil, err
	}
	scripts, err := filepath.Abs(filepath.Join("scripts", "lodpeers"))
	if err != nil {
		return nil, err
	}
	// Both round down.
	ratio := strconv.FormatFloat((float64(triangles)+0.5)/float64(full.Triangles()), 'f', 9, 64)
	if err := call(dir, "node", filepath.Join(scripts, "meshopt.mjs"), dir, name, ratio, "sloppy"); err != nil {
		return nil, err
	}
	if _, err := exec.LookPath("blender"); err == nil {
		if err := call(dir, "blender", "-b", "--factory-startup", "-P", filepath.Join(scripts, "blender.py"), "--", dir, name, ratio); err != nil {
			return nil, err
		}
	}
	out := map[string]*model.Mesh{}
	for _, peer := range peers {
		files, err := made(dir, name, peer)
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			continue
		}
		if out[peer], err = readMesh(files[0]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// made returns what a peer has made of a mesh: one file, whose name has a percentage that
// each program rounds as it likes.
func made(dir, name, peer string) ([]string, error) {
	return filepath.Glob(filepath.Join(dir, name+"."+peer+".*.mesh"))
}

// forget removes what was made of a mesh of that name before, of another scene maybe.
func forget(dir, name string) error {
	for _, peer := range peers {
		files, err := made(dir, name, peer)
		if err != nil {
			return err
		}
		for _, f := range files {
			if err := os.Remove(f); err != nil {
				return err
			}
		}
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
	m, err := model.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}
