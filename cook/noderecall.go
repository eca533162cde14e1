package cook

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/untoldkit/untold/cook/internal/pyramid"
	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/partition"
)

// nodeStage is for nodes of the pyramid what tileStage is for tiles.
const nodeStage = 12

// cellRecord is what became of a cell of the pyramid: a node was made of it, or its only
// child stands for it, or nothing does.
type cellRecord struct {
	Node   *nodeRecord `json:"node,omitempty"`
	Stands *standing   `json:"stands,omitempty"` // nil: nothing
}

// nodeRecord is a node that was made, with its files, the container last.
type nodeRecord struct {
	Node     manifest.PyramidNode `json:"node"`
	Textures []string             `json:"textures,omitempty"`
	Scales   map[string]float64   `json:"scales,omitempty"`
	Cooked   []texture.Cooked     `json:"cooked,omitempty"`
	Files    []fileRecord         `json:"files"`
}

// standing is what stands for a cell, for the node above it.
type standing struct {
	ID    string      `json:"id"`
	Level int         `json:"level"`
	Cell  geom.Box    `json:"cell"`
	Model *fileRecord `json:"model,omitempty"` // without a name; nil where no node is above
}

// files lists the files of a node; nil where none was made.
func (r *cellRecord) files() []fileRecord {
	if r.Node == nil {
		return nil
	}
	return r.Node.Files
}

// fits reports whether a record can be that of a cell whose files go to a folder. A
// damaged one may not.
func (r *cellRecord) fits(cell *nodeCell, payloads string, hasParent bool) bool {
	if s := r.Stands; s != nil && hasParent && (s.Model == nil || len(s.Model.SHA256) != 2*sha256.Size || strings.Trim(s.Model.SHA256, "0123456789abcdef") != "") {
		return false
	}
	n := r.Node
	if n == nil {
		return true
	}
	last := len(n.Files) - 1
	if r.Stands == nil || n.Node.ID != cell.id || n.Node.Path != path.Join(payloads, partition.TileFile(cell.id)) || last < 0 || n.Files[last].Name != n.Node.Path {
		return false
	}
	return !slices.ContainsFunc(n.Files[:last], func(f fileRecord) bool { return !f.isTexture(payloads) })
}

// cellKeys derives the keys of all cells, children before their parents.
func (y *builder) cellKeys() []sum {
	d := newDigest()
	y.keyer.addStage(d, nodeStage)
	d.add(y.keyer.options)
	d.int(y.c.opts.texels())
	for _, list := range [][]texture.Staged{y.b.staged, y.b.small} {
		for i := range list { // node textures have names that no other has
			if strings.HasPrefix(list[i].File, "hlod_") {
				d.text(list[i].File)
			}
		}
	}
	d.floats(y.c.planned.TileSize[:]...)
	common := d.sum()
	out := make([]sum, len(y.nodes.cells))
	for i := range out {
		cell := &y.nodes.cells[i]
		d := newDigest()
		d.text("node")
		d.add(common)
		d.text(cell.id)
		d.int(cell.level)
		d.bool(cell.alone)
		d.bool(y.nodes.parent[i] >= 0)
		for _, t := range cell.tiles {
			tile, k := &y.c.planned.Tiles[t], y.key(t)
			d.text(tile.ID)
			d.box(tile.Cell)
			for _, part := range []string{partObjects, partMaterials, partPlace} {
				d.add(k.parts[part])
			}
		}
		for _, k := range cell.cells {
			d.add(out[k])
		}
		out[i] = d.sum()
	}
	return out
}

// findNodes looks for what earlier cooks have made of the cells.
func (y *builder) findNodes() {
	n := y.nodes
	if n == nil || y.keyer == nil {
		return
	}
	n.keys, n.known = y.cellKeys(), make([]*cellRecord, len(n.cells))
	if y.c.opts.Full {
		return
	}
	for i := len(n.cells) - 1; i >= 0; i-- { // parents first: what is above decides whether the model is needed
		n.known[i] = y.c.recall.findCell(&n.cells[i], n.keys[i], n.parent[i] >= 0, n.modelWanted(i))
	}
	known := map[string]bool{} // textures that came from the store
	for _, c := range n.known {
		if c == nil {
			continue
		}
		for _, f := range c.files() {
			if y.b.out.wrote(f) {
				known[path.Base(f.Name)] = true
			}
		}
	}
	y.b.nodeTextures.known = known
}

// wants reports whether nodes are to be made of a tile.
func (y *nodeBuilder) wants(tile int) bool {
	if y == nil {
		return false
	}
	cell, ok := y.cellOf[tile]
	return ok && (y.known == nil || y.known[cell] == nil)
}

// modelWanted reports whether a node is to be made of the model of a cell: the node right
// above it, or the next one. A cell that a child stands for counts for nothing.
func (y *nodeBuilder) modelWanted(cell int) bool {
	for left := 2; left > 0; {
		if cell = y.parent[cell]; cell < 0 {
			return false
		}
		above := y.known[cell]
		if above == nil {
			return true
		}
		if above.Node != nil {
			left--
		}
	}
	return false
}

