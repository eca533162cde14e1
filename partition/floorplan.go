package partition

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
)

// floorRun is one run of Quadtree or KDTree. The slices are parallel to
// objects.
type floorRun struct {
	opts    FloorOptions
	objects []Object
	order   []int32 // canonical
	plan    *Plan
	tree    tree
	words   []uint32 // bits of the words in the names
	guessed []Tier   // before the rule of minConfidence
	nodes   []node
	// annotations holds the usable ones; nil when the tree decides. Then
	// nodes are indices of annotated, the ids.
	annotations []*Annotation
	annotated   []string
}

func planFloors(objects []Object, opts FloorOptions, mode string) (*Plan, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	p, order, err := newPlan(objects)
	if err != nil {
		return nil, err
	}
	p.Mode, p.MinObjects = mode, opts.MinObjects
	r := &floorRun{
		opts: opts, objects: objects, order: order, plan: p,
		words: make([]uint32, len(objects)), guessed: make([]Tier, len(objects)), nodes: make([]node, len(objects)),
	}
	for _, i := range order {
		if o := &objects[i]; int(o.Tier) >= len(tierNames) {
			return nil, fmt.Errorf("%w: object %d %q: its tier is %v: use one of the constants", ErrBadOptions, o.ID, o.Name, o.Tier)
		}
	}
	r.readAnnotations()
	counts := r.guessTiers()
	profile := opts.Profile
	if !opts.Compat {
		profile = inferProfile(profile, p.HalfDiag, opts.TileSide, counts)
	}
	if r.annotations != nil {
		p.Mode, p.PreAnnotated = r.annotatedMode(), true
		r.followAnnotations()
	} else {
		r.plant(profile)
	}
	r.makeTiles()
	if opts.Compat {
		profile = inferProfile(profile, p.HalfDiag, opts.TileSide, r.countInTiles())
	}
	r.finish(profile)
	return p, nil
}

// guessTiers fills in tiers, dimensions and words, and counts objects by
// tier.
func (r *floorRun) guessTiers() (counts [len(tierNames)]int) {
	classifier := newClassifier(r.opts.Matching, r.opts.UntaggedTier)
	for _, i := range r.order {
		o, c := &r.objects[i], &r.plan.Objects[i]
		if o.Box.IsEmpty() {
			continue // ExportSkipped
		}
		var a *Annotation
		if r.annotations != nil {
			a = r.annotations[i]
		}
		g, words := classifier.guess(o, a)
		r.words[i], r.guessed[i] = words, g.tier
		c.Tier, c.TierConfidence, c.TierSource = g.settled(), g.confidence, g.source
		size := o.Box.Size()
		c.Dimensions = [3]float64{size[0], size[2], size[1]}
		counts[c.Tier]++
	}
	return counts
}

func (r *floorRun) countInTiles() (counts [len(tierNames)]int) {
	for i := range r.plan.Objects {
		if c := &r.plan.Objects[i]; c.InTiles {
			counts[c.Tier]++
		}
	}
	return counts
}

// plant makes the trees and places the objects in them.
func (r *floorRun) plant(profile string) {
	p := r.plan
	floors := r.cutFloors(profile)
	p.Floors = floors.info
	for _, i := range r.order {
		if b := r.objects[i].Box; !b.IsEmpty() {
			p.Objects[i].Floor = int32(floors.index(middle(b.Min[1], b.Max[1])))
		}
	}
	root := rectOf(p.SceneBounds)
	if p.Mode == manifest.ModeKDTreeFloor {
		r.tree = newKDTree(root, r.kdItems(), r.opts.Compat, r.opts.Balance)
	} else {
		r.tree = &quadtree{root: root, compat: r.opts.Compat}
	}
	for _, i := range r.order {
		o, c := &r.objects[i], &p.Objects[i]
		if o.Box.IsEmpty() {
			continue
		}
		r.nodes[i], c.Spanning = r.tree.place(int(c.Floor), rectOf(o.Box))
		r.route(int(i), r.nodes[i].depth())
	}
	if r.opts.Compat {
		r.collapseCompat()
	} else {
		r.collapse()
	}
}

