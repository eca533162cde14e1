package format

import (
	"slices"
	"strings"
)

// stringRefs returns all references to strings from readable tables, sorted.
func (p *parser) stringRefs() []uint32 {
	var refs []uint32
	for i := range p.entities {
		refs = append(refs, p.entities[i].NameOffset)
	}
	for i := range p.meshes {
		refs = append(refs, p.meshes[i].NameOffset)
	}
	for i := range p.materials {
		refs = append(refs, p.materials[i].NameOffset)
	}
	for i := range p.textures {
		refs = append(refs, p.textures[i].NameOffset, p.textures[i].URIOffset)
	}
	slices.Sort(refs)
	return refs
}

// checkUnnamedStrings judges the strings of the table: those that no record
// names are counted, and have to be well-formed all the same. References judge
// the others.
func (p *parser) checkUnnamedStrings() {
	if !p.usable[ChunkStrings] {
		return
	}
	all := true // references are known
	for t := ChunkEntities; t <= ChunkTextures; t++ {
		all = all && p.usable[t]
	}
	refs, data, bad := p.stringRefs(), p.strings.data, p.strings.invalid
	unused, first := 0, 0
	for start := 0; start < len(data); {
		end, open := strings.IndexByte(data[start:], 0), false
		if end += start; end < start {
			end, open = len(data), true
		}
		k, _ := slices.BinarySearch(refs, uint32(start))
		named := k < len(refs) && int64(refs[k]) <= int64(end)
		if !named {
			if unused++; unused == 1 {
				first = start
			}
		}
		wrong := 0
		for ; wrong < len(bad) && bad[wrong].pos < end; wrong++ {
			continue
		}
		// A reference into the string has seen what is behind it.
		if wrong > 0 && (!named || int64(refs[k]) > int64(bad[wrong-1].pos)) {
			p.report(codeStringUTF8, p.stringAt(start), "a string at offset %d, which no record names, is not valid UTF-8", start)
		}
		bad = bad[wrong:]
		if open && (!named || int64(refs[k]) >= int64(len(data))) {
			p.report(codeStringUnterminated, p.stringAt(start), "the last string, at offset %d, which no record names, has no terminator", start)
		}
		start = end + 1
	}
	if unused > 0 && all {
		p.report(codeStringUnused, p.stringAt(first), "%d strings are not referenced, the first at offset %d", unused, first)
	}
}

// stringAt is the place of a string; compressed tables have none in the file.
func (p *parser) stringAt(offset int) place {
	c := p.chunk(ChunkStrings)
	if c.Compression != CompressNone {
		return inChunk(ChunkStrings, -1)
	}
	return inChunk(ChunkStrings, int64(c.Offset)+int64(offset))
}
