package main

import (
	"slices"
	"strings"
	"unicode"
)

// role says what a part is good for.
type role int

const (
	roleOther role = iota
	roleRoad
	roleBuilding
	roleGround
	roleTree
	roleCar
	roleLight
	roleProp
	roleWall
	roleFloor
	roleDoor
	rolePillar
	roleLoot // chests, barrels: what stands in a dungeon's rooms
	roleCount
)

var roleNames = [roleCount]string{"other", "road", "building", "ground", "tree", "car", "light", "prop", "wall", "floor", "door", "pillar", "loot"}

func (r role) String() string { return roleNames[r] }

// rules are tried in order: the first whose word is a token of the name
// decides. Words of four letters and more also match inside a token, after
// all exact matches failed, so that "firehydrant" is found.
var rules = []struct {
	role  role
	words []string
}{
	{roleRoad, []string{"road", "street", "roads", "lane", "highway"}},
	{roleLight, []string{"streetlight", "trafficlight", "lamp", "lamppost", "light", "lantern"}},
	{roleProp, []string{"watertower", "hydrant", "bench", "dumpster", "trash", "bin", "box", "sign", "fence", "mailbox", "planter", "fountain"}},
	{roleBuilding, []string{"building", "house", "skyscraper", "tower", "shop", "store", "garage", "home", "church", "castle", "factory", "warehouse"}},
	{roleCar, []string{"car", "truck", "bus", "van", "taxi", "vehicle", "sedan", "hatchback"}},
	{roleWall, []string{"wall", "walls"}},
	{roleDoor, []string{"door", "gate", "doorway"}},
	{rolePillar, []string{"pillar", "column"}},
	{roleFloor, []string{"floor", "floors"}},
	{roleGround, []string{"grass", "pavement", "ground", "base", "terrain", "plaza", "lawn"}},
	{roleTree, []string{"tree", "trees", "bush", "plant", "shrub", "hedge"}},
	{roleLoot, []string{"chest", "barrel", "crate", "table", "chair", "shelf", "torch", "candle", "coin", "key", "bed", "keg", "bottle", "rubble", "banner", "sword", "shield"}},
	{roleFloor, []string{"tile"}},
}

// tokens splits a name at separators, digits and changes of case.
func tokens(name string) []string {
	var out []string
	cur := []rune{}
	flush := func() {
		if len(cur) > 0 {
			out = append(out, strings.ToLower(string(cur)))
			cur = cur[:0]
		}
	}
	lower := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r):
			flush()
			lower = false
			continue
		case unicode.IsUpper(r) && lower:
			flush()
		}
		lower = unicode.IsLower(r)
		cur = append(cur, r)
	}
	flush()
	return out
}

// guessRole returns the role of a name and the word that decided.
func guessRole(name string) (role, string) {
	list := tokens(name)
	for _, rule := range rules {
		for _, w := range rule.words {
			if slices.Contains(list, w) {
				return rule.role, w
			}
		}
	}
	for _, rule := range rules {
		for _, w := range rule.words {
			for _, t := range list {
				if len(w) >= 4 && strings.Contains(t, w) {
					return rule.role, w
				}
			}
		}
	}
	return roleOther, ""
}

// Kinds of road parts, by the sides that are open.
const (
	kindStraight = "straight"
	kindCorner   = "corner"
	kindT        = "tsplit"
	kindJunction = "junction"
	kindEnd      = "end"
)

// guessRoadKind reads the kind of a road part from its name.
func guessRoadKind(name string) string {
	list := tokens(name)
	has := func(words ...string) bool {
		return slices.ContainsFunc(list, func(t string) bool { return slices.Contains(words, t) })
	}
	switch {
	case has("corner", "bend", "curve", "turn"):
		return kindCorner
	case has("tsplit", "split", "t", "tjunction", "tee"):
		return kindT
	case has("junction", "intersection", "crossroad", "crossroads", "x", "cross"):
		return kindJunction
	case has("end", "deadend"):
		return kindEnd
	}
	return kindStraight
}

// defaultOpen is the usual orientation of each kind, for kits whose parts are
// flat so that their geometry does not tell.
var defaultOpen = map[string]uint8{
	kindStraight: 1<<sideS | 1<<sideN,
	kindCorner:   1<<sideS | 1<<sideE,
	kindT:        1<<sideS | 1<<sideE | 1<<sideN,
	kindJunction: 15,
	kindEnd:      1 << sideS,
}

// kindOfMask is the reverse: which kind has these open sides.
func kindOfMask(m uint8) string {
	n := 0
	for d := range 4 {
		n += int(m >> d & 1)
	}
	switch {
	case n == 4:
		return kindJunction
	case n == 3:
		return kindT
	case m == 5 || m == 10:
		return kindStraight
	case n == 2:
		return kindCorner
	}
	return kindEnd
}

// rotate turns a mask by quarter turns.
func rotate(m uint8, quarters int) uint8 {
	q := uint(quarters) & 3
	return (m<<q | m>>(4-q)) & 15
}
