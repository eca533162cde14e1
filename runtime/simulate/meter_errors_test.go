package simulate

import (
	"math"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/band"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
)

// errorMeter measures two tiles of 10 m side by side in front of the camera, 100 m and
// 200 m away, below one node, without the runtime.
func errorMeter() *Meter {
	at := func(z float64) manifest.Bounds {
		return manifest.Bounds{Min: [3]float64{-5, 0, z - 10}, Max: [3]float64{5, 10, z}}
	}
	seen := func(v float64) *float64 { return &v }
	m := &manifest.Manifest{
		Tiles: []manifest.Tile{
			{ID: "a", Bounds: at(-100), HLODLevels: []manifest.Level{{SwitchDistance: 400, VisualError: seen(2)}}, LODLevels: []manifest.Level{
				{SwitchDistance: 200, GeometricError: seen(1)}, {SwitchDistance: 50, VisualError: seen(0.25), GeometricError: seen(9)}, // not in order
			}},
			{ID: "b", Bounds: at(-200), HLODLevels: []manifest.Level{{SwitchDistance: 400}}},
		},
		Pyramid: &manifest.Pyramid{Nodes: []manifest.PyramidNode{{ID: "n", Children: []string{"nobody", "a", "b"}, VisualError: 4, Bounds: manifest.Bounds{Min: [3]float64{-5, 0, -210}, Max: [3]float64{5, 10, -100}}}}},
	}
	return NewMeter(&Scenario{Manifest: m, Config: config.Default(), DT: time.Second})
}

func drawnAs(tile int32, rep payload.Rep, fade float64, parts uint64) runtime.Drawn {
	return runtime.Drawn{Key: payload.Key{Scene: 1, Tile: tile, Rep: rep}, Fade: fade, Parts: parts}
}

// TestErrorPixels: the greatest error in view counts, where it is.
func TestErrorPixels(t *testing.T) {
	const hlod, full = payload.RepHLOD, payload.RepFull
	pixels := func(size, distance float64) float64 {
		return math.Round(1000*band.ScreenError(size, distance, 40, 1080)) / 1000
	}
	ahead := runtime.Camera{Forward: [3]float64{0, 0, -1}, FovYDegrees: 40, Aspect: 1, Near: 0.1, Far: 1000}
	behind := ahead
	behind.Forward = [3]float64{0, 0, 1}
	for name, c := range map[string]struct {
		camera *runtime.Camera
		at     float64
		drawn  []runtime.Drawn
		want   float64
	}{
		"nothing":            {&ahead, 0, nil, 0},
		"full tiles":         {&ahead, 0, []runtime.Drawn{drawnAs(0, full, 1, 0), drawnAs(1, full, 1, 0)}, 0},
		"the finest level":   {&ahead, 0, []runtime.Drawn{drawnAs(0, payload.LOD(0), 1, 0)}, pixels(0.25, 100)},
		"a geometric error":  {&ahead, 0, []runtime.Drawn{drawnAs(0, payload.LOD(1), 1, 0)}, pixels(1, 100)},
		"no error":           {&ahead, 0, []runtime.Drawn{drawnAs(1, hlod, 1, 0)}, 0},
		"the greatest":       {&ahead, 0, []runtime.Drawn{drawnAs(0, payload.LOD(0), 1, 0), drawnAs(2, hlod, 1, 2)}, pixels(4, 200)},
		"the nearest child":  {&ahead, 0, []runtime.Drawn{drawnAs(2, hlod, 1, 3)}, pixels(4, 100)},
		"the one that fades": {&ahead, 0, []runtime.Drawn{drawnAs(2, hlod, 0.5, 1), drawnAs(2, hlod, 1, 2)}, pixels(4, 100)},
		"what has faded":     {&ahead, 0, []runtime.Drawn{drawnAs(2, hlod, 0, 1), drawnAs(2, hlod, 1, 2)}, pixels(4, 200)},
		"out of view":        {&behind, 0, []runtime.Drawn{drawnAs(0, hlod, 1, 0), drawnAs(2, hlod, 1, 2)}, 0},
		"from within":        {&ahead, -105, []runtime.Drawn{drawnAs(0, hlod, 1, 0)}, 1080},
		"in its face":        {&ahead, -99.99, []runtime.Drawn{drawnAs(0, hlod, 1, 0)}, 1080},
	} {
		m := errorMeter()
		m.sight = sightOf(c.camera, geom.Identity(), 1080)
		camera := geom.Vec3{0, 5, c.at}
		if c.camera == &ahead {
			moved := *c.camera
			moved.Position = camera
			m.sight = sightOf(&moved, geom.Identity(), 1080)
		}
		m.look(c.drawn, camera)
		if got := m.ErrorPixels(); got != c.want {
			t.Errorf("%s: %v pixels, want %v", name, got, c.want)
		}
	}
}

