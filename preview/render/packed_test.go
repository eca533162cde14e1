package render

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/format/vertex/compact"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime/payload"
)

// TestPackedElsewhere: what was packed in another program is taken as it is, and made anew
// where it is not that of the asset.
func TestPackedElsewhere(t *testing.T) {
	square := func(x float64) part { return quad(geom.Vec3{x, 0, 0}, geom.Vec3{1, 0, 0}, geom.Vec3{0, 1, 0}) }
	coloured := square(5)
	for i := range coloured.vertices {
		coloured.vertices[i].Color = [4]uint8{200, 100, 50, 255}
	}
	several := []part{square(0), coloured, square(9)}
	a := assemble(several, nil)
	want, err := prepare(a, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(want.bundles) != 2 {
		t.Fatalf("%d bundles", len(want.bundles))
	}
	made := Pack(a)
	released := 0
	made.Release = func() { released++ }
	a.Ready = made
	got, err := readyOf(a)
	if err != nil {
		t.Fatal(err)
	}
	same := func(what string, got *prepared) {
		t.Helper()
		if diff := cmp.Diff(want.bundles, got.bundles, cmp.AllowUnexported(bundle{}, place{}, span{})); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
		if !slices.EqualFunc(want.meshes, got.meshes, func(a, b mesh) bool {
			return a.bundle == b.bundle && a.firstIndex == b.firstIndex && a.baseVertex == b.baseVertex
		}) {
			t.Errorf("%s: the meshes lie elsewhere", what)
		}
	}
	same("taken over", got)
	if got.made != made || a.Ready != nil || &got.bundles[0].vertices[0] != &made.Vertices[compact.Plain][0] {
		t.Error("the vertices were packed again")
	}
	n := &rep{asset: payload.NewAsset(nil), made: got.made}
	n.forget()
	n.forget()
	if released != 1 {
		t.Errorf("they went back %d times", released)
	}
	for name, change := range map[string]func(p *Packed){
		"of another tile":        func(p *Packed) { *p = *Pack(assemble([]part{square(0)}, nil)) },
		"a range short":          func(p *Packed) { p.Layouts = p.Layouts[1:] },
		"a vertex short":         func(p *Packed) { p.Vertices[compact.Plain] = p.Vertices[compact.Plain][16:] },
		"without all colours":    func(p *Packed) { p.Layouts[1] = compact.Plain },
		"a layout that is none":  func(p *Packed) { p.Layouts[0] = compact.Layouts },
		"as the vertices are":    func(p *Packed) { p.Layouts[0] = compact.Full },
		"without the layout":     func(p *Packed) { p.Layouts = nil },
		"a vertex without owner": func(p *Packed) { p.Vertices[compact.Mapped] = make([]byte, 20) },
	} {
		wrong := Pack(a)
		change(wrong)
		a.Ready = wrong
		got, err := readyOf(a)
		if err != nil {
			t.Fatal(err)
		}
		same(name, got)
	}
	a.Meshes[0].VertexOffset = 1 << 40
	if Pack(a) != nil {
		t.Error("an asset that breaks its ranges is packed")
	}
}
