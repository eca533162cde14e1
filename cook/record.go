package cook

import (
	"maps"
	"path"
	"slices"

	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/journal"
)

// record is what a cook found out about a payload, beside the bytes of its files: with
// both the payload need not be made again.
type record struct {
	Empty     bool               `json:"empty,omitempty"`
	Present   []int              `json:"present,omitempty"` // numbers within the members
	Full      fileRecord         `json:"full"`
	Bounds    records.Bounds     `json:"bounds"`
	Triangles int                `json:"triangles"`
	Textures  []string           `json:"textures,omitempty"`
	Scales    map[string]float64 `json:"scales,omitempty"`
	GPUBytes  int64              `json:"gpu_bytes"`
	Order     orderStats         `json:"order"`
	Levels    []levelRecord      `json:"levels,omitempty"`
	Drops     []Drop             `json:"drops,omitempty"`
	Notes     []memberNote       `json:"notes,omitempty"`
}

// fileRecord is a file by its name in the output folder.
type fileRecord struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// levelRecord is what is known of a level, made or not.
type levelRecord struct {
	Made       bool               `json:"made,omitempty"`
	File       fileRecord         `json:"file"`
	Triangles  int                `json:"triangles,omitempty"`
	Err        float64            `json:"error,omitempty"`
	Seen       float64            `json:"seen,omitempty"`
	GPUBytes   int64              `json:"gpu_bytes,omitempty"`
	Textures   []string           `json:"textures,omitempty"`
	Scales     map[string]float64 `json:"scales,omitempty"`
	Atlas      *fileRecord        `json:"atlas,omitempty"`
	AtlasBytes int64              `json:"atlas_bytes,omitempty"`
	AtlasGPU   int64              `json:"atlas_gpu,omitempty"`
}

// memberNote is a note about a member of a payload.
type memberNote struct {
	Code   string `json:"code"`
	Count  int    `json:"count"`
	Member int    `json:"member"` // its number
}

// recordOf describes a payload that has just been built.
func recordOf(p *payload) *record {
	number := make(map[int]int, len(p.members))
	for k, o := range p.members {
		number[o] = k
	}
	r := &record{
		Empty: p.empty, Bounds: p.bounds, Triangles: p.triangles, Textures: p.textures, Scales: p.scales,
		GPUBytes: p.gpuBytes, Order: p.order, Drops: slices.Clone(p.drops),
	}
	if !p.empty {
		r.Full = fileRecord{p.name, p.written.size, p.written.sha256}
	}
	for _, o := range p.present {
		r.Present = append(r.Present, number[o])
	}
	for _, n := range p.notes {
		n.Member = number[n.Member]
		r.Notes = append(r.Notes, n)
	}
	for k := range p.levels {
		l := &p.levels[k]
		s := levelRecord{
			Made: l.made, Triangles: l.triangles, Err: l.err, Seen: l.seen, GPUBytes: l.gpuBytes,
			Textures: l.textures, Scales: l.scales, Atlas: l.atlas, AtlasBytes: l.atlasBytes, AtlasGPU: l.atlasGPU,
		}
		if l.made {
			s.File = fileRecord{l.file, l.written.size, l.written.sha256}
		}
		r.Levels = append(r.Levels, s)
	}
	return r
}

// fits reports whether a record can be that of a payload. A damaged one may not.
func (r *record) fits(p *payload) bool {
	inRange := func(k int) bool { return k >= 0 && k < len(p.members) }
	if len(r.Levels) != len(p.levels) || !r.Empty && r.Full.Name != p.name {
		return false
	}
	for _, k := range r.Present {
		if !inRange(k) {
			return false
		}
	}
	for _, n := range r.Notes {
		if !inRange(n.Member) {
			return false
		}
	}
	for k := range r.Levels {
		l := &r.Levels[k]
		if l.Made && (l.File.Name != p.levels[k].file || l.Atlas != nil && !l.Atlas.isTexture(path.Dir(p.name))) {
			return false
		}
	}
	return true
}

// restore fills in a payload as if it had been built.
func (r *record) restore(p *payload) {
	p.empty, p.bounds, p.triangles, p.gpuBytes, p.order = r.Empty, r.Bounds, r.Triangles, r.GPUBytes, r.Order
	p.textures, p.scales, p.drops = r.Textures, maps.Clone(r.Scales), slices.Clone(r.Drops)
	p.written = written{r.Full.Size, r.Full.SHA256}
	p.present, p.notes = nil, nil
	for _, k := range r.Present {
		p.present = append(p.present, p.members[k])
	}
	for _, n := range r.Notes {
		n.Member = p.members[n.Member]
		p.notes = append(p.notes, n)
	}
	for k := range r.Levels {
		s, l := &r.Levels[k], &p.levels[k]
		l.made, l.triangles, l.err, l.seen, l.gpuBytes = s.Made, s.Triangles, s.Err, s.Seen, s.GPUBytes
		l.textures, l.scales, l.atlas, l.atlasBytes, l.atlasGPU = s.Textures, maps.Clone(s.Scales), s.Atlas, s.AtlasBytes, s.AtlasGPU
		l.written = written{s.File.Size, s.File.SHA256}
	}
}

// files lists the files of a payload.
func (r *record) files() (out []fileRecord) {
	if !r.Empty {
		out = append(out, r.Full)
	}
	for k := range r.Levels {
		if l := &r.Levels[k]; l.Made {
			out = append(out, l.File)
			if l.Atlas != nil {
				out = append(out, *l.Atlas)
			}
		}
	}
	return out
}

// isTexture reports whether a file is a texture of the containers of a folder.
func (f fileRecord) isTexture(payloads string) bool {
	dir, name := path.Split(f.Name)
	return dir == path.Join(payloads, texture.Folder)+"/" && slices.Contains(textureExts, path.Ext(name))
}

// entry is a file as the journal knows it.
func (f fileRecord) entry() journal.Entry {
	return journal.Entry{Path: f.Name, Size: f.Size, SHA256: f.SHA256}
}