// route decides between a tile and the shared bucket: a shell that spans a
// whole floor is wanted from everywhere.
func (r *floorRun) route(i, depth int) {
	o, c := &r.objects[i], &r.plan.Objects[i]
	switch {
	case o.Policy == PolicyForceShared:
		c.Export, c.Reasons = ExportShared, ForcedShared
	case c.Spanning && depth == 0 && c.Tier == ExteriorShell:
		if o.Policy == PolicyForceLocal {
			c.Export, c.Reasons = ExportLocal, SpansFloor|ForcedLocal
		} else {
			c.Export, c.Reasons = ExportShared, SpansFloor
		}
	default:
		c.Export = ExportLocal
	}
	c.InTiles = c.Export == ExportLocal
	if !c.InTiles {
		r.plan.Shared = append(r.plan.Shared, i)
	}
}

// readAnnotations keeps the annotations when enough objects have one.
func (r *floorRun) readAnnotations() {
	var found []*Annotation
	n, all := 0, 0
	for _, i := range r.order {
		o := &r.objects[i]
		if o.Box.IsEmpty() {
			continue
		}
		all++
		if a := o.annotation(); a != nil {
			if found == nil {
				found = make([]*Annotation, len(r.objects))
			}
			found[i] = a
			n++
		}
	}
	if n > 0 && float64(n) >= annotatedShare*float64(all) {
		r.annotations = found
	}
}

// annotatedMode is the mode whose nodes the annotations name: the kd-tree's
// when all of them are its.
func (r *floorRun) annotatedMode() string {
	for _, a := range r.annotations {
		if a != nil && !a.ofKDTree() {
			return manifest.ModeQuadtreeFloor
		}
	}
	return manifest.ModeKDTreeFloor
}

// followAnnotations puts the objects where their annotations say.
func (r *floorRun) followAnnotations() {
	p := r.plan
	base := 0
	if r.opts.Compat {
		base = 1
	}
	p.Floors = FloorInfo{Method: FloorsAnnotated, Base: base}
	index := map[string]node{}
	for _, i := range r.order {
		c, a := &p.Objects[i], r.annotations[i]
		if r.objects[i].Box.IsEmpty() {
			continue
		}
		if a == nil {
			c.Export, c.Reasons = ExportShared, NotAnnotated
			p.Shared = append(p.Shared, int(i))
			continue
		}
		n, ok := index[a.Node]
		if !ok {
			n = node(len(r.annotated))
			index[a.Node] = n
			r.annotated = append(r.annotated, a.Node)
		}
		r.nodes[i], c.Spanning, c.Floor = n, a.Spanning, int32(a.Floor-1)
		p.Floors.Count = max(p.Floors.Count, a.Floor)
		r.route(int(i), a.Depth)
	}
	height := p.SceneBounds.Max[1] - p.SceneBounds.Min[1]
	p.Floors.BandHeight = height / float64(max(p.Floors.Count, 1))
}

// place is one object on its way into a tile.
type place struct {
	group
	rank int32
}

// makeTiles groups the objects by node and tier.
func (r *floorRun) makeTiles() {
	p := r.plan
	places := make([]place, 0, len(r.order))
	for rank, i := range r.order {
		if c := &p.Objects[i]; c.InTiles {
			places = append(places, place{group{r.nodes[i], c.Tier}, int32(rank)})
		}
	}
	slices.SortFunc(places, func(a, b place) int {
		if a.node != b.node {
			return cmp.Compare(a.node, b.node)
		}
		if a.tier != b.tier {
			return cmp.Compare(a.tier, b.tier)
		}
		return cmp.Compare(a.rank, b.rank)
	})
	members := make([]int, len(places)) // shared by all tiles
	for from := 0; from < len(places); {
		to := from
		for ; to < len(places) && places[to].group == places[from].group; to++ {
			members[to] = int(r.order[places[to].rank])
		}
		p.Tiles = append(p.Tiles, r.tile(places[from].group, members[from:to:to]))
		from = to
	}
	slices.SortFunc(p.Tiles, func(a, b Tile) int {
		if c := cmp.Compare(a.NodeID, b.NodeID); c != 0 {
			return c
		}
		return cmp.Compare(a.Tier.String(), b.Tier.String())
	})
}

