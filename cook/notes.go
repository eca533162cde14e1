package cook

import (
	"sync"

	"github.com/untoldkit/untold/cook/gltfscene"
)

// Note reports something that was left out, changed or suspicious, once per
// kind.
type Note = gltfscene.Note

// notes gathers Notes from several goroutines. Its result does not depend on
// their order: each kind keeps the smallest place.
type notes struct {
	mu   sync.Mutex
	by   map[string]*Note
	rank map[string]int
	more map[string]string
}

// cookNotes fixes the order and wording of the notes of this package.
var cookNotes = []Note{
	{Code: "texture-format-skipped", Message: "textures in a format that cannot be staged are left out", Warning: true},
	{Code: "texture-too-large", Message: "images need too much memory to be converted and are left out", Warning: true},
	{Code: "texture-damaged-skipped", Message: "damaged images are left out", Warning: true},
	{Code: "texture-converted", Message: "images were converted: WebP and KTX2 to PNG, 16 to 8 bits"},
	{Code: "texture-kept", Message: "images cannot be decoded and stay as they are, without a smaller or compressed copy", Warning: true},
	{Code: "texture-two-roles", Message: "images serve both as a colour and as data or a normal map and get a file for each"},
	{Code: "uv-set-mismatch", Message: "textures of one material use different UV sets; the base colour's is stored", Warning: true},
	{Code: "texture-transform-mismatch", Message: "textures of one material have different transforms; the base colour's is baked", Warning: true},
	{Code: "uv-clamped", Message: "vertices have texture coordinates beyond the range of half floats; they are clamped", Warning: true},
	{Code: "normals-repaired", Message: "vertices have a normal without a direction (zero, or flattened by their node); they take their face's", Warning: true},
	{Code: "tangents-repaired", Message: "vertices have a tangent without a direction; it is made from the texture coordinates"},
	{Code: "degenerate-triangles", Message: "triangles without area were dropped"},
	{Code: "empty-object", Message: "objects have no triangle with an area", Warning: true},
	{Code: "black-lifted", Message: "black base colours were lifted to 0.001, because the reference engine draws black as white"},
	{Code: "partial-scene", Message: "objects are left out: only a part of the scene is cooked (--sample-fraction, --perimeter-depth)"},
	{Code: "recentred", Message: "coordinates lie far from the origin; an offset is taken off all of them, in double precision, and stands in the manifest as origin_offset"},
	{Code: "coordinates-far", Message: "coordinates lie farther than 10 km from the origin, where single precision is coarse; --recenter auto takes an offset off", Warning: true},
	{Code: "extra-ignored", Message: "node extras are ignored, because they are no texts", Warning: true},
	{Code: "annotation-unreadable", Message: "objects carry a node id that has no known form", Warning: true},
	{Code: "annotations-followed", Message: "objects carry nodes and tiers of their own, which are followed; --partition does not matter"},
	{Code: "annotation-missing", Message: "objects of an annotated scene carry no node and go to the shared bucket", Warning: true},
	{Code: "levels-without-room", Message: "levels are not made: the radii leave no room, or the engine would not use them", Warning: true},
	{Code: "levels-not-paying", Message: "coarser levels would save too little and are not made, which is as it should be; --report says which"},
	{Code: "lod-error-visible", Message: "levels show more than --lod-error-pixels where the radii put them", Warning: true},
	{Code: "store-failed", Message: "the store of results fails, and the cook goes on without it", Warning: true},
	{Code: "renamed-objects", Message: "objects share a name; the manifest numbers them"},
}

// add counts n occurrences of a kind; where is kept when it has the smallest
// rank so far (the position in a deterministic order).
func (s *notes) add(code string, n, rank int, where string) {
	if n == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by, s.rank = map[string]*Note{}, map[string]int{}
	}
	note, ok := s.by[code]
	if !ok {
		note = &Note{Code: code, Where: where}
		s.by[code], s.rank[code] = note, rank
	}
	note.Count += n
	if rank < s.rank[code] {
		s.rank[code], note.Where = rank, where
	}
}

// members adds what was noted about objects.
func (s *notes) members(list []memberNote, objects []object) {
	for _, n := range list {
		s.add(n.Code, n.Count, n.Member, objects[n.Member].name)
	}
}

// detail puts text behind the message of a kind that was added.
func (s *notes) detail(code, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.more == nil {
		s.more = map[string]string{}
	}
	s.more[code] = text
}

// list returns the notes in their fixed order.
func (s *notes) list() []Note {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Note
	for _, k := range cookNotes {
		if n, ok := s.by[k.Code]; ok {
			k.Count, k.Where = n.Count, n.Where
			if more := s.more[k.Code]; more != "" {
				k.Message += ": " + more
			}
			out = append(out, k)
		}
	}
	return out
}

// allNotes lists the notes of the import, then those of this package; never
// nil, so that JSON shows a list.
func allNotes(s *gltfscene.Scene, ns *notes) []Note {
	return append(append([]Note{}, s.Notes...), ns.list()...)
}
