package preview

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/runtime"
)

// TestTilesFadeIn: what comes where nothing was becomes opaque bit by bit, in the
// same way in every run, and is whole in the picture at the end; not with --whole,
// nor without fades.
func TestTilesFadeIn(t *testing.T) {
	dir := writeTown(t, t.TempDir(), 3)
	fly := func(fades, whole bool, frames int) (all [][]runtime.Drawn) {
		o := options(t, dir)
		o.Config.EnableFadeTransitions, o.Whole = fades, whole
		o.Screenshot = filepath.Join(t.TempDir(), "end.png")
		play(t, o, frames, nil, func(f render.Frame) { all = append(all, slices.Clone(f.Drawn)) })
		return all
	}
	half := func(list []runtime.Drawn) (n int) {
		for i := range list {
			if list[i].Fade < 1 {
				n++
			}
		}
		return n
	}
	const frames = 200
	all := fly(true, false, frames)
	last, faded := map[runtime.Key]float64{}, 0
	for k, list := range all {
		for _, d := range list {
			before, known := last[d.Key]
			if !known && (d.Fade >= 1 || d.Fade <= 0) && d.Rep == runtime.RepFull && !hasTile(last, d.Key) {
				t.Fatalf("frame %d: %v comes with opacity %g", k, d.Key, d.Fade)
			}
			if known && d.Fade < before && len(list) == len(last) {
				t.Fatalf("frame %d: %v goes from %g to %g", k, d.Key, before, d.Fade)
			}
		}
		faded += half(list)
		clear(last)
		for _, d := range list {
			last[d.Key] = d.Fade
		}
	}
	if faded == 0 || half(all[frames-1]) > 0 {
		t.Errorf("%d fade in, %d are not there at the end", faded, half(all[frames-1]))
	}
	if again := fly(true, false, frames); !slices.EqualFunc(all, again, func(a, b []runtime.Drawn) bool { return slices.Equal(a, b) }) {
		t.Error("two runs differ")
	}
	// Half faded in the last frame, whole in the picture of it.
	first := slices.IndexFunc(all, func(l []runtime.Drawn) bool { return half(l) > 0 })
	short := fly(true, false, first+1)
	if n := len(short); half(short[n-2]) == 0 || half(short[n-1]) > 0 {
		t.Errorf("%d fade in the last frame, %d in its picture", half(short[n-2]), half(short[n-1]))
	}
	for _, c := range [][2]bool{{true, true}, {false, false}} {
		for _, list := range fly(c[0], c[1], 60) {
			if half(list) > 0 {
				t.Fatalf("fades %t, whole %t: something fades", c[0], c[1])
			}
		}
	}
}

func hasTile(m map[runtime.Key]float64, key runtime.Key) bool {
	for k := range m {
		if k.Scene == key.Scene && k.Tile == key.Tile {
			return true
		}
	}
	return false
}
