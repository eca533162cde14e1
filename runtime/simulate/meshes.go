package simulate

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/payloadpath"
	"github.com/untoldkit/untold/runtime/payload"
)

// MaxNodes is how many nodes a scenario may give one tile.
const MaxNodes = 10_000

// maxTotalNodes bounds the nodes of all tiles: each takes some hundred bytes
// while its tile is resident.
const maxTotalNodes = 1_000_000

func (s *Scenario) totalNodes() (sum int64) {
	for _, x := range s.Tiles {
		sum += max(x.Nodes, int64(len(x.Meshes)))
	}
	return sum
}

// meshes reads "nodes": how many there are, or a list of them.
func (s *Scenario) meshes(d *decoder, n *node, x *Extra) {
	if n.kind != '[' {
		x.Nodes = d.integer(n, 0, MaxNodes)
		return
	}
	if len(n.items) > MaxNodes {
		d.fail(n, fmt.Sprintf("%d nodes are too many", len(n.items)), fmt.Sprintf("at most %d", MaxNodes))
		return
	}
	known := map[string]bool{}
	total := int64(0)
	d.array(n, func(n *node) {
		var m Mesh
		required := []string{"name", "bounds"}
		if n.member("gpu_bytes") == nil {
			required = required[:1] // a parent
		}
		d.object(n, fields{
			"name":      d.text(&m.Name),
			"parent":    d.text(&m.Parent),
			"bounds":    d.bounds(&m.Bounds),
			"gpu_bytes": func(n *node) { m.GPUBytes = d.integer(n, 0, 1<<40) },
			"textures":  func(n *node) { m.Textures = s.textureNames(d, n) },
			"note":      d.text(new(string)),
		}, required...)
		if d.err == nil && m.Parent != "" && !known[m.Parent] {
			d.fail(n.member("parent"), fmt.Sprintf("no node before it is called %q", clip(m.Parent)), nearest(m.Parent, known))
		}
		known[m.Name] = true
		if m.GPUBytes > 0 {
			x.Nodes++
		}
		total += m.GPUBytes
		x.Meshes = append(x.Meshes, m)
	})
	if x.GPUBytes == 0 {
		x.GPUBytes = total
	}
}

// asset makes the asset of a full tile whose nodes are known: records without
// geometry.
func (w *model) asset(tile string, x *Extra) *payload.Asset {
	list := x.Meshes
	if list == nil {
		list = w.equalNodes(tile, x)
	}
	if len(list) == 0 {
		return w.fileAsset(tile, payload.RepFull)
	}
	a := payload.NewAsset(nil)
	at := make(map[string]uint32, len(list))
	for i := range list {
		m := &list[i]
		e := records.Entity{ID: uint32(i), ParentID: records.NoIndex, NameOffset: uint32(i), FirstMesh: uint32(len(a.Meshes))}
		if m.Parent != "" {
			e.ParentID = at[m.Parent]
		}
		for k := range 3 {
			e.WorldBounds.Min[k], e.WorldBounds.Max[k] = float32(m.Bounds.Min[k]), float32(m.Bounds.Max[k])
		}
		if m.GPUBytes > 0 {
			e.MeshCount = 1
			a.Meshes = append(a.Meshes, records.Mesh{EntityID: e.ID, EstimatedGPUBytes: uint64(m.GPUBytes)})
		}
		at[m.Name] = e.ID
		a.Entities = append(a.Entities, e)
	}
	a.Strings = func(offset uint32) string { return list[offset].Name }
	return a
}

// fileAsset reads the records of a payload, without the geometry, when the
// scene has been cooked and the file is there.
func (w *model) fileAsset(tile string, rep payload.Rep) *payload.Asset {
	r, dir := w.recordsOf(tile, rep)
	if r == nil {
		return nil
	}
	a := payload.RecordsOf(r)
	a.Dir = dir
	return a
}

// recordsOf returns the records of a payload and its folder, nil when it cannot
// be read: the simulation goes by the manifest then.
func (w *model) recordsOf(tile string, rep payload.Rep) (r *format.Reader, dir string) {
	base, ok := w.dirs[tile]
	if !ok && w.s.ManifestPath != "" && !w.s.Manifest.DryRun {
		base = filepath.Dir(w.s.ManifestPath)
	}
	file := w.path(tile, rep)
	if base == "" || file == "" {
		return nil, ""
	}
	name := filepath.Join(base, filepath.FromSlash(file))
	r, known := w.records[name]
	if !known {
		r = readRecords(base, file)
		w.records[name] = r
	}
	return r, filepath.Dir(name)
}

func readRecords(base, file string) *format.Reader {
	f, err := payloadpath.Open(base, file)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	r, err := format.NewReader(f, info.Size())
	if err != nil {
		return nil
	}
	return r
}