// restore takes over what an earlier cook has made of a cell.
func (y *nodeBuilder) restore(i int) error {
	r := y.known[i]
	below := y.take(&y.cells[i])
	if r.Node != nil {
		n := &node{PyramidNode: r.Node.Node, textures: r.Node.Textures, scales: r.Node.Scales, files: r.Node.Cooked}
		y.b.nodeTextures.mu.Lock()
		if y.b.nodeTextures.known == nil {
			y.b.nodeTextures.known = map[string]bool{}
		}
		for _, f := range r.Node.Files {
			name := path.Base(f.Name)
			if f.Name == n.Path || !y.b.nodeTextures.known[name] {
				y.c.recall.use(f)
				y.b.nodeTextures.known[name] = true
			}
		}
		y.b.nodeTextures.mu.Unlock()
		y.nodes[i] = n
	}
	if s := r.Stands; s != nil {
		a := above{id: s.ID, level: s.Level, cell: s.Cell}
		switch {
		case r.Node == nil && len(below) == 1:
			a.Of = below[0].Of
		case r.Node != nil && len(below) == len(r.Node.Node.Children): // else tiles are among them
			a.Of = modelsOf(below)
		}
		if y.modelWanted(i) {
			data, err := y.c.recall.model(s.Model)
			if err == nil {
				a.Model, err = pyramid.Restore(data)
			}
			if err != nil {
				return fmt.Errorf("%s: node %s of the pyramid, which an earlier cook has made: %w; cook with --full", y.c.path, s.ID, err)
			}
		}
		y.mu.Lock()
		y.made[i] = a
		y.mu.Unlock()
	}
	y.c.recall.rememberCell(y.cells[i].id, y.keys[i], r)
	return nil
}

// remember notes what has become of a cell.
func (y *nodeBuilder) remember(i int, n *node, stands *above) error {
	if y.keys == nil {
		return nil
	}
	r := &cellRecord{}
	if n != nil {
		r.Node = &nodeRecord{Node: n.PyramidNode, Textures: n.textures, Scales: n.scales, Cooked: n.files, Files: n.written}
	}
	if stands != nil {
		r.Stands = &standing{ID: stands.id, Level: stands.level, Cell: stands.cell}
		if y.parent[i] >= 0 {
			data, err := stands.Model.Keep()
			if err == nil {
				r.Stands.Model, err = y.c.recall.keepModel(data)
			}
			if err != nil {
				return fmt.Errorf("cook: %w", err)
			}
		}
	}
	y.c.recall.rememberCell(y.cells[i].id, y.keys[i], r)
	return nil
}

// findCell returns the result of a cell's key, all files of which are there.
func (r *recall) findCell(cell *nodeCell, key sum, hasParent, needed bool) *cellRecord {
	there := func(c *cellRecord, stage string) bool {
		if !c.fits(cell, r.payloads, hasParent) {
			return false
		}
		if needed && c.Stands != nil && !r.out.has(path.Join(keptFolder(r.manifest), c.Stands.Model.SHA256), *c.Stands.Model) {
			return false
		}
		return r.findFiles(r.locateAll(c.files(), stage))
	}
	name := key.String()
	if m := r.last.Cells[cell.id]; m.Key == name && there(&m.Record, "") {
		r.origin[cell.id] = fromEarlier
		return &m.Record
	}
	for _, l := range r.left {
		if c, ok := l.cells[name]; ok && there(&c, l.stage) {
			r.origin[cell.id] = fromStopped
			return &c
		}
	}
	if r.shared.works() {
		c := &cellRecord{}
		has := r.shared.record(key, c)
		if has && c.fits(cell, r.payloads, hasParent) && r.fetchModel(c) && r.findFiles(r.fetch(key, c.files())) {
			r.origin[cell.id] = fromStore
			return c
		}
		r.miss(key, has)
	}
	return nil
}

// fetchModel brings the model of a cell to those that are kept.
func (r *recall) fetchModel(c *cellRecord) bool {
	if c.Stands == nil || c.Stands.Model == nil {
		return true
	}
	f := *c.Stands.Model
	if r.out.has(path.Join(keptFolder(r.manifest), f.SHA256), f) {
		return true
	}
	return f.Size < maxModel && r.shared.copy(f, func(in io.Reader) error {
		data, err := io.ReadAll(in)
		if err == nil {
			_, err = r.keepModel(data)
		}
		return err
	})
}

// maxModel bounds a model that is read from a store, bytes.
const maxModel = 64 << 20

// findFiles notes where the files of a node lie, if they were found.
func (r *recall) findFiles(found map[string]string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, at := range found {
		r.found[name] = at
	}
	return found != nil
}

// use takes a file that was found for a node.
func (r *recall) use(f fileRecord) { r.takeFrom(r.found, []fileRecord{f}) }

// keepModel keeps a model for the nodes that later cooks make above it.
func (r *recall) keepModel(data []byte) (*fileRecord, error) {
	f := &fileRecord{Size: int64(len(data)), SHA256: hashOf(data)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept[f.SHA256] = true
	if err := r.makeKept(); err != nil {
		return nil, err
	}
	at := path.Join(keptFolder(r.manifest), f.SHA256)
	if r.out.has(at, *f) {
		return f, nil
	}
	if err := r.out.files.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return f, writeNew(r.out.files, at, data)
}

// model reads a model that was kept.
func (r *recall) model(f *fileRecord) ([]byte, error) {
	data, err := journal.Read(r.out.files, path.Join(keptFolder(r.manifest), f.SHA256))
	if err != nil {
		return nil, err
	}
	if hashOf(data) != f.SHA256 {
		return nil, errForeign
	}
	return data, nil
}

// rememberCell notes what has become of a cell in this cook.
func (r *recall) rememberCell(id string, key sum, c *cellRecord) {
	model := map[string]fileRecord{}
	defer r.share(key, c.files(), model, c)
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.Stands != nil && c.Stands.Model != nil {
		m := *c.Stands.Model
		r.kept[m.SHA256], model[path.Join(keptFolder(r.manifest), m.SHA256)] = true, m
	}
	r.cells[id] = rememberedCell{key.String(), *c}
	r.write(loggedResult{Key: key.String(), Cell: c})
}
