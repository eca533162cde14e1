package manifest

import (
	"fmt"
	"strings"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest/band"
)

// sharedBy counts what the tiles of a manifest have in common, in the order of
// the first tile of each kind.
type sharedBy[K comparable] struct {
	order []K
	first map[K]int
	count map[K]int
}

func (s *sharedBy[K]) add(key K, tile int) {
	if s.count == nil {
		s.first, s.count = map[K]int{}, map[K]int{}
	}
	if s.count[key]++; s.count[key] == 1 {
		s.order = append(s.order, key)
		s.first[key] = tile
	}
}

// others says how many more tiles a finding is about.
func (s *sharedBy[K]) others(key K) string {
	switch n := s.count[key] - 1; n {
	case 0:
		return ""
	case 1:
		return ", and for 1 more tile"
	default:
		return fmt.Sprintf(", and for %d more tiles", n)
	}
}

// radii checks the order of the radii that tiles use.
func (v *validator) radii() {
	d := &v.m.StreamingDefaults
	v.radiiOrder(d.StreamingRadius, d.UnloadRadius, "/streaming_defaults", "")
	var kinds sharedBy[[2]float64]
	for i := range v.m.Tiles {
		if t := &v.m.Tiles[i]; t.StreamingRadius != nil || t.UnloadRadius != nil {
			b := v.m.BandsOf(t)
			kinds.add([2]float64{b.Streaming, b.Unload}, i)
		}
	}
	for _, k := range kinds.order {
		v.radiiOrder(k[0], k[1], v.tilePointer(kinds.first[k]), kinds.others(k))
	}
}

func (v *validator) radiiOrder(streaming, unload float64, at, others string) {
	if !(streaming >= 0 && unload > streaming) {
		v.add(codeRadii, at, "streaming radius %v m and unload radius %v m are not in order%s", streaming, unload, others)
	}
}

// bands reports the distances that the engine would change, with what it makes
// of them.
func (v *validator) bands() {
	type change struct{ before, after string }
	var changed sharedBy[change]
	var inside sharedBy[[2]float64]
	for i := range v.m.Tiles {
		b := v.m.BandsOf(&v.m.Tiles[i])
		// Radii in the wrong order have a finding of their own.
		if n := band.Normalize(b); !n.Near(b) && b.Unload > b.Streaming {
			changed.add(change{b.String(), n.String()}, i)
		}
		if len(b.LODs) > 0 && b.LODs[0] < b.Streaming {
			inside.add([2]float64{b.LODs[0], b.Streaming}, i)
		}
	}
	for _, k := range changed.order {
		v.parity(codeBands, v.tilePointer(changed.first[k]), "the engine changes the distances from (%s) to (%s)%s",
			k.before, k.after, changed.others(k))
	}
	for _, k := range inside.order {
		v.parity(codeLODInside, v.tilePointer(inside.first[k])+"/lod_levels",
			"the first lod begins at %v m, inside the streaming radius of %v m%s", k[0], k[1], inside.others(k))
	}
}

// reach notes switches beyond the distance at which the engine looks for tiles:
// there it never makes them.
func (v *validator) reach() {
	n, largest, at := 0, 0.0, ""
	note := func(levels []Level, pointer string) {
		for k := range levels {
			if d := levels[k].SwitchDistance; d > v.opts.QueryCeiling {
				n++
				if d > largest {
					largest, at = d, fmt.Sprintf("%s/%d/switch_distance", pointer, k)
				}
			}
		}
	}
	for i := range v.m.Tiles {
		t := &v.m.Tiles[i]
		note(t.LODLevels, v.tilePointer(i)+"/lod_levels")
		note(t.HLODLevels, v.tilePointer(i)+"/hlod_levels")
	}
	if n > 0 {
		v.add(codeEngineReach, at, "%d levels begin beyond the %v m within which the engine looks for tiles; the farthest at %v m", n, v.opts.QueryCeiling, band.Round(largest))
	}
}

// ceiling reports radii beyond the distance at which the engine lets
// everything go: only a note where this program cooked, which knows, or where
// it is the shared bucket's alone, whose box is around the camera; and nothing
// where this program cooked a scene so small that the engine finds all of it
// from anywhere in it.
func (v *validator) ceiling() {
	n, largest, at := 0, 0.0, ""
	note := func(unload float64, pointer string) {
		if unload > v.opts.QueryCeiling {
			n++
			if unload > largest {
				largest, at = unload, pointer
			}
		}
	}
	if b := v.m.SharedBucket; b != nil && b.UnloadRadius != nil {
		note(*b.UnloadRadius, "/shared_bucket/unload_radius")
	}
	bucket := n
	for i := range v.m.Tiles {
		pointer := "/streaming_defaults/unload_radius"
		if v.m.Tiles[i].UnloadRadius != nil {
			pointer = v.tilePointer(i) + "/unload_radius"
		}
		note(v.m.BandsOf(&v.m.Tiles[i]).Unload, pointer)
	}
	tiles, severity, own := n > bucket, finding.Info, strings.HasPrefix(v.m.Generator, ours)
	if tiles && !own {
		severity = newFinding(codeQueryCeiling, "", -1, "").Severity
	}
	switch {
	case n == 0 || own && v.within(v.opts.QueryCeiling):
	case own:
		v.grade(severity, codeQueryCeiling, at, "for the reference engine alone: it looks for tiles within %v m, and %d of these are shown from farther away, too",
			v.opts.QueryCeiling, n)
		v.findings[len(v.findings)-1].Hint = rules[codeEngineReach].hint
	default:
		v.grade(severity, codeQueryCeiling, at, "%d unload radii are beyond the %v m within which the engine looks for tiles; the largest is %v m",
			n, v.opts.QueryCeiling, band.Round(largest))
	}
}

// within tells whether no two points of the scene's tiles are farther apart
// than so many metres.
func (v *validator) within(distance float64) bool {
	box := geom.EmptyBox()
	for i := range v.m.Tiles {
		box = box.Union(v.m.Tiles[i].Bounds.Box())
	}
	return !box.IsEmpty() && box.Size().Len() <= distance
}
