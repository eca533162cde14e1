package manifestbuild

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/tileid"
)

// entry is a tile with its files.
type entry struct {
	id    string
	full  *payload
	lods  []numbered // by number
	hlods []named    // by suffix
	old   *manifest.Tile

	// What the id says.
	coord *[3]int
	node  tileid.Node
	tier  string // "" in grids
}

// numbered is a LOD, <id>_lod<n>; named an HLOD, <id><suffix>.
type (
	numbered struct {
		number int
		*payload
	}
	named struct {
		suffix string
		*payload
	}
)

// builder is the state of one Build.
type builder struct {
	opts    *Options
	result  *Result
	entries []*entry
	shared  *payload
	mode    string

	nodes map[string]*payload // of the older manifest's pyramid, by file name

	lostLevels int    // of the older manifest that have no file
	lostLevel  string // the first one
}

func (b *builder) note(code, where string, warning bool, format string, args ...any) {
	b.result.Notes = append(b.result.Notes, Note{Code: code, Message: fmt.Sprintf(format, args...), Where: where, Warning: warning})
}

// sort tells tiles, levels and the bucket apart by their headers, and finds
// the tiles of the levels.
func (b *builder) sort(payloads []*payload) error {
	older, olderID := b.olderTiles()
	byID := map[string]*entry{}
	for _, p := range payloads {
		switch p.kind {
		case format.FileShared:
			if b.shared != nil {
				return fmt.Errorf("%w: %s and %s are both a shared bucket; name the files of one scene", ErrMixed, b.shared.path, p.path)
			}
			b.shared = p
		case format.FileTile:
			e := &entry{id: p.stem(), full: p, old: older[p.path]}
			if e.old == nil {
				e.old = olderID[e.id] // the folder has another name by now
			}
			if e.old != nil {
				e.id = e.old.ID
			}
			if first := byID[e.id]; first != nil {
				return fmt.Errorf("%w: %s and %s are both the tile %s; name the files of one scene", ErrMixed, first.full.path, p.path, e.id)
			}
			byID[e.id] = e
			b.entries = append(b.entries, e)
		}
	}
	if len(b.entries) == 0 && b.shared == nil {
		return fmt.Errorf("%w among %d files: their headers say lod or hlod, or there are none", ErrNoTiles, len(payloads))
	}
	o := b.owners()
	b.nodes = b.olderNodes()
	for _, p := range payloads {
		if _, ok := b.nodes[path.Base(p.path)]; ok && p.kind == format.FileHLOD {
			b.nodes[path.Base(p.path)] = p
		} else if p.kind == format.FileLOD || p.kind == format.FileHLOD {
			b.level(p, o, older[p.path])
		}
	}
	for _, e := range b.entries {
		slices.SortFunc(e.lods, func(x, y numbered) int { return x.number - y.number })
		slices.SortFunc(e.hlods, func(x, y named) int { return strings.Compare(x.suffix, y.suffix) })
	}
	return nil
}

// olderTiles maps the paths, also of levels, and the ids of the older manifest
// to its tiles.
func (b *builder) olderTiles() (byPath, byID map[string]*manifest.Tile) {
	byPath, byID = map[string]*manifest.Tile{}, map[string]*manifest.Tile{}
	if b.opts.From == nil {
		return byPath, byID
	}
	for i := range b.opts.From.Tiles {
		t := &b.opts.From.Tiles[i]
		byPath[t.Path], byID[t.ID] = t, t
		for _, levels := range [][]manifest.Level{t.HLODLevels, t.LODLevels} {
			for k := range levels {
				byPath[levels[k].Path] = t
			}
		}
	}
	return byPath, byID
}

var lodNumber = regexp.MustCompile(`^_lod([0-9]{1,4})$`)

// owners finds tiles: by their place and name, and by the older manifest's
// entry.
type owners struct {
	byStem map[string]*entry // path without the ending
	byOld  map[*manifest.Tile]*entry
}

func (b *builder) owners() owners {
	o := owners{map[string]*entry{}, map[*manifest.Tile]*entry{}}
	for _, e := range b.entries {
		o.byStem[e.full.path[:len(e.full.path)-len(path.Ext(e.full.path))]] = e
		if e.old != nil {
			o.byOld[e.old] = e
		}
	}
	return o
}

