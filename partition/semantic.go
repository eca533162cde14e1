package partition

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest/tileid"
)

// Tier says what an object is for a visitor, and with that from how far it is
// wanted.
type Tier uint8

// The semantic tiers. TierNone is no opinion.
const (
	TierNone           Tier = iota
	ExteriorShell           // facades, roofs
	StructuralInterior      // walls, floors, stairs
	RoomContents            // furniture
	FineProps               // small detail
)

// The tiers' words, by Tier.
var (
	tierNames = [...]string{
		"Auto", tileid.TierExteriorShell, tileid.TierStructuralInterior, tileid.TierRoomContents, tileid.TierFineProps,
	}
	tierCodes = [...]string{"", "ES", "SI", "RC", "FP"}
)

// String returns the manifest's word, Auto for TierNone.
func (t Tier) String() string {
	if int(t) < len(tierNames) {
		return tierNames[t]
	}
	return fmt.Sprintf("Tier(%d)", uint8(t))
}

// Code returns the two letters that end a tile id: ES, SI, RC or FP; nothing
// for TierNone.
func (t Tier) Code() string {
	if int(t) < len(tierCodes) {
		return tierCodes[t]
	}
	return ""
}

// ParseTier reads the name of a tier, as in the property
// untold_semantic_override. Auto and the empty text are TierNone; other texts
// match ErrBadOptions.
func ParseTier(s string) (Tier, error) {
	if s == "" {
		return TierNone, nil
	}
	for i, name := range tierNames {
		if s == name {
			return Tier(i), nil
		}
	}
	return TierNone, fmt.Errorf("%w: unknown semantic tier %q: use %s, %s, %s, %s or Auto", ErrBadOptions, s,
		tierNames[1], tierNames[2], tierNames[3], tierNames[4])
}

// TierMatching says how words are looked for in names.
type TierMatching uint8

// The ways of matching. With MatchTokens a name is cut into words at what is
// no letter, at digits and at camelCase; a word, a word less its plural s, or
// two neighbouring words together must equal a hint. With MatchSubstring a
// hint counts anywhere, as in the reference exporter: "bed" in Embedded.
const (
	MatchDefault   TierMatching = iota // MatchTokens, with Compat MatchSubstring
	MatchTokens                        // "token"
	MatchSubstring                     // "substring"
)

// ParseTierMatching reads token or substring; the empty text is MatchDefault.
func ParseTierMatching(s string) (TierMatching, error) {
	switch s {
	case "":
		return MatchDefault, nil
	case "token":
		return MatchTokens, nil
	case "substring":
		return MatchSubstring, nil
	}
	return MatchDefault, fmt.Errorf("%w: unknown tier matching %q: use token or substring", ErrBadOptions, s)
}

// TierSource says what decided about an object's tier.
type TierSource uint8

// The sources, in the order in which they are asked.
const (
	TierFromNothing   TierSource = iota // not classified, as in grids
	TierFromOverride                    // Object.Tier
	TierFromAnnotated                   // Object.Annotation, or the name's suffix
	TierFromOption                      // FloorOptions.UntaggedTier
	TierFromName
	TierFromMaterials
	TierFromSize
)

var tierSourceNames = [...]string{"none", "override", "annotation", "option", "name", "materials", "size"}

// String returns a lower-case word for reports.
func (s TierSource) String() string {
	if int(s) < len(tierSourceNames) {
		return tierSourceNames[s]
	}
	return fmt.Sprintf("TierSource(%d)", uint8(s))
}

// minConfidence: a guess below this counts as StructuralInterior.
const minConfidence = 0.5

// guess is a tier with its confidence, before the rule of minConfidence.
type guess struct {
	tier       Tier
	confidence float64
	source     TierSource
}

// settled returns the tier after the rule of minConfidence.
func (g guess) settled() Tier {
	if !(g.confidence >= minConfidence) { // NaN counts as none
		return StructuralInterior
	}
	return g.tier
}

// The hints in names, by tier in the order in which they are asked.
var nameHints = []struct {
	tier       Tier
	confidence float64
	words      []string
}{
	{FineProps, .90, strings.Fields(`pipefitting pipefittings pipe duct tube conduit sprinkler sensor switch outlet
		handle knob hinge fastener fixture smallprop small_prop`)},
	{RoomContents, .80, strings.Fields(`chair table desk sofa couch bed cabinet shelf lamp appliance sink toilet
		bathtub monitor tv plant furniture airterminal airterminals`)},
	{ExteriorShell, .80, strings.Fields(`facade façade curtain cladding balcony roof exterior outer windowwall
		window_wall glazing glasswall glass_wall`)},
	{StructuralInterior, .80, strings.Fields(`wall floor ceiling slab beam column pillar stair stairs shaft elevator
		corridor hall partition railing core doorframe door_frame doorpanel door_panel door frame`)},
}

