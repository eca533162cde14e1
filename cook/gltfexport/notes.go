package gltfexport

import (
	"strings"

	"github.com/untoldkit/untold/cook/gltfscene"
)

// maxWhere bounds the places in notes, in bytes.
const maxWhere = 200

// Note reports something that was left out or changed, once per kind.
type Note = gltfscene.Note

// wordings fixes the order and the wording of the notes.
var wordings = []Note{
	{Code: "failed-tiles", Message: "tiles could not be cooked and have no file", Warning: true},
	{Code: "level-missing", Message: "tiles lack the wanted level; they are exported in full"},
	{Code: "interior-tiles", Message: "tiles that are wanted only from within have no place in the pyramid; they are left out"},
	{Code: "texture-missing", Message: "texture files are missing; their slots are empty", Warning: true},
	{Code: "texture-refused", Message: "texture paths lead out of the container's folder; their slots are empty", Warning: true},
	{Code: "texture-damaged", Message: "texture files are damaged or cannot be read; their slots are empty", Warning: true},
	{Code: "texture-format", Message: "textures are in a format that glTF lacks and that is not decoded; their slots are empty"},
	{Code: "texture-size", Message: "compressed textures have more texels than are decoded, 8192 x 8192; their slots are empty", Warning: true},
	{Code: "channels", Message: "materials keep metallic and roughness in other channels than glTF; the textures were combined into new ones"},
	{Code: "channels-lost", Message: "metallic and roughness textures could not be combined; one stands for both", Warning: true},
	{Code: "height-map", Message: "materials have a height map, which glTF lacks"},
	{Code: "material-clamped", Message: "materials have factors outside glTF's ranges; they are clamped", Warning: true},
	{Code: "not-finite", Message: "vertices hold numbers that are not finite; they became 0", Warning: true},
	{Code: "direction-missing", Message: "vertices have a normal or tangent without direction; it became +Z or +X", Warning: true},
	{Code: "transform", Message: "transforms are not finite or not affine; they became affine or the identity", Warning: true},
	{Code: "shear", Message: "sheared transforms became two nodes each"},
	{Code: "empty-mesh", Message: "mesh records without triangles are left out"},
	{Code: "light-skipped", Message: "lights cannot be told in glTF (area lights) or are faulty; they are left out", Warning: true},
	{Code: "light-units", Message: "lights have radiometric units; their intensities were taken as they are"},
	{Code: "camera-skipped", Message: "cameras with an impossible field of view or clip range are left out", Warning: true},
}

// FailedTiles is the note about tiles of a manifest that have no file.
func FailedTiles(n int, first string) Note {
	var s notes
	s.add("failed-tiles", n, first)
	return s.list()[0]
}

// notes counts what happened, by code.
type notes struct{ by map[string]*Note }

// add counts n occurrences; the first place is kept.
func (s *notes) add(code string, n int, where string) {
	if n == 0 {
		return
	}
	if s.by == nil {
		s.by = map[string]*Note{}
	}
	if k, ok := s.by[code]; ok {
		k.Count += n
		return
	}
	if len(where) > maxWhere { // a hostile name
		where = strings.ToValidUTF8(where[:maxWhere], "") + "..."
	}
	s.by[code] = &Note{Count: n, Where: where}
}

// list returns the notes in their fixed order, never nil.
func (s *notes) list() []Note {
	out := []Note{}
	for _, w := range wordings {
		if n, ok := s.by[w.Code]; ok {
			w.Count, w.Where = n.Count, n.Where
			out = append(out, w)
		}
	}
	return out
}