// equalNodes spreads a tile's memory over so many nodes; all have its box.
func (w *model) equalNodes(tile string, x *Extra) []Mesh {
	list := make([]Mesh, x.Nodes)
	for i := range list {
		n := int64(len(list))
		list[i] = Mesh{Name: fmt.Sprintf("node%d", i), Bounds: w.boxes[tile], GPUBytes: x.GPUBytes / n}
		if int64(i) < x.GPUBytes%n {
			list[i].GPUBytes++
		}
		list[i].GPUBytes = max(list[i].GPUBytes, 1)
	}
	return list
}

// boundsOfTiles collects the boxes of tiles that have nodes.
func boundsOfTiles(s *Scenario) map[string]manifest.Bounds {
	boxes := map[string]manifest.Bounds{}
	add := func(t *manifest.Tile) {
		if s.Tiles[t.ID].Nodes > 0 {
			boxes[t.ID] = t.Bounds
		}
	}
	for i := range s.Manifest.Tiles {
		add(&s.Manifest.Tiles[i])
	}
	if s.Manifest.SharedBucket != nil {
		add(&s.Manifest.SharedBucket.Tile)
	}
	for _, t := range s.tilesBeside() {
		add(t)
	}
	return boxes
}

// meshLatency is the time until an uploaded mesh can be drawn.
func (w *model) meshLatency() time.Duration {
	if d, ok := w.s.Latency.Reps["mesh"]; ok {
		return d
	}
	return w.s.Latency.Default
}

// uploadMesh lets the upload of a mesh meet its fault.
func (w *model) uploadMesh(key payload.Key, asset *payload.Asset) error {
	if len(w.s.Faults) == 0 || len(asset.Entities) == 0 {
		return nil
	}
	tile := w.tileID(key)
	name := asset.Strings(asset.Entities[len(asset.Entities)-1].NameOffset)
	w.attempts[tile+"/mesh/"+name]++
	attempt := w.attempts[tile+"/mesh/"+name]
	for i := range w.s.Faults {
		f := &w.s.Faults[i]
		if f.Mesh == "" || f.Mesh != name || f.Tile != tile || f.Times > 0 && int64(attempt) > f.Times {
			continue
		}
		if !f.Hang {
			return fmt.Errorf("attempt %d: %w", attempt, errFault)
		}
		w.stuck[key] = true
	}
	return nil
}

// tileID returns the id of a tile by its index; the shared bucket comes last.
func (w *model) tileID(key payload.Key) string {
	if ids := w.ids[key.Scene]; ids != nil {
		return ids[key.Tile]
	}
	if i := int(key.Tile); i < len(w.s.Manifest.Tiles) {
		return w.s.Manifest.Tiles[i].ID
	} else if p := w.s.Manifest.Pyramid; p != nil {
		if i -= len(w.s.Manifest.Tiles); w.s.Manifest.SharedBucket != nil {
			i--
		}
		if i >= 0 && i < len(p.Nodes) {
			return p.Nodes[i].ID
		}
	}
	return manifest.SharedTileID
}

// tile returns a tile, or the shared bucket, by its id; an empty one for an
// unknown id.
func (w *model) tile(id string) *manifest.Tile {
	if w.tiles == nil {
		w.tiles = make(map[string]*manifest.Tile, len(w.s.Manifest.Tiles)+1)
		for i := range w.s.Manifest.Tiles {
			w.tiles[w.s.Manifest.Tiles[i].ID] = &w.s.Manifest.Tiles[i]
		}
		if b := w.s.Manifest.SharedBucket; b != nil {
			w.tiles[b.ID] = &b.Tile
		}
		if p := w.s.Manifest.Pyramid; p != nil {
			for i := range p.Nodes {
				n := &p.Nodes[i]
				w.tiles[n.ID] = &manifest.Tile{ID: n.ID, Bounds: n.Bounds, HLODLevels: []manifest.Level{{Path: n.Path, FileSizeBytes: n.FileSizeBytes, SHA256: n.SHA256}}}
			}
		}
		for _, t := range w.s.tilesBeside() {
			w.tiles[t.ID] = t
		}
	}
	if t := w.tiles[id]; t != nil {
		return t
	}
	return &manifest.Tile{}
}

// path returns the payload of a representation as the manifest has it, "" when
// there is none.
func (w *model) path(tile string, rep payload.Rep) string {
	t := w.tile(tile)
	level, lod := rep.Level()
	switch {
	case rep == payload.RepFull:
		return t.Path
	case rep == payload.RepHLOD && len(t.HLODLevels) > 0:
		return t.HLODLevels[0].Path
	case lod && level < len(t.LODLevels):
		levels := slices.Clone(t.LODLevels)
		sortLODs(levels, make([]struct{}, len(levels)))
		return levels[level].Path
	}
	return ""
}
