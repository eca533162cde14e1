package texture

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/texture/texfile"
	"pgregory.net/rapid"
)

// fileName names a file; half of them could be cooked textures.
func fileName(i int) string { return fmt.Sprintf("f%d%s", i, [...]string{"", ".utex"}[i%2]) }

// drawFiles returns what the URIs f0 to f9 stand for.
func drawFiles(t *rapid.T) map[string]fakeFile {
	files := map[string]fakeFile{}
	edge := rapid.IntRange(1, 2048)
	for i := range 10 {
		f := fakeFile{w: edge.Draw(t, "w"), h: edge.Draw(t, "h")}
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0:
			f.err = errors.New("damaged")
		case 1:
			f.enc = texfile.BC7
		case 2:
			f.enc, f.mips = texfile.BC5, 1
			f.w, f.h = min(f.w, 1024), min(f.h, 1024)
		}
		files[fileName(i)] = f
	}
	return files
}

// drawScales returns how large some of the textures are in the world.
func drawScales(t *rapid.T) Scales {
	scales := Scales{}
	for i := range 10 {
		if v := rapid.SampledFrom([]float64{-1, 0, 0.01, 0.1, 1, 10}).Draw(t, "scale"); v >= 0 {
			scales[fileName(i)] = v
		}
	}
	return scales
}

func drawPart(t *rapid.T, distance *rapid.Generator[float64]) Part {
	p := at(distance.Draw(t, "distance"), "")
	p.Slots = nil
	for range rapid.IntRange(0, 4).Draw(t, "slots") {
		p.Slots = append(p.Slots, Slot{URI: fileName(rapid.IntRange(0, 10).Draw(t, "file")), Use: texfile.Use(rapid.IntRange(0, 1).Draw(t, "use"))})
	}
	p.Fixed = rapid.IntRange(0, 9).Draw(t, "fixed") == 0
	p.Burst = rapid.Bool().Draw(t, "burst")
	p.Levels = rapid.IntRange(0, 3).Draw(t, "levels")
	p.Level = rapid.IntRange(0, 3).Draw(t, "level")
	return p
}

// TestStories: whatever happens, in whatever order answers come, the counters
// agree with what is there, the budget holds, operations keep to their limit,
// and in the end nothing is left.
func TestStories(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		// Messages of check go to t, those of rapid to rt.
		distance := rapid.Float64Range(0, 40)
		params := drawParams(rt)
		params.MaxDimension = min(params.MaxDimension, 4096)
		budget := rapid.SampledFrom([]int64{0, 1, 100_000, 2_000_000, 20_000_000}).Draw(rt, "budget")
		trim, pace := rapid.Bool().Draw(rt, "trim"), rapid.IntRange(0, 3).Draw(rt, "pace") == 0
		var paced *pacedDevice
		r := newStreamRig(t, withBudget(budget), func(o *StreamOptions, r *rig) {
			o.Params = params
			o.FirstLoads = rapid.IntRange(1, 5).Draw(rt, "first loads")
			o.FirstEdge = rapid.SampledFrom([]int{0, 0, 1, 32, 4096}).Draw(rt, "first edge")
			o.NearestFirst = rapid.Bool().Draw(rt, "nearest first")
			o.Scales = drawScales(rt)
			if trim {
				withTrim(o, r)
			} else if pace {
				paced = &pacedDevice{r.device, map[ID]bool{}}
				o.Device, o.Pacer = paced, paced
			}
		})
		r.loader.files = drawFiles(rt)
		var es []Entity
		anyOf := func() Entity { return es[rapid.IntRange(0, len(es)-1).Draw(rt, "entity")] }
		sheds := false
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			action := rapid.IntRange(0, 14).Draw(rt, "action")
			if len(es) == 0 {
				action = 0
			}
			switch action {
			case 0, 1:
				es = append(es, r.s.Add(drawPart(rt, distance)))
			case 2:
				i := rapid.IntRange(0, len(es)-1).Draw(rt, "gone")
				r.s.Remove(es[i])
				es = slices.Delete(es, i, i+1)
			case 3:
				p := at(distance.Draw(rt, "to"), "")
				r.s.Move(anyOf(), p.Min, p.Max)
			case 4:
				r.s.SetLevel(anyOf(), rapid.IntRange(0, 3).Draw(rt, "level"), 4)
			case 5:
				sheds = r.s.Shed(rapid.IntRange(0, 8).Draw(rt, "shed")) > 0 || sheds
			case 6:
				r.view.Camera[0] = distance.Draw(rt, "camera")
			case 7:
				r.view.Visible = nil
				for range rapid.IntRange(0, len(es)).Draw(rt, "visible") {
					r.view.Visible = append(r.view.Visible, anyOf())
				}
			case 8:
				r.s.Retry()
			case 9, 10:
				if n := len(r.loader.pending); n > 0 {
					r.loader.answer(rapid.IntRange(0, n-1).Draw(rt, "answer"))
				}
			case 12:
				r.view.Pixel = PixelSize(rapid.Float64Range(1, 170).Draw(rt, "angle"), 0)
				if rapid.Bool().Draw(rt, "other scales") {
					r.s.SetScales(drawScales(rt))
				}
			case 11:
				if paced != nil {
					clear(paced.busy)
				}
			default:
				r.view.Busy = rapid.Bool().Draw(rt, "busy")
				r.view.Now += time.Duration(rapid.IntRange(0, 400).Draw(rt, "ms")) * time.Millisecond
				r.s.Update(r.view)
			}
			r.check()
			if st := r.s.Stats(); !sheds && budget == 0 && st.ActiveOps > params.ConcurrentOps {
				rt.Fatalf("%d operations of %d", st.ActiveOps, params.ConcurrentOps)
			}
			if t.Failed() {
				rt.FailNow()
			}
		}
		// Left alone it comes to rest, with nothing reserved.
		r.view.Now += time.Minute
		for n := 0; ; n++ {
			if n > 2000 {
				rt.Fatalf("no rest: %+v, last events %v", r.s.Stats(), r.events[max(0, len(r.events)-30):])
			}
			r.tick()
			r.loader.answerAll()
			if paced != nil {
				clear(paced.busy)
			}
			if r.s.Idle() {
				break
			}
		}
		if st := r.s.Stats(); st.Reserved != 0 || st.ActiveOps != 0 || st.Loading != 0 {
			rt.Fatalf("at rest: %+v", st)
		}
		for _, e := range es {
			r.s.Remove(e)
		}
		r.check()
		if st := r.s.Stats(); st.Bytes != 0 || st.Textures != 0 || st.Entities != 0 || len(r.device.has) != 0 || t.Failed() {
			rt.Fatalf("in the end: %+v, %d on the device", st, len(r.device.has))
		}
		r.s.Close()
	})
}

