package usd

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/gltfscene"
)

// TestLongExtras: extras of a prim are bounded, and so are those of all instances.
func TestLongExtras(t *testing.T) {
	extras := func(n int) string {
		return "custom string userProperties:long = \"" + strings.Repeat("x", n) + "\"\ncustom string userProperties:untold_lod = \"short\"\n"
	}
	s := one(t, "def Xform \"World\" {\ndef Mesh \"A\" {"+quad+extras(1<<16)+"}\n}")
	for _, n := range s.Nodes {
		if n.Mesh >= 0 && string(n.Extras) != `{"untold_lod":"short"}` {
			t.Errorf("%s", n.Extras)
		}
	}
	if codes(s) != "usd-extras-skipped" {
		t.Errorf("%s", codes(s))
	}
	zeros := strings.TrimSuffix(strings.Repeat("0, ", 1000), ", ")
	text := fmt.Sprintf("%sdef PointInstancer \"World\" {\nrel prototypes = </World/P>\nint[] protoIndices = [%s]\ndef Mesh \"P\" {%s%s}\n}", head, zeros, quad, extras(60000))
	_, err := parse([]byte(text), "a.usda", nil, Options{Memory: 64 << 20})
	if !errors.Is(err, gltfscene.ErrTooLarge) || !strings.Contains(err.Error(), "/World: names and extras of nodes take more than 16777216 bytes") {
		t.Errorf("%v", err)
	}
}
