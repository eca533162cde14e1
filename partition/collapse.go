package partition

import (
	"cmp"
	"slices"
)

// group is what becomes a tile: the objects of one tier in one node.
type group struct {
	node node
	tier Tier
}

// collapse moves groups with too few objects into the parent node, the
// deepest first, whole: so a group never loses a part of its objects.
func (r *floorRun) collapse() {
	if r.opts.MinObjects <= 1 {
		return
	}
	counts := map[group]int{}
	var levels [kdDepth + 1][]group // by depth; not the order of the map
	add := func(g group, n int) {
		if counts[g] == 0 {
			levels[g.node.depth()] = append(levels[g.node.depth()], g)
		}
		counts[g] += n
	}
	for _, i := range r.order {
		if r.plan.Objects[i].InTiles {
			add(group{r.nodes[i], r.plan.Objects[i].Tier}, 1)
		}
	}
	moved := map[group]bool{}
	for depth := len(levels) - 1; depth > 0; depth-- {
		for _, g := range levels[depth] {
			if counts[g] < r.opts.MinObjects {
				moved[g] = true
				add(group{g.node.parent(), g.tier}, counts[g])
			}
		}
	}
	for _, i := range r.order {
		c := &r.plan.Objects[i]
		for c.InTiles && moved[group{r.nodes[i], c.Tier}] {
			r.nodes[i] = r.nodes[i].parent()
		}
	}
}

// collapseCompat is the reference's way: passes over the objects that do not
// span, by name; each moves alone while its group has too few objects, which
// is counted by the first guess of the tier.
func (r *floorRun) collapseCompat() {
	if r.opts.MinObjects <= 1 {
		return
	}
	counts := map[group]int{}
	var local []int32
	for _, i := range r.order {
		if r.objects[i].Box.IsEmpty() {
			continue
		}
		counts[group{r.nodes[i], r.guessed[i]}]++
		if !r.plan.Objects[i].Spanning {
			local = append(local, i)
		}
	}
	slices.SortStableFunc(local, func(a, b int32) int { return cmp.Compare(r.objects[a].Name, r.objects[b].Name) })
	// An object that stays once stays for good: its group no longer shrinks.
	for len(local) > 0 {
		still := local[:0]
		for _, i := range local {
			g := group{r.nodes[i], r.guessed[i]}
			if g.node.depth() == 0 || counts[g] >= r.opts.MinObjects {
				continue
			}
			counts[g]--
			r.nodes[i] = g.node.parent()
			counts[group{r.nodes[i], g.tier}]++
			still = append(still, i)
		}
		local = still
	}
}