// TestOrderOfAnswersDoesNotCount: two Streamers that differ in the order in
// which answers come between two Updates do the same.
func TestOrderOfAnswersDoesNotCount(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.IntRange(1, 1<<20).Draw(rt, "seed")
		budget := rapid.SampledFrom([]int64{0, 3_000_000, 20_000_000}).Draw(rt, "budget")
		files := drawFiles(rt)
		var parts []Part
		for range rapid.IntRange(1, 12).Draw(rt, "parts") {
			parts = append(parts, drawPart(rt, rapid.Float64Range(0, 40)))
		}
		play := func(shuffle bool) []string {
			r := newStreamRig(t, withBudget(budget))
			r.loader.files = files
			for _, p := range parts {
				r.view.Visible = append(r.view.Visible, r.s.Add(p))
			}
			for k := range 40 {
				r.view.Camera[0] = float64(k * seed % 40)
				r.tick()
				for n := len(r.loader.pending); n > 0 && k%2 == 0; n-- {
					i := 0
					if shuffle {
						i = (seed + n) * 7919 % n
					}
					r.loader.answer(i)
				}
			}
			return r.events
		}
		if straight, shuffled := play(false), play(true); !slices.Equal(straight, shuffled) {
			rt.Fatalf("in order %v, else %v", straight, shuffled)
		}
	})
}

// TestNearerIsNeverCoarser: at rest, with room for all, of two equal textures
// in sight the nearer has at least the size of the farther, up to what the
// hysteresis explains.
func TestNearerIsNeverCoarser(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newStreamRig(t, func(o *StreamOptions, _ *rig) { o.Params = drawParams(rt) })
		n := rapid.IntRange(2, 8).Draw(rt, "n")
		var es []Entity
		var ds []float64
		for i := range n {
			d := float64(rapid.IntRange(0, 480).Draw(rt, "d")) / 4
			es, ds = append(es, r.add(at(d, fmt.Sprint("t", i)))), append(ds, d)
		}
		r.view.Visible = es
		r.settle()
		edges := r.edges(es...)
		for i := range es {
			for j := range es {
				if ds[i] <= ds[j] && edges[i] < edges[j] {
					rt.Fatalf("%d at %v m, %d at %v m", edges[i], ds[i], edges[j], ds[j])
				}
			}
		}
	})
}

// TestShortMemoryServesTheNearest: at rest in a budget that is too small, no
// texture is above the minimum while one that is much nearer and could use its
// bytes is below the medium size.
func TestShortMemoryServesTheNearest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(rt, "n")
		budget := int64(n)*texfile.MostBytes(256) + rapid.Int64Range(0, int64(n)*6_000_000).Draw(rt, "room")
		trim := rapid.Bool().Draw(rt, "trim")
		r := newStreamRig(t, withBudget(budget), func(o *StreamOptions, r *rig) {
			if trim {
				withTrim(o, r)
			}
		})
		var es []Entity
		var ds []float64
		for i := range n {
			d := float64(rapid.IntRange(0, 120).Draw(rt, "d")) / 4
			es, ds = append(es, r.add(at(d, fmt.Sprint("t", i)))), append(ds, d)
		}
		r.view.Visible = es
		r.settle()
		edges := r.edges(es...)
		for i := range es {
			for j := range es {
				if edges[i] < 1024 && ds[i] <= r.s.textures.policy.mediumIn && edges[j] > 1024 && ds[j] > giveWay*ds[i] {
					rt.Fatalf("budget %d: %d at %v m while %d at %v m", budget, edges[i], ds[i], edges[j], ds[j])
				}
			}
		}
	})
}
