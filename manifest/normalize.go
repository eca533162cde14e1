package manifest

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/internal/jsonscan"
	"github.com/untoldkit/untold/manifest/band"
	"github.com/untoldkit/untold/manifest/payloadpath"
)

// Change is one thing that Normalize rewrote.
type Change struct {
	Pointer string `json:"pointer"` // JSON pointer of the value or of the tile
	Message string `json:"message"`
}

// Normalized is the result of Normalize.
type Normalized struct {
	Text    []byte
	Changes []Change          // paths and centres first, then distances, each in the order of the text
	Refused []finding.Finding // paths that lead out of the folder and stay as they are
}

// Normalize rewrites the text of a manifest so that the reference engine takes
// its distances as they are (see band.Clean), lod_levels ascend, hlod_levels
// have one entry, every center is the middle of its bounds, and paths are
// relative with forward slashes. An absent center is filled in. All else stays
// as it is, byte for byte: unknown keys, their order, the white space.
// Normalizing the result changes nothing.
//
// A distance that a tile shares with others through streaming_defaults is
// changed there where it is wrong for the defaults themselves, else in the
// tile. Dropped levels are named in the changes; their files are not touched.
//
// The error is Decode's when the text has other faults than a center.
func Normalize(data []byte) (*Normalized, error) {
	if IsPlan(data) {
		return nil, errIsPlan()
	}
	if first := decode(data, false); len(first.errs) > 0 {
		if e := first.errs[0]; !isCenter(e.Pointer) {
			return nil, e
		}
		for _, e := range decode(data, true).errs {
			if !isCenter(e.Pointer) {
				return nil, e
			}
		}
	}
	n := &normalizer{data: data}
	n.paths()
	n.data, n.edits = apply(n.data, n.edits), nil
	d := decode(n.data, false)
	if d.err != nil {
		return nil, d.err // a center without bounds
	}
	n.distances(d)
	return &Normalized{Text: apply(n.data, n.edits), Changes: n.changes, Refused: n.refused}, nil
}

// isCenter reports whether a pointer is that of a tile's or the bucket's
// center, or a number in it.
func isCenter(pointer string) bool {
	rest, ok := strings.CutPrefix(pointer, "/shared_bucket")
	if !ok {
		if rest, ok = strings.CutPrefix(pointer, "/tiles/"); !ok {
			return false
		}
		rest = strings.TrimLeft(rest, "0123456789")
	}
	return rest == "/center" || strings.HasPrefix(rest, "/center/")
}

// normalizer gathers the edits of a text.
type normalizer struct {
	data    []byte
	edits   []replacement
	changes []Change
	refused []finding.Finding
}

func (n *normalizer) change(e replacement, pointer, format string, args ...any) {
	n.edits = append(n.edits, e)
	n.changes = append(n.changes, Change{pointer, human.OneLine(fmt.Sprintf(format, args...))})
}

// top returns the members of the top level.
func (n *normalizer) top() []member {
	s := &scanner{data: n.data}
	s.skipBOM()
	return objectMembers(n.data, s.pos)
}

// paths corrects paths and centres.
func (n *normalizer) paths() {
	top := n.top()
	if m, ok := find(top, "payload_dir_relative_to_manifest"); ok {
		n.path(m.Span, "/payload_dir_relative_to_manifest")
	}
	if m, ok := find(top, "colorLUT"); ok {
		n.pathOf(objectMembers(n.data, m.Start), "lutUri", "/colorLUT")
	}
	if m, ok := find(top, "colorGradeLUT"); ok {
		n.pathOf(objectMembers(n.data, m.Start), "lutUri", "/colorGradeLUT")
	}
	if m, ok := find(top, "shared_bucket"); ok {
		n.entry(m.Start, "/shared_bucket")
	}
	if m, ok := find(top, "tiles"); ok {
		for i, e := range arrayElements(n.data, m.Start) {
			n.entry(e.Start, fmt.Sprintf("/tiles/%d", i))
		}
	}
}

