package gltfscene

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"unsafe"

	"github.com/untoldkit/untold/cook/internal/planfile"
	"github.com/untoldkit/untold/internal/filestamp"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/scratch"
)

// A plan keeps what Open has found out: the lists of the scene, and where the bytes of its
// meshes and images lie. What reads it need not read the document, nor any geometry but
// that of the meshes that it is asked for.

// Record writes an open scene, which must not be one of Join, for OpenPlanned.
func (s *Scene) Record(c *planfile.Coder) error {
	p := planCoder{c: c, scene: s, stores: map[store]int{}}
	p.lists()
	p.images()
	p.geometry()
	return c.Err()
}

// Planned is a scene that a plan knows.
type Planned struct {
	Name string      // path of the main file
	Main *os.File    // open
	Info fs.FileInfo // what it is
	Made *Made       // what was made of it; nil for glTF
	// Files are the paths of all files of the scene, the main one first.
	Files []string
	Plan  *planfile.Coder // reads what Record has written
}

// OpenPlanned is Open for a scene that Record has written. The caller knows that its files
// are what they were then. It owns Main and Made, also when it fails. Nothing is looked
// at: check sees each mesh when it is decoded first, and may refuse it.
func OpenPlanned(ctx context.Context, of Planned, opts Options, keep int64, check func(s *Scene, mesh int, list []Primitive) error) (*Scene, error) {
	dir, _ := filepath.Split(of.Name)
	if dir == "" {
		dir = "."
	}
	base, stem := baseName(of.Name)
	var src source = dirSource{dir: dir, parents: opts.AllowParentPaths}
	if opts.Read != nil {
		src = countedSource{src, opts.Read}
	}
	s := &Scene{Name: stem, Source: base, Files: of.Files}
	p := planCoder{c: of.Plan, scene: s, src: src, cache: opts.cache(keep), limit: opts.MaxDecodedBytes, size: of.Info.Size()}
	p.own = &inFile{counted(of.Main, opts.Read), base}
	if of.Made != nil {
		p.own, p.size = of.Made.store(), of.Made.Size
	}
	p.lists()
	p.images()
	p.geometry()
	err := of.Plan.Err()
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		scratch.Close(p.spills...)
		of.Main.Close()
		if of.Made != nil {
			of.Made.Close()
		}
		return nil, err
	}
	g := s.geometry
	g.spills = append(g.spills, p.spills...)
	g.own, g.main, g.stamp = p.own, of.Main, filestamp.Of(of.Info)
	if of.Made != nil && of.Made.Buffer != nil {
		g.spills = append(g.spills, of.Made.Buffer)
	}
	g.check = func(mesh int, list []Primitive) error { return check(s, mesh, list) }
	return s, nil
}

// CheckImages has check see the bytes of images when they are read, by their numbers; it
// may refuse them.
func (s *Scene) CheckImages(check func(image int, data []byte) error) {
	for i := range s.Images {
		s.Images[i].check = func(data []byte) error { return check(i, data) }
	}
}

// External returns the file that holds all of an image and nothing else, and how it was
// when the scene was read. Without one the path is empty.
func (im *Image) External() (path string, stamp filestamp.Stamp) {
	if x, ok := im.at.store.(*external); ok && im.at.off == 0 && int64(im.at.n) == x.size {
		return im.file, x.stamp
	}
	return "", filestamp.Stamp{}
}

// planCoder writes or reads the parts of a scene.
type planCoder struct {
	c     *planfile.Coder
	scene *Scene

	// stores numbers those that were written; list are those that were read.
	stores map[store]int
	list   []sized

	// for reading
	src   source
	cache *cache
	own   *inFile
	size  int64 // of own
	owned bool  // own is among plain
	deep  int   // stores that are being read
	inner int   // depth of those that the one being read lies in
	limit int64 // of decoded geometry, 0 for what follows from the files
	plain int64 // bytes that the limit follows from
	taken int64 // decoded bytes
	// spills hold what the cache has no room for.
	spills []*os.File
}

// lists are the parts of the scene but images and geometry. What it is called follows from
// the path that it is opened from.
func (p *planCoder) lists() {
	c, s := p.c, p.scene
	c.Text(&s.Generator)
	jsonList(p, &s.Materials)
	jsonList(p, &s.Lights)
	jsonList(p, &s.Cameras)
	jsonList(p, &s.Notes)
	planfile.List(c, &s.Meshes, 3, func(_ int, m *Mesh) { p.mesh(m) })
	planfile.List(c, &s.LODs, 3, func(_ int, g *LODGroup) { p.group(g) })
	planfile.List(c, &s.Nodes, 8*len(geom.Mat4{}), p.node)
	for i := range s.Nodes {
		// Parents come before what is below them, so that there are no cycles.
		if c.Reading() && s.Nodes[i].Parent >= i {
			c.Fail("node %d is below a later one", i)
		}
	}
	for _, g := range s.LODs {
		for _, l := range g.Levels {
			for _, n := range l.Nodes {
				if n < 0 || n >= len(s.Nodes) {
					c.Fail("a level names node %d", n)
				}
			}
		}
	}
}

