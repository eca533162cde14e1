package partition

import (
	"errors"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/internal/geom"
)

func TestTokens(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"OfficeChair01", "office chair officechair"},
		{"small_prop", "small prop smallprop"},
		{"TVStand", "tv stand tvstand"},
		{"HTML", "html"},
		{"wall2wall", "wall wall wallwall"},
		{"FAÇADE-north", "façade north façadenorth"},
		{"a\xffb", "a b ab"},
		{"x" + strings.Repeat("y", 1000) + " desk", "desk"},
		{"roof" + strings.Repeat("9", 1000), "roof"},
	} {
		var got []string
		var buf tokenBuffer
		buf.each(c.text, func(b []byte) { got = append(got, string(b)) })
		if d := gocmp.Diff(strings.Fields(c.want), got); d != "" && c.want+strings.Join(got, "") != "" {
			t.Errorf("%q: %s", c.text, d)
		}
	}
}

func FuzzTokens(f *testing.F) {
	f.Add("OfficeChair_01 TVStand façade")
	f.Add("\xff\xc3" + strings.Repeat("ß", 100))
	f.Fuzz(func(t *testing.T, text string) {
		var buf tokenBuffer
		buf.each(text, func(b []byte) {
			if len(b) == 0 || len(b) > 2*maxToken {
				t.Errorf("%q: word %q", text, b)
			}
		})
		if a, ok := ParseAnnotation(text); ok && (Sanitize(a.Node) != a.Node || a.Floor < 1 || a.Tier == TierNone) {
			t.Errorf("%q: %+v", text, a)
		}
		if r, err := ParseTierRadius(text); err == nil && !(r.Streaming >= 0 && r.Unload >= 0) {
			t.Errorf("%q: %+v", text, r)
		}
	})
}

func TestTierGuesses(t *testing.T) {
	big, small, chairSize := box(0, 0, 0, 9, 3, .2), box(0, 0, 0, .3, .3, .3), box(0, 0, 0, .6, 1, .6)
	for _, c := range []struct {
		name       string
		materials  []string
		box        geom.Box
		token      Tier
		substring  Tier
		confidence float64 // of tokens
	}{
		{"Pipe_03", nil, big, FineProps, FineProps, .9},
		{"ChairLeg", nil, small, RoomContents, RoomContents, .8},
		{"Curtain wall", nil, big, ExteriorShell, ExteriorShell, .8},
		{"Glass Wall", nil, big, ExteriorShell, StructuralInterior, .8},
		{"Glass_Wall", nil, big, ExteriorShell, ExteriorShell, .8},
		{"doorFrame", nil, big, StructuralInterior, StructuralInterior, .8},
		{"Chairs", nil, small, RoomContents, RoomContents, .8},
		{"Challenger", nil, small, FineProps, StructuralInterior, .55},
		{"Embedded", nil, small, FineProps, RoomContents, .55},
		{"Scoreboard", nil, big, StructuralInterior, StructuralInterior, .5},
		{"Adjustable", nil, small, FineProps, RoomContents, .55},
		{"thing", []string{"Red Brick", "oak"}, small, ExteriorShell, ExteriorShell, .65},
		{"thing", []string{"Glass", "Wood", "Leather"}, big, RoomContents, RoomContents, .6},
		{"thing", []string{"glass", "wood"}, small, FineProps, FineProps, .55},
		{"thing", []string{"Glassy"}, small, FineProps, ExteriorShell, .55},
		{"thing", nil, chairSize, StructuralInterior, StructuralInterior, .45},
		{"thing", nil, big, StructuralInterior, StructuralInterior, .5},
		{"thing", nil, box(0, 0, 0, 2, 2, 2), StructuralInterior, StructuralInterior, .5},
		{"thing", nil, box(0, 0, 0, 1.9, 2, 1.9), StructuralInterior, StructuralInterior, .3},
	} {
		o := Object{Name: c.name, Materials: c.materials, Box: c.box}
		g, _ := newClassifier(MatchTokens, TierNone).guess(&o, nil)
		s, _ := newClassifier(MatchSubstring, TierNone).guess(&o, nil)
		if g.settled() != c.token || s.settled() != c.substring || g.confidence != c.confidence {
			t.Errorf("%s %v: %v %v, substring %v", c.name, c.materials, g.settled(), g.confidence, s.settled())
		}
	}
}

func TestTierPrecedence(t *testing.T) {
	a := &Annotation{Tier: ExteriorShell, Confidence: .75}
	for _, c := range []struct {
		name       string
		override   Tier
		annotation *Annotation
		untagged   Tier
		want       Tier
		source     TierSource
	}{
		{"name", TierNone, nil, TierNone, RoomContents, TierFromName},
		{"option", TierNone, nil, FineProps, FineProps, TierFromOption},
		{"annotation", TierNone, a, FineProps, ExteriorShell, TierFromAnnotated},
		{"a doubtful annotation", TierNone, &Annotation{Tier: ExteriorShell, Confidence: .4}, FineProps, StructuralInterior, TierFromAnnotated},
		{"override", StructuralInterior, a, FineProps, StructuralInterior, TierFromOverride},
	} {
		g, _ := newClassifier(MatchTokens, c.untagged).guess(&Object{Name: "desk", Tier: c.override}, c.annotation)
		if g.settled() != c.want || g.source != c.source {
			t.Errorf("%s: %v by %v", c.name, g.settled(), g.source)
		}
	}
}

func TestParseWords(t *testing.T) {
	for tier := TierNone; int(tier) < len(tierNames); tier++ {
		if got, err := ParseTier(tier.String()); err != nil || got != tier {
			t.Errorf("%v: %v, %v", tier, got, err)
		}
	}
	if got, err := ParsePriorityHint("Critical"); got != 15 || err != nil {
		t.Error(got, err)
	}
	if got, err := ParsePriorityHint(""); got != 0 || err != nil {
		t.Error(got, err)
	}
	if got, err := ParseTierMatching("substring"); got != MatchSubstring || err != nil {
		t.Error(got, err)
	}
	if got, err := ParseBalance("objects"); got != BalanceObjects || err != nil {
		t.Error(got, err)
	}
	for name, err := range map[string]error{
		"tier": second(ParseTier("roof")), "hint": second(ParsePriorityHint("high")), "matching": second(ParseTierMatching("regex")),
		"balance": second(ParseBalance("bytes")),
	} {
		if !errors.Is(err, ErrBadOptions) {
			t.Errorf("%s: %v", name, err)
		}
	}
	codes := []string{TierNone.Code(), ExteriorShell.Code(), StructuralInterior.Code(), RoomContents.Code(), FineProps.Code(), Tier(99).Code()}
	if !slices.Equal(codes, []string{"", "ES", "SI", "RC", "FP", ""}) || Tier(99).String() != "Tier(99)" {
		t.Error(codes)
	}
}

func second[T any](_ T, err error) error { return err }
