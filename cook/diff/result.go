package diff

import (
	"errors"
	"fmt"
)

// Change says what became of something between A and B.
type Change string

// The kinds of change.
const (
	Added   Change = "added"   // only in B
	Removed Change = "removed" // only in A
	Changed Change = "changed"
)

// The kinds of inputs and of items.
const (
	KindContainer = "container"
	KindManifest  = "manifest"
	KindPlan      = "plan" // of a dry run: a manifest without payloads
	KindTile      = "tile"
	KindShared    = "shared" // the shared bucket
	KindNode      = "node"   // of the pyramid
)

// Result is what differs between A and B. Lists hold only what differs and are
// sorted by name; of scenes, the shared bucket follows the tiles.
type Result struct {
	Differ    bool     `json:"differ"`
	A         Side     `json:"a"`
	B         Side     `json:"b"`
	Tolerance float64  `json:"tolerance"`      // metres
	Only      []string `json:"only,omitempty"` // the parts that were compared; all without
	// Grids is why tiles cannot be compared one by one, "" if they can: then only
	// totals, settings, materials and textures are compared.
	Grids     string     `json:"grids_differ,omitempty"`
	Tiles     Counts     `json:"tile_counts"` // the shared bucket included
	Levels    Counts     `json:"level_counts"`
	Nodes     Counts     `json:"node_counts"`
	Triangles Triangles  `json:"triangles"` // of tiles and the shared bucket, or of the container
	Settings  []Field    `json:"settings"`  // of the manifest: all but tiles and nodes
	Items     []Item     `json:"tiles"`
	NodeItems []Item     `json:"nodes"`
	Materials []Material `json:"materials"`
	Textures  []Texture  `json:"textures"`
	Failures  []Failure  `json:"failures"`
}

// Side sums up one input.
type Side struct {
	Path           string `json:"path"`
	Kind           string `json:"kind"`
	Tiles          int    `json:"tiles"` // with the shared bucket; 1 of a container
	Bytes          int64  `json:"bytes"` // of these files
	Triangles      int64  `json:"triangles"`
	Levels         int    `json:"levels"`
	LevelBytes     int64  `json:"level_bytes"`
	LevelTriangles int64  `json:"level_triangles"`
	Nodes          int    `json:"nodes"`
	NodeBytes      int64  `json:"node_bytes"`
	NodeTriangles  int64  `json:"node_triangles"`
	Materials      int    `json:"materials"` // names; 0 when not looked at
	Textures       int    `json:"textures"`  // files; 0 when not looked at
	TextureBytes   int64  `json:"texture_bytes"`
}

// Counts says how many of some things were added, removed and so on.
type Counts struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
	Changed int `json:"changed"`
	Same    int `json:"same"`
	// Entries is how many of the changed ones differ in their manifest entries
	// alone and have the same payloads.
	Entries int `json:"changed_entry_only"`
}

func (c *Counts) add(x Change) {
	switch x {
	case Added:
		c.Added++
	case Removed:
		c.Removed++
	case Changed:
		c.Changed++
	default:
		c.Same++
	}
}

func (c *Counts) differ() bool { return c.Added+c.Removed+c.Changed > 0 }

// Item is a tile, the shared bucket, a node or a container that differs.
type Item struct {
	ID       string   `json:"id"` // "" of a container
	Kind     string   `json:"kind"`
	Change   Change   `json:"change"`
	Failed   bool     `json:"failed,omitempty"`   // a file of it could not be read: see failures
	Settings []Field  `json:"settings,omitempty"` // of its entry in the manifest
	Payload  *Payload `json:"payload,omitempty"`  // nil if the same
	Levels   []Level  `json:"levels,omitempty"`
}

// Level is a level of a tile that differs: lod1, lod2 and so on, or hlod.
type Level struct {
	Name     string   `json:"name"`
	Change   Change   `json:"change"`
	Failed   bool     `json:"failed,omitempty"`
	Settings []Field  `json:"settings,omitempty"`
	Payload  *Payload `json:"payload,omitempty"`
}

// Pair is a number of A and that of B.
type Pair struct {
	A int64 `json:"a"`
	B int64 `json:"b"`
}

// Payload says how two containers differ. Of one that was added or removed, and
// with Options.ManifestOnly, there are the sizes alone.
type Payload struct {
	Bytes     Pair       `json:"bytes"`
	Counts    Pair       `json:"triangle_counts"`
	Triangles *Triangles `json:"triangles,omitempty"` // nil if they were not compared
	Header    []Field    `json:"header,omitempty"`
	Chunks    []Chunk    `json:"chunks,omitempty"`
	Entities  []Record   `json:"entities,omitempty"`
	Meshes    []Record   `json:"meshes,omitempty"`
	Materials []Record   `json:"materials,omitempty"`
	Textures  []Record   `json:"textures,omitempty"`
}

