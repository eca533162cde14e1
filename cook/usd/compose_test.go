package usd

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/gltfscene"
)

// moved is the body of a prim that stands at x.
func moved(x int) string {
	return fmt.Sprintf("double3 xformOp:translate = (%d, 0, 0)\nuniform token[] xformOpOrder = [\"xformOp:translate\"]\n", x)
}

// TestComposition: what layers come to together.
func TestComposition(t *testing.T) {
	chair := head + "def Xform \"World\" {\ndef Mesh \"M\" {" + quad + moved(1) + "}\n}\n"
	for _, c := range []struct {
		name  string
		files map[string]string // a.usda is the scene
		want  string
		notes string
	}{
		{"sublayers", map[string]string{
			"a.usda": strings.Replace(head, "(\n", "(\nsubLayers = [@b.usda@, @c.usda@]\n", 1),
			"b.usda": "#usda 1.0\nover \"World\" {\nover \"M\" {\n" + moved(5) + "}\n}",
			"c.usda": chair,
		}, "M 5,0,0 6,1,0", ""},
		{"reference", map[string]string{
			"a.usda":     head + "def \"World\" {\ndef \"C\" ( references = @sub/b.usda@ ) {\nover \"M\" {\n" + moved(7) + "}\n}\n}",
			"sub/b.usda": head + "def \"World\" ( references = @../c.usda@ ) {}",
			"c.usda":     chair,
		}, "C 7,0,0 8,1,0", ""},
		{"payload of a named prim", map[string]string{
			"a.usda": head + "def \"World\" {\ndef \"C\" ( payload = @c.usda@</World/M> ) {}\n}", "c.usda": chair,
		}, "C 1,0,0 2,1,0", ""},
		{"internal", map[string]string{
			"a.usda": head + "def \"World\" {\ndef \"A\" ( references = </P> ) {}\ndef \"B\" ( references = </P/M> ) {}\n}\nclass \"P\" {\ndef Mesh \"M\" {" + quad + moved(2) + "}\n}",
		}, "M 2,0,0 3,1,0; B 2,0,0 3,1,0", ""},
		{"inherits are weaker than the prim, and stronger than references", map[string]string{
			"a.usda": head + "def \"World\" {\ndef \"A\" ( inherits = </P> references = @c.usda@</World/M> ) {}\n}\nclass \"P\" {\n" + moved(3) + "}",
			"c.usda": chair,
		}, "A 3,0,0 4,1,0", ""},
		{"specializes are the weakest", map[string]string{
			"a.usda": head + "def \"World\" {\ndef \"A\" ( specializes = </P> references = @c.usda@</World/M> ) {}\n}\nclass \"P\" {\n" + moved(3) + "}",
			"c.usda": chair,
		}, "A 1,0,0 2,1,0", ""},
		{"variants, selected from above", map[string]string{
			"a.usda": head + "def \"World\" ( references = @b.usda@ variants = { string v = \"two\" } ) {}",
			"b.usda": head + "def \"World\" ( variantSets = \"v\" variants = { string v = \"one\" } ) {\nvariantSet \"v\" = {\n\"one\" {\ndef Mesh \"A\" {" + quad +
				"}\n}\n\"two\" (variantSets = \"w\" variants = { string w = \"x\" }) {\nvariantSet \"w\" = { \"x\" {\ndef Mesh \"B\" {" + quad + moved(4) + "}\n} }\n}\n}\n}",
		}, "B 4,0,0 5,1,0", ""},
		{"references from within variants", map[string]string{
			"a.usda": head + "def \"World\" ( variantSets = \"v\" variants = { string v = \"x\" } ) {\nvariantSet \"v\" = {\n\"x\" ( references = @c.usda@ ) {\nover \"M\" {\n" + moved(8) + "}\n}\n}\n}",
			"c.usda": chair,
		}, "M 8,0,0 9,1,0", ""},
		{"a deleted reference", map[string]string{
			"a.usda": strings.Replace(head, "(\n", "(\nsubLayers = [@b.usda@]\n", 1) + "over \"World\" ( delete references = @c.usda@ ) {}",
			"b.usda": "#usda 1.0\ndef \"World\" ( references = @c.usda@ ) {\ndef Mesh \"Own\" {" + quad + "}\n}", "c.usda": chair,
		}, "Own 0,0,0 1,1,0", ""},
		{"an empty selection above one of a reference", map[string]string{
			"a.usda": head + "def \"World\" ( references = @b.usda@ variants = { string v = \"\" } ) {\ndef Mesh \"Own\" {" + quad + "}\n}",
			"b.usda": head + "def \"World\" ( variantSets = \"v\" variants = { string v = \"x\" } ) {\nvariantSet \"v\" = { \"x\" {\ndef Mesh \"X\" {" + quad + "}\n} }\n}",
		}, "Own 0,0,0 1,1,0", ""},
		{"an empty selection of a reference above one of its own reference", map[string]string{
			"a.usda": head + "def \"World\" ( references = @b.usda@ ) {\ndef Mesh \"Own\" {" + quad + "}\n}",
			"b.usda": head + "def \"World\" ( references = @c.usda@ variants = { string v = \"\" } ) {}",
			"c.usda": head + "def \"World\" ( variantSets = \"v\" variants = { string v = \"x\" } ) {\nvariantSet \"v\" = { \"x\" {\ndef Mesh \"X\" {" + quad + "}\n} }\n}",
		}, "Own 0,0,0 1,1,0", ""},
		{"a missing prim, a foreign format", map[string]string{
			"a.usda": head + "def \"World\" {\ndef \"A\" ( references = [</Nowhere>, @b.mtlx@] ) {}\ndef Mesh \"B\" {" + quad + "}\n}",
		}, "B 0,0,0 1,1,0", "usd-prims-missing usd-formats-skipped"},
		{"references of a prim itself are stronger than those above it", map[string]string{
			"a.usda": head + "def Xform \"World\" ( references = </R1> ) {\ndef \"C\" ( references = </R2> ) {}\n}\nclass \"R1\" {\ndef Mesh \"C\" {" + quad + moved(1) + "}\n}\nclass \"R2\" {\n" + moved(2) + "}",
		}, "C 2,0,0 3,1,0", ""},
		{"a name with brackets", map[string]string{
			"a.usda": head + "def \"World\" ( references = @c[1].usda@ ) {}", "c[1].usda": chair,
		}, "M 1,0,0 2,1,0", ""},
		{"a blocked value", map[string]string{
			"a.usda": head + "def \"World\" ( references = @c.usda@ ) {\nover \"M\" {\nuniform token[] xformOpOrder = None\n}\n}", "c.usda": chair,
		}, "M 0,0,0 1,1,0", ""},
	} {
		s := load(t, c.files, "a.usda")
		if got := shows(t, s); got != c.want || codes(s) != c.notes {
			t.Errorf("%s: %s, %q; want %s, %q", c.name, got, codes(s), c.want, c.notes)
		}
	}
}

