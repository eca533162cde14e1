package render

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// scenery is what a test has uploaded: boxes of 2 m around points before a camera
// at the origin that looks along -z.
type scenery struct {
	collected
	counts Stats
	drawn  []runtime.Drawn
}

func newScenery() *scenery {
	s := &scenery{}
	s.uploaded, s.stats, s.maxDraws = map[payload.Key]*rep{}, &s.counts, 100
	return s
}

// put uploads a representation of some meshes and has it drawn.
func (s *scenery) put(tile int32, fade float64, center geom.Vec3, meshes ...mesh) *rep {
	half := [3]float64{1, 1, 1}
	n := &rep{
		key: payload.Key{Tile: tile}, serial: uint64(tile) + 1, resident: true, bundles: []bundle{{at: place{page: &page{}}}},
		box: geom.Box{Min: center.Sub(half), Max: center.Add(half)},
	}
	for i, m := range meshes {
		m.center, m.half, m.record = center, half, int32(i)
		if m.indexCount == 0 {
			m.indexCount = 3
		}
		n.cost += int(m.indexCount/3) + drawCost
		n.meshes = append(n.meshes, m)
	}
	s.uploaded[n.key] = n
	s.drawn = append(s.drawn, runtime.Drawn{Key: n.key, Fade: fade})
	return n
}

// collect collects a frame as Draw does.
func (s *scenery) collect(change func(*Frame)) {
	f := Frame{Camera: runtime.Camera{Forward: [3]float64{0, 0, -1}}, Drawn: s.drawn}
	if change != nil {
		change(&f)
	}
	s.counts = Stats{}
	s.begin(&f, s.number+1, 1)
	s.collectReps(&f)
	s.collectBatches(nil, &f)
	s.collectMain(&f)
}

// order returns the passes and distances of a list's draws.
func (s *scenery) order(l *list) string {
	var out []string
	for i := range l.order {
		it := l.at(i)
		out = append(out, fmt.Sprintf("%d@%g", it.state>>keyPassShift, -it.mesh.center[2]))
	}
	return strings.Join(out, " ")
}

func ahead(d float64) geom.Vec3 { return geom.Vec3{0, 0, -d} }

func TestCollectOrders(t *testing.T) {
	blend, mask := mesh{kind: surfaceKind{alpha: alphaBlend}}, mesh{kind: surfaceKind{alpha: alphaMask}}
	for _, c := range []struct {
		name   string
		build  func(*scenery)
		change func(*Frame)
		want   string
		culled int
	}{
		{"near to far", func(s *scenery) {
			s.put(0, 1, ahead(30), mesh{})
			s.put(1, 1, ahead(10), mesh{})
		}, nil, "0@10 0@30", 0},
		{"by pass before distance", func(s *scenery) {
			s.put(0, 1, ahead(10), mask)
			s.put(1, 1, ahead(30), mesh{})
		}, nil, "0@30 4@10", 0},
		{"blended last, far to near", func(s *scenery) {
			s.put(0, 1, ahead(10), blend)
			s.put(1, 1, ahead(30), blend)
			s.put(2, 1, ahead(50), mesh{})
		}, nil, "0@50 6@30 6@10", 0},
		{"what fades is dithered", func(s *scenery) { s.put(0, 0.5, ahead(10), mesh{}, mask) }, nil, "2@10 5@10", 0},
		{"behind the camera", func(s *scenery) {
			s.put(0, 1, ahead(-30), mesh{}, mesh{})
			s.put(1, 1, ahead(10), mesh{})
		}, nil, "0@10", 2},
		{"by another camera's frustum", func(s *scenery) { s.put(0, 1, ahead(10), mesh{}) }, func(f *Frame) {
			f.CullCamera = &runtime.Camera{Forward: [3]float64{0, 0, 1}}
		}, "", 1},
		{"under a root that mirrors", func(s *scenery) { s.put(0, 1, ahead(-10), mesh{}) }, func(f *Frame) {
			f.Root = func(payload.SceneID) geom.Mat4 { return geom.Mat4{0: 1, 5: 1, 10: -1, 15: 1} }
		}, "0@-10", 0},
	} {
		s := newScenery()
		c.build(s)
		s.collect(c.change)
		if got := s.order(&s.main); got != c.want || s.counts.Culled != c.culled {
			t.Errorf("%s: %q, %d culled; want %q, %d", c.name, got, s.counts.Culled, c.want, c.culled)
		}
	}
}