// TestErrorQuantiles: quantiles are those over frames.
func TestErrorQuantiles(t *testing.T) {
	m := errorMeter()
	if p50, p99, most := m.errorQuantiles(); p50 != 0 || p99 != 0 || most != 0 {
		t.Errorf("without frames %v, %v, %v", p50, p99, most)
	}
	for i := range 100 {
		m.errors = append(m.errors, float32(i)/10)
	}
	if p50, p99, most := m.errorQuantiles(); p50 != 4.9 || p99 != 9.8 || most != 9.9 {
		t.Errorf("%v, %v, %v", p50, p99, most)
	}
}

// TestPops: a switch without a fade counts once, where it is seen.
func TestPops(t *testing.T) {
	const hlod, full = payload.RepHLOD, payload.RepFull
	type frame = []runtime.Drawn
	node := drawnAs(2, hlod, 1, 3)
	tiles := frame{drawnAs(0, hlod, 1, 0), drawnAs(1, hlod, 1, 0)}
	for name, c := range map[string]struct {
		frames []frame
		want   int
	}{
		"a level":          {[]frame{tiles, {drawnAs(0, full, 1, 0), drawnAs(1, hlod, 1, 0)}, tiles}, 2},
		"node to tiles":    {[]frame{{node}, {node}, tiles}, 2},
		"tiles to node":    {[]frame{tiles, tiles, {node}}, 1},
		"a fade":           {[]frame{{node}, {drawnAs(0, hlod, 0.5, 0), drawnAs(1, hlod, 0.5, 0), drawnAs(2, hlod, 0.5, 3)}, tiles}, 0},
		"one of two fades": {[]frame{{node}, {drawnAs(0, hlod, 0.5, 0), drawnAs(1, hlod, 1, 0), drawnAs(2, hlod, 0.5, 1)}, tiles}, 1},
		"from nothing":     {[]frame{{}, tiles, {}, {node}}, 0},
		"mesh by mesh":     {[]frame{{node}, {{Key: payload.Key{Scene: 1, Rep: full, Part: 4}, Fade: 1}, {Key: payload.Key{Scene: 1, Rep: full, Part: 5}, Fade: 1}}}, 1},
	} {
		m := errorMeter()
		for _, f := range c.frames {
			m.frames++
			m.look(f, geom.Vec3{})
		}
		if m.out.Pops != c.want {
			t.Errorf("%s: %d pops, want %d", name, m.out.Pops, c.want)
		}
		if m.out.DoubleDrawn != 0 {
			t.Errorf("%s: %d drawn twice", name, m.out.DoubleDrawn)
		}
	}
	m := errorMeter()
	away := runtime.Camera{Forward: [3]float64{0, 0, 1}, FovYDegrees: 40, Aspect: 1, Near: 0.1, Far: 1000}
	m.sight = sightOf(&away, geom.Identity(), 1080)
	for _, f := range []frame{{node}, tiles, append(tiles, node)} {
		m.frames++
		m.look(f, geom.Vec3{})
	}
	if m.out.Pops != 0 || m.out.DoubleDrawn != 2 || m.out.PyramidNodes != 1 {
		t.Errorf("behind the camera: %d pops; %d drawn twice, %d nodes", m.out.Pops, m.out.DoubleDrawn, m.out.PyramidNodes)
	}
}
