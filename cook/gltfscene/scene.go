// Package gltfscene reads glTF 2.0 files (.gltf and .glb) into a flat,
// validated scene: nodes with world transforms, triangle lists in single
// precision, metallic-roughness materials and the bytes of the images.
//
// Everything that later stages rely on is checked here: a Scene holds no
// index out of range, no NaN or infinite number and no cycle. Skinned meshes and
// those with morph targets are as the file poses them. What it holds but a
// static scene has no use for (animations, points, lines, unknown extensions)
// is left out and counted in Scene.Notes.
package gltfscene

import (
	"encoding/json"

	"github.com/untoldkit/untold/internal/geom"
)

// Scene is the flattened content of one glTF scene.
type Scene struct {
	// Name is the file's base name without extension, Source with it.
	Name, Source string
	// Generator is asset.generator of the file.
	Generator string
	// Nodes are the nodes that the chosen scene reaches, parents before
	// children, in depth-first order. An instance of EXT_mesh_gpu_instancing is
	// a child of its node, with the same Index. Nodes that only MSFT_lod
	// reaches come last, as siblings of the node that names them.
	Nodes []Node
	// LODs are the groups of nodes that show one thing at several levels of
	// detail, in the order of Nodes. See LODGroup.
	LODs []LODGroup
	// Meshes are the glTF meshes that Nodes use, each once, in file order.
	Meshes    []Mesh
	Materials []Material
	Images    []Image
	Lights    []Light
	Cameras   []Camera
	// Notes tells what was left out or repaired, one entry per kind.
	Notes []Note
	// Files are the paths of all files on the disk that the scene comes from, the
	// named one first, then buffers and images, each once. Missing images are not
	// among them.
	Files []string

	geometry *geometry // nil where the primitives hold it
	joined   *joined   // of Join
}

// listFiles completes Files: the main file, then all others once.
func (s *Scene) listFiles(main string) {
	seen, files := map[string]bool{}, make([]string, 0, 1+len(s.Files))
	for _, f := range append([]string{main}, s.Files...) {
		if f != "" && !seen[f] {
			seen[f], files = true, append(files, f)
		}
	}
	s.Files = files
}

// Triangles returns the number of triangles that the scene draws: those of a
// mesh count once per node that uses it.
func (s *Scene) Triangles() int {
	n := 0
	for i := range s.Nodes {
		if m := s.Nodes[i].Mesh; m >= 0 {
			n += s.Meshes[m].Triangles()
		}
	}
	return n
}

// Triangles returns the number of triangles of the mesh.
func (m *Mesh) Triangles() int {
	n := 0
	for i := range m.Parts {
		n += m.Parts[i].Triangles
	}
	return n
}

// bytes returns what the geometry takes in memory.
func (p *Primitive) bytes() int64 {
	return int64(12*len(p.Positions) + 12*len(p.Normals) + 16*len(p.Tangents) + 8*(len(p.UV[0])+len(p.UV[1])) +
		16*len(p.Colors) + 4*len(p.Indices))
}

// part says what the primitive holds.
func (p *Primitive) part() Part {
	return Part{p.Slot, p.Material, len(p.Positions), len(p.Indices) / 3, p.Normals != nil}
}

// Node is one placed node.
type Node struct {
	Index  int       // in the glTF file's nodes array
	Name   string    // never empty: "node_<Index>" when the file names none
	Parent int       // index into Scene.Nodes, -1 for a root
	World  geom.Mat4 // node space to world space, finite; of a skinned mesh that it flattens, a space at a joint
	Mesh   int       // index into Scene.Meshes, -1 for none and for LOD.Level > 0
	Extras json.RawMessage
	LOD    LODRef // the level of detail that the node belongs to, if any
}

// Shown returns the index into Scene.Meshes of what the node shows, at whatever level of
// detail it is; -1 for nothing.
func (n *Node) Shown() int {
	if n.LOD.Group > 0 {
		return n.LOD.Mesh
	}
	return n.Mesh
}

// LODRef places a node within a LODGroup. The zero value stands for a node
// that is in none, and is always drawn.
type LODRef struct {
	Group int // 1 + index into Scene.LODs, 0 for none
	Level int // index into LODGroup.Levels; 0 is the finest, which is drawn
	// Mesh is the index into Scene.Meshes of what the node shows when its
	// level is drawn, -1 for nothing. At level 0 it equals Node.Mesh; at others
	// Node.Mesh is -1, so that who ignores LODs draws each thing once. It means
	// nothing while Group is 0.
	Mesh int
}

// LODGroup is one thing that its author made at several levels of detail, of
// which one is to be drawn at a time: a node with the extension MSFT_lod, or
// sibling nodes named X_LOD0, X_LOD1 and so on. Groups do not nest.
type LODGroup struct {
	// Name is X of X_LOD0, or the name of the node with MSFT_lod. It need not
	// be unique.
	Name string
	// Levels has at least two entries, the finest first.
	Levels []LODLevel
	// Coverage is MSFT_screencoverage of the node's extras: for each level the
	// smallest part of the screen, 0 to 1, that the thing covers when the level
	// is drawn. It is nil if the file gives none.
	Coverage []float64
}