func TestCollectCountsWhatIsNotThere(t *testing.T) {
	s := newScenery()
	s.put(0, 1, ahead(10), mesh{}).resident = false
	s.put(1, 1, ahead(10), mesh{entity: 7}, mesh{})
	s.drawn = append(s.drawn, runtime.Drawn{Key: payload.Key{Tile: 9}, Fade: 1})
	s.collect(nil)
	if s.counts.NotResident != 2 || s.counts.Draws != 2 || s.counts.Triangles != 2 || len(s.visible) != 1 {
		t.Errorf("%+v, visible %v", s.counts, s.visible)
	}
}

// Neighbours of the same geometry and state are one command.
func TestCollectInstances(t *testing.T) {
	same, other := mesh{firstIndex: 6}, mesh{firstIndex: 9}
	for _, c := range []struct {
		name   string
		meshes []mesh
		counts []uint32 // of instances by command
	}{
		{"all alike", []mesh{same, same, same}, []uint32{3, 0, 0}},
		{"another between", []mesh{same, other, same}, []uint32{1, 1, 1}},
		{"other state", []mesh{same, {firstIndex: 6, wide: true}}, []uint32{1, 1}},
		{"blended", []mesh{{kind: surfaceKind{alpha: alphaBlend}}, {kind: surfaceKind{alpha: alphaBlend}}}, []uint32{1, 1}},
	} {
		s := newScenery()
		s.put(0, 1, ahead(10), c.meshes...)
		s.collect(nil)
		var got []uint32
		for i := 1; i < len(s.commands); i += commandWords {
			got = append(got, s.commands[i])
		}
		if !slices.Equal(got, c.counts) || len(s.draws) != drawWords*len(c.meshes) {
			t.Errorf("%s: %v in %d words, want %v", c.name, got, len(s.draws), c.counts)
		}
	}
	s := newScenery()
	s.maxDraws = 2
	s.put(0, 1, ahead(10), same, other, same)
	if s.collect(nil); len(s.main.order) != 2 {
		t.Errorf("%d draws, more than buffers hold", len(s.main.order))
	}
}

// A mesh's object is computed once per frame, and again in the next.
func TestCollectObjects(t *testing.T) {
	s := newScenery()
	n := s.put(0, 1, ahead(10), mesh{}, mesh{}, mesh{object: 1}, mesh{object: 1})
	n.objects = []geom.Mat4{geom.Identity()}
	for range 2 {
		if s.collect(nil); len(s.objects) != 2*objectFloats {
			t.Errorf("%d objects, want one of the scene and one of the entity", len(s.objects)/objectFloats)
		}
	}
}

func TestShadowPlan(t *testing.T) {
	s := newScenery()
	s.put(0, 1, ahead(10), mesh{}, mesh{kind: surfaceKind{alpha: alphaBlend}})
	s.put(1, 1, ahead(30), mesh{kind: surfaceKind{alpha: alphaMask}})
	p := shadowPlan{schedule: schedule{count: 2}, size: 1024, distance: 100}
	s.collect(nil)
	p.plan(&s.collected, nil)
	if s.counts.ShadowDraws != 2 || s.counts.ShadowCascades != 1 || p.shown() != 1 || !p.clear[0] {
		t.Errorf("the first frame draws %d meshes into %d maps, %d in use", s.counts.ShadowDraws, s.counts.ShadowCascades, p.shown())
	}
	if got := s.order(&p.lists[0]); got != "0@10 4@30" {
		t.Errorf("%q", got)
	}
	p.lists[0].reset()
	s.collect(nil)
	if p.plan(&s.collected, nil); s.counts.ShadowDraws != 0 {
		t.Errorf("nothing has changed, but %d meshes are drawn", s.counts.ShadowDraws)
	}
	// Of a mesh that is too much for a frame a part is drawn.
	s.put(2, 1, ahead(20), mesh{indexCount: 3 * 10 * shadowBudget})
	frames := 0
	for late := 1; late > 0 && frames < 2*buildFrames[0]; frames++ {
		p.lists[0].reset()
		s.collect(nil)
		p.plan(&s.collected, nil)
		if late = s.counts.ShadowLate; s.counts.ShadowTriangles > 2*shadowBudget+10*shadowBudget/buildFrames[0] {
			t.Errorf("frame %d draws %d triangles", frames, s.counts.ShadowTriangles)
		}
	}
	if frames < 2 || frames > buildFrames[0] {
		t.Errorf("the map was complete after %d frames, want at most %d", frames, buildFrames[0])
	}
}