// Chunk is a chunk that is stored differently or has other content.
type Chunk struct {
	Name        string `json:"name"` // as inspect has it, such as VERTEX_DATA
	Change      Change `json:"change"`
	Content     bool   `json:"content"` // the decoded bytes differ
	Stored      Pair   `json:"stored"`  // bytes in the file
	Size        Pair   `json:"size"`    // bytes when decoded
	Records     Pair   `json:"records"`
	Compression *Field `json:"compression,omitempty"`
}

// Record is a record that differs. A and B are its numbers in the tables, -1 where
// there is none.
type Record struct {
	Name      string     `json:"name"` // uri of a texture
	Change    Change     `json:"change"`
	A         int        `json:"a"`
	B         int        `json:"b"`
	Entity    string     `json:"entity,omitempty"`   // of a mesh, in B if there
	Material  string     `json:"material,omitempty"` // the same
	Fields    []Field    `json:"fields,omitempty"`
	Triangles *Triangles `json:"triangles,omitempty"` // of a mesh
}

// Triangles says what became of triangles: A had Same + Changed + Moved + Removed
// of them, B has Same + Changed + Moved + Added.
type Triangles struct {
	Same       int64      `json:"same"`
	Changed    int64      `json:"changed"` // other attributes
	Moved      int64      `json:"moved"`
	Added      int64      `json:"added"`
	Removed    int64      `json:"removed"`
	Attributes Attributes `json:"attributes"`
	Moves      []Move     `json:"moves,omitempty"` // most triangles first
	// Of a mesh, To and From are how many triangles are in another mesh in B, and
	// were in A, whatever else became of them.
	To   int64 `json:"to_other_meshes,omitempty"`
	From int64 `json:"from_other_meshes,omitempty"`
	// Unmatched: some were counted as added and removed without a look, because
	// instances draw far more triangles than the file holds.
	Unmatched bool `json:"unmatched,omitempty"`
}

// Attributes says of how many changed triangles what differs. A triangle counts
// for each.
type Attributes struct {
	Normals  int64 `json:"normals"`
	Tangents int64 `json:"tangents"`
	UV0      int64 `json:"uv0"`
	UV1      int64 `json:"uv1"`
	Colors   int64 `json:"colors"`
	Material int64 `json:"material"`
	Winding  int64 `json:"winding"` // turned over
}

// Move is a number of triangles that moved together.
type Move struct {
	By        *[3]float64 `json:"by"` // metres; nil if they were turned or scaled
	Triangles int64       `json:"triangles"`
}

func (t *Triangles) differ() bool { return t.Changed+t.Moved+t.Added+t.Removed+t.To+t.From > 0 }

// join adds what another payload counted.
func (t *Triangles) join(o *Triangles) {
	t.Same += o.Same
	t.Changed += o.Changed
	t.Moved += o.Moved
	t.Added += o.Added
	t.Removed += o.Removed
	a, b := &t.Attributes, &o.Attributes
	a.Normals += b.Normals
	a.Tangents += b.Tangents
	a.UV0 += b.UV0
	a.UV1 += b.UV1
	a.Colors += b.Colors
	a.Material += b.Material
	a.Winding += b.Winding
	t.Moves = append(t.Moves, o.Moves...)
	t.Unmatched = t.Unmatched || o.Unmatched
}

// Material is a material of the scene that differs.
type Material struct {
	Name   string  `json:"name"`
	Change Change  `json:"change"`
	Fields []Field `json:"fields,omitempty"`
	Files  Pair    `json:"payloads"` // how many have it
}

// Texture is a texture file that differs.
type Texture struct {
	URI     string  `json:"uri"` // from the folder of the payloads
	Change  Change  `json:"change"`
	Content bool    `json:"content"` // the bytes of the files differ
	Bytes   Pair    `json:"bytes"`   // -1 where there is no file
	Fields  []Field `json:"fields,omitempty"`
}

// Failure is a file that could not be compared.
type Failure struct {
	Side  string `json:"side"` // a or b
	Path  string `json:"path"`
	Error string `json:"error"`
	err   error
}

// Err returns the first failure as an error, nil if all was compared.
func (r *Result) Err() error {
	switch n := len(r.Failures); n {
	case 0:
		return nil
	case 1:
		return r.Failures[0].err
	default:
		return fmt.Errorf("%d files could not be compared, the first: %w", n, r.Failures[0].err)
	}
}

// ErrOverlap says that the records of a container name the same bytes many times
// over, each a little differently.
var ErrOverlap = errors.New("diff: the vertex and index ranges of the meshes overlap many times over")