// find returns the tile of a level and what the level's name adds: the one
// that the older manifest has, else the one with the longest name in the same
// folder that the level's begins with.
func (o owners) find(p *payload, old *manifest.Tile) (owner *entry, suffix string) {
	if e := o.byOld[old]; e != nil {
		if rest, ok := strings.CutPrefix(p.stem(), e.full.stem()); ok {
			return e, rest
		}
	}
	stem := p.path[:len(p.path)-len(path.Ext(p.path))]
	for at := strings.LastIndexByte(stem, '_'); at > 0; at = strings.LastIndexByte(stem[:at], '_') {
		if e := o.byStem[stem[:at]]; e != nil {
			return e, stem[at:]
		}
	}
	return nil, ""
}

// level gives a level to its tile.
func (b *builder) level(p *payload, o owners, old *manifest.Tile) {
	owner, suffix := o.find(p, old)
	if owner == nil {
		b.note("orphan", p.path, true, "no tile has this %s: it is left out", p.kind)
		return
	}
	if p.kind == format.FileHLOD {
		owner.hlods = append(owner.hlods, named{suffix, p})
		return
	}
	m := lodNumber.FindStringSubmatch(suffix)
	if m == nil {
		b.note("odd-name", p.path, true, "a lod is named <tile id>_lod<number>: it is left out")
		return
	}
	n, _ := strconv.Atoi(m[1])
	owner.lods = append(owner.lods, numbered{n, p})
}

// chooseMode reads the ids and sorts the tiles as a cook does.
func (b *builder) chooseMode() error {
	count := map[string]int{}
	example := map[string]string{}
	for _, e := range b.entries {
		kind := e.parse()
		if count[kind]++; count[kind] == 1 {
			example[kind] = e.id
		}
	}
	modes := []string{manifest.ModeUniformGrid, manifest.ModeQuadtreeFloor, manifest.ModeKDTreeFloor}
	for _, mode := range modes {
		if count[mode] == 0 {
			continue
		}
		if b.mode != "" {
			return fmt.Errorf("%w: %s is a tile of %s, %s of %s; name the files of one scene", ErrMixed, example[b.mode], b.mode, example[mode], mode)
		}
		b.mode = mode
	}
	if from := b.opts.From; from != nil && slices.Contains(modes, from.PartitioningMode) {
		floors := b.mode == manifest.ModeQuadtreeFloor || b.mode == manifest.ModeKDTreeFloor
		if b.mode != "" && floors != from.HasFloors() {
			return fmt.Errorf("%w: %s is a tile of %s, the older manifest is of %s", ErrMixed, example[b.mode], b.mode, from.PartitioningMode)
		}
		b.mode = from.PartitioningMode // annotated scenes have nodes of any tree
	}
	if b.mode == "" {
		b.mode = manifest.ModeUniformGrid
	}
	if n := count[""]; n > 0 {
		b.note("odd-id", example[""], false, "%d tiles have ids of their own, which say nothing about their place", n)
	}
	slices.SortFunc(b.entries, compareEntries)
	return nil
}

// parse reads the id and returns the mode that it belongs to, "" for none.
func (e *entry) parse() string {
	if c, ok := tileid.ParseGrid(e.id); ok {
		e.coord = &c
		return manifest.ModeUniformGrid
	}
	node, tier, ok := tileid.ParseFloorTile(e.id)
	if !ok {
		return ""
	}
	e.node, _ = tileid.ParseNode(node)
	e.tier = tier
	if e.node.Tree == 'K' {
		return manifest.ModeKDTreeFloor
	}
	return manifest.ModeQuadtreeFloor
}

// compareEntries orders grids by (tz, ty, tx), floors by node and tier as
// texts, all else behind them by id.
func compareEntries(x, y *entry) int {
	switch {
	case x.coord != nil && y.coord != nil:
		for _, a := range []int{2, 1, 0} {
			if c := x.coord[a] - y.coord[a]; c != 0 {
				return c
			}
		}
		return 0
	case x.coord != nil:
		return -1
	case y.coord != nil:
		return 1
	case x.tier != "" && y.tier != "":
		if c := strings.Compare(x.nodeText(), y.nodeText()); c != 0 {
			return c
		}
		return strings.Compare(x.tier, y.tier)
	case x.tier != "":
		return -1
	case y.tier != "":
		return 1
	}
	return strings.Compare(x.id, y.id)
}

// nodeText is the node's id as the tile id has it.
func (e *entry) nodeText() string { return e.id[:strings.LastIndexByte(e.id, '_')] }