// jsonList codes things of which there are few.
func jsonList[T any](p *planCoder, list *[]T) {
	planfile.List(p.c, list, 3, func(_ int, v *T) { p.json(v) })
}

func (p *planCoder) json(v any) {
	text, err := json.Marshal(v)
	if err != nil {
		p.c.Fail("%v", err)
		return
	}
	p.c.Bytes(&text)
	if p.c.Reading() && p.c.Err() == nil {
		if err := json.Unmarshal(text, v); err != nil {
			p.c.Fail("%v", err)
		}
	}
}

// What is kept of things beside what is coded of them, in bytes.
const (
	perMesh  = 16  // see geometry
	perStore = 256 // with what lies in it
	perJob   = uint64(unsafe.Sizeof(job{}))
	perPlan  = uint64(unsafe.Sizeof(plan{})) // newGeometry copies them
	perRare  = uint64(unsafe.Sizeof(sparse{}) + unsafe.Sizeof(rareJob{}))
)

func (p *planCoder) mesh(m *Mesh) {
	c := p.c
	c.Hold(perMesh)
	c.Int(&m.Index, 0, math.MaxInt32)
	c.Text(&m.Name)
	planfile.List(c, &m.Parts, 5, func(_ int, part *Part) {
		c.Int(&part.Slot, 0, math.MaxInt32)
		c.Int(&part.Material, -1, len(p.scene.Materials)-1)
		c.Int(&part.Vertices, 1, math.MaxInt32)
		c.Int(&part.Triangles, 1, math.MaxInt32)
		c.Bool(&part.Normals)
	})
}

func (p *planCoder) group(g *LODGroup) {
	c := p.c
	c.Text(&g.Name)
	planfile.List(c, &g.Levels, 1, func(_ int, l *LODLevel) {
		planfile.List(c, &l.Nodes, 1, func(_ int, n *int) { c.Int(n, 0, math.MaxInt32) })
	})
	planfile.List(c, &g.Coverage, 8, func(i int, _ *float64) { c.Floats(g.Coverage[i:][:1]) })
	if len(g.Levels) < 2 {
		c.Fail("%d levels", len(g.Levels))
	}
}

func (p *planCoder) node(i int, n *Node) {
	c, s := p.c, p.scene
	c.Int(&n.Index, -1, math.MaxInt32)
	c.Text(&n.Name)
	c.Int(&n.Parent, -1, math.MaxInt32)
	c.Floats(n.World[:])
	c.Int(&n.Mesh, -1, len(s.Meshes)-1)
	extras := []byte(n.Extras)
	c.Bytes(&extras)
	n.Extras = extras
	c.Int(&n.LOD.Group, 0, len(s.LODs))
	if n.LOD.Group > 0 && c.Err() == nil {
		c.Int(&n.LOD.Level, 0, len(s.LODs[n.LOD.Group-1].Levels)-1)
		c.Int(&n.LOD.Mesh, -1, len(s.Meshes)-1)
	}
	if len(extras) > 0 && !json.Valid(extras) {
		c.Fail("the extras of node %d are no JSON", i)
	}
}

// images are the pictures, after the materials that name them.
func (p *planCoder) images() {
	c, s := p.c, p.scene
	planfile.List(c, &s.Images, 6, func(_ int, im *Image) {
		c.Int(&im.Index, 0, math.MaxInt32)
		c.Text(&im.Name)
		c.Text(&im.Place)
		c.Text(&im.URI)
		c.Text(&im.MIME)
		p.extent(&im.at)
		if c.Reading() && im.URI != "" {
			im.file = p.src.path(im.URI)
		}
	})
	if !c.Reading() || c.Err() != nil {
		return
	}
	for i := range s.Materials {
		m := &s.Materials[i]
		if m.AlphaMode > AlphaBlend {
			c.Fail("alpha mode %d", m.AlphaMode)
		}
		for _, slot := range m.slots() {
			t := slot.ref
			if t.Image < -1 || t.Image >= len(s.Images) || t.UVSet < 0 || t.UVSet > 1 || t.WrapS > WrapMirror || t.WrapT > WrapMirror {
				c.Fail("a texture of material %d", i)
			}
		}
	}
}

// reserve counts decoded bytes, as planning does.
func (p *planCoder) reserve(count, size int64) {
	limit := p.limit
	if limit <= 0 {
		limit = 64<<20 + 32*p.plain
	}
	if count > limit/size || p.taken > limit-count*size {
		p.c.Fail("%s", fmt.Sprintf("%d elements of %d bytes are more than the files can hold", count, size))
		return
	}
	p.taken += count * size
}