// tile makes a tile, but for what depends on the profile.
func (r *floorRun) tile(g group, members []int) Tile {
	t := Tile{Tier: g.tier, Objects: members, Content: geom.EmptyBox()}
	for _, i := range members {
		t.Content = t.Content.Union(r.objects[i].Box)
		t.Spanning = t.Spanning || r.plan.Objects[i].Spanning
	}
	t.Floor = int(r.plan.Objects[members[0]].Floor) + r.plan.Floors.Base
	t.Cell = t.Content
	if r.annotations != nil {
		t.NodeID = r.annotated[g.node]
	} else {
		t.NodeID = g.node.id(r.tree.letter())
		if !r.opts.Compat || !t.Spanning {
			// Adding zero turns a negative zero into a positive one.
			c := r.tree.rect(g.node)
			t.Cell.Min[0], t.Cell.Max[0] = c.min[0]+0, c.max[0]+0
			t.Cell.Min[2], t.Cell.Max[2] = 0-c.max[1], 0-c.min[1]
		}
	}
	t.ID = t.NodeID + "_" + g.tier.Code()
	return t
}

// finish fills in what depends on the profile, and the figures of the scene.
func (r *floorRun) finish(profile string) {
	p := r.plan
	p.Profile, p.ProfileRequested = profile, r.opts.Profile
	p.TierRadii = overrideRadii(TierRadii(profile, p.HalfDiag), r.opts.TierRadii)
	p.Defaults = defaultRadii(r.opts.TileSide, p.HalfDiag, r.opts.TierRadii)
	p.SharedRadii = SharedRadii(p.HalfDiag)
	var byTier [len(tierNames)]Radii
	for _, t := range p.TierRadii {
		tier, err := ParseTier(t.Tier)
		if err == nil && t.Priority != nil {
			byTier[tier] = Radii{t.Streaming, t.Unload, *t.Priority}
		}
	}
	zone, shell := r.shell()
	hasShell := !shell.IsEmpty()
	for i := range p.Tiles {
		t := &p.Tiles[i]
		t.Interior = t.Tier != ExteriorShell &&
			(r.opts.Compat || hasShell && profile == ProfileIndoor && Indoors(t.Content, shell))
		t.Radii = byTier[t.Tier]
		for _, o := range t.Objects {
			t.Radii.Priority = max(t.Radii.Priority, r.objects[o].PriorityHint)
		}
		t.Priority = t.Radii.Priority
	}
	for _, o := range p.Shared {
		p.SharedRadii.Priority = max(p.SharedRadii.Priority, r.objects[o].PriorityHint)
	}
	if hasShell {
		p.InteriorZone = &zone
	}
	side := r.tileSide()
	p.TileSize = geom.Vec3{side, DefaultTileHeight, side}
}

// interiorReach is how far, in metres, a tile may reach beyond the shell and
// still be inside: window sills do.
const interiorReach = 1

// Indoors reports whether a tile lies inside the shell seen from above, 1 m
// around it. The plot around a house is in no tile that is wanted only inside
// of it.
func Indoors(tile, shell geom.Box) bool {
	for _, a := range []int{0, 2} {
		if tile.Min[a] < shell.Min[a]-interiorReach || tile.Max[a] > shell.Max[a]+interiorReach {
			return false
		}
	}
	return true
}

// shell returns the interior zone, which is the box around the shell's tiles,
// or, where there are none, around what of it is in the shared bucket; and the
// box around both, within whose footprint a tile is interior. They are empty
// when there is no shell.
func (r *floorRun) shell() (zone, all geom.Box) {
	p := r.plan
	zone = geom.EmptyBox()
	for i := range p.Tiles {
		if p.Tiles[i].Tier == ExteriorShell {
			zone = zone.Union(p.Tiles[i].Content)
		}
	}
	all = zone
	for _, i := range p.Shared {
		if p.Objects[i].Tier == ExteriorShell {
			all = all.Union(r.objects[i].Box)
		}
	}
	if zone.IsEmpty() {
		zone = all
	}
	return zone, all
}

// tileSide is the footprint that nine of ten tiles stay below, at least 1 m.
func (r *floorRun) tileSide() float64 {
	n := len(r.plan.Tiles)
	if n == 0 {
		return 1
	}
	sides := make([]float64, n)
	for i := range sides {
		size := r.plan.Tiles[i].Content.Size()
		sides[i] = max(size[0], size[2])
	}
	slices.Sort(sides)
	return max(1, sides[min(int(.9*float64(n)), n-1)])
}