func TestFrameBlock(t *testing.T) {
	for _, c := range []struct{ stops, want float64 }{{0, 1}, {1, 2}, {-2, 0.25}, {math.NaN(), 1}, {31, 1}} {
		if got := brightnessOf(c.stops, ToneNeutral) / brightnessOf(0, ToneNeutral); got != c.want {
			t.Errorf("%v stops are a factor of %v, want %v", c.stops, got, c.want)
		}
	}
	s := newScenery()
	s.put(0, 1, ahead(10), mesh{})
	s.collect(nil)
	p := shadowPlan{schedule: schedule{count: 1}, size: 512, distance: 100}
	p.plan(&s.collected, nil)
	var b frameBlock
	b.fill(&s.collected, &p, nil, 3, 640, 480, true)
	if b.window != [4]float32{640, 480, 1. / 640, 1. / 480} || b.sunDir[3] != 1 || b.sunColor[3] != 3 || b.zenith[3] != 1./512 || b.shadowMap[0][3] == 0 {
		t.Errorf("%+v", b)
	}
}

// TestCollectParts: a node of the pyramid is drawn for some of its children.
func TestCollectParts(t *testing.T) {
	for _, c := range []struct {
		parts uint64
		draws int
	}{{0, 3}, {1, 1}, {2, 1}, {3, 2}, {7, 2}, {8, 0}} {
		s := newScenery()
		s.put(0, 1, ahead(10), mesh{part: 1}, mesh{part: 2}, mesh{}) // the last belongs to no child
		s.drawn[0].Parts = c.parts
		if s.collect(nil); s.counts.Draws != c.draws {
			t.Errorf("parts %b: %d draws, want %d", c.parts, s.counts.Draws, c.draws)
		}
	}
}

// TestCollectPartsThatFade: a node of which one child fades has two entries; each mesh
// is drawn by one of them, and casts the part of a shadow that its entry has.
func TestCollectPartsThatFade(t *testing.T) {
	for _, c := range []struct {
		fade    float64
		shadows int
	}{{0.05, 1}, {0.25, 2}, {0.5, 2}, {0.75, 2}} {
		for turned := range 2 {
			s := newScenery()
			s.put(0, 1, ahead(10), mesh{part: 1}, mesh{part: 2})
			s.drawn = append(s.drawn, s.drawn[0])
			s.drawn[turned].Parts, s.drawn[1-turned].Parts = 1, 2
			s.drawn[turned].Fade = c.fade
			s.collect(nil)
			p := shadowPlan{schedule: schedule{count: 1}, size: 512, distance: 100}
			p.plan(&s.collected, nil)
			for i := range p.lists[0].items {
				it := &p.lists[0].items[i]
				entry := &s.drawn[turned]
				if it.mesh.part != entry.Parts {
					entry = &s.drawn[1-turned]
				}
				m, _ := maskOf(entry)
				if want, _ := m.cast(); it.mask != want || (shadowPassFades(it) != (want != allPixels)) {
					t.Errorf("fade %v: part %d casts %x, want %x", c.fade, it.mesh.part, it.mask, want)
				}
			}
			if s.counts.Draws != 2 || s.counts.ShadowDraws != c.shadows {
				t.Errorf("fade %v: %d draws and %d in shadows, want 2 and %d", c.fade, s.counts.Draws, s.counts.ShadowDraws, c.shadows)
			}
		}
	}
}

func shadowPassFades(it *item) bool { return pass(it.state>>keyPassShift) == passDither }