// The hints in the names of materials.
var (
	exteriorMaterials = strings.Fields("glass window facade façade roof metal concrete brick stone cladding aluminum steel")
	roomMaterials     = strings.Fields("wood fabric leather upholstery cabinet counter furniture")
)

// Words about floors, for the search for slabs.
var (
	slabWords = []string{"floor", "slab"}
	overWords = []string{"roof", "ceiling"}
)

// Bits of a name's words: one for each entry of nameHints, then the ones for
// slabs.
const (
	bitSlab uint32 = 1 << (iota + 8)
	bitOver
)

// vocabulary finds words in texts; the bits of all words found are joined.
type vocabulary struct {
	words    map[string]uint32
	list     []string // the same words in a fixed order, for substrings
	matching TierMatching
	buf      tokenBuffer
}

func (v *vocabulary) add(word string, bit uint32) {
	if v.matching == MatchTokens {
		word = strings.ReplaceAll(word, "_", "")
	}
	if v.words[word] == 0 {
		v.list = append(v.list, word)
	}
	v.words[word] |= bit
}

// find returns the bits of the words in a text.
func (v *vocabulary) find(text string) (found uint32) {
	if v.matching == MatchSubstring {
		text = strings.ToLower(text)
		for _, w := range v.list {
			if strings.Contains(text, w) {
				found |= v.words[w]
			}
		}
		return found
	}
	v.buf.each(text, func(token []byte) {
		found |= v.words[string(token)]
		if n := len(token); n > 2 && token[n-1] == 's' {
			found |= v.words[string(token[:n-1])]
		}
	})
	return found
}

// classifier guesses tiers. It is for one goroutine.
type classifier struct {
	untagged  Tier
	names     vocabulary
	materials vocabulary
	seen      map[string]uint32 // bits of materials met before
}

func newClassifier(m TierMatching, untagged Tier) *classifier {
	c := &classifier{untagged: untagged, seen: map[string]uint32{}}
	c.names = vocabulary{words: map[string]uint32{}, matching: m}
	c.materials = vocabulary{words: map[string]uint32{}, matching: m}
	for i, h := range nameHints {
		for _, w := range h.words {
			c.names.add(w, 1<<i)
		}
	}
	for _, w := range slabWords {
		c.names.add(w, bitSlab)
	}
	for _, w := range overWords {
		c.names.add(w, bitOver)
	}
	for i, w := range exteriorMaterials {
		c.materials.add(w, 1<<i)
	}
	for i, w := range roomMaterials {
		c.materials.add(w, 1<<(16+i))
	}
	return c
}

// guess asks the sources in their order. The
// second result holds the bits of the words in the name.
func (c *classifier) guess(o *Object, a *Annotation) (guess, uint32) {
	found := c.names.find(o.Name)
	switch {
	case o.Tier != TierNone:
		return guess{o.Tier, 1, TierFromOverride}, found
	case a != nil && a.Tier != TierNone:
		return guess{a.Tier, a.Confidence, TierFromAnnotated}, found
	case c.untagged != TierNone:
		return guess{c.untagged, 1, TierFromOption}, found
	}
	for i, h := range nameHints {
		if found>>i&1 != 0 {
			return guess{h.tier, h.confidence, TierFromName}, found
		}
	}
	if g, ok := c.byMaterials(o.Materials); ok {
		return g, found
	}
	return bySize(o.Box), found
}

func (c *classifier) byMaterials(names []string) (guess, bool) {
	var found uint32
	for _, name := range names {
		hints, ok := c.seen[name]
		if !ok {
			hints = c.materials.find(name)
			c.seen[name] = hints
		}
		found |= hints
	}
	exterior, room := bits.OnesCount32(found&0xffff), bits.OnesCount32(found>>16)
	switch {
	case exterior > room:
		return guess{ExteriorShell, .65, TierFromMaterials}, true
	case room > exterior:
		return guess{RoomContents, .60, TierFromMaterials}, true
	}
	return guess{}, false
}

// bySize is the last resort. Its RoomContents stays below minConfidence, as
// in the reference: size alone does not tell furniture from structure.
func bySize(b geom.Box) guess {
	d := b.Size()
	longest := max(d[0], d[1], d[2])
	volume := float64(float64(d[0]*d[1]) * d[2])
	switch {
	case longest <= .40 && volume <= .03:
		return guess{FineProps, .55, TierFromSize}
	case longest <= 2.5 && volume <= 3:
		return guess{RoomContents, .45, TierFromSize}
	case longest >= 2.5 || float64(d[0]*d[2]) >= 4:
		return guess{StructuralInterior, .50, TierFromSize}
	}
	return guess{StructuralInterior, .30, TierFromSize}
}
