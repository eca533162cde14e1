package simulate

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/untoldkit/untold/format/vertex/compact"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// TestPyramidOfAFlight flies out of a scene with a pyramid and back: no tile goes
// undrawn, none is drawn beside the node above it unless they fade into each other, and
// far away the nodes alone are.
func TestPyramidOfAFlight(t *testing.T) {
	for _, fade := range []bool{false, true} {
		r := pyramidFlight(t, func(s *Scenario) { s.Config.EnableFadeTransitions = fade })
		if r.Undrawn != 0 || r.DoubleDrawn != 0 || r.Uncovered != 0 || r.Failures != 0 {
			t.Errorf("fades %t: %d undrawn, %d drawn twice, %v uncovered, %d failures", fade, r.Undrawn, r.DoubleDrawn, r.Uncovered, r.Failures)
		}
		// 16 tiles of 1 kB and five nodes, of which four come twice; nothing else is asked for.
		if r.BytesLoaded > 16*1000+9*500 || r.BytesLoaded < 16*1000+5*500 {
			t.Errorf("fades %t: %d bytes were loaded", fade, r.BytesLoaded)
		}
		// Root to nodes to tiles and back: 4 and 16 come, then 4 and 1.
		if want := 25; fade && r.Pops != 0 || !fade && r.Pops != want {
			t.Errorf("fades %t: %d pops", fade, r.Pops)
		}
		if r.PyramidNodes < 4 || r.PyramidNodes > 5 || r.PyramidBytesPeak != 5*compact.Estimate(500) {
			t.Errorf("fades %t: %d nodes are drawn at once, and take up to %d bytes", fade, r.PyramidNodes, r.PyramidBytesPeak)
		}
		// Full tiles for most of the time; in between a node is open while its children load.
		if !(r.ErrorPXP50 == 0 && r.ErrorPXP99 > 2 && r.ErrorPXMax < 4) {
			t.Errorf("fades %t: errors of %v, %v and %v pixels", fade, r.ErrorPXP50, r.ErrorPXP99, r.ErrorPXMax)
		}
	}
}

// pyramidFlight runs a flight from afar into a scene of 16 tiles below five nodes, and out
// again.
func pyramidFlight(t *testing.T, change func(*Scenario)) Report {
	t.Helper()
	m := &manifest.Manifest{
		Version: 3, PartitioningMode: manifest.ModeUniformGrid,
		StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 100, UnloadRadius: 2000}, Pyramid: &manifest.Pyramid{},
	}
	root := manifest.PyramidNode{ID: "root", Level: 2, Path: "root.untold", FileSizeBytes: 500, VisualError: 1, Bounds: manifest.Bounds{Max: [3]float64{80, 5, 80}}}
	for n := range 4 {
		x, z := float64(n%2*40), float64(n/2*40)
		node := manifest.PyramidNode{ID: fmt.Sprint("n", n), Level: 1, Path: fmt.Sprintf("n%d.untold", n), FileSizeBytes: 500, VisualError: 0.5, Bounds: manifest.Bounds{Min: [3]float64{x, 0, z}, Max: [3]float64{x + 40, 5, z + 40}}}
		for k := range 4 {
			id := fmt.Sprintf("t%d%d", n, k)
			dx, dz := x+float64(k%2*20), z+float64(k/2*20)
			m.Tiles = append(m.Tiles, manifest.Tile{ID: id, Path: id + ".untold", FileSizeBytes: 1000, Bounds: manifest.Bounds{Min: [3]float64{dx, 0, dz}, Max: [3]float64{dx + 20, 5, dz + 20}}})
			node.Children = append(node.Children, id)
		}
		m.Pyramid.Nodes = append(m.Pyramid.Nodes, node)
		root.Children = append(root.Children, node.ID)
	}
	m.Pyramid.Nodes = append(m.Pyramid.Nodes, root)
	s := Cooked("none/scene.json", m)
	s.Config.MaxQueryRadius, s.Duration = 5000, 40*time.Second
	s.Config.EnableFrustumGate = false
	for i, x := range []float64{1500, 1500, 40, 40, 1500, 1500} {
		s.Path.Keys = append(s.Path.Keys, CameraKey{Linear: true, T: time.Duration(i) * 8 * time.Second, Position: [3]float64{x, 2, 40}, Forward: [3]float64{-1, 0, 0}})
	}
	change(s)
	res, err := Run(context.Background(), s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Report
}

// TestTimesToAPicture: the root makes the first picture complete, what lies below it
// makes it good; a run that ends before has its length.
func TestTimesToAPicture(t *testing.T) {
	start := func(s *Scenario) {
		s.Path.Keys = []CameraKey{{Linear: true, Position: [3]float64{-30, 2, 40}, Forward: [3]float64{1, 0, 0}}}
		s.Duration = 20 * time.Second
	}
	r := pyramidFlight(t, start)
	if !(0 < r.TimeToPicture && r.TimeToPicture < r.TimeTo8PX && r.TimeTo8PX < 2) {
		t.Errorf("a picture after %v s, a good one after %v s", r.TimeToPicture, r.TimeTo8PX)
	}
	short := pyramidFlight(t, func(s *Scenario) {
		start(s)
		s.Duration = time.Duration(r.TimeTo8PX * 0.75 * float64(time.Second))
	})
	if short.TimeToPicture != r.TimeToPicture || !(short.TimeTo8PX > r.TimeTo8PX*0.6 && short.TimeTo8PX < r.TimeTo8PX) {
		t.Errorf("in a short run a picture after %v s, a good one after %v s", short.TimeToPicture, short.TimeTo8PX)
	}
	textured := pyramidFlight(t, func(s *Scenario) {
		start(s)
		s.Textures = map[string]texfile.Size{"wall": size(512, 512, texfile.BC7)}
		s.Tiles = map[string]Extra{"t20": {Textures: []string{"wall"}}}
		s.Latency.Reps = map[string]time.Duration{"texture": 3 * time.Second}
	})
	if !(0 < r.Over8PX && r.Over8PX < 0.5 && textured.Over8PX > r.Over8PX) {
		t.Errorf("coarse for %v of the time, for %v with a texture that takes 3 s", r.Over8PX, textured.Over8PX)
	}
	if textured.TimeToPicture != r.TimeToPicture || textured.TimeTo8PX < 3 || textured.TimeTo8PX > 5 {
		t.Errorf("with a texture that takes 3 s a picture after %v s, a good one after %v s", textured.TimeToPicture, textured.TimeTo8PX)
	}
	if both := short.Then(&r); both.TimeTo8PX != short.TimeTo8PX {
		t.Errorf("of two runs %v s", both.TimeTo8PX)
	}
}
