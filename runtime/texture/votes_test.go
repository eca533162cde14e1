package texture

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestVotesAreTheFinestWishes: what is counted for each texture is the finest of what all
// entities with a vote want.
func TestVotesAreTheFinestWishes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newStreamRig(t, withTrim, func(o *StreamOptions, _ *rig) {
			o.Params = drawParams(rt)
			o.FirstEdge = rapid.SampledFrom([]int{0, 32}).Draw(rt, "first edge")
			o.Scales = drawScales(rt)
		})
		r.loader.files = drawFiles(rt)
		distance := rapid.Float64Range(0, 60)
		for range rapid.IntRange(1, 20).Draw(rt, "parts") {
			p := drawPart(rt, distance)
			if rapid.IntRange(0, 9).Draw(rt, "nowhere") == 0 {
				p.Min[0] = math.NaN()
			}
			if e := r.s.Add(p); rapid.Bool().Draw(rt, "visible") {
				r.view.Visible = append(r.view.Visible, e)
			}
		}
		for range rapid.IntRange(1, 8).Draw(rt, "ticks") {
			r.view.Camera[0] = distance.Draw(rt, "camera")
			r.view.Busy = rapid.Bool().Draw(rt, "busy")
			r.tick()
			r.loader.answerAll()
			if rapid.IntRange(0, 4).Draw(rt, "shed") == 0 {
				r.s.Shed(3)
			}
		}
		s := r.s
		s.now += time.Duration(rapid.IntRange(0, 4000).Draw(rt, "later")) * time.Millisecond
		s.camera[0] = distance.Draw(rt, "then")
		s.serial++
		s.entities.measure(&s.camera, &s.textures)
		s.entities.mark(r.view.Visible, s.serial, &s.textures)
		s.votes()
		finest, voted := map[int32]int{}, map[int32]bool{}
		for i := range s.entities.list {
			e := &s.entities.list[i]
			if !e.tracked && e.visible != s.serial && e.bursting != s.serial {
				continue
			}
			for _, k := range e.textures {
				if tex := &s.textures.list[k]; tex.state == stateResident {
					want := s.want(e, tex)
					if !voted[k] || want < finest[k] {
						voted[k], finest[k] = true, want
					}
				}
			}
		}
		for k := range s.textures.list {
			tex := &s.textures.list[k]
			if tex.voted != voted[int32(k)] || tex.voted && tex.vote != finest[int32(k)] {
				rt.Fatalf("texture %d: voted %v for %d, want %v for %d", k, tex.voted, tex.vote, voted[int32(k)], finest[int32(k)])
			}
		}
	})
}