// entry corrects the paths and the centre of a tile or the bucket.
func (n *normalizer) entry(at int, pointer string) {
	members := objectMembers(n.data, at)
	n.pathOf(members, "path_relative_to_manifest", pointer)
	for _, key := range []string{"hlod_levels", "lod_levels"} {
		list, ok := find(members, key)
		if !ok {
			continue
		}
		for i, e := range arrayElements(n.data, list.Start) {
			n.pathOf(objectMembers(n.data, e.Start), "path", fmt.Sprintf("%s/%s/%d", pointer, key, i))
		}
	}
	n.center(members, pointer)
}

func (n *normalizer) pathOf(members []member, key, pointer string) {
	if m, ok := find(members, key); ok {
		n.path(m.Span, pointer+"/"+key)
	}
}

// path corrects one path, when the value is one.
func (n *normalizer) path(at jsonscan.Span, pointer string) {
	s := &scanner{data: n.data, pos: at.Start, lenient: 1}
	p := s.str()
	if s.failed() || len(s.notes) > 0 || p == "" || p == "." {
		return
	}
	slashed := strings.ReplaceAll(p, `\`, "/")
	if err := payloadpath.Check(slashed); err != nil {
		n.refused = append(n.refused, pathFinding(err, pointer))
		return
	}
	if clean := path.Clean(slashed); clean != p {
		n.change(replacement{at, jsonString(clean)}, pointer, "%q -> %q", human.Clip(p, 200), human.Clip(clean, 200))
	}
}

// center fills in or corrects the centre of an entry with bounds.
func (n *normalizer) center(members []member, pointer string) {
	box, ok := find(members, "bounds")
	if !ok {
		return
	}
	s := &scanner{data: n.data, pos: box.Start}
	b, complete := s.bounds()
	if s.failed() || !complete {
		return
	}
	want := jsonVec3(b.Center())
	was := "absent"
	if m, ok := find(members, "center"); ok {
		s := &scanner{data: n.data, pos: m.Start}
		var c [3]float64
		if count := s.floats(c[:]); !s.failed() && count >= len(c) && b.centered(c) {
			return
		}
		was = human.Clip(string(n.data[m.Start:m.End]), 80)
	}
	n.change(put(n.data, members, "center", want, "cell_bounds", "bounds"), pointer+"/center", "%s -> %s", was, want)
}

// distances makes the radii and switches clean.
func (n *normalizer) distances(d *document) {
	m, top := d.manifest, n.top()
	if at, ok := find(top, "streaming_defaults"); ok {
		n.defaults(&m.StreamingDefaults, objectMembers(n.data, at.Start))
	}
	if at, ok := find(top, "shared_bucket"); ok && m.SharedBucket != nil {
		n.bucketPrefetch(m, objectMembers(n.data, at.Start))
	}
	for i := range m.Tiles {
		n.tile(m, &m.Tiles[i], int(d.tiles[i].offset), fmt.Sprintf("/tiles/%d", d.tiles[i].index))
	}
}

// defaults corrects the defaults, in the text and in v.
func (n *normalizer) defaults(v *StreamingDefaults, members []member) {
	b := band.Bands{Streaming: v.StreamingRadius, Unload: v.UnloadRadius}
	if v.PrefetchRadius != nil {
		b.Prefetch = *v.PrefetchRadius
	}
	clean := band.Clean(b).Bands
	n.radii(b, clean, members, "/streaming_defaults")
	v.StreamingRadius, v.UnloadRadius = clean.Streaming, clean.Unload
	if v.PrefetchRadius != nil {
		v.PrefetchRadius = &clean.Prefetch
	}
}

// radii writes the radii that differ.
func (n *normalizer) radii(was, is band.Bands, members []member, pointer string) {
	for _, r := range []struct {
		key     string
		was, is float64
		behind  []string
	}{
		{"streaming_radius", was.Streaming, is.Streaming, []string{"path_relative_to_manifest"}},
		{"unload_radius", was.Unload, is.Unload, []string{"streaming_radius", "path_relative_to_manifest"}},
		{"prefetch_radius", was.Prefetch, is.Prefetch, []string{"unload_radius", "streaming_radius", "path_relative_to_manifest"}},
	} {
		if r.was != r.is {
			n.change(put(n.data, members, r.key, jsonFloat(r.is), r.behind...), pointer+"/"+r.key, "%v -> %v", r.was, r.is)
		}
	}
}

// bucketPrefetch gives the bucket a prefetch radius of its own where it would
// take the default, which nobody clamps there.
func (n *normalizer) bucketPrefetch(m *Manifest, members []member) {
	b, def := m.SharedBucket, m.StreamingDefaults.PrefetchRadius
	if def == nil || b.PrefetchRadius != nil {
		return
	}
	p := max(*def, 0)
	if b.StreamingRadius != nil {
		p = max(p, *b.StreamingRadius)
	}
	n.change(put(n.data, members, "prefetch_radius", jsonFloat(p), "unload_radius", "streaming_radius", "path_relative_to_manifest"),
		"/shared_bucket/prefetch_radius", "absent -> %v: the default applies to the bucket, too", p)
}

// tile corrects the distances of a tile, whose object begins at a position.
func (n *normalizer) tile(m *Manifest, t *Tile, at int, pointer string) {
	b := m.BandsOf(t)
	b.LODs = nil
	for _, l := range t.LODLevels {
		b.LODs = append(b.LODs, l.SwitchDistance)
	}
	fit := band.Clean(b)
	if slices.IsSorted(b.LODs) && fit.Bands.Equal(b) && len(t.HLODLevels) <= 1 && (len(t.HLODLevels) == 0 || b.HLOD > 0) {
		return
	}
	members := objectMembers(n.data, at)
	n.radii(b, fit.Bands, members, pointer)
	reasons := map[[2]int]string{}
	for _, d := range fit.Dropped {
		list := 0
		if d.HLOD {
			list = 1
		}
		reasons[[2]int{list, d.Level}] = d.Reason
	}
	n.levels(members, "lod_levels", fit.LODs, t.LODLevels, pointer, func(i int) string { return reasons[[2]int{0, i}] })
	n.levels(members, "hlod_levels", fit.HLOD, t.HLODLevels, pointer, func(i int) string {
		switch reason := reasons[[2]int{1, i}]; {
		case i > 0:
			return "the engine uses the first level only"
		case reason != "":
			return reason
		}
		return "a distance that is not positive switches it off"
	})
}

// levels rewrites a list of levels: the ones that are kept, in their order,
// with their distances.
func (n *normalizer) levels(members []member, key string, kept []band.Switch, levels []Level, pointer string, dropped func(level int) string) {
	list, ok := find(members, key)
	if !ok || len(levels) == 0 {
		return
	}
	pointer += "/" + key
	elements := arrayElements(n.data, list.Start)
	texts := make([]string, 0, len(kept))
	same := len(kept) == len(levels)
	for rank, k := range kept {
		same = same && k.Level == rank
		texts = append(texts, n.level(elements[k.Level], k.Distance, levels[k.Level].SwitchDistance, fmt.Sprintf("%s/%d", pointer, k.Level)))
	}
	for i := range levels {
		if !slices.ContainsFunc(kept, func(k band.Switch) bool { return k.Level == i }) {
			n.changes = append(n.changes, Change{
				fmt.Sprintf("%s/%d", pointer, i),
				human.OneLine(fmt.Sprintf("dropped with %q: %s", human.Clip(levels[i].Path, 200), dropped(i))),
			})
		}
	}
	if !slices.IsSortedFunc(kept, func(a, b band.Switch) int { return a.Level - b.Level }) {
		n.changes = append(n.changes, Change{pointer, "sorted by switch_distance"})
	}
	if !same {
		n.edits = append(n.edits, rearrange(n.data, list.Span, elements, texts))
		return
	}
	for rank, k := range kept {
		if k.Distance != levels[rank].SwitchDistance {
			n.edits = append(n.edits, replacement{elements[rank], texts[rank]})
		}
	}
}

// level returns the text of a level with another distance.
func (n *normalizer) level(at jsonscan.Span, distance, was float64, pointer string) string {
	text := n.data[at.Start:at.End]
	if distance == was {
		return string(text)
	}
	n.changes = append(n.changes, Change{pointer + "/switch_distance", fmt.Sprintf("%v -> %v", was, distance)})
	return string(apply(text, []replacement{put(text, objectMembers(text, 0), "switch_distance", jsonFloat(distance))}))
}
