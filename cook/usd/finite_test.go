package usd

import (
	"errors"
	"fmt"
	"image/color"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/gltfscene"
)

// TestFinite: numbers that leave the range by what is done to them are refused with the
// prim's path, or kept apart.
func TestFinite(t *testing.T) {
	far := "def Xform \"P\" {\ndouble3 xformOp:scale = (1e300, 1, 1)\nuniform token[] xformOpOrder = [\"xformOp:scale\"]\ndef Mesh \"M\" {" + quad + "}\n}\n"
	for _, c := range []struct{ name, body, want string }{
		{"a normal map", shaded("normal3f inputs:normal.connect = </World/Mat/T.outputs:rgb>",
			imageShader("T", "n.png", "double4 inputs:scale = (1000000, 1000000, 1e-308, 1)\nfloat4 inputs:bias = (-500000, -500000, 0, 0)")), "/World/Mat: the scale of its normal map is not finite"},
		{"texture coordinates", shaded("color3f inputs:diffuseColor.connect = </World/Mat/T.outputs:rgb>",
			imageShader("T", "n.png", "float2 inputs:st.connect = </World/Mat/X.outputs:result>")+
				"def Shader \"X\" {\nuniform token info:id = \"UsdTransform2d\"\ndouble2 inputs:scale = (1, 1.7e308)\ndouble2 inputs:translation = (0, 1.7e308)\nfloat inputs:rotation = 0\nfloat2 outputs:result\n}\n"), "is not finite"},
		{"an instance", "def PointInstancer \"World\" {\nrel prototypes = </World/P>\nint[] protoIndices = [0]\npoint3f[] positions = [(0, 0, 0)]\nfloat3[] scales = [(1e38, 1, 1)]\n" + far + "}", "/World: the place of instance 0 is not finite"},
	} {
		files := map[string]string{"a.usda": head + c.body, "n.png": pngOf(color.White, 2)}
		_, err := parse([]byte(files["a.usda"]), "a.usda", memory(files), Options{})
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, gltfscene.ErrMalformed) || !strings.Contains(fmt.Sprint(err), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	// A matrix that is no product of those of two prims.
	body := "def \"World\" {\n" + strings.Replace(far, "\"M\" {", "\"M\" {\ndouble3 xformOp:scale = (1e300, 1, 1)\nuniform token[] xformOpOrder = [\"xformOp:scale\"]", 1) + "}"
	m, err := parse([]byte(head+body), "a.usda", nil, Options{})
	if err != nil || strings.Contains(string(m.JSON), "Inf") {
		t.Fatalf("%v", err)
	}
	m.Close()
	if _, err := marshal(1e308 * float64(len(body))); !errors.Is(err, gltfscene.ErrMalformed) {
		t.Errorf("%v", err)
	}
}