// TestSources: every layer and image counts as a file that the scene comes from.
func TestSources(t *testing.T) {
	s := load(t, map[string]string{
		"a.usda": strings.Replace(head, "(\n", "(\nsubLayers = [@b.usda@]\n", 1) + "over \"World\" ( references = @sub/c.usda@ ) {}",
		"b.usda": head + "def \"World\" {}", "sub/c.usda": head + "def Mesh \"World\" {" + quad + "}",
	}, "a.usda")
	var names []string
	for _, f := range s.Files {
		names = append(names, f[strings.LastIndexAny(f, "/\\")+1:])
	}
	if got := strings.Join(names, " "); got != "a.usda b.usda c.usda" {
		t.Errorf("files %s", got)
	}
}

// TestRefused: what leads out of the folder, back to itself or to nowhere.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		kind  error
		want  string
	}{
		{"out of the folder", map[string]string{"in/a.usda": head + "def \"World\" ( references = @../b.usda@ ) {}", "b.usda": head}, gltfscene.ErrOutsideFolder, `/World: a.usda: /World: the name "../b.usda" leads out of the file's folder`},
		{"missing", map[string]string{"a.usda": head + "def \"World\" ( references = @b.usda@ ) {}"}, gltfscene.ErrMissingFile, `file "b.usda" is missing`},
		{"an address", map[string]string{"a.usda": head + "def \"World\" ( references = @https://example.org/b.usda@ ) {}"}, gltfscene.ErrUnsupported, "nothing is fetched from a network"},
		{"sublayers in a circle", map[string]string{"a.usda": "#usda 1.0\n(subLayers = [@b.usda@])", "b.usda": "#usda 1.0\n(subLayers = [@a.usda@])"}, gltfscene.ErrMalformed, "is a sublayer of itself: a.usda > b.usda > a.usda"},
		{"references in a circle", map[string]string{"a.usda": head + "def \"World\" ( references = @b.usda@ ) {}", "b.usda": head + "def \"World\" ( references = @a.usda@ ) {}"}, gltfscene.ErrMalformed, "leads back to itself through /World"},
		{"a prim within itself", map[string]string{"a.usda": head + "def \"World\" {\ndef \"A\" ( references = </World> ) {}\n}"}, gltfscene.ErrMalformed, "leads back to itself through /World"},
		{"a damaged layer", map[string]string{"a.usda": head + "def \"World\" ( references = @b.usda@ ) {}", "b.usda": "#usda 1.0\nhm"}, gltfscene.ErrMalformed, "b.usda: line 2: def, over or class is expected"},
		{"faces without points", map[string]string{"a.usda": head + "def Mesh \"World\" {" + strings.Replace(quad, "0, 1, 2, 3", "0, 1, 2, 9", 1) + "}"}, gltfscene.ErrMalformed, "/World.faceVertexIndices: corner 3 names point 9 of 4"},
	} {
		name := "a.usda"
		if _, ok := c.files[name]; !ok {
			name = "in/a.usda"
		}
		_, err := tryLoad(t, c.files, name, Options{})
		if !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	// Doubling at each of many levels is refused, not followed.
	text := head
	for i := range 30 {
		text += fmt.Sprintf("class \"P%d\" {\ndef \"A\" ( references = </P%d> ) {}\ndef \"B\" ( references = </P%d> ) {}\n}\n", i, i+1, i+1)
	}
	text += "class \"P30\" {\ndef Cube \"C\" {}\n}\ndef \"World\" ( references = </P0> ) {}\n"
	if _, err := tryLoad(t, map[string]string{"a.usda": text}, "a.usda", Options{Memory: 1 << 22}); !errors.Is(err, gltfscene.ErrTooLarge) {
		t.Errorf("%v", err)
	}
	// With leave, a file may be missing and lie above.
	files := map[string]string{"in/a.usda": head + "def \"World\" {\ndef \"A\" ( references = [@../b.usda@, @c.usda@] ) {}\n}", "b.usda": head + "def Mesh \"World\" {" + quad + "}"}
	s, err := tryLoad(t, files, "in/a.usda", Options{AllowParentPaths: true, AllowMissing: true})
	if err != nil {
		t.Fatal(err)
	}
	if shows(t, s) != "A 0,0,0 1,1,0" || codes(s) != "usd-layers-missing" {
		t.Errorf("%s, %s", shows(t, s), codes(s))
	}
}

// TestManySets: a prim with many variant sets takes little time, and too many are refused.
func TestManySets(t *testing.T) {
	scene := func(n int) string {
		var names, body strings.Builder
		for i := range n {
			fmt.Fprintf(&names, "\"s%d\", ", i)
			fmt.Fprintf(&body, "variantSet \"s%d\" = { \"v\" {} }\n", i)
		}
		return head + "def Mesh \"World\" ( variantSets = [" + names.String() + "] ) {" + quad + body.String() + "}"
	}
	m, err := parse([]byte(scene(maxSets)), "a.usda", nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	m.Close()
	if _, err := parse([]byte(scene(maxSets+1)), "a.usda", nil, Options{}); !errors.Is(err, gltfscene.ErrTooLarge) || !strings.Contains(err.Error(), "/World: has more than 4096 variant sets") {
		t.Errorf("%v", err)
	}
}
