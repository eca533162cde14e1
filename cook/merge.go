package cook

import (
	"fmt"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/cook/mesh"
)

// drawable is a packed mesh with its names and material, ready to be written.
type drawable struct {
	name, meshName string
	material       int
	packed         *mesh.Packed
	identity       bool           // keeps its name and stays one mesh
	atlas          *atlasMaterial // replaces material
	level          int            // of an authored LOD group; 0 is its finest

	// Of a mesh that the container stores once.
	instance  instanceKey // zero for others
	transform [16]float32 // of the entity
}

// maxVertices16 is how many vertices 16-bit indices can name.
const maxVertices16 = 65535

// merge joins the drawables of one material into one mesh each, named after
// the first of them, in the order of first appearance. Drawables that keep
// their identity stay as they are. A merged mesh begins anew where 16-bit
// indices would end, and single meshes beyond that are cut when two bytes per
// index are worth more than the vertices that the pieces share.
func merge(in []drawable, class []int) []drawable {
	var out []drawable
	open := map[int]int{} // material class -> index into out
	for _, d := range in {
		if d.identity {
			out = append(out, d)
			continue
		}
		n, key := d.packed.VertexCount(), class[d.material]
		if k, ok := open[key]; ok && out[k].packed.VertexCount()+n <= maxVertices16 {
			out[k].packed.Append(d.packed)
			continue
		}
		if n <= maxVertices16 {
			open[key] = len(out)
			out = append(out, d)
			continue
		}
		for i, p := range d.packed.Split16() {
			q := d
			if q.packed = p; i > 0 {
				q.name = fmt.Sprintf("%s_part%d", d.name, i+1)
				q.meshName = fmt.Sprintf("%s_part%d", d.meshName, i+1)
			}
			out = append(out, q)
		}
	}
	return out
}

// materialClasses numbers materials so that two get the same number when they
// agree in every field that is written, whatever their names are. Images count
// as equal when their content does.
func materialClasses(materials []gltfscene.Material, staged []texture.Staged) []int {
	byFile := map[string]int{}
	byValue := map[gltfscene.Material]int{}
	out := make([]int, len(materials))
	for i, m := range materials { // m is a copy
		m.Index, m.Name = 0, ""
		for _, t := range slots(&m) {
			image := -1
			if t.Image >= 0 && staged[t.Image].File != "" {
				k, ok := byFile[staged[t.Image].File]
				if !ok {
					k = t.Image
					byFile[staged[t.Image].File] = k
				}
				image = k
			}
			// Set, transform and wrapping are baked into the coordinates.
			*t = gltfscene.TextureRef{Image: image}
		}
		k, ok := byValue[m]
		if !ok {
			k = i
			byValue[m] = i
		}
		out[i] = k
	}
	return out
}