// LODLevel lists the nodes that together are one level, as ascending indices
// into Scene.Nodes, without those below them; Node.LOD marks these too.
type LODLevel struct {
	Nodes []int
}

// Mesh is one glTF mesh; it may be used by many nodes.
type Mesh struct {
	Index int    // in the glTF file's meshes array
	Name  string // never empty: "mesh_<Index>" when the file names none
	Parts []Part // of Primitives, by their number
	// Primitives is nil in a scene of Open; Scene.Geometry returns them.
	Primitives []Primitive
}

// Part says what a primitive holds.
type Part struct {
	Slot      int // index in the glTF mesh's primitives array
	Material  int // index into Scene.Materials, -1 for glTF's default material
	Vertices  int // that its triangles use, and perhaps others
	Triangles int
	Normals   bool // it has some
}

// Primitive is a triangle list with one material. Optional attributes are nil
// when absent, else as long as Positions. Slices may be shared with other
// primitives of the scene: they must not be modified.
type Primitive struct {
	Slot      int // index in the glTF mesh's primitives array
	Material  int // index into Scene.Materials, -1 for glTF's default material
	Positions [][3]float32
	Normals   [][3]float32    // as stored; not necessarily of unit length, 0 where there is none
	Tangents  [][4]float32    // w is the handedness, +1 or -1
	UV        [2][][2]float32 // TEXCOORD_0 and TEXCOORD_1, v top-down as in glTF
	Colors    [][4]float32    // COLOR_0, linear, alpha 1 for VEC3 sources
	Indices   []uint32        // three per triangle, each < len(Positions)
}

// AlphaMode is glTF's alphaMode.
type AlphaMode uint8

// The alpha modes.
const (
	AlphaOpaque AlphaMode = iota
	AlphaMask
	AlphaBlend
)

// Wrap is a sampler's wrap mode along one axis.
type Wrap uint8

// The wrap modes; repeat is glTF's default.
const (
	WrapRepeat Wrap = iota
	WrapClamp
	WrapMirror
)

// TextureRef is one texture slot of a material.
type TextureRef struct {
	Image  int // index into Scene.Images, -1 for an empty slot
	UVSet  int // 0 or 1
	WrapS  Wrap
	WrapT  Wrap
	Offset [2]float64 // KHR_texture_transform; identity is 0, 0
	Rot    float64    // radians, counter-clockwise
	Scale  [2]float64 // identity is 1, 1
}

// Material is a metallic-roughness material with glTF's defaults filled in.
type Material struct {
	Index             int    // in the glTF file's materials array
	Name              string // never empty: "material_<Index>" when unnamed
	BaseColor         [4]float32
	Metallic          float32
	Roughness         float32
	NormalScale       float32
	OcclusionStrength float32
	Emissive          [3]float32 // KHR_materials_emissive_strength multiplied in
	AlphaMode         AlphaMode
	AlphaCutoff       float32
	DoubleSided       bool
	Unlit             bool

	BaseColorTex, MetalRoughTex, NormalTex, OcclusionTex, EmissiveTex TextureRef
}

// Image is one image that some material uses.
type Image struct {
	Index int    // in the glTF file's images array
	Name  string // the file's name for it, may be empty
	Place string // such as "images[3]", or where another file names it
	URI   string // decoded relative URI as the file gives it, empty when embedded
	MIME  string // from the leading bytes: image/png, image/jpeg, image/webp, image/ktx2, ... or ""
	file  string // absolute path when external
	at    extent // the bytes
	// check, when set, returns an error for bytes that are not those that a plan knows.
	check func(data []byte) error
}

// Light is a KHR_lights_punctual light, placed.
type Light struct {
	Name       string
	Kind       string // directional, point or spot
	Color      [3]float64
	Intensity  float64 // candela (point, spot) or lux (directional)
	Range      float64 // metres, 0 = unlimited
	InnerCone  float64 // radians, half angle
	OuterCone  float64 // radians, half angle
	World      geom.Mat4
	SourceNode int // index in the glTF file's nodes array
}

// Camera is a perspective camera, placed. An infinite far plane is 0.
type Camera struct {
	Name         string
	FovY         float64 // radians
	Aspect       float64 // 0 when the file gives none
	Near, Far    float64
	World        geom.Mat4
	SourceNode   int
	Orthographic bool
}

// Note reports something that was left out or repaired, once per kind.
type Note struct {
	Code    string `json:"code"`            // stable, such as "animations-skipped"
	Count   int    `json:"count"`           // how often it occurred
	Message string `json:"message"`         // one line, without the count
	Where   string `json:"where,omitempty"` // the first place, such as "meshes[2].primitives[0]"
	Warning bool   `json:"warning"`         // false: merely informative
}
